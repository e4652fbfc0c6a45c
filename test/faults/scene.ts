// What every cell of `npm run faults` plays on: two apis and two workers as processes, a PostgreSQL and a store of documents of
// their own, a receiver of notifications, and clients that create, read and remember what they were told.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Embedded, startEmbedded } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { prepareFilesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { givenInformatieobjecttype, uuidOf } from '../app.ts'
import { base64, EIO, newDocument } from '../documenten/documenten.ts'
import { configure } from '../notificaties/given.ts'
import type { JudgeLike, StageLike } from '../stage.ts'
import {
  type Antwoord,
  CREATE,
  createBody,
  givenService,
  isReady,
  openClient,
  randomFrom,
  type Service,
  until,
  verifyAccount,
} from '../zaken/processes.ts'
import { csvOf, fileOf, type Imports, importOnce, verifyImports, withoutBase } from './imports.ts'
import { pidsOf, postmasterOf } from './server-pids.ts'

export type Scene = Service & {
  stage: StageLike
  server: Server
  load: Load
  /** The root of the documents. */
  store: string
  /** The store and the data of the server are file systems of their own, which can be full or read-only. */
  mounted: boolean
  random: () => number
}

export type Cell = {
  name: string
  /** What clients may be told meanwhile. */
  allowed: Allowed
  /** /readyz has to say so within 15 s, for a fault that lasts (I7): with 503, or with 200 where most goes on. */
  shows?: true | 'degraded'
  /** Why it cannot be played on this machine; false: it can. */
  without?: string | false
  /** It needs file systems of its own. */
  mounted?: true
  /** Milliseconds that the fault lasts at most; the seed chooses. 0 for one that is over at once. */
  lasts: number
  strike(scene: Scene, judge: JudgeLike): Promise<() => Promise<unknown>>
}

const STORE_MB = 256
const DATABASE_MB = 700
const sh = promisify(execFile)

/**
 * What the seed decides about cells does not depend on how many requests the clients had made by then.
 * @param options.pace milliseconds that a client waits between two requests
 * @param options.mounts false: no file systems of its own
 * @param options.env further settings of its processes
 * @param options.serve starts the server, its data in that directory
 */
