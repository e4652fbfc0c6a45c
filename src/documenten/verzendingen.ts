// verzendingen: that a document was sent to someone, or received from someone, and through which channel.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Actor } from '../core/actor.ts'
import { type Actie, json, type Mutation } from '../core/mutate.ts'
import { notFound, throwFaults } from '../core/problem.ts'
import type { ReadDb, Reader } from '../database/database.ts'
import { byKey } from '../database/list.ts'
import { expected } from '../database/rows.ts'
import { requireMatch, sendCacheable } from '../http/etag.ts'
import { ExpandQuery, expand, expandEach } from '../http/expand.ts'
import { Nullable, OptionalDate, OptionalText, Patch, Put, Reference, Text, Url } from '../http/input.ts'
import { link, localUuid } from '../http/links.ts'
import { CursorQuery, Page, PageQuery, sendPageOf } from '../http/page.ts'
import { warn } from '../telemetry/current-request.ts'
import { holdNamedDocument } from './document/hold.ts'
import { type DocumentRow, Params, requireDocument } from './document/read.ts'
import { subresourceTree } from './expand.ts'
import { catalogusElsewhere, documentenKanaal } from './kanaal.ts'
import {
  AANMAKEN,
  BIJWERKEN,
  createAccess,
  deleteAccess,
  LEZEN,
  reached,
  readAccess,
  requireMay,
  type Scopes,
  updateAccess,
  VERWIJDEREN,
} from './rights.ts'
import { contactChannelFault, requireDocumentUrl } from './rules.ts'

const POSTCODE = '^[1-9][0-9]{3} ?[A-Z]{2}$'
const BinnenlandsAdres = Type.Object({
  huisletter: OptionalText(1),
  huisnummer: Type.Integer({ minimum: 1, maximum: 99_999 }),
  huisnummerToevoeging: OptionalText(4),
  naamOpenbareRuimte: Text(80, { minLength: 1 }),
  postcode: Type.Optional(Type.String({ pattern: `^$|${POSTCODE}`, maxLength: 7, default: '' })),
  woonplaatsnaam: Text(80, { minLength: 1 }),
})
const BuitenlandsAdres = Type.Object({
  adresBuitenland1: Text(35, { minLength: 1 }),
  adresBuitenland2: OptionalText(35),
  adresBuitenland3: OptionalText(35),
  landPostadres: Url(200),
})
const Postadres = Type.Object({
  postBusOfAntwoordnummer: Type.Integer({ minimum: 1, maximum: 9999 }),
  postadresPostcode: Type.String({ pattern: POSTCODE, maxLength: 7 }),
  postadresType: Type.Enum(['antwoordnummer', 'postbusnummer']),
  woonplaatsnaam: Text(80, { minLength: 1 }),
})
const Optional = <T extends Type.TSchema>(schema: T) => Type.Optional(Nullable(schema))

const VerzendingInput = Type.Object({
  betrokkene: Url(200),
  informatieobject: Reference(),
  aardRelatie: Type.Enum(['afzender', 'geadresseerde']),
  toelichting: OptionalText(200),
  ontvangstdatum: OptionalDate,
  verzenddatum: OptionalDate,
  contactPersoon: Url(),
  contactpersoonnaam: OptionalText(40),
  binnenlandsCorrespondentieadres: Optional(BinnenlandsAdres),
  buitenlandsCorrespondentieadres: Optional(BuitenlandsAdres),
  correspondentiePostadres: Optional(Postadres),
  faxnummer: OptionalText(15),
  emailadres: Type.Optional(Type.String({ format: 'email', maxLength: 100, default: '' })),
  mijnOverheid: Type.Optional(Type.Boolean({ default: false })),
  telefoonnummer: OptionalText(15),
})
type VerzendingInput = Static<typeof VerzendingInput>
const Verzending = Type.Object({
  url: Url(),
  ...VerzendingInput.properties,
  _expand: Type.Optional(Type.Object({})),
})
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  aardRelatie: Type.Optional(Type.Enum(['afzender', 'geadresseerde'])),
  informatieobject: Type.Optional(Url()),
  betrokkene: Type.Optional(Url()),
})
const DetailQuery = Type.Object({ ...ExpandQuery, ...PageQuery })

