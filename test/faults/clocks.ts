// The clock of a PostgreSQL and of a worker, moved by libfaketime while they run.
import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { PERIODIC } from '../../tasks/index.ts'
import type { TestApp } from '../app.ts'
import { noPrograms, serverDirectory, startPrimary } from '../database/servers.ts'
import { givenChange } from '../notificaties/given.ts'
import { builtIn, idsOf, subscribe } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import type { JudgeLike, StageLike } from '../stage.ts'
import { START_MS, supervise, until } from '../zaken/processes.ts'
import { playAlone } from './alone.ts'

const LIBRARY = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1',
].find((path) => existsSync(path))

/** Why the cells of clocks are skipped here; false: they are not. */
export const noClocks: string | false = LIBRARY ? noPrograms : 'no libfaketime here'

/** What was planned has to go on after so long: the minute that docs/operations.md promises, and a slow machine. */
const PULLED_MS = 90_000

type Clocks = {
  test: TestApp
  to: Awaited<ReturnType<typeof subscriber>>
  /** Sets the clock of the database and of the worker, such as `+2h`. */
  set(offset: string): Promise<void>
  /** What the worker logged. */
  log(): string
}

async function openClocks(stage: StageLike, offset: string): Promise<Clocks> {
  const directory = await serverDirectory(stage)
  const file = join(directory, 'clock')
  const set = async (to: string) => {
    await writeFile(file, `${to}\n`)
    await chmod(file, 0o644)
  }
  await set(offset)
  const clock = {
    LD_PRELOAD: LIBRARY!,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  const { port } = await startPrimary(stage, join(directory, 'data'), '', [], clock)
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await migrate(url)
  const test = await builtIn(stage as never, { DATABASE_URL: url })
  const to = await subscriber(stage, { auth: 'x' })
  await subscribe(test, to.url)
  let log = ''
  const env = {
    ...clock,
    DATABASE_URL: url,
    DATA_DIR: directory,
    DOCUMENTEN_DIR: test.config.documentenDir,
    SECRET_KEY: test.config.secretKey!,
    NOTIFICATIES_MODE: 'ingebouwd',
  }
  supervise(stage, 'worker', env, (text) => {
    log += text
  })
  const planned = async () => (await test.database.sql`select from periodic_job`).length === PERIODIC.length
  await until('a worker that plans', planned, START_MS)
  return { test, to, set, log: () => log }
}

async function verify({ test, to, log }: Clocks, judge: JudgeLike, messages: string[]): Promise<void> {
  const { sql } = test.database
  await until('all messages', async () => messages.every((id) => idsOf(to.received).includes(id)), PULLED_MS)
  const late = () => sql`
    select task from periodic_job where last_at > now() union all
    select task_identifier from jobs where run_at > now() + interval '2 minutes' and key is not null`
  await until('nothing is planned far ahead', async () => (await late()).length === 0, PULLED_MS)
  const folds = () => log().split('"task":"fold-counts"').length - 1
  const before = folds()
  await until('the jobs of each minute go on', async () => folds() > before, PULLED_MS)
  judge.equal(log().includes('the clock of the database was ahead'), true, 'the log says so')
  judge.equal((await sql`select from clock_setback`).length > 0, true, 'and so does the overview')
}

/** Both clocks go back by two hours while a message waits for its next attempt. */
export const playSetBack = (stage: StageLike, judge: JudgeLike): Promise<void> =>
  playAlone(stage, async (own) => {
    const clocks = await openClocks(own, '+2h')
    const { test, to, set } = clocks
    to.answer.status = 500
    const tried = await givenChange(test)
    const failed = () => test.database.sql`select from delivery where attempt > 0 and next_attempt_at > now()`
    await until('an attempt that failed', async () => (await failed()).length === 1)
    await set('+0')
    to.received.length = 0
    to.answer.status = 204
    await verify(clocks, judge, [tried, await givenChange(test)])
  })

/** Both clocks are ten days ahead, until an abonnement is blocked by that, and then right again. */
export const playAhead = (stage: StageLike, judge: JudgeLike): Promise<void> =>
  playAlone(stage, async (own) => {
    const clocks = await openClocks(own, '+0')
    const { test, to, set, log } = clocks
    const { sql } = test.database
    await sql`update notificatie_settings set block_after_hours = 24`
    to.answer.status = 500
    const tried = await givenChange(test)
    const blocked = () => sql`select from abonnement where status = 'geblokkeerd'`
    await set('+10d')
    await until('an abonnement that is blocked', async () => (await blocked()).length === 1, PULLED_MS)
    const folds = log().split('"task":"fold-counts"').length - 1
    judge.equal(folds < 5, true, `minutes that were skipped are made up once: ${folds} jobs`)
    await set('+0')
    to.received.length = 0
    to.answer.status = 204
    await verify(clocks, judge, [tried, await givenChange(test)])
    judge.same(
      (await sql`select status from abonnement`).map(({ status }) => status),
      ['actief'],
      'it goes on',
    )
  })
