// Two servers, an organisation on the first of them, and clients that go on writing while it moves.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { givenInformatieobjecttype } from '../app.ts'
import { serverDirectory, startPrimary } from '../database/servers.ts'
import { givenType, ZAKEN, zaakBody } from '../zaken/given.ts'
import { givenMany, type Many, type Member } from './many.ts'
import { type Api, envOf, giveClient, startApi, startWorker } from './processes.ts'

type TestLike = { teardown(work: () => unknown): unknown }
export type Outcome = { code: number | null; stdout: string; stderr: string }

const MAIN = join(import.meta.dirname, '../../src/main.ts')
export const RSIN = '000000012'
/** A table is copied by a process of its own: the more at once, the sooner it is done. */
const SETTINGS =
  '-c wal_level=logical -c max_worker_processes=30 -c max_logical_replication_workers=20 -c max_sync_workers_per_subscription=8 -c max_wal_senders=30 -c max_replication_slots=30'

export type Moving = {
  many: Many
  api: Api
  worker: Awaited<ReturnType<typeof startWorker>>
  member: Member
  from: string
  to: string
  /** The last lines with a fault in the log of the second server. */
  faults(): Promise<string[]>
  /** At each of both servers. */
  sqls: { from: postgres.Sql; to: postgres.Sql }
  /** `zaakstroom organisation …` */
  run(...args: string[]): Promise<Outcome>
  /** The same, killed so long after its start, or after a line with this text on standard error. */
  kill(args: string[], when: { ms: number; after?: RegExp }): Promise<Outcome>
}

export async function givenMoving(t: TestLike): Promise<Moving> {
  const at = await serverDirectory(t)
  const [from, to] = (await Promise.all(
    ['from', 'to'].map(async (name) => {
      const { port } = await startPrimary(t, join(at, name), SETTINGS)
      return `postgres://postgres@127.0.0.1:${port}/postgres`
    }),
  )) as [string, string]
  const many = await givenMany(t)
  const member = await many.add(RSIN, { databaseUrl: from })
  await giveClient(member)
  await member.database.close() // it follows no move
  const [api, worker] = await Promise.all([startApi(t, many), startWorker(t, many)])
  const sqls = {
    from: postgres(from, { max: 2, onnotice: () => {} }),
    to: postgres(to, { max: 2, onnotice: () => {} }),
  }
  t.teardown(() => Promise.all([sqls.from.end(), sqls.to.end()]))
  const env = envOf(many, { LOG_LEVEL: 'silent' })
  return {
    ...{ many, api, worker, member, from, to, sqls },
    faults: async () =>
      (await readFile(join(at, 'to', 'log'), 'utf8'))
        .split('\n')
        .filter((line) => / (ERROR|FATAL|DETAIL|CONTEXT): /.test(line) && !/could not drop/.test(line))
        .slice(0, 12),
    run: (...args) =>
      new Promise((resolve) => {
        execFile(process.execPath, [MAIN, 'organisation', ...args], { env }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        )
      }),
    async kill(args, { ms, after }) {
      const child = spawn(process.execPath, [MAIN, 'organisation', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      const outcome: Outcome = { code: null, stdout: '', stderr: '' }
      const begun = Promise.withResolvers<void>()
      if (!after) begun.resolve()
      child.stdout.on('data', (text) => {
        outcome.stdout += text
      })
      child.stderr.on('data', (text) => {
        outcome.stderr += text
        if (after?.test(outcome.stderr)) begun.resolve()
      })
      const ended = once(child, 'close')
      await Promise.race([ended, begun.promise.then(() => sleep(ms))])
      child.kill('SIGKILL')
      const [code] = await ended
      return { ...outcome, code }
    },
  }
}

export type Made = { url: string; kind: 'zaak' | 'status' | 'document' }
export type Load = {
  /** What was acknowledged. */
  made: Made[]
  /** Answers other than 201, and connections that broke. */
  refused: { at: number; status: number | string; retryAfter: unknown; body: string }[]
  /** When an answer was 201. */
  good: number[]
  stop(): Promise<void>
}

const CRS = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' }

/** So many clients make cases with a status, and documents, one after the other. */
export async function startLoad({ api, member }: Pick<Moving, 'api' | 'member'>, clients: number): Promise<Load> {
  const test = api.as(member)
  const { zaaktype, begin } = await givenType(test)
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const load: Load = { made: [], refused: [], good: [], stop: async () => {} }
  let isOn = true
  const make = async (kind: Made['kind'], path: string, body: object): Promise<string | undefined> => {
    const at = performance.now()
    try {
      const { status, headers, body: answer, text } = await api.ask(member, 'POST', path, body, CRS)
      if (status === 201) {
        load.good.push(performance.now())
        load.made.push({ kind, url: answer.url })
        return answer.url
      }
      load.refused.push({ at, status, retryAfter: headers['retry-after'], body: text.slice(0, 300) })
    } catch (error) {
      load.refused.push({
        at,
        status: String((error as { code?: string }).code ?? error),
        retryAfter: undefined,
        body: '',
      })
    }
    await sleep(50)
    return undefined
  }
  const document = {
    ...{ bronorganisatie: '517439943', creatiedatum: '2026-03-02', titel: 'Brief', auteur: 'Iemand', taal: 'dut' },
    ...{ informatieobjecttype, inhoud: Buffer.from('inhoud').toString('base64'), bestandsomvang: 6 },
  }
  const client = async () => {
    while (isOn) {
      const zaak = await make('zaak', `${ZAKEN}/zaken`, zaakBody(zaaktype))
      if (zaak)
        await make('status', `${ZAKEN}/statussen`, { zaak, statustype: begin, datumStatusGezet: new Date(2026, 2, 3) })
      await make('document', '/documenten/api/v1/enkelvoudiginformatieobjecten', document)
      await sleep(20)
    }
  }
  const running = Promise.all(Array.from({ length: clients }, client))
  load.stop = async () => {
    isOn = false
    await running
  }
  return load
}

/** For how long nobody got a 201, each time that somebody was refused. */
export function gapsOf({ refused, good }: Load): number[] {
  const gaps = new Map<number, number>()
  for (const { at } of refused) {
    const before = Math.max(...good.filter((one) => one <= at), 0)
    const after = Math.min(...good.filter((one) => one > at))
    gaps.set(before, after - before)
  }
  return [...gaps.values()]
}

/** One line for each row of every table of an organisation, by table. */
export async function rowsOf(sql: postgres.Sql, schema: string): Promise<Map<string, string[]>> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${schema}, ${`${schema}_queue`}) and c.relkind = 'r' order by 1, 2`
  const found = new Map<string, string[]>()
  for (const { schema, name } of tables) {
    const rows = await sql.unsafe<{ hash: string }[]>(
      `select md5(r::text) as hash from "${schema}"."${name}" r order by 1`,
    )
    found.set(
      name,
      rows.map(({ hash }) => hash),
    )
  }
  return found
}

/** What a move leaves while it goes on, at either server. */
export async function leftAt(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select slot_name::text as name from pg_replication_slots union all select pubname::text from pg_publication
    union all select subname::text from pg_subscription`
  return rows.map(({ name }) => name)
}

/** Whether the schema of the organisation is there, under its own name. */
export async function isAt(sql: postgres.Sql, schema: string): Promise<boolean> {
  return (await sql`select from pg_namespace where nspname = ${schema}`).length > 0
}
