// The service as processes of its own that are killed and started again, clients that create cases meanwhile, and the
// account of it all afterwards.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, errors } from 'undici'
import { type Receiver, startReceiver } from '../../bench/receiver.ts'
import { signToken } from '../../src/autorisaties/clients.ts'
import { BASE, givenZaaktype, SECRET, type TestApp, testApp, uuidOf } from '../app.ts'
import { freePort } from '../free-port.ts'
import { configure } from '../notificaties/given.ts'
import { programEnv } from '../program-env.ts'
import type { JudgeLike, StageLike } from '../stage.ts'
import { until } from '../until.ts'
import { CRS, ZAKEN, zaakBody } from './given.ts'

export { until }

export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** The exit code that says: the database is away, start me again. */
const DATABASE_AWAY = 69
/** No answer may take longer; a client then gives up. */
const ANSWER_MS = 10_000
/** A start on a machine that is busy with other tests. */
export const START_MS = 120_000

export type Proces = {
  kill(signal: NodeJS.Signals): void
  /** Ends it with SIGTERM, after which it is started again; its exit code. */
  restart(): Promise<number | null>
  /** Ends it with SIGTERM, and leaves it ended; its exit code. */
  stop(): Promise<number | null>
  /** Of the process as it runs now. */
  pid(): number | undefined
  /** How often it was started again. */
  restarts: number
  /** When it ended though nobody killed it, and not because the database is away; and what it logged of an answer of 500. */
  faults: string[]
}

/**
 * Runs a subcommand and does what a supervisor does: whenever it ends, it is started again.
 * @param tell gets all that it writes
 */
