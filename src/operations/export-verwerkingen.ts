// Sends lines of the log of processing to the collector of the organisation: spans over OTLP/HTTP, one for each person that a line is
// about, never sampled. A line leaves the spool in the transaction that waited for the answer. What is sent again, after a crash in
// between, has the same trace and span ids, by which a collector knows it.
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import { logOptionsOf } from '../core/verwerkingen.ts'
import type { Database } from '../database/database.ts'
import { loadOptional } from '../lib/optional-package.ts'
import { verwerkingenExported, verwerkingenFailures } from '../telemetry/metrics.ts'
import { openRepeats } from '../telemetry/repeats.ts'
import { readHeaders } from '../telemetry/tracing.ts'

const PORTION = 500
const IDLE_MS = 1000
const MOST_WAIT_MS = 60_000
const SEND_MS = 10_000
/** The advisory lock of the one process that sends. */
const SENDER = 7_340_034

export type Line = {
  id: number
  at: string
  ms: number
  activiteit: string
  handeling: string
  client_id: string
  applicatie_weergave: string
  gebruikers_id: string
  gebruikers_weergave: string
  zaken: string[]
  objecten: string[]
  /** JSON as it is stored, with its numbers sealed. */
  betrokkenen: string | null
  lookups: string[] | null
  trace: string
  parent: string | null
  request_id: string
}

/** Gets lines to the collector. @throws when it did not take them all */
export type Send = (lines: readonly Line[]) => Promise<void>

/**
 * Sends one portion, unless another process does.
 * @param delivered the line up to which all is delivered, as far as this process saw; it moves that. Ranges of before are dead rows at most.
 * @returns how many lines it was
 */
export async function exportPortion(
  { sql }: Pick<Database, 'sql'>,
  send: Send,
  delivered = { until: 0 },
): Promise<number> {
  const { count, until } = await sql.begin(async (trx) => {
    const [held] = await trx<
      { held: boolean }[]
    >`select pg_try_advisory_xact_lock(${SENDER}, hashtext(current_schema())) as held`
    if (!held?.held) return { count: 0, until: delivered.until }
    const { ranges, newest } = await nextRanges(trx, delivered.until)
    const end = ranges.at(-1)?.last
    if (end === undefined) return { count: 0, until: newest }
    const lines = await readLines(trx, ranges)
    if (lines.length > 0) await send(lines)
    await trx`delete from verwerking_spool where last_id > ${delivered.until}::bigint and last_id <= ${end}::bigint`
    await trx`
      update verwerking_spool set first_id = ${end}::bigint + 1
      where last_id = (select last_id from verwerking_spool where last_id > ${end}::bigint order by last_id limit 1) and first_id <= ${end}::bigint`
    return { count: lines.length, until: end }
  })
  delivered.until = until
  return count
}

type Range = { first: number; last: number }

