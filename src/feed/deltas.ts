// Reading a feed: what was changed, a transaction at a time, with the state that each resource has now. A state that is older is not
// kept: whoever reads late gets the newest more than once, and what has gone since only as a delete.
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { reach } from '../core/access.ts'
import type { Actor } from '../core/actor.ts'
import { LIMITS } from '../core/limits.ts'
import { notFound, Problem } from '../core/problem.ts'
import { isSettled } from '../database/position.ts'
import { expected, lastOf } from '../database/rows.ts'
import { relatedTypes } from './catalogi.ts'
import { FEEDS, type Feed, type Loaded, type Viewer } from './kinds.ts'

/** How far a reader is: it has all deltas up to this transaction. */
export type Place = { epoch: string; xact: string; rights: string }

const placeText = ({ epoch, xact, rights }: Place): string => `${epoch}.${xact}.${rights}`

/**
 * What a position is bound to: the rights of its reader in the component. Other rights may show what was passed by without. Of a right
 * on a catalogue the types that it reaches now do not count: a type that comes later has no objects yet.
 */
export function rightsPrint(actor: Actor, { component, scopes }: Feed): string {
  const ready = component === 'drc' && actor.alleenGereedVoorPublicatie
  if (component === 'ztc' || (actor.alleAutorisaties && !ready)) return 'a'
  const rights = actor.alleAutorisaties
    ? ['alles']
    : actor.autorisaties
        .filter((right) => right.component === component && scopes.some((scope) => right.scopes.has(scope)))
        .map(({ whole, typeUuid, typeUrl, max }) => `${whole ?? typeUuid ?? typeUrl} ${max}`)
  return hash('sha256', JSON.stringify([ready, [...new Set(rights)].sort()])).slice(0, 12)
}

