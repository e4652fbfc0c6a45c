// kanalen: what messages are about: their filters, who publishes on them, and who subscribes.

import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import { readInput } from '../../http/input.ts'
import { uuidOf } from '../../http/links.ts'
import { isUuid } from '../../lib/uuid.ts'
import { changeKanaal, createKanaal, KanaalInput } from '../../nrc/kanalen.ts'
import { mutateFromPage } from '../frame/change.ts'
import { type FormFaults, type FormValues, formFaultsOf } from '../frame/form.ts'
import { sortRows } from '../frame/lookup.ts'
import { redirectWith } from '../frame/page.ts'
import { t } from '../language/language.ts'
import { nameOf } from './abonnementen/abonnement.ts'
import { groupInWords, stateOf } from './abonnementen/labels.ts'

const viewing = { access: 'beheer', rol: 'viewer' } as const
const administering = { access: 'beheer', rol: 'administrator' } as const
type Params = { Params: { uuid: string } }

const SHOWN = 200

type Kanaal = {
  id: number
  uuid: string
  naam: string
  documentatieLink: string
  filters: string[]
  own: boolean
  abonnementen: number
  lastAt: string | null
  bronnen: string[]
}

export function registerKanalen(app: FastifyInstance): void {
  app.get('/kanalen', { config: viewing }, async (request, reply) =>
    reply.page('kanalen', {
      title: t('Kanalen'),
      defaultSort: 'kanaal',
      kanalen: sortRows(request, await readKanalen(), {
        kanaal: ({ naam }) => naam,
        abonnementen: ({ abonnementen }) => abonnementen,
        bericht: ({ lastAt }) => lastAt,
      }),
    }),
  )

  app.get('/kanalen/nieuw', { config: administering }, async (_request, reply) =>
    reply.page('kanaal-edit', page(undefined, {})),
  )

  app.post('/kanalen/nieuw', { config: administering }, async (request, reply) => {
    const form = (request.body ?? {}) as FormValues
    try {
      const kanaal = await mutateFromPage(request, async (m) => {
        const made = await createKanaal(m, readInput(KanaalInput, fieldsOf(form)))
        const uuid = uuidOf(made.url)
        m.audit({ handeling: 'kanaal-maken', soort: 'kanaal', id: uuid, weergave: made.naam, nieuw: made })
        return { uuid, naam: made.naam }
      })
      return await redirectWith(request, reply, `/kanalen/${kanaal.uuid}`, t`Het kanaal ‘${kanaal.naam}’ is gemaakt.`)
    } catch (error) {
      return reply.code(400).page('kanaal-edit', page(undefined, form, faults(error)))
    }
  })

  app.get<Params>('/kanalen/:uuid', { config: viewing }, async (request, reply) => {
    const kanaal = await requireKanaal(request.params.uuid)
    const { rows } = await sql<{
      uuid: string
      callbackUrl: string
      status: string
      failures: number
      lastOutcome: string | null
      lastHttpStatus: number | null
      filters: Record<string, string>[]
    }>`
      select a.uuid, a.callback_url, a.status, a.failures, a.last_outcome, a.last_http_status,
        jsonb_agg(ak.filters order by ak.id) as filters
      from abonnement_kanaal ak join abonnement a on a.id = ak.abonnement_id
      where ak.kanaal_id = ${kanaal.id} and a.deleted_at is null group by a.id order by a.id limit ${SHOWN}`.execute(
      app.read,
    )
    return reply.page('kanaal', {
      title: t`Kanaal ${kanaal.naam}`,
      breadcrumbs: [{ path: '/kanalen', name: t('Kanalen') }],
      kanaal,
      abonnementen: rows.map((row) => ({
        ...row,
        naam: nameOf(row),
        staat: stateOf(row),
        groups: row.filters.map((filters) => groupInWords({ naam: kanaal.naam, filters })),
      })),
    })
  })

  app.get<Params>('/kanalen/:uuid/wijzigen', { config: administering }, async (request, reply) => {
    const kanaal = await requireKanaal(request.params.uuid)
    return reply.page('kanaal-edit', page(kanaal, { ...kanaal, filters: kanaal.filters.join('\n') }))
  })

  app.post<Params>('/kanalen/:uuid/wijzigen', { config: administering }, async (request, reply) => {
    const kanaal = await requireKanaal(request.params.uuid)
    const form = (request.body ?? {}) as FormValues
    try {
      await mutateFromPage(request, async (m) => {
        const { documentatieLink = '', filters } = readInput(KanaalInput, fieldsOf({ ...form, naam: kanaal.naam }))
        const changed = await changeKanaal(m, kanaal.uuid, { documentatieLink, filters: filters ?? [] })
        const { documentatieLink: link, filters: before } = kanaal
        m.audit({
          handeling: 'kanaal-wijzigen',
          soort: 'kanaal',
          id: kanaal.uuid,
          weergave: kanaal.naam,
          oud: { documentatieLink: link, filters: before },
          nieuw: { documentatieLink: changed.documentatieLink, filters: changed.filters },
        })
      })
      return await redirectWith(request, reply, `/kanalen/${kanaal.uuid}`, t('Het kanaal is opgeslagen.'))
    } catch (error) {
      return reply.code(400).page('kanaal-edit', page(kanaal, form, faults(error)))
    }
  })

  async function readKanalen(uuid?: string): Promise<Kanaal[]> {
    const { rows } = await sql<Kanaal>`
      select k.id, k.uuid, k.naam, k.documentatie_link, k.filters, k.own,
        (select count(distinct ak.abonnement_id)::int from abonnement_kanaal ak join abonnement a on a.id = ak.abonnement_id
          where ak.kanaal_id = k.id and a.deleted_at is null) as abonnementen,
        (select n.aanmaakdatum from notificatie n where n.kanaal = k.naam order by n.aanmaakdatum desc, n.id desc limit 1) as last_at,
        array(select distinct n.bron from (select bron from notificatie where kanaal = k.naam
          order by aanmaakdatum desc, id desc limit 100) n where n.bron <> '') as bronnen
      from kanaal k where ${uuid === undefined ? sql`true` : sql`k.uuid = ${uuid}::uuid`} order by k.naam limit 1000`.execute(
      app.read,
    )
    return rows
  }

  async function requireKanaal(uuid: string): Promise<Kanaal> {
    const [kanaal] = isUuid(uuid) ? await readKanalen(uuid) : []
    if (!kanaal) throw notFound(t('Dit kanaal bestaat niet (meer).'))
    return kanaal
  }
}

const page = (kanaal: Kanaal | undefined, values: Record<string, unknown>, faults: FormFaults = {}) => ({
  title: kanaal ? t`Kanaal ${kanaal.naam} wijzigen` : t('Nieuw kanaal'),
  breadcrumbs: [
    { path: '/kanalen', name: t('Kanalen') },
    ...(kanaal ? [{ path: `/kanalen/${kanaal.uuid}`, name: kanaal.naam }] : []),
  ],
  kanaal,
  values,
  faults,
})

/** One kenmerk on a line. */
function fieldsOf(form: FormValues) {
  const text = (naam: string) => String([form[naam]].flat().at(-1) ?? '').trim()
  const filters = text('filters')
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return {
    naam: text('naam'),
    ...(text('documentatieLink') !== '' && { documentatieLink: text('documentatieLink') }),
    filters,
  }
}

/** Faults of one of the filters stand beside the field of all. */
const faults = (error: unknown): FormFaults =>
  Object.fromEntries(Object.entries(formFaultsOf(error)).map(([name, reason]) => [name.replace(/\..*/s, ''), reason]))
