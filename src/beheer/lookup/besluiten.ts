// besluiten: looking up decisions, with their documents and what happened to them. A besluit has no level of confidentiality: it is seen
// by whoever may see its case.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import { historyOf } from '../frame/history.ts'
import { keysetByNumber, queryDay, queryText, type Sorts, uuidIn, uuidParam, visible } from '../frame/lookup.ts'
import { savedFilters } from '../frame/saved-filters.ts'
import { t } from '../language/language.ts'
import { chosenTypes, typeChoices } from './type-choices.ts'

type Line = {
  id: number
  uuid: string
  identificatie: string
  soort: string | null
  datum: string
  ingangsdatum: string
  zaak: string | null
  zaakIdentificatie: string | null
}

const LINE = sql`select b.id, b.uuid, b.identificatie, coalesce(t.omschrijving, b.besluittype_url) as soort, b.datum, b.ingangsdatum,
  z.uuid as zaak, coalesce(z.identificatie, b.zaak_url) as zaak_identificatie
  from besluit b left join besluittype t on t.id = b.besluittype_id left join zaak z on z.id = b.zaak_id`

type Document = { uuid: string | null; titel: string | null; isVisible: boolean | null }

export function registerBesluiten(app: FastifyInstance): void {
  const config = { access: 'beheer', rol: 'viewer' } as const

  app.get('/besluiten', { config }, async (request, reply) => {
    const list = await keysetByNumber<Line>(request, app.read, {
      select: LINE,
      id: sql`b.id`,
      sorts: SORTS,
      conditions: [besluitVisible(request), ...(await filters(request))],
    })
    return reply.page('besluiten', {
      title: t('Besluiten'),
      savedFilters: await savedFilters(request),
      list,
      filter: Object.fromEntries(FILTERS.map((name) => [name, queryText(request, name)])),
      typen: await typeChoices(app.read, 'besluittype'),
    })
  })

  app.get('/besluiten/:uuid', { config }, async (request, reply) => {
    const besluit = await besluitOfRequest(request)
    const { rows: documents } = await sql<Document>`
      select e.uuid, coalesce(v.titel, r.informatieobject_url) as titel, ${visible(request, sql`e.vertrouwelijkheidaanduiding`)} as is_visible
      from besluitinformatieobject r left join enkelvoudiginformatieobject e on e.id = r.enkelvoudiginformatieobject_id
      left join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
      where r.besluit_id = ${besluit.id} order by r.id limit 50`.execute(app.read)
    return reply.page('besluit', {
      title: t`Besluit ${besluit.identificatie}`,
      breadcrumbs: [{ path: '/besluiten', name: t('Besluiten') }],
      besluit,
      documents,
      events: (await historyOf(app, request, besluit.uuid, 5)).rows,
    })
  })

  app.get('/besluiten/:uuid/geschiedenis', { config }, async (request, reply) => {
    const besluit = await besluitOfRequest(request)
    return reply.page('history', {
      title: t('Geschiedenis'),
      breadcrumbs: [
        { path: '/besluiten', name: t('Besluiten') },
        { path: `/besluiten/${besluit.uuid}`, name: besluit.identificatie },
      ],
      list: await historyOf(app, request, besluit.uuid),
    })
  })

  async function besluitOfRequest(request: FastifyRequest) {
    const besluit = await app.read
      .selectFrom('besluit as b')
      .leftJoin('besluittype as t', 't.id', 'b.besluittypeId')
      .leftJoin('zaak as z', 'z.id', 'b.zaakId')
      .where('b.uuid', '=', uuidParam(request))
      .where(besluitVisible(request))
      .selectAll('b')
      .select(['t.omschrijving as soort', 't.uuid as typeUuid'])
      .select(['z.uuid as zaakUuid', 'z.identificatie as zaakIdentificatie'])
      .executeTakeFirst()
    if (!besluit) throw notFound(t('Dit besluit bestaat niet.'))
    return besluit
  }
}

/** A condition on `besluit b left join zaak z`. */
export const besluitVisible = (request: FastifyRequest): RawBuilder<boolean> =>
  sql<boolean>`(z.id is null or ${visible(request, sql`z.vertrouwelijkheidaanduiding`)})`

const SORTS: Sorts = {
  identificatie: {
    column: sql`b.identificatie`,
    of: (id) => sql`(select identificatie from besluit where id = ${id}::bigint)`,
  },
  datum: { column: sql`b.datum`, of: (id) => sql`(select datum from besluit where id = ${id}::bigint)` },
}

const FILTERS = ['zoek', 'type', 'zaak', 'van', 'tot']

// Types and cases are looked up first: the planner then knows how rare they are.
async function filters(request: FastifyRequest): Promise<RawBuilder<unknown>[]> {
  const [search, type, zaak] = FILTERS.map((name) => queryText(request, name))
  const [from, until] = [queryDay(request, 'van'), queryDay(request, 'tot')]
  const uuid = search ? uuidIn(search) : undefined
  const typen = type ? await chosenTypes(request.server.read, 'besluittype', type) : []
  return [
    ...(uuid ? [sql`b.uuid = ${uuid}`] : search ? [sql`b.identificatie = ${search}`] : []),
    ...(type ? [sql`b.besluittype_id = any(${typen}::bigint[])`] : []),
    ...(zaak ? [sql`b.zaak_id = any(${await zakenNamed(request, zaak)}::bigint[])`] : []),
    ...(from ? [sql`b.datum >= ${from}::date`] : []),
    ...(until ? [sql`b.datum <= ${until}::date`] : []),
  ]
}

/** The cases with this number, this uuid or this address. */
async function zakenNamed({ server }: FastifyRequest, text: string): Promise<number[]> {
  const uuid = uuidIn(text)
  const { rows } = await sql<{ id: number }>`
    select id from zaak where ${uuid ? sql`uuid = ${uuid}` : sql`identificatie = ${text}`} limit 100`.execute(
    server.read,
  )
  return rows.map(({ id }) => id)
}
