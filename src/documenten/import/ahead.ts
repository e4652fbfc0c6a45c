// Batches are written in the order of the file, by the one job of the import (batch.ts). Preparing them takes the most time, and any
// worker may do that before it is their turn. Who does so has a claim: a row in `import_ahead`.
//
//   claim     inserted, or taken over from an owner who gave no sign of life; `content` is empty. It says in which store and below
//             which key the files come: whoever takes it over removes what is there
//   prepare   rows judged and files copied, with a sign of life every second
//   store     `content` is filled; when the claim is gone, the files are removed
//   write     the transaction of the batch deletes the claim: who deletes it owns the files
//
// The job of a batch whose claim is not ready waits for it, and takes it over when its owner has gone silent. Claims follow upon each
// other without gaps, so that batches begin where claims do. One whose owner died stays until the job comes to it: a row that kills
// its worker has to do so during its own job, which counts the crashes, and helpers leave it alone meanwhile.
//
// Workers may have different settings for a while, such as another DOCUMENTEN_API_BACKEND. What was copied to a store that this process
// has too is written with the name of that store. What lies in another is not known here: its claim is given up, and the batch
// prepared again.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { one } from '../../database/rows.ts'
import type { Candidate } from './judge.ts'
import {
  type ActiveImport,
  activeImport,
  type BatchParts,
  discard,
  discardAll,
  FIRST_ROW,
  NoSpace,
  newPlace,
  type Place,
  type Prepared,
  prepare,
  storeOf,
} from './prepare.ts'
import { rowsOf } from './rows.ts'
import { withSmallHeap } from './small-heap.ts'

/** Batches that one process prepares, or has prepared and not seen written: what it may hold in memory. */
const HELD = 3
/** A batch ends with the row that fills it to this size: a record may be a thousand times as large as most. */
const BATCH_BYTES = 4 * 1024 * 1024
const LOOK_MS = 50
const BEAT_MS = 1_000
const SILENT = '4 seconds'
// Longer ago its files may be about to be swept away: the import was paused, or the database comes from a backup.
const EXPIRED = '10 minutes'

export type Claimed = { claim: string; prepared: Prepared }
type Claim = { claim: string; place: Place }
/** The place of a claim that somebody else had; empty when a program of before 1.1.0 did. */
type LeftPlace = { [Name in keyof Place]: Place[Name] | null }
/** How `content` holds what was prepared. */
type Stored = { faults: [number, string][]; candidates: Candidate[] }
type Held = { claim: string; importId: number; start: number; ready: Promise<Claimed>; done: boolean }

export type Ahead = {
  /** What was prepared for the batch behind the first `start` rows: here, by another worker, or now. */
  take(row: ActiveImport, start: number): Promise<Claimed>
  /** A batch was written, or cannot be: this process forgets it, and has room for another. */
  forget(claim: string): void
  /** Gives up a claim for good, and removes its files, unless somebody else has it now. */
  drop(claimed: Claimed): Promise<void>
  /** Keeps the batch behind the first `start` rows from helpers; how many rows it has. */
  reserve(row: ActiveImport, start: number): Promise<number>
  /** Does work while this process prepares nothing else. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Helps with the import that runs, if there is one, and removes what others left behind. To be called now and then. */
  look(): Promise<void>
  stop(): Promise<void>
}

/**
 * Ends a claim in the transaction that writes its batch, which owns the files from then on.
 * @returns false when somebody else has it now, or its files may be gone
 */
export async function endClaim(connection: postgres.TransactionSql, id: number, claim: string): Promise<boolean> {
  const ended = await connection<{ claim: string }[]>`
    delete from import_ahead
    where import_id = ${id} and claim = ${claim} and seen_at > now() - ${EXPIRED}::interval returning claim`
  return ended.length > 0
}

