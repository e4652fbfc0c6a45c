// An organisation goes to another server while it works: logical replication brings its tables over, queue included, and for the
// moment of the switch its requests have to wait. The bytes of its documents stay where they are.
//
// The move is noted in the registry before anything of it is made, and until nothing is left of it. The switch is the commit that renames
// its schema at the source: from then on nobody writes there, whatever a process believes. So one that was killed is ended by looking at the
// source: with the new name it is served at the target, and else where it was.
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { type Database, isConflict, isUnavailable, openDatabase } from '../database/database.ts'
import { isLockTimeout } from '../database/error-codes.ts'
import { one } from '../database/rows.ts'
import { queueOf, schemasOf, withoutSchema, withSchema } from '../database/schema.ts'
import { sequencesOf, setSequences, WITHOUT_LIMITS } from '../database/whole-tables.ts'
import { requireDroppable } from './owner.ts'
import { OrganisationRefused } from './refused.ts'

/** How long writing may wait at the switch until all is at the target. What comes then takes less than the rest of five seconds. */
const SWITCH_MS = 3_500
/** Of that, for those who are writing. */
const LOCK_MS = 2_000
/** So often it is tried, and again after so long: an import holds its rows for some seconds. */
const TRIES = 4
const AGAIN_MS = 5_000
const LOOK_MS = 200
/** So far behind (bytes of WAL) the switch can begin. */
const NEAR = 1_000_000
/** So often the target may fail to take rows while nothing goes on for so long: it tries again by itself. */
const FAULTS = 3
const STUCK_MS = 30_000
const OUTCOME_MS = 30_000

/** Which move it is, and what is told of it to everybody. */
type Noted = {
  rsin: string
  /** Where it is, and the schema of its tables there. */
  from: string
  to: string
  schema: string
  /** Has all processes refuse its requests for a moment, or serves it again where it was. */
  hold(isHeld: boolean): Promise<void>
  /** From now on it is served at the target. */
  settle(): Promise<void>
  /** Nothing is left of the move. */
  end(): Promise<void>
  tell(line: string): void
}

export type Move = Noted & {
  /** The address of the source as the target sees it, when that is another. */
  sourceUrl?: string | undefined
  /** Makes its tables at an address, schema included. */
  make(url: string): Promise<unknown>
  /** Notes that it moves, before anything is made. */
  begin(): Promise<void>
}

export type Moved = {
  tables: number
  /** From the first refused request to the first that is served again, as far as the databases go. */
  heldMs: number
  /** What its schema is called at the source now. */
  left: string
}

type Sides = { source: Database; target: Database; name: string; own: string; queue: string; left: string }

/**
 * Moves it. When it fails before the switch, the organisation is served where it was, and nothing of the move is left.
 * @throws OrganisationRefused when the servers cannot do it, or the switch would take too long
 */
export async function moveOrganisation(move: Move): Promise<Moved> {
  return withSides(move, async (sides) => {
    const { source, target, own, queue, left } = sides
    await requireLogical(source.sql)
    await requireNoSchemas(
      target.sql,
      [own, queue],
      (found) => `the target has schema ${found} already: drop what is there, or name another database`,
    )
    await requireNoSchemas(
      source.sql,
      [left, queueOf(left)],
      (found) => `the source has schema ${found} of an earlier move: drop what is there, or rename it`,
    )
    await move.begin()
    let moved: Moved
    try {
      moved = await replicate(move, sides)
    } catch (error) {
      if (error instanceof Unsettled) throw error
      await undo(move, sides).catch(() =>
        move.tell(`What it made is not all taken away: zaakstroom organisation resume ${move.rsin}`),
      )
      throw explained(error)
    }
    try {
      // A connection may have broken since.
      await takeAway(sides).catch(() => takeAway(sides))
      await move.end()
    } catch {
      move.tell(`It has moved, and not all is taken away: zaakstroom organisation resume ${move.rsin}`)
    }
    return moved
  })
}

/** It is at the target, or nobody knows: nothing may be taken away. */
class Unsettled extends OrganisationRefused {}

