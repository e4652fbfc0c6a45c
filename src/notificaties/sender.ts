// sender: looks for deliveries that are due, has them sent, and has recorded what became of them, for as long as there are
// any. It is what the job `send-notificaties` runs; adding that job is all that wakes it.
//
// When it looks, and who wakes it. Recording a message wakes a sender with graphile-worker's add_job (`wake_sender`), which
// notifies. But transactions that notify are committed one by one, each with its own wait for the disk. The insert of a case with its
// message and delivery, by pgbench on a disk that syncs (2 cores, PostgreSQL 15, medians of three interleaved runs), in commits a second:
//   clients   nobody is woken   pg_notify in each   add_job in each
//   10        723               264                 214
//   20        889               244                 166
//   40        941               222                 140
// So waking at every commit takes 63 to 76 % of the rate, and with a job 70 to 85 %: it is not for us. In its place a sender looks on
// by itself for a while after the last message that it found, and says so with a row in `active_sender`; while there is
// such a row, nobody is woken. Nothing in this depends on a clock or on anybody being quick:
// - A transaction writes its deliveries first, which gives it a number, and then reads `active_sender` as it is
//   committed at that moment.
// - A sender that wants to sleep takes its row away, commits, and asks for the number that the next transaction will get. A
//   transaction that still saw the row has a lower one. So the sender looks on until all with lower numbers have ended, and
//   once more after that. Whoever comes later wakes it, or another.
// - A transaction that sees a job which waits for a worker adds none: that would wait for the row of the job, one change for the
//   other, as long as no worker takes it. Whoever takes the job later looks on in the same way, until this transaction has ended.
// A row of a worker that is gone from table `worker` does not count, and one whose worker was killed is taken away within a moment
// (`replaceGoneSenders`). Every worker wakes a sender every few seconds when
// something is overdue (`wakeOverdue`), for what the rules above do not cover: a sender that is frozen, a job that somebody
// removed. Retries are no matter of looking on: before it sleeps, the sender plans a job for the moment of the next one.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { EXTERNAL } from '../core/outbox.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Database, isUnavailable } from '../database/database.ts'
import { expected } from '../database/rows.ts'
import { notificationAttempts, notificationDelay, recordFailures } from '../telemetry/metrics.ts'
import { openRepeats } from '../telemetry/repeats.ts'
import { traced } from '../telemetry/tracing.ts'
import { delayAfter } from './backoff.ts'
import {
  type Claimed,
  type ClaimOptions,
  claim,
  type Ended,
  LOOK_AT_ALL,
  planNextLook,
  type Recorded,
  record,
  releaseStuck,
  renewPlans,
} from './claims.ts'
import { type Deliver, openDelivery } from './deliver.ts'
import { openLowerBounds } from './lower-bounds.ts'
import { openSignal, type Signal } from './signal.ts'
import { together } from './together.ts'

export type SenderParts = {
  config: Config
  /** Opens a connection; again when one that is open may hang. */
  open: () => Database
  box: SecretBox
  log: Logger
}

export type Sender = {
  /**
   * Sends what is due until nothing came for a while, or `stop`. A second call while the first still runs makes that look at
   * once, and returns.
   * @param poolId the registration of the worker that it is for (table `worker`)
   * @param options.all whether it may have missed something, and looks from the oldest on
   */
  run(poolId: string, options?: { all?: boolean }): Promise<void>
  /** Takes nothing more; `run` returns when what is under way has ended. */
  stop(): void
  /** Sends what is due now, one by one, and what may be sent because of that. */
  once(): Promise<void>
  /** Drops its connections, since they may hang. */
  cut(): void
  /** Closes its connections, and gives up what still waits for the database. */
  close(): Promise<void>
}

