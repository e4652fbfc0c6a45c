// An organisation goes to another server while it works: logical replication brings its tables over, queue included, and for the
// moment of the switch its requests have to wait. The bytes of its documents stay where they are.
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { type Database, openDatabase } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { schemasOf, withSchema } from '../database/schema.ts'
import { sequencesOf, setSequences, WITHOUT_LIMITS } from '../database/whole-tables.ts'
import { OrganisationRefused } from './refused.ts'

/** How long its requests may wait at the switch. */
const SWITCH_MS = 5_000
const LOOK_MS = 200
/** So far behind (bytes of WAL) the switch can begin. */
const NEAR = 1_000_000

export type Move = {
  rsin: string
  /** Where it is, and the schema of its tables there. */
  from: string
  to: string
  schema: string
  /** The address of the source as the target sees it, when that is another. */
  sourceUrl?: string | undefined
  /** Makes its tables at an address, schema included. */
  make(url: string): Promise<unknown>
  /** Has all processes refuse its requests for a moment, or serves it again where it was. */
  hold(isHeld: boolean): Promise<void>
  /** From now on it is at the target, and is served there. */
  settle(): Promise<void>
  tell(line: string): void
}

export type Moved = {
  tables: number
  /** From the first refused request to the first that is served again, as far as the database goes. */
  heldMs: number
  /** What its schema is called at the source now. */
  left: string
}

/**
 * Moves it. When it fails before the switch, the organisation is served where it was, and nothing of the move is left at the source.
 * @throws OrganisationRefused when the servers cannot do it, or the switch would take too long
 */
export async function moveOrganisation(move: Move): Promise<Moved> {
  const { schema } = move
  const toUrl = withSchema(move.to, schema)
  const source = openDatabase(withSchema(move.from, schema), { max: 3, name: 'move', settings: WITHOUT_LIMITS })
  const target = openDatabase(toUrl, { max: 2, name: 'move', settings: WITHOUT_LIMITS })
  const name = `zaakstroom_move_${move.rsin}`
  const { own, queue } = schemasOf(toUrl)
  const dropTables = async () => {
    for (const schema of [own, queue]) await target.sql`drop schema if exists ${target.sql(schema)} cascade`
  }
  let isSettled = false
  const settle = async () => {
    await move.settle()
    isSettled = true
  }
  try {
    await requireLogical(source.sql)
    // A move that was killed leaves a slot, for which its server keeps all that is written from then on.
    if (await takeAway(source.sql, target.sql, name)) await dropTables()
    await requireNoSchemas(target.sql, [own, queue], 'the target has that schema: drop it, or name another database')
    const left = leftOf(own)
    await requireNoSchemas(
      source.sql,
      [left],
      `the source has schema ${left} of an earlier move: drop it, or rename it`,
    )
    try {
      return await replicate({ ...move, settle }, { source, target, name, schemas: [own, queue] })
    } catch (error) {
      if (!isSettled) await dropTables() // from then on it is served from them
      const { code, message } = error as { code?: string; message: string }
      if (code !== '42501') throw error
      throw new OrganisationRefused(
        `${message}: the role needs REPLICATION at the source, and may make subscriptions at the target`,
      )
    }
  } finally {
    await Promise.all([source.close(), target.close()])
  }
}

/** What its schema is called at the source afterwards; the queue beside it keeps within the 63 bytes of a name. */
const leftOf = (schema: string) => `${schema.slice(0, 50)}_moved`

async function replicate(
  move: Move,
  { source, target, name, schemas }: { source: Database; target: Database; name: string; schemas: string[] },
): Promise<Moved> {
  await move.make(target.url)
  const tables = await replicatedTables(source.sql, schemas)
  await target.sql.begin(async (trx) => {
    for (const table of tables) await trx.unsafe(`alter table ${table} disable trigger user`)
    await trx.unsafe(`truncate ${tables.join(', ')} cascade`) // rows that the migrations made
    for (const table of tables) await trx.unsafe(`alter table ${table} enable trigger user`)
  })
  await move.make(target.url) // triggers of the feed may have been off
  try {
    await source.sql.unsafe(`create publication ${name} for table ${tables.join(', ')}`)
    await source.sql`select pg_create_logical_replication_slot(${name}, 'pgoutput')`
    const connection = (move.sourceUrl ?? move.from).split('?', 1).join().replaceAll("'", "''")
    await target.sql.unsafe(
      `create subscription ${name} connection '${connection}' publication ${name} with (create_slot = false, slot_name = '${name}')`,
    )
    await copied(target.sql, name, tables.length, move.tell)
    await near(source.sql, name)
    return { tables: tables.length, ...(await switchOver(move, { source, target, name, tables })) }
  } finally {
    await takeAway(source.sql, target.sql, name)
  }
}

