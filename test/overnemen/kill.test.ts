// Slow: it kills a takeover in every kind of portion.
// SIGKILL in every kind of portion, during a comparison and in the middle of a file. What goes on afterwards ends with what an
// undisturbed takeover ends with. A gate in the database holds the program where it is to die, so that no moment is guessed.
// It starts and kills programs.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { checkTakeover, type Difference } from '../../src/overnemen/check.ts'
import { PHASES } from '../../src/overnemen/open-zaak/source.ts'
import { beginRound } from '../../src/overnemen/round.ts'
import type { Takeover } from '../../src/overnemen/takeover.ts'
import { SECRET, type TestApp, testApp } from '../app.ts'
import { programEnv } from '../program-env.ts'
import { emptyDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { fillOpenZaak, fillOtherKinds, KIND, OLD, uuidOf } from './open-zaak-database.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const OWN = ['uitstel', 'verdwenen', 'bestanden', 'afronden']
const SIDE_BY_SIDE = 4
/** Tables that tell of programs, their ends and what they note by the clock, and not of what was taken over. */
const BESIDE = [
  'worker',
  'worker_crash',
  'data_key',
  'key_holder',
  'server_life',
  'store_writer',
  'process_setting',
  'poort',
  'migration',
  'periodic_job',
  'clock_setback',
  'growth_figure',
  'queue_figure',
]
const PATIENCE_MS = 120_000
/** Class of the advisory locks of the gates: any number that is none of the program's. */
const GATE = 60_015
// More than a portion of the kinds that there are many of.
const COUNTS = { zaken: 520, documents: 520 }

t.setTimeout(580_000)

type Program = { process: ChildProcess; said(): string; exit: Promise<unknown[]> }

function start(test: TestApp, words: string[], input?: string): Program {
  const child = spawn(process.execPath, [MAIN, ...words], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: programEnv({
      DATABASE_URL: test.databaseUrl,
      DATA_DIR: test.config.dataDir,
      SECRET_KEY: 'key of the tests, long enough',
      LOG_LEVEL: 'warn',
    }),
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text = (text + chunk).slice(-4000)
    })
  child.stdin.on('error', () => {}) // it may end before it reads
  child.stdin.end(input)
  return { process: child, said: () => text, exit: once(child, 'exit') }
}

/** Waits for a condition; when it does not come, with what was going on. */
async function awaited<T>(what: string, { said }: Program, test: TestApp, look: () => Promise<T | undefined>) {
  try {
    return await until(what, look, PATIENCE_MS)
  } catch (error) {
    const steps = await test.database.sql`
      select name, position, fault from takeover_step where done_at is null order by place limit 8`
    const jobs = await test.database.sql`
      select id, attempts, locked_at, run_at, last_error from _private_jobs limit 8`
    throw new Error(
      `${(error as Error).message}\nIt said: ${said()}\nSteps: ${JSON.stringify(steps)}\nJobs: ${JSON.stringify(jobs)}`,
    )
  }
}

async function kill(program: Program): Promise<void> {
  program.process.kill('SIGKILL')
  await program.exit
}

/** Exit code of a program that ends by itself. */
async function codeOf(program: Program): Promise<unknown> {
  const [code] = await Promise.race([program.exit, sleep(PATIENCE_MS, ['still running'], { ref: false })])
  if (code === 'still running') await kill(program)
  if (code !== 0) t.comment(program.said())
  return code
}