/**
 * Ends a move that was killed: the organisation is served where its tables are, and nothing else is left.
 * @param isSettled whether it is served at the target already
 * @returns whether it moved
 * @throws OrganisationRefused when its tables are nowhere
 */
export async function endMove(move: Noted, isSettled: boolean): Promise<boolean> {
  return withSides(move, async (sides) => {
    const hasMoved = isSettled || (await hasSwitched(sides))
    if (hasMoved) {
      if (!isSettled) await move.settle()
      await takeAway(sides)
    } else {
      await move.hold(false)
      try {
        await takeAway(sides)
        await dropTables(sides, move.rsin)
      } catch (error) {
        if (!isUnavailable(error)) throw error
        move.tell(
          `The target cannot be reached: drop subscription ${sides.name} and the schemas ${sides.own} and ${sides.queue} there.`,
        )
      }
    }
    await move.end()
    return hasMoved
  })
}

async function withSides<T>({ rsin, from, to, schema }: Noted, work: (sides: Sides) => Promise<T>): Promise<T> {
  const toUrl = withSchema(to, schema)
  const source = openDatabase(withSchema(from, schema), { max: 3, name: 'move', settings: WITHOUT_LIMITS })
  const target = openDatabase(toUrl, { max: 2, name: 'move', settings: WITHOUT_LIMITS })
  const { own, queue } = schemasOf(toUrl)
  try {
    return await work({ source, target, name: `zaakstroom_move_${rsin}`, own, queue, left: leftOf(own) })
  } finally {
    await Promise.all([source.close(), target.close()])
  }
}

/** What its schema is called at the source afterwards; the queue beside it keeps within the 63 bytes of a name. */
const leftOf = (schema: string) => `${schema.slice(0, 50)}_moved`

/** @throws OrganisationRefused when its schema has neither name */
async function hasSwitched({ source, own, left }: Sides): Promise<boolean> {
  const rows = await source.sql<{ name: string }[]>`
    select nspname as name from pg_namespace where nspname = any(${[own, left]}::text[])`
  if (rows.length === 0) throw new OrganisationRefused(`the source has neither schema ${own} nor ${left}`)
  return rows.every(({ name }) => name === left)
}

async function undo(move: Noted, sides: Sides): Promise<void> {
  await move.hold(false) // it may be what failed
  await takeAway(sides)
  await dropTables(sides, move.rsin)
  await move.end()
}

async function dropTables({ target: { sql }, own, queue }: Sides, rsin: string): Promise<void> {
  await requireDroppable(sql, own, rsin)
  for (const schema of [own, queue]) await sql`drop schema if exists ${sql(schema)} cascade`
}

function explained(error: unknown): unknown {
  const { code, message } = error as { code?: string; message: string }
  if (code !== '42501') return error
  return new OrganisationRefused(
    `${message}: the role needs REPLICATION at the source, and may make subscriptions at the target`,
  )
}

async function replicate(move: Move, sides: Sides): Promise<Moved> {
  const { source, target, name, own, queue } = sides
  await move.make(target.url)
  const tables = await replicatedTables(source.sql, [own, queue])
  await target.sql.begin(async (trx) => {
    for (const table of tables) await trx.unsafe(`alter table ${table} disable trigger user`)
    await trx.unsafe(`truncate ${tables.join(', ')} cascade`) // rows that the migrations made
    for (const table of tables) await trx.unsafe(`alter table ${table} enable trigger user`)
  })
  await move.make(target.url) // triggers of the feed may have been off
  await source.sql.unsafe(`create publication ${name} for table ${tables.join(', ')}`)
  await source.sql`select pg_create_logical_replication_slot(${name}, 'pgoutput')`
  const connection = withoutSchema(move.sourceUrl ?? move.from).replaceAll("'", "''")
  await target.sql.unsafe(
    `create subscription ${name} connection '${connection}' publication ${name} with (create_slot = false, slot_name = '${name}')`,
  )
  await copied(sides, tables.length, move.tell)
  for (let tries = 1; ; tries++) {
    const since = await stateOf(sides)
    while ((await behind(source.sql, name)) > NEAR) {
      await requireCopying(sides, since)
      await sleep(LOOK_MS)
    }
    const heldMs = await switchOver(move, sides, tables)
    if (heldMs !== undefined) return { tables: tables.length, heldMs, left: sides.left }
    if (tries === TRIES)
      throw new OrganisationRefused(
        'its tables were in use, or the target too far behind: it is served where it was; try again at a quiet moment',
      )
    move.tell(
      'its tables are in use, or the target is too far behind: it is served where it was, and the switch tried again',
    )
    await sleep(AGAIN_MS)
  }
}