const COLLECT_MS = 8 // what ends within so many milliseconds is recorded together
const RELEASE_MS = 10_000 // between two looks for what is parked and held up by nothing,
const SPARINGLY = 50 // or so many times as long as one takes
const PORTION = 20 // in one statement; the next need not wait for it
const LOOK_MS = 4 // between two looks, when the last one found more than one message
const LAZY_MS = 20 // the same, when it found one; twice as long when it found none, and so on,
const IDLE_MS = 60 // up to this,
const LONG_IDLE_MS = 1_000 // or this, when it lingers long,
const GLANCE_MS = 3 // but sooner when a glance tells that there is a new message: the first after so long,
const GLANCE_MOST_MS = 10 // the next ones after a quarter of the time since the last message, up to this,
const LONG_GLANCE_MS = 25 // or this, when it lingers long
const AT_ONCE_MS = 2 // when it is told that there is something to look for
const LINGER_MS = 300 // looks on for so long after the last find,
const LONG_LINGER_MS = 5_000 // or for so long when it was woken within so long after it slept: a job a message is dear while an old snapshot is held,
const LINGER_LOOKS = 7 // and with at least so many looks: on a busy machine they take long
const ASLEEP_MS = 250 // between two looks while it wants to sleep
const CONFIRM_MS = 1_000 // says again that it looks by itself
const SHIFT_MS = 600_000 // then a job of its own goes on: graphile-worker gives up on jobs that last for hours
const SUBSCRIBERS_AT_ONCE = 200 // deliveries to all abonnementen together
const AGAIN_MS = 1_000 // what could not be recorded is tried again after this, twice as long each time,
const AGAIN_MOST_MS = 300_000 // up to this
const MOST_UNRECORDED = 1_000 // with so many nothing more is sent
const LOOK_AGAIN_MS = 1_000 // a look that failed is tried again after this, twice as long each time,
const LOOK_AGAIN_MOST_MS = 30_000 // up to this

const ALARM_MOST_S = 86_400 // what is planned later is left to the job
const CANNOT_WAKE = 'a sender that woke for a retry failed: a job does it again'

const CANNOT_RECORD =
  'the outcome of a notification could not be recorded: it is tried again, and not sent again meanwhile'

const waitAfter = (tries: number, first: number, most: number): number => Math.min(first * 2 ** tries, most)

const keyOf = (one: { notificatieId: number; abonnementId: number }) => `${one.notificatieId} ${one.abonnementId}`

type Loop = {
  poolId: string
  wake(): void
  stopping: boolean
  /** A job was run meanwhile, which transactions may count on. */
  isAsked: boolean
}

