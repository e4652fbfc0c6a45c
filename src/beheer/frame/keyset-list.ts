// Keyset list: long lists, a page at a time, from the row where the last page ended: as quick at the millionth row as at the first.
import type { FastifyRequest } from 'fastify'

/** Where a page begins: behind or before a row; neither: at the beginning. */
export type Cursor = { na?: string; voor?: string }
export type KeysetPage<Row> = { rows: Row[]; previous: string | null; next: string | null; first: string | null }

/**
 * One page.
 * @param options.rows the rows after `na` in the order of the list, or those before `voor` in the opposite order; `limit` of them
 * @param options.key identifies a row within the order
 */
export async function keysetPage<Row>(
  request: FastifyRequest,
  options: { size?: number; key(row: Row): string; rows(limit: number, cursor: Cursor): Promise<Row[]> },
): Promise<KeysetPage<Row>> {
  const { size = 50, key } = options
  const { na, voor } = request.query as Cursor
  const back = voor !== undefined
  const found = await options.rows(size + 1, back ? { voor } : na === undefined ? {} : { na })
  const more = found.length > size
  const rows = found.slice(0, size)
  if (back) rows.reverse()
  const [firstRow, lastRow] = [rows[0], rows.at(-1)]
  return {
    rows,
    previous:
      firstRow !== undefined && (back ? more : na !== undefined) ? withQuery(request, { voor: key(firstRow) }) : null,
    next: lastRow !== undefined && (back || more) ? withQuery(request, { na: key(lastRow) }) : null,
    first: back || na !== undefined ? withQuery(request, {}) : null,
  }
}

/** The address of this page with other parameters; those of paging are left out unless given, or kept (`paging`). */
export function withQuery(
  request: FastifyRequest,
  change: Record<string, string | undefined>,
  { paging = false } = {},
): string {
  const [path, search = ''] = request.originalUrl.split('?', 2)
  const query = new URLSearchParams(search)
  if (!paging) for (const name of ['na', 'voor']) query.delete(name)
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  return `${basePath(request)}${path}${text && `?${text}`}`
}

/** The path before `/beheer` when a proxy serves us below one. */
export function basePath(request: FastifyRequest): string {
  return new URL(request.base).pathname.replace(/\/$/, '')
}
