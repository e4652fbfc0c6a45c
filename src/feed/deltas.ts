// Reading a feed: what was changed, a transaction at a time. Only the keys of resources are kept, and tell.ts adds the state that each has now:
// whoever reads late gets the newest more than once, and what has gone since only as a delete.
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { Actor } from '../core/actor.ts'
import { Rewound } from '../core/history.ts'
import { openPlace, type PlaceKey, sealPlace } from '../core/place.ts'
import { notFound, Problem } from '../core/problem.ts'
import { isSettled } from '../database/position.ts'
import { expected, lastOf } from '../database/rows.ts'
import type { Feed, Viewer } from './kinds.ts'

/**
 * What a position is bound to: the rights of its reader in the component. Other rights may show what was passed by without. Of a right
 * on a catalogue the types that it reaches now do not count: a type that comes later has no objects yet.
 */
export function rightsPrint(actor: Actor, { component, scopes }: Feed): string {
  const ready = component === 'drc' && actor.alleenGereedVoorPublicatie
  if (component === 'ztc' || (actor.alleAutorisaties && !ready)) return component
  const rights = actor.alleAutorisaties
    ? ['alles']
    : actor.autorisaties
        .filter((right) => right.component === component && scopes.some((scope) => right.scopes.has(scope)))
        .map(({ whole, typeUuid, typeUrl, max }) => `${whole ?? typeUuid ?? typeUrl} ${max}`)
  return hash('sha256', JSON.stringify([component, ready, [...new Set(rights)].sort()])).slice(0, 12)
}

export type Row = {
  xact: string
  id: number
  resource: string
  uuid: string
  rowId: number
  mainId: number | null
  operation: 'insert' | 'update' | 'delete'
  /** Whether it says what rights looked at before. */
  isKnown: boolean
  wasReached: boolean
}
type Head = PlaceKey & { first: string; same: boolean; settled: string }

/** A position that does not count (any more). */
export const expired = () =>
  new Problem(410, {
    detail:
      'Deze positie geldt niet (meer): ze is verlopen, van een andere toestand van de database, of van andere rechten. Begin opnieuw met een momentopname.',
  })
const notYet = () =>
  new Problem(503, { detail: 'De wijzigingen worden opnieuw opgezet.', headers: { 'retry-after': '5' } })

/** What of a position is a number of a transaction, when deltas still follow on it; else undefined. */
export function readPosition(text: string, head: Head, rights: string): string | undefined {
  const xact = openPlace(head, rights, text)
  return xact !== undefined && BigInt(xact) >= BigInt(head.first) && BigInt(xact) < BigInt(head.settled)
    ? xact
    : undefined
}

const HEAD = sql`f.epoch, f.secret, f.first::text as first, f.cluster = current_cluster() as same,
  pg_snapshot_xmin(pg_current_snapshot())::text as settled`

/** How the feed stands at this moment. @throws Problem 404 when there is none, 503 while it is set up anew */
export async function headOf({ reader }: Pick<Viewer, 'reader'>): Promise<Head> {
  const { rows } = await sql<Head>`select ${HEAD} from feed f`.execute(reader.db)
  return requireHead(rows[0])
}

function requireHead(head: Head | undefined): Head {
  if (!head) throw notFound('Hier worden geen wijzigingen bijgehouden: FEED_DAYS is 0.')
  if (!head.same || BigInt(head.settled) <= BigInt(head.first)) throw notYet()
  return head
}

/** The position of who has seen all that had ended at this moment. */
export const placeNow = (viewer: Viewer, feed: Feed, head: Head): string =>
  sealPlace(head, rightsPrint(viewer.actor, feed), String(BigInt(head.settled) - 1n))

/** `goesOn`: the transaction has more rows than these, which are read as it is told. */
export type Delta = { id: string; rows: Row[]; goesOn: boolean }
/** `start` is the position that was asked for, or that of the oldest that is kept. */
export type Page = { start: string; position: string; deltas: Delta[]; isEnd: boolean }

/** Rows that are read at once: some of a transaction, most of which have a few; one that changed a million is told part by part. */
const ROWS_PER_DELTA = 6
export const MOST_ROWS = 2000

/**
 * The next deltas after a position, without their states.
 * @param after as `position` or the id of a delta; undefined: the oldest that is kept
 * @throws Problem 410 when the position is not known (any more), 404 without a feed, 503 while it is set up anew; Rewound
 */
