// A service to measure: `start` as a process of its own, on an embedded database in a temporary directory.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { signToken } from '../src/autorisaties/clients.ts'
import { findEmbedded } from '../src/database/embedded.ts'

export const CLIENT = 'bench'

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
  alive(): boolean
  stop(): Promise<void>
}

/** Starts the service and waits until it is ready. `env` goes on top of the settings made here. */
export async function startService(env: Record<string, string> = {}, nodeArgs: string[] = []): Promise<Service> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  await chmod(directory, 0o711)
  const importDir = join(directory, 'import-data')
  await mkdir(importDir)
  const secret = randomBytes(32).toString('hex')
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const dataDir = env.DATA_DIR ?? join(directory, 'data')
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=8', ...nodeArgs, join(import.meta.dirname, '../src/main.ts'), 'start'],
    {
      env: {
        ...process.env,
        DATABASE_URL: '',
        DATA_DIR: dataDir,
        PORT: String(port),
        IMPORT_DOCUMENTEN_BASE_DIR: importDir,
        BOOTSTRAP_CLIENT_ID: CLIENT,
        BOOTSTRAP_CLIENT_SECRET: secret,
        LOG_LEVEL: 'error',
        ...env,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  await ready(child, address)
  const token = () => signToken(CLIENT, secret)
  return {
    address,
    directory,
    importDir,
    databaseUrl: (await findEmbedded(dataDir))!,
    pid: child.pid!,
    token,
    call: async (method, url, body, headers = {}) => {
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
    },
    peakMemory: async () => {
      const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8')) ?? []
      return Math.round(Number(kilobytes) / 1024)
    },
    alive: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function ready(child: ChildProcess, address: string): Promise<void> {
  while (child.exitCode === null) {
    const response = await fetch(`${address}/readyz`).catch(() => undefined)
    if (response?.ok) return
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
export async function givenType({ call }: Service): Promise<string> {
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
