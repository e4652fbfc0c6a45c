import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type TSchema } from 'typebox'
import { notFound } from '../core/problem.ts'
import type { Listing } from '../database/list.ts'
import { documentedAs } from './documented.ts'
import { type Rows, sendRows } from './stream.ts'

/** Parameters of every paginated list. They are read leniently here: a wrong page is a 404, a wrong size the default. */
export const PageQuery = {
  page: Type.Optional(
    documentedAs(Type.String(), { type: 'integer', minimum: 1, description: 'Pagina, vanaf 1; `last` is de laatste.' }),
  ),
  pageSize: Type.Optional(
    documentedAs(Type.String(), {
      type: 'integer',
      minimum: 1,
      maximum: 500,
      description: 'Aantal per pagina, standaard 100, ten hoogste 500.',
    }),
  ),
}

/** A filter: `column` contains `text`, whatever the case, without wildcards. An index with `gin_trgm_ops` on `lower(column)` serves it. */
export const contains = (column: RawBuilder<unknown>, text: string): RawBuilder<boolean> =>
  sql<boolean>`lower(${column}) like lower(${`%${text.replace(/[\\%_]/g, '\\$&')}%`})`

/**
 * The same for a filter of a long list, where an index has to find it. What is too short for that is looked for at the beginning of
 * words; what has no letter or digit there is found nowhere.
 */
export function containsPart(column: RawBuilder<unknown>, text: string): RawBuilder<boolean> {
  if (text === '' || isFindable(text)) return contains(column, text)
  if (!/^[\p{L}\p{N}]/u.test(text)) return sql<boolean>`false`
  const start = `${text.replace(/[\\%_]/g, '\\$&')}%`
  return sql<boolean>`(lower(${column}) like lower(${start}) or lower(${column}) like lower(${`% ${start}`}))`
}

/** Whether a part of a text has a trigram: three letters or digits, of which spaces around a whole word count as well. */
export const isFindable = (part: string): boolean =>
  part.length >= 3 && /[\p{L}\p{N}]{3}|[\p{L}\p{N}]{2}[^\p{L}\p{N}]|[^\p{L}\p{N}][\p{L}\p{N}]/u.test(part)

/** The envelope of a paginated list. */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object({
    count: Type.Integer({ minimum: 0 }),
    next: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri' }),
    previous: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri' }),
    results: Type.Array(item),
  })

/** From how far into a list it pays to count first. */
const FAR = 10_000

/**
 * Sends one page of a list, as the standard wants it: count over all, links to its neighbours with the other parameters kept. The
 * header `Link` names them too, with the first and the last page.
 * A page is read in portions, and a large one is streamed (`sendRows`).
 * @param first how many rows are read at first; fewer where single rows may be large
 * @throws Problem 404 for a page that is no number or lies past the end (page 1 always exists)
 */
export async function sendPageOf<Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  list: Listing<Row>,
  toResources: Rows<Row>['toResources'],
  first = firstPortion((request.query as { expand?: string[] }).expand ?? []),
): Promise<FastifyReply> {
  const query = request.query as { page?: string; pageSize?: string }
  const size = pageSize(query.pageSize)
  const asked = query.page ?? '1'
  if (asked !== 'last' && !/^0*[1-9]\d{0,8}$/.test(asked)) throw notFound('Deze pagina bestaat niet.')
  const begin = Math.min(size, first)
  const isFar = asked === 'last' || (Number(asked) - 1) * size >= FAR
  const early = isFar || list.isFiltered ? undefined : list.rows(begin, (Number(asked) - 1) * size)
  early?.catch(() => {}) // awaited below; the count may fail first
  const count = await list.count()
  const last = Math.max(1, Math.ceil(count / size))
  const page = asked === 'last' ? last : Number(asked)
  if (page > last) throw notFound('Deze pagina bestaat niet.')
  const offset = (page - 1) * size
  const total = Math.min(size, count - offset)
  const links = {
    count,
    next: page < last ? pageLink(request, page + 1) : null,
    previous: page > 1 ? pageLink(request, page - 1) : null,
  }
  sendLinks(request, reply, page, last)
  let read = 0
  return sendRows(request, reply, {
    head: `${JSON.stringify(links).slice(0, -1)},"results":[`,
    tail: ']}',
    first: begin,
    next: async (most) => {
      if (total <= 0) return { rows: [], more: false }
      const limit = Math.min(most, size - read)
      const rows = await (read === 0 && early ? early : list.rows(limit, offset + read, { count, isFar }))
      read += limit
      return { rows, more: read < total }
    },
    toResources,
  })
}

/** Beyond this, a filter of thousands of characters would make headers that clients do not take. */
const LINKS = 6000

/** The pages beside this one, as `Link` has them (RFC 8288). */
function sendLinks(request: FastifyRequest, reply: FastifyReply, page: number, last: number): void {
  const pages = { first: 1, ...(page > 1 && { prev: page - 1 }), ...(page < last && { next: page + 1 }), last }
  const links = Object.entries(pages).map(([rel, number]) => `<${pageLink(request, number)}>; rel="${rel}"`)
  const text = links.join(', ')
  if (text.length <= LINKS) reply.header('link', text)
}

/** What is expanded comes on top of the rows. */
export const firstPortion = (paths: readonly string[]): number => (paths.length > 0 ? 50 : 100)

function pageSize(text: string | undefined): number {
  const size = Number(text ?? 100)
  return Number.isInteger(size) && size > 0 ? Math.min(size, 500) : 100
}

function pageLink(request: FastifyRequest, page: number): string {
  const [, path, query = ''] = PLAIN.exec(request.url) ?? []
  const url = path === undefined ? new URL(request.base + request.url) : undefined
  const parameters = url?.searchParams ?? new URLSearchParams(query)
  if (page === 1) parameters.delete('page')
  else parameters.set('page', String(page))
  parameters.sort()
  if (url) return url.href
  const search = parameters.toString()
  return `${normal(request.base)}${path}${search && `?${search}`}`
}

/** An address in which a URL would change nothing but its parameters: reading it as one is most of the work of a link. */
const PLAIN = /^((?:\/[\w-]+)+)(?:\?([\w.=&-]*))?$/

// The base that was asked for last, which is nearly always the same.
let normalised = { base: '', href: '' }

function normal(base: string): string {
  if (normalised.base !== base) normalised = { base, href: new URL(base).href.replace(/\/$/, '') }
  return normalised.href
}
