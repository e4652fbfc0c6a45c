// verzenden: takes the messages that are due, makes an attempt to deliver each to the notifications service, and writes down
// what became of it.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { SecretBox } from '../autorisaties/secret-box.ts'
import type { Config } from '../config.ts'
import { type Database, isUnavailable } from '../database/database.ts'
import { listen } from '../http/listen.ts'
import type { OwnRunner, Place } from '../jobs/worker.ts'
import { type FailureKind, failureKind, openAgent, type RemoteService, send } from '../services/services.ts'
import { notificationAttempts, notificationDelay } from '../telemetry/metrics.ts'
import { delayAfter, type Herhaling } from './backoff.ts'

export type VerzenderParts = {
  config: Config
  /** Opens the connections; again when those that are open may hang. */
  open: () => Database
  box: SecretBox
  log: Logger
}
export type Uitkomst = 'delivered' | 'http' | FailureKind

/** A message as the notifications service gets it. */
export type Bericht = {
  kanaal: string
  source?: string
  hoofdObject: string
  resource: string
  resourceUrl: string
  actie: string
  aanmaakdatum: string
  kenmerken: Record<string, string>
}

type Taken = Omit<RemoteService, 'uuid'> &
  Herhaling &
  Omit<Bericht, 'source'> & {
    job: number
    id: number
    nummer: number
    herhalingen: number
    uuid: string
    dienstUuid: string
  }
/** How many jobs were due, and the messages of those that are to be sent now. */
type Looked = { jobs: number; taken: Taken[] }
type Attempt = { uitkomst: Uitkomst; httpStatus: number | null; antwoord: string | null; duurMs: number }
type Ended = Attempt & { job: number; id: number; nummer: number; wacht: number | null }

const MAX_ANSWER = 4096
const COLLECT_MS = 8 // what ends within so many milliseconds is written down together
const PORTION = 20 // in one statement; the next need not wait for it
const LOOK_MS = 2 // between two looks for what is due
const IDLE_MS = 500 // the same, when nobody tells of anything: retries, and what a crash left
const ABORT_MS = 25_000 // of what is under way, after being told to stop

/*
 * When the sender looks. Who records a message wakes a sender that sleeps, by a NOTIFY. But transactions that notify are
 * committed one by one, each with its own wait for the disk. So a sender that found messages several times in quick
 * succession promises to look by itself for the next PROMISE_MS, again with every look as long as there is something;
 * until then nobody notifies. The promise is a row in the database (notificatie_zender), by its clock. A message of which the
 * transaction lasted longer than the promise is found with the next idle look.
 */
const QUICK_MS = 15
const SUCCESSION = 4
const PROMISE_MS = 300
const AFTERWARDS_MS = 250
const SLOWEST_MS = 40

export type Verzender = {
  /** Sends what is due, until it is stopped. */
  start(place: Place): OwnRunner
  /** Sends what is due now, one by one, and what may be sent because of that. */
  once(): Promise<void>
  /** Closes its connections. */
  close(): Promise<void>
}

