// Of which kanalen an abonnement gets messages, by which filters, with what those would let through while one types.

import type { FastifyInstance } from 'fastify'
import { type InvalidParam, Problem } from '../../../core/problem.ts'
import { judge, MAX_KANALEN } from '../../../nrc/abonnement/judge.ts'
import { previewFilters } from '../../../nrc/abonnement/preview.ts'
import type { FilterGroup } from '../../../nrc/abonnement/read.ts'
import { changeAbonnement } from '../../../nrc/abonnement/write.ts'
import { mutateFromPage } from '../../frame/change.ts'
import { type FormValues, throwFormFaults } from '../../frame/form.ts'
import { redirectWith } from '../../frame/page.ts'
import { t } from '../../language/language.ts'
import { type Abonnement, administering, breadcrumbsOf, nameOf, type Params, requireAbonnement } from './abonnement.ts'
import { groupInWords } from './labels.ts'

/** One group as it stands in the form. */
type FilterFields = { kanaal: string; filters: string }

export function registerFilters(app: FastifyInstance): void {
  const url = '/abonnementen/:uuid/filters'

  app.get<Params>(url, { config: administering }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const query = request.query as FormValues
    const fields = Object.keys(query).some((name) => name.startsWith('kanaal.'))
      ? readFields(query)
      : toFields(abonnement.kanalen)
    return reply.page('abonnement-filters', await page(abonnement, fields))
  })

  app.post<Params>(url, { config: administering }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const form = (request.body ?? {}) as FormValues
    const fields = readFields(form)
    if (form.actie === 'erbij')
      return reply.page('abonnement-filters', await page(abonnement, [...fields, { kanaal: '', filters: '' }]))
    const { groups, known, faults } = await read(fields)
    if (faults.length > 0)
      return reply.code(400).page('abonnement-filters', { ...(await page(abonnement, fields)), rejected: true })
    await mutateFromPage(request, async (m) => {
      await changeAbonnement(m, app.parts.box, abonnement.uuid, {}, known)
      m.audit({
        handeling: 'abonnement-filters',
        soort: 'abonnement',
        id: abonnement.uuid,
        weergave: nameOf(abonnement),
        oud: { kanalen: abonnement.kanalen },
        nieuw: { kanalen: groups },
      })
    })
    return redirectWith(
      request,
      reply,
      `/abonnementen/${abonnement.uuid}`,
      t('De kanalen en filters zijn opgeslagen. Ze gelden voor nieuwe berichten.'),
    )
  })

  async function page(abonnement: Abonnement, fields: FilterFields[]) {
    const { groups, known, faults } = await read(fields)
    const kanalen = await app.read
      .selectFrom('kanaal')
      .select(['naam', 'filters'])
      .orderBy('naam')
      .limit(1000)
      .execute()
    return {
      title: t('Kanalen en filters'),
      breadcrumbs: breadcrumbsOf(abonnement),
      abonnement,
      fields: fields.length === 0 ? [{ kanaal: '', filters: '' }] : fields,
      choices: [['', t('Geen')], ...kanalen.map(({ naam }) => [naam, naam])],
      kanalen,
      faults,
      rejected: false,
      inWords: groups.map(groupInWords),
      preview: faults.length === 0 ? await previewFilters(app.read, known, abonnement.cloudevents) : null,
    }
  }

  /** What the form means; groups without a kanaal are left out. */
  async function read(fields: FilterFields[]) {
    const faults: string[] = []
    const groups: FilterGroup[] = []
    for (const [index, { kanaal, filters }] of fields.entries()) {
      if (kanaal !== '') groups.push({ naam: kanaal, filters: readFilters(filters, t`Groep ${index + 1}`, faults) })
    }
    if (faults.length > 0) return { groups, known: [], faults }
    try {
      return { groups, known: await judge(app.read, app.parts.config, { kanalen: groups }), faults }
    } catch (error) {
      if (!(error instanceof Problem) || !error.invalidParams) throw error
      return { groups, known: [], faults: error.invalidParams.map(faultInWords) }
    }
  }
}

const faultInWords = ({ name, reason }: InvalidParam) => {
  const [, index] = /^kanalen\.(\d+)/.exec(name) ?? []
  return index === undefined ? reason : t`Groep ${Number(index) + 1}: ${reason}`
}

function readFields(form: FormValues): FilterFields[] {
  const text = (name: string) =>
    String([form[name]].flat().at(-1) ?? '')
      .replaceAll('\0', '')
      .toWellFormed()
  const numbers = Object.keys(form)
    .flatMap((name) => /^kanaal\.(\d{1,4})$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
  if (numbers.length > MAX_KANALEN) throwFormFaults({ '': t`Een abonnement heeft ten hoogste ${MAX_KANALEN} groepen.` })
  return numbers.map((n) => ({ kanaal: text(`kanaal.${n}`).trim(), filters: text(`filters.${n}`) }))
}

const toFields = (groups: FilterGroup[]): FilterFields[] =>
  groups.map(({ naam, filters }) => ({
    kanaal: naam,
    filters: Object.entries(filters)
      .map(([name, value]) => `${name} = ${value}`)
      .join('\n'),
  }))

/** A filter on each line, as `naam = waarde`. */
function readFilters(text: string, group: string, faults: string[]): Record<string, string> {
  const filters: Record<string, string> = {}
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const at = line.indexOf('=')
    const [name, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    if (at < 1 || name === '' || value === '')
      faults.push(t`${group}, regel ${index + 1}: schrijf een filter als naam = waarde.`)
    else if (Object.hasOwn(filters, name))
      faults.push(t`${group}: ${name} staat er twee keer. Maak voor de tweede waarde een eigen groep.`)
    else
      filters[name] = name.startsWith('#')
        ? value
            .split(',')
            .map((part) => part.trim())
            .join(',')
        : value
  }
  return filters
}
