// Does the steps of a takeover, portion by portion. Each portion is one transaction with its position: a crash loses a
// portion that was not committed, and a job that comes back late finds that the position moved on without it.
import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import { jsonOf } from '../database/driver-values.ts'
import { signal } from '../database/listen.ts'
import { lastOf, one } from '../database/rows.ts'
import { copyPool } from '../documenten/import/copy.ts'
import type { Store } from '../documenten/storage/index.ts'
import type { Numbers } from '../lib/numbers.ts'
import { type AddressCounts, type Addresses, addCounts, addresses, adopt } from './addresses.ts'
import { writeApplicaties } from './applicaties.ts'
import { bringContents } from './bytes.ts'
import { countedFindings } from './census.ts'
import { deleteBelow, deleteGone, finish } from './ending.ts'
import { judge, judgeGeometry } from './judge.ts'
import { KINDS, kindOf } from './kinds.ts'
import type { Finding, Portion, Source } from './source.ts'
import {
  findTakeover,
  oldAddresses,
  openSource,
  queueSteps,
  shadowSchema,
  type Takeover,
  type TakeoverParts,
} from './takeover.ts'
import { writeAudit, writeReservations } from './trail.ts'
import { type Sql, type WriteOptions, type Written, writeObjects } from './write.ts'

export type PortionParts = TakeoverParts & { store: Store; log: Logger }
export type StepRow = {
  id: number
  takeover_id: number
  round: number
  phase: number
  name: string
  above: string | null
  until: string | null
  position: string | null
  seen: number
  done_at: string | null
  addresses: AddressCounts
}
type Open = { source: Source; addresses: Addresses; key: string; copy?: ReturnType<typeof copyPool> }
type Done = Partial<Written> & { removed?: number; findings: Finding[]; addresses?: AddressCounts; next: string | null }

/** How long a job goes on with its step before it makes place for another. */
const STRETCH_MS = 10_000
const NOTHING: Written = { seen: 0, written: 0, unchanged: 0, refused: 0 }

/** The sources that this process reads, opened when a step asks for them. */
export function portionRunner(parts: PortionParts) {
  const opened = new Map<number, Promise<Open>>()

  async function open(takeover: Takeover): Promise<Open> {
    // Nearly all that a portion makes is garbage when it is written. V8 would let that grow to four times what is in use.
    setFlagsFromString('--heap-growing-percent=100')
    const key = JSON.stringify([takeover.round, takeover.snapshot, takeover.settings, takeover.source])
    const existing = await opened.get(takeover.id)?.catch(() => undefined)
    if (existing?.key === key) return existing
    const opening = (async () => {
      await existing?.source.close()
      await existing?.copy?.stop()
      const source = await openSource(parts, takeover)
      const { eigenUrl, roots } = takeover.settings
      const copy = openCopy(parts, takeover)
      return {
        ...{ source, key, addresses: addresses(oldAddresses(takeover), eigenUrl, source.suggestedUrls, roots) },
        ...(copy && { copy }),
      }
    })()
    opened.set(takeover.id, opening)
    return opening
  }

  /** Goes on with a step for a while. @returns whether it has to go on later */
  async function runStep(id: number, signal?: AbortSignal): Promise<boolean> {
    const until = performance.now() + STRETCH_MS
    let size: number | undefined
    for (let ahead: { at: string | null; portion: Promise<Portion> } | undefined; ; ) {
      const [step] = await parts.database.sql<StepRow[]>`select * from takeover_step where id = ${id}`
      const takeover = step && (await findTakeover(parts.database, step.takeover_id))
      if (!step || !takeover || step.done_at || step.round !== takeover.round || takeover.status !== 'loopt') {
        ahead?.portion.catch(() => {})
        return false
      }
      if (size !== undefined && sizeOf(step) > size) await analyze(parts.database.sql, takeover, step.name)
      size = sizeOf(step)
      const own = OWN[step.name]
      let work: (sql: Sql) => Promise<Done>
      if (own) work = await own(parts, takeover, step, open)
      else {
        const { source, addresses } = await open(takeover)
        const portion = await (ahead && ahead.at === step.position ? ahead.portion : source.read(step))
        ahead = undefined
        // The next portion is read while this one is written.
        if (portion.next !== null && !portion.writtenFirst) {
          ahead = { at: portion.next, portion: source.read({ ...step, position: portion.next }) }
          ahead.portion.catch(() => {})
        }
        work = (sql) => writePortion(sql, parts, takeover, portion, addresses)
      }
      const finished = await commitPortion(parts, takeover, step, work)
      if (finished) return false
      if (performance.now() > until || signal?.aborted) {
        ahead?.portion.catch(() => {})
        return true
      }
    }
  }

  return {
    runStep,
    async close() {
      const all = [...opened.values()]
      opened.clear()
      for (const opening of all)
        await opening.then(({ source, copy }) => Promise.all([source.close(), copy?.stop()])).catch(() => {})
    },
  }
}