/** Gates at the last portion of steps, or at one that goes on from a position: all of its rows are written and not committed. */
async function givenGates(t: Test, { databaseUrl }: TestApp, names: string[]) {
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => {}, types: { bigint: postgres.BigInt } })
  const holder = await sql.reserve()
  t.teardown(async () => {
    holder.release()
    await sql.end({ timeout: 1 })
  })
  await sql.unsafe(`
    create table poort (name text primary key);
    create function wacht_bij_poort() returns trigger language plpgsql as $$ begin
      if exists (select from poort p where p.name = new.name) and (new.done_at is not null
        or case new.name when 'verdwenen' then new.removed > old.removed else old.position is not null end)
      then
        perform set_config('lock_timeout', '0', true);
        perform pg_advisory_xact_lock_shared(${GATE}, hashtext(new.name));
      end if;
      return new;
    end $$;
    create trigger poort before update of position on takeover_step for each row execute function wacht_bij_poort()`)
  async function close(closed: string[]) {
    for (const name of closed) {
      await holder`select pg_advisory_lock(${GATE}, hashtext(${name}))`
      await sql`insert into poort values (${name}) on conflict do nothing`
    }
  }
  await close(names)
  return {
    close,
    /** Kinds that wait at their gate: as many as can run side by side, so that nothing else is on its way. */
    async held(): Promise<string[] | undefined> {
      const waiting = await sql<{ name: string }[]>`
        select p.name from pg_locks l join poort p on (hashtext(p.name)::bigint & 4294967295) = l.objid::bigint
        where l.locktype = 'advisory' and l.classid = ${GATE} and not l.granted
          and l.database = (select oid from pg_database where datname = current_database())`
      const [open] = await sql<{ n: number }[]>`
        select count(*)::int as n from takeover_step s join takeover o on o.id = s.takeover_id
        where s.round = o.round and s.phase = o.phase and s.done_at is null and s.name in (select name from poort)`
      const expected = Math.min(SIDE_BY_SIDE, open!.n)
      return expected > 0 && waiting.length >= expected ? waiting.map(({ name }) => name) : undefined
    },
    async open(names: string[]) {
      await sql`delete from poort where name = any(${names})`
      for (const name of new Set(names)) await holder`select pg_advisory_unlock(${GATE}, hashtext(${name}))`
    },
  }
}

/** What the other workers do within seconds after one died; here there is none, and many die. */
async function freeJobs({ database: { sql } }: TestApp): Promise<void> {
  await sql`update _private_jobs set locked_at = null, locked_by = null`
  await sql`update _private_job_queues set locked_at = null, locked_by = null`
}

async function givenSource(t: Test) {
  const { url } = await emptyDatabase(t)
  await fillOpenZaak(url, COUNTS)
  await fillOtherKinds(url)
  const files = await mkdtemp(join(tmpdir(), 'zaakstroom-oud-'))
  await mkdir(join(files, 'uploads/2024/01'), { recursive: true })
  for (let n = 1; n <= COUNTS.documents; n++)
    await writeFile(join(files, `uploads/2024/01/${n}.bin`), `inhoud ${n}`.padEnd(10, '.'))
  const old = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(async () => {
    await old.end()
    await rm(files, { recursive: true })
  })
  // One that is put off, and refused in the end.
  await old`alter table zaken_rol drop constraint zaken_rol_zaak_id_fkey`
  await old`update zaken_rol set zaak_id = 999999 where id = 520`
  return { url, files, old }
}

async function undisturbed(test: TestApp, { url, files }: { url: string; files: string }): Promise<void> {
  const round = await beginRound(test.parts, {
    ...{ kind: 'open-zaak', url, secret: url, trial: false, readOnly: true },
    settings: { oudeUrls: [OLD], bestanden: files, bytes: 'kopieren', naast: SIDE_BY_SIDE },
  })
  while ((await round.state()).status === 'loopt') await test.runJobs()
  await round.release()
}

/** How many rows each table has, the report and the bytes: what a crash would double or lose. */
async function contentsOf({ database: { sql } }: TestApp) {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE' and not (table_name = any(${BESIDE})) order by 1`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await sql<{ n: number }[]>`select count(*) as n from ${sql(name)}`
    counts[name] = row!.n
  }
  const report = await sql`select kind, key, outcome, code, field from takeover_remark order by 1, 2, 3, 4, 5`
  const steps = await sql`
    select round, name, sum(seen) as seen, sum(written) as written, sum(refused) as refused,
      sum(removed) as removed
    from takeover_step group by round, name order by round, min(place)`
  const [sequences] =
    await sql`select (select last_value from zaak_nummer) as zaak, (select last_value from document_nummer) as document`
  return { counts, report: [...report], steps: [...steps], sequences }
}

