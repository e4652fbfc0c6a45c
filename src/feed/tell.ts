// What the transactions of a feed did, told as JSON: the states of now of what changed, and tombstones, in pieces where that is much.
import { sql } from 'kysely'
import { reach } from '../core/access.ts'
import { LIMITS } from '../core/limits.ts'
import { expected, lastOf } from '../database/rows.ts'
import { relatedTypes } from './catalogi.ts'
import { type Delta, MOST_ROWS, type Row, readWithin } from './deltas.ts'
import { FEEDS, type Feed, type Loaded, type Viewer } from './kinds.ts'

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

/**
 * What happened to each resource in one transaction, and to those whose answer it changes. Of a transaction that is told part by part
 * it is what happened in this part: a resource may come again in another.
 */
async function operationsOf(viewer: Viewer, feed: Feed, rows: Row[], isPart: boolean): Promise<Operation[]> {
  const found = new Map<string, Operation>()
  const key = (resource: string, id: number) => `${resource} ${id}`
  const gone = new Map<number | null, Pick<Row, 'mainId' | 'wasReached'>>(
    rows
      .filter(({ resource, operation }) => resource === feed.main && operation === 'delete')
      .map((row) => [row.mainId, row]),
  )
  if (isPart) for (const row of await goneElsewhere(viewer, feed, rows, gone)) gone.set(row.mainId, row)
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

/** Main objects that went in another part of a transaction, of what hung on them: they are told before all of that. */
async function goneElsewhere(
  { reader, actor }: Viewer,
  feed: Feed,
  rows: Row[],
  gone: ReadonlyMap<number | null, unknown>,
): Promise<Pick<Row, 'mainId' | 'wasReached'>[]> {
  const orphans = rows.filter((row) => row.operation === 'delete' && !row.isKnown && !row.wasReached)
  const wanted = [...new Set(orphans.map(({ mainId }) => mainId))].filter((id) => id !== null && !gone.has(id))
  if (wanted.length === 0) return []
  const found = await sql<Pick<Row, 'mainId' | 'wasReached'>>`
    select c.main_id, ${feed.reached(actor)} as was_reached from change c
    where c.component = ${feed.component} and c.xact = ${lastOf(rows).xact}::text::xid8
      and c.resource = ${feed.main} and c.operation = 'delete' and c.main_id = any(${wanted}::bigint[])
    order by c.id limit ${wanted.length}`.execute(reader.db)
  return found.rows
}

const of = ({ resource, uuid, rowId, mainId }: Row) => ({ resource, uuid, id: rowId, mainId })

/** States that are told at once, as far as their size is known from those before; and how many characters they are to be. */
const AT_ONCE = 200
const FIRST = 25
/** How often so much a transaction may be that is not told in pieces. */
const MOST_FULL = 2
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

/** How many of each kind fit in what is told at once, by the size of those before. */
type Fits = Map<string, number>

/** How full what is told at once is with an operation: 1 is all of it. Of a kind that may be large few are taken at first. */
const weightOf = (feed: Feed, fits: Fits, { type, resource }: Operation): number =>
  1 / (type === 'delete' ? AT_ONCE : (fits.get(resource) ?? feed.kinds[resource]?.first ?? FIRST))

/** States by kind and key, as far as the viewer may read them. */
async function load(
  viewer: Viewer,
  feed: Feed,
  operations: Iterable<Operation>,
  fits: Fits,
): Promise<Map<string, Loaded>> {
  const wanted = new Map<string, Set<number>>()
  for (const { type, resource, id } of operations)
    if (type !== 'delete') wanted.set(resource, (wanted.get(resource) ?? new Set()).add(id))
  const found = new Map<string, Loaded>()
  for (const [resource, ids] of wanted) {
    const all = [...ids]
    const kind = feed.kinds[resource]
    for (let [from, limit] = [0, fits.get(resource) ?? kind?.first ?? AT_ONCE]; kind && from < all.length; ) {
      if (from > 0) await viewer.pause?.()
      const some = all.slice(from, from + limit)
      const loaded = await kind.load(viewer, some)
      for (const one of loaded) found.set(`${resource} ${one.id}`, one)
      from += limit
      limit = fitting(loaded, Math.max(some.length, limit / 4)) // few that were small say little: it stays what it was
      fits.set(resource, limit)
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

/** All that hangs on a main object now, some at a time. */
async function* partsOf({ reader }: Viewer, feed: Feed, mainId: number) {
  for (const [resource, { table, main }] of Object.entries(feed.kinds)) {
    for (let after: number | undefined = 0; main !== '' && after !== undefined; ) {
      const found = await sql<{ id: number; uuid: string }>`
        select x.id, x.uuid from ${sql.table(table)} x where ${sql.raw(main)} = ${mainId} and x.id > ${after}
        order by x.id limit ${sql.lit(MOST_ROWS)}`.execute(reader.db)
      yield found.rows.map((row) => ({ resource, ...row }))
      after = found.rows.length === MOST_ROWS ? lastOf(found.rows).id : undefined
    }
  }
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
    const parts = isWhole ? partsOf(viewer, feed, operation.id) : []
    if (!comes)
      for await (const some of parts) for (const { resource, uuid } of some) yield told('delete', resource, uuid)
    const text = tellOne(isRestricted, feed, operation, states)
    if (text !== undefined) yield text
    if (!comes) continue
    for await (const some of parts)
      yield* tellMany(
        viewer,
        feed,
        some.map((part) => ({ ...part, type: 'create', mainId: operation.id, moved: false, wasReached: false })),
      )
  }
}

/** A delta with all its operations as JSON, without its begin: in pieces when it is large. */
export type ToldDelta = { id: string; json: string | AsyncIterable<string> }

/** How a delta begins. @param before the last position that its reader was given, on which it follows */
export const beginOf = ({ id }: ToldDelta, before: string): string => `{"id":"${id}","prev_id":"${before}",`

type Prepared = {
  some: { id: string; operations: Operation[]; last: Row | undefined }[]
  states: Map<string, Loaded> | undefined
}

/**
 * Deltas with their states, some at a time; the next are read while these are told. A delta of which the viewer may see nothing is
 * left out.
 * @param deltas are taken out one by one: what was told is not kept
 */
export async function* tellDeltas(viewer: Viewer, feed: Feed, deltas: Delta[]): AsyncGenerator<ToldDelta[]> {
  const isRestricted = !seesAll(viewer, feed)
  const fits: Fits = new Map()
  const prepare = async (): Promise<Prepared> => {
    const some: Prepared['some'] = []
    let full = 0
    for (let delta = deltas.shift(); delta; delta = full < 1 ? deltas.shift() : undefined) {
      const { id, rows, goesOn } = delta
      const operations = await operationsOf(viewer, feed, rows, goesOn)
      some.push({ id, operations, last: goesOn ? lastOf(rows) : undefined })
      full += goesOn ? MOST_FULL : operations.reduce((sum, one) => sum + weightOf(feed, fits, one), 0)
    }
    if (full >= MOST_FULL) return { some, states: undefined }
    const states = await load(
      viewer,
      feed,
      some.flatMap(({ operations }) => operations),
      fits,
    )
    return { some, states }
  }
  let next: Promise<Prepared> | undefined = deltas.length > 0 ? prepare() : undefined
  while (next) {
    const { some, states } = await next
    next = deltas.length > 0 ? prepare() : undefined
    next?.catch(() => {}) // awaited above
    const found: ToldDelta[] = []
    for (const { id, operations, last } of some) {
      const begin = '"operations":['
      if (states && !(isRestricted && operations.some((one) => takesParts(feed, one, states)))) {
        const texts = operations.flatMap((one) => tellOne(isRestricted, feed, one, states) ?? [])
        if (texts.length === 0) continue
        found.push({ id, json: `${begin}${texts.join()}]}` })
      } else {
        const pieces = states ? tell(viewer, feed, operations, states) : tellAll(viewer, feed, operations, last)
        const first = await pieces.next()
        if (first.done) continue
        found.push({ id, json: wholeOf(begin + first.value, pieces) })
      }
    }
    yield found
  }
}

/** The same for all of a transaction. @param last of the rows that the operations are of, when it goes on after that */
async function* tellAll(viewer: Viewer, feed: Feed, operations: Operation[], last: Row | undefined) {
  yield* tellMany(viewer, feed, operations)
  while (last) {
    await viewer.pause?.()
    const rows = await readWithin(viewer, feed, last, MOST_ROWS)
    last = rows.length === MOST_ROWS ? lastOf(rows) : undefined
    yield* tellMany(viewer, feed, await operationsOf(viewer, feed, rows, true))
  }
}

/** The same for more than are loaded together. */
async function* tellMany(viewer: Viewer, feed: Feed, operations: Operation[]): AsyncGenerator<string> {
  const fits: Fits = new Map()
  for (let [from, to] = [0, 0]; from < operations.length; from = to) {
    let full = 0
    while (full < 1 && to < operations.length) full += weightOf(feed, fits, expected(operations[to++]))
    const some = operations.slice(from, to)
    if (from > 0) await viewer.pause?.()
    yield* tell(viewer, feed, some, await load(viewer, feed, some, fits))
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
