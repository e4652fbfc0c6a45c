// besluiten: decisions, taken in a case or apart from any.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Condition, Conditions } from '../database/list.ts'
import type { Mutation } from '../database/mutate.ts'
import { expected, one } from '../database/rows.ts'
import { unlinkAllOf } from '../documenten/object-links.ts'
import { sendCacheable } from '../http/etag.ts'
import { ExpandQuery, expand, expandEach } from '../http/expand.ts'
import { Rsin, Url } from '../http/input.ts'
import { link, localUuid, resolveLink } from '../http/links.ts'
import { Page, PageQuery, sendPageOf } from '../http/page.ts'
import { type InvalidParam, notFound, Problem, throwFaults } from '../http/problem.ts'
import {
  difference,
  openRemoteRelations,
  type RemoteChange,
  type RemoteRelation,
  releaseAfterwards,
  releaseRemote,
  requireSettled,
} from '../services/remote-relations.ts'
import { holdZaak, requireOpenZaak, type ZaakCore } from '../zaken/lock.ts'
import { Besluit, BesluitInput, BesluitPatch, type BesluitRow, Params, toBesluit, toColumns, toRow } from './columns.ts'
import { besluitTree } from './expand.ts'
import {
  AANMAKEN,
  access,
  BIJWERKEN,
  besluitenKanaal,
  countBesluiten,
  findBesluit,
  LEZEN,
  pageOfBesluiten,
  reached,
  requireBesluit,
  requireMay,
  VERWIJDEREN,
} from './read.ts'
import {
  type Besluittype,
  besluittypeChangeFaults,
  dateFaults,
  fetchBesluittypeElsewhere,
  fetchZaakElsewhere,
  identificatieChangeFaults,
  identificatieFaults,
  judgeZaak,
  publishedFaults,
  requireBesluittype,
  type Settings,
  type ZaakElsewhere,
  zaaktypeElsewhereFaults,
  zaaktypeFaults,
} from './rules.ts'
import { syncZaakbesluit } from './zaakbesluiten.ts'

const Filter = Type.Object({
  ...PageQuery,
  ...ExpandQuery,
  identificatie: Type.Optional(Type.String()),
  verantwoordelijkeOrganisatie: Type.Optional(Rsin),
  besluittype: Type.Optional(Url()),
  zaak: Type.Optional(Url()),
})
const DetailQuery = Type.Object({ ...PageQuery, ...ExpandQuery })