/** Opens the sender. All that it sends, from wherever it was started, shares the same few connections. */
export function openVerzender(parts: VerzenderParts): Verzender {
  const { config, box, log } = parts
  const places = config.notificationsConcurrency
  let database = parts.open()
  const agent = openAgent({ connections: places })
  const noteer = together(COLLECT_MS, (ended: Ended[]) => noteerAlle(database, ended))
  const busy = new Map<number, { taken: Taken; done: (() => void)[] }>()
  let posting = 0

  return {
    start(place) {
      const { poolId, jobs, confirmed } = place
      const aborted = new AbortController()
      const ended = Promise.withResolvers<void>()
      const delivering = new Set<Promise<void>>()
      let stopping = false
      let isTold = false
      let isMore = false
      let goOn = () => {}
      const wake = () => {
        isTold = true
        goOn()
      }
      const freed = () => {
        if (isMore) wake()
      }
      const listening = listen(database.url, 'notificatie', wake, log)
      void look()
        .catch((error) => log.error({ err: error }, 'the sender of notifications failed'))
        .then(() => Promise.all(delivering))
        .then(() => ended.resolve())
      return {
        ended: ended.promise,
        stop() {
          stopping = true
          wake()
          void listening.then((listener) => listener.close())
          setTimeout(() => aborted.abort(), ABORT_MS).unref()
          return ended.promise
        },
        cut() {
          const old = database
          database = parts.open()
          void old.sql.end({ timeout: 0 })
        },
      }

      async function look(): Promise<void> {
        let succession = 0
        let found = Number.NEGATIVE_INFINITY
        let promised = Number.NEGATIVE_INFINITY
        let empty = 0
        while (!stopping) {
          await confirmed()
          isTold = false
          // What is sent but not yet written down counts as well, so that it stays little.
          const room = Math.min(places - posting, 2 * places - busy.size, PORTION)
          if (room > 0) {
            const began = performance.now()
            const promise = succession >= SUCCESSION && began - found < QUICK_MS
            let looked: Looked
            try {
              looked = await neemAlle(database, poolId, room, promise)
            } catch (error) {
              if (!isUnavailable(error)) log.error({ err: error }, 'looking for notifications failed')
              await sleep(isUnavailable(error) ? 200 : 1_000)
              continue
            }
            const now = performance.now()
            if (promise) promised = now + PROMISE_MS
            if (looked.jobs > 0) {
              succession = began - found < QUICK_MS ? succession + 1 : 1
              found = now
              empty = 0
            } else empty++
            for (const one of looked.taken) {
              const job = String(one.job)
              jobs.set(job, 'running')
              const done = () => void jobs.delete(job)
              const delivery = deliver(one, done, freed, aborted.signal)
              delivering.add(delivery)
              void delivery.finally(() => {
                delivering.delete(delivery)
                freed()
              })
            }
            isMore = looked.jobs === room
          } else isMore = true
          if (stopping) break
          const isAwake = performance.now() < promised + AFTERWARDS_MS
          await pause(LOOK_MS, isAwake ? Math.min(LOOK_MS * 2 ** empty, SLOWEST_MS) : IDLE_MS)
        }
      }

      /** So long, or until somebody tells of something; but never shorter than `least`. */
      function pause(least: number, most: number): Promise<void> {
        const { promise, resolve } = Promise.withResolvers<void>()
        const began = performance.now()
        let timer = setTimeout(resolve, isTold ? least : most)
        goOn = () => {
          goOn = () => {}
          clearTimeout(timer)
          const rest = stopping ? 0 : began + least - performance.now()
          if (rest <= 0) resolve()
          else timer = setTimeout(resolve, rest)
        }
        return promise
      }
    },

    async once() {
      const poolId = `once-${randomUUID()}`
      for (;;) {
        const { jobs, taken } = await neemAlle(database, poolId, 1, false)
        if (jobs === 0) return
        for (const one of taken) await deliver(one)
      }
    },
    close: async () => {
      await Promise.all([agent.destroy(), database.close()])
    },
  }

  async function deliver(taken: Taken, done = () => {}, freed = () => {}, stop?: AbortSignal): Promise<void> {
    const under = busy.get(taken.job)
    if (under) {
      // A crash of the database undid that it was taken: what is under way counts as the attempt that was begun now.
      under.taken.nummer = taken.nummer
      under.done.push(done)
      return
    }
    const delivery = { taken, done: [done] }
    busy.set(taken.job, delivery)
    posting++
    const attempt = await post(taken)
    posting--
    freed()
    const wacht = attempt.uitkomst === 'delivered' ? null : (delayAfter(taken.herhalingen, taken) ?? null)
    const { job, id } = taken
    let ours: boolean
    try {
      ours = await persist(() => noteer({ job, id, nummer: taken.nummer, wacht, ...attempt }), stop)
    } catch (error) {
      // The job is given back, by whoever finds it without an owner.
      log.error({ err: error, notificatie: taken.uuid }, 'the outcome of a notification could not be written down')
      return
    } finally {
      busy.delete(job)
      for (const each of delivery.done) each()
    }
    notificationAttempts.inc({ outcome: attempt.uitkomst })
    if (attempt.uitkomst === 'delivered') {
      notificationDelay.observe(Math.max(0, Date.now() - Date.parse(taken.aanmaakdatum)) / 1000)
    }
    const facts = { notificatie: taken.uuid, attempt: taken.nummer, ms: attempt.duurMs }
    if (!ours) log.warn(facts, 'another worker has taken this notification over; this attempt does not count')
    else if (attempt.uitkomst === 'delivered') log.debug(facts, 'notification delivered')
    else
      log.warn(
        { ...facts, kind: attempt.uitkomst, status: attempt.httpStatus, final_try: wacht === null, retry_in: wacht },
        'notification_delivery_failed',
      )
  }

  async function post(taken: Taken): Promise<Attempt> {
    const { kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken } = taken
    const source = config.notificationsSource
    const bericht: Bericht = {
      kanaal,
      ...(source && { source }),
      hoofdObject,
      resource,
      resourceUrl,
      actie,
      aanmaakdatum,
      kenmerken,
    }
    const began = performance.now()
    const since = () => Math.round(performance.now() - began)
    try {
      const url = new URL('notificaties', taken.apiRoot)
      const headers = { 'x-message-id': taken.uuid }
      const dienst = { ...taken, uuid: taken.dienstUuid }
      const answer = await send(agent, dienst, box, {
        url,
        method: 'POST',
        body: JSON.stringify(bericht),
        headers,
        limit: MAX_ANSWER,
      })
      const delivered = answer.status >= 200 && answer.status < 300
      // PostgreSQL keeps no NUL
      const antwoord = answer.body.toString('utf8').replaceAll('\0', '\uFFFD')
      return { uitkomst: delivered ? 'delivered' : 'http', httpStatus: answer.status, antwoord, duurMs: since() }
    } catch (error) {
      return { uitkomst: failureKind(error), httpStatus: null, antwoord: null, duurMs: since() }
    }
  }
}

