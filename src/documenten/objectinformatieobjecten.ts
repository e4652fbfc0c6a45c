// objectinformatieobjecten: that a document belongs to a zaak, besluit or verzoek. For objects of ours the component that
// owns the relation adds and removes it, in its own transaction; clients do so for objects elsewhere.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Actor } from '../core/actor.ts'
import { refuseBeforeSwitch } from '../core/before-switch.ts'
import type { Mutation } from '../core/mutate.ts'
import { invalid, notFound } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { expected } from '../database/rows.ts'
import { requireMatch, sendCacheable } from '../http/etag.ts'
import { ExpandQuery, expand, expandEach } from '../http/expand.ts'
import { Reference, Url } from '../http/input.ts'
import { link, linkOr, localUuid, type Resource } from '../http/links.ts'
import { sendAllById } from '../http/stream.ts'
import { holdNamedDocument } from './document/hold.ts'
import { findDocument, Params, requireDocument } from './document/read.ts'
import { subresourceTree } from './expand.ts'
import {
  type Objectverwijzing,
  relationAtSource,
  requireAtSource,
  requireNotAtSource,
  requireObject,
  resolveObject,
} from './object-relations.ts'
import { AANMAKEN, createAccess, deleteAccess, LEZEN, reached, readAccess, requireMay, VERWIJDEREN } from './rights.ts'
import { requireDocumentUrl } from './rules.ts'

const OBJECT_TYPES = ['besluit', 'zaak', 'verzoek'] as const
export type ObjectType = (typeof OBJECT_TYPES)[number]

const RelationInput = Type.Object({
  informatieobject: Reference(),
  object: Reference(),
  objectType: Type.Enum(OBJECT_TYPES),
})
const Relation = Type.Object({ url: Url(), ...RelationInput.properties, _expand: Type.Optional(Type.Object({})) })
const Filter = Type.Object({
  ...ExpandQuery,
  object: Type.Optional(Url()),
  informatieobject: Type.Optional(Url()),
})
const DetailQuery = Type.Object(ExpandQuery)

export const objectinformatieobjecten: FastifyPluginAsyncTypebox = async (app) => {
  const { services } = app.parts

  app.get(
    '/objectinformatieobjecten',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Type.Array(Relation) } } },
    async (request, reply) => {
      const list = listRelations(app.read, request.query, request.base)
        .where(reached(request.actor, LEZEN))
        .orderBy('o.id')
      return sendAllById(request, reply, {
        select: (after, limit) =>
          list
            .where('o.id', '>', after ?? 0)
            .limit(limit)
            .execute(),
        toResources: (rows) => {
          const relaties = rows.map((row) => toRelation(row, request.base))
          return expandEach(request, relaties, request.query.expand ?? [], subresourceTree)
        },
      })
    },
  )

  app.post(
    '/objectinformatieobjecten',
    { config: createAccess, schema: { body: RelationInput, response: { 201: Relation } } },
    async (request, reply) => {
      const input = request.body
      const documentUuid = requireDocumentUrl(input.informatieobject, request.base)
      const document = await findDocument(app.read, documentUuid)
      if (document) requireMay(request.actor, AANMAKEN, document) // what does not exist is refused below
      const object = await requireObject(services, app.read, input, request.base)
      const known = await findRelationTo(app.read, documentUuid, object)
      if (known) throw notUnique()
      if (document) requireAtSource(object.objectUrl !== null && (await relationAtSource(services, input)))
      const made = await app.mutate(request.actor, async (m) => {
        m.unrecorded('the register of the object records its side of the relation')
        await refuseBeforeSwitch(m)
        const row = await holdNamedDocument(m, documentUuid)
        requireMay(m.actor, AANMAKEN, row)
        const uuid = await insertRelation(m, { documentId: row.id, objectType: input.objectType, object })
        return toRelation(expected(await findRelation(m.read, uuid)), m.actor.base)
      })
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/objectinformatieobjecten/:uuid',
    { config: readAccess, schema: { params: Params, querystring: DetailQuery, response: { 200: Relation } } },
    async (request, reply) => {
      const row = await findRelation(app.read, request.params.uuid)
      if (!row) throw notFound()
      await requireDocument(app.read, request.actor, LEZEN, row.documentUuid)
      const paths = request.query.expand ?? []
      const [found] = await expand(request, [toRelation(row, request.base)], paths, subresourceTree)
      return sendCacheable(request, reply, found)
    },
  )

  app.delete(
    '/objectinformatieobjecten/:uuid',
    { config: deleteAccess, schema: { params: Params } },
    async (request, reply) => {
      const row = await findRelation(app.read, request.params.uuid)
      if (!row) throw notFound()
      await requireDocument(app.read, request.actor, VERWIJDEREN, row.documentUuid)
      requireMatch(request, () => toRelation(row, request.base)) // it never changes, so nothing is held
      const { object, objectType, informatieobject } = toRelation(row, request.base)
      // That of an object of ours is there for as long as the relation itself.
      requireNotAtSource(
        row.objectUuid !== null || (await relationAtSource(services, { object, objectType, informatieobject })),
      )
      await app.mutate(request.actor, async (m) => {
        m.unrecorded('the register of the object records its side of the relation')
        await refuseBeforeSwitch(m)
        const { numDeletedRows } = await m.trx
          .deleteFrom('objectinformatieobject')
          .where('id', '=', row.id)
          .executeTakeFirst()
        if (numDeletedRows === 0n) throw notFound() // another request did it meanwhile
      })
      return reply.code(204).send()
    },
  )
}

