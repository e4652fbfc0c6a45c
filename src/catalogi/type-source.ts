// What types and their parts have in common: how a list, a detail and `expand` read them, and how a change is recorded. Each
// of them says in a `TypeSource` what is its own.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Expression, type RawBuilder, sql } from 'kysely'
import type { Actie, Mutation } from '../core/mutate.ts'
import { notFound } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { byKey, type IdList, isAmong } from '../database/list.ts'
import { expected, one } from '../database/rows.ts'
import { requireMatch } from '../http/etag.ts'
import type { Resource } from '../http/links.ts'
import { sendOne, sendPage } from './expand.ts'
import { deleteTypePart, holdTypePart, type PartTable } from './parts.ts'
import { recordChange } from './records.ts'

export type TypeSource<Row extends { uuid: string }, Shape extends { url: string }, Filter> = {
  resource: Resource
  /** The ids of what a list shows. */
  listed(db: ReadDb, filter: Filter, base: string): Expression<{ id: number }>
  /**
   * The rows `t` that meet a condition, the newest first.
   * @param datum decides which versions of related types are shown
   */
  rows(db: ReadDb, condition: RawBuilder<boolean>, datum: string | null): { execute(): Promise<Row[]> }
  toResource(row: Row, base: string): Shape
  /** What an audit record says of it. */
  named(row: Row): { uuid: string; weergave: string; catalogusUuid?: string; zaaktypeUuid?: string }
}

/** What every part of a zaaktype `z`, in a catalogue `c`, shows of it. */
export const ZAAKTYPE_COLUMNS = [
  'z.uuid as zaaktypeUuid',
  'z.identificatie as zaaktypeIdentificatie',
  'z.concept',
  'c.uuid as catalogusUuid',
] as const

/** A page of a list, newest first. */
export function sendTypes<Row extends { uuid: string }, Shape extends { url: string }, Filter extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  source: TypeSource<Row, Shape, Filter>,
  filter: Filter & { datumGeldigheid?: string },
): Promise<FastifyReply> {
  const { server } = request
  const { read } = server
  const listed = source.listed(read, filter, request.base)
  const list = {
    count: async () => {
      const { rows } = await sql<{ count: number }>`select count(*) as count from ${listed} as l`.execute(read)
      return one(rows).count
    },
    rows: (limit: number, offset: number) => {
      const page = sql`(select l.id from ${listed} as l order by l.id desc limit ${limit} offset ${offset})`
      return source.rows(read, sql`t.id in ${page}`, filter.datumGeldigheid ?? null).execute()
    },
    byKey: byKey(server.reader, newestFirst(listed), (ids) =>
      source.rows(read, isAmong(sql`t.id`, 'bigint', ids), filter.datumGeldigheid ?? null).execute(),
    ),
  }
  return sendPage(request, reply, source.resource, list, (row) => source.toResource(row, request.base))
}

/** A query of ids as a list of them. */
export const newestFirst = (listed: Expression<{ id: number }>): IdList => ({
  from: sql`${listed} l`,
  id: sql`l.id`,
  conditions: [],
  order: [{ column: sql`l.id`, descending: true }],
})

/** One of them, with its ETag. @throws Problem 404 */
export async function sendType<Row extends { uuid: string }, Shape extends { url: string }, Filter>(
  request: FastifyRequest,
  reply: FastifyReply,
  source: TypeSource<Row, Shape, Filter>,
  uuid: string,
  datum?: string,
): Promise<FastifyReply> {
  const row = await findType(request.server.read, source, uuid, datum)
  if (!row) throw notFound()
  return sendOne(request, reply, source.resource, source.toResource(row, request.base))
}

/** @param datum relations are shown with the versions that are valid on this day */
export async function findType<Row extends { uuid: string }, Shape extends { url: string }, Filter>(
  db: ReadDb,
  source: TypeSource<Row, Shape, Filter>,
  uuid: string,
  datum?: string,
): Promise<Row | undefined> {
  const [row] = await source.rows(db, sql`t.uuid = ${uuid}`, datum ?? null).execute()
  return row
}

/** A part of a zaaktype, held with that zaaktype until the change is made. @throws Problem 404, 412 by If-Match */
export async function partForChange<Row extends { uuid: string }, Shape extends { url: string }, Filter>(
  m: Mutation,
  source: TypeSource<Row, Shape, Filter>,
  table: PartTable,
  uuid: string,
): Promise<Row> {
  await holdTypePart(m, table, uuid)
  const row = expected(await findType(m.read, source, uuid))
  requireMatch(m, () => source.toResource(row, m.actor.base))
  return row
}

/** Records what was made or changed. @returns it, as clients see it */
export async function recordType<Row extends { uuid: string }, Shape extends { url: string }, Filter>(
  m: Mutation,
  source: TypeSource<Row, Shape, Filter>,
  actie: Actie,
  uuid: string,
  oud: Shape | null,
): Promise<Shape> {
  return recordRow(m, source, actie, expected(await findType(m.read, source, uuid)), oud)
}

/** The same, of a row that was read already. */
export function recordRow<Row extends { uuid: string }, Shape extends { url: string }, Filter>(
  m: Mutation,
  source: TypeSource<Row, Shape, Filter>,
  actie: Actie,
  row: Row,
  oud: Shape | null,
): Shape {
  const nieuw = source.toResource(row, m.actor.base)
  recordChange(m, actie, source.resource, source.named(row), oud, nieuw)
  return nieuw
}

/** Records that something was deleted. */
export function recordDeleted<Row extends { uuid: string }, Shape extends { url: string }, Filter>(
  m: Mutation,
  source: TypeSource<Row, Shape, Filter>,
  before: Row,
): void {
  const oud = source.toResource(before, m.actor.base)
  recordChange(m, 'destroy', source.resource, source.named(before), oud, null)
}

/** @throws Problem 404, 400 below a published zaaktype (ztc-010), 409 when it is in use */
export async function deletePart<
  Row extends { uuid: string; id: number; concept: boolean },
  Shape extends { url: string },
  Filter,
>(
  m: Mutation,
  source: TypeSource<Row, Shape, Filter>,
  table: Exclude<PartTable, 'zaaktype_informatieobjecttype'>,
  uuid: string,
): Promise<void> {
  const before = await partForChange(m, source, table, uuid)
  await deleteTypePart(m, table, before)
  recordDeleted(m, source, before)
}
