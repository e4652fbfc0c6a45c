// The routes of documents.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type from 'typebox'
import { knownInformatieobjecttypen } from '../../catalogi/known-types.ts'
import { Last } from '../../core/mutate.ts'
import { notFound, Problem } from '../../core/problem.ts'
import { among, byKey } from '../../database/list.ts'
import { batchOf, filtersOf, sendBatch } from '../../http/batch.ts'
import { sendCacheable } from '../../http/etag.ts'
import { ExpandQuery, expand, expandEach } from '../../http/expand.ts'
import { header } from '../../http/header.ts'
import { firstPortion, Page, PageQuery, sendPageOf } from '../../http/page.ts'
import { expandPaths, lenientSearch } from '../../http/search-body.ts'
import { documentTree } from '../expand.ts'
import { catalogusElsewhere } from '../kanaal.ts'
import { createAccess, deleteAccess, documentBijwerken, LEZEN, mayRead, reached, readAccess } from '../rights.ts'
import { fetchTypeElsewhere } from '../type.ts'
import { receivedBytes } from './bytes.ts'
import { changeDocument } from './change.ts'
import { Document, DocumentCreate, DocumentPatch, DocumentUpdate, DocumentWithLock, toDocument } from './columns.ts'
import { contentFaults, discard, keepingContent, registerContent, requireValidBody } from './content.ts'
import { judgeNewDocument } from './create.ts'
import { deleteDocument } from './delete.ts'
import { contentSender } from './download.ts'
import { Filter, filtered, Search, SearchQuery } from './filters.ts'
import {
  countDocuments,
  findDocument,
  idList,
  ignoreUnknown,
  latestVersions,
  Params,
  pageOfDocuments,
  requireDocument,
  type Selection,
  VersionQuery,
} from './read.ts'

const DetailQuery = Type.Object({ ...VersionQuery.properties, ...ExpandQuery, ...PageQuery })
const BatchFilters = filtersOf(Filter)

export const enkelvoudiginformatieobjecten: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(writing)
  const sendContent = contentSender(app)

  app.get(
    '/enkelvoudiginformatieobjecten',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Document) } } },
    async (request, reply) => sendPage(request, reply, filtered(request.query, request), request.query.expand ?? []),
  )

  app.post(
    '/enkelvoudiginformatieobjecten/_zoek',
    {
      config: readAccess,
      schema: { body: Search, querystring: SearchQuery, response: { 200: Page(Document) } },
      preValidation: [ignoreUnknown(SearchQuery), lenientSearch(Search)],
    },
    async (request, reply) => {
      const { uuid__in, expand: paths = [], ...filter } = request.body
      const selection = filtered(filter, request)
      selection.document.push(await among(app.read, 'enkelvoudiginformatieobject', 'e', uuid__in))
      return sendPage(request, reply, selection, [...expandPaths(paths), ...(request.query.expand ?? [])])
    },
  )

  app.post(
    '/enkelvoudiginformatieobjecten/_batch',
    { config: readAccess, ...batchOf('Document', Document) },
    async (request, reply) => {
      const { actor, base } = request
      return sendBatch(request, reply, {
        filters: BatchFilters,
        keys: {
          from: sql`enkelvoudiginformatieobject e`,
          id: sql`e.id`,
          uuid: sql`e.uuid`,
          conditions: [reached(actor, LEZEN)],
        },
        list: (filter) => idList(filtered(filter, request)),
        rows: async (reader, ids) => (await latestVersions(reader, ids)).filter((row) => mayRead(actor, row)),
        answers: (rows, show) => show(rows.map((row) => toDocument(row, base))),
        tree: documentTree,
        isExpandable: true,
      })
    },
  )

  app.get(
    '/enkelvoudiginformatieobjecten/:uuid',
    { config: readAccess, schema: { params: Params, querystring: DetailQuery, response: { 200: Document } } },
    async (request, reply) => {
      const row = await requireDocument(app.read, request.actor, LEZEN, request.params.uuid, request.query)
      if (asksContent(header(request, 'accept'))) return sendContent(request, reply, row)
      const [document] = await expand(
        request,
        [toDocument(row, request.base)],
        request.query.expand ?? [],
        documentTree,
      )
      return sendCacheable(request, reply, document)
    },
  )

  /** The type of the content, and nothing that the document itself could be. */
  function asksContent(accept: string): boolean {
    const wanted = accept.split(',').map((type) => (type.split(';', 1)[0] ?? '').trim().toLowerCase())
    return wanted[0] === 'application/octet-stream' && !wanted.some((type) => type.includes('json'))
  }

  async function sendPage(request: FastifyRequest, reply: FastifyReply, selection: Selection, paths: string[]) {
    return sendPageOf(
      request,
      reply,
      app.listing((reader) => ({
        count: () => countDocuments(reader, selection),
        isFiltered:
          selection.document.length + selection.versie.length > 0 ||
          selection.geteld.length > (selection.leestAlles ? 0 : 1),
        rows: (limit, offset, known) => pageOfDocuments(reader, selection, limit, offset, known),
        byKey: byKey(reader, idList(selection), (ids) => latestVersions(reader, ids)),
      })),
      (rows) => {
        const readable = rows.filter((row) => mayRead(request.actor, row))
        const documents = readable.map((row) => toDocument(row, request.base))
        return expandEach(request, documents, paths, documentTree)
      },
      firstPortion(paths),
    )
  }
}

