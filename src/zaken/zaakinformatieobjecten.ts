// zaakinformatieobjecten: documents that belong to a case. In the Documenten API an objectinformatieobject stands beside
// each (zrc-005), written in the same transaction.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { fetchTypes, NO_REMOTE_TYPES, type RemoteTypes } from '../catalogi/remote-types.ts'
import { documenttypeOfZaaktype } from '../catalogi/type-relations.ts'
import { LIMITS } from '../core/limits.ts'
import type { Actie, Mutation } from '../core/mutate.ts'
import { type InvalidParam, immutable, invalid, invalidAll, onObject, throwFaults } from '../core/problem.ts'
import { changesOf } from '../database/driver-values.ts'
import { expected, one } from '../database/rows.ts'
import { linkObject, unlinkObject } from '../documenten/object-links.ts'
import { fetchDocumentElsewhere, type RemoteDocument } from '../documenten/remote-documents.ts'
import { batchOf, filtersOf, sendBatch } from '../http/batch.ts'
import { ExpandQuery } from '../http/expand.ts'
import { OptionalText, Patch, Put, Reference, Url, Uuid } from '../http/input.ts'
import { link, linkOr, localUuid, resolveLink } from '../http/links.ts'
import { nothingRemote, openRemoteRelations, type RemoteChange, siblingList } from '../services/remote-relations.ts'
import { requireWritable, touchZaak, type ZaakCore, zaakForChange } from './lock.ts'
import {
  batchSource,
  byUrl,
  findOne,
  holdOne,
  type PartRow,
  paged,
  readable,
  sendAll,
  sendOne,
} from './part-queries.ts'
import { countUpTo, requireRoom } from './quota.ts'
import { recordBelow } from './records.ts'
import { access, BIJWERKEN, KOPPELEN, LEZEN, ONTKOPPELEN } from './rights.ts'
import { requireOwn } from './types.ts'
import { NullableReference, OptionalMoment, Params } from './zaak/columns.ts'
import { zaaktypeUrlOf } from './zaak/references.ts'

export const ZioPart = Type.Object({
  informatieobject: Reference(),
  titel: OptionalText(200),
  beschrijving: OptionalText(),
  vernietigingsdatum: OptionalMoment,
  status: NullableReference,
})
export type ZioPart = Static<typeof ZioPart>
const ZioInput = Type.Object({ zaak: Url(), ...ZioPart.properties })
const ZioPut = Put(ZioInput)
const ZioPatch = Patch(ZioInput)
export const Zio = Type.Object({
  url: Url(),
  uuid: Uuid,
  ...ZioInput.properties,
  aardRelatieWeergave: Type.String(),
  registratiedatum: Type.String({ format: 'date-time' }),
})
const Filter = Type.Object({
  ...ExpandQuery,
  zaak: Type.Optional(Url()),
  informatieobject: Type.Optional(Url()),
})
const BatchFilters = filtersOf(Filter)
const DetailQuery = Type.Object(ExpandQuery)

type ZioRow = PartRow & {
  enkelvoudiginformatieobjectId: number | null
  documentUuid: string | null
  documentIdentificatie: string | null
  informatieobjectUrl: string | null
  titel: string
  beschrijving: string
  registratiedatum: string
  vernietigingsdatum: string | null
  statusUuid: string | null
}
export const source = paged<ZioRow, ReturnType<typeof toZio>>({
  kind: 'zaakinformatieobject',
  table: 'zaakinformatieobject',
  columns: sql`e.uuid as document_uuid, e.identificatie as document_identificatie, s.uuid as status_uuid`,
  joins: sql`left join enkelvoudiginformatieobject e on e.id = x.enkelvoudiginformatieobject_id
    left join status s on s.id = x.status_id`,
  toResource: toZio,
})

const conditionsOf = (filter: { zaak?: string | undefined; informatieobject?: string | undefined }, base: string) => [
  ...byUrl('x.zaakId', filter.zaak, base, 'zaak'),
  ...byDocument(filter.informatieobject, base),
]

function byDocument(url: string | undefined, base: string) {
  if (url === undefined || resolveLink(url, base).kind !== 'elsewhere')
    return byUrl('x.enkelvoudiginformatieobjectId', url, base, 'enkelvoudiginformatieobject')
  return [sql`x.informatieobject_url = ${url}`]
}