export const verzendingen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/verzendingen',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Verzending) } } },
    async (request, reply) => {
      const listOf = ({ db }: Reader) =>
        listVerzendingen(db, request.query, request.base).where(reached(request.actor, LEZEN))
      return sendPageOf(
        request,
        reply,
        app.listing((reader) => ({
          count: async () =>
            (await listOf(reader).select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count,
          rows: (limit, offset) =>
            selectRow(listOf(reader)).orderBy('s.id', 'desc').limit(limit).offset(offset).execute(),
          byKey: byKey(
            reader,
            {
              from: sql`${listOf(reader).select('s.id')} l`,
              id: sql`l.id`,
              conditions: [],
              order: [{ column: sql`l.id`, descending: true }],
            },
            (ids) => selectRow(listOf(reader)).where('s.id', 'in', ids).orderBy('s.id', 'desc').execute(),
          ),
        })),
        (rows) => {
          const verzendingen = rows.map((row) => toVerzending(row, request.base))
          return expandEach(request, verzendingen, request.query.expand ?? [], subresourceTree)
        },
      )
    },
  )

  app.post(
    '/verzendingen',
    {
      config: createAccess,
      schema: { body: VerzendingInput, response: { 201: Verzending } },
      preValidation: takeOtherSpelling,
    },
    async (request, reply) => {
      const catalogus = await catalogusOf(request, request.body.informatieobject)
      const made = await app.mutate(request.actor, (m) => createVerzending(m, request.body, catalogus))
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/verzendingen/:uuid',
    { config: readAccess, schema: { params: Params, querystring: DetailQuery, response: { 200: Verzending } } },
    async (request, reply) => {
      const row = await findVerzending(app.read, request.params.uuid)
      if (!row) throw notFound()
      await requireDocument(app.read, request.actor, LEZEN, row.documentUuid)
      const paths = request.query.expand ?? []
      const [found] = await expand(request, [toVerzending(row, request.base)], paths, subresourceTree)
      return sendCacheable(request, reply, found)
    },
  )

  app.put(
    '/verzendingen/:uuid',
    {
      config: updateAccess,
      schema: { params: Params, body: Put(VerzendingInput), response: { 200: Verzending } },
      preValidation: takeOtherSpelling,
    },
    async (request) => {
      const { actor, params, body } = request
      const catalogus = await catalogusOf(request, body.informatieobject)
      return app.mutate(actor, (m) => changeVerzending(m, 'update', params.uuid, body, catalogus))
    },
  )

  app.patch(
    '/verzendingen/:uuid',
    {
      config: updateAccess,
      schema: { params: Params, body: Patch(VerzendingInput), response: { 200: Verzending } },
      preValidation: takeOtherSpelling,
    },
    async (request) => {
      const { actor, params, body } = request
      const catalogus = await catalogusOf(request, body.informatieobject)
      return app.mutate(actor, (m) => changeVerzending(m, 'partial_update', params.uuid, body, catalogus))
    },
  )

  app.delete('/verzendingen/:uuid', { config: deleteAccess, schema: { params: Params } }, async (request, reply) => {
    const catalogus = await catalogusOf(request)
    await app.mutate(request.actor, (m) => deleteVerzending(m, request.params.uuid, catalogus))
    return reply.code(204).send()
  })

  /** The catalogue for the document that is named, or else for the one that the verzending of the request has. */
  async function catalogusOf({ params, base }: FastifyRequest, informatieobject?: string): Promise<string> {
    const uuid =
      informatieobject === undefined
        ? (await findVerzending(app.read, (params as { uuid: string }).uuid))?.documentUuid
        : localUuid(informatieobject, base, 'enkelvoudiginformatieobject')
    return catalogusElsewhere(app.read, app.parts.services, uuid, base)
  }
}

