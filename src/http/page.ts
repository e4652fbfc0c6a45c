import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type TSchema } from 'typebox'
import { invalid, notFound } from '../core/problem.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Count, Key, Listing, Place } from '../database/list.ts'
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

/**
 * Parameters of every list beside those: by the keys of its order, where each page costs as much as the first. They do not go
 * together with a page.
 */
export const CursorQuery = {
  cursor: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Plaats in de lijst, uit `next` of `previous` van een antwoord met `limit`.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 500,
      description: 'Aantal, standaard 100: in plaats van pageSize, en elke pagina kost dan evenveel.',
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
  const query = request.query as { page?: string; pageSize?: string; cursor?: string; limit?: number }
  if (query.cursor !== undefined || query.limit !== undefined)
    return sendByKey(request, reply, list, toResources, first)
  const size = pageSize(query.pageSize)
  const asked = query.page ?? '1'
  if (asked !== 'last' && !/^0*[1-9]\d{0,8}$/.test(asked)) throw notFound('Deze pagina bestaat niet.')
  const begin = Math.min(size, first)
  const isFar = asked === 'last' || (Number(asked) - 1) * size >= FAR
  const early = isFar || list.isFiltered ? undefined : list.rows(begin, (Number(asked) - 1) * size)
  early?.catch(() => {}) // awaited below; the count may fail first
  const known = countOf(await list.count())
  const { count } = known
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
  sendLinks(reply, {
    first: pageLink(request, 1),
    prev: links.previous,
    next: links.next,
    last: pageLink(request, last),
  })
  let read = 0
  return sendRows(request, reply, {
    head: `${JSON.stringify(links).slice(0, -1)},"results":[`,
    tail: ']}',
    first: begin,
    next: async (most) => {
      if (total <= 0) return { rows: [], more: false }
      const limit = Math.min(most, size - read)
      const rows = await (read === 0 && early ? early : list.rows(limit, offset + read, { ...known, isFar }))
      read += limit
      return { rows, more: read < total }
    },
    toResources,
  })
}

const countOf = (found: Count | number): Count => (typeof found === 'number' ? { count: found } : found)

/** Beyond this, a filter of thousands of characters would make headers that clients do not take. */
const LINKS = 6000

/** The pages beside this one, as `Link` has them (RFC 8288). */
function sendLinks(reply: FastifyReply, pages: Record<string, string | null>): void {
  const links = Object.entries(pages).flatMap(([rel, url]) => (url === null ? [] : `<${url}>; rel="${rel}"`))
  const text = links.join(', ')
  if (text.length <= LINKS) reply.header('link', text)
}

/**
 * The same from a place in the list. The place is told by the values of a row, so that it stays when that row goes, and nothing is
 * left out or shown twice when rows come before it. The count is that of the first page: it goes along in the cursor.
 * @throws Problem 400 for a cursor that is none of this list, beside a page, or where the order is not by keys
 */
async function sendByKey<Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  list: Listing<Row>,
  toResources: Rows<Row>['toResources'],
  first: number,
): Promise<FastifyReply> {
  const query = request.query as { page?: string; pageSize?: string; cursor?: string; limit?: number | string }
  if (query.page !== undefined || query.pageSize !== undefined)
    throw invalid('cursor', 'invalid', 'Geef cursor en limit, of page en pageSize.')
  const { byKey } = list
  if (!byKey) throw invalid('ordering', 'invalid', 'In deze volgorde is er geen cursor: neem page en pageSize.')
  const { box } = request.server.parts
  const limit = Math.min(500, Math.max(1, Math.trunc(Number(query.limit ?? 100)) || 100))
  const cursor = query.cursor === undefined ? undefined : readCursor(box, query.cursor)
  const [count, found] = await Promise.all([
    cursor?.count ?? list.count().then((found) => countOf(found).count),
    byKey.keys(limit + 1, cursor?.place).catch((error: unknown) => {
      throw isOfPlace(error) ? noCursor() : error
    }),
  ])
  const isBefore = cursor?.place.isBefore === true
  const isMore = found.length > limit
  const keys = isBefore ? found.slice(0, limit).reverse() : found.slice(0, limit)
  const at = (key: Key | undefined, before: boolean) =>
    key ? linkWith(request, { cursor: cursorText(box, { at: key.at, isBefore: before }, count) }) : null
  const links = {
    count,
    next: isBefore || isMore ? at(keys.at(-1), false) : null,
    previous: isBefore ? (isMore ? at(keys[0], true) : null) : cursor ? at(keys[0], true) : null,
  }
  sendLinks(reply, { first: linkWith(request, { cursor: undefined }), prev: links.previous, next: links.next })
  let read = 0
  return sendRows(request, reply, {
    head: `${JSON.stringify(links).slice(0, -1)},"results":[`,
    tail: ']}',
    first: Math.min(limit, first),
    next: async (most) => {
      const few = keys.slice(read, read + most).map(({ id }) => id)
      read += few.length
      return { rows: few.length === 0 ? [] : await byKey.rows(few), more: read < keys.length }
    },
    toResources,
  })
}

/**
 * What a client gets of a place, and sends back. It is sealed, as ids in it would tell how much others make whom the client may not
 * read. @param count of the list; it is counted when that is not known
 */
export const cursorText = ({ seal }: SecretBox, { at, isBefore }: Place, count?: number): string =>
  seal(JSON.stringify([isBefore ? 1 : 0, count ?? null, ...at]), CURSOR).toString('base64url')
const CURSOR = 'cursor'

function readCursor({ open }: SecretBox, text: string): { place: Place; count: number | undefined } {
  try {
    const opened = open(Buffer.from(text, 'base64url'), CURSOR)
    const [isBefore, count, ...at] = JSON.parse(opened) as [number, number | null, ...string[]]
    return { place: { at, isBefore: isBefore === 1 }, count: count ?? undefined }
  } catch {
    throw noCursor()
  }
}

const noCursor = () => invalid('cursor', 'invalid', 'Dit is geen cursor van deze lijst, met deze volgorde.')

/** The values of a place are none of these columns: class 22 of PostgreSQL, or there are too many or few of them. */
const isOfPlace = (error: unknown): boolean =>
  /^(22|0A000|42601|42804|42883)/.test(String((error as { code?: unknown } | null)?.code))

/** What is expanded comes on top of the rows. */
export const firstPortion = (paths: readonly string[]): number => (paths.length > 0 ? 50 : 100)

function pageSize(text: string | undefined): number {
  const size = Number(text ?? 100)
  return Number.isInteger(size) && size > 0 ? Math.min(size, 500) : 100
}

const pageLink = (request: FastifyRequest, page: number): string =>
  linkWith(request, { page: page === 1 ? undefined : String(page) })

/** The address of this request with other parameters; those that are undefined are left out. */
function linkWith(request: FastifyRequest, given: Record<string, string | undefined>): string {
  const [, path, query = ''] = PLAIN.exec(request.url) ?? []
  const url = path === undefined ? new URL(request.base + request.url) : undefined
  const parameters = url?.searchParams ?? new URLSearchParams(query)
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) parameters.delete(name)
    else parameters.set(name, value)
  }
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