export const besluiten: FastifyPluginAsyncTypebox = async (app) => {
  const { config, services } = app.parts
  const remoteRelations = openRemoteRelations(app.mutate, services)

  app.get(
    '/besluiten',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Page(Besluit) } } },
    async (request, reply) => {
      const conditions = filtered(request.query, request)
      const list = app.listing((reader) => ({
        count: () => countBesluiten(reader, conditions),
        isFiltered: conditions.counted.length > 1 || conditions.others.length > 0,
        rows: (limit, offset, known) => pageOfBesluiten(reader, request.actor, conditions, limit, offset, known),
      }))
      const paths = request.query.expand
      return sendPageOf(request, reply, list, (rows) => {
        const besluiten = rows.map((row) => toBesluit(row, request.base))
        return paths ? expandEach(request, besluiten, paths, besluitTree) : besluiten
      })
    },
  )

  app.post(
    '/besluiten',
    { config: access(AANMAKEN), schema: { body: BesluitInput, response: { 201: Besluit } } },
    async (request, reply) => {
      const elsewhere = await fetchBesluittypeElsewhere(services, request.body.besluittype, request.base)
      const zaakElsewhere = await fetchZaakElsewhere(services, request.body.zaak, request.base)
      const row = await remoteRelations.create(request.actor, (m, remote) =>
        createBesluit(m, request.body, { elsewhere, config, zaakElsewhere, remote }),
      )
      const besluit = toBesluit(row, request.base)
      return reply.code(201).header('location', besluit.url).send(besluit)
    },
  )

  app.get(
    '/besluiten/:uuid',
    { config: access(LEZEN), schema: { params: Params, querystring: DetailQuery, response: { 200: Besluit } } },
    async (request, reply) => {
      const row = await requireBesluit(app.read, request.actor, LEZEN, request.params.uuid)
      const besluit = toBesluit(row, request.base)
      const paths = request.query.expand
      const [answer] = paths ? await expand(request, [besluit], paths, besluitTree) : [besluit]
      return sendCacheable(request, reply, answer)
    },
  )

  app.put(
    '/besluiten/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: BesluitInput, response: { 200: Besluit } } },
    async (request) => change(request, 'update', request.params.uuid, request.body),
  )

  app.patch(
    '/besluiten/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: BesluitPatch, response: { 200: Besluit } } },
    async (request) => change(request, 'partial_update', request.params.uuid, request.body),
  )

  app.delete(
    '/besluiten/:uuid',
    { config: access(VERWIJDEREN), schema: { params: Params } },
    async (request, reply) => {
      await app.mutate(request.actor, (m) => deleteBesluit(m, request.params.uuid))
      return reply.code(204).send()
    },
  )

  async function change({ actor, base }: FastifyRequest, actie: ChangeKind, uuid: string, given: BesluitPatch) {
    const known = await findBesluit(app.read, uuid)
    // Who names the case that it has already need not wait for the server of that case.
    const moves = given.zaak && given.zaak !== known?.zaakUrl
    const zaakElsewhere = moves ? await fetchZaakElsewhere(services, given.zaak, base) : undefined
    const typeUrl = moves ? known?.besluittypeUrl : undefined
    const type = typeUrl ? await fetchBesluittypeElsewhere(services, typeUrl, base) : undefined
    const zaaktypen = type && 'zaaktypen' in type ? type.zaaktypen : []
    return remoteRelations.create(actor, (m, remote) =>
      changeBesluit(m, uuid, actie, given, { config, zaakElsewhere, zaaktypen, remote }),
    )
  }
}

type ChangeKind = 'update' | 'partial_update'

/** What a filter leaves of the besluiten that the caller may read. */
function filtered(filter: Static<typeof Filter>, { actor, base }: FastifyRequest): Conditions {
  const counted: Condition[] = [reached(actor)]
  const others: Condition[] = []
  if (filter.identificatie !== undefined) others.push(sql`b.identificatie = ${filter.identificatie}`)
  if (filter.verantwoordelijkeOrganisatie !== undefined)
    counted.push(sql`b.verantwoordelijke_organisatie = ${filter.verantwoordelijkeOrganisatie}`)
  if (filter.besluittype !== undefined) counted.push(ofType(filter.besluittype, base))
  if (filter.zaak !== undefined) {
    const uuid = localUuid(filter.zaak, base, 'zaak') ?? null
    if (resolveLink(filter.zaak, base).kind === 'elsewhere') others.push(sql`b.zaak_url = ${filter.zaak}`)
    else others.push(sql`b.zaak_id = (select z.id from zaak z where z.uuid = ${uuid}::uuid)`)
  }
  return { counted, others }
}

function ofType(url: string, base: string): RawBuilder<boolean> {
  if (resolveLink(url, base).kind === 'elsewhere') return sql`b.besluittype_url = ${url}`
  const uuid = localUuid(url, base, 'besluittype') ?? null
  return sql`b.besluittype_id = (select t.id from besluittype t where t.uuid = ${uuid}::uuid)`
}

// ---- create ----

/**
 * @param context.elsewhere what `fetchBesluittypeElsewhere` found
 * @param context.zaakElsewhere what `fetchZaakElsewhere` found, with `remote` for the other side of it (brc-006)
 */