export function supervise(
  t: StageLike,
  command: string,
  env: Record<string, string>,
  tell: (text: string) => void = () => {},
): Proces {
  const lines: string[] = []
  let child: ChildProcess
  let isStopping = false
  let isAsked = false
  const start = () => {
    child = spawn(process.execPath, [MAIN, command], {
      env: programEnv(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (data) => {
        lines.push(String(data))
        if (lines.at(-1)!.includes('"code":"error"')) proces.faults.push(lines.at(-1)!.slice(0, 2_000))
        tell(String(data))
        t.log?.(String(data))
        if (lines.length > 1000) lines.shift()
      })
    child.once('exit', async (code, signal) => {
      if (isStopping) return
      if (code === DATABASE_AWAY) await sleep(100)
      else if (signal !== 'SIGKILL' && !isAsked) proces.faults.push(`${command} ended with ${signal ?? code}`)
      if (isStopping) return
      isAsked = false
      proces.restarts++
      start()
    })
  }
  const end = async (signal: NodeJS.Signals) => {
    isStopping = true
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exited = once(child, 'exit')
    child.kill(signal)
    return (await exited)[0] as number | null
  }
  const proces: Proces = {
    kill: (signal) => void child.kill(signal),
    async restart() {
      isAsked = true
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      return (await exited)[0] as number | null
    },
    stop: () => end('SIGTERM'),
    pid: () => child.pid,
    restarts: 0,
    faults: [],
  }
  t.teardown(async () => {
    await end('SIGKILL')
    if (t.passing() || t.log) return
    const telling = lines
      .join('')
      .split('\n')
      .filter((line) => !line.includes('"service_unavailable"'))
    for (const line of telling.slice(-60)) t.comment(`${command}: ${line.slice(0, 500)}`)
  })
  start()
  return proces
}

export type Service = {
  test: TestApp
  receiver: Receiver
  apis: (Proces & { address: string })[]
  workers: Proces[]
  zaaktype: string
  /** The environment of its processes. */
  settings: Record<string, string>
}

/** The environment of processes on the database and the files of a test. */
export const processSettings = (test: TestApp, env: Record<string, string> = {}): Record<string, string> => ({
  DATABASE_URL: test.databaseUrl,
  DATA_DIR: test.config.dataDir,
  IMPORT_DOCUMENTEN_BASE_DIR: test.importDir,
  SECRET_KEY: test.config.secretKey!,
  PUBLIC_URL: BASE,
  DATABASE_POOL_SIZE: '5',
  WORKER_CONCURRENCY: '2',
  LOG_LEVEL: 'warn',
  ...env,
})

/** So many api and worker processes on one database, a receiver of their notifications, and a published zaaktype. */
export async function givenService(
  t: StageLike,
  counts: { apis: number; workers: number },
  env: Record<string, string> = {},
): Promise<Service> {
  const receiver = await startReceiver()
  t.teardown(receiver.stop)
  const test = await testApp(t, env)
  const zaaktype = await givenZaaktype(test)
  await configure(test, receiver.root, { backoff: 1, baseFactor: 1 })
  receiver.received.length = 0
  const settings = processSettings(test, env)
  const apis: Service['apis'] = []
  for (let n = 0; n < counts.apis; n++) {
    const port = await freePort()
    const api = supervise(t, 'api', { ...settings, PORT: String(port) })
    apis.push(Object.assign(api, { address: `http://127.0.0.1:${port}` }))
  }
  const workers = Array.from({ length: counts.workers }, () => supervise(t, 'worker', settings))
  for (const { address } of apis) await until('the api', () => isReady(address), START_MS)
  // Each worker process has two workers: one for notifications, one for all else.
  await until('the workers', async () => {
    return (await test.database.sql`select from worker`).length === 2 * counts.workers
  })
  return { test, receiver, apis, workers, zaaktype, settings }
}

export async function isReady(address: string): Promise<boolean> {
  const response = await fetch(`${address}/readyz`).catch(() => undefined)
  return response?.status === 200
}

// ---- clients ----

/** What became of one request. Without a status there was no answer: it may have been carried out or not. */
export type Antwoord = {
  status?: number
  headers: Record<string, unknown>
  body: { url: string; [field: string]: unknown }
  ms: number
  /** The connection was refused: nothing was asked. */
  refused?: boolean
  fault?: string
}

/** One connection to one api. */
export function openClient(address: string, answerMs = ANSWER_MS) {
  const client = new Client(address, { headersTimeout: answerMs, bodyTimeout: answerMs, connectTimeout: ANSWER_MS })
  const user = { id: 'gebruiker-1', name: 'Gebruiker Een' }
  return {
    /**
     * @param body a text is CSV, bytes are what `headers` say
     * @param digest for an answer that is no JSON: what is kept of its bytes, as `url` of the body
     */
    async call(
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      path: string,
      body?: object | string | Buffer,
      digest?: (bytes: Uint8Array) => string,
      headers: Record<string, string> = {},
    ): Promise<Antwoord> {
      const began = performance.now()
      const ms = () => performance.now() - began
      try {
        const answer = await client.request({
          method,
          path,
          headers: {
            authorization: `Bearer ${signToken('beheer', SECRET, user)}`, // of now: a soak takes longer than one counts
            'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
            ...CRS.headers,
            ...headers,
          },
          ...(body && { body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
        })
        if (digest && answer.statusCode === 200) {
          const url = digest(await answer.body.bytes())
          return { status: 200, headers: answer.headers, body: { url }, ms: ms() }
        }
        const text = await answer.body.text()
        return {
          status: answer.statusCode,
          headers: answer.headers,
          body: text ? JSON.parse(text) : { url: '' },
          ms: ms(),
        }
      } catch (error) {
        const { code, message } = error as { code?: string; message: string }
        const refused = code === 'ECONNREFUSED' || error instanceof errors.ConnectTimeoutError
        return { headers: {}, body: { url: '' }, ms: ms(), refused, fault: code ?? message }
      }
    },
    close: () => client.destroy(),
  }
}

/** The create with this number: its identificatie tells it from all others. */
export const createBody = (service: Service, n: number) => zaakBody(service.zaaktype, { identificatie: nummer(n) })
export const CREATE = `${ZAKEN}/zaken`
const nummer = (n: number) => `PROEF-${n}`

// ---- the account ----

/**
 * Waits until nothing is left to do, and holds what there is against what the clients were told: by number of the create,
 * its last answer.
 */
export async function verifyAccount(t: JudgeLike, service: Service, creates: Antwoord[]): Promise<void> {
  const { test, receiver } = service
  const { sql } = test.database
  await until('all messages delivered', async () => {
    const [row] = await sql`select
      (select count(*)::int from delivery where status = 'gepland') as count`
    return row!.count === 0
  })
  await until('no job locked', async () => {
    return (await sql`select from jobs where locked_at is not null`).length === 0
  })
  type Row = { uuid: string; identificatie: string; sporen: number; berichten: string[] }
  const zaken = await sql<Row[]>`
    select z.uuid, z.identificatie,
      (select count(*)::int from audit a where a.hoofd_object_uuid = z.uuid and a.resource_uuid = z.uuid) as sporen,
      array(select n.uuid::text from notificatie n where n.hoofd_object_uuid = z.uuid) as berichten
    from zaak z`
  const byNummer = new Map(zaken.map((zaak) => [zaak.identificatie, zaak]))
  t.equal(byNummer.size, zaken.length)
  const answered = [...creates.entries()].filter(([, { status }]) => status === 201)
  const others = [...creates.entries()].filter(([, { status }]) => status !== 201)
  const carriedOut = others.filter(([n]) => byNummer.has(nummer(n)))
  t.comment(
    `${answered.length} created; ${others.length} without a 201, of which ${carriedOut.length} were carried out`,
  )
  const lost = answered.filter(([n, { body }]) => byNummer.get(nummer(n))?.uuid !== uuidOf(body.url))
  t.same(lost, [], 'every case that was answered exists')
  t.equal(zaken.length, answered.length + carriedOut.length, 'and no other, but for creates that were not answered')
  t.same(
    zaken.filter(({ sporen, berichten }) => sporen !== 1 || berichten.length !== 1),
    [],
    'every case has one audit record and one message',
  )

  const uuids = new Set(zaken.map(({ uuid }) => uuid))
  const records = await sql`select hoofd_object_uuid as uuid from audit where bron = 'zrc'`
  t.same(
    records.filter(({ uuid }) => !uuids.has(uuid)),
    [],
    'no audit record of a case that does not exist',
  )
  const messages = await sql`
    select n.uuid, n.hoofd_object_uuid as zaak,
      (select count(*)::int from delivery_attempt p where p.notificatie_id = n.id and outcome = 'delivered') as afgeleverd,
      (select count(*)::int from delivery l where l.notificatie_id = n.id) as open
    from notificatie n where kanaal = 'zaken'`
  t.same(
    messages.filter(({ zaak }) => !uuids.has(zaak)),
    [],
    'no message of a case that does not exist',
  )
  t.same(
    messages.filter(({ afgeleverd, open }) => afgeleverd !== 1 || open !== 0),
    [],
    'every message has one attempt that delivered it, and none that is still open',
  )

  const received = receiver.received.filter(({ body }) => body.kanaal === 'zaken')
  const bodies = new Map<string, Set<string>>()
  for (const { id, body } of received) bodies.set(id, (bodies.get(id) ?? new Set()).add(JSON.stringify(body)))
  t.comment(`${received.length} messages received, ${received.length - bodies.size} of them again`)
  t.same(
    zaken.filter(({ berichten: [id] }) => !bodies.has(id!)),
    [],
    'every message was received',
  )
  t.equal(bodies.size, zaken.length, 'and no other: what came again came with its id')
  const wrong = zaken.filter(({ uuid, berichten: [id] }) => {
    const [body, ...more] = [...(bodies.get(id!) ?? [])].map((text) => JSON.parse(text))
    return more.length > 0 || body?.resourceUrl !== `${BASE}${CREATE}/${uuid}` || body.actie !== 'create'
  })
  t.same(wrong, [], 'each time with the same content, about that case')
}

/** Ends all processes as a deployment does. */
export async function endAll(t: JudgeLike, { test, apis, workers }: Service): Promise<void> {
  // A process that is only just started again does not listen to a signal yet.
  for (const { address } of apis) await until('an api that is ready', () => isReady(address))
  const registered = async () =>
    (await test.database.sql<{ pid: number }[]>`select pid from worker order by pid`).map(({ pid }) => pid)
  const alive = () => workers.flatMap((worker) => [worker.pid(), worker.pid()]).sort((a, b) => a! - b!)
  await until(
    'the workers that live, and no others',
    async () => JSON.stringify(await registered()) === JSON.stringify(alive()),
  )
  const codes = await Promise.all([...apis, ...workers].map((proces) => proces.stop()))
  t.same([...new Set(codes)], [0], 'all end in order')
  t.same(
    [...apis, ...workers].flatMap(({ faults }) => faults),
    [],
    'and none ended by itself before',
  )
  t.same(await registered(), [], 'no worker is left registered')
}

// ---- small things ----

export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