async function differences(test: TestApp): Promise<string[]> {
  const [takeover] = await test.database.sql<Takeover[]>`select * from takeover where not trial`
  const found: Difference[] = []
  await checkTakeover(test.parts, takeover!, { files: 10_000, report: (one) => found.push(one) })
  return found.map(({ kind, code, field }) => `${kind} ${code} ${field}`.trim())
}

t.test('killed in every kind of portion, several side by side, it goes on to the same result', async (t) => {
  const source = await givenSource(t)
  const [wild, calm] = [await testApp(t), await testApp(t)]
  await undisturbed(calm, source)
  const words = ['overnemen', 'open-zaak', '--database', source.url, '--bestanden', source.files]
  words.push('--oude-url', OLD, '--naast', String(SIDE_BY_SIDE))
  const gates = await givenGates(t, wild, [...PHASES.flat(), ...OWN])
  const killed: string[] = []
  let atOnce = 0
  let left = new Set([...PHASES.flat(), ...OWN])
  while (left.size > 0) {
    const program = start(wild, words)
    const held = await awaited(`one of ${[...left].join(', ')}`, program, wild, async () => {
      if (program.process.exitCode !== null)
        throw new Error(`it ended with ${program.process.exitCode}: ${program.said()}`)
      return gates.held()
    })
    await kill(program)
    killed.push(...new Set(held))
    atOnce = Math.max(atOnce, held.length)
    left = left.difference(new Set(held))
    await gates.open(held)
    if (left.size > 0 && killed.length > 1) await freeJobs(wild) // after the first, the next program does it
  }
  t.same([...killed].sort(), [...PHASES.flat(), ...OWN].sort(), 'every kind of portion')
  t.equal(atOnce, SIDE_BY_SIDE)

  // The last run was killed too: its snapshot is gone, and a worker of the service ends the round.
  const worker = start(wild, ['worker'])
  t.teardown(() => kill(worker))
  await awaited('the end of the round', worker, wild, async () =>
    (await wild.database.sql`select from takeover where status = 'klaar'`).at(0),
  )
  await kill(worker)
  await freeJobs(wild)
  t.same(await contentsOf(wild), await contentsOf(calm))
  t.same(await differences(wild), await differences(calm))

  // A later round, killed where it writes what changed and where it removes what is gone.
  await source.old`update zaken_zaak set omschrijving = 'anders' where identificatie_ptr_id > 510`
  await source.old`delete from zaken_status where zaak_id = 4`
  await source.old`delete from zaken_klantcontact`
  await undisturbed(calm, source)
  await gates.close(['zaak', 'verdwenen'])
  for (const name of ['zaak', 'verdwenen']) {
    const program = start(wild, [...words, '--alles'])
    const held = await awaited(name, program, wild, gates.held)
    t.same(held, [name])
    await kill(program)
    await gates.open(held)
  }
  const last = start(wild, [...words, '--alles'])
  t.equal(await codeOf(last), 0)
  t.same(await contentsOf(wild), await contentsOf(calm))
  t.same(await differences(wild), await differences(calm))
})