export async function createBesluit(
  m: Mutation,
  input: BesluitInput,
  context: {
    elsewhere: Besluittype | InvalidParam | undefined
    config: Settings
    zaakElsewhere?: ZaakElsewhere | InvalidParam | undefined
    remote?: RemoteChange
  },
): Promise<BesluitRow> {
  const { base } = m.actor
  const type = await requireBesluittype(m.read, input.besluittype, base, context.elsewhere) // brc-001
  requireMay(m.actor, AANMAKEN, type)
  const { zaakElsewhere } = context
  const remoteZaak = zaakElsewhere && 'url' in zaakElsewhere ? zaakElsewhere : null
  const { zaak, faults } = remoteZaak
    ? { zaak: null, faults: await zaaktypeElsewhereFaults(m.read, type, remoteZaak, base) } // brc-007
    : zaakElsewhere && 'code' in zaakElsewhere
      ? { zaak: null, faults: [zaakElsewhere] }
      : await judgeZaak(m, input.zaak)
  throwFaults([
    ...(await identificatieFaults(m.read, input)), // brc-002
    ...publishedFaults(type, context.config), // brc-001
    ...faults,
    ...dateFaults(input, context.config),
    ...(await zaaktypeFaults(m.read, type, zaak)), // brc-007
  ])
  if (zaak) requireOpenZaak(zaak, m.actor)
  const uuid = await insertBesluit(m, {
    ...toRow(input),
    besluittypeId: type.id,
    besluittypeUrl: type.besluittypeUrl,
    besluittypeCatalogusUrl: type.id === null ? type.catalogusUrl : '',
    zaakId: zaak?.id ?? null,
    zaakUrl: remoteZaak?.url ?? null,
  })
  if (remoteZaak && context.remote) {
    context.remote.rijen.push({ tabel: 'besluit', uuid })
    context.remote.relations.push(zaakbesluitElsewhere(remoteZaak.url, uuid, base)) // brc-006
  }
  const row = expected(await findBesluit(m.read, uuid))
  recordBesluit(m, 'create', row, null, toBesluit(row, base))
  await syncZaakbesluit(m, null, { row, zaak }) // brc-006
  return row
}

type NewBesluit = ReturnType<typeof toRow> & {
  besluittypeId: number | null
  besluittypeUrl: string | null
  besluittypeCatalogusUrl: string
  zaakId: number | null
  zaakUrl: string | null
}

const zaakbesluitElsewhere = (zaak: string, uuid: string, base: string): RemoteRelation => ({
  soort: 'zaakbesluit',
  bron: 'besluit',
  bronUuid: uuid,
  lijst: `${zaak}/besluiten`,
  inhoud: { besluit: link(base, 'besluit', uuid) },
})

/** brc-002: with the number of the client, or the next free one. */
async function insertBesluit(m: Mutation, values: NewBesluit): Promise<string> {
  if (values.identificatie !== '')
    return (await m.trx.insertInto('besluit').values(values).returning('uuid').executeTakeFirstOrThrow()).uuid
  for (let attempt = 1; attempt <= 10; attempt++) {
    const made = await m.trx
      .insertInto('besluit')
      .values({ ...values, identificatie: sql<string>`besluit_identificatie(${values.datum}::date)` })
      .onConflict((conflict) => conflict.constraint('besluit_identificatie_uniek').doNothing())
      .returning('uuid')
      .executeTakeFirst()
    if (made) return made.uuid
    await sql`select haal_besluitnummers_in(${values.datum}::date)`.execute(m.trx)
  }
  throw new Problem(409, { detail: 'Er kon geen vrij nummer worden gevonden.' })
}

// ---- change ----

/**
 * A PATCH keeps what it does not name; a PUT keeps the number. Type, number and organisation stay in any case.
 * @param context.zaakElsewhere what `fetchZaakElsewhere` found of a case that it moves to, with `remote` for the other side
 * @param context.zaaktypen those that a type elsewhere names
 */
