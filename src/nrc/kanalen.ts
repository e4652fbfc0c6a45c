// Kanalen: named topics, with the kenmerken that subscribers may filter on. Those that we publish on ourselves are made at the start.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Config } from '../config.ts'
import type { Mutation } from '../core/mutate.ts'
import { fault, type InvalidParam, notFound, throwFaults } from '../core/problem.ts'
import type { Database, ReadDb } from '../database/database.ts'
import { when } from '../database/when.ts'
import { requireMatch, sendCacheable } from '../http/etag.ts'
import { Patch, Text, Url, Uuid } from '../http/input.ts'
import { link, ownAddress } from '../http/links.ts'
import { sendAllById } from '../http/stream.ts'
import { filters as filtersOf, KANALEN } from '../notificaties/kanalen.ts'
import { sameName, unknownFilters } from './kenmerken.ts'
import { UNRECORDED } from './records.ts'
import { publishAccess, readAccess } from './rights.ts'

export const KanaalInput = Type.Object({
  naam: Text(50, { minLength: 1 }),
  documentatieLink: Type.Optional(Type.String({ format: 'uri', maxLength: 200, default: '' })),
  filters: Type.Optional(Type.Array(Text(200, { minLength: 1 }), { maxItems: 100, default: [] })),
})
type KanaalInput = Static<typeof KanaalInput>
const KanaalPatch = Patch(KanaalInput)
const Kanaal = Type.Object({ url: Url(), ...KanaalInput.properties })
const Params = Type.Object({ uuid: Uuid })
const Filter = Type.Object({ naam: Type.Optional(Type.String({ description: 'Het kanaal met precies deze naam.' })) })

export const kanalen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/kanaal',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Type.Array(Kanaal) } } },
    async (request, reply) =>
      sendAllById(request, reply, {
        select: (after = 0, limit) => selectKanalen(app.read, { ...request.query, after }, limit),
        toResources: (rows) => rows.map((row) => toKanaal(row, request.base)),
      }),
  )

  app.post(
    '/kanaal',
    { config: publishAccess, schema: { body: KanaalInput, response: { 201: Kanaal } } },
    async (request, reply) => {
      const kanaal = await app.mutate(request.actor, (m) => createKanaal(m, request.body))
      return reply.code(201).header('location', kanaal.url).send(kanaal)
    },
  )

  app.get(
    '/kanaal/:uuid',
    { config: readAccess, schema: { params: Params, response: { 200: Kanaal } } },
    async (request, reply) => {
      const [row] = await selectKanalen(app.read, request.params)
      if (!row) throw notFound()
      return sendCacheable(request, reply, toKanaal(row, request.base))
    },
  )

  app.put(
    '/kanaal/:uuid',
    { config: publishAccess, schema: { params: Params, body: KanaalInput, response: { 200: Kanaal } } },
    async (request) => app.mutate(request.actor, (m) => changeKanaal(m, request.params.uuid, request.body)),
  )

  app.patch(
    '/kanaal/:uuid',
    { config: publishAccess, schema: { params: Params, body: KanaalPatch, response: { 200: Kanaal } } },
    async (request) => app.mutate(request.actor, (m) => changeKanaal(m, request.params.uuid, request.body)),
  )
}

type KanaalRow = { id: number; uuid: string; naam: string; documentatieLink: string; filters: string[]; own: boolean }

const COLUMNS = ['id', 'uuid', 'naam', 'documentatieLink', 'filters', 'own'] as const
const MAX_KANALEN = 1000

function selectKanalen(
  db: ReadDb,
  where: { naam?: string | undefined; uuid?: string; after?: number },
  limit = 1,
): Promise<KanaalRow[]> {
  return db
    .selectFrom('kanaal')
    .select(COLUMNS)
    .$call(when(where.naam, (query, naam) => query.where('naam', '=', naam)))
    .$call(when(where.uuid, (query, uuid) => query.where('uuid', '=', uuid)))
    .$call(when(where.after, (query, after) => query.where('id', '>', after)))
    .orderBy('id')
    .limit(limit)
    .execute()
}

