// Lists of a case that grow with what hangs on it. How many a case may have is bounded; what was imported or taken over may have
// more. An answer holds up to `LIMITS.recorded` of each: a longer list is written from the database, a portion at a time.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { LIMITS } from '../../core/limits.ts'
import type { ReadDb } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { etagOf, isKnown } from '../../http/etag.ts'
import { expandedPieces, gatherInTurn, jsonPieces } from '../../http/json-pieces.ts'
import { link } from '../../http/links.ts'
import { sendWritten, Written } from '../../http/stream.ts'

import { eigenschapLink } from '../records.ts'

const KINDS = {
  deelzaken: { table: 'zaak', column: 'hoofdzaak_id', order: 'asc', resource: 'zaak', most: LIMITS.related },
  eigenschappen: {
    table: 'zaakeigenschap',
    column: 'zaak_id',
    order: 'desc',
    resource: undefined,
    most: LIMITS.related,
  },
  rollen: { table: 'rol', column: 'zaak_id', order: 'desc', resource: 'rol', most: LIMITS.related },
  zaakinformatieobjecten: {
    table: 'zaakinformatieobject',
    column: 'zaak_id',
    order: 'desc',
    resource: 'zaakinformatieobject',
    most: LIMITS.documenten,
  },
  zaakobjecten: {
    table: 'zaakobject',
    column: 'zaak_id',
    order: 'desc',
    resource: 'zaakobject',
    most: LIMITS.related,
  },
} as const
export type List = keyof typeof KINDS
export const LISTS = Object.keys(KINDS) as List[]

type Zaak = { id: number; uuid: string }
type Row = Zaak & Record<List, string | null>
type Answer = Partial<Record<List, string[]>>

/**
 * The uuids of a list of case `z`, with commas between; null when the list is empty. One text, as the driver is slow at arrays.
 * Reads one more than the limit, to know whether there are more. The limit is what a case may have when none is given.
 *
 * The condition is a range, although it could be an equality. For an equality the planner estimates the average number of rows per
 * case; when one case has most rows of the table, that estimate makes it read the whole table for every case of a page. A range
 * is always estimated at few rows.
 */
export function listOfUuids(list: List, most: number = KINDS[list].most) {
  const { table, column, order } = KINDS[list]
  return sql<string | null>`(select string_agg(b.uuid::text, ',' order by b.id ${sql.raw(order)}) from (
    select x.id, x.uuid from ${sql.table(table)} x where ${sql.ref(`x.${column}`)} between z.id and z.id
    limit ${sql.lit(most + 1)}
  ) b)`
}

const UUID_LENGTH = 36
const lengthOf = (uuids: string | null): number => (uuids === null ? 0 : (uuids.length + 1) / (UUID_LENGTH + 1))

/** Whether a list of the row has more members than that. */
export const isLonger = (list: List, row: Row, most: number): boolean => lengthOf(row[list]) > most

/** Whether a case has more than it may have. */
export const isCut = (row: Row): boolean => LISTS.some((list) => isLonger(list, row, KINDS[list].most))

/** The lists of an answer that are written from the database: they need not be complete in it. */
export const longLists = (answer: Answer): List[] =>
  LISTS.filter((list) => (answer[list]?.length ?? 0) > LIMITS.recorded)

/** How many members the lists of a case have together, as far as the row holds them. */
export const membersOf = (row: Row): number => LISTS.reduce((sum, list) => sum + lengthOf(row[list]), 0)

/** The URLs of a list as far as the row has them. */
export const urlsOf = (list: List, row: Row, base: string): string[] =>
  row[list]?.split(',').map((uuid) => urlOf(list, row, uuid, base)) ?? []

function urlOf(list: List, { uuid: zaak }: Zaak, uuid: string, base: string): string {
  const { resource } = KINDS[list]
  return resource ? link(base, resource, uuid) : eigenschapLink(base, zaak, uuid)
}

/** The same case as the audit trail has it. */
export function recorded<T extends Record<List, string[]>>(zaak: T): T {
  const short = LISTS.filter((list) => zaak[list].length > LIMITS.recorded)
  if (short.length === 0) return zaak
  return { ...zaak, ...Object.fromEntries(short.map((list) => [list, zaak[list].slice(0, LIMITS.recorded)])) }
}

/** The answer for a case with its long lists complete. */
export function written(db: ReadDb, zaak: Zaak, answer: Answer, base: string): Written {
  const lists = longLists(answer).map((list) => [list, inBrackets(members(db, zaak, list, base))] as const)
  const { _expand: expanded } = answer as { _expand?: object }
  const texts: Record<string, Iterable<string>> = expanded ? { _expand: expandedPieces(expanded) } : {}
  return Written.object(answer, { ...Object.fromEntries(lists), ...texts })
}

async function* inBrackets(members: AsyncIterable<string>): AsyncGenerator<string> {
  yield '['
  yield* members
  yield ']'
}

const PORTION = 5000 // 500 kB; a statement costs as much as the text of a thousand

// The database makes the text: rows would be hundreds of thousands of objects.
async function* members(db: ReadDb, zaak: Zaak, list: List, base: string): AsyncGenerator<string> {
  const { table, column, order } = KINDS[list]
  const side = sql.raw(order === 'asc' ? '>' : '<')
  const begin = JSON.stringify(urlOf(list, zaak, '', base)).slice(0, -1) // ends with the uuid
  let after = sql``
  for (let before = ''; ; before = ',') {
    const { rows } = await sql<{ n: number; last: number; urls: string | null }>`
      select count(*)::int as n, ${sql.raw(order === 'asc' ? 'max' : 'min')}(x.id) as last,
        string_agg(${begin}::text || x.uuid || '"', ',' order by x.id ${sql.raw(order)}) as urls
      from (select x.id, x.uuid from ${sql.table(table)} x where ${sql.ref(`x.${column}`)} = ${zaak.id} ${after}
        order by x.id ${sql.raw(order)} limit ${PORTION}) x`.execute(db)
    const { n, last, urls } = one(rows)
    if (urls !== null) yield before + urls
    if (n < PORTION) return
    after = sql`and x.id ${side} ${last}`
  }
}

/** Sends a case that has long lists, with an ETag that changes with any of their members. */
export async function sendWithLongLists(
  request: FastifyRequest,
  reply: FastifyReply,
  zaak: Zaak,
  answer: Answer,
): Promise<FastifyReply> {
  const { read } = request.server
  const etag = await etagWithLists(read, zaak, answer, await gatherInTurn(request, jsonPieces(answer)))
  if (isKnown(request, reply, etag)) return reply.code(304).send()
  return sendWritten(request, reply, written(read, zaak, answer, request.base))
}

/** The ETag of a case with long lists. @param texts the JSON of the answer, with as much of these as it holds */
export async function etagWithLists(
  read: ReadDb,
  zaak: Zaak,
  answer: Answer,
  texts: Iterable<string>,
): Promise<string> {
  const sums = longLists(answer).map((list) => {
    const { table, column } = KINDS[list]
    return sql`(select json_build_array(count(*), bit_xor(hashint8extended(x.id, 0)))
      from ${sql.table(table)} x where ${sql.ref(`x.${column}`)} = ${zaak.id})`
  })
  const { rows } = await sql<{ sums: string }>`select json_build_array(${sql.join(sums)})::text as sums`.execute(read)
  const hash = createHash('md5')
  for (const text of texts) hash.update(text)
  return etagOf(hash.update(one(rows).sums))
}
