import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type TSchema } from 'typebox'
import { notFound } from './problem.ts'

/** Parameters of every paginated list. They are read leniently here: a wrong page is a 404, a wrong size the default. */
export const PageQuery = {
  page: Type.Optional(Type.String({ description: 'Pagina, vanaf 1; `last` is de laatste.' })),
  pageSize: Type.Optional(Type.String({ description: 'Aantal per pagina, standaard 100, ten hoogste 500.' })),
}

/** A filter: `column` contains `text`, whatever the case, without wildcards. An index with `gin_trgm_ops` on `lower(column)` serves it. */
export const contains = (column: RawBuilder<unknown>, text: string): RawBuilder<boolean> =>
  sql<boolean>`lower(${column}) like lower(${`%${text.replace(/[\\%_]/g, '\\$&')}%`})`

/** The envelope of a paginated list. */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object({
    count: Type.Integer({ minimum: 0 }),
    next: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri' }),
    previous: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri' }),
    results: Type.Array(item),
  })

export type PageOf<T> = { count: number; next: string | null; previous: string | null; results: T[] }

/** What a list can be asked: how many there are in all, and a stretch of them in the order of the list. */
export type Listing<Row> = { count(): Promise<number>; rows(limit: number, offset: number): Promise<Row[]> }

/**
 * One page of a list, as the standard wants it: count over all, links to its neighbours with the other parameters kept.
 * @throws Problem 404 for a page that is no number or lies past the end (page 1 always exists)
 */
export async function paginate<Row, Resource>(
  request: FastifyRequest,
  list: Listing<Row>,
  toResource: (row: Row) => Resource,
): Promise<PageOf<Resource>> {
  const query = request.query as { page?: string; pageSize?: string }
  const size = pageSize(query.pageSize)
  const asked = query.page ?? '1'
  if (asked !== 'last' && !/^0*[1-9]\d{0,8}$/.test(asked)) throw notFound('Deze pagina bestaat niet.')
  const early = asked === 'last' ? undefined : list.rows(size, (Number(asked) - 1) * size)
  early?.catch(() => {}) // awaited below; the count may fail first
  const count = await list.count()
  const last = Math.max(1, Math.ceil(count / size))
  const page = asked === 'last' ? last : Number(asked)
  if (page > last) throw notFound('Deze pagina bestaat niet.')
  const rows = await (early ?? list.rows(size, (page - 1) * size))
  return {
    count,
    next: page < last ? pageLink(request, page + 1) : null,
    previous: page > 1 ? pageLink(request, page - 1) : null,
    results: rows.map(toResource),
  }
}

function pageSize(text: string | undefined): number {
  const size = Number(text ?? 100)
  return Number.isInteger(size) && size > 0 ? Math.min(size, 500) : 100
}

function pageLink(request: FastifyRequest, page: number): string {
  const url = new URL(request.base + request.url)
  if (page === 1) url.searchParams.delete('page')
  else url.searchParams.set('page', String(page))
  url.searchParams.sort()
  return url.href
}
