// What runs outside the test runner (`npm run fuzz`, `faults`, `soak`) but uses what the tests share: something with teardowns.
import { createWriteStream } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { prepareServer } from './setup.ts'

/** What the helpers of the tests ask of a test. */
export type StageLike = {
  teardown(work: () => unknown): unknown
  comment(text: string): void
  passing(): boolean
  /** Keeps what a program writes in the file of the run; absent in a test, which shows it when it fails. */
  log?(text: string): void
}

/** And of one that they judge by: whether what was found is what had to be. */
export type JudgeLike = Pick<StageLike, 'comment'> & {
  equal(found: unknown, wanted: unknown, ...what: [] | [string]): unknown
  same(found: unknown, wanted: unknown, ...what: [] | [string]): unknown
}

/** Collects what was not as it had to be. */
export function collectViolations(comment: (text: string) => void): JudgeLike & { violations: string[] } {
  const violations: string[] = []
  const judge = (found: unknown, wanted: unknown, what = '') => {
    if (!isDeepStrictEqual(found, wanted))
      violations.push(
        `${what}: ${JSON.stringify(found)?.slice(0, 500)} in place of ${JSON.stringify(wanted)?.slice(0, 200)}`,
      )
  }
  return { comment, equal: judge, same: judge, violations }
}

export type Stage = StageLike & {
  /** The process ends with 1. */
  fail(): void
}

/**
 * Runs `work` with a database server (TEST_DATABASE_URL, or an embedded one), and afterwards the teardowns, the last first;
 * also when it is interrupted.
 */
export async function whileStanding(work: (stage: Stage) => Promise<void>): Promise<void> {
  const server = await prepareServer()
  Object.assign(process.env, { TEST_DATABASE_URL: server.url, TEST_TEMPLATE: server.template })
  const works: (() => unknown)[] = [server.stop]
  let passing = true
  const logFile = join(tmpdir(), `zaakstroom-run-${process.pid}.log`)
  const log = createWriteStream(logFile)
  console.log(`log lines of the programs: ${logFile}`)
  const stage: Stage = {
    log: (text) => void log.write(text),
    teardown: (work) => works.push(work),
    comment: (text) => console.log(`# ${text}`),
    passing: () => passing,
    fail: () => {
      passing = false
    },
  }
  const clean = async () => {
    for (let one = works.pop(); one; one = works.pop()) await one()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => clean().finally(() => process.exit(130)))
  // A client that fails by itself leaves no processes and file systems behind either.
  process.once('uncaughtException', (error) => {
    console.error(error)
    void clean().finally(() => process.exit(1))
  })
  try {
    await work(stage)
  } catch (error) {
    passing = false
    console.error(error)
  } finally {
    await clean()
  }
  if (!passing) process.exitCode = 1
}