export const zaakinformatieobjecten: FastifyPluginAsyncTypebox = async (app) => {
  const { services } = app.parts
  const remoteRelations = openRemoteRelations(app.mutate, services)

  readable(source)

  app.get(
    '/zaakinformatieobjecten',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Type.Array(Zio) } } },
    async (request, reply) => sendAll(request, reply, source, conditionsOf(request.query, request.base)),
  )

  app.post(
    '/zaakinformatieobjecten',
    { config: access(KOPPELEN), schema: { body: ZioInput, response: { 201: Zio } } },
    async (request, reply) => {
      const { body, base } = request
      const document = await fetchDocumentElsewhere(services, body.informatieobject, base)
      const typen = await fetchTypes(services, base, [['zaaktype', await zaaktypeUrlOf(app, body.zaak, base)]])
      const zio = await remoteRelations.create(request.actor, async (m, remote) =>
        createZio(m, await zaakForChange(m, body.zaak, KOPPELEN), body, { document, remote, typen }),
      )
      return reply.code(201).header('location', zio.url).send(zio)
    },
  )

  app.post(
    '/zaakinformatieobjecten/_batch',
    { config: access(LEZEN), ...batchOf('Zaakinformatieobject', Zio) },
    async (request, reply) => sendBatch(request, reply, batchSource(request, source, BatchFilters, conditionsOf)),
  )

  app.get(
    '/zaakinformatieobjecten/:uuid',
    { config: access(LEZEN), schema: { params: Params, querystring: DetailQuery, response: { 200: Zio } } },
    async (request, reply) => sendOne(request, reply, source),
  )

  app.put(
    '/zaakinformatieobjecten/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: ZioPut, response: { 200: Zio } } },
    async (request) => app.mutate(request.actor, (m) => changeZio(m, request.params.uuid, 'update', request.body)),
  )

  app.patch(
    '/zaakinformatieobjecten/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: ZioPatch, response: { 200: Zio } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeZio(m, request.params.uuid, 'partial_update', request.body)),
  )

  app.delete(
    '/zaakinformatieobjecten/:uuid',
    { config: access(ONTKOPPELEN), schema: { params: Params } },
    async (request, reply) => {
      const { uuid } = request.params
      await remoteRelations.delete(request.actor, { table: 'zaakinformatieobject', uuid }, (m) => deleteZio(m, uuid))
      return reply.code(204).send()
    },
  )
}

/** What was asked elsewhere before, and where the other side of the relation is noted. */
type Referred = { document?: RemoteDocument | InvalidParam | undefined; remote?: RemoteChange; typen?: RemoteTypes }

/**
 * Links a document to a case, on both sides.
 * @param verwijzing.typen the zaaktype of the case, when it stands elsewhere
 */
export async function createZio(
  m: Mutation,
  zaak: ZaakCore,
  input: ZioPart,
  { document, remote = nothingRemote(), typen = NO_REMOTE_TYPES }: Referred = {},
) {
  if (document && 'code' in document) throwFaults([document]) // zrc-003
  const found = document as RemoteDocument | undefined
  const documentId = found ? null : await requireDocument(m, input.informatieobject, zaak, typen)
  if (found) await requireRemoteType(m, found, zaak, typen)
  const statusId = await findStatus(m, zaak, input.status)
  requireWritable(m, zaak)
  const values = {
    zaak_id: zaak.id,
    enkelvoudiginformatieobject_id: documentId,
    informatieobject_url: found?.url ?? null,
    titel: input.titel ?? '',
    beschrijving: input.beschrijving ?? '',
    vernietigingsdatum: input.vernietigingsdatum ?? null,
    status_id: statusId,
  }
  const [made] = await m.sql<{ uuid: string; there: number }[]>`insert into zaakinformatieobject ${m.sql(values)}
    on conflict (zaak_id, informatieobject_url) where informatieobject_url is not null do nothing
    returning uuid, ${countUpTo(m, 'zaakinformatieobject', 'zaak_id', zaak.id, LIMITS.documenten)} as there`
  if (!made) throw invalid('nonFieldErrors', 'unique', 'Het document hoort al bij deze zaak.')
  requireRoom(made.there, 'documenten', LIMITS.documenten)
  if (documentId !== null) await linkObject(m, { documentId, objectType: 'zaak', objectUuid: zaak.uuid })
  if (found) {
    const { uuid } = made
    const object = link(m.actor.base, 'zaak', zaak.uuid)
    remote.changedRows.push({ table: 'zaakinformatieobject', uuid })
    remote.relations.push({
      kind: 'objectinformatieobject',
      sourceTable: 'zaakinformatieobject',
      sourceUuid: uuid,
      listUrl: siblingList(found.url, 'objectinformatieobjecten'),
      content: { informatieobject: found.url, object, objectType: 'zaak' },
    })
  }
  await touchZaak(m, zaak.id)
  return record(m, zaak, 'create', null, made.uuid)
}

