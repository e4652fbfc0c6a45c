// selectielijst: what is known of it, and fetching, renewing or leaving out a year of it. What would change is shown first.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Kind, Selectielijst } from '../../catalogi/selectielijst.ts'
import { type Item, SelectielijstRefused } from '../../catalogi/selectielijst-import.ts'
import { fetchYear, replaceYear } from '../../catalogi/selectielijst-years.ts'
import { today } from '../../lib/day.ts'
import { mutateFromPage } from '../frame/change.ts'
import type { FormFaults, FormValues } from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { t, words } from '../language/language.ts'
import { administering, viewing } from './context.ts'

const PATH = '/catalogi/selectielijst'
const KIND_WORDS: Record<Kind, string> = words({
  ProcesType: 'Procestypen',
  Resultaat: 'Klassen',
  ResultaattypeOmschrijvingGeneriek: 'Algemene omschrijvingen',
})
type Year = { jaar: string; procestypen: number; klassen: number; zaaktypen: number }
type Planned = Awaited<ReturnType<typeof replaceYear>>

/** What a change of a year comes to, while nobody has agreed to it. */
class Unseen extends Error {
  readonly planned: Planned
  constructor(planned: Planned) {
    super('somebody has to look at this first')
    this.planned = planned
  }
}

export function registerSelectielijst(app: FastifyInstance, selectielijst: Selectielijst): void {
  const { config, services } = app.parts

  app.get(PATH, { config: viewing }, async (_request, reply) => show(reply))

  app.post(`${PATH}/jaar`, { config: administering }, async (request, reply) => {
    const form = (request.body ?? {}) as FormValues
    const text = String(form.jaar ?? '').trim()
    const isLeftOut = form.doe === 'weglaten'
    if (!/^(19|20)\d\d$/.test(text)) {
      reply.code(400)
      return show(reply, { jaar: t('Vul een jaar in, zoals 2020.') }, text)
    }
    const year = Number(text)
    const source = config.selectielijstApiRoot ?? ''
    const items = isLeftOut ? [] : await itemsOf(year)
    if (typeof items === 'string') {
      reply.code(400)
      return show(reply, { jaar: items }, text)
    }
    const fetched = createHash('sha256').update(JSON.stringify(items))
    try {
      await mutateFromPage(request, async (m) => {
        const planned = await replaceYear(m, year, items, { day: today(), source })
        if (form.gezien !== fetched.copy().update(JSON.stringify(planned)).digest('base64url'))
          throw new Unseen(planned)
        m.audit({
          handeling: isLeftOut ? 'selectielijst-weglaten' : 'selectielijst-ophalen',
          soort: 'selectielijst',
          id: text,
          weergave: text,
          nieuw: { bron: source, ...planned },
        })
      })
    } catch (error) {
      if (!(error instanceof Unseen)) throw error
      const gezien = fetched.copy().update(JSON.stringify(error.planned)).digest('base64url')
      return confirm(reply, {
        year,
        isLeftOut,
        planned: error.planned,
        gezien,
        isChanged: form.gezien !== undefined,
      })
    }
    const done = isLeftOut ? t`Het jaar ${text} is weggelaten.` : t`Het jaar ${text} is opgehaald.`
    return redirectWith(request, reply, PATH, done)
  })

  /** @returns a string: why not */
  async function itemsOf(year: number): Promise<Item[] | string> {
    if (config.selectielijstApiRoot === undefined)
      return t('Er is geen adres van de selectielijst ingesteld. Een administrator vult het in bij Configuratie.')
    try {
      const items = await fetchYear(services, config.selectielijstApiRoot, year)
      if (typeof items === 'string') return t`De selectielijst antwoordt nu niet: ${items}.`
      return items.length === 0 ? t`De selectielijst heeft niets van ${year}.` : items
    } catch (error) {
      if (!(error instanceof SelectielijstRefused)) throw error
      return t`Wat de selectielijst antwoordt, klopt niet: ${error.message.split('\n', 1)[0]}`
    }
  }

  async function confirm(
    reply: FastifyReply,
    asked: { year: number; isLeftOut: boolean; planned: Planned; gezien: string; isChanged: boolean },
  ): Promise<FastifyReply> {
    const { year, isLeftOut, planned, ...shown } = asked
    return reply.page('catalogi-selectielijst-year', {
      title: isLeftOut ? t`Selectielijst: ${year} weglaten` : t`Selectielijst: ${year} ophalen`,
      breadcrumbs: [
        { path: '/catalogi', name: t('Catalogi') },
        { path: PATH, name: 'Selectielijst' },
      ],
      ...shown,
      year,
      isLeftOut,
      changes: planned.changes.map((change) => ({ ...change, name: KIND_WORDS[change.kind] })),
      used: { zaaktypen: planned.zaaktypen, resultaattypen: planned.resultaattypen },
    })
  }

  async function show(reply: FastifyReply, faults: FormFaults = {}, jaar = ''): Promise<FastifyReply> {
    const listed = await selectielijst.list('ProcesType')
    const years =
      listed.kind === 'ok' ? [...new Set(listed.items.map(({ jaar }) => String(jaar)))].toSorted().reverse() : []
    const stored = await app.reader.sql<Year[]>`
      select p.content->>'jaar' as jaar, count(*)::int as procestypen,
        coalesce(sum((select count(*) from selectielijst_item r where rtrim(r.procestype, '/') = p.url)), 0)::int as klassen,
        coalesce(sum((select count(*) from zaaktype z where rtrim(z.selectielijst_procestype, '/') = p.url)), 0)::int as zaaktypen
      from selectielijst_item p where p.kind = 'ProcesType' group by 1 order by 1 desc limit 100`
    return reply.page('catalogi-selectielijst', {
      title: 'Selectielijst',
      breadcrumbs: [{ path: '/catalogi', name: t('Catalogi') }],
      listed,
      years,
      stored,
      source: config.selectielijstApiRoot,
      imported: await selectielijst.importedOf(),
      values: { jaar },
      faults,
    })
  }
}
