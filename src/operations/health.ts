import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireKeys } from '../core/key-register.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'
import { requireKnownSchema } from '../database/migrate.ts'
import { refusedHosts } from '../database/primary.ts'
import { refusalInWords } from '../database/refusal.ts'
import type { Replica } from '../database/replica.ts'
import { one } from '../database/rows.ts'
import { newKey, type Store } from '../documenten/storage/index.ts'
import { LIVEZ } from '../http/liveness.ts'
import type { ProcessSettings } from './process-settings.ts'

type Check = { status: 'ok' | 'late' | 'degraded' | 'failed'; detail?: string }
/** A scanner of documents, several hosts and a replica only where the program was given one. */
type Checks = Record<'database' | 'schema' | 'key' | 'storage' | 'queue', Check> &
  Partial<Record<'malwareScanner' | 'hosts' | 'replica' | 'organisations' | 'settings', Check>>

/**
 * `/livez` says that the process answers and touches nothing else. `/readyz` asks database, schema, key, storage and queue,
 * each for at most two seconds, and is 503 when one fails or the process is stopping. A queue that is late is told but
 * does not take the API out of service: its requests do not depend on it. Nor does a replica that cannot be read, or a malware
 * scanner that is away. It is `degraded`, with 200, when documents can be read and not be written, S3 or Azure is slow or away, or another
 * host takes writes: everything else works, at every process alike. So it is when another process has other
 * settings; with another PUBLIC_URL than a process that was there before it is 503. The names that Open Zaak uses work too.
 * @returns what answers such a request
 */
export function registerHealth(
  app: FastifyInstance,
  { ready, stopping }: { ready: () => Promise<Partial<Checks>>; stopping: () => boolean },
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const config = { access: 'public' as const, isOfProcess: true }
  let warned: string | undefined
  const answer = async ({ routeOptions }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (LIVEZ.includes(routeOptions.url ?? '')) return reply.send({ status: 'ok' })
    const checks = await ready()
    const newer = checks.schema?.status === 'ok' ? checks.schema.detail : undefined
    if (newer && newer !== warned) app.log.warn(`the schema of the database is ${newer}: upgrade soon`)
    warned = newer
    const status = stopping() ? 'stopping' : overall(checks)
    return reply.code(status === 'stopping' || status === 'failed' ? 503 : 200).send({ status, checks })
  }
  for (const path of [...LIVEZ, '/readyz', '/_healthz/readyz/', '/_healthz/'])
    app.get(path, { config, logLevel: 'warn' }, answer)
  return answer
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It tells of the process, at whatever host it is asked. */
    isOfProcess?: boolean
  }
}

/** What the checks say together. Only `failed` takes a process out of service. */
export function overall(checks: Partial<Checks>): 'ok' | 'degraded' | 'failed' {
  const all = Object.values(checks).map(({ status }) => status)
  return all.includes('failed') ? 'failed' : all.includes('degraded') ? 'degraded' : 'ok'
}

const LATE_AFTER_SECONDS = 60
const REMEMBER_MS = 1000

/** `readiness`, asked at most once a second however many want to know: whoever reaches the port may ask, without a token. */
export function rememberedReadiness(parts: Parameters<typeof readiness>[0]): () => ReturnType<typeof readiness> {
  let kept: ReturnType<typeof readiness> | undefined
  return () => {
    if (!kept) {
      const forget = sleep(REMEMBER_MS, undefined, { ref: false })
      kept = readiness(parts)
      void Promise.all([kept, forget]).finally(() => {
        kept = undefined
      })
    }
    return kept
  }
}