const toKanaal = ({ uuid, naam, documentatieLink, filters }: KanaalRow, base: string) => ({
  url: link(base, 'kanaal', uuid),
  naam,
  documentatieLink,
  filters,
})

/** Leaves no audit row and sends no message. @throws Problem 400 when there are as many as there may be */
export async function createKanaal(m: Mutation, input: KanaalInput) {
  m.unrecorded(UNRECORDED)
  const { count } = await m.trx
    .selectFrom('kanaal')
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= MAX_KANALEN)
    throwFaults([{ name: 'nonFieldErrors', code: 'max-items', reason: `Er zijn al ${MAX_KANALEN} kanalen.` }])
  const row = await m.trx
    .insertInto('kanaal')
    .values({ naam: input.naam, documentatieLink: input.documentatieLink ?? '', filters: input.filters ?? [] })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return toKanaal(row, m.actor.base)
}

/**
 * Changes what is given, for PUT and PATCH alike; leaves no audit row.
 * @throws Problem 404; 400 when the name would change, or filters would go that our own messages or an abonnement use
 */
export async function changeKanaal(m: Mutation, uuid: string, given: Static<typeof KanaalPatch>) {
  m.unrecorded(UNRECORDED)
  const row = await m.trx.selectFrom('kanaal').select(COLUMNS).where('uuid', '=', uuid).forUpdate().executeTakeFirst()
  if (!row) throw notFound()
  requireMatch(m, () => toKanaal(row, m.actor.base))
  throwFaults([
    ...(given.naam !== undefined && given.naam !== row.naam
      ? [fault('naam', 'wijzigen-niet-toegelaten', 'De naam van een kanaal kan niet wijzigen.')]
      : []),
    ...(given.filters ? await filterFaults(m, row, given.filters) : []),
  ])
  const changed = await m.trx
    .updateTable('kanaal')
    .set({
      documentatieLink: given.documentatieLink ?? row.documentatieLink,
      filters: given.filters ?? row.filters,
    })
    .where('id', '=', row.id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return toKanaal(changed, m.actor.base)
}

/** Kenmerken that we publish ourselves stay, and so do those that an abonnement filters on. */
async function filterFaults(m: Mutation, row: KanaalRow, filters: string[]): Promise<InvalidParam[]> {
  const own = row.own ? KANALEN.find(({ naam }) => naam === row.naam) : undefined
  const kept = new Set(filters.map(sameName))
  const missing = own ? filtersOf(own).filter((naam) => !kept.has(sameName(naam))) : []
  if (missing.length > 0)
    return [
      { name: 'filters', code: 'invalid', reason: `Deze kenmerken geeft dit kanaal zelf: ${missing.join(', ')}.` },
    ]
  const { rows } = await sql<{ filters: Record<string, string> }>`
    select ak.filters from abonnement_kanaal ak join abonnement a on a.id = ak.abonnement_id
    where ak.kanaal_id = ${row.id} and a.deleted_at is null`.execute(m.trx)
  const used = rows.filter((one) => unknownFilters(one.filters, filters).length > 0).length
  if (used === 0) return []
  return [
    { name: 'filters', code: 'in-gebruik', reason: `Op een kenmerk dat wegvalt filteren nog ${used} abonnementen.` },
  ]
}

/**
 * Makes the kanalen that we publish on, with the kenmerken of this version. What others added to their filters stays. Doing it
 * again, also from several processes at once, is harmless.
 */
export async function ensureOwnKanalen({ sql }: Database, config: Config): Promise<void> {
  for (const kanaal of KANALEN) {
    const { naam } = kanaal
    const filters = filtersOf(kanaal)
    await sql`
      insert into kanaal (naam, documentatie_link, filters, own)
      values (${naam}, ${`${ownAddress(config)}/ref/kanalen/#${naam}`}, ${filters}, true)
      on conflict on constraint kanaal_naam_unique do update set own = true, filters = kanaal.filters || array(
        select f from unnest(excluded.filters) f
        where kenmerk_name(f) <> all (select kenmerk_name(g) from unnest(kanaal.filters) g))
      where not kanaal.own or exists (
        select from unnest(excluded.filters) f
        where kenmerk_name(f) <> all (select kenmerk_name(g) from unnest(kanaal.filters) g))`
  }
}