t.test('killed in the middle of a file, it is there once, and whole', async (t) => {
  const { url } = await emptyDatabase(t)
  await fillOpenZaak(url, { zaken: 1, documents: 2 })
  const files = await mkdtemp(join(tmpdir(), 'zaakstroom-oud-'))
  t.teardown(() => rm(files, { recursive: true }))
  await mkdir(join(files, 'uploads/2024/01'), { recursive: true })
  const text = 'inhoud '.repeat(100_000)
  for (const n of [1, 2]) await writeFile(join(files, `uploads/2024/01/${n}.bin`), text)
  const source = await testApp(t)
  await undisturbed(source, { url, files })
  const there = await source.app.listen({ host: '127.0.0.1', port: 0 })
  let stalled = 0
  let stalls = true
  const server = createServer(async (request, response) => {
    const headers = { authorization: request.headers.authorization!, 'accept-crs': 'EPSG:4326' }
    const answer = await fetch(there + request.url, { headers })
    const body = Buffer.from(await answer.arrayBuffer())
    const type = answer.headers.get('content-type') ?? 'application/octet-stream'
    if (!request.url!.includes('/download')) {
      const own = `http://${request.headers.host}`
      return response.writeHead(answer.status, { 'content-type': type }).end(body.toString().replaceAll(there, own))
    }
    response.writeHead(answer.status, { 'content-type': type, 'content-length': body.length })
    if (!stalls) return response.end(body)
    stalled++
    response.write(body.subarray(0, body.length / 2))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const target = await testApp(t)
  const words = ['overnemen', 'api', address, '--client', 'beheer', '--secret-stdin']
  const program = start(target, words, SECRET)
  await awaited('half a file', program, target, async () => (stalled > 0 ? true : undefined))
  await kill(program)
  t.equal((await target.database.sql`select from file`).length, 0)
  stalls = false
  const next = start(target, words, SECRET)
  t.equal(await codeOf(next), 0)
  for (const n of [1, 2]) {
    const path = `/documenten/api/v1/enkelvoudiginformatieobjecten/${uuidOf(KIND.document, n)}/download`
    t.equal((await target.call('GET', path)).text, text)
  }
  t.equal((await target.database.sql`select from file`).length, 2)
})

t.test('killed while it compares, it compares again, with its exit code and its report', async (t) => {
  const source = await givenSource(t)
  const target = await testApp(t)
  await undisturbed(target, source)
  const { sql } = target.database
  const words = ['overnemen', 'open-zaak', '--database', source.url, '--bestanden', source.files, '--controleer']
  words.push('--oude-url', OLD)
  const check = () => start(target, words)
  const lock = await sql.reserve()
  await lock`begin`
  // The lock is to last for as long as the program takes to start.
  await lock`set local idle_in_transaction_session_timeout = 0`
  await lock`lock table substatus in access exclusive mode`
  const program = check()
  await awaited('the comparison at the substatussen', program, target, async () =>
    (await sql`select from pg_locks where relation = 'substatus'::regclass and not granted`).at(0),
  )
  await kill(program)
  await lock`rollback`
  lock.release()
  const [again] = [check()]
  t.equal(await codeOf(again), 0)
  t.match(again.said(), /zaak of one type +520 there, 520 here/)
  t.match(again.said(), /0 differences that were not listed before/)
  t.match(again.said(), /bestand +520 there, 520 here, 520 equal/)

  await sql`update zaak set omschrijving = 'anders' where uuid = ${uuidOf(KIND.zaak, 3)}`
  await sql`delete from klantcontact`
  await source.old`delete from zaken_zaakverzoek`
  await writeFile(join(source.files, 'uploads/2024/01/7.bin'), 'verminkt..')
  const third = check()
  const [code] = await third.exit
  t.equal(code, 1)
  t.match(third.said(), new RegExp(`verschilt +zaak ${uuidOf(KIND.zaak, 3)} omschrijving`))
  t.match(third.said(), /4 differences/)
  t.same(
    (await sql`select kind, code, field from takeover_remark where outcome = 'verschil' order by 1`).map((row) => ({
      ...row,
    })),
    [
      { kind: 'bestand', code: 'verschilt', field: 'versie 1' },
      { kind: 'klantcontact', code: 'ontbreekt', field: '' },
      { kind: 'zaak', code: 'verschilt', field: 'omschrijving' },
      { kind: 'zaakverzoek', code: 'te-veel', field: '' },
    ],
  )
})