async function requireLogical(sql: postgres.Sql): Promise<void> {
  const { level } = one(await sql<{ level: string }[]>`select current_setting('wal_level') as level`)
  if (level !== 'logical')
    throw new OrganisationRefused(`wal_level of the source is ${level}: set it to logical, and restart that server`)
}

async function requireNoSchemas(sql: postgres.Sql, schemas: string[], otherwise: string): Promise<void> {
  const found = await sql`select from pg_namespace where nspname = any(${schemas}::text[])`
  if (found.length > 0) throw new OrganisationRefused(otherwise)
}

/** Both schemas whole, but what the migrations made the same on both sides, and what does not outlive a crash either. */
async function replicatedTables(sql: postgres.Sql, schemas: string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[]) and c.relkind = 'r' and c.relpersistence = 'p'
      and c.relname not in ('migration', 'migrations') order by 1`
  return rows.map(({ name }) => name)
}

/** Resolves when the rows of every table are there, and only changes are on their way. */
async function copied(target: postgres.Sql, name: string, all: number, tell: (line: string) => void): Promise<void> {
  let told = -1
  for (;;) {
    const { ready } = one(
      await target<{ ready: number }[]>`
        select count(*)::int as ready from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid
        where s.subname = ${name} and r.srsubstate = 'r'`,
    )
    if (ready !== told) tell(`${ready} of ${all} tables are there`)
    told = ready
    if (ready >= all) return
    await sleep(LOOK_MS)
  }
}

const behind = async (sql: postgres.Sql | postgres.TransactionSql, name: string, at?: string): Promise<number> =>
  one(
    await sql<{ behind: number }[]>`
      select pg_wal_lsn_diff(coalesce(${at ?? null}::text::pg_lsn, pg_current_wal_insert_lsn()), confirmed_flush_lsn)::float8 as behind
      from pg_replication_slots where slot_name = ${name}`,
  ).behind

async function near(sql: postgres.Sql, name: string): Promise<void> {
  while ((await behind(sql, name)) > NEAR) await sleep(LOOK_MS)
}

/** Writing waits at the source until the target has all of it, and then finds no tables there any more. */
async function switchOver(
  move: Move,
  { source, target, name, tables }: { source: Database; target: Database; name: string; tables: string[] },
): Promise<{ heldMs: number; left: string }> {
  const began = performance.now()
  const isLate = () => performance.now() - began > SWITCH_MS
  const { own, queue } = schemasOf(source.url)
  const left = leftOf(own)
  let isSettled = false
  await move.hold(true)
  try {
    await source.sql.begin(async (trx) => {
      await trx`select set_config('lock_timeout', ${`${SWITCH_MS - 1500}ms`}, true)`
      await trx.unsafe(`lock table ${tables.join(', ')} in exclusive mode`)
      const { at } = one(await trx<{ at: string }[]>`select pg_current_wal_insert_lsn()::text as at`)
      while ((await behind(source.sql, name, at)) > 0) {
        if (isLate())
          throw new OrganisationRefused(
            'the target is too far behind: it is served where it was; try again at a quiet moment',
          )
        await sleep(20)
      }
      await setSequences(target.sql, await sequencesOf(trx))
      for (const sequence of await queueSequences(trx, queue))
        await target.sql`select setval(${sequence.name}::text::regclass, ${sequence.value}::text::bigint)`
      await target.sql`select begin_feed() where exists (select from feed)` // positions of another database mean nothing here
      await trx`alter schema ${trx(own)} rename to ${trx(left)}`
      await trx`alter schema ${trx(queue)} rename to ${trx(`${left}_queue`)}`
      await move.settle()
      isSettled = true
    })
  } finally {
    if (!isSettled) await move.hold(false)
  }
  return { heldMs: Math.round(performance.now() - began), left }
}

async function queueSequences(trx: postgres.TransactionSql, queue: string): Promise<{ name: string; value: string }[]> {
  return await trx<{ name: string; value: string }[]>`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as value from pg_sequences
    where schemaname = ${queue} and last_value is not null`
}

/** The subscription, the slot and the publication; whichever there are. @returns whether there was a subscription */
async function takeAway(source: postgres.Sql, target: postgres.Sql, name: string): Promise<boolean> {
  const [subscription] = await target`select from pg_subscription where subname = ${name}`
  if (subscription) {
    await target.unsafe(`alter subscription ${name} disable`)
    await target.unsafe(`alter subscription ${name} set (slot_name = none)`)
    await target.unsafe(`drop subscription ${name}`)
  }
  for (let tries = 0; tries < 50; tries++) {
    const [slot] = await source<{ active: boolean }[]>`
      select active from pg_replication_slots where slot_name = ${name}`
    if (!slot) break
    if (!slot.active) await source`select pg_drop_replication_slot(${name}::name)`
    else await sleep(LOOK_MS)
  }
  await source.unsafe(`drop publication if exists ${name}`)
  return subscription !== undefined
}