/** The state of everything that this process depends on, without texts from inside (paths, addresses). */
export async function readiness(parts: {
  database: Database
  replica?: Replica | undefined
  store: Store
  box: SecretBox
  shared?: Pick<ProcessSettings, 'differences'> | undefined
}): Promise<Checks> {
  const { sql } = parts.database
  const { scanner } = parts.store
  const [database, schema, key, storage, queue, malwareScanner] = await Promise.all([
    check('not reachable', async () => {
      if (!(await parts.database.answers())) throw new Error('no answer')
      const rows = await sql<{ writable: boolean }[]>`
        select current_setting('transaction_read_only') = 'off' as writable`
      if (!one(rows).writable) return { status: 'failed', detail: 'read-only' } // a standby, or a server that was told so
    }),
    check('not the schema of this version', async () => {
      const newer = await requireKnownSchema(sql)
      // An upgrade is rolling out: this process goes on until it is replaced.
      if (newer.length > 0) return { status: 'ok', detail: `newer than this version: ${newer.join(', ')}` }
    }),
    check('a key is not the one with which this database was written', async () => {
      const { ring } = parts.box
      await requireKeys(sql, parts.box)
      // What is sealed with them is refused, and all else works.
      if (ring.lacking.size > 0)
        return { status: 'degraded', detail: `DATA_KEYS lacks ${[...ring.lacking].join(', ')}` }
    }),
    storeState(parts.store),
    check('not readable', async () => {
      const rows = await sql<{ seconds: number }[]>`
        select coalesce(extract(epoch from now() - min(run_at)), 0)::float8 as seconds
        from jobs where locked_at is null and attempts < max_attempts and run_at < now()`
      const seconds = Math.round(one(rows).seconds)
      return { status: seconds > LATE_AFTER_SECONDS ? 'late' : 'ok', detail: `oldest waiting job: ${seconds} s` }
    }),
    scanner && check('no answer', () => scanner.check()),
  ])
  const replica = parts.replica?.state()
  const differences = parts.shared?.differences() ?? []
  const differs = new Set(differences.map(({ setting }) => setting))
  const isRefused = refusedHosts().length > 0
  return {
    ...{ database, schema, key, storage, queue },
    // Documents are still read without it, and all else works.
    ...(malwareScanner && {
      malwareScanner: { ...malwareScanner, status: malwareScanner.status === 'ok' ? 'ok' : 'late' } as const,
    }),
    ...(isRefused && {
      hosts: { status: 'degraded', detail: 'another host takes writes on an older timeline: it is refused' } as const,
    }),
    ...(differs.size > 0 && {
      settings: {
        status: differences.some(({ isSplit }) => isSplit) ? 'failed' : 'degraded',
        detail: `another process has another ${[...differs].join(', ')}`,
      } as const,
    }),
    ...(replica && { replica: replica.usable ? { status: 'ok' } : { status: 'late', detail: replica.reason } }),
  }
}

/**
 * Of a process for many organisations: whether it hears which there are. One that does not goes on with those that it read last; an
 * organisation that is away takes no process out of service.
 */
export async function registryReadiness(registry: Pick<Database, 'answers'>): Promise<Partial<Checks>> {
  const isThere = await registry.answers()
  return {
    organisations: isThere
      ? { status: 'ok' }
      : { status: 'late', detail: 'the registry is not reachable: as last read' },
  }
}

/** Of the storage and the scanner alone, without the database. */
export async function storageChecks(store: Store): Promise<Pick<Checks, 'storage' | 'malwareScanner'>> {
  const { scanner } = store
  const storage = await storeState(store)
  return { storage, ...(scanner && { malwareScanner: await check('no answer', () => scanner.check()) }) }
}

/** What was found of a store, and the look at it that is under way. */
type Looked = { running?: Promise<Check> | undefined; last?: { check: Check; at: number } | undefined }
const looked = new WeakMap<Store, Looked>()

const PATIENCE_MS = 500
const OLD_MS = 30_000

/**
 * How a store is. A look at one that is slow goes on beside the requests that ask, and what it finds is remembered: until then the
 * one before counts. A store that all processes share takes none of them out of service: none is better than another.
 */
async function storeState(store: Store): Promise<Check> {
  const state = looked.get(store) ?? {}
  looked.set(store, state)
  state.running ??= lookAt(store).then((check) => {
    state.last = { check, at: performance.now() }
    state.running = undefined
    return check
  })
  const { last } = state
  const isFresh = last && performance.now() - last.at < OLD_MS
  const late = sleep(isFresh ? PATIENCE_MS : WAIT_MS, undefined, { ref: false })
  return (await Promise.race([state.running, late])) ?? (isFresh ? last.check : unusable(store, NO_ANSWER))
}

async function lookAt(store: Store): Promise<Check> {
  try {
    await store.check()
    return { status: 'ok' }
  } catch {
    // A store that cannot be written to, as a full one, still gives what is in it.
    return store.read(newKey()).then(
      () => ({ status: 'degraded', detail: 'not writable: documents are read, and new ones refused' }),
      () => unusable(store, 'not writable'),
    )
  }
}

/** A directory may be away at this machine alone. */
const unusable = ({ backend }: Store, detail: string): Check => ({
  status: backend === 'filesystem' ? 'failed' : 'degraded',
  detail,
})

const WAIT_MS = 2000
const NO_ANSWER = 'no answer within 2 s'

async function check(fault: string, work: () => Promise<unknown>): Promise<Check> {
  const { promise: late, resolve } = Promise.withResolvers<Check>()
  const timer = setTimeout(resolve, WAIT_MS, { status: 'failed', detail: NO_ANSWER })
  try {
    return await Promise.race([
      work().then((result) => (result as Check | undefined) ?? { status: 'ok' as const }),
      late,
    ])
  } catch (error) {
    return { status: 'failed', detail: refusalInWords(error) ?? fault }
  } finally {
    clearTimeout(timer)
  }
}