/** `adresBuitenland_1` as some services show it, so that what a client read there can be written here. */
async function takeOtherSpelling(request: FastifyRequest): Promise<void> {
  const body = request.body as { buitenlandsCorrespondentieadres?: Record<string, unknown> | null } | null | undefined
  const adres = body?.buitenlandsCorrespondentieadres
  if (!adres || typeof adres !== 'object') return
  for (const line of [1, 2, 3]) adres[`adresBuitenland${line}`] ??= adres[`adresBuitenland_${line}`]
}

/**
 * What the descriptions ask of a document that was received: one afzender, and the day. Servers in use take others, so that it is a
 * warning.
 */
async function warnOfSender(m: Mutation, documentId: number, input: VerzendingInput, own: number | null = null) {
  if (input.aardRelatie !== 'afzender') return
  if (!input.ontvangstdatum) warn('Een verzending van de afzender heeft een ontvangstdatum.')
  const others = await m.sql`
    select from verzending where enkelvoudiginformatieobject_id = ${documentId} and aard_relatie = 'afzender'
      and id is distinct from ${own} limit 1`
  if (others.length > 0) warn('Dit document heeft al een verzending van een afzender.')
}

async function createVerzending(m: Mutation, input: VerzendingInput, catalogus: string) {
  const document = await holdNamedDocument(m, requireDocumentUrl(input.informatieobject, m.actor.base))
  requireMay(m.actor, AANMAKEN, document)
  throwFaults(contactChannelFault(input))
  await warnOfSender(m, document.id, input)
  const { uuid } = await m.trx
    .insertInto('verzending')
    .values({ ...toColumns(input), enkelvoudiginformatieobjectId: document.id })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  return record(m, 'create', catalogus, document, null, expected(await findVerzending(m.read, uuid)))
}

async function changeVerzending(
  m: Mutation,
  actie: Actie,
  uuid: string,
  given: Partial<VerzendingInput>,
  catalogus: string,
) {
  const { before, document } = await forChange(m, uuid, BIJWERKEN)
  const target =
    given.informatieobject === undefined
      ? document
      : await holdNamedDocument(m, requireDocumentUrl(given.informatieobject, m.actor.base))
  requireMay(m.actor, BIJWERKEN, target)
  const input = { ...toVerzending(before, m.actor.base), ...given }
  throwFaults(contactChannelFault(input))
  await warnOfSender(m, target.id, input, before.id)
  await m.trx
    .updateTable('verzending')
    .set({ ...toColumns(input), enkelvoudiginformatieobjectId: target.id })
    .where('id', '=', before.id)
    .execute()
  return record(m, actie, catalogus, target, before, expected(await findVerzending(m.read, uuid)))
}

async function deleteVerzending(m: Mutation, uuid: string, catalogus: string): Promise<void> {
  const { before, document } = await forChange(m, uuid, VERWIJDEREN)
  await m.trx.deleteFrom('verzending').where('id', '=', before.id).execute()
  record(m, 'destroy', catalogus, document, before, null)
}

async function forChange(m: Mutation, uuid: string, scopes: Scopes) {
  const locked = await m.trx
    .selectFrom('verzending')
    .where('uuid', '=', uuid)
    .select('id')
    .forUpdate()
    .executeTakeFirst()
  const before = locked && (await findVerzending(m.read, uuid))
  if (!before) throw notFound()
  const document = await requireDocument(m.read, m.actor, scopes, before.documentUuid)
  requireMatch(m, () => toVerzending(before, m.actor.base))
  return { before, document }
}

/** Announced, but not kept in the audit trail: so the standard has it. */
function record(
  m: Mutation,
  actie: Actie,
  catalogus: string,
  document: DocumentRow,
  before: Row | null,
  after: Row | null,
) {
  const { base } = m.actor
  const row = expected(after ?? before)
  const shown = toVerzending(row, base)
  m.record({
    component: 'drc',
    actie,
    resource: 'verzending',
    url: shown.url,
    uuid: row.uuid,
    weergave: '',
    hoofdobject: { url: shown.informatieobject, uuid: document.uuid },
    kanaal: documentenKanaal(document, base, catalogus),
    oud: null,
    nieuw: null,
    spoor: 'geen',
  })
  return shown
}