export async function readPage(viewer: Viewer, feed: Feed, after: string | undefined, limit: number): Promise<Page> {
  const rights = rightsPrint(viewer.actor, feed)
  const most = Math.min(MOST_ROWS, limit * ROWS_PER_DELTA + 100)
  const before = await headOf(viewer)
  const { head, rows } = await readRows(viewer, feed, { xact: startOf(after, before, rights), most })
  const start = startOf(after, head, rights) // by how it stood when they were read
  let isEnd = rows.length < most
  let goesOn = false
  if (!isEnd) {
    // The last transaction may go on. When it is the only one it is told from here on; else it waits.
    const last = lastOf(rows)
    if (expected(rows[0]).xact !== last.xact) rows.splice(rows.findIndex(({ xact }) => xact === last.xact))
    else {
      const room = MOST_ROWS - rows.length
      const more = room > 0 ? await readWithin(viewer, feed, last, room) : []
      rows.push(...more)
      goesOn = more.length === room
    }
  }
  const place = (xact: string) => sealPlace(head, rights, xact)
  const groups = [...Map.groupBy(rows, ({ xact }) => xact)]
  if (groups.length > limit) isEnd = false
  const deltas = groups.slice(0, limit).map(([xact, rows]) => ({ id: place(xact), rows, goesOn }))
  const end = isEnd ? String(BigInt(head.settled) - 1n) : (groups[deltas.length - 1]?.[0] ?? start)
  return { start: place(start), position: place(end), deltas, isEnd }
}

/** The transaction after which deltas are read. @throws Problem 410, Rewound */
function startOf(after: string | undefined, head: Head, rights: string): string {
  if (after === undefined) return head.first
  const xact = openPlace(head, rights, after)
  if (xact === undefined || BigInt(xact) < BigInt(head.first)) throw expired()
  if (BigInt(xact) >= BigInt(head.settled)) throw new Rewound(head.epoch)
  return xact
}

/** The position from which a reader goes on: `start` of the page that comes next. @throws as `readPage` */
export async function readStart(viewer: Viewer, feed: Feed, after: string | undefined): Promise<string> {
  const rights = rightsPrint(viewer.actor, feed)
  const head = await headOf(viewer)
  return sealPlace(head, rights, startOf(after, head, rights))
}

/**
 * Rows after a transaction, or within one after a row, with how the feed stood at that very moment. They come as JSON: the driver
 * takes longer over the values one by one.
 */
async function readRows(
  { reader, actor }: Viewer,
  feed: Feed,
  { xact, most, within }: { xact: string; most: number; within?: number },
): Promise<{ head: Head; rows: Row[] }> {
  const from = sql`${xact}::text::xid8`
  const { rows } = await sql<Head & { rows: string | null }>`
    select ${HEAD}, (select json_agg(json_build_array(c.xact::text, c.id, c.resource, c.uuid, c.row_id, c.main_id, c.operation,
        c.type_id is not null or c.type_url is not null, ${feed.reached(actor)}))::text from (
      select * from change c where c.component = ${feed.component} and ${sql.raw(isSettled('c.xact'))}
        and ${within === undefined ? sql`c.xact > ${from}` : sql`c.xact = ${from} and c.id > ${within}`}
      order by c.xact, c.id limit ${sql.lit(most)}) c) as rows
    from feed f`.execute(reader.db)
  const head = requireHead(rows[0])
  const found = JSON.parse(rows[0]?.rows ?? '[]') as [
    string,
    number,
    string,
    string,
    number,
    number | null,
    Row['operation'],
    boolean,
    boolean,
  ][]
  return {
    head,
    rows: found.map(([xact, id, resource, uuid, rowId, mainId, operation, isKnown, wasReached]) => ({
      xact,
      id,
      resource,
      uuid,
      rowId,
      mainId,
      operation,
      isKnown,
      wasReached,
    })),
  }
}

/** Rows of a transaction after one of them. @throws Problem 410 when it was removed meanwhile */
export async function readWithin(viewer: Viewer, feed: Feed, { xact, id }: Row, most: number): Promise<Row[]> {
  const { head, rows } = await readRows(viewer, feed, { xact, most, within: id })
  if (BigInt(head.first) >= BigInt(xact)) throw expired()
  return rows
}