type Row = {
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
type Head = { epoch: string; first: string; same: boolean; settled: string }

const expired = () =>
  new Problem(410, {
    detail:
      'Deze positie geldt niet (meer): ze is verlopen, van een andere toestand van de database, of van andere rechten. Begin opnieuw met een momentopname.',
  })
const notYet = () =>
  new Problem(503, { detail: 'De wijzigingen worden opnieuw opgezet.', headers: { 'retry-after': '5' } })

/**
 * What a text of `placeText` says.
 * @throws Problem 410 when it is none, or of other rights
 */
function partsOfPlace(text: string, rights: string): { epoch: string; xact: string } {
  const [, epoch, xact, ofRights] = /^([0-9a-f]{8})\.(\d{1,19})\.(\w{1,12})$/.exec(text) ?? []
  if (epoch === undefined || xact === undefined || ofRights !== rights) throw expired()
  return { epoch, xact }
}

/** What of a position is a number of a transaction, when deltas still follow on it; else undefined. */
export function readPosition(text: string, { epoch, first }: Head): string | undefined {
  const [ofEpoch, xact = ''] = text.split('.')
  return ofEpoch === epoch && BigInt(xact) >= BigInt(first) ? xact : undefined
}

const HEAD = sql`f.epoch, f.first::text as first, f.cluster = current_cluster() as same,
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
  placeText({ epoch: head.epoch, xact: String(BigInt(head.settled) - 1n), rights: rightsPrint(viewer.actor, feed) })

export type Delta = { id: string; rows: Row[] }
/** `start` is the position that was asked for, or that of the oldest that is kept. */
export type Page = { start: string; position: string; deltas: Delta[]; isEnd: boolean }

/** Rows that are read at once: some of a transaction, most of which have a few. */
const ROWS_PER_DELTA = 6
const MOST_ROWS = 5000

/**
 * The next deltas after a position, without their states.
 * @param after as `position` or the id of a delta; undefined: the oldest that is kept
 * @throws Problem 410 when the position is not known (any more), 404 without a feed, 503 while it is set up anew
 */
export async function readPage(viewer: Viewer, feed: Feed, after: string | undefined, limit: number): Promise<Page> {
  const rights = rightsPrint(viewer.actor, feed)
  const most = Math.min(MOST_ROWS, limit * ROWS_PER_DELTA + 100)
  const asked = after === undefined ? undefined : partsOfPlace(after, rights)
  const { head, rows } = await readRows(viewer, feed, { xact: asked?.xact, most })
  if (asked && asked.epoch !== head.epoch) throw expired()
  const start = asked?.xact ?? head.first
  if (BigInt(start) < BigInt(head.first) || BigInt(start) >= BigInt(head.settled)) throw expired()
  let isEnd = rows.length < most
  if (!isEnd) {
    // The last transaction may go on. When it is the only one, the rest of it is read; else it waits.
    const last = lastOf(rows).xact
    if (expected(rows[0]).xact !== last) rows.splice(rows.findIndex(({ xact }) => xact === last))
    else
      for (;;) {
        const more = await readRows(viewer, feed, { xact: last, most: MOST_ROWS, within: lastOf(rows).id })
        if (BigInt(more.head.first) > BigInt(start)) throw expired() // it was removed meanwhile
        if (more.rows.length === 0) break
        rows.push(...more.rows)
      }
  }
  const place = (xact: string) => placeText({ epoch: head.epoch, xact, rights })
  const groups = [...Map.groupBy(rows, ({ xact }) => xact)]
  if (groups.length > limit) isEnd = false
  const deltas = groups.slice(0, limit).map(([xact, rows]) => ({ id: place(xact), rows }))
  const end = isEnd ? String(BigInt(head.settled) - 1n) : (groups[deltas.length - 1]?.[0] ?? start)
  return { start: place(start), position: place(end), deltas, isEnd }
}

/**
 * Rows after a transaction, or within one after a row, with how the feed stood at that very moment. They come as JSON: the driver
 * takes longer over the values one by one.
 */
async function readRows(
  { reader, actor }: Viewer,
  feed: Feed,
  { xact, most, within }: { xact: string | undefined; most: number; within?: number },
): Promise<{ head: Head; rows: Row[] }> {
  const from = xact === undefined ? sql`f.first` : sql`${xact}::text::xid8`
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

// ---- states ----

type Operation = {
  type: 'create' | 'update' | 'delete'
  resource: string
  /** Empty: it is loaded by its key, and told when it is there. */
  uuid: string
  id: number
  mainId: number | null
  /** What rights looked at changed, and whether they reached it before. */
  moved: boolean
  wasReached: boolean
}

/** What happened to each resource in one transaction, and to those whose answer it changes. */
async function operationsOf(viewer: Viewer, feed: Feed, rows: Row[]): Promise<Operation[]> {
  const found = new Map<string, Operation>()
  const key = (resource: string, id: number) => `${resource} ${id}`
  const gone = new Map(
    rows
      .filter(({ resource, operation }) => resource === feed.main && operation === 'delete')
      .map((row) => [row.mainId, row]),
  )
  for (const row of rows) {
    const at = key(row.resource, row.rowId)
    const known = found.get(at)
    // What went with its main object was reached as that was.
    const wasReached =
      row.operation === 'delete' && !row.isKnown ? (gone.get(row.mainId) ?? row).wasReached : row.wasReached
    if (row.operation === 'delete') {
      if (known?.type === 'create') found.delete(at)
      else
        found.set(at, {
          ...of(row),
          type: 'delete',
          moved: false,
          wasReached: known?.moved ? known.wasReached : wasReached,
        })
    } else if (!known) {
      const moved = row.operation === 'update' && row.isKnown
      found.set(at, {
        ...of(row),
        type: row.operation === 'insert' ? 'create' : 'update',
        moved,
        wasReached: moved && wasReached,
      })
    } else if (row.operation === 'update' && row.isKnown && known.type === 'update' && !known.moved)
      Object.assign(known, { moved: true, wasReached })
  }
  const also = (resource: string, id: number) => {
    if (found.has(key(resource, id))) return
    found.set(key(resource, id), {
      type: 'update',
      resource,
      uuid: '',
      id,
      mainId: id,
      moved: false,
      wasReached: false,
    })
  }
  for (const { resource, mainId, operation } of rows)
    if (resource !== feed.main && operation !== 'update' && mainId !== null) also(feed.main, mainId)
  if (feed === FEEDS.catalogi)
    for (const { resource, id } of await relatedTypes(viewer.reader, rows)) also(resource, id)
  return [...found.values()]
}

const of = ({ resource, uuid, rowId, mainId }: Row) => ({ resource, uuid, id: rowId, mainId })

/** States that are told at once, as far as their size is known from those before; and how many characters they are to be. */
const AT_ONCE = 200
const FIRST = 25
const SIZE = LIMITS.portionBytes

/** How many fit next, by the size of those before; it grows by steps. */
export function fitting(loaded: Iterable<Loaded>, before: number): number {
  let count = 0
  let size = 0
  for (const { json } of loaded) {
    count++
    size += json.length
  }
  return Math.max(1, Math.min(AT_ONCE, 4 * before, Math.floor((SIZE * Math.max(1, count)) / Math.max(1, size))))
}

/** States by kind and key, as far as the viewer may read them. */
async function load(viewer: Viewer, feed: Feed, operations: Iterable<Operation>): Promise<Map<string, Loaded>> {
  const wanted = new Map<string, Set<number>>()
  for (const { type, resource, id } of operations)
    if (type !== 'delete') wanted.set(resource, (wanted.get(resource) ?? new Set()).add(id))
  const found = new Map<string, Loaded>()
  for (const [resource, ids] of wanted) {
    const all = [...ids]
    const kind = feed.kinds[resource]
    for (let [from, limit] = [0, kind?.first ?? AT_ONCE]; kind && from < all.length; ) {
      if (from > 0) await viewer.pause?.()
      const loaded = await kind.load(viewer, all.slice(from, from + limit))
      for (const one of loaded) found.set(`${resource} ${one.id}`, one)
      from += limit
      limit = fitting(loaded, limit)
    }
  }
  return found
}

const told = (type: string, resource: string, uuid: string, json?: string) =>
  `{"type":"${type}","resource_type":"${resource}","resource_id":"${uuid}"${json === undefined ? '' : `,"resource":${json}`}}`

/** Rights that leave nothing out see no object come or go by them. */
const seesAll = ({ actor }: Viewer, { component, scopes }: Feed): boolean =>
  component === 'ztc' ||
  (reach(actor, component, scopes) === 'alles' && !(component === 'drc' && actor.alleenGereedVoorPublicatie))

/** All that hangs on a main object now. */
async function partsOf({ reader }: Viewer, feed: Feed, mainId: number) {
  const found: { resource: string; id: number; uuid: string }[] = []
  for (const [resource, { table, main }] of Object.entries(feed.kinds)) {
    if (main === '') continue
    const { rows } = await sql<{ id: number; uuid: string }>`
      select x.id, x.uuid from ${sql.table(table)} x where ${sql.raw(main)} = ${mainId} order by x.id`.execute(
      reader.db,
    )
    for (const row of rows) found.push({ resource, ...row })
  }
  return found
}

/** An operation as JSON, when that needs nothing more than the states: undefined when nothing is to be told. */
function tellOne(
  isRestricted: boolean,
  _feed: Feed,
  { type, resource, uuid, id, moved, wasReached }: Operation,
  states: Map<string, Loaded>,
) {
  const state = states.get(`${resource} ${id}`)
  if (type === 'delete') return wasReached ? told('delete', resource, uuid) : undefined
  if (state) return told(isRestricted && moved && !wasReached ? 'create' : type, resource, state.uuid, state.json)
  return moved && wasReached ? told('delete', resource, uuid) : undefined // out of reach, or gone since
}

/** Whether all that hangs on a main object comes or goes with it. */
const takesParts = (feed: Feed, { type, resource, id, moved, wasReached }: Operation, states: Map<string, Loaded>) =>
  moved && type !== 'delete' && resource === feed.main && states.has(`${resource} ${id}`) !== wasReached

/** The operations of some resources as JSON: none for what the viewer may not read, and never could. */
async function* tell(viewer: Viewer, feed: Feed, operations: Operation[], states: Map<string, Loaded>) {
  const isRestricted = !seesAll(viewer, feed)
  for (const operation of operations) {
    const isWhole = takesParts(feed, operation, states) && isRestricted
    const comes = states.has(`${operation.resource} ${operation.id}`)
    const parts = isWhole ? await partsOf(viewer, feed, operation.id) : []
    if (!comes) for (const part of parts) yield told('delete', part.resource, part.uuid)
    const text = tellOne(isRestricted, feed, operation, states)
    if (text !== undefined) yield text
    if (!comes) continue
    yield* tellMany(
      viewer,
      feed,
      parts.map((part) => ({ ...part, type: 'create', mainId: operation.id, moved: false, wasReached: false })),
    )
  }
}

/** A delta with all its operations as JSON: in pieces when it is large. */
export type ToldDelta = { id: string; json: string | AsyncIterable<string> }

type Prepared = { some: { id: string; operations: Operation[] }[]; states: Map<string, Loaded> | undefined }

/**
 * Deltas with their states, some at a time; the next are read while these are told. A delta of which the viewer may see nothing is
 * left out.
 * @param after of which the first delta says that it follows
 */
export async function* tellDeltas(
  viewer: Viewer,
  feed: Feed,
  deltas: Delta[],
  after: string,
): AsyncGenerator<ToldDelta[]> {
  const isRestricted = !seesAll(viewer, feed)
  let before = after
  let from = 0
  let atOnce = FIRST
  const prepare = async (): Promise<Prepared> => {
    const some: Prepared['some'] = []
    let count = 0
    for (; from < deltas.length && count < atOnce; from++) {
      const { id, rows } = expected(deltas[from])
      const operations = await operationsOf(viewer, feed, rows)
      some.push({ id, operations })
      count += operations.length
    }
    if (count > Math.max(FIRST, 2 * atOnce)) return { some, states: undefined }
    const states = await load(
      viewer,
      feed,
      some.flatMap(({ operations }) => operations),
    )
    atOnce = fitting(states.values(), atOnce)
    return { some, states }
  }
  let next: Promise<Prepared> | undefined = deltas.length > 0 ? prepare() : undefined
  while (next) {
    const { some, states } = await next
    next = from < deltas.length ? prepare() : undefined
    next?.catch(() => {}) // awaited above
    const found: ToldDelta[] = []
    for (const { id, operations } of some) {
      const begin = `{"id":"${id}","prev_id":"${before}","operations":[`
      if (states && !(isRestricted && operations.some((one) => takesParts(feed, one, states)))) {
        const texts = operations.flatMap((one) => tellOne(isRestricted, feed, one, states) ?? [])
        if (texts.length === 0) continue
        found.push({ id, json: `${begin}${texts.join()}]}` })
      } else {
        const pieces = states ? tell(viewer, feed, operations, states) : tellMany(viewer, feed, operations)
        const first = await pieces.next()
        if (first.done) continue
        found.push({ id, json: wholeOf(begin + first.value, pieces) })
      }
      before = id
    }
    yield found
  }
}

/** The same for more than are loaded together. */
async function* tellMany(viewer: Viewer, feed: Feed, operations: Operation[]): AsyncGenerator<string> {
  for (let [from, limit] = [0, FIRST]; from < operations.length; ) {
    const some = operations.slice(from, from + limit)
    const states = await load(viewer, feed, some)
    yield* tell(viewer, feed, some, states)
    from += limit
    limit = fitting(states.values(), limit)
  }
}

async function* wholeOf(begin: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let text = begin
  for await (const piece of pieces) {
    text += `,${piece}`
    if (text.length < PIECE) continue
    yield text
    text = ''
  }
  yield `${text}]}`
}
const PIECE = 64 * 1024
