// Lookup: what the pages to look things up share: what somebody may see, searching by name, and lists below an object.

import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../../core/vertrouwelijkheidaanduiding.ts'
import type { ReadDb } from '../../database/database.ts'
import type { DB } from '../../database/types.ts'
import { UUID_PATTERN } from '../../lib/uuid.ts'
import { t } from '../language/language.ts'
import { type Cursor, type KeysetPage, keysetPage } from './keyset-list.ts'
import { type Administrator, signedIn } from './session.ts'

const UUID = new RegExp(UUID_PATTERN, 'i')

/** The uuid in what somebody typed or pasted: a uuid, or an address that ends in one. */
export function uuidIn(text: string): string | undefined {
  return text.match(UUID)?.[0].toLowerCase()
}

/** The uuid in the address of a page. @throws Problem 404 when it is none */
export function uuidParam(request: FastifyRequest): string {
  const { uuid } = request.params as { uuid: string }
  if (!/^[0-9a-f-]{36}$/i.test(uuid) || !UUID.test(uuid)) throw notFound(t('Deze pagina bestaat niet.'))
  return uuid.toLowerCase()
}

/** A text in the query of a page; whatever the database cannot hold is left out. */
export function queryText(request: FastifyRequest, name: string): string {
  const value = (request.query as Record<string, unknown>)[name]
  const text = String(Array.isArray(value) ? value.at(-1) : (value ?? ''))
  return text.replaceAll('\0', '').toWellFormed().trim().slice(0, 1000)
}

/** A date in the query of a page, when it is one. */
export function queryDay(request: FastifyRequest, name: string): string | undefined {
  const text = queryText(request, name)
  const valid = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && !text.startsWith('0000')
  return valid && new Date(text).toISOString().startsWith(text) ? text : undefined
}

/** Whether what somebody looks at is not above what he may see. */
export function visible(request: FastifyRequest, column: RawBuilder<unknown>): RawBuilder<boolean> {
  return visibleTo(signedIn(request), column)
}

/** The same for anybody's account. */
export const visibleTo = (
  { maxVertrouwelijkheidaanduiding: max }: Pick<Administrator, 'maxVertrouwelijkheidaanduiding'>,
  column: RawBuilder<unknown>,
): RawBuilder<boolean> => sql<boolean>`${column} <= ${max}::vertrouwelijkheidaanduiding`

/** @throws Problem 404 when it is above what he may see: for him it does not exist */
export function requireVisible(request: FastifyRequest, vertrouwelijkheidaanduiding: string): void {
  const levels: readonly string[] = VERTROUWELIJKHEIDAANDUIDINGEN
  const max = signedIn(request).maxVertrouwelijkheidaanduiding
  if (levels.indexOf(vertrouwelijkheidaanduiding) > levels.indexOf(max)) throw notFound(t('Deze pagina bestaat niet.'))
}

/**
 * How a list may be sorted: the column, and where it stands of the row with a given number. `id`: the number as it stands beside the
 * column in the index of both, where that is in another table than the list's; else every page reads the index from its begin.
 */
export type Sorts = Record<
  string,
  { column: RawBuilder<unknown>; of(id: string): RawBuilder<unknown>; id?: RawBuilder<unknown> }
>

/** Sorts by columns of a table of at most some thousands of rows, which therefore need no index; `alias` is its name in the list. */
export function sortsOf(table: keyof DB, alias: string, columns: Record<string, RawBuilder<unknown>>): Sorts {
  const from = sql`${sql.table(table)} as ${sql.id(alias)}`
  const id = sql.ref(`${alias}.id`)
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [
      name,
      { column, of: (number) => sql`(select ${column} from ${from} where ${id} = ${number}::bigint)` },
    ]),
  )
}

/**
 * A list by number, newest first, or as `sorteer` in the query says; `conditions` begin with a column, `select` ends where they
 * come. With `sorts` the list may also be sorted by those columns, which are never null, `-name` from high to low; and by
 * `nummer`. `standard` is the order of a list that nobody sorted.
 */