/** From a directory into ours, past no scanner: groups of files, as an import copies them. */
function openCopy({ config, store }: PortionParts, { settings, trial }: Takeover) {
  const { bestanden, bytes } = settings
  if (!bestanden || bytes === 'laten' || trial || store.backend !== 'filesystem' || store.scanner) return undefined
  if (/^(s3|azure):/.test(bestanden)) return undefined
  return copyPool({ baseDir: path.resolve(bestanden), opslagRoot: config.documentenDir })
}

/** 0 for the first rows, and one more each time that there are four times as many. */
const sizeOf = ({ seen }: StepRow): number => Math.max(0, Math.floor(Math.log(Math.max(1, seen) / 500) / Math.log(4)))

/**
 * Lets the planner know that tables are no longer empty. It has plans for them from when they were, which read all of a table for
 * each portion, and autovacuum tells it after minutes: by then there are a million rows.
 */
async function analyze(sql: postgres.Sql, takeover: Takeover, name: string): Promise<void> {
  const kind = KINDS.find((one) => one.name === name)
  if (!kind) return
  const tables = [
    kind.table,
    ...kind.lists.map(({ table }) => table),
    'takeover_object',
    'takeover_file',
    'takeover_content',
  ]
  for (const table of tables)
    await (takeover.trial
      ? sql`analyze (skip_locked) ${sql(shadowSchema(takeover))}.${sql(table)}`
      : sql`analyze (skip_locked) ${sql(table)}`)
}

/** One transaction: what the portion writes, its report, and the position. @returns whether the step has come to its end */
async function commitPortion(
  parts: PortionParts,
  takeover: Takeover,
  step: StepRow,
  work: (sql: Sql) => Promise<Done>,
): Promise<boolean> {
  return parts.database.sql.begin(async (sql) => {
    // The commit need not wait for the disk: when a crash of the server undoes it, the position goes back with it.
    await sql`
      select set_config('statement_timeout', '10min', true), set_config('idle_in_transaction_session_timeout', '10min', true),
        set_config('synchronous_commit', 'off', true),
        set_config('search_path', ${takeover.trial ? `${shadowSchema(takeover)}, ` : ''} || current_setting('search_path'), true)`
    const [current] = await sql<StepRow[]>`select * from takeover_step where id = ${step.id} for update`
    if (!current || current.done_at || current.position !== step.position) return false // another did it: look again
    const done = await work(sql)
    const { seen, written, unchanged, refused } = { ...NOTHING, ...done }
    if (!takeover.trial && seen + (done.removed ?? 0) > 0) await signal(sql, 'zaakstroom_autorisaties')
    await report(sql, takeover, done.findings)
    await sql`
      update takeover_step set position = ${done.next ?? step.position}, done_at = ${done.next === null ? sql`clock_timestamp()` : null},
        begun_at = coalesce(begun_at, now()), updated_at = clock_timestamp(), fault = null, retry_at = null,
        seen = seen + ${seen}, written = written + ${written}, unchanged = unchanged + ${unchanged},
        refused = refused + ${refused}, removed = removed + ${done.removed ?? 0},
        addresses = ${jsonOf(sql, addCounts(current.addresses, done.addresses ?? {}))}
      where id = ${step.id}`
    if (done.next !== null) return false
    const locked = await sql<Takeover[]>`select * from takeover where id = ${takeover.id} for update`
    const [open] = await sql`
      select from takeover_step
      where takeover_id = ${takeover.id} and round = ${step.round} and phase = ${step.phase} and done_at is null limit 1`
    if (!open) await queueSteps(sql, one(locked))
    return true
  }) as Promise<boolean>
}

async function report(sql: Sql, takeover: Takeover, findings: Finding[]): Promise<void> {
  if (findings.length === 0) return
  const rows = new Map<string, object>()
  for (const { field = '', value = '', identificatie = '', ...rest } of findings) {
    const row = { ...rest, field, value, identificatie }
    rows.set(JSON.stringify([row.kind, row.key, row.code, row.field]), row)
  }
  // What has no number of its own is known by that of the case or document that it belongs to.
  await sql`
    insert into takeover_remark (takeover_id, kind, key, outcome, code, field, text, value, identificatie, round)
    select ${takeover.id}, kind, key, outcome, code, field, left(text, 1000), value,
      coalesce(nullif(identificatie, ''),
        (select z.identificatie from zaak z where z.uuid = owner), (select b.identificatie from besluit b where b.uuid = owner),
        (select e.identificatie from enkelvoudiginformatieobject e where e.uuid = owner),
        (select y.identificatie from zaaktype y where y.uuid = owner),
        (select max(m.identificatie) from takeover_remark m where m.takeover_id = ${takeover.id} and m.key = owner::text), ''),
      ${takeover.round}
    from jsonb_to_recordset(${JSON.stringify([...rows.values()])}::text::jsonb)
      as r(kind text, key text, outcome text, code text, field text, text text, value text, identificatie text, owner uuid)
    on conflict (takeover_id, kind, key, code, field) do update set outcome = excluded.outcome,
      text = excluded.text, value = excluded.value, identificatie = excluded.identificatie, round = excluded.round`
}

