// Reading what hangs on cases. A kind says what it selects of its rows `x`, joined to their case `z` and its zaaktype `zt`;
// rights are those on the case.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import type { ReadDb } from '../database/database.ts'
import type { Actor } from '../http/actor.ts'
import { sendCacheable } from '../http/etag.ts'
import { expand, expandEach } from '../http/expand.ts'
import type { Vertrouwelijkheidaanduiding } from '../http/input.ts'
import { localUuid, type Resource, resolveLink } from '../http/links.ts'
import { type Listing, sendPageOf } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { sendAllById } from '../http/stream.ts'
import { expandable, type Soort, tree } from './expand.ts'
import { LEZEN, reached, requireMay, type Scopes } from './rights.ts'
import { all } from './zaak/read.ts'

export type PartRow = {
  id: number
  uuid: string
  zaakUuid: string
  zaaktypeUuid: string | null
  zaaktypeUrl: string | null
  vertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
}
/** `columns` may be empty where `x.*` says it all; `joins` come after those to the case. */
export type PartSource<Row extends PartRow, R extends { url: string } = { url: string }> = {
  soort: Soort
  table: string
  columns: RawBuilder<unknown>
  joins?: RawBuilder<unknown>
  order: RawBuilder<unknown>
  /** How many rows of a page are read at first, where single rows may be large. */
  first?: number
  toResource(row: Row, base: string): R
}

const from = ({ table, joins = sql`` }: Pick<PartSource<never>, 'table' | 'joins'>) =>
  sql`${sql.table(table)} x join zaak z on z.id = x.zaak_id left join zaaktype zt on zt.id = z.zaaktype_id ${joins}`

function select<Row extends PartRow>(
  bron: PartSource<Row>,
  conditions: RawBuilder<unknown>[],
  rest: RawBuilder<unknown>,
) {
  return sql<Row>`select x.*, z.uuid as zaak_uuid, zt.uuid as zaaktype_uuid, z.zaaktype_url, z.vertrouwelijkheidaanduiding,
    ${bron.columns}
    from ${from(bron)} where ${all(conditions)} ${rest}`
}

export function listOf<Row extends PartRow>(
  db: ReadDb,
  bron: PartSource<Row>,
  conditions: RawBuilder<unknown>[],
): Listing<Row> {
  return {
    count: async () => {
      const counted = sql<{ n: number }>`select count(*) as n from ${from(bron)} where ${all(conditions)}`
      return (await counted.execute(db as never)).rows[0]!.n
    },
    rows: async (limit, offset) => {
      const page = sql`order by ${bron.order} limit ${limit} offset ${offset}`
      return (await select(bron, conditions, page).execute(db as never)).rows
    },
  }
}

export async function findOne<Row extends PartRow>(
  db: ReadDb,
  bron: PartSource<Row>,
  uuid: string,
  zaakUuid?: string,
): Promise<Row | undefined> {
  const conditions = [sql`x.uuid = ${uuid}::uuid`]
  if (zaakUuid) conditions.push(sql`z.uuid = ${zaakUuid}::uuid`)
  return (await select(bron, conditions, sql``).execute(db as never)).rows[0]
}

/** @throws Problem 404 when there is none, 403 when rights with these scopes do not reach its case */
export async function requireOne<Row extends PartRow>(
  db: ReadDb,
  actor: Actor,
  bron: PartSource<Row>,
  uuid: string,
  scopes: Scopes = LEZEN,
  zaakUuid?: string,
): Promise<Row> {
  const row = await findOne(db, bron, uuid, zaakUuid)
  if (!row) throw notFound()
  requireMay(actor, scopes, row)
  return row
}

/** A page of those that the caller may read. */
export async function sendPage<Row extends PartRow, R extends { url: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  bron: PartSource<Row, R>,
  conditions: RawBuilder<unknown>[],
): Promise<FastifyReply> {
  const list = listOf(request.server.read, bron, [reached(request.actor), ...conditions])
  return sendPageOf(request, reply, list, resources(request, bron), bron.first)
}

/** All of those that the caller may read: for the lists that the standard does not paginate. */
export async function sendAll<Row extends PartRow, R extends { url: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  bron: PartSource<Row, R>,
  conditions: RawBuilder<unknown>[],
): Promise<FastifyReply> {
  const kept = [reached(request.actor), ...conditions]
  const after = (id: number | undefined) => (id === undefined ? [] : [sql`x.id < ${id}`])
  return sendAllById(request, reply, {
    select: async (id, limit) => {
      const page = sql`order by x.id desc limit ${limit}`
      return (await select(bron, [...kept, ...after(id)], page).execute(request.server.read as never)).rows
    },
    toResources: resources(request, bron),
  })
}

const resources =
  <Row extends PartRow, R extends { url: string }>(request: FastifyRequest, bron: PartSource<Row, R>) =>
  (rows: Row[]) => {
    const { expand: paths } = request.query as { expand?: string[] }
    const found = rows.map((row) => bron.toResource(row, request.base))
    return paths ? expandEach(request, found, paths, tree(bron.soort)) : found
  }

/** One of them, with its ETag. */
export async function sendOne<Row extends PartRow>(
  request: FastifyRequest,
  reply: FastifyReply,
  bron: PartSource<Row>,
  zaakUuid?: string,
): Promise<FastifyReply> {
  const { uuid } = request.params as { uuid: string }
  const row = await requireOne(request.server.read, request.actor, bron, uuid, LEZEN, zaakUuid)
  const [answer] = await withExpand(request, bron.soort, [bron.toResource(row, request.base)])
  return sendCacheable(request, reply, answer)
}

async function withExpand<R extends object>(request: FastifyRequest, soort: Soort, resources: R[]): Promise<R[]> {
  const { expand: paths } = request.query as { expand?: string[] }
  return paths ? expand(request, resources, paths, tree(soort)) : resources
}

/** Lets other resources expand to this kind. */
export function readable<Row extends PartRow>(bron: PartSource<Row>): void {
  expandable(bron.soort, async (request, uuids) => {
    const conditions = [reached(request.actor), sql`x.uuid = any(${uuids}::uuid[])`]
    const rows = await listOf(request.server.read, bron, conditions).rows(uuids.length, 0)
    return rows.map((row) => bron.toResource(row, request.base))
  })
}

/** A filter on the case, or on another relation by the uuid in its URL; a URL of something else finds nothing. */
export function byUrl(
  column: string,
  url: string | undefined,
  base: string,
  resource: Resource,
): RawBuilder<unknown>[] {
  return url === undefined ? [] : [sql`${sql.ref(column)} = ${localUuid(url, base, resource) ?? null}::uuid`]
}
/** A filter on a type: `uuid` is the column of one of ours, `elders` that of the URL of one elsewhere. */
export function byType(
  uuid: string,
  elders: string,
  url: string | undefined,
  base: string,
  resource: Resource,
): RawBuilder<unknown>[] {
  if (url === undefined || resolveLink(url, base).kind !== 'elsewhere') return byUrl(uuid, url, base, resource)
  return [sql`${sql.ref(elders)} = ${url}`]
}
/** A filter on a plain value. */
export function by(column: string, value: unknown): RawBuilder<unknown>[] {
  return value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`]
}
