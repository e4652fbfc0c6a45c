// Sends lines of the log of processing to the collector of the organisation: the oldest first, a portion at a time, by one process. It holds
// a lease meanwhile, and no transaction: the collector may be slow. A line leaves the spool when the collector has confirmed it. What is
// sent again, after a crash in between, has the same trace and span ids, by which a collector knows it.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { logOptionsOf } from '../core/verwerkingen.ts'
import type { Database } from '../database/database.ts'
import { verwerkingenAside, verwerkingenExported, verwerkingenFailures } from '../telemetry/metrics.ts'
import { openRepeats } from '../telemetry/repeats.ts'
import { type Aside, CollectorAway, type Line, openCollector, type Send } from './collector.ts'

type Sql = Database['sql']

const PORTION = 500
/** Bytes of lines that are read at once, but for a single line that is larger. */
const PORTION_BYTES = 1_000_000
const IDLE_MS = 1000
const MOST_WAIT_MS = 60_000
/** After so long another process goes on with what a process that ended was sending. It is taken anew before each request. */
const LEASE_SECONDS = 30
/** So often the spool is looked at from its beginning: after a restore there are lines before what was delivered. */
const WHOLE_MS = 60_000

/**
 * Where a process that sends begins: after what it saw delivered, since ranges of before are dead rows at most.
 * `wholeAt`: when it last began with the first, by performance.now().
 */
export type Delivered = { until: number; wholeAt?: number }

/** Another process sends by now, since this one stood still for longer than its lease: that says nothing of the collector. */
class LeaseLost extends Error {}

/**
 * Sends one portion, unless another process does.
 * @param delivered the line up to which all is delivered, as far as this process saw; it moves that
 * @returns how many lines left the spool
 * @throws CollectorAway when the collector took none of them
 */
export async function exportPortion(
  { sql }: Pick<Database, 'sql'>,
  send: Send,
  delivered: Delivered = { until: 0 },
): Promise<number> {
  const holder = randomUUID()
  if (!(await takeLease(sql, holder))) return 0
  try {
    if (performance.now() - (delivered.wholeAt ?? 0) >= WHOLE_MS)
      Object.assign(delivered, { until: 0, wholeAt: performance.now() })
    const after = delivered.until
    const { ranges, newest } = await nextRanges(sql, after)
    const lines = await readLines(sql, ranges)
    const end = lines.isCut ? lines.at(-1)?.id : ranges.at(-1)?.last
    if (end === undefined) {
      delivered.until = newest < after ? 0 : newest // there was a restore
      return 0
    }
    const beat = async () => {
      if (!(await takeLease(sql, holder))) throw new LeaseLost()
    }
    const aside = lines.length > 0 ? await send(lines, beat) : []
    await leaveSpool(sql, holder, after, end, aside)
    delivered.until = end
    return lines.length
  } catch (error) {
    if (error instanceof LeaseLost) return 0
    throw error
  } finally {
    await sql`delete from verwerking_lease where holder = ${holder}::uuid`
  }
}

/** Takes the lease, or takes it anew. @returns whether it is held */
async function takeLease(sql: Sql, holder: string): Promise<boolean> {
  const rows = await sql`
    insert into verwerking_lease as l (holder, until) values (${holder}::uuid, clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (id) do update set holder = excluded.holder, until = excluded.until
      where l.holder = excluded.holder or l.until < excluded.until - make_interval(secs => ${LEASE_SECONDS})
    returning 1`
  return rows.length > 0
}

type Range = { first: number; last: number }

/** The oldest lines that wait, as many as go at once, and the newest line there is. After a restore it may be older than what was delivered. */
async function nextRanges(sql: Sql, after: number): Promise<{ ranges: Range[]; newest: number }> {
  const waiting = await sql<{ first: number | null; last: number | null; newest: number }[]>`
    select first_id as first, last_id as last, newest
    from (select coalesce(max(id), 0) as newest from verwerking) lines
      left join lateral (select first_id, last_id from verwerking_spool where last_id > ${after}::bigint order by last_id limit ${PORTION}) s on true`
  const ranges: Range[] = []
  let room = PORTION
  for (const { first, last } of waiting) {
    if (room <= 0 || first === null || last === null) break
    ranges.push({ first, last: Math.min(last, first + room - 1) })
    room -= last - first + 1
  }
  return { ranges, newest: waiting[0]?.newest ?? after }
}