/** zrc-017 for a zaaktype elsewhere: it names the type of the document, which stands elsewhere too. */
function requireNamed(m: Mutation, documenttype: string | null, zaaktypeUrl: string, typen: RemoteTypes): void {
  const zaaktype = typen.get('zaaktype', zaaktypeUrl)
  if (zaaktype && 'code' in zaaktype)
    throw invalid('zaak', zaaktype.code, 'Het zaaktype van de zaak is niet op te vragen.')
  const named = zaaktype?.informatieobjecttypen ?? []
  if (documenttype === null || !named.includes(documenttype)) throw unrelated()
  if (resolveLink(documenttype, m.actor.base).kind !== 'elsewhere') throw unrelated()
}

const unrelated = () =>
  invalidAll([
    onObject('missing-zaaktype-informatieobjecttype-relation', 'Dit type document hoort niet bij het zaaktype.'),
  ])

/** zrc-017 for a document elsewhere: its type may well be one of ours. */
async function requireRemoteType(
  m: Mutation,
  { informatieobjecttype }: RemoteDocument,
  zaak: ZaakCore,
  typen: RemoteTypes,
): Promise<void> {
  if (zaak.zaaktypeUrl !== null) return requireNamed(m, informatieobjecttype, zaak.zaaktypeUrl, typen)
  const uuid = localUuid(informatieobjecttype, m.actor.base, 'informatieobjecttype') ?? null
  const [past] = await m.sql`
    select from zaak z, informatieobjecttype t where z.id = ${zaak.id} and t.uuid = ${uuid}::uuid
      and ${m.sql.unsafe(documenttypeOfZaaktype('z.zaaktype_id', 't.id'))}`
  if (!past) throw unrelated()
}

async function changeZio(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  given: Static<typeof ZioPatch>,
) {
  const { zaak, before } = await holdOne(m, source, uuid, BIJWERKEN)
  const oud = toZio(before, m.actor.base)
  requireWritable(m, zaak, [
    ...(given.zaak !== undefined && given.zaak !== oud.zaak ? [immutable('zaak')] : []),
    ...(given.informatieobject !== undefined && given.informatieobject !== oud.informatieobject
      ? [immutable('informatieobject')]
      : []),
  ])
  const values = {
    ...(given.titel !== undefined && { titel: given.titel }),
    ...(given.beschrijving !== undefined && { beschrijving: given.beschrijving }),
    ...(given.vernietigingsdatum !== undefined && { vernietigingsdatum: given.vernietigingsdatum }),
    ...(given.status !== undefined &&
      given.status !== oud.status && { statusId: await findStatus(m, zaak, given.status) }),
  }
  if (Object.keys(values).length > 0)
    await m.sql`update zaakinformatieobject set ${changesOf(m.sql, 'zaakinformatieobject', values)} where id = ${before.id}`
  await touchZaak(m, zaak.id)
  return record(m, zaak, actie, oud, uuid)
}

async function deleteZio(m: Mutation, uuid: string): Promise<void> {
  const { zaak, before } = await holdOne(m, source, uuid, ONTKOPPELEN)
  requireWritable(m, zaak)
  await m.settleActs()
  await m.trx.deleteFrom('zaakinformatieobject').where('id', '=', before.id).execute()
  const documentId = before.enkelvoudiginformatieobjectId
  if (documentId !== null) await unlinkObject(m, { documentId, objectType: 'zaak', objectUuid: zaak.uuid })
  await touchZaak(m, zaak.id)
  const oud = toZio(before, m.actor.base)
  recordBelow(m, zaak, {
    actie: 'destroy',
    resource: 'zaakinformatieobject',
    url: oud.url,
    uuid,
    detail: before.documentIdentificatie ?? oud.informatieobject,
    oud,
    nieuw: null,
    stil: true,
  })
}

