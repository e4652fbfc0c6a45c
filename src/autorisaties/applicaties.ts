// applicaties: who may use the APIs, and for what. The record of an application holds all its rights, so that every write
// of them replaces the whole set.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { ReadDb } from '../database/database.ts'
import type { Mutation } from '../database/mutate.ts'
import { one } from '../database/rows.ts'
import { when } from '../database/when.ts'
import { alias } from '../http/documented.ts'
import { Patch, snakeCase, Text, Url, Uuid } from '../http/input.ts'
import { LIMITS } from '../http/limits.ts'
import { link } from '../http/links.ts'
import { Page, PageQuery, sendPageOf } from '../http/page.ts'
import { type InvalidParam, invalid, notFound, throwFaults } from '../http/problem.ts'
import {
  Autorisatie,
  AutorisatieInput,
  CatalogusAutorisatie,
  type EffectiveRight,
  implied,
  incompleteRights,
  type Right,
  readCatalogusRights,
  readRights,
  sentBack,
  toAutorisatie,
  toCatalogusAutorisatie,
  typesOfRight,
  without,
  writeCatalogusRights,
  writeRights,
} from './rights.ts'

export const ApplicatieInput = Type.Object({
  clientIds: Type.Array(Text(50, { minLength: 1 }), {
    minItems: 1,
    description: 'Client-ids, uniek over alle applicaties.',
  }),
  label: Text(100, { minLength: 1, description: 'Naam voor mensen.' }),
  heeftAlleAutorisaties: Type.Optional(
    Type.Boolean({ default: false, description: 'Mag alles; dan zijn er geen autorisaties.' }),
  ),
  alleenIsGereedVoorPublicatie: Type.Optional(
    Type.Boolean({ default: false, description: 'Leest alleen documenten die gereed zijn voor publicatie.' }),
  ),
  autorisaties: Type.Optional(Type.Array(AutorisatieInput, { maxItems: LIMITS.rights })),
  catalogusAutorisaties: Type.Optional(Type.Array(CatalogusAutorisatie)),
})
const ApplicatiePatch = Patch(ApplicatieInput)
const Applicatie = Type.Object({
  url: Url(),
  ...ApplicatieInput.properties,
  autorisaties: Type.Array(Autorisatie, {
    description: 'Ook wat catalogusAutorisaties inhouden, met een regel per versie van een type.',
  }),
  catalogusAutorisaties: Type.Array(CatalogusAutorisatie),
})
type Applicatie = Static<typeof Applicatie>

const Filter = Type.Object({
  ...PageQuery,
  clientIds: Type.Optional(Type.Array(Type.String(), { description: 'Applicaties met al deze client-ids.' })),
  // The spelling that some clients send.
  client_ids: Type.Optional(alias(Type.Array(Type.String()))),
})
const ConsumerQuery = Type.Object({ clientId: Type.String({ description: 'Een van de client-ids.' }) })
const Params = Type.Object({ uuid: Uuid })
const DetailQuery = Type.Object(PageQuery)
const readAccess = { access: { component: 'ac', scopes: ['autorisaties.lezen'] } } as const
const updateAccess = { access: { component: 'ac', scopes: ['autorisaties.bijwerken'] } } as const

export const applicaties: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/applicaties',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Applicatie) } } },
    async (request, reply) => {
      const kept = withAllClients(request.query.clientIds ?? request.query.client_ids)
      return sendPageOf(
        request,
        reply,
        {
          count: async () =>
            one((await sql<{ n: number }>`select count(*) as n from applicatie a where ${kept}`.execute(app.read)).rows)
              .n,
          rows: (limit, offset) => selectApplicaties(app.read, kept, limit, offset),
        },
        (rows) => rows.map((row) => toApplicatie(row, request.base)),
        10, // an application may have thousands of rights
      )
    },
  )

  app.post(
    '/applicaties',
    {
      config: updateAccess,
      bodyLimit: LIMITS.applicatieBytes,
      schema: { body: ApplicatieInput, response: { 201: Applicatie } },
      preValidation: refuseNull,
    },
    async (request, reply) => {
      const applicatie = await app.mutate(request.actor, (m) => createApplicatie(m, request.body, ours(request)))
      return reply.code(201).header('location', applicatie.url).send(applicatie)
    },
  )

  app.get(
    '/applicaties/consumer',
    { config: readAccess, schema: { querystring: ConsumerQuery, response: { 200: Applicatie } } },
    async (request) => {
      const [row] = await selectApplicaties(app.read, withAllClients([request.query.clientId]), 1)
      if (!row) throw notFound()
      return toApplicatie(row, request.base)
    },
  )

  app.get(
    '/applicaties/:uuid',
    { config: readAccess, schema: { params: Params, querystring: DetailQuery, response: { 200: Applicatie } } },
    async (request) => toApplicatie(await requireApplicatie(app.read, request.params.uuid), request.base),
  )

  app.put(
    '/applicaties/:uuid',
    {
      config: updateAccess,
      bodyLimit: LIMITS.applicatieBytes,
      schema: { params: Params, body: ApplicatieInput, response: { 200: Applicatie } },
      preValidation: refuseNull,
    },
    async (request) =>
      app.mutate(request.actor, (m) => changeApplicatie(m, 'update', request.params.uuid, request.body, ours(request))),
  )

  app.patch(
    '/applicaties/:uuid',
    {
      config: updateAccess,
      bodyLimit: LIMITS.applicatieBytes,
      schema: { params: Params, body: ApplicatiePatch, response: { 200: Applicatie } },
      preValidation: refuseNull,
    },
    async (request) =>
      app.mutate(request.actor, (m) =>
        changeApplicatie(m, 'partial_update', request.params.uuid, request.body, ours(request)),
      ),
  )

  app.delete('/applicaties/:uuid', { config: updateAccess, schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteApplicatie(m, request.params.uuid))
    return reply.code(204).send()
  })
}

