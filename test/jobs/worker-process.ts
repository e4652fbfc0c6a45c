// A worker as a process of its own, to be killed, frozen and cut off. Its tasks write to tables that the test makes.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, JobHelpers } from 'graphile-worker'
import pg from 'pg'
import pino from 'pino'
import { isConnectionFault } from '../../src/jobs/pool.ts'
import { startWorker } from '../../src/jobs/worker.ts'

const databaseUrl = process.env.DATABASE_URL!
const log = pino({ level: 'debug' })
const pool = new pg.Pool({ connectionString: process.env.TASK_DATABASE_URL ?? databaseUrl, max: 4 })
pool.on('error', () => {})
pool.on('connect', (client) => client.on('error', () => {}))

process.on('unhandledRejection', (error) => {
  if (isConnectionFault(error)) return log.warn({ err: error }, 'a rejection escaped')
  log.fatal({ err: error }, 'unhandled rejection')
  process.exit(1)
})

const worker = await startWorker({
  databaseUrl,
  concurrency: Number(process.env.CONCURRENCY ?? 1),
  name: process.env.NAME,
  log,
  taskList: {
    // Works until the test opens a gate for this process.
    async gated(payload: unknown, { job }: JobHelpers) {
      const { key } = payload as { key: string }
      await noteRun(key, job)
      while (!(await isOpen(key))) await sleep(50)
      await noteEffect(key)
      process.send?.(`finished ${key}`)
    },
    async quick(payload: unknown, { job }: JobHelpers) {
      const { key } = payload as { key: string }
      await noteRun(key, job)
      await sleep(100)
      await noteEffect(key)
    },
    // Needs no database: it can finish while there is none.
    async offline(payload: unknown) {
      const { key } = payload as { key: string }
      process.send?.(`started ${key}`)
      await new Promise<void>((resolve) => {
        process.on('message', (message) => message === `finish ${key}` && resolve())
      })
      process.send?.(`finished ${key}`)
    },
    async deadly() {
      process.kill(process.pid, 'SIGKILL')
      await sleep(10_000)
    },
  },
})
process.send?.('ready')
process.once('disconnect', () => process.exit(1)) // the test is gone

process.once('SIGTERM', async () => {
  await worker.stop()
  process.exit(0)
})

async function noteRun(key: string, job: Job): Promise<void> {
  await pool.query('insert into run (key, pid, attempt) values ($1, $2, $3)', [key, process.pid, job.attempts])
}

async function isOpen(key: string): Promise<boolean> {
  const { rowCount } = await pool.query('select from gate where key = $1 and pid in (0, $2)', [key, process.pid])
  return rowCount === 1
}

async function noteEffect(key: string): Promise<void> {
  await pool.query('insert into effect (key, pid) values ($1, $2) on conflict do nothing', [key, process.pid])
}
