// A service to measure: `start` as a process of its own, or `api` and workers, on an embedded database in a temporary directory.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { signToken } from '../src/autorisaties/clients.ts'
import { findEmbedded, startEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { withPath } from '../test/with-path.ts'

export const CLIENT = 'bench'
const START_LIMIT_MS = 120_000

export type Service = {
  address: string
  directory: string
  importDir: string
  databaseUrl: string
  pid: number
  call(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  token(): string
  /** Highest resident memory of the process so far, in MB. */
  peakMemory(): Promise<number>
  /** What ran apart from `pid`: the workers. */
  workers: number[]
  /** The first process of PostgreSQL. */
  postgres(): Promise<number>
  alive(): boolean
  stop(): Promise<void>
}

/**
 * Starts the service and waits until it is ready. `env` goes on top of the settings made here.
 * @param workers 0: one process as `start`; else `api` and so many of `worker`
 */
export async function startService(
  env: Record<string, string> = {},
  nodeArgs: string[] = [],
  workers = 0,
): Promise<Service> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  await chmod(directory, 0o711)
  const importDir = join(directory, 'import-data')
  await mkdir(importDir)
  const secret = randomBytes(32).toString('hex')
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const dataDir = env.DATA_DIR ?? join(directory, 'data')
  const embedded = workers > 0 ? await startEmbedded(dataDir) : undefined
  if (embedded) await migrate(embedded.url)
  const run = (command: string) =>
    spawn(
      process.execPath,
      ['--max-semi-space-size=8', ...nodeArgs, join(import.meta.dirname, '../src/main.ts'), command],
      {
        env: {
          ...process.env,
          DATABASE_URL: embedded?.url ?? '',
          SECRET_KEY: secret,
          DATA_DIR: dataDir,
          PORT: String(port),
          IMPORT_DOCUMENTEN_BASE_DIR: importDir,
          BOOTSTRAP_CLIENT_ID: CLIENT,
          BOOTSTRAP_CLIENT_SECRET: secret,
          LOG_LEVEL: 'error',
          ALLOWED_PRIVATE_HOSTS: 'localhost,127.0.0.0/8,::1', // its receivers
          ...env,
        },
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    )
  const child = run(workers > 0 ? 'api' : 'start')
  await ready(child, address)
  const others = Array.from({ length: workers }, () => run('worker'))
  const databaseUrl = embedded?.url ?? (await findEmbedded(dataDir))!
  if (workers > 0) await allRegistered(databaseUrl, workers)
  const token = () => signToken(CLIENT, secret)
  return {
    address,
    directory,
    importDir,
    databaseUrl,
    workers: others.map(({ pid }) => pid!),
    postgres: async () => Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]),
    pid: child.pid!,
    token,
    call: callerOf(address, token),
    peakMemory: () => peakMemory(child.pid!),
    alive: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      for (const one of [...others, child]) {
        one.kill('SIGTERM')
        if (one.exitCode === null && one.signalCode === null) await once(one, 'exit')
      }
      await embedded?.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Calls that throw unless they are answered 2xx. */
export function callerOf(address: string, token: () => string): Service['call'] {
  return async (method, url, body, headers = {}) => {
    const isJson = body !== undefined && typeof body === 'object' && !(body instanceof ReadableStream)
    const response = await fetch(new URL(url, address), {
      method,
      headers: {
        authorization: `Bearer ${token()}`,
        ...(isJson && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: (isJson ? JSON.stringify(body) : body) as string, duplex: 'half' }),
    })
    if (!response.ok) throw new Error(`${method} ${url} gave ${response.status}: ${await response.text()}`)
    return response
  }
}

/** Highest resident memory of a process so far, in MB. */
export async function peakMemory(pid: number): Promise<number> {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

async function allRegistered(databaseUrl: string, workers: number): Promise<void> {
  const sql = postgres(withPath(databaseUrl), { max: 1, onnotice: () => {} })
  while ((await sql`select from worker where name = 'worker'`).length < workers) await sleep(100)
  await sql.end()
}

export async function ready(child: ChildProcess, address: string): Promise<void> {
  const late = performance.now() + START_LIMIT_MS
  let said = ''
  while (child.exitCode === null) {
    const response = await fetch(`${address}/readyz`).catch(() => undefined)
    if (response?.ok) return
    said = (await response?.text()) ?? said
    if (performance.now() > late) {
      child.kill()
      throw new Error(`the service is not ready after ${START_LIMIT_MS / 1000} s: ${said}`)
    }
    await sleep(100)
  }
  throw new Error(`the service ended with ${child.exitCode}`)
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

/** A catalogue and a published informatieobjecttype; the URL of the type. */
export async function givenType({ call }: Pick<Service, 'call'>): Promise<string> {
  const made = async (url: string, body: object) =>
    ((await (await call('POST', url, body)).json()) as { url: string }).url
  const catalogus = await made('/catalogi/api/v1/catalogussen', {
    domein: 'BENCH',
    rsin: '000000000',
    contactpersoonBeheerNaam: 'x',
  })
  const type = await made('/catalogi/api/v1/informatieobjecttypen', {
    catalogus,
    omschrijving: 'Brief',
    vertrouwelijkheidaanduiding: 'openbaar',
    beginGeldigheid: '2024-01-01',
    informatieobjectcategorie: 'correspondentie',
  })
  await call('POST', `${type}/publish`)
  return type
}