/** Opens the sender of a process. All that it sends, from wherever it was started, shares the same few connections. */
export function openSender(parts: SenderParts): Sender {
  const { config, box, log } = parts
  // One to look with, one to record with: neither waits for the other.
  let database = parts.open()
  let recording = parts.open()
  const delivery: Deliver = openDelivery(config, box)
  const recordTogether = together({ ms: COLLECT_MS, portion: PORTION }, async (ended: Ended[]) => {
    const { recorded, released, recovered } = await record(recording, ended)
    if (recovered) bounds.forget()
    if (released) await lookAgain()
    return recorded
  })
  const busy = new Map<string, Claimed>()
  const delivering = new Set<Promise<void>>()
  /** What of that is being sent, or failed. What was accepted only waits to be recorded. */
  const open = new Map<string, Claimed>()
  /**
   * Attempts of which the outcome cannot be recorded, and the timer of the next try. The receiver had its call: it gets no other
   * while this process lives. They stay claimed, and count against what their receiver gets at once.
   */
  const unrecorded = new Map<string, NodeJS.Timeout>()
  const repeats = openRepeats(log)
  let failedLooks = 0
  let loop: Loop | undefined
  let closed = false
  let lastLook: Promise<unknown> = Promise.resolve()
  let newest = 0 // the last message that was seen
  let lastPool = ''
  let asleepSince = Number.NEGATIVE_INFINITY
  const bounds = openLowerBounds()
  /** For the moment of the next retry. A job is there for when this process has died; it comes when the queue is polled, seconds late. */
  let alarm: NodeJS.Timeout | undefined
  let lastRelease = { at: Number.NEGATIVE_INFINITY, ms: 0 }

  const own: Sender = {
    async run(poolId, { all = false } = {}) {
      if (all || lastPool !== poolId) bounds.forget()
      lastPool = poolId
      clearTimeout(alarm)
      if (loop?.poolId === poolId && !loop.stopping) {
        loop.isAsked = true
        return loop.wake()
      }
      const signal = openSignal()
      const mine: Loop = { poolId, wake: signal.tell, stopping: false, isAsked: false }
      loop = mine
      try {
        const [registered] = await persist(
          () => database.sql<{ id: number }[]>`select id from worker where pool_id = ${poolId}`,
        )
        if (registered) await lookOn(mine, signal, registered.id) // else it was declared dead meanwhile
      } finally {
        if (loop === mine) loop = undefined
      }
      await Promise.all(delivering)
    },
    stop() {
      clearTimeout(alarm)
      if (!loop) return
      loop.stopping = true
      loop.wake()
    },
    async once() {
      while ((await releaseStuck(database)) > 0);
      for (;;) {
        const { rows, claimed } = await look({ worker: 0, external: 1, total: 1 })
        if (rows.length === 0) return
        for (const one of claimed) await deliver(one)
      }
    },
    cut() {
      const old = [database, recording]
      database = parts.open()
      recording = parts.open()
      for (const { sql } of old) void sql.end({ timeout: 0 })
    },
    close: async () => {
      closed = true
      clearTimeout(alarm)
      if (loop) loop.stopping = true
      for (const timer of unrecorded.values()) clearTimeout(timer)
      await Promise.all([delivery.close(), database.close(), recording.close()])
    },
  }
  return own

  async function lookOn(mine: Loop, signal: Signal, worker: number): Promise<void> {
    const began = performance.now()
    let found = began
    let confirmed = Number.NEGATIVE_INFINITY
    let empty = 0
    const linger = began - asleepSince < LONG_LINGER_MS ? LONG_LINGER_MS : LINGER_MS
    /** Set while it wants to sleep: number of the first transaction that will wake somebody. */
    let asleepFrom: string | undefined
    let isFull = false
    // What is due for the external service was claimed already, unless there was no room for more. An abonnement gets only a few
    // at once: when one has ended, the next may go.
    const ended = (one: Claimed) => {
      if (isFull || asleepFrom !== undefined || one.abonnementId !== EXTERNAL) signal.tell()
    }
    if (began - lastRelease.at > Math.max(RELEASE_MS, SPARINGLY * lastRelease.ms)) {
      await patiently(async () => {
        while ((await releaseStuck(database)) > 0);
      })
      lastRelease = { at: performance.now(), ms: performance.now() - began }
    }
    while (!mine.stopping) {
      const pause = await patiently(async (): Promise<number | undefined> => {
        if (asleepFrom === undefined && performance.now() - confirmed > CONFIRM_MS) {
          await sayAwake(worker)
          await Promise.all([renewPlans(database), renewPlans(recording)])
          confirmed = performance.now()
        }
        signal.clear()
        const { isAsked } = mine
        mine.isAsked = false
        if (isAsked && asleepFrom !== undefined) {
          asleepFrom = await goToSleep(worker).catch((error) => {
            mine.isAsked = true
            throw error
          })
        }
        const external = roomFor(config.notificationsConcurrency, (one) => one.abonnementId === EXTERNAL)
        const total = roomFor(SUBSCRIBERS_AT_ONCE, (one) => one.abonnementId !== EXTERNAL)
        isFull = external === 0
        if (external + total === 0) return LAZY_MS
        // Before the look: what began earlier, and may count on us, has then ended or is seen.
        const allEnded = asleepFrom !== undefined && (await haveEnded(asleepFrom))
        const looked = await look({ worker, external, total })
        isFull = looked.claimed.filter((one) => one.abonnementId === EXTERNAL).length === external
        for (const one of looked.claimed) start(one, () => ended(one))
        const now = performance.now()
        if (looked.rows.length > 0) {
          found = now
          empty = 0
          if (asleepFrom !== undefined) confirmed = Number.NEGATIVE_INFINITY
          asleepFrom = undefined
          const isQuiet = looked.rows.length === 1 && looked.claimed.length === 1 && !isFull
          return isQuiet ? LAZY_MS : LOOK_MS
        }
        empty++
        // What is still under way tells when it has ended.
        if (asleepFrom !== undefined)
          return allEnded && busy.size === unrecorded.size ? undefined : Math.min(LAZY_MS * empty, ASLEEP_MS)
        if (now - found > linger && empty > LINGER_LOOKS) {
          empty = 0
          asleepFrom = await goToSleep(worker)
          return 0
        }
        return Math.min(LAZY_MS * 2 ** empty, now - found > LINGER_MS ? LONG_IDLE_MS : IDLE_MS)
      })
      if ((pause === undefined && !signal.isTold()) || performance.now() - began > SHIFT_MS) break
      if (asleepFrom === undefined) await pauseUntilNew(signal, pause ?? 0, found)
      else await signal.pause(AT_ONCE_MS, pause ?? 0)
    }
    if (loop === mine) loop = undefined // who comes now starts anew, and looks
    await patiently(async () => {
      await goToSleep(worker)
      if (performance.now() - began > SHIFT_MS || mine.stopping) await wakeAnother()
      else wakeIn(await planNextLook(database, bounds.from(performance.now())), mine.poolId)
    })
    asleepSince = performance.now()
  }

  /** @param seconds undefined: there is nothing to wake for */
  function wakeIn(seconds: number | undefined, poolId: string): void {
    clearTimeout(alarm)
    if (seconds === undefined || seconds > ALARM_MOST_S || closed || loop) return
    const wake = () => void own.run(poolId).catch((error) => repeats.say('error', { err: error }, CANNOT_WAKE))
    alarm = setTimeout(wake, Math.max(0, seconds * 1000)).unref()
  }

  /**
   * Pauses for so long, or until there is a new message. A glance costs a tenth of a look, whatever the number of
   * abonnementen. Messages that commit in another order than their numbers are left to the look after the pause.
   */
  async function pauseUntilNew(signal: Signal, ms: number, found: number): Promise<void> {
    const until = performance.now() + ms
    for (;;) {
      const now = performance.now()
      const most = now - found > LINGER_MS ? LONG_GLANCE_MS : GLANCE_MOST_MS
      const glance = Math.min(Math.max(GLANCE_MS, (now - found) / 4), most)
      await signal.pause(AT_ONCE_MS, Math.min(Math.max(0, until - now), glance))
      if (signal.isTold() || performance.now() >= until) return
      const [row] = await database.sql<{ id: number | null }[]>`select max(id) as id from notificatie`.catch(() => [])
      const id = row?.id ?? 0
      if (id <= newest) continue
      newest = id
      return
    }
  }

  /** How many more may be taken in one look, when so many may be sent at once. As many again may wait to be recorded. */
  function roomFor(atOnce: number, counts: (one: Claimed) => boolean): number {
    if (unrecorded.size >= MOST_UNRECORDED) return 0
    const goesOn = (one: Claimed) => counts(one) && !unrecorded.has(keyOf(one))
    const sending = open.values().filter(goesOn).toArray().length
    const inHand = busy.values().filter(goesOn).toArray().length
    return Math.max(0, Math.min(atOnce - sending, 2 * atOnce - inHand, PORTION))
  }

  /** An outage of the database is waited for; so is a fault that it may get over, a little longer. */
  async function patiently<T>(work: () => Promise<T>): Promise<T | number> {
    try {
      const done = await work()
      failedLooks = 0
      return done
    } catch (error) {
      if (isUnavailable(error)) await sleep(200)
      else {
        repeats.say('error', { err: error }, 'looking for notifications failed')
        const until = performance.now() + waitAfter(failedLooks++, LOOK_AGAIN_MS, LOOK_AGAIN_MOST_MS)
        while (!closed && loop?.stopping !== true && performance.now() < until) await sleep(200)
      }
      return LOOK_MS
    }
  }

  /** What the receiver did cannot be asked again: while our own database is away, its answer is held on to. */
  async function persist<T>(work: () => Promise<T>): Promise<T> {
    for (let delay = 200; ; delay = Math.min(delay * 2, 2_000)) {
      try {
        return await work()
      } catch (error) {
        if (closed || !isUnavailable(error)) throw error
        repeats.say('warn', { code: (error as { code?: string }).code }, 'what was sent waits to be recorded')
        await sleep(delay)
      }
    }
  }

  async function sayAwake(worker: number): Promise<void> {
    // Rarely, since every change reads this table.
    await database.sql`
      insert into active_sender as a (worker_id) values (${worker})
      on conflict (worker_id) do update set seen_at = excluded.seen_at
      where a.seen_at < excluded.seen_at - interval '1 minute'`
    await database.sql`delete from active_sender where worker_id not in (select id from worker)`
    await seeUnderWay()
  }

  /** Messages of a transaction that writes already may be due since it began. */
  async function seeUnderWay(): Promise<void> {
    const [row] = await database.sql<{ seconds: number | null }[]>`
      select extract(epoch from now() - min(xact_start))::float8 as seconds from pg_stat_activity
      where backend_xid is not null and pid <> pg_backend_pid() and datname = current_database()`
    bounds.underWay(row?.seconds ?? null, performance.now())
  }

  /** The number of a transaction of ours: whoever may still count on us has a lower one. */
  async function goToSleep(worker: number): Promise<string> {
    await database.sql`delete from active_sender where worker_id = ${worker}`
    await seeUnderWay()
    const rows = await database.sql<{ next: string }[]>`select pg_current_xact_id()::text as next`
    return expected(rows[0]).next
  }

  async function haveEnded(next: string): Promise<boolean> {
    const [row] = await database.sql<[{ ended: boolean }]>`
      select pg_snapshot_xmin(pg_current_snapshot()) >= ${next}::text::xid8 as ended`
    return row.ended
  }

  /** Something became due by what was just recorded. Whoever sends one by one looks anyway. */
  async function lookAgain(): Promise<void> {
    if (loop) loop.wake()
    else if (delivering.size > 0) await wakeAnother().catch(() => {}) // or it is overdue soon, and found
  }

  async function wakeAnother(): Promise<void> {
    await database.sql`select add_job('send-notificaties', ${LOOK_AT_ALL}::text::json, job_key => 'send-notificaties')`
  }

  /** One look, and one at a time in a process: what the other has just claimed is in hand, but not known to be yet. */
  function look(options: Omit<ClaimOptions, 'busy' | 'open' | 'from'>): ReturnType<typeof claim> {
    const looking = lastLook.then(async () => {
      const looked = await lookFromBounds(options)
      for (const one of looked.claimed) {
        newest = Math.max(newest, one.notificatieId)
        clearTimeout(unrecorded.get(keyOf(one))) // its worker was declared dead: the attempt of before counts no more
        unrecorded.delete(keyOf(one))
        busy.set(keyOf(one), one)
        open.set(keyOf(one), one)
      }
      return looked
    })
    lastLook = looking.catch(() => {})
    return looking
  }

  async function lookFromBounds(options: Omit<ClaimOptions, 'busy' | 'open' | 'from'>): ReturnType<typeof claim> {
    const inHand = { busy: [...busy.values()], open: [...open.values()] }
    const { from, end } = bounds.begin(performance.now(), { ...options, open: inHand.open })
    try {
      const looked = await claim(database, { ...options, ...inHand, from })
      end(looked)
      return looked
    } catch (error) {
      bounds.forget() // what was claimed is not known: the answer may be lost
      throw error
    }
  }

  function start(one: Claimed, ended: () => void): void {
    const delivery = deliver(one, ended)
    delivering.add(delivery)
    void delivery.finally(() => {
      delivering.delete(delivery)
      ended()
    })
  }

  async function deliver(one: Claimed, freed = () => {}): Promise<void> {
    const { notificatieId, abonnementId, attempt, message } = one
    const receiver = one.abonnement?.uuid ?? 'extern'
    const about = { 'zaakstroom.message': message.uuid, 'zaakstroom.receiver': receiver, 'zaakstroom.attempt': attempt }
    const ended = await traced(
      'deliver',
      { kind: 'CLIENT', attributes: about, parent: message.traceparent },
      async (note) => {
        const made = await delivery.post(one)
        if (made.httpStatus !== null) note({ 'http.response.status_code': made.httpStatus })
        note({ 'zaakstroom.outcome': made.outcome }, made.outcome !== 'delivered')
        return made
      },
    )
    const isDelivered = ended.outcome === 'delivered'
    // After a failure of an abonnement the next waits until that is recorded: it decides when the abonnement is tried again.
    if (isDelivered || abonnementId === EXTERNAL) open.delete(keyOf(one))
    freed()
    const wait = isDelivered ? null : delayAfter(one.retries, one, ended.retryAfter)
    await recordOutcome(one, { ...ended, notificatieId, abonnementId, attempt, wait })
  }

  /** Has an attempt recorded; when that fails, tries it again later, however often. @param tries that failed before */
  async function recordOutcome(one: Claimed, ended: Ended, tries = 0): Promise<void> {
    const key = keyOf(one)
    let recorded: Recorded
    try {
      recorded = await persist(() => recordTogether(ended))
    } catch (error) {
      recordFailures.inc()
      if (closed || busy.get(key) !== one) return // whoever finds it in nobody's hands claims it again
      const facts = { err: error, notificatie: one.message.uuid, unrecorded: unrecorded.size + (tries ? 0 : 1) }
      repeats.say('error', facts, CANNOT_RECORD)
      open.set(key, one)
      const again = () => void recordOutcome(one, ended, tries + 1)
      unrecorded.set(key, setTimeout(again, waitAfter(tries, AGAIN_MS, AGAIN_MOST_MS)).unref())
      return
    }
    if (busy.get(key) !== one) return // it was claimed anew meanwhile
    busy.delete(key)
    open.delete(key)
    if (unrecorded.delete(key)) {
      if (unrecorded.size === 0) repeats.forget(CANNOT_RECORD)
      if (loop) loop.wake()
      else await wakeAnother().catch(() => {}) // or it is overdue soon, and found
    }
    tell(one, ended, recorded)
  }

  function tell(one: Claimed, ended: Ended, { isOurs, isLast }: Recorded): void {
    const { message, attempt } = one
    const isDelivered = ended.outcome === 'delivered'
    notificationAttempts.inc({ outcome: ended.outcome })
    if (isDelivered && !one.replay) {
      notificationDelay.observe(Math.max(0, Date.now() - Date.parse(message.aanmaakdatum)) / 1000)
    }
    const facts = {
      notificatie: message.uuid,
      ...(message.requestId && { reqId: message.requestId }),
      ...(one.abonnement && { abonnement: one.abonnement.uuid }),
      attempt,
      ms: ended.ms,
    }
    if (!isOurs) log.warn(facts, 'another worker has taken this notification over; this attempt does not count')
    else if (isDelivered) log.debug(facts, 'notification delivered')
    else
      log.warn(
        {
          ...facts,
          kind: ended.outcome,
          status: ended.httpStatus,
          ...(ended.code && { code: ended.code }),
          final_try: isLast,
          retry_in: isLast ? null : ended.wait,
        },
        'notification_delivery_failed',
      )
  }
}