const NIET_NULL = ['heeftAlleAutorisaties', 'alleenIsGereedVoorPublicatie', 'autorisaties', 'catalogusAutorisaties']

/** Null counts as absent elsewhere; here a client that sends it could mean "nothing" as well as "as it was". */
async function refuseNull({ body }: FastifyRequest): Promise<void> {
  if (body === null || typeof body !== 'object') return
  const values = body as Record<string, unknown>
  const nulls = NIET_NULL.filter((name) => values[name] === null || values[snakeCase(name)] === null)
  throwFaults(nulls.map((name) => ({ name, code: 'null', reason: 'Dit veld mag niet null zijn.' })))
}

/** Addresses under which a type URL means a type of ours: as links are written, and as this caller reached us. */
function ours(request: FastifyRequest): string[] {
  const { host } = request.headers
  return [request.base, ...(host && URL.canParse(`http://${host}`) ? [`http://${host}`] : [])]
}

function withAllClients(clientIds: string[] | undefined): RawBuilder<boolean> {
  if (clientIds === undefined) return sql<boolean>`true`
  const wanted = [...new Set(clientIds)]
  return sql<boolean>`(select count(*) from applicatie_client_alle c where c.applicatie_id = a.id and c.client_id = any(${wanted}::text[])) = ${wanted.length}`
}

// ---- reading ----

type ApplicatieRow = {
  id: number
  uuid: string
  label: string
  heeftAlleAutorisaties: boolean
  alleenIsGereedVoorPublicatie: boolean
  clientIds: string[]
  rechten: Right[]
  catalogusRechten: EffectiveRight[]
}