async function neemAlle({ sql }: Database, poolId: string, count: number, promise: boolean): Promise<Looked> {
  const rows = await sql<(Taken | { nummer: null })[]>`
    select job, id, nummer, herhalingen, uuid, kanaal, hoofd_object as "hoofdObject", resource,
      resource_url as "resourceUrl", actie, aanmaakdatum, kenmerken, max_retries as "maxRetries", backoff,
      backoff_max as "backoffMax", base_factor as "baseFactor", dienst_uuid as "dienstUuid", api_root as "apiRoot",
      authenticatie, client_id as "clientId", header, geheim, gebruikers_id as "gebruikersId",
      gebruikers_weergave as "gebruikersWeergave", termijn_ms as "termijnMs"
    from neem_notificaties(${poolId}, ${count}, ${promise})`
  return { jobs: rows.length, taken: rows.filter((row): row is Taken => row.nummer !== null) }
}

async function noteerAlle({ sql }: Database, ended: Ended[]): Promise<boolean[]> {
  const column = <K extends keyof Ended>(name: K) => ended.map((one) => one[name])
  const [row] = await sql<{ ours: number[] }[]>`
    select noteer_notificatie_pogingen(${column('job')}::bigint[], ${column('id')}::bigint[],
      ${column('nummer')}::integer[], ${column('uitkomst')}::text[], ${column('httpStatus')}::integer[],
      ${column('antwoord')}::text[], ${column('duurMs')}::integer[], ${column('wacht')}::float8[]) as ours`
  const ours = new Set(row!.ours)
  return ended.map((_, index) => ours.has(index + 1))
}

/**
 * Does in one go what is asked within so many milliseconds, or as soon as it is a portion. When that fails, each is tried by
 * itself, so that none fails because of another.
 */
function together<In, Out>(ms: number, work: (asked: In[]) => Promise<Out[]>): (one: In) => Promise<Out> {
  let waiting: { one: In; resolve(out: Out | PromiseLike<Out>): void }[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = async () => {
    clearTimeout(timer)
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      const out = await work(batch.map(({ one }) => one))
      for (const [index, { resolve }] of batch.entries()) resolve(out[index]!)
    } catch (error) {
      const alone = async (one: In) => {
        if (batch.length === 1) throw error
        return (await work([one]))[0]!
      }
      for (const { one, resolve } of batch) resolve(alone(one))
    }
  }
  return (one) =>
    new Promise((resolve) => {
      waiting.push({ one, resolve })
      if (waiting.length === PORTION) flush()
      else if (waiting.length === 1) timer = setTimeout(flush, ms)
    })
}

/** What the receiver did cannot be asked again: while our own database is away, its answer is held on to. */
async function persist<T>(work: () => Promise<T>, stop?: AbortSignal): Promise<T> {
  for (let delay = 200; ; delay = Math.min(delay * 2, 2_000)) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error) || stop?.aborted) throw error
      await sleep(delay)
    }
  }
}