async function requireLogical(sql: postgres.Sql): Promise<void> {
  const { level } = one(await sql<{ level: string }[]>`select current_setting('wal_level') as level`)
  if (level !== 'logical')
    throw new OrganisationRefused(`wal_level of the source is ${level}: set it to logical, and restart that server`)
}

async function requireNoSchemas(
  sql: postgres.Sql,
  schemas: string[],
  otherwise: (found: string) => string,
): Promise<void> {
  const found = await sql<{ name: string }[]>`
    select nspname as name from pg_namespace where nspname = any(${schemas}::text[]) order by 1`
  if (found.length > 0) throw new OrganisationRefused(otherwise(found.map(({ name }) => name).join(' and ')))
}

/** Both schemas whole, but what the migrations made the same on both sides, and what does not outlive a crash either. */
async function replicatedTables(sql: postgres.Sql, schemas: string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[]) and c.relkind = 'r' and c.relpersistence = 'p'
      and c.relname not in ('migration', 'migrations', 'of_organisation') order by 1`
  return rows.map(({ name }) => name)
}

/** Resolves when the rows of every table are there, and only changes are on their way. */
async function copied(sides: Sides, all: number, tell: (line: string) => void): Promise<void> {
  const { sql } = sides.target
  let told = -1
  let since = await stateOf(sides)
  for (;;) {
    const { ready } = one(
      await sql<{ ready: number }[]>`
        select count(*)::int as ready from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid
        where s.subname = ${sides.name} and r.srsubstate = 'r'`,
    )
    if (ready !== told) {
      tell(`${ready} of ${all} tables are there`)
      since = await stateOf(sides)
    }
    told = ready
    if (ready >= all) return
    await requireCopying(sides, since)
    await sleep(LOOK_MS)
  }
}

type Since = { faults: number; at: number }

/** @throws OrganisationRefused when the target fails again and again, as with a full disk; or as a query when the source is away */
async function requireCopying(sides: Sides, since: Since): Promise<void> {
  await behind(sides.source.sql, sides.name)
  const { faults, at } = await stateOf(sides)
  if (faults - since.faults >= FAULTS && at - since.at > STUCK_MS)
    throw new OrganisationRefused('the target fails to take its rows: the log of that server says why')
}

/** How often the target failed to take rows, until now. */
async function stateOf({ target, name }: Sides): Promise<Since> {
  const { faults } = one(
    await target.sql<{ faults: number }[]>`
      select coalesce(sum(apply_error_count + sync_error_count), 0)::int as faults from pg_stat_subscription_stats where subname = ${name}`,
  )
  return { faults, at: performance.now() }
}

/** Bytes of WAL that the target has not confirmed, until now or a position. */
async function behind(sql: postgres.Sql | postgres.TransactionSql, name: string, at?: string): Promise<number> {
  const [slot] = await sql<{ behind: number }[]>`
    select pg_wal_lsn_diff(coalesce(${at ?? null}::text::pg_lsn, pg_current_wal_insert_lsn()), confirmed_flush_lsn)::float8 as behind
    from pg_replication_slots where slot_name = ${name}`
  if (!slot) throw new OrganisationRefused(`the replication slot ${name} of the source is gone`)
  return slot.behind
}

/**
 * Writing waits at the source until the target has all of it, and then finds no tables there any more.
 * @returns for how long; undefined when it would have been too long, and it is served where it was
 */
async function switchOver(move: Move, sides: Sides, tables: string[]): Promise<number | undefined> {
  const { source, target, name, own, queue, left } = sides
  const began = performance.now()
  let pid = 0
  await move.hold(true)
  try {
    await source.sql.begin(async (trx) => {
      const session = await trx<{ pid: number; wait: string }[]>`
        select pg_backend_pid() as pid, set_config('lock_timeout', ${`${LOCK_MS}ms`}, true) as wait`
      pid = one(session).pid
      await trx.unsafe(`lock table ${tables.join(', ')} in exclusive mode`)
      const { at } = one(await trx<{ at: string }[]>`select pg_current_wal_insert_lsn()::text as at`)
      while ((await behind(source.sql, name, at)) > 0) {
        if (performance.now() - began > SWITCH_MS) throw new TooLate()
        await sleep(20)
      }
      await setSequences(target.sql, await sequencesOf(trx))
      for (const sequence of await queueSequences(trx, queue))
        await target.sql`select setval(${sequence.name}::text::regclass, ${sequence.value}::text::bigint)`
      await target.sql`select begin_history()` // positions of another database mean nothing here
      await trx`alter schema ${trx(own)} rename to ${trx(left)}`
      await trx`alter schema ${trx(queue)} rename to ${trx(queueOf(left))}`
    })
  } catch (error) {
    if (!(await isRenamed(sides, pid, move.rsin))) {
      await move.hold(false)
      if (error instanceof TooLate || isLockTimeout(error) || isConflict(error)) return undefined
      throw error
    }
  }
  await settled(move)
  return Math.round(performance.now() - began)
}

class TooLate extends Error {}

/** What became of a commit of which the answer may be lost. @throws Unsettled when that cannot be asked */
async function isRenamed(sides: Sides, pid: number, rsin: string): Promise<boolean> {
  const { sql } = sides.source
  const late = performance.now() + OUTCOME_MS
  for (;;) {
    try {
      const busy = await sql`
        select from pg_stat_activity
        where pid = ${pid} and pid <> pg_backend_pid() and application_name = 'zaakstroom move' and xact_start is not null`
      if (busy.length === 0) return await hasSwitched(sides)
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
    if (performance.now() > late)
      throw new Unsettled(
        `the source cannot be asked whether it moved, and its requests wait: zaakstroom organisation resume ${rsin} when it answers`,
      )
    await sleep(LOOK_MS)
  }
}

/** @throws Unsettled when the registry is away */
async function settled({ rsin, settle }: Move): Promise<void> {
  const late = performance.now() + OUTCOME_MS
  for (;;) {
    try {
      return await settle()
    } catch {
      if (performance.now() > late)
        throw new Unsettled(
          `it is at the target, and the registry cannot be told: zaakstroom organisation resume ${rsin} when that answers`,
        )
      await sleep(LOOK_MS)
    }
  }
}

async function queueSequences(trx: postgres.TransactionSql, queue: string): Promise<{ name: string; value: string }[]> {
  return await trx<{ name: string; value: string }[]>`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as value from pg_sequences
    where schemaname = ${queue} and last_value is not null`
}

/** The subscription, the slot and the publication; whichever there are. What is at the source goes also when the target is away. */
async function takeAway({ source: { sql }, target, name }: Sides): Promise<void> {
  const fault = await unsubscribe(target.sql, name).catch((error: unknown) => ({ error }))
  for (let tries = 0; tries < 50; tries++) {
    const [slot] = await sql<{ pid: number | null }[]>`
      select active_pid as pid from pg_replication_slots where slot_name = ${name}`
    if (!slot) break
    if (slot.pid === null) await sql`select pg_drop_replication_slot(${name}::name)`
    else {
      await sql`select pg_terminate_backend(${slot.pid})`
      await sleep(LOOK_MS)
    }
  }
  await sql.unsafe(`drop publication if exists ${name}`)
  if (fault) throw fault.error
}

async function unsubscribe(sql: postgres.Sql, name: string): Promise<undefined> {
  const [subscription] = await sql`select from pg_subscription where subname = ${name}`
  if (!subscription) return
  await sql.unsafe(`alter subscription ${name} disable`)
  await sql.unsafe(`alter subscription ${name} set (slot_name = none)`)
  await sql.unsafe(`drop subscription ${name}`)
}