export async function openScene(
  t: StageLike,
  seed: number,
  {
    pace = 10,
    mounts = true,
    serve = ownServer,
    env = {},
  }: {
    pace?: number
    mounts?: boolean
    serve?: (t: StageLike, data: string) => Promise<Server>
    env?: Record<string, string>
  } = {},
): Promise<Scene> {
  const random = randomFrom(seed)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-faults-'))
  await chmod(directory, 0o711)
  t.teardown(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const store = join(directory, 'documenten')
  const data = join(directory, 'data')
  const mounted = mounts && (await mount(t, store, STORE_MB)) && (await mount(t, data, DATABASE_MB))
  if (!mounted) for (const one of [store, data]) await mkdir(one, { recursive: true, mode: 0o711 })
  await prepareFilesystemStore(store)
  const server = await serve(t, data)
  const service = await givenService(
    t,
    { apis: 2, workers: 2 },
    {
      DATABASE_URL: server.url,
      DOCUMENTEN_DIR: store,
      IMPORT_DOCUMENTEN_BATCH_SIZE: '10',
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      ...env,
    },
  )
  for (let n = 0; n < 5; n++) await writeFile(join(service.test.importDir, fileOf(n)), `inhoud ${n}`)
  await configure(service.test, service.receiver.root, { backoff: 1, baseFactor: 1, maxRetries: 100 }, 2_000)
  const load = await openLoad(t, service, randomFrom(seed + 1), pace)
  await until('the first answers', () => load.goodSince(0))
  return { ...service, stage: t, server, load, store, mounted, random }
}

async function mount(t: StageLike, directory: string, megabytes: number): Promise<boolean> {
  await mkdir(directory, { mode: 0o711 })
  try {
    await sh('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=711`, 'tmpfs', directory])
  } catch {
    return false
  }
  t.teardown(() => sh('umount', ['--lazy', directory]))
  return true
}

// ---- the server ----

export type Server = {
  url: string
  stop(how: 'fast' | 'immediate'): Promise<void>
  /** Also after it ended by itself. */
  start(): Promise<void>
  /** The directory of its data, where there is one of its own. */
  cluster?: string
  /** The processes of the server. */
  pids(): Promise<number[]>
}

async function ownServer(t: StageLike, data: string): Promise<Server> {
  const settings = ['fsync=off', 'max_connections=160', 'max_wal_size=64MB', 'min_wal_size=32MB', 'shared_buffers=64MB']
  let server: Embedded = await startEmbedded(data, { settings })
  t.teardown(() => server.stop())
  const { url } = server
  await migrate(url)
  const cluster = join(data, 'postgres')
  return {
    url,
    cluster,
    async stop(how) {
      if (how === 'immediate') {
        process.kill(await postmasterOf(cluster), 'SIGQUIT')
        await server.exited
      }
      await server.stop()
    },
    async start() {
      await server.stop()
      server = await startEmbedded(data, { port: Number(new URL(url).port), settings })
    },
    pids: () => pidsOf(cluster),
  }
}

// ---- the clients ----

const KINDS = ['zaak', 'document', 'read', 'download', 'list', 'ready'] as const
export type Kind = (typeof KINDS)[number] | 'import'
export type Answered = Antwoord & { kind: Kind; began: number; ended: number; which: number }
type MadeDocument = { answer: Antwoord; identificatie: string; hash: string; seen?: true }

export type Load = {
  answers: Answered[]
  creates: Antwoord[]
  documents: MadeDocument[]
  imports: Imports
  /** The informatieobjecttype of all documents. */
  type: string
  /** The number of a create or an import that nobody else makes. */
  nextCreate(): number
  nextImport(): number
  /** The documents of an import that was deleted belong to no import any more. */
  forgetImported(): Promise<void>
  /** Each kind was answered well by each api to what began since then. */
  goodSince(moment: number): boolean
  /** Which kinds were not, to tell. */
  missingSince(moment: number): string[]
  /** The clients finish what they asked, and wait. */
  pause(): Promise<void>
  resume(): void
}

async function openLoad(t: StageLike, service: Service, random: () => number, pace: number): Promise<Load> {
  const type = await givenInformatieobjecttype(service.test)
  const answers: Answered[] = []
  const creates: Antwoord[] = []
  const documents: MadeDocument[] = []
  const imports: Imports = new Map()
  const clients: { close(): unknown }[] = []
  let paused = false
  let over = false
  let next = 0
  let nextDocument = 0
  let nextImport = 0
  let waiting = 0

  const run = async (
    which: number,
    ask: (client: ReturnType<typeof openClient>) => Promise<[Kind, Antwoord] | undefined>,
  ) => {
    const client = openClient(service.apis[which]!.address, CLIENT_MS)
    clients.push(client)
    while (!over) {
      if (paused) {
        waiting++
        while (paused && !over) await sleep(5)
        waiting--
        continue
      }
      const began = performance.now()
      const asked = await ask(client)
      if (asked) answers.push({ ...asked[1], kind: asked[0], which, began, ended: performance.now() })
      await sleep(asked?.[1].status === undefined || asked[1].status >= 400 ? 50 : pace)
    }
  }
  const pick = <T>(items: T[]): T | undefined => items[Math.floor(random() * items.length)]
  const zaak = async (client: ReturnType<typeof openClient>): Promise<[Kind, Antwoord]> => {
    const n = next++
    creates[n] = { headers: {}, body: { url: '' }, ms: 0 }
    const answer = await client.call('POST', CREATE, createBody(service, n))
    creates[n] = slim(answer)
    return ['zaak', answer]
  }
  const document = async (client: ReturnType<typeof openClient>): Promise<[Kind, Antwoord]> => {
    const bytes = randomBytes(1 + Math.floor(random() * 30_000))
    const identificatie = `FOUT-${nextDocument++}`
    const made = { answer: { headers: {}, body: { url: '' }, ms: 0 } as Antwoord, identificatie, hash: sha256(bytes) }
    documents.push(made)
    const answer = await client.call('POST', EIO, newDocument(type, { identificatie, inhoud: base64(bytes) }))
    made.answer = slim(answer)
    return ['document', answer]
  }
  const read = async (client: ReturnType<typeof openClient>): Promise<[Kind, Antwoord] | undefined> => {
    const made = pick(creates.filter((one) => one?.status === 201))
    return made && ['read', await client.call('GET', withoutBase(made.body.url))]
  }
  const download = async (client: ReturnType<typeof openClient>): Promise<[Kind, Antwoord] | undefined> => {
    const made = pick(documents.filter(({ answer }) => answer.status === 201))
    if (!made) return undefined
    const answer = await client.call('GET', `${withoutBase(made.answer.body.url)}/download`, undefined, sha256)
    if (answer.status === 200 && answer.body.url !== made.hash) answer.fault = 'other bytes'
    return ['download', answer]
  }
  const running = service.apis.flatMap((_, which) => [
    run(which, zaak),
    run(which, zaak),
    run(which, document),
    run(which, read),
    run(which, download),
    run(which, async (client) => ['list', await client.call('GET', `${CREATE}?pageSize=20`)]),
    run(which, async (client) => ['ready', await client.call('GET', '/readyz')]),
  ])
  running.push(
    run(0, async (client) => ['import', await importOnce(client, csvOf(type, nextImport++), imports, () => over)]),
  )
  t.teardown(async () => {
    over = true
    await Promise.all(clients.map((client) => client.close()))
    await Promise.all(running)
  })
  const missingSince = (moment: number) =>
    service.apis.flatMap((_, which) =>
      KINDS.filter(
        (kind) =>
          !answers.some(
            (a) =>
              a.began >= moment && a.kind === kind && a.which === which && a.status !== undefined && a.status < 300,
          ),
      ).map((kind) => `${kind} of api ${which}`),
    )
  return {
    answers,
    creates,
    documents,
    imports,
    type,
    nextCreate: () => next++,
    nextImport: () => nextImport++,
    async forgetImported() {
      await service.test.database.sql`
        update enkelvoudiginformatieobject set identificatie = 'VERGETEN-' || id
        where identificatie like ${`IMPORT-${nextImport - 1}-%`}`
    },
    missingSince,
    goodSince: (moment) => missingSince(moment).length === 0,
    async pause() {
      paused = true
      await until('all clients waiting', () => waiting === running.length)
    },
    resume() {
      paused = false
    },
  }
}

/** A client gives up after this; every answer has to come sooner (`Allowed.within`). */
const CLIENT_MS = 20_000

/** What is kept of an answer for the account. */
const slim = ({ status, body: { url, code }, ms }: Antwoord): Antwoord => ({
  status,
  headers: {},
  body: { url, code },
  ms,
})

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

// ---- the account ----

/** Holds everything that is there against what the clients were told: the invariants I1 to I4. */
export async function verifyScene(t: JudgeLike, scene: Scene): Promise<void> {
  const { test, load, apis } = scene
  const { sql } = test.database
  await verifyAccount(t, scene, load.creates)

  // Documents: as the cases, and of each the bytes.
  type Row = { uuid: string; identificatie: string; sporen: number; berichten: number }
  const rows = await sql<Row[]>`
    select d.uuid, d.identificatie, (select count(*)::int from audit a where a.hoofd_object_uuid = d.uuid) as sporen,
      (select count(*)::int from notificatie n where n.hoofd_object_uuid = d.uuid) as berichten
    from enkelvoudiginformatieobject d where d.identificatie like 'FOUT-%'`
  const byName = new Map(rows.map((row) => [row.identificatie, row]))
  t.equal(byName.size, rows.length, 'no document twice')
  const acknowledged = load.documents.filter(({ answer }) => answer.status === 201)
  t.same(
    acknowledged.filter(({ identificatie, answer }) => byName.get(identificatie)?.uuid !== uuidOf(answer.body.url)),
    [],
    'I1: every document that was answered is there',
  )
  t.same(
    rows.filter(({ sporen, berichten }) => sporen !== 1 || berichten !== 1),
    [],
    'I3: every document has one audit record and one message',
  )
  const refused = load.documents.filter(
    ({ answer: { status, body }, seen }) =>
      !seen && status !== undefined && status >= 400 && body.code !== 'outcome_unknown',
  )
  t.same(
    refused.filter(({ identificatie }) => byName.has(identificatie)).map(({ identificatie }) => identificatie),
    [],
    'I2: what was refused is not there',
  )
  const client = openClient(apis[0]!.address)
  const wrong: string[] = []
  // Of those of earlier cells a sample: all of them were looked at then.
  for (const { identificatie, hash } of load.documents.filter((one) => !one.seen || Math.random() < 0.1)) {
    const row = byName.get(identificatie)
    if (!row) continue
    const { status, body } = await client.call('GET', `${EIO}/${row.uuid}/download`, undefined, sha256)
    if (status !== 200 || body.url !== hash) wrong.push(`${identificatie}: ${status}`)
  }
  for (const one of load.documents) one.seen = true
  t.same(wrong, [], 'I2: every document has its bytes')
  await verifyImports(t, test.database, load.imports, client)
  await client.close()
}

/** The invariant I6. */
export function verifyAnswers(t: JudgeLike, answers: Answered[], allowed: Allowed): void {
  const bad = answers.filter((answer) => !isAllowed(answer, allowed))
  t.same(
    Object.entries(Object.groupBy(bad, ({ kind, status, fault }) => `${kind}: ${fault ?? status}`)).map(
      ([what, all]) =>
        `${what}, ${all!.length} times, the slowest after ${Math.round(Math.max(...all!.map(({ ms }) => ms)))} ms`,
    ),
    [],
    'I6: clients are told 2xx or 503 with Retry-After, in time',
  )
}

export type Allowed = {
  /** Kinds that may be refused with 503. */
  refused?: readonly Kind[] | 'all'
  /** Connections may break, as when an api is killed. */
  cut?: boolean
  /** Milliseconds within which every answer comes. */
  within?: number
}

/** A machine that is busy with other work may make a check late. */
const isLate = (body: Antwoord['body']) =>
  Object.values((body.checks ?? {}) as Record<string, { detail?: string }>).some(({ detail }) =>
    detail?.startsWith('no answer within'),
  )

function isAllowed({ kind, status, headers, body, fault, ms }: Answered, allowed: Allowed): boolean {
  const { refused = [], cut = false, within = 10_000 } = allowed
  if (fault === 'other bytes') return false
  if (status === undefined) return cut
  if (status < 300) return ms < within
  // An import that was left open by a request without an answer stands in the way of the next one, and says so.
  if (kind === 'import' && status === 400) return true
  if (kind === 'ready' && isLate(body)) return true
  const mayBeRefused = refused === 'all' || kind === 'import' || refused.includes(kind)
  return status === 503 && mayBeRefused && ms < within && (kind === 'ready' || headers['retry-after'] !== undefined)
}

/** Until everything works again; the milliseconds that it took, and what came back last. */
export async function recover(scene: Scene, moment: number, limit: number): Promise<{ ms: number; last: string }> {
  const { load, receiver, workers, apis, test } = scene
  const epoch = performance.timeOrigin + moment
  const missing = async (): Promise<string[]> => {
    const ready = await Promise.all(apis.map(({ address }) => isReady(address)))
    const registered = await test.database.sql<{ pid: number }[]>`select pid from worker`.catch(() => [])
    const isRegistered = (pid: number | undefined) => registered.filter((one) => one.pid === pid).length === 2
    return [
      ...load.missingSince(moment),
      ...(receiver.received.some(({ at }) => at > epoch) ? [] : ['messages']),
      ...ready.flatMap((isIt, which) => (isIt ? [] : [`api ${which}`])),
      ...workers.flatMap((worker, which) => (isRegistered(worker.pid()) ? [] : [`worker ${which}`])),
    ]
  }
  let last = 'nothing'
  for (const late = performance.now() + limit; ; await sleep(20)) {
    const still = (await missing()).join(', ')
    if (still === '') return { ms: performance.now() - moment, last }
    if (performance.now() > late) throw new Error(`not back: ${still}`)
    last = still
  }
}

/** Why a cell cannot be played here; false: it can. */
export const whyNot = ({ mounted, without = false }: Cell, scene: Pick<Scene, 'mounted'>): string | false =>
  mounted && !scene.mounted ? 'mounting a file system is not allowed here' : without
