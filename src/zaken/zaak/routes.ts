// zaken: reading and searching cases.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type from 'typebox'
import { sendCacheable } from '../../http/etag.ts'
import { ExpandQuery, expand, selectFields } from '../../http/expand.ts'
import { Uuid } from '../../http/input.ts'
import { Page, PageQuery, paginate } from '../../http/page.ts'
import { invalid, invalidAll, notFound } from '../../http/problem.ts'
import { zaakTree } from '../expand.ts'
import { access, LEZEN, requireMay } from '../rights.ts'
import { crs } from './change.ts'
import { AnyObject, Params, Zaak } from './columns.ts'
import { ATTRIBUTEN, ListQuery, ordering, originsOf, type ZaakFilter, zaakConditions } from './filters.ts'
import { boundingBox, type Geometrie, judgeGeometrie, withinTest } from './geometry.ts'
import { all, countZaken, findZaak, pageOfZaken, toZaak } from './read.ts'

const Zoek = Type.Object({
  zaakgeometrie: Type.Optional(Type.Object({ within: AnyObject })),
  uuid__in: Type.Optional(Type.Array(Uuid)),
  ...ATTRIBUTEN,
  expand: Type.Optional(
    Type.Unsafe<unknown>({ description: "Op te nemen relaties: een lijst, of tekst gescheiden door komma's." }),
  ),
  fields: Type.Optional(
    Type.Unsafe<unknown>({
      description:
        'Wat van elke zaak wordt geantwoord: namen van velden, en objecten met de velden van een relatie of groep. `*` is alles.',
    }),
  ),
})
const DetailQuery = Type.Object({ ...ExpandQuery, ...PageQuery })

export const zaken: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/zaken',
    { ...crs, config: access(LEZEN), schema: { querystring: ListQuery, response: { 200: Page(Zaak) } } },
    async (request) => {
      const filter = request.query as ZaakFilter
      return sendPage(request, filter)
    },
  )

  app.post(
    '/zaken/_zoek',
    {
      ...crs,
      config: access(LEZEN),
      schema: { body: Zoek, response: { 200: Page(Zaak) } },
      preValidation: [lenientSearch],
    },
    async (request) => {
      const { zaakgeometrie, uuid__in, fields, ...filter } = request.body as ZaakFilter & {
        zaakgeometrie?: { within?: unknown }
        uuid__in?: string[]
        fields?: unknown
      }
      const more = uuid__in ? [sql`z.uuid = any(${uuid__in}::uuid[])`] : []
      const conditions = [...zaakConditions(filter, request), ...more]
      if (zaakgeometrie?.within) more.push(await within(zaakgeometrie.within, conditions))
      const asked = (request.query as { expand?: string }).expand
      const paths = [...expandPaths(filter.expand), ...(asked ? asked.split(',') : [])]
      if (fields !== undefined && paths.length > 0)
        throw invalid('fields', 'invalid', 'Geef fields of expand, niet beide.') // zrc-029
      return sendPage(request, { ...filter, expand: paths } as ZaakFilter, more, fields)
    },
  )

  app.get(
    '/zaken/:uuid',
    { ...crs, config: access(LEZEN), schema: { params: Params, querystring: DetailQuery, response: { 200: Zaak } } },
    async (request, reply) => {
      const row = await findZaak(app.read, request.params.uuid)
      if (!row) throw notFound()
      requireMay(request.actor, LEZEN, row)
      const paths = request.query.expand ?? []
      const [zaak] = await expand(request, [toZaak(row, request.base)], paths, zaakTree())
      return sendCacheable(request, reply, zaak)
    },
  )

  async function sendPage(
    request: FastifyRequest,
    filter: ZaakFilter,
    more: RawBuilder<unknown>[] = [],
    fields?: unknown,
  ) {
    const order = ordering(filter.ordering)
    const conditions = [...zaakConditions(filter, request), ...more]
    const delen = originsOf(filter, request).map((deel) => [...zaakConditions(filter, request, deel), ...more])
    const page = await paginate(
      request,
      {
        count: () => countZaken(app.read, delen),
        rows: (limit, offset) => pageOfZaken(app.read, conditions, order, limit, offset),
      },
      (row) => toZaak(row, request.base),
    )
    const { results } = page
    if (fields !== undefined) return { ...page, results: await selectFields(request, results, fields, zaakTree()) }
    return { ...page, results: await expand(request, results, filter.expand ?? [], zaakTree()) }
  }

  /**
   * Cases that lie within an area. An index finds those whose box lies within its box; they are streamed past the exact
   * test, and only their ids are kept.
   */
  async function within(value: unknown, conditions: RawBuilder<unknown>[]): Promise<RawBuilder<unknown>> {
    const { geometrie, faults } = judgeGeometrie('zaakgeometrie.within', value)
    if (!geometrie) throw invalidAll(faults)
    const box = boundingBox(geometrie)
    if (box === null) return sql`false`
    const lies = withinTest(geometrie)
    const ids: number[] = []
    for (let last = 0; ; ) {
      const { rows } = await sql<{ id: number; zaakgeometrie: Geometrie }>`
        select z.id, z.zaakgeometrie from zaak z
        where z.zaakgeometrie_grenzen <@ ${box}::box and z.id > ${last} and ${all(conditions)}
        order by z.id limit ${PORTION}`.execute(app.read as never)
      for (const row of rows) if (lies(row.zaakgeometrie)) ids.push(row.id)
      if (rows.length < PORTION) return sql`z.id = any(${ids}::bigint[])`
      last = rows.at(-1)!.id
    }
  }
}

const PORTION = 1000

// A search may say a list as a list or, as in the query of a list, as text with commas; ordering too.
async function lenientSearch(request: FastifyRequest): Promise<void> {
  const body = request.body as Record<string, unknown> | null
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return
  if (Object.keys(body).length === 0)
    throw invalid('nonFieldErrors', 'empty_search_body', 'Geef ten minste een zoekvoorwaarde.')
  for (const [name, schema] of Object.entries(Zoek.properties)) {
    if ((schema as { type?: string }).type === 'array' && typeof body[name] === 'string')
      body[name] = (body[name] as string).split(',')
  }
}

/** @throws Problem 400 on `expand` for anything but a text or a list of texts */
function expandPaths(paths: unknown): string[] {
  if (paths === undefined || paths === null || paths === '') return []
  if (typeof paths === 'string') return paths.split(',')
  if (Array.isArray(paths) && paths.every((path) => typeof path === 'string')) return paths
  throw invalid('expand', 'invalid', "Geef een lijst, of tekst gescheiden door komma's.")
}
