// How fast is a takeover from a database: a generated Open Zaak of so many cases, read and written in rounds.
//
// What counts: a row is an object of any kind with all that is written for it. The kinds of one phase are read side by side and
// share the processors, so the rate is that of the phase. Rows of cases are those of zaak, rol, zaakrelatie, resultaat and
// status; those of documents their metadata with all versions. The server has the memory that a server of production has.
//
// Beside the rate it says where the time went: how busy the processors were with this, with anything else and with nothing, and
// what the backends were seen waiting for. A portion commits without waiting for the disk, so hardly any of it is input or output;
// the rate is that of the processors, and that of a machine that does other things too is lower.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { readConfig } from '../src/config.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { openStores, prepareNewStore } from '../src/documenten/storage/choose.ts'
import { startWorker } from '../src/jobs/worker.ts'
import { portionRunner } from '../src/overnemen/portions.ts'
import { beginRound, progressOf } from '../src/overnemen/round.ts'
import type { Takeover } from '../src/overnemen/takeover.ts'
import { openLog } from '../src/telemetry/log.ts'
import { takeoverStep } from '../tasks/takeover-step.ts'
import { fillOpenZaak } from '../test/overnemen/open-zaak-database.ts'
import { figure } from './figures.ts'

const SERVER = ['shared_buffers=1GB', 'max_wal_size=8GB', 'wal_buffers=64MB']
const FIRST = 'first round'
const CHANGED = 'last round, after 20 changes'
/** Phases of cases, and of the metadata of documents beside them. */
const CASES = /\b(zaak|rol|status)\b/