const notUnique = () => invalid('nonFieldErrors', 'unique', 'De combinatie van object en informatieobject bestaat al.')

type NewRelation = { documentId: number; objectType: ObjectType; object: Objectverwijzing }

async function insertRelation(m: Mutation, { documentId, objectType, object }: NewRelation): Promise<string> {
  const { uuid } = await m.trx
    .insertInto('objectinformatieobject')
    .values({ enkelvoudiginformatieobjectId: documentId, objectType, ...object })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  return uuid
}

function withDocument(db: ReadDb) {
  return db
    .selectFrom('objectinformatieobject as o')
    .innerJoin('enkelvoudiginformatieobject as e', 'e.id', 'o.enkelvoudiginformatieobjectId')
    .selectAll('o')
    .select('e.uuid as documentUuid')
}
type Row = Awaited<ReturnType<ReturnType<typeof withDocument>['executeTakeFirstOrThrow']>>

function listRelations(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  let query = withDocument(db)
  if (filter.informatieobject !== undefined) {
    const uuid = localUuid(filter.informatieobject, base, 'enkelvoudiginformatieobject') ?? null
    query = query.where('e.uuid', 'is not distinct from', uuid)
  }
  if (filter.object !== undefined) {
    const object = resolveObject(filter.object, base)
    query = object?.objectUuid
      ? query.where('o.objectUuid', '=', object.objectUuid)
      : query.where('o.objectUrl', 'is not distinct from', object?.objectUrl ?? '')
  }
  return query
}

function findRelation(db: ReadDb, uuid: string): Promise<Row | undefined> {
  return withDocument(db).where('o.uuid', '=', uuid).executeTakeFirst()
}

function findRelationTo(db: ReadDb, documentUuid: string, object: Objectverwijzing): Promise<Row | undefined> {
  return withDocument(db)
    .where('e.uuid', '=', documentUuid)
    .where('o.objectUuid', 'is not distinct from', object.objectUuid)
    .where('o.objectUrl', 'is not distinct from', object.objectUrl)
    .executeTakeFirst()
}

function toRelation(row: Row, base: string) {
  return {
    url: link(base, 'objectinformatieobject', row.uuid),
    informatieobject: link(base, 'enkelvoudiginformatieobject', row.documentUuid),
    object: linkOr(base, row.objectType as Resource, row.objectUuid, row.objectUrl),
    objectType: row.objectType as ObjectType,
  }
}

/** Those with these ids whose document the actor may read. */
export async function readableRelations(db: ReadDb, actor: Actor, base: string, ids: number[]) {
  const rows = await withDocument(db).where('o.id', 'in', ids).where(reached(actor, LEZEN)).execute()
  return rows.map((row) => ({ id: row.id, uuid: row.uuid, resource: toRelation(row, base) }))
}