function toColumns({ informatieobject: _, ...input }: VerzendingInput) {
  return {
    betrokkene: input.betrokkene,
    aardRelatie: input.aardRelatie,
    toelichting: input.toelichting ?? '',
    ontvangstdatum: input.ontvangstdatum ?? null,
    verzenddatum: input.verzenddatum ?? null,
    contactPersoon: input.contactPersoon,
    contactpersoonnaam: input.contactpersoonnaam ?? '',
    binnenlandsCorrespondentieadres: json(input.binnenlandsCorrespondentieadres),
    buitenlandsCorrespondentieadres: json(input.buitenlandsCorrespondentieadres),
    correspondentiePostadres: json(input.correspondentiePostadres),
    faxnummer: input.faxnummer ?? '',
    emailadres: input.emailadres ?? '',
    mijnOverheid: input.mijnOverheid ?? false,
    telefoonnummer: input.telefoonnummer ?? '',
  }
}

function withDocument(db: ReadDb) {
  return db
    .selectFrom('verzending as s')
    .innerJoin('enkelvoudiginformatieobject as e', 'e.id', 's.enkelvoudiginformatieobjectId')
}
const selectRow = (query: ReturnType<typeof withDocument>) => query.selectAll('s').select('e.uuid as documentUuid')
type Row = Awaited<ReturnType<ReturnType<typeof selectRow>['executeTakeFirstOrThrow']>>

function listVerzendingen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  let query = withDocument(db)
  if (filter.aardRelatie !== undefined) query = query.where('s.aardRelatie', '=', filter.aardRelatie)
  if (filter.betrokkene !== undefined) query = query.where('s.betrokkene', '=', filter.betrokkene)
  if (filter.informatieobject !== undefined) {
    const uuid = localUuid(filter.informatieobject, base, 'enkelvoudiginformatieobject') ?? null
    query = query.where('e.uuid', 'is not distinct from', uuid)
  }
  return query
}

function findVerzending(db: ReadDb, uuid: string): Promise<Row | undefined> {
  return selectRow(withDocument(db)).where('s.uuid', '=', uuid).executeTakeFirst()
}

function toVerzending(row: Row, base: string): Static<typeof Verzending> & { informatieobject: string } {
  return {
    url: link(base, 'verzending', row.uuid),
    betrokkene: row.betrokkene,
    informatieobject: link(base, 'enkelvoudiginformatieobject', row.documentUuid),
    aardRelatie: row.aardRelatie as VerzendingInput['aardRelatie'],
    toelichting: row.toelichting,
    ontvangstdatum: row.ontvangstdatum,
    verzenddatum: row.verzenddatum,
    contactPersoon: row.contactPersoon,
    contactpersoonnaam: row.contactpersoonnaam,
    binnenlandsCorrespondentieadres:
      row.binnenlandsCorrespondentieadres as VerzendingInput['binnenlandsCorrespondentieadres'],
    buitenlandsCorrespondentieadres:
      row.buitenlandsCorrespondentieadres as VerzendingInput['buitenlandsCorrespondentieadres'],
    correspondentiePostadres: row.correspondentiePostadres as VerzendingInput['correspondentiePostadres'],
    faxnummer: row.faxnummer,
    emailadres: row.emailadres,
    mijnOverheid: row.mijnOverheid,
    telefoonnummer: row.telefoonnummer,
  }
}

/** Those with these ids whose document the actor may read. */
export async function readableVerzendingen(db: ReadDb, actor: Actor, base: string, ids: number[]) {
  const rows = await selectRow(withDocument(db)).where('s.id', 'in', ids).where(reached(actor, LEZEN)).execute()
  return rows.map((row) => ({ id: row.id, uuid: row.uuid, resource: toVerzending(row, base) }))
}