async function selectApplicaties(
  db: ReadDb,
  kept: RawBuilder<boolean>,
  limit: number,
  offset = 0,
): Promise<ApplicatieRow[]> {
  const { rows } = await sql<ApplicatieRow>`
    select a.id, a.uuid, a.label, a.heeft_alle_autorisaties, a.alleen_is_gereed_voor_publicatie,
      coalesce((select jsonb_agg(c.client_id order by c.volgorde, c.client_id)
        from applicatie_client_alle c where c.applicatie_id = a.id), '[]') as client_ids,
      coalesce((select jsonb_agg(jsonb_build_object('component', r.component, 'scopes', r.scopes, 'typeUrl', r.type_url,
          'typeUuid', r.type_uuid, 'max', r.max_vertrouwelijkheidaanduiding) order by r.id)
        from autorisatie r where r.applicatie_id = a.id), '[]') as rechten,
      coalesce((select jsonb_agg(jsonb_build_object('component', k.component, 'catalogusUuid', c.uuid, 'type', k.type,
          'scopes', k.scopes, 'max', k.max_vertrouwelijkheidaanduiding, 'inhoud', ${typesOfRight}) order by k.id)
        from catalogus_autorisatie k join catalogus c on c.id = k.catalogus_id where k.applicatie_id = a.id), '[]')
        as catalogus_rechten
    from applicatie a where ${kept} order by a.id desc limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** @throws Problem 404 */
export async function requireApplicatie(db: ReadDb, uuid: string): Promise<ApplicatieRow> {
  const [row] = await selectApplicaties(db, sql<boolean>`a.uuid = ${uuid}`, 1)
  if (!row) throw notFound()
  return row
}

/** As clients see it: `autorisaties` also has what the rights for catalogues come to at this moment. */
export function toApplicatie(row: ApplicatieRow, base: string): Applicatie {
  const virtual = row.catalogusRechten
    .flatMap(implied)
    .sort((a, b) => (a.component < b.component ? -1 : a.component > b.component ? 1 : 0))
  return {
    url: link(base, 'applicatie', row.uuid),
    clientIds: row.clientIds,
    label: row.label,
    heeftAlleAutorisaties: row.heeftAlleAutorisaties,
    alleenIsGereedVoorPublicatie: row.alleenIsGereedVoorPublicatie,
    autorisaties: [...row.rechten, ...virtual].map((recht) => toAutorisatie(recht, base)),
    catalogusAutorisaties: row.catalogusRechten.map((recht) => toCatalogusAutorisatie(recht, base)),
  }
}

// ---- writing ----

export type ApplicatieInput = Static<typeof ApplicatieInput>

/** `zonderRechten`: it may have no rights (yet), which the standard does not allow a client to write. */
type Allowed = { zonderRechten?: boolean }

/** @param hosts addresses of ours, besides that of the actor, under which types may be written */
export async function createApplicatie(
  m: Mutation,
  input: ApplicatieInput,
  hosts: string[] = [],
  regels: Allowed = {},
): Promise<Applicatie> {
  const clientIds = [...new Set(input.clientIds)]
  throwFaults([...(await takenClientIds(m, clientIds, null)), ...incompleteRights(input)])
  const catalogusRechten = await readCatalogusRights(m, input.catalogusAutorisaties ?? [], [])
  const rechten = readRights(input.autorisaties ?? [], [m.actor.base, ...hosts])
  requireEither(input.heeftAlleAutorisaties ?? false, rechten.length + catalogusRechten.length, regels)
  const { id, uuid } = await m.trx
    .insertInto('applicatie')
    .values({
      label: input.label,
      heeftAlleAutorisaties: input.heeftAlleAutorisaties ?? false,
      alleenIsGereedVoorPublicatie: input.alleenIsGereedVoorPublicatie ?? false,
    })
    .returning(['id', 'uuid'])
    .executeTakeFirstOrThrow()
  await writeClientIds(m, id, clientIds)
  await writeCatalogusRights(m, id, catalogusRechten)
  const { catalogusRechten: written } = await requireApplicatie(m.read, uuid)
  await writeRights(m, id, without(rechten, written.flatMap(implied)))
  return recordApplicatie(m, 'create', null, await requireApplicatie(m.read, uuid))
}

/** @param input what is absent stays as it is */
export async function changeApplicatie(
  m: Mutation,
  actie: 'update' | 'partial_update',
  uuid: string,
  input: Partial<ApplicatieInput>,
  hosts: string[] = [],
  regels: Allowed = {},
): Promise<Applicatie> {
  const { id } = await lockApplicatie(m, uuid)
  const before = await requireApplicatie(m.read, uuid)
  const clientIds = input.clientIds && [...new Set(input.clientIds)]
  throwFaults([...(clientIds ? await takenClientIds(m, clientIds, id) : []), ...incompleteRights(input)])
  const alles = input.heeftAlleAutorisaties ?? before.heeftAlleAutorisaties
  const rechten = input.autorisaties && readRights(input.autorisaties, [m.actor.base, ...hosts])
  const catalogusRechten =
    input.catalogusAutorisaties !== undefined
      ? await readCatalogusRights(m, input.catalogusAutorisaties, before.catalogusRechten)
      : rechten && (alles ? [] : sentBack(before.catalogusRechten, rechten))
  requireEither(
    alles,
    (rechten ?? before.rechten).length + (catalogusRechten ?? before.catalogusRechten).length,
    regels,
  )
  await m.trx
    .updateTable('applicatie')
    .set({
      label: input.label ?? before.label,
      heeftAlleAutorisaties: alles,
      alleenIsGereedVoorPublicatie: input.alleenIsGereedVoorPublicatie ?? before.alleenIsGereedVoorPublicatie,
    })
    .where('id', '=', id)
    .execute()
  if (clientIds) await writeClientIds(m, id, clientIds)
  if (catalogusRechten) await writeCatalogusRights(m, id, catalogusRechten)
  if (rechten) {
    const { catalogusRechten: written } = await requireApplicatie(m.read, uuid)
    await writeRights(m, id, without(rechten, written.flatMap(implied)))
  }
  return recordApplicatie(m, actie, toApplicatie(before, m.actor.base), await requireApplicatie(m.read, uuid))
}

/** Its credentials go with it: every process then refuses its tokens. */
export async function deleteApplicatie(m: Mutation, uuid: string): Promise<void> {
  await lockApplicatie(m, uuid)
  const row = await requireApplicatie(m.read, uuid)
  await m.trx.deleteFrom('applicatie').where('id', '=', row.id).execute()
  recordApplicatie(m, 'destroy', toApplicatie(row, m.actor.base), row)
}

async function lockApplicatie(m: Mutation, uuid: string): Promise<{ id: number }> {
  const found = await m.trx
    .selectFrom('applicatie')
    .where('uuid', '=', uuid)
    .select('id')
    .forUpdate()
    .executeTakeFirst()
  if (!found) throw notFound()
  return found
}

/**
 * Records a change, for the audit trail and for subscribers to the kanaal autorisaties.
 * @param row what it has become, or what was removed
 */
export function recordApplicatie(
  m: Mutation,
  actie: 'create' | 'update' | 'partial_update' | 'destroy',
  oud: Applicatie | null,
  row: ApplicatieRow,
): Applicatie {
  const applicatie = toApplicatie(row, m.actor.base)
  m.record({
    component: 'ac',
    actie,
    resource: 'applicatie',
    url: applicatie.url,
    uuid: row.uuid,
    weergave: row.label,
    kanaal: { naam: 'autorisaties', kenmerken: {} },
    oud,
    nieuw: actie === 'destroy' ? null : applicatie,
  })
  return applicatie
}

// ---- rules ----

/** ac-001: a client id belongs to one application. */
async function takenClientIds(m: Mutation, clientIds: string[], ownId: number | null): Promise<InvalidParam[]> {
  const taken = await m.trx
    .selectFrom('applicatieClient as c')
    .innerJoin('applicatie as a', 'a.id', 'c.applicatieId')
    .where('c.clientId', 'in', clientIds)
    .$call(
      when(ownId, (query, ownId) =>
        query
          .where('a.id', '!=', ownId)
          // Taken over with both.
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('applicatieClientOok as o')
                  .whereRef('o.clientId', '=', 'c.clientId')
                  .where('o.applicatieId', '=', ownId)
                  .select('o.clientId'),
              ),
            ),
          ),
      ),
    )
    .select(['c.clientId', 'a.uuid'])
    .execute()
  if (taken.length === 0) return []
  const ids = taken.map(({ clientId }) => clientId).join(', ')
  const uuids = [...new Set(taken.map(({ uuid }) => uuid))].join(', ')
  return [
    {
      name: 'clientIds',
      code: 'clientId-exists',
      reason: `Deze client-ids horen al bij een andere applicatie: ${ids} (${uuids}).`,
    },
  ]
}

/** ac-002: all rights, or a list of them; not both and not neither. */
function requireEither(alles: boolean, rights: number, { zonderRechten = false }: Allowed): void {
  if (alles && rights > 0)
    throw invalid(
      'nonFieldErrors',
      'ambiguous-authorizations-specified',
      'Geef heeftAlleAutorisaties, of autorisaties; niet beide.',
    )
  if (!alles && rights === 0 && !zonderRechten)
    throw invalid(
      'nonFieldErrors',
      'missing-authorizations',
      'Geef heeftAlleAutorisaties, of ten minste een autorisatie.',
    )
}

// ---- rows ----

/** What is no longer named loses its credentials; what stays keeps them. */
async function writeClientIds(m: Mutation, applicatieId: number, clientIds: string[]): Promise<void> {
  await m.trx
    .deleteFrom('applicatieClient')
    .where('applicatieId', '=', applicatieId)
    .where('clientId', 'not in', clientIds)
    .execute()
  await m.trx
    .deleteFrom('applicatieClientOok')
    .where('applicatieId', '=', applicatieId)
    .where('clientId', 'not in', clientIds)
    .execute()
  await sql`insert into applicatie_client (client_id, applicatie_id, volgorde)
    select n.client_id, ${applicatieId}, n.volgorde - 1
    from unnest(${clientIds}::text[]) with ordinality as n(client_id, volgorde)
    where not exists (select from applicatie_client_ook o where o.client_id = n.client_id and o.applicatie_id = ${applicatieId})
    on conflict (client_id) do update set volgorde = excluded.volgorde where applicatie_client.applicatie_id = excluded.applicatie_id`.execute(
    m.trx,
  )
  const [{ n } = { n: 0 }] = await m.trx
    .selectFrom('applicatieClientAlle')
    .where('applicatieId', '=', applicatieId)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .execute()
  if (n !== clientIds.length) throwFaults(await takenClientIds(m, clientIds, applicatieId)) // taken just now
}
