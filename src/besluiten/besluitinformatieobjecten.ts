// besluitinformatieobjecten: that a besluit is laid down in a document. The relation is made and removed, never changed;
// what it is (brc-004: the document lays the besluit down) needs no field.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { koppelObject, ontkoppelObject } from '../documenten/koppelen.ts'
import { sendCacheable } from '../etag.ts'
import { ExpandQuery, expand } from '../expand.ts'
import { Url } from '../input.ts'
import { link, localUuid } from '../links.ts'
import type { Mutation } from '../mutate.ts'
import { Problem } from '../problem.ts'
import { lockBesluit } from './besluiten.ts'
import { besluitinformatieobjectTree } from './expansies.ts'
import {
  informatieobjecttypeFaults,
  judgeDocumentUrl,
  refuse,
  requireBesluitUrl,
  unknownBesluit,
  unknownDocument,
} from './rules.ts'
import { Besluitinformatieobject, BesluitinformatieobjectInput, Params } from './velden.ts'
import {
  AANMAKEN,
  type BesluitRow,
  besluitenKanaal,
  besluitinformatieobjecten as besluitinformatieobjectRows,
  LEZEN,
  met,
  reached,
  requireBesluitinformatieobject,
  requireMay,
  toBesluitinformatieobject,
  VERWIJDEREN,
} from './vinden.ts'

const Filter = Type.Object({ ...ExpandQuery, besluit: Type.Optional(Url()), informatieobject: Type.Optional(Url()) })
const DetailQuery = Type.Object(ExpandQuery)

export const besluitinformatieobjecten: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/besluitinformatieobjecten',
    { config: met(LEZEN), schema: { querystring: Filter, response: { 200: Type.Array(Besluitinformatieobject) } } },
    async (request) => {
      const { besluit, informatieobject, expand: paths } = request.query
      let query = besluitinformatieobjectRows(app.read).where(reached(request.actor))
      if (besluit !== undefined)
        query = query.where('b.uuid', 'is not distinct from', localUuid(besluit, request.base, 'besluit') ?? null)
      if (informatieobject !== undefined) {
        const uuid = localUuid(informatieobject, request.base, 'enkelvoudiginformatieobject') ?? null
        query = query.where('e.uuid', 'is not distinct from', uuid)
      }
      const rows = await query.orderBy('i.id').execute()
      const found = rows.map((row) => toBesluitinformatieobject(row, request.base))
      return paths ? expand(request, found, paths, besluitinformatieobjectTree) : found
    },
  )

  app.post(
    '/besluitinformatieobjecten',
    {
      config: met(AANMAKEN),
      schema: { body: BesluitinformatieobjectInput, response: { 201: Besluitinformatieobject } },
    },
    async (request, reply) => {
      const besluitUuid = requireBesluitUrl(request.body.besluit, request.base)
      const made = await app.mutate(request.actor, async (m) => {
        const besluit = await lockNamedBesluit(m, besluitUuid)
        requireMay(m.actor, AANMAKEN, besluit)
        return createBesluitinformatieobject(m, besluit, request.body.informatieobject)
      })
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/besluitinformatieobjecten/:uuid',
    {
      config: met(LEZEN),
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
    { config: met(VERWIJDEREN), schema: { params: Params } },
    async (request, reply) => {
      const { uuid } = request.params
      const { besluitUuid } = await requireBesluitinformatieobject(app.read, request.actor, VERWIJDEREN, uuid)
      await app.mutate(request.actor, async (m) => {
        const besluit = await lockBesluit(m, besluitUuid)
        const row = await requireBesluitinformatieobject(m.read, m.actor, VERWIJDEREN, uuid)
        await m.trx.deleteFrom('besluitinformatieobject').where('id', '=', row.id).execute()
        const documentId = row.enkelvoudiginformatieobjectId
        await ontkoppelObject(m, { documentId, objectType: 'besluit', objectUuid: besluitUuid }) // brc-005
        recordRelatie(m, 'destroy', besluit, row, row.documentIdentificatie)
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

/** Lays a besluit down in a document. The besluit is locked, and the actor may change it. */
export async function createBesluitinformatieobject(
  m: Mutation,
  besluit: BesluitRow,
  informatieobject: string,
): Promise<Besluitinformatieobject> {
  const named = judgeDocumentUrl(informatieobject, m.actor.base) // brc-003
  if ('code' in named) return refused([named])
  const document = await m.trx
    .selectFrom('enkelvoudiginformatieobject')
    .where('uuid', '=', named.uuid)
    .select(['id', 'uuid', 'identificatie', 'informatieobjecttypeId'])
    .forKeyShare() // so that it is not deleted meanwhile
    .executeTakeFirst()
  if (!document) return refused([unknownDocument()])
  refuse(await informatieobjecttypeFaults(m.read, besluit.besluittypeId, document.informatieobjecttypeId)) // brc-008
  const { uuid } = await m.trx
    .insertInto('besluitinformatieobject')
    .values({ besluitId: besluit.id, enkelvoudiginformatieobjectId: document.id })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  await koppelObject(m, { documentId: document.id, objectType: 'besluit', objectUuid: besluit.uuid }) // brc-005
  const row = { uuid, besluitUuid: besluit.uuid, documentUuid: document.uuid }
  recordRelatie(m, 'create', besluit, row, document.identificatie)
  return toBesluitinformatieobject(row, m.actor.base)
}

function refused(faults: Parameters<typeof refuse>[0]): never {
  refuse(faults)
  throw new Error('refused for no reason')
}

function recordRelatie(
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
