// An installation of which one organisation has a database on a server of its own, and what can be wrong with that.
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { type Embedded, startEmbedded } from '../../src/database/embedded.ts'
import { givenZaaktype } from '../app.ts'
import { pidsOf } from '../faults/server-pids.ts'
import { ZAKEN, zaakBody } from '../zaken/given.ts'
import { givenMany, type Member } from './many.ts'
import { type Api, type Asked, giveClient, type Running, startApi, startWorker } from './processes.ts'

type TestLike = { teardown(work: () => unknown): unknown }

export const FAULTS = ['stopped', 'frozen', 'silent', 'slow', 'full', 'crowded'] as const
export type Fault = (typeof FAULTS)[number]

/** What each fault is. */
export const MEANING: Record<Fault, string> = {
  stopped: 'its server was killed',
  frozen: 'its server has stopped (SIGSTOP)',
  silent: 'nothing comes through to its server',
  slow: 'each answer comes two seconds later',
  full: 'each change ends with disk_full',
  crowded: 'no connection is free at its server',
}

export type Place = {
  api: Api
  worker: Running & { healthPort: number }
  bad: Member & { zaaktype: string }
  others: (Member & { zaaktype: string })[]
  /** Brings a fault about. @returns ends it, and resolves when the organisation answers again */
  strike(fault: Fault): Promise<() => Promise<void>>
  /** Connections that this side has to the server of the bad one. */
  connections(): number
}

const RSINS = ['000000012', '000000024', '000000036', '000000048'] as const
const LATE_MS = 2000
/** Connections of the server of the bad one. */
const ROOM = 40

/** Four organisations, a case in each. */
export async function givenPlace(t: TestLike, count = 3): Promise<Place> {
  const many = await givenMany(t)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-down-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await chmod(directory, 0o711)
  const settings = ['fsync=off', `max_connections=${ROOM}`, 'superuser_reserved_connections=2']
  const begin = () => startEmbedded(join(directory, 'data'), { settings })
  let server: Embedded = await begin()
  t.teardown(() => server.stop())
  const proxy = await lateProxy(t)
  proxy.to(server.url)
  const through = (url: string) => Object.assign(new URL(url), { host: `127.0.0.1:${proxy.port}` }).href
  const members: Member[] = [await many.add(RSINS[0], { databaseUrl: through(server.url) })]
  for (const rsin of RSINS.slice(1, 1 + count)) members.push(await many.add(rsin))
  for (const member of members) await giveClient(member)
  await members[0]!.database.close() // else it is this side that is seen at the server
  const api = await startApi(t, many)
  const worker = await startWorker(t, many)
  const ready = []
  for (const member of members) ready.push({ ...member, zaaktype: await givenZaaktype(api.as(member)) })
  const [bad, ...others] = ready as [Member & { zaaktype: string }, ...(Member & { zaaktype: string })[]]
  const cluster = join(directory, 'data', 'postgres')
  const admin = async <T>(work: (sql: postgres.Sql) => Promise<T>) => {
    const sql = postgres(server.url, { max: 1, onnotice: () => {} })
    return work(sql).finally(() => sql.end())
  }
  const drop = () =>
    admin(
      (sql) => sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name <> 'crowd'`,
    )

  const strikes: Record<Fault, () => Promise<() => Promise<void>>> = {
    async stopped() {
      const pids = await pidsOf(cluster)
      for (const pid of pids) kill(pid, 'SIGKILL')
      await server.stop().catch(() => {})
      return async () => {
        server = await begin()
        proxy.to(server.url)
      }
    },
    async frozen() {
      const pids = await pidsOf(cluster)
      for (const pid of pids) kill(pid, 'SIGSTOP')
      return async () => {
        for (const pid of pids) kill(pid, 'SIGCONT')
      }
    },
    async silent() {
      proxy.silence(true)
      return async () => proxy.silence(false)
    },
    async slow() {
      proxy.delay(LATE_MS)
      return async () => proxy.delay(0)
    },
    async full() {
      await admin((sql) =>
        sql.unsafe(`
        create function ${bad.schema}.is_full() returns trigger language plpgsql as
          $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
        create trigger is_full before insert on ${bad.schema}.audit for each row execute function ${bad.schema}.is_full()`),
      )
      return async () => void (await admin((sql) => sql.unsafe(`drop function ${bad.schema}.is_full() cascade`)))
    },
    async crowded() {
      const held: postgres.Sql[] = []
      await drop()
      for (let tries = 0; held.length < ROOM - 2 && tries < 200; tries++) {
        const sql = postgres(server.url, {
          max: 1,
          onnotice: () => {},
          idle_timeout: 0,
          connection: { application_name: 'crowd' },
        })
        await sql`select`.then(
          () => void held.push(sql),
          () => Promise.allSettled([sql.end({ timeout: 0 }), drop()]).then(() => {}), // what was ended connects again
        )
      }
      await sleep(0)
      return async () => void (await Promise.all(held.map((sql) => sql.end({ timeout: 1 }))))
    },
  }
  return {
    api,
    worker,
    bad,
    others,
    connections: proxy.count,
    async strike(fault) {
      const end = await strikes[fault]()
      return async () => {
        await end()
        const late = performance.now() + 90_000
        while ((await post(api, bad).catch(() => undefined))?.status !== 201) {
          if (performance.now() > late) throw new Error(`it does not come back after: ${fault}`)
          await sleep(100)
        }
      }
    },
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {} // it has ended
}

const CRS = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' }

/** Makes a case. */
export const post = (api: Api, member: { rsin: string; zaaktype: string }): Promise<Asked> =>
  api.ask(member, 'POST', `${ZAKEN}/zaken`, zaakBody(member.zaaktype), CRS)

/** The last cases. */
export const list = (api: Api, member: { rsin: string }): Promise<Asked> =>
  api.ask(member, 'GET', `${ZAKEN}/zaken?pageSize=10`, undefined, CRS)

/** A proxy whose answers may come late, or not at all, and which may lead elsewhere later. */
async function lateProxy(t: TestLike) {
  let target = { host: '', port: 0 }
  let ms = 0
  let isSilent = false
  const all = new Set<Socket>()
  let count = 0
  const server = createServer((near) => {
    count++
    const far = connect(target.port, target.host)
    let last = Promise.resolve()
    for (const one of [near, far]) {
      all.add(one)
      one.on('error', () => {})
    }
    near.once('close', () => {
      count--
      all.delete(near)
      far.destroy()
    })
    far.once('close', () => {
      all.delete(far)
      if (!isSilent) void last.then(() => near.destroy())
    })
    near.on('data', (bytes) => {
      if (!isSilent) far.write(bytes)
    })
    far.on('data', (bytes) => {
      if (isSilent) return
      const due = performance.now() + ms
      last = last.then(async () => {
        const left = due - performance.now()
        if (left > 0) await sleep(left)
        if (!near.destroyed) near.write(bytes)
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const one of all) one.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    count: () => count,
    to(url: string) {
      const { hostname, port } = new URL(url)
      target = { host: hostname, port: Number(port) }
    },
    delay(by: number) {
      ms = by
    },
    silence(is: boolean) {
      isSilent = is
      if (!is) for (const one of all) one.destroy() // what was dropped is missing
    },
  }
}

/** Resident memory of a process in MB, and its open files. */
export async function sizeOf(pid: number): Promise<{ memory: number; files: number }> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8')
  const files = (await readdir(`/proc/${pid}/fd`)).length
  return { memory: Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1]) / 1024), files }
}