/** As many of the lines as go at once by their bytes. `isCut`: there are more. */
async function readLines(sql: Sql, ranges: readonly Range[]): Promise<Line[] & { isCut: boolean }> {
  if (ranges.length === 0) return Object.assign([], { isCut: false })
  const rows = await sql<(Line & { more: boolean })[]>`
    select id, at, ms, activiteit, handeling, client_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, zaken, objecten,
      betrokkenen::text as betrokkenen, (select array_agg(encode(l, 'hex')) from unnest(lookups) l) as lookups,
      encode(trace_id, 'hex') as trace, encode(parent_span_id, 'hex') as parent, request_id, last > max(id) over () as more
    from (
      select v.*, max(id) over () as last, sum(pg_column_size(v.*)) over (order by id rows between unbounded preceding and 1 preceding) as before
      from unnest(${ranges.map(({ first }) => first)}::bigint[], ${ranges.map(({ last }) => last)}::bigint[]) as r(first_id, last_id)
        cross join lateral (select * from verwerking where id between r.first_id and r.last_id offset 0) v
    ) sized where coalesce(before, 0) < ${PORTION_BYTES} order by id`
  return Object.assign([...rows], { isCut: rows[0]?.more ?? false })
}

/** Takes out of the spool what was confirmed or set aside. Another process that took the lease meanwhile sends it again. */
async function leaveSpool(
  sql: Sql,
  holder: string,
  after: number,
  end: number,
  aside: readonly Aside[],
): Promise<void> {
  await sql.begin(async (trx) => {
    const held = await trx`select 1 from verwerking_lease where holder = ${holder}::uuid for update`
    if (held.length === 0) throw new LeaseLost()
    if (aside.length > 0)
      await trx`
        insert into verwerking_aside (id, reason)
        select * from unnest(${aside.map(({ id }) => id)}::bigint[], ${aside.map(({ reason }) => reason)}::text[]) on conflict do nothing`
    await trx`delete from verwerking_spool where last_id > ${after}::bigint and last_id <= ${end}::bigint`
    await trx`
      update verwerking_spool set first_id = ${end}::bigint + 1
      where last_id = (select last_id from verwerking_spool where last_id > ${end}::bigint order by last_id limit 1) and first_id <= ${end}::bigint`
  })
  verwerkingenAside.inc(aside.length)
}

/** Sends what is spooled, as long as it runs. */
export function startExport(parts: { config: Config; database: Database; log: Logger }): { stop(): Promise<void> } {
  const { config, database, log } = parts
  if (!logOptionsOf(config)?.spools) return { stop: async () => {} }
  const repeats = openRepeats(log)
  const stopped = new AbortController()
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => {})
  const collector = openCollector(config)
  const failed = (error: unknown) => {
    verwerkingenFailures.inc()
    repeats.say('error', { err: error }, 'the collector of the log of processing did not take lines: they wait')
  }
  const run = async () => {
    await collector.check().catch(failed) // a wrong address is told at the start, and not with the first look
    const delivered = { until: 0 }
    for (let failures = 0; !stopped.signal.aborted; ) {
      try {
        const sent = await exportPortion(database, collector.send, delivered)
        failures = 0
        verwerkingenExported.inc(sent)
        if (sent === 0) await pause(IDLE_MS)
      } catch (error) {
        failures++
        failed(error)
        const asked = error instanceof CollectorAway ? error.retryAfterMs : 0
        await pause(Math.max(asked, Math.min(MOST_WAIT_MS, IDLE_MS * 2 ** Math.min(failures, 10))))
      }
    }
  }
  const running = run().catch((error) => log.error({ err: error }, 'the log of processing is not sent'))
  return {
    stop: async () => {
      stopped.abort()
      await running
    },
  }
}
