// besluitinformatieobjecten: that a besluit is laid down in a document. The relation is made and removed, never changed;
// what it is (brc-004: the document lays the besluit down) needs no field.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Mutation } from '../core/mutate.ts'
import { type InvalidParam, invalid, Problem, throwFaults } from '../core/problem.ts'
import { expected } from '../database/rows.ts'
import { linkObject, unlinkObject } from '../documenten/object-links.ts'
import { fetchDocumentElsewhere, type RemoteDocument } from '../documenten/remote-documents.ts'
import { requireMatch, sendCacheable } from '../http/etag.ts'
import { ExpandQuery, expand, expandEach } from '../http/expand.ts'
import { Url } from '../http/input.ts'
import { link, localUuid } from '../http/links.ts'
import { sendAllById } from '../http/stream.ts'
import { nothingRemote, openRemoteRelations, type RemoteChange, siblingList } from '../services/remote-relations.ts'
import { Besluitinformatieobject, BesluitinformatieobjectInput, type BesluitRow, Params } from './columns.ts'
import { besluitinformatieobjectTree } from './expand.ts'
import { lockBesluit } from './lock.ts'
import {
  besluitenKanaal,
  besluitinformatieobjecten as besluitinformatieobjectRows,
  findBesluit,
  requireBesluitinformatieobject,
  toBesluitinformatieobject,
} from './read.ts'
import { AANMAKEN, access, LEZEN, reached, requireMay, VERWIJDEREN } from './rights.ts'
import {
  type Documenttype,
  documenttypeElsewhere,
  fetchDocumenttypen,
  informatieobjecttypeFaults,
  judgeDocumentUrl,
  requireBesluitUrl,
  unknownBesluit,
  unknownDocument,
} from './rules.ts'

const Filter = Type.Object({ ...ExpandQuery, besluit: Type.Optional(Url()), informatieobject: Type.Optional(Url()) })
const DetailQuery = Type.Object(ExpandQuery)

export const besluitinformatieobjecten: FastifyPluginAsyncTypebox = async (app) => {
  const { services } = app.parts
  const remoteRelations = openRemoteRelations(app.mutate, services)

  app.get(
    '/besluitinformatieobjecten',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Type.Array(Besluitinformatieobject) } } },
    async (request, reply) => {
      const { besluit, informatieobject, expand: paths } = request.query
      let query = besluitinformatieobjectRows(app.read).where(reached(request.actor))
      if (besluit !== undefined)
        query = query.where('b.uuid', 'is not distinct from', localUuid(besluit, request.base, 'besluit') ?? null)
      if (informatieobject !== undefined) {
        const uuid = localUuid(informatieobject, request.base, 'enkelvoudiginformatieobject')
        query = uuid ? query.where('e.uuid', '=', uuid) : query.where('i.informatieobjectUrl', '=', informatieobject)
      }
      return sendAllById(request, reply, {
        select: (after, limit) =>
          query
            .where('i.id', '>', after ?? 0)
            .orderBy('i.id')
            .limit(limit)
            .execute(),
        toResources: (rows) => {
          const found = rows.map((row) => toBesluitinformatieobject(row, request.base))
          return paths ? expandEach(request, found, paths, besluitinformatieobjectTree) : found
        },
      })
    },
  )

  app.post(
    '/besluitinformatieobjecten',
    {
      config: access(AANMAKEN),
      schema: { body: BesluitinformatieobjectInput, response: { 201: Besluitinformatieobject } },
    },
    async (request, reply) => {
      const besluitUuid = requireBesluitUrl(request.body.besluit, request.base)
      const { informatieobject } = request.body
      const document = await fetchDocumentElsewhere(services, informatieobject, request.base)
      const known = await findBesluit(app.read, besluitUuid)
      const typen = await fetchDocumenttypen(services, known?.besluittypeUrl ?? null)
      const made = await remoteRelations.create(request.actor, async (m, remote) => {
        const besluit = await lockNamedBesluit(m, besluitUuid)
        requireMay(m.actor, AANMAKEN, besluit)
        return createBesluitinformatieobject(m, besluit, informatieobject, { document, typen, remote })
      })
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/besluitinformatieobjecten/:uuid',
    {
      config: access(LEZEN),
      schema: { params: Params, querystring: DetailQuery, response: { 200: Besluitinformatieobject } },
    },
    async (request, reply) => {
      const row = await requireBesluitinformatieobject(app.read, request.actor, LEZEN, request.params.uuid)
      const found = toBesluitinformatieobject(row, request.base)
      const paths = request.query.expand
      const [answer] = paths ? await expand(request, [found], paths, besluitinformatieobjectTree) : [found]
      return sendCacheable(request, reply, answer)
    },
  )

  app.delete(
    '/besluitinformatieobjecten/:uuid',
    { config: access(VERWIJDEREN), schema: { params: Params } },
    async (request, reply) => {
      const { uuid } = request.params
      const { besluitUuid } = await requireBesluitinformatieobject(app.read, request.actor, VERWIJDEREN, uuid)
      await remoteRelations.delete(request.actor, { table: 'besluitinformatieobject', uuid }, async (m) => {
        const besluit = await lockBesluit(m, besluitUuid)
        const row = await requireBesluitinformatieobject(m.read, m.actor, VERWIJDEREN, uuid)
        requireMatch(m, () => toBesluitinformatieobject(row, m.actor.base))
        await m.trx.deleteFrom('besluitinformatieobject').where('id', '=', row.id).execute()
        const documentId = row.enkelvoudiginformatieobjectId
        if (documentId !== null) await unlinkObject(m, { documentId, objectType: 'besluit', objectUuid: besluitUuid }) // brc-005
        recordRelation(m, 'destroy', besluit, row, row.documentIdentificatie ?? expected(row.informatieobjectUrl))
      })
      return reply.code(204).send()
    },
  )
}

