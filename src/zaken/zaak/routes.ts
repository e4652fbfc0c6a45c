// The routes of cases.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type from 'typebox'
import { knownZaaktypen } from '../../catalogi/known-types.ts'
import { NO_REMOTE_TYPES } from '../../catalogi/remote-types.ts'
import { LIMITS } from '../../core/limits.ts'
import { Last } from '../../core/mutate.ts'
import { invalid, notFound } from '../../core/problem.ts'
import type { Actie } from '../../core/records.ts'
import { among, byKey, isAmong } from '../../database/list.ts'
import { one } from '../../database/rows.ts'
import { batchOf, filtersOf, sendBatch } from '../../http/batch.ts'
import { sendCacheable } from '../../http/etag.ts'
import { ExpandQuery, expand, expandEach, selectFields } from '../../http/expand.ts'
import { firstPortion, Page, PageQuery, sendPageOf } from '../../http/page.ts'
import { expandPaths, lenientSearch } from '../../http/search-body.ts'
import { sendWritten } from '../../http/stream.ts'
import { largeTurn } from '../../http/turns.ts'
import { zaakTree } from '../expand.ts'
import {
  AANMAKEN,
  access,
  BIJWERKEN,
  LEZEN,
  mayDo,
  reached,
  requireMay,
  VERWIJDEREN,
  type ZaaktypeOrigin,
} from '../rights.ts'
import { changeZaak } from './change.ts'
import { Params, toZaak, Zaak, ZaakInput, ZaakPatch, ZaakPut } from './columns.ts'
import { judgeNewZaak } from './create.ts'
import { answerCrs, crs } from './crs.ts'
import { deleteZaak } from './delete.ts'
import { ListQuery, ordering, originsOf, type ZaakConditions, type ZaakFilter, zaakConditions } from './filters.ts'
import { longLists, sendWithLongLists, written } from './long-lists.ts'
import { answersOf, countZaken, findZaak, idList, pageOfZaken, pageRows, readZaak } from './read.ts'
import { openReferences } from './references.ts'
import { settingsOf } from './rules.ts'
import { Search, within } from './search.ts'

const DetailQuery = Type.Object({ ...ExpandQuery, ...PageQuery })
const BatchFilters = filtersOf(ListQuery)