async function changeBesluit(
  m: Mutation,
  uuid: string,
  actie: ChangeKind,
  given: BesluitPatch,
  context: {
    config: Settings
    zaakElsewhere: ZaakElsewhere | InvalidParam | undefined
    zaaktypen: string[]
    remote: RemoteChange
  },
): Promise<Besluit> {
  const { base } = m.actor
  const before = await lockBesluit(m, uuid)
  requireMay(m.actor, BIJWERKEN, before)
  await requireSettled(m, 'besluit', uuid)
  const { config, zaaktypen, remote } = context
  const oud = toBesluit(before, base)
  const current = await zaakOf(m, before)
  const stays = before.zaakUrl !== null && given.zaak === before.zaakUrl
  const asked = stays ? { zaak: null, naar: null, faults: [] } : await judgeNewZaak(m, before, given.zaak, context)
  const { naar } = asked
  const leaves = before.zaakUrl !== null && given.zaak !== undefined && !stays
  const known = before.besluittypeUrl !== null && asked.zaak?.id === current?.id // judged when it was given
  throwFaults([
    ...identificatieChangeFaults(given, before), // brc-002
    ...(await besluittypeChangeFaults(m.read, given, before, base, config)), // brc-001
    ...asked.faults,
    ...dateFaults(given, config),
    ...(await zaaktypeFaults(m.read, { id: before.besluittypeId, zaaktypen }, known ? null : asked.zaak)), // brc-007
  ])
  for (const zaak of [current, asked.zaak]) if (zaak) requireOpenZaak(zaak, m.actor)
  const { identificatie, verantwoordelijkeOrganisatie, ...columns } =
    actie === 'update' ? toRow(given) : toColumns(given)
  const zaak = given.zaak === undefined ? current : asked.zaak
  const was = naar ? await bothSides(m, uuid, current) : null
  await m.trx
    .updateTable('besluit')
    .set({
      ...columns,
      zaakId: zaak?.id ?? null,
      ...(given.zaak !== undefined && !stays && { zaakUrl: naar?.url ?? null }),
    })
    .where('id', '=', before.id)
    .execute()
  const row = expected(await findBesluit(m.read, uuid))
  const nieuw = toBesluit(row, base)
  recordBesluit(m, actie, row, oud, nieuw)
  await syncZaakbesluit(m, { row: before, zaak: current }, { row, zaak }) // brc-006
  if (leaves && naar) await releaseAfterwards(m, 'besluit', uuid, remote)
  else if (leaves) await releaseRemote(m, 'besluit', [uuid])
  if (naar && was) {
    remote.relations.push(zaakbesluitElsewhere(naar.url, uuid, base)) // brc-006
    remote.rijen.push(...undone(uuid, current, was, await bothSides(m, uuid, current)))
  }
  return nieuw
}

/** brc-006, brc-007: the case that a besluit moves to; `naar` when that stands elsewhere. */
async function judgeNewZaak(
  m: Mutation,
  { besluittypeId }: BesluitRow,
  url: string | undefined,
  { zaakElsewhere, zaaktypen }: { zaakElsewhere: ZaakElsewhere | InvalidParam | undefined; zaaktypen: string[] },
): Promise<{ zaak: ZaakCore | null; naar: ZaakElsewhere | null; faults: InvalidParam[] }> {
  if (!zaakElsewhere) return { ...(await judgeZaak(m, url)), naar: null }
  if ('code' in zaakElsewhere) return { zaak: null, naar: null, faults: [zaakElsewhere] }
  const faults = await zaaktypeElsewhereFaults(m.read, { id: besluittypeId, zaaktypen }, zaakElsewhere, m.actor.base)
  return { zaak: null, naar: zaakElsewhere, faults }
}

type Json = Record<string, unknown>
type Sides = { besluit: Json; zaakbesluit: Json | null; zaak: Json | null }