/**
 * `--zaken 200000`: cases, with a role, one or two statuses and a line of the audit trail each; `--documents`, `--naast`;
 * `--files 5000`: so many documents have 20 KB each in a directory beside ours;
 * `--server postgres://…`: a server that runs already, on which two databases are made and dropped again.
 */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      zaken: { type: 'string', default: '200000' },
      documents: { type: 'string', default: '100000' },
      naast: { type: 'string', default: '2' },
      files: { type: 'string', default: '0' },
      server: { type: 'string' },
    },
  })
  const [zaken, documents, naast] = [Number(values.zaken), Number(values.documents), Number(values.naast)]
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  const server = values.server
    ? { url: values.server, stop: async () => {} }
    : await startEmbedded(join(directory, 'data'), { settings: SERVER })
  const names = { oud: `bench_oud_${process.pid}`, nieuw: `bench_nieuw_${process.pid}` }
  const url = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  const admin = postgres(server.url, { max: 1, onnotice: () => {} })
  try {
    for (const name of Object.values(names)) await admin`create database ${admin(name)}`
    await fillOpenZaak(url(names.oud), { zaken, documents })
    await migrate(url(names.nieuw))
    const config = readConfig({
      DATABASE_URL: url(names.nieuw),
      DATA_DIR: directory,
      SECRET_KEY: 'key of the benchmark, long enough',
      LOG_LEVEL: 'error',
    })
    const log = openLog(config.logLevel)
    const database = openDatabase(url(names.nieuw), { max: naast + 4, name: 'bench' })
    await prepareNewStore(config, database, config.documentenBackend)
    const parts = { config, database, box: secretBox(config.secretKey!), store: openStores(config, log).store, log }
    const runner = portionRunner(parts)
    const worker = await startWorker({
      databaseUrl: url(names.nieuw),
      taskList: { 'takeover-step': takeoverStep({ database, runner }) },
      concurrency: naast,
      log,
    })
    try {
      const files = await writeFiles(join(directory, 'oud'), Number(values.files))
      for (const title of [FIRST, 'second round, nothing changed', CHANGED]) {
        if (title === CHANGED) await change(url(names.oud))
        const [begun, cpu, backends] = [performance.now(), process.cpuUsage(), await backendSeconds(admin, names)]
        let highest = 0
        const [backendsSeen, machine] = [watchBackends(admin, names), processorSeconds()]
        const round = await beginRound(parts, {
          kind: 'open-zaak',
          url: url(names.oud),
          secret: url(names.oud),
          trial: false,
          readOnly: true,
          settings: { oudeUrls: [], bytes: 'kopieren', naast, bestanden: files, wijzigingen: title === CHANGED },
        })
        while ((await round.state()).status === 'loopt') {
          await sleep(50)
          await backendsSeen.look()
          highest = Math.max(highest, process.memoryUsage().rss)
        }
        const steps = await progressOf(parts.database, await round.state())
        const phases = await phasesOf(database, await round.state())
        const [seconds, used] = [(performance.now() - begun) / 1000, process.cpuUsage(cpu)]
        const postgresSeconds = (await backendSeconds(admin, names)) - backends
        await round.release()
        const rows = steps.reduce((sum, { seen: readBack }) => sum + readBack, 0)
        const micros = (seconds: number) => `${Math.round((seconds * 1e6) / rows)} µs`
        console.log(
          `${title}: ${rows} rows in ${seconds.toFixed(1)} s (${Math.round(rows / seconds)} a second), at most ${Math.round(highest / 2 ** 20)} MB; CPU per row ${micros((used.user + used.system) / 1e6)} here and ${micros(postgresSeconds)} in PostgreSQL`,
        )
        const [now, ours] = [processorSeconds(), (used.user + used.system) / 1e6 + postgresSeconds]
        const [busy, idle] = [now.busy - machine.busy, now.idle - machine.idle]
        const share = (seconds: number) => `${Math.round((100 * seconds) / (busy + idle))}%`
        console.log(
          `  processors: ${share(ours)} for this, ${share(busy - ours)} for other work, ${share(idle)} idle; backends: ${backendsSeen.told()}`,
        )
        for (const { names, rows, seconds } of phases)
          console.log(
            `  ${names.padEnd(58)}${String(rows).padStart(8)} rows side by side, ${Math.round(rows / seconds)} a second`,
          )
        const bytes = steps.find(({ name }) => name === 'bestanden')
        if (bytes?.written) console.log(`  files: ${Math.round(bytes.written / (bytes.seconden ?? 1))} a second`)
        if (title === CHANGED) {
          figure(`${title}: seconds`, seconds.toFixed(1), 'less than 60')
          continue
        }
        const ofCases = phases.filter(({ names }) => CASES.test(names))
        const sum = (of: 'rows' | 'seconds') => ofCases.reduce((total, phase) => total + phase[of], 0)
        const aim = title === FIRST ? '5000 or more' : undefined
        figure(`${title}: rows of cases and documents a second`, (sum('rows') / sum('seconds')).toFixed(0), aim)
        figure(`${title}: memory at most`, `${Math.round(highest / 2 ** 20)} MB`, 'below 256 MB')
      }
    } finally {
      await worker.stop()
      await runner.close()
      await database.close()
    }
  } finally {
    for (const name of Object.values(names)) await admin`drop database if exists ${admin(name)} with (force)`
    await admin.end()
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** 20 cases that their users changed a moment ago. */
async function change(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  await sql`update zaken_zaak set omschrijving = 'anders', laatst_gemuteerd = now() where identificatie_ptr_id % 7 = 0 and identificatie_ptr_id <= 140`
  await sql.end()
}

/** @returns the directory; undefined when there are none */
async function writeFiles(directory: string, count: number): Promise<string | undefined> {
  if (count === 0) return undefined
  await mkdir(join(directory, 'uploads/2024/01'), { recursive: true })
  const content = Buffer.alloc(20_000, 'x')
  for (let n = 1; n <= count; n++) await writeFile(join(directory, `uploads/2024/01/${n}.bin`), content)
  return directory
}

/** The phases with many rows: their kinds, and from the first row to the last. */
async function phasesOf({ sql }: Database, { id, round }: Takeover) {
  return sql<{ names: string; rows: number; seconds: number }[]>`
    select string_agg(distinct name, ', ') as names, sum(seen)::bigint as rows,
      extract(epoch from max(done_at) - min(begun_at))::float8 as seconds
    from takeover_step where takeover_id = ${id} and round = ${round} and seen > 1000 group by phase order by phase`
}

/** CPU seconds of the backends of both databases, when the server runs on this machine; connections that ended count no more. */
async function backendSeconds(admin: postgres.Sql, names: Record<string, string>): Promise<number> {
  const rows = await admin<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = any(${Object.values(names)})`
  const ticks = await Promise.all(
    rows.map(async ({ pid }) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return Number(fields[11] ?? 0) + Number(fields[12] ?? 0)
    }),
  )
  return ticks.reduce((sum, one) => sum + one, 0) / 100
}

/** What the backends of both databases are seen doing, again and again: on a processor, or waiting for what. */
function watchBackends(admin: postgres.Sql, names: Record<string, string>) {
  const seen = new Map<string, number>()
  let looks = 0
  return {
    async look() {
      looks++
      const rows = await admin<{ what: string }[]>`
        select case when wait_event_type = 'Client' then 'waiting for this process'
            else coalesce(wait_event_type || ' ' || wait_event, 'on a processor') end as what
        from pg_stat_activity where datname = any(${Object.values(names)}) and state <> 'idle'
          and application_name <> 'zaakstroom overnemen snapshot'`
      for (const { what } of rows) seen.set(what, (seen.get(what) ?? 0) + 1)
    },
    /** How many of them at a time, on average. */
    told: () =>
      [...seen]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 5)
        .map(([what, n]) => `${(n / looks).toFixed(2)} ${what}`)
        .join(', '),
  }
}

/** Seconds that all processors of the machine were busy, and were not. */
function processorSeconds() {
  const all = cpus().map(({ times }) => times)
  const idle = all.reduce((sum, times) => sum + times.idle, 0) / 1000
  const busy = all.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0) / 1000
  return { idle, busy }
}