export async function keysetByNumber<Row extends { id: number }>(
  request: FastifyRequest,
  db: ReadDb,
  query: {
    select: RawBuilder<unknown>
    id: RawBuilder<unknown>
    conditions: RawBuilder<unknown>[]
    size?: number
    sorts?: Sorts
    standard?: string
  },
): Promise<KeysetPage<Row>> {
  const asked = (query.sorts && queryText(request, 'sorteer')) || query.standard || ''
  const name = asked.replace(/^-/, '')
  const sort = query.sorts && Object.hasOwn(query.sorts, name) ? query.sorts[name] : undefined
  const upwards = sort || name === 'nummer' ? !asked.startsWith('-') : false
  return keysetPage<Row>(request, {
    ...(query.size !== undefined && { size: query.size }),
    key: ({ id }) => String(id),
    rows: async (limit, cursor) => {
      const ascending = upwards === (cursor.voor === undefined)
      const conditions = [...query.conditions, ...beyond(query.id, sort, cursor, ascending)]
      const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``
      const order = ascending ? sql`asc` : sql`desc`
      const by = sort ? sql`${sort.column} ${order}, ${sort.id ?? query.id} ${order}` : sql`${query.id} ${order}`
      const { rows } = await sql<Row>`${query.select} ${where} order by ${by} limit ${limit}`.execute(db)
      return rows
    },
  })
}

function beyond(
  id: RawBuilder<unknown>,
  sort: Sorts[string] | undefined,
  { na, voor }: Cursor,
  ascending: boolean,
): RawBuilder<unknown>[] {
  const from = voor ?? na
  if (from === undefined || !/^-?\d{1,16}$/.test(from)) return []
  const compare = ascending ? sql`>` : sql`<`
  if (!sort) return [sql`${id} ${compare} ${from}::bigint`]
  return [sql`(${sort.column}, ${sort.id ?? id}) ${compare} (${sort.of(from)}, ${from}::bigint)`]
}

/** A list that is there whole, sorted as `sorteer` in the query says; as it is when that names none of `keys`. */
export function sortRows<Row>(
  request: FastifyRequest,
  rows: readonly Row[],
  keys: Record<string, (row: Row) => string | number | null>,
): Row[] {
  const asked = queryText(request, 'sorteer')
  const name = asked.replace(/^-/, '')
  const key = Object.hasOwn(keys, name) ? keys[name] : undefined
  if (!key) return [...rows]
  const compare = (one: Row, other: Row) => {
    const [a, b] = [key(one) ?? '', key(other) ?? '']
    return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'nl')
  }
  return [...rows].sort(asked.startsWith('-') ? (one, other) => compare(other, one) : compare)
}

/** Field by field what is not the same before and after. */
export function differences(oud: unknown, nieuw: unknown): { field: string; before: string; after: string }[] {
  const [before, after] = [asFields(oud), asFields(nieuw)]
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((field) => {
    const [from, to] = [asText(before[field]), asText(after[field])]
    return from === to ? [] : [{ field, before: from, after: to }]
  })
}

const asFields = (state: unknown): Record<string, unknown> =>
  state !== null && typeof state === 'object' && !Array.isArray(state)
    ? (state as Record<string, unknown>)
    : state === null || state === undefined
      ? {}
      : { waarde: state }

function asText(value: unknown): string {
  if (value === null || value === undefined || value === '') return ''
  if (typeof value === 'boolean') return value ? t('ja') : t('nee')
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1)
  return text.replace(
    /("(?:inpBsn|anpIdentificatie)": ")(\d+)(")/g,
    (_, before, bsn, after) => before + maskBsn(bsn) + after,
  )
}

/** Of a BSN the last three digits: enough to recognise somebody by. */
export const maskBsn = (bsn: string): string => `••••••${bsn.slice(-3)}`