/** A besluit and its place in a case of ours, as they stand in the database. */
async function bothSides(m: Mutation, uuid: string, zaak: ZaakCore | null): Promise<Sides> {
  const id = zaak?.id ?? null
  const row = one(
    await m.sql<Omit<Sides, 'zaak'>[]>`
    select to_jsonb(b) as besluit,
      (select to_jsonb(x) from zaakbesluit x where x.zaak_id = ${id} and x.besluit_uuid = b.uuid) as zaakbesluit
    from besluit b where b.uuid = ${uuid}`,
  )
  return { ...row, zaak: await archivering(m, zaak?.uuid ?? null) }
}

/** What archiving of a case of ours is: a besluit may change it. */
export async function archivering(m: Mutation, zaakUuid: string | null): Promise<Json | null> {
  if (zaakUuid === null) return null
  const [row] = await m.sql<{ zaak: Json }[]>`
    select jsonb_build_object('archiefnominatie', archiefnominatie, 'archiefactiedatum', archiefactiedatum,
      'startdatum_bewaartermijn', startdatum_bewaartermijn) as zaak from zaak where uuid = ${zaakUuid}`
  return row?.zaak ?? null
}

/** What has to be as it was when the server of the new case refuses. */
function undone(uuid: string, zaak: ZaakCore | null, was: Sides, nu: Sides): RemoteChange['rijen'] {
  const rijen: RemoteChange['rijen'] = [{ tabel: 'besluit', uuid, ...difference(was.besluit, nu.besluit) }]
  if (was.zaakbesluit) rijen.push({ tabel: 'zaakbesluit', rij: was.zaakbesluit })
  if (zaak && was.zaak && nu.zaak) rijen.push({ tabel: 'zaak', uuid: zaak.uuid, ...difference(was.zaak, nu.zaak) })
  return rijen
}

/** The besluit, held until the transaction ends. @throws Problem 404 */
export async function lockBesluit(m: Mutation, uuid: string): Promise<BesluitRow> {
  const found = await m.trx.selectFrom('besluit').where('uuid', '=', uuid).select('id').forUpdate().executeTakeFirst()
  if (!found) throw notFound()
  return expected(await findBesluit(m.read, uuid))
}

/** The case of a besluit, held too: it does not close meanwhile. */
async function zaakOf(m: Mutation, { zaakUuid }: BesluitRow): Promise<ZaakCore | null> {
  return zaakUuid === null ? null : ((await holdZaak(m, zaakUuid)) ?? null)
}

// ---- delete ----

/** brc-009: a besluit goes with its relations to documents, its place in the case, and its audit trail. */
async function deleteBesluit(m: Mutation, uuid: string): Promise<void> {
  const row = await lockBesluit(m, uuid)
  requireMay(m.actor, VERWIJDEREN, row)
  const zaak = await zaakOf(m, row)
  if (zaak) requireOpenZaak(zaak, m.actor)
  await unlinkAllOf(m, [uuid])
  const others = await m.sql<{ uuid: string }[]>`
    select uuid from besluitinformatieobject where besluit_id = ${row.id} and informatieobject_url is not null`
  await releaseRemote(m, 'besluit', [uuid])
  await releaseRemote(
    m,
    'besluitinformatieobject',
    others.map((one) => one.uuid),
  )
  await m.trx.deleteFrom('besluit').where('id', '=', row.id).execute()
  recordBesluit(m, 'destroy', row, toBesluit(row, m.actor.base), null)
  await syncZaakbesluit(m, { row, zaak }, null) // brc-006
}

function recordBesluit(
  m: Mutation,
  actie: 'create' | 'update' | 'partial_update' | 'destroy',
  row: BesluitRow,
  oud: Besluit | null,
  nieuw: Besluit | null,
): void {
  const { base } = m.actor
  m.record({
    component: 'brc',
    actie,
    resource: 'besluit',
    url: link(base, 'besluit', row.uuid),
    uuid: row.uuid,
    weergave: row.identificatie,
    kanaal: besluitenKanaal(row, base),
    oud,
    nieuw,
    ...(actie === 'destroy' && { spoor: 'wis' }),
  })
}