async function lockNamedBesluit(m: Mutation, uuid: string): Promise<BesluitRow> {
  return lockBesluit(m, uuid).catch((error) => {
    throw error instanceof Problem && error.status === 404 ? unknownBesluit() : error
  })
}

/** What was asked elsewhere before, and where the other side of the relation is noted. */
type Referred = { document: RemoteDocument | InvalidParam | undefined; typen: string[]; remote: RemoteChange }

/** Lays a besluit down in a document. The besluit is locked, and the actor may change it. */
export async function createBesluitinformatieobject(
  m: Mutation,
  besluit: BesluitRow,
  informatieobject: string,
  { document: found, typen, remote }: Referred = { document: undefined, typen: [], remote: nothingRemote() },
): Promise<Besluitinformatieobject> {
  const { base } = m.actor
  if (found && 'code' in found) return refused([found]) // brc-003
  const document = found ? await findRemoteDocument(m, found) : await holdDocument(m, informatieobject)
  const { id, url, identificatie, type } = document
  throwFaults(await informatieobjecttypeFaults(m.read, besluit.besluittypeId, type, typen)) // brc-008
  const [made] = await m.sql<{ uuid: string }[]>`
    insert into besluitinformatieobject (besluit_id, enkelvoudiginformatieobject_id, informatieobject_url)
    values (${besluit.id}, ${id}, ${url})
    on conflict (besluit_id, informatieobject_url) where informatieobject_url is not null do nothing returning uuid`
  if (!made) throw invalid('nonFieldErrors', 'unique', 'Het document hoort al bij dit besluit.')
  const { uuid } = made
  if (id !== null)
    await linkObject(m, { documentId: id, objectType: 'besluit', objectUuid: besluit.uuid }) // brc-005
  else {
    remote.changedRows.push({ table: 'besluitinformatieobject', uuid })
    remote.relations.push({
      kind: 'objectinformatieobject',
      sourceTable: 'besluitinformatieobject',
      sourceUuid: uuid,
      listUrl: siblingList(url!, 'objectinformatieobjecten'),
      content: { informatieobject: url!, object: link(base, 'besluit', besluit.uuid), objectType: 'besluit' },
    })
  }
  const row = { uuid, besluitUuid: besluit.uuid, documentUuid: document.uuid, informatieobjectUrl: url }
  recordRelation(m, 'create', besluit, row, identificatie)
  return toBesluitinformatieobject(row, base)
}

type Document = {
  id: number | null
  uuid: string | null
  url: string | null
  identificatie: string
  type: Documenttype
}

async function findRemoteDocument(m: Mutation, { url, identificatie, ...found }: RemoteDocument): Promise<Document> {
  const type = await documenttypeElsewhere(m.read, found.informatieobjecttype, m.actor.base)
  return { id: null, uuid: null, url, identificatie, type }
}

async function holdDocument(m: Mutation, informatieobject: string): Promise<Document> {
  const named = judgeDocumentUrl(informatieobject, m.actor.base) // brc-003
  if ('code' in named) return refused([named])
  const row = await m.trx
    .selectFrom('enkelvoudiginformatieobject')
    .where('uuid', '=', named.uuid)
    .select(['id', 'uuid', 'identificatie', 'informatieobjecttypeId', 'informatieobjecttypeUrl'])
    .forKeyShare() // so that it is not deleted meanwhile
    .executeTakeFirst()
  if (!row) return refused([unknownDocument()])
  const { id, uuid, identificatie } = row
  return {
    id,
    uuid,
    url: null,
    identificatie,
    type: { id: row.informatieobjecttypeId, url: row.informatieobjecttypeUrl },
  }
}

function refused(faults: Parameters<typeof throwFaults>[0]): never {
  throwFaults(faults)
  throw new Error('refused for no reason')
}

function recordRelation(
  m: Mutation,
  actie: 'create' | 'destroy',
  besluit: BesluitRow,
  row: Parameters<typeof toBesluitinformatieobject>[0],
  documentIdentificatie: string,
): void {
  const { base } = m.actor
  const relatie = toBesluitinformatieobject(row, base)
  m.record({
    component: 'brc',
    actie,
    resource: 'besluitinformatieobject',
    url: relatie.url,
    uuid: row.uuid,
    hoofdobject: { url: link(base, 'besluit', besluit.uuid), uuid: besluit.uuid },
    weergave: `(${besluit.identificatie}) - ${documentIdentificatie}`,
    kanaal: besluitenKanaal(besluit, base),
    oud: actie === 'destroy' ? relatie : null,
    nieuw: actie === 'create' ? relatie : null,
  })
}