const optionsOf = ({ id, round, settings }: Takeover, numbers: Numbers): WriteOptions => ({
  numbers,
  overneming: id,
  round,
  base: settings.eigenUrl,
  judge,
})

async function writePortion(
  sql: Sql,
  parts: PortionParts,
  takeover: Takeover,
  portion: Portion,
  known: Addresses,
  last = false,
): Promise<Done> {
  const addresses = known.counted()
  const { settings } = takeover
  const findings: Finding[] = [...(portion.faults ?? [])]
  const options = { ...optionsOf(takeover, parts.box.numbers), last }
  const adopted = portion.objects.map(({ kind, object }) => ({
    kind,
    object: judgeGeometry(kind, adopt(kindOf(kind), object, addresses), findings, settings.rd),
  }))
  const counts: Written = await writeObjects(sql, adopted, options, findings)
  const add = (more: Written) => {
    for (const name of Object.keys(counts) as (keyof Written)[]) counts[name] += more[name]
  }
  if (portion.complete) await deleteBelow(sql, portion.complete, adopted)
  if (portion.applicaties)
    add(
      await writeApplicaties(
        sql,
        parts.box,
        portion.applicaties,
        { ...options, addresses, apart: settings.samenvoegen === true && settings.clients !== 'samen' },
        findings,
      ),
    )
  if (portion.reserveringen) add(await writeReservations(sql, portion.reserveringen))
  if (portion.audit) add(await writeAudit(sql, takeover.id, portion.audit, addresses, parts.box.numbers, findings))
  return { ...counts, findings, addresses: addresses.counts, next: portion.next }
}

// ---- steps of our own ----

/** First does what needs no transaction. The function that it returns writes, in the transaction of the portion. */
type OwnStep = (
  parts: PortionParts,
  takeover: Takeover,
  step: StepRow,
  open: (takeover: Takeover) => Promise<Open>,
) => Promise<(sql: Sql) => Promise<Done>>

const PUT_OFF = 1000

const OWN: Record<string, OwnStep> = {
  /** Objects that referred to one that came later. They are tried again as long as some of them can be written. */
  async uitstel(parts, takeover, step) {
    const [pass, after, progress, end] = (step.position ?? '0:0:0:0').split(':').map(Number) as [
      number,
      number,
      number,
      number,
    ]
    return async (sql) => {
      // An object that cannot be written yet is put off once more, behind the end of this pass.
      const highest = await sql<{ id: number }[]>`
        select coalesce(max(id), 0)::bigint as id from takeover_postponed where takeover_id = ${takeover.id}`
      const until = end || one(highest).id
      const rows = await sql<{ id: number; kind: string; object: never }[]>`
        select id, kind, object from takeover_postponed
        where takeover_id = ${takeover.id} and id > ${after} and id <= ${until} order by id limit ${PUT_OFF}`
      if (rows.length === 0) {
        if (pass === 1) return { findings: [], next: null }
        return { findings: [], next: `${progress > 0 ? 0 : 1}:0:0:0` }
      }
      const findings: Finding[] = []
      await sql`delete from takeover_postponed where id = any(${rows.map(({ id }) => id)})`
      const counts = await writeObjects(
        sql,
        rows.map(({ kind, object }) => ({ kind, object })),
        { ...optionsOf(takeover, parts.box.numbers), last: pass === 1 },
        findings,
      )
      return {
        ...counts,
        findings,
        next: `${pass}:${lastOf(rows).id}:${progress + counts.written + counts.unchanged}:${until}`,
      }
    }
  },
  async verdwenen(parts, takeover, step, open) {
    const { source } = await open(takeover)
    return deleteGone(parts.database.sql, takeover, source, step.position)
  },
  async bestanden(parts, takeover, step, open) {
    const { source, copy } = await open(takeover)
    return bringContents(parts.database.sql, parts.store, takeover, step, source.contents, copy?.copyFiles)
  },
  async telling(parts, takeover, _step, open) {
    const { source } = await open(takeover)
    const findings = await countedFindings(parts.database.sql, source, takeover)
    return async (sql) => {
      await sql`delete from takeover_remark where takeover_id = ${takeover.id} and code = 'telling-anders'`
      return { findings, next: null }
    }
  },
  async afronden(parts, takeover) {
    return (sql) => finish(sql, parts, takeover)
  },
}