/**
 * Moves a document of ours to another case: unlinked from the one and linked to the other, by the rules of both. The status that it
 * came with stays behind, since that is one of the case.
 * @param uuid of the zaakinformatieobject
 * @param target uuid of the other case
 * @param typen the zaaktype of that case, when it stands elsewhere
 */
export async function moveZio(m: Mutation, uuid: string, target: string, typen: RemoteTypes): Promise<void> {
  const { base } = m.actor
  const oud = toZio(expected(await findOne(m.read, source, uuid)), base)
  await deleteZio(m, uuid)
  const zaak = await zaakForChange(m, link(base, 'zaak', target), KOPPELEN)
  await createZio(m, zaak, { ...oud, status: null }, { typen })
}

/** zrc-003 and zrc-017: the document exists, and its type is one of those of the zaaktype. */
async function requireDocument(m: Mutation, url: string, zaak: ZaakCore, typen: RemoteTypes): Promise<number> {
  const uuid = requireOwn('informatieobject', url, m.actor.base, 'enkelvoudiginformatieobject')
  const [document] = await m.sql<{ id: number; informatieobjecttype_url: string | null; past: boolean }[]>`
    select e.id, e.informatieobjecttype_url,
      ${m.sql.unsafe(documenttypeOfZaaktype('z.zaaktype_id', 'e.informatieobjecttype_id'))} as past
    from enkelvoudiginformatieobject e, zaak z where e.uuid = ${uuid} and z.id = ${zaak.id} for key share of e`
  if (!document) throw invalid('informatieobject', 'bad-url', 'Dit document bestaat niet.')
  if (zaak.zaaktypeUrl !== null) requireNamed(m, document.informatieobjecttype_url, zaak.zaaktypeUrl, typen)
  else if (!document.past) throw unrelated()
  return document.id
}

/** A status of the same case: that of another is not written to. */
async function findStatus(m: Mutation, zaak: ZaakCore, url: string | null | undefined): Promise<number | null> {
  if (!url) return null
  const uuid = localUuid(url, m.actor.base, 'status') ?? null
  const status = await m.trx.selectFrom('status').where('uuid', '=', uuid).select(['id', 'zaakId']).executeTakeFirst()
  if (!status) throw invalid('status', 'bad-url', 'Deze status bestaat niet.')
  if (status.zaakId !== zaak.id)
    throwFaults([onObject('zaak-status-mismatch', 'Deze status hoort bij een andere zaak.')])
  const there = one(
    await m.sql<{ n: number }[]>`
    select ${countUpTo(m, 'zaakinformatieobject', 'status_id', status.id, LIMITS.statussen)} as n`,
  )
  if (there.n >= LIMITS.statussen)
    throw invalid('status', 'max_items', `Een status heeft ten hoogste ${LIMITS.statussen} documenten.`)
  return status.id
}

async function record(m: Mutation, zaak: ZaakCore, actie: Actie, oud: object | null, uuid: string) {
  const row = expected(await findOne(m.read, source, uuid))
  const nieuw = toZio(row, m.actor.base)
  recordBelow(m, zaak, {
    actie,
    resource: 'zaakinformatieobject',
    url: nieuw.url,
    uuid,
    detail: row.documentIdentificatie ?? nieuw.informatieobject,
    oud,
    nieuw,
    stil: actie !== 'create', // the standard announces no more of it
  })
  return nieuw
}

function toZio(row: ZioRow, base: string) {
  return {
    url: link(base, 'zaakinformatieobject', row.uuid),
    uuid: row.uuid,
    informatieobject: linkOr(base, 'enkelvoudiginformatieobject', row.documentUuid, row.informatieobjectUrl),
    zaak: link(base, 'zaak', row.zaakUuid),
    aardRelatieWeergave: 'Hoort bij, omgekeerd: kent',
    titel: row.titel,
    beschrijving: row.beschrijving,
    registratiedatum: row.registratiedatum,
    vernietigingsdatum: row.vernietigingsdatum,
    status: row.statusUuid && link(base, 'status', row.statusUuid),
  }
}
