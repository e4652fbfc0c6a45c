// The database refuses: it answers whoever connects, and lets nobody in. To processes at work that is an outage as any other.
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { freePort } from '../free-port.ts'
import type { JudgeLike } from '../stage.ts'
import { isReady, START_MS, supervise, until } from '../zaken/processes.ts'
import type { Cell, Scene, Server } from './scene.ts'
import { postmasterOf } from './server-pids.ts'

type Refusal = { strike: string[]; mend: string[] }

/** What is done to the database of an address, by a session in another database of the server. */
const BY_STATEMENT: Record<string, (name: string, role: string, password: string) => Refusal> = {
  'its password was changed': (_, role, password) => ({
    strike: [`alter role ${role} password '${randomBytes(9).toString('hex')}'`],
    mend: [`alter role ${role} password '${password}'`],
  }),
  'it takes no connections': (name) => ({
    strike: [`alter database ${name} allow_connections false`],
    mend: [`alter database ${name} allow_connections true`],
  }),
  'it has another name': (name) => ({
    strike: [`alter database ${name} allow_connections false`, `alter database ${name} rename to elsewhere`],
    mend: [`alter database elsewhere rename to ${name}`, `alter database ${name} allow_connections true`],
  }),
  'the right to connect was revoked': (name, role) => ({
    strike: [`revoke connect on database ${name} from ${role}, public`],
    mend: [`grant connect on database ${name} to ${role}, public`],
  }),
}

/** The first line of pg_hba.conf that fits is the one that counts. */
async function refuseByHba(cluster: string, name: string): Promise<() => Promise<void>> {
  const file = join(cluster, 'pg_hba.conf')
  const before = await readFile(file, 'utf8')
  const use = async (text: string) => {
    await writeFile(file, text)
    process.kill(await postmasterOf(cluster), 'SIGHUP')
  }
  await use(`host ${name} all all reject\n${before}`)
  return () => use(before)
}

/** Refuses whoever connects from here on, and ends who is connected. @returns what ends it */
async function refuse({ url, cluster }: Server, how: string | Refusal): Promise<() => Promise<unknown>> {
  const address = new URL(url)
  const name = address.pathname.slice(1)
  address.pathname = '/postgres'
  const sql = postgres(address.href, { max: 1, idle_timeout: 0, max_lifetime: 0, onnotice: () => {} })
  const run = async (statements: string[]) => {
    for (const statement of statements) {
      await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${name}`
      await sql.unsafe(statement)
    }
  }
  const made = typeof how === 'string' ? BY_STATEMENT[how]?.(name, address.username, address.password) : how
  let mend: () => Promise<unknown>
  if (made) {
    await run(made.strike)
    mend = () => run(made.mend)
  } else {
    await sql`select 1`
    mend = await refuseByHba(cluster!, name)
  }
  await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${name}`
  return () => mend().finally(() => sql.end())
}

const CELLS: Cell[] = [...Object.keys(BY_STATEMENT), 'the role may not sign in'].map((how) => ({
  name: `the database refuses: ${how}`,
  lasts: 8_000,
  allowed: { refused: 'all' },
  shows: true,
  strike: ({ server }) => refuse(server, how),
}))

/**
 * A password is changed at the server, and then in the file that an api and a worker read: they go on without a start. Those of the
 * scene, whose address is in the environment, are refused meanwhile.
 */
async function rotate({ stage, server, settings, test }: Scene, judge: JudgeLike): Promise<() => Promise<unknown>> {
  const file = join(test.importDir, 'database-url')
  await writeFile(file, server.url)
  const port = await freePort()
  const own = { ...settings, DATABASE_URL: '', DATABASE_URL_FILE: file, PORT: String(port) }
  const both = [supervise(stage, 'api', own), supervise(stage, 'worker', own)]
  const address = `http://127.0.0.1:${port}`
  await until('the api', () => isReady(address), START_MS)
  const next = new URL(server.url)
  next.password = randomBytes(9).toString('hex')
  const [role, before] = [next.username, new URL(server.url).password]
  const change = (password: string) => [`alter role ${role} password '${password}'`]
  const mend = await refuse(server, { strike: change(next.password), mend: change(before) })
  try {
    await writeFile(file, next.href)
    await until('the api with the new password', () => isReady(address), 15_000)
    const sql = postgres(next.href, { max: 1 })
    await until('the worker with the new password', async () => {
      const seen = await sql`select from zaakstroom.worker
        where pid = ${both[1]!.pid()!} and seen_at > clock_timestamp() - interval '2 seconds'`
      return seen.length === 2
    })
    await sql.end()
    judge.same(
      both.map(({ restarts }) => restarts),
      [0, 0],
      'nobody was started again',
    )
  } finally {
    await Promise.all(both.map((one) => one.stop()))
  }
  return mend
}

export const REFUSALS: Cell[] = [
  ...CELLS,
  { name: 'a password is rotated', lasts: 1, allowed: { refused: 'all' }, strike: rotate },
]