/** The fields that a fault may be about. */
const FIELDS = Object.keys(DocumentUpdate.properties)

/** Apart from reading: the bodies of these routes may be as large as a document. */
const writing: FastifyPluginAsyncTypebox = async (app) => {
  const { store, services } = app.parts
  const known = app.each(knownInformatieobjecttypen)
  registerContent(app)

  app.post(
    '/enkelvoudiginformatieobjecten',
    {
      config: createAccess,
      schema: { body: DocumentCreate, response: { 201: DocumentWithLock } },
      attachValidation: true,
    },
    async (request, reply) => {
      const document = await keepingContent(app, request, async () => {
        requireValidBody(request, FIELDS, contentFaults(request, request.body?.inhoud))
        const input = request.body
        const bytes = await receivedBytes(app, request, input)
        const elsewhere = await fetchTypeElsewhere(services, input.informatieobjecttype, request.base)
        return app.mutate(
          request.actor,
          async (m) => new Last(await judgeNewDocument(m, app.parts, known(), { input, bytes, elsewhere })),
        )
      })
      return reply.code(201).header('location', document.url).send(document)
    },
  )

  app.put(
    '/enkelvoudiginformatieobjecten/:uuid',
    {
      config: documentBijwerken,
      schema: { params: Params, body: DocumentUpdate, response: { 200: Document } },
      attachValidation: true,
    },
    async (request) => change(request, 'update', request.params.uuid, request.body),
  )

  app.patch(
    '/enkelvoudiginformatieobjecten/:uuid',
    {
      config: documentBijwerken,
      schema: { params: Params, body: DocumentPatch, response: { 200: Document } },
      attachValidation: true,
    },
    async (request) => change(request, 'partial_update', request.params.uuid, request.body),
  )

  app.delete(
    '/enkelvoudiginformatieobjecten/:uuid',
    { config: deleteAccess, schema: { params: Params } },
    async (request, reply) => {
      const { uuid } = request.params
      const catalogus = await catalogusElsewhere(app.read, app.parts.services, uuid, request.base)
      await app.mutate(request.actor, (m) => deleteDocument(m, uuid, catalogus))
      return reply.code(204).send()
    },
  )

  async function change(
    request: FastifyRequest,
    actie: 'update' | 'partial_update',
    uuid: string,
    given: DocumentPatch,
  ) {
    return keepingContent(app, request, async () => {
      const fault = request.validationError as unknown
      const exists = !(fault instanceof Problem && fault.status === 404) // which says that the path has no uuid
      if (fault && !(exists && (await findDocument(app.read, uuid)))) throw notFound()
      requireValidBody(request, FIELDS, contentFaults(request, given?.inhoud))
      const bytes = await receivedBytes(app, request, given)
      const elsewhere = await fetchTypeElsewhere(services, given.informatieobjecttype, request.base)
      const catalogus = given.informatieobjecttype
        ? ''
        : await catalogusElsewhere(app.read, app.parts.services, uuid, request.base)
      const { document, used } = await app.mutate(request.actor, (m) =>
        changeDocument(m, app.parts, { actie, uuid, given, bytes, elsewhere, catalogus }),
      )
      if (!used) await discard(store, bytes)
      return document
    })
  }
}