/** The oldest lines that wait, as many as go at once, and the newest line there is. */
async function nextRanges(sql: postgres.TransactionSql, after: number): Promise<{ ranges: Range[]; newest: number }> {
  const waiting = await sql<{ first: number | null; last: number | null; newest: number }[]>`
    select first_id as first, last_id as last, newest
    from (select greatest(coalesce(max(id), 0), ${after}::bigint) as newest from verwerking) lines
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

const readLines = (sql: postgres.TransactionSql, ranges: readonly Range[]) => sql<Line[]>`
  select v.id, at, ms, activiteit, handeling, client_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, zaken, objecten,
    betrokkenen::text as betrokkenen, (select array_agg(encode(l, 'hex')) from unnest(lookups) l) as lookups,
    encode(trace_id, 'hex') as trace, encode(parent_span_id, 'hex') as parent, request_id
  from unnest(${ranges.map(({ first }) => first)}::bigint[], ${ranges.map(({ last }) => last)}::bigint[]) as r(first_id, last_id)
    cross join lateral (select * from verwerking where id between r.first_id and r.last_id offset 0) v order by v.id`

/** Sends what is spooled, as long as it runs. */
export function startExport(parts: { config: Config; database: Database; log: Logger }): { stop(): Promise<void> } {
  const { config, database, log } = parts
  if (!logOptionsOf(config)?.spools) return { stop: async () => {} }
  const repeats = openRepeats(log)
  const stopped = new AbortController()
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => {})
  const run = async () => {
    const collector = await openCollector(config)
    const delivered = { until: 0 }
    for (let failures = 0; !stopped.signal.aborted; ) {
      try {
        const sent = await exportPortion(database, collector.send, delivered)
        failures = 0
        verwerkingenExported.inc(sent)
        if (sent < PORTION) await pause(IDLE_MS)
      } catch (error) {
        failures++
        verwerkingenFailures.inc()
        repeats.say('error', { err: error }, 'the collector of the log of processing did not take lines: they wait')
        await pause(Math.min(MOST_WAIT_MS, IDLE_MS * 2 ** Math.min(failures, 10)))
      }
    }
    await collector.close()
  }
  const running = run().catch((error) => log.error({ err: error }, 'the log of processing is not sent'))
  return {
    stop: async () => {
      stopped.abort()
      await running
    },
  }
}

/** What takes lines: the settings say where it is. */
export async function openCollector(config: Config): Promise<{ send: Send; close(): Promise<void> }> {
  const [api, { resourceFromAttributes }, { OTLPTraceExporter }] = await loadOptional('LOGBOEK_OTLP_ENDPOINT', () =>
    Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]),
  )
  const exporter = new OTLPTraceExporter({
    url: `${(config.logboekEndpoint ?? '').replace(/\/$/, '')}/v1/traces`,
    headers: readHeaders(config.logboekHeaders),
    timeoutMillis: SEND_MS,
  })
  const resource = resourceFromAttributes({
    'service.name': config.otelServiceName,
    'service.version': packageJson.version,
    'service.instance.id': `${hostname()}/${process.pid}`,
  })
  const spanOf = (line: Line, { id, attributes }: ReturnType<typeof personsOf>[number]) => {
    const begin = Date.parse(line.at)
    return {
      name: line.handeling,
      kind: api.SpanKind.INTERNAL,
      spanContext: () => ({ traceId: line.trace, spanId: id, traceFlags: api.TraceFlags.SAMPLED }),
      ...(line.parent && {
        parentSpanContext: {
          traceId: line.trace,
          spanId: line.parent,
          traceFlags: api.TraceFlags.SAMPLED,
          isRemote: true,
        },
      }),
      startTime: hrTime(begin),
      endTime: hrTime(begin + line.ms),
      duration: hrTime(line.ms),
      status: { code: api.SpanStatusCode.UNSET },
      attributes: { ...attributesOf(line), ...attributes },
      links: [],
      events: [],
      ended: true,
      resource,
      instrumentationScope: { name: 'zaakstroom logboek' },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
  }
  return {
    send: (lines) =>
      new Promise((resolve, reject) => {
        const spans = lines.flatMap((line) => personsOf(line).map((person) => spanOf(line, person)))
        exporter.export(spans, ({ code, error }) =>
          code === 0 ? resolve() : reject(error ?? new Error('the collector took nothing')),
        )
      }),
    close: () => exporter.shutdown().catch(() => {}),
  }
}

const hrTime = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]

/** What the register of each number is called. */
const ID_TYPES: Record<string, string> = {
  inpBsn: 'BSN',
  identifier: 'BSN',
  anpIdentificatie: 'ANP',
  inpA_nummer: 'A-nummer',
}

/** A span for each person, and one where there is none. The id is the same each time that the line is sent. */
function personsOf({ id, betrokkenen, lookups }: Line) {
  const persons: (Record<string, string> | undefined)[] = betrokkenen ? JSON.parse(betrokkenen) : [undefined]
  return persons.map((person, place) => {
    const [found] = Object.entries(person ?? {})
    const lookup = lookups?.[place]
    return {
      id: createHash('sha256').update(`verwerking ${id} ${place}`).digest('hex').slice(0, 16),
      attributes: {
        ...(found && {
          'dpl.core.data_subject_id': found[1],
          'dpl.core.data_subject_id_type': ID_TYPES[found[0]] ?? found[0],
        }),
        ...(lookup && { 'zaakstroom.data_subject_pseudonym': lookup }),
      },
    }
  })
}

const attributesOf = (line: Line) => ({
  'dpl.core.processing_activity_id': line.activiteit,
  ...(line.parent && { 'dpl.core.foreign_operation.span_id': line.parent }),
  'zaakstroom.handeling': line.handeling,
  'zaakstroom.client_id': line.client_id,
  'zaakstroom.applicatie': line.applicatie_weergave,
  'zaakstroom.user_id': line.gebruikers_id,
  'zaakstroom.user_representation': line.gebruikers_weergave,
  'zaakstroom.zaken': line.zaken,
  'zaakstroom.objecten': line.objecten,
  'zaakstroom.request_id': line.request_id,
})