export const zaken: FastifyPluginAsyncTypebox = async (app) => {
  const references = await openReferences(app)
  const known = app.each(knownZaaktypen)
  const settings = () => settingsOf(app.parts.config)

  app.get(
    '/zaken',
    { ...crs, config: access(LEZEN), schema: { querystring: ListQuery, response: { 200: Page(Zaak) } } },
    async (request, reply) => {
      const filter = request.query as ZaakFilter
      return sendPage(request, reply, filter)
    },
  )

  app.post(
    '/zaken/_zoek',
    {
      ...crs,
      config: access(LEZEN),
      schema: { body: Search, response: { 200: Page(Zaak) } },
      preValidation: [lenientSearch(Search)],
    },
    async (request, reply) => {
      const { zaakgeometrie, uuid__in, fields, ...filter } = request.body as ZaakFilter & {
        zaakgeometrie?: { within?: unknown }
        uuid__in?: string[]
        fields?: unknown
      }
      const more: RawBuilder<unknown>[] = uuid__in ? [await among(app.read, 'zaak', 'z', uuid__in)] : []
      const { counted, others } = zaakConditions(filter, request)
      const conditions = [...counted, ...others, ...more]
      let found: number[] | undefined
      if (zaakgeometrie?.within) {
        if (Number(request.headers['content-length'] ?? Infinity) > LIMITS.smallBytes) await largeTurn(request)
        found = await within(app.read, zaakgeometrie.within, conditions)
      }
      const asked = (request.query as { expand?: unknown }).expand
      const paths = [...expandPaths(filter.expand), ...expandPaths(asked)]
      if (fields !== undefined && paths.length > 0)
        throw invalid('fields', 'invalid', 'Geef fields of expand, niet beide.') // zrc-029
      return sendPage(request, reply, { ...filter, expand: paths } as ZaakFilter, more, fields, found)
    },
  )

  app.post('/zaken/_batch', { ...crs, config: access(LEZEN), ...batchOf('Zaak', Zaak) }, async (request, reply) => {
    const { actor, base } = request
    return sendBatch(request, reply, {
      filters: BatchFilters,
      keys: { from: sql`zaak z`, id: sql`z.id`, uuid: sql`z.uuid`, conditions: [reached(actor)] },
      list: (filter) => {
        return idList(zaakConditions(filter, request), ordering(filter.ordering as string[] | undefined))
      },
      rows: async (reader, ids) => (await pageRows(reader, ids)).filter((row) => mayDo(actor, LEZEN, row)),
      answers: (rows, show, isPlain) => {
        const most = isPlain ? LIMITS.recorded : undefined
        return answersOf(app.read, rows, base, (row) => mayDo(actor, LEZEN, row), most, show)
      },
      tree: zaakTree(),
      isExpandable: true,
    })
  })

  app.get(
    '/zaken/:uuid',
    { ...crs, config: access(LEZEN), schema: { params: Params, querystring: DetailQuery, response: { 200: Zaak } } },
    async (request, reply) => {
      const paths = request.query.expand ?? []
      const { uuid } = request.params
      const row = paths.length === 0 ? await readZaak(app.reader, uuid) : await findZaak(app.read, uuid)
      if (!row) throw notFound()
      requireMay(request.actor, LEZEN, row)
      const zaak = one(await expand(request, [toZaak(row, request.base)], paths, zaakTree()))
      if (longLists(zaak).length > 0) return sendWithLongLists(request, reply, row, zaak)
      return sendCacheable(request, reply, zaak)
    },
  )

  app.post(
    '/zaken',
    { ...crs, config: access(AANMAKEN), schema: { body: ZaakInput, response: { 201: Zaak } } },
    async (request, reply) => {
      const faults = await references.judge(request.body, request.base)
      const typen = await references.zaaktypen(request.body, request.base)
      const zaak = await app.mutate(
        request.actor,
        async (m) => new Last(await judgeNewZaak(m, request.body, settings(), known(), { faults, typen })),
      )
      return reply
        .code(201)
        .header('location', zaak.url)
        .send({ ...zaak, _expand: {} })
    },
  )

  app.put(
    '/zaken/:uuid',
    { ...crs, config: access(BIJWERKEN), schema: { params: Params, body: ZaakPut, response: { 200: Zaak } } },
    async (request, reply) => change(request, reply, 'update', request.params.uuid, request.body),
  )

  app.patch(
    '/zaken/:uuid',
    { ...crs, config: access(BIJWERKEN), schema: { params: Params, body: ZaakPatch, response: { 200: Zaak } } },
    async (request, reply) => change(request, reply, 'partial_update', request.params.uuid, request.body),
  )

  app.delete(
    '/zaken/:uuid',
    { onSend: answerCrs, config: access(VERWIJDEREN), schema: { params: Params } },
    async (request, reply) => {
      await app.mutate(request.actor, (m) => deleteZaak(m, request.params.uuid))
      return reply.code(204).send()
    },
  )

  async function change(request: FastifyRequest, reply: FastifyReply, actie: Actie, uuid: string, given: ZaakPatch) {
    const known = await findZaak(app.read, uuid, 0)
    const { base } = request
    const faults = known ? await references.judge(given, base, toZaak(known, base)) : []
    const typen = known ? await references.zaaktypen(given, base, toZaak(known, base)) : NO_REMOTE_TYPES
    const zaak = await app.mutate(request.actor, (m) => changeZaak(m, uuid, actie, given, settings(), faults, typen))
    const answer = { ...zaak, _expand: {} }
    if (!known || longLists(answer).length === 0) return answer
    return sendWritten(request, reply, written(app.read, known, answer, base))
  }

  /** @param ids of all cases that fit, when they are known already */
  async function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    filter: ZaakFilter,
    more: RawBuilder<unknown>[] = [],
    fields?: unknown,
    ids?: number[],
  ) {
    const order = ordering(filter.ordering)
    const selection = (deel?: ZaaktypeOrigin) => {
      const found = zaakConditions(filter, request, deel)
      return more.length === 0 ? found : { counted: found.counted, others: [...found.others, ...more] }
    }
    const parts: ZaakConditions[] = ids
      ? [{ counted: [], others: [isAmong(sql`z.id`, 'bigint', ids)] }]
      : originsOf(filter, request).map(selection)
    const [one, ...others] = parts
    const whole = one && others.length === 0 ? one : selection()
    const paths = filter.expand ?? []
    return sendPageOf(
      request,
      reply,
      app.listing((reader) => ({
        count: async () => (ids ? { count: ids.length } : countZaken(reader, parts)),
        isFiltered: parts.some(({ counted, others }) => counted.length + others.length > 0),
        rows: (limit, offset, known) =>
          ids && !filter.ordering
            ? pageRows(reader, ids.toReversed().slice(offset, offset + limit)) // the newest first
            : pageOfZaken(reader, whole, order, limit, offset, known),
        byKey: byKey(reader, idList(whole, order), (ids) => pageRows(reader, ids)),
      })),
      (rows) =>
        answersOf(
          app.read,
          rows,
          request.base,
          (row) => mayDo(request.actor, LEZEN, row),
          fields === undefined && paths.length === 0 ? LIMITS.recorded : undefined,
          (found): Iterable<object> | AsyncIterable<object> =>
            fields === undefined
              ? expandEach(request, found, paths, zaakTree())
              : selectFields(request, found, fields, zaakTree()),
        ),
      fields === undefined ? firstPortion(paths) : 50,
    )
  }
}