/** What prepares batches ahead in this process: rows are judged and files copied before their turn to be written. */
export function openAhead(parts: BatchParts): Ahead {
  const { database, log } = parts
  const held = new Map<string, Held>()
  let helping: Promise<void> | undefined
  let beating: NodeJS.Timeout | undefined
  let wake = Promise.withResolvers<void>()
  let stopped = false
  let alone = 0

  /** Prepares what was claimed, and stores it. */
  function hold(row: ActiveImport, { claim, place }: Claim, { start, rows }: { start: number; rows: number }): Held {
    const work = async (): Promise<Claimed> => {
      let prepared: Prepared = { rows, faults: new Map(), candidates: [], place }
      try {
        prepared = await prepare(parts, row, { start, rows, place, holds: (bytes) => holdBytes(claim, place, bytes) })
        const content: Stored = { faults: [...prepared.faults], candidates: prepared.candidates }
        const stored = await database.sql<{ start: number }[]>`
          update import_ahead set content = ${JSON.stringify(content)}::text::json, seen_at = now()
          where claim = ${claim} returning start`
        if (stored.length === 0) await discard(parts, prepared)
        item.done = true
        return { claim, prepared }
      } catch (error) {
        // It goes silent when this fails, and whoever takes it over removes its files.
        await drop({ claim, prepared }).catch(() => {})
        throw error
      }
    }
    const item: Held = { claim, importId: row.id, start, ready: Promise.resolve().then(work), done: false }
    item.ready.catch(() => {}) // whoever takes it sees the failure
    held.set(claim, item)
    beating ??= setInterval(() => void beat(), BEAT_MS).unref()
    return item
  }

  /** Says how many bytes a claim is going to copy. @returns those of all others that have not been copied yet */
  async function holdBytes(claim: string, { store }: Place, bytes: number): Promise<number> {
    await database.sql`update import_ahead set bytes = ${bytes} where claim = ${claim}`
    const [others] = await database.sql<{ bytes: number }[]>`
      select coalesce(sum(bytes), 0)::float8 as bytes from import_ahead
      where store = ${store} and claim <> ${claim} and content is null and seen_at > now() - ${SILENT}::interval`
    return others?.bytes ?? 0
  }

  async function beat(): Promise<void> {
    const claims = [...held.values()].filter(({ done }) => !done).map(({ claim }) => claim)
    if (claims.length > 0)
      await database.sql`update import_ahead set seen_at = now() where claim = any(${claims}::uuid[])`.catch(() => {})
    else if (held.size === 0) {
      clearInterval(beating)
      beating = undefined
    }
  }

  /** A batch that does not fit on the disk is cut where it does. */
  async function take(row: ActiveImport, start: number): Promise<Claimed> {
    try {
      return await takeBatch(row, start)
    } catch (error) {
      if (!(error instanceof NoSpace) || error.fitting === 0) throw error
      return takeBatch({ ...row, batchSize: error.fitting }, start)
    }
  }

  async function takeBatch(row: ActiveImport, start: number): Promise<Claimed> {
    for (;;) {
      const own = [...held.values()].find((item) => item.importId === row.id && item.start === start)
      if (own) return own.ready
      const claim = newClaim()
      const rows = await claimAt(row, start, claim)
      if (rows !== undefined) return hold(row, claim, { start, rows }).ready
      const ready = await readStored(row, start)
      if (ready && storeOf(parts.storeFor, ready.prepared.place)) return ready
      if (ready) {
        log.info(
          { import: row.uuid, start },
          'a batch lies in a store that this process does not have: it is prepared again',
        )
        await drop(ready)
      } else await sleep(LOOK_MS / 2)
    }
  }

  function newClaim(): Claim {
    const claim = randomUUID()
    return { claim, place: newPlace(parts, claim) }
  }

  const placeColumns = ({ backend, store, directory }: Place) => database.sql`${backend}, ${store}, ${directory}`

  /** How many rows were claimed; undefined when somebody else has them. */
  async function claimAt(row: ActiveImport, start: number, own: Claim): Promise<number | undefined> {
    const { id } = row
    const { claim, place } = own
    const [claimed] = await database.sql<(LeftPlace & { rows: number; crooked: LeftPlace[] })[]>`
      with before as (
        select backend, store, directory from import_ahead where import_id = ${id} and start = ${start}
      ), size as (${countRows(row, database.sql`${start}::int`)}), crooked as (
        -- Claims that begin or end elsewhere, as when a batch was cut.
        delete from import_ahead v using size o
        where v.import_id = ${id} and v.start <> ${start} and v.start < ${start} + o.rows and v.start + v.rows > ${start}
        returning v.backend, v.store, v.directory
      )
      insert into import_ahead (import_id, start, rows, claim, backend, store, directory)
      select ${id}::bigint, ${start}::int, rows, ${claim}::uuid, ${placeColumns(place)} from size
      on conflict (import_id, start) do update set claim = excluded.claim, rows = excluded.rows, seen_at = excluded.seen_at,
        content = null, bytes = 0, backend = excluded.backend, store = excluded.store, directory = excluded.directory
      where import_ahead.seen_at < excluded.seen_at - case when import_ahead.content is null then ${SILENT} else ${EXPIRED} end::interval
      returning rows, (select backend from before), (select store from before), (select directory from before),
        (select coalesce(json_agg(crooked), '[]') from crooked) as crooked`
    if (claimed) for (const left of [claimed, ...claimed.crooked]) await removeLeft(left)
    return claimed?.rows
  }

  /** Removes what whoever had a claim before copied: nobody else can write it any more. */
  async function removeLeft({ backend, store, directory }: LeftPlace): Promise<void> {
    if (backend !== null && store !== null && directory !== null) await discardAll(parts, { backend, store, directory })
  }

  /** Claims the next rows that nobody has. */
  async function claimNext(row: ActiveImport, { claim, place }: Claim) {
    const { id } = row
    const [claimed] = await database.sql<{ start: number; rows: number }[]>`
      with place as (
        select greatest(i.processed, (select max(v.start + v.rows) from import_ahead v where v.import_id = i.id)) as start
        from import i where i.id = ${id} and i.status = 'active' and i.paused_at is null
      )
      insert into import_ahead (import_id, start, rows, claim, backend, store, directory)
      select ${id}::bigint, start, rows, ${claim}::uuid, ${placeColumns(place)} from place, lateral (${countRows(row, database.sql`start`)}) o where rows > 0
      on conflict do nothing returning start, rows`
    return claimed
  }

  /** How many rows the batch from there has: at most the size of batches, and fewer when they are large. */
  function countRows(row: ActiveImport, start: ReturnType<typeof database.sql>) {
    return database.sql<{ rows: number }[]>`
      select count(*)::int as rows from (
        select sum(bytes) over (order by number) - bytes as before from import_row
        where import_id = ${rowsOf(row)} and number >= ${start} + ${FIRST_ROW}::int and number < ${start} + ${FIRST_ROW + row.batchSize}::int
      ) r where before < ${BATCH_BYTES}`
  }

  async function readStored({ id }: ActiveImport, start: number): Promise<Claimed | undefined> {
    const [row] = await database.sql<(LeftPlace & { claim: string; rows: number; content: unknown })[]>`
      select claim, rows, content, backend, store, directory from import_ahead
      where import_id = ${id} and start = ${start} and content is not null`
    if (!row) return undefined
    const { claim, rows, backend, store, directory } = row
    const { faults, candidates } = row.content as Stored
    // A program of before 1.1.0 prepared it, and does not say where.
    const place = { backend: backend ?? parts.store.backend, store: store ?? '', directory: directory ?? '' }
    return { claim, prepared: { rows, faults: new Map(faults), candidates, place } }
  }

  async function drop({ claim, prepared }: Claimed): Promise<void> {
    held.delete(claim)
    const [dropped] = await database.sql<LeftPlace[]>`
      delete from import_ahead where claim = ${claim} returning backend, store, directory`
    if (!dropped) return
    await discard(parts, prepared)
    await removeLeft(dropped)
  }

  /** Prepares batches of this import as long as it runs and there is room. */
  async function help(uuid: string): Promise<void> {
    while (!stopped && alone === 0 && !parts.isShared?.()) {
      const row = await activeImport(database.db, uuid)
      if (!row) return
      await forgetWritten(row)
      while (held.size < HELD) {
        const claim = newClaim()
        const claimed = await claimNext(row, claim)
        if (!claimed) break
        hold(row, claim, claimed)
      }
      const preparing = [...held.values()].filter(({ done }) => !done).map(({ ready }) => ready)
      await Promise.race([...preparing, wake.promise, sleep(LOOK_MS, undefined, { ref: false })])
    }
  }

  /** Others write what was prepared here. */
  async function forgetWritten({ id }: ActiveImport): Promise<void> {
    if (held.size === 0) return
    const rows = await database.sql<{ claim: string }[]>`select claim from import_ahead where import_id = ${id}`
    const left = new Set(rows.map(({ claim }) => claim))
    for (const { claim, done } of held.values()) if (done && !left.has(claim)) held.delete(claim)
  }

  function startHelping(uuid: string): void {
    if (helping || stopped || alone > 0 || parts.isShared?.()) return
    helping = withSmallHeap(() => help(uuid))
      .catch((error) => log.debug({ import: uuid, err: error }, 'preparing ahead stopped')) // its own batch tells what is wrong
      .then(settle)
      .then(removeAbandoned)
      .catch(() => {})
      .finally(() => {
        helping = undefined
      })
  }

  /** Waits until nothing is being prepared. What is ready need not be kept in memory as well. */
  async function settle(): Promise<void> {
    await Promise.allSettled([...held.values()].map(({ ready }) => ready))
    for (const { claim, done } of held.values()) if (done) held.delete(claim)
  }

  /** Batches that will not be written: of an import that ended, or behind its position. */
  async function removeAbandoned(): Promise<void> {
    const rows = await database.sql<(LeftPlace & { claim: string })[]>`
      delete from import_ahead v using import i
      where i.id = v.import_id and (i.status <> 'active' or v.start + v.rows <= i.processed)
        and (v.content is not null or v.seen_at < now() - ${SILENT}::interval)
      returning v.claim, v.backend, v.store, v.directory`
    for (const row of rows) {
      held.delete(row.claim)
      await removeLeft(row)
    }
  }

  return {
    async take(row, start) {
      const taking = take(row, start)
      if (start + row.batchSize < row.total) startHelping(row.uuid)
      return taking
    },
    forget(claim) {
      held.delete(claim)
      wake.resolve()
      wake = Promise.withResolvers()
    },
    drop,
    async reserve(row, start) {
      const { id } = row
      // In one statement: between two of them a helper would claim it, at every attempt.
      const { rows, before, ...left } = one(
        await database.sql<(LeftPlace & { rows: number; before: string | null })[]>`
          with before as (
            select claim, backend, store, directory from import_ahead where import_id = ${id} and start = ${start}
          ), reserved as (
            insert into import_ahead (import_id, start, rows, claim)
            select ${id}::bigint, ${start}::int, rows, ${randomUUID()}::uuid from (${countRows(row, database.sql`${start}::int`)}) o
            on conflict (import_id, start) do update
              set rows = excluded.rows, claim = excluded.claim, seen_at = excluded.seen_at, content = null,
                backend = null, store = null, directory = null
            returning rows
          )
          select r.rows, b.claim as before, b.backend, b.store, b.directory from reserved r left join before b on true`,
      )
      if (before !== null) {
        held.delete(before)
        await removeLeft(left)
      }
      return rows
    },
    async alone(work) {
      alone++
      try {
        wake.resolve()
        await helping
        await settle()
        return await work()
      } finally {
        alone--
      }
    },
    async look() {
      await removeAbandoned()
      const [open] = await database.sql<{ uuid: string }[]>`
        select uuid from import where status = 'active' and paused_at is null`
      if (open) startHelping(open.uuid)
    },
    async stop() {
      stopped = true
      wake.resolve()
      await helping
      await settle()
      clearInterval(beating)
    },
  }
}
