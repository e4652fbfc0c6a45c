// The jobs of many organisations in one process. An organisation that has nothing to do costs a question every two seconds, on one connection for
// all that are in the same database. When it has something to do a runner is opened: a worker of that organisation, with
// connections of its own, which is closed when there was nothing to do for a while. So connections are bounded by how many runners
// are open at once. When more organisations have work than that, they take turns.
//
// Who opens one first holds an advisory lock for as long; another process joins in only when work waits for some seconds, or when the
// first one died: then its jobs are freed by the runner that is opened here (jobs/leases.ts). All of this says only who
// works when: that nothing is done twice is seen to by the queue, and by each job.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { Config } from '../config.ts'
import { logOptionsOf } from '../core/verwerkingen.ts'
import { type Database, isUnavailable, openDatabase } from '../database/database.ts'
import { startListening } from '../database/listen.ts'
import { one } from '../database/rows.ts'
import { schemasOf } from '../database/schema.ts'
import { type Periodic, spread } from '../jobs/periodic.ts'
import { isConnectionFault } from '../jobs/pool.ts'
import { openSignal } from '../notificaties/signal.ts'
import { openRepeats, type Repeats } from '../telemetry/repeats.ts'
import { countOrganisations, countRunners } from './metrics.ts'
import { directUrlOf, type Organisation } from './organisation.ts'
import type { Registry } from './registry.ts'
import { lookAtWork, type Work } from './work.ts'

export type Runner = { stop(): Promise<void> }

type Parts = {
  registry: Pick<Registry, 'all' | 'onChange'>
  /** @throws ConfigError when its settings are wrong */
  configOf(organisation: Organisation): Config
  open(organisation: { rsin: string; config: Config; url: string; periodic: Periodic[]; log: Logger }): Promise<Runner>
  /** What comes by the clock, in each organisation. */
  periodic: readonly Periodic[]
  /** Runners at once. */
  most: number
  log: Logger
}

/** For tests. */
type Times = { quietMs?: number; turnMs?: number }

export type Runners = {
  /** It looks at all databases, or tries to. */
  healthy(): boolean
  /** For whoever asks how it goes. */
  state(): { open: number; waiting: number; up: number; away: number }
  /** Where an organisation is looked at, and for how many seconds that has been away; undefined: nowhere, as it is not active. */
  look(rsin: string): { sql: Sql; schemas: Entry['schemas']; awayFor: number | undefined } | undefined
  stop(): Promise<void>
}

const LOOK_MS = 2_000
/** Between two looks, when something is announced. */
const SOON_MS = 25
/** A look is taken so many times its own duration later. */
const SPARINGLY = 5
/** A runner with nothing to do is closed after so long, or after the second when others wait. */
const QUIET_MS = 30_000
const IDLE_MS = 1_000
/** One that was opened for what comes by the clock alone. */
const BRIEF_MS = 3_000
/** One that has work to do is closed after so long when others wait. */
const TURN_MS = 15_000
/** An organisation where somebody works and makes no jobs has its runner opened so often: for what comes every minute. */
const CHANGED_MS = 60_000
/** Another process works for an organisation: it is helped when its work waits for so long. */
const HELP_S = 3
const FAILED_MS = 1_000
const FAILED_MOST_MS = 60_000
const HUNG_MS = 60_000
const STOP_MS = 5_000
/** The first of two keys of an advisory lock: who works for an organisation, by the hash of its schema. */
const WORKS = 31331

type Entry = {
  rsin: string
  /** What it was made from: another text, and it is made anew. */
  made: string
  config: Config
  url: string
  schemas: { own: string; queue: string }
  /** What its runner plans, and what opens one for that. */
  periodic: Periodic[]
  looked: Periodic[]
  log: Logger
  repeats: Repeats
  phase: 'closed' | 'opening' | 'open' | 'closing'
  runner?: Runner
  /** Whether this process is the first that works for it. */
  holds: boolean
  /** Of the phase. */
  since: number
  /** Since when it has work and no runner here. */
  wants: number | undefined
  work: Work | undefined
  /** Whether it was opened for what comes by the clock alone, and nothing has changed since. */
  isBrief: boolean
  /** Since when an open one has nothing to do. */
  idle: number | undefined
  /** The last change that was seen, and when. */
  changes: number | undefined
  changedAt: number
  failures: number
  notBefore: number
  isGone: boolean
  ended: Promise<void>
  place: Place
}

/** All that is reached by one address. */
type Place = {
  database: Database
  entries: Map<string, Entry>
  wake(): void
  awaySince: number | undefined
  lookedAt: number
  stop(): Promise<void>
}

/** Works for all organisations that are active, until it is stopped. */
export function openRunners(
  { registry, configOf, open, periodic, most, log }: Parts,
  { quietMs = QUIET_MS, turnMs = TURN_MS }: Times = {},
): Runners {
  const places = new Map<string, Place>()
  /** Whose runner still has to end, of organisations that are not looked at any more. */
  const leaving = new Set<Entry>()
  const repeats = openRepeats(log)
  let stopped = false
  const forget = registry.onChange(follow)
  follow(registry.all())

  return {
    healthy: () => !stopped && [...places.values()].every(({ lookedAt }) => performance.now() - lookedAt < HUNG_MS),
    state,
    look(rsin) {
      const place = [...places.values()].find(({ entries }) => entries.has(rsin))
      const entry = place?.entries.get(rsin)
      if (!place || !entry) return undefined
      const { database, awaySince } = place
      const awayFor = awaySince === undefined ? undefined : (performance.now() - awaySince) / 1000
      return { sql: database.sql, schemas: entry.schemas, awayFor }
    },
    async stop() {
      stopped = true
      forget()
      const entries = all()
      await Promise.all([...places.values()].map((place) => place.stop()))
      // One that waits for its database to open is not waited for.
      const close = async (entry: Entry) => {
        await Promise.race([
          entry.ended,
          sleep(entry.phase === 'opening' ? STOP_MS : 60_000, undefined, { ref: false }),
        ])
        if (entry.phase === 'open') await shut(entry)
      }
      await Promise.all(entries.map(close))
      await Promise.all([...places.values()].map(({ database }) => database.close()))
    },
  }

  function all(): Entry[] {
    return [...places.values()].flatMap(({ entries }) => [...entries.values()]).concat([...leaving])
  }

  function state() {
    const away = [...places.values()].filter(({ awaySince }) => awaySince !== undefined).length
    const entries = all()
    return {
      open: entries.filter(({ phase }) => phase !== 'closed').length,
      waiting: entries.filter(({ wants }) => wants !== undefined).length,
      up: places.size - away,
      away,
    }
  }

  /** Takes over what changed in the registry. */
  function follow(organisations: readonly Organisation[]): void {
    countOrganisations(organisations)
    const wanted = new Map<string, { address: string; made: string; organisation: Organisation }>()
    for (const one of organisations.filter(({ state }) => state === 'active')) {
      const { rsin } = one
      const made = JSON.stringify({ ...one, name: '', version: '', reason: '', move: undefined })
      wanted.set(rsin, { address: directUrlOf(one), made, organisation: one })
    }
    for (const [address, place] of places) {
      for (const [rsin, entry] of place.entries) {
        const now = wanted.get(rsin)
        if (now?.address === address && now.made === entry.made) continue
        place.entries.delete(rsin)
        entry.isGone = true
        leaving.add(entry)
        if (entry.phase === 'open') void shut(entry)
        else if (entry.phase === 'closed') leaving.delete(entry)
      }
    }
    for (const [rsin, { address, made, organisation }] of wanted) {
      if (places.get(address)?.entries.has(rsin)) continue
      const config = configFor(organisation)
      if (!config?.databaseUrl) continue
      const place = places.get(address) ?? openPlace(address, config.databaseUrl)
      places.set(address, place)
      place.entries.set(rsin, newEntry({ rsin, made, config, url: config.databaseUrl, place }))
      place.wake()
    }
    for (const [address, place] of places) {
      if (place.entries.size > 0) continue
      places.delete(address)
      void place.stop().then(() => place.database.close())
    }
  }

  function configFor(organisation: Organisation): Config | undefined {
    try {
      return configOf(organisation)
    } catch (error) {
      const { rsin } = organisation
      log.error({ organisation: rsin, err: error }, 'its settings are wrong: nothing is done for this organisation')
      return undefined
    }
  }

  function newEntry(given: Pick<Entry, 'rsin' | 'made' | 'config' | 'url' | 'place'>): Entry {
    const own = log.child({ organisation: given.rsin })
    const looked = periodic.map((job) => (job.every === '1 minute' ? { ...job, every: '15 minutes' as const } : job))
    return {
      ...given,
      schemas: schemasOf(given.url),
      periodic: spread(periodic, given.rsin),
      looked: spread(looked, given.rsin),
      log: own,
      repeats: openRepeats(own),
      phase: 'closed',
      holds: false,
      since: performance.now(),
      wants: undefined,
      work: undefined,
      isBrief: false,
      idle: undefined,
      changes: undefined,
      changedAt: performance.now(),
      failures: 0,
      notBefore: 0,
      isGone: false,
      ended: Promise.resolve(),
    }
  }

  /** Looks at all organisations of a database again and again, at once when a job is announced there. */
  function openPlace(address: string, url: string): Place {
    const database = openDatabase(address, {
      max: 1,
      name: 'organisations',
      settings: { statement_timeout: '10000', lock_timeout: '500' },
    })
    const signal = openSignal()
    const listener = startListening(url, 'jobs:insert', signal.tell, log)
    let isStopping = false
    const place: Place = {
      database,
      entries: new Map(),
      wake: signal.tell,
      awaySince: undefined,
      lookedAt: performance.now(),
      stop: async () => {
        isStopping = true
        signal.tell()
        await Promise.all([running, listener.close()])
      },
    }
    const running = (async () => {
      while (!isStopping) {
        signal.clear()
        const began = performance.now()
        await lookAt(place)
        place.lookedAt = performance.now()
        if (!isStopping) takeTurns()
        const least = Math.max(SOON_MS, SPARINGLY * (performance.now() - began))
        await signal.pause(least, Math.max(LOOK_MS, least))
      }
    })()
    return place
  }

  async function lookAt(place: Place): Promise<void> {
    const { database, entries } = place
    let isUp = entries.size === 0
    const look = async (entry: Entry) => {
      try {
        see(entry, await lookAtWork(database.sql, entry.schemas, entry.looked))
        isUp = true
      } catch (error) {
        if (isConnectionFault(error)) return
        isUp = true // while its tables are migrated they are locked
        if (isUnavailable(error)) return
        entry.repeats.say('error', { err: error }, 'what this organisation has to do cannot be read')
      }
    }
    await Promise.all([...entries.values()].map(look))
    if (isUp) {
      if (place.awaySince !== undefined) log.info({ organisations: entries.size }, 'a database is there again')
      place.awaySince = undefined
    } else if (place.awaySince === undefined) {
      place.awaySince = performance.now()
      repeats.say('warn', { organisations: [...entries.keys()].slice(0, 10) }, 'a database of organisations is away')
    }
  }

  function see(entry: Entry, work: Work): void {
    const now = performance.now()
    const { jobs, silent, stray, moment, unsettled, spooled, running, changes } = work
    const settles = logOptionsOf(entry.config)
    const isUnsettled = settles !== undefined && (unsettled || (settles.spools && spooled))
    const hasWork = jobs > 0 || silent > 0 || stray || moment || isUnsettled
    const hasChanged = entry.changes !== undefined && changes !== entry.changes
    entry.work = work
    if (entry.phase === 'open') {
      entry.idle = hasWork || running ? undefined : (entry.idle ?? now)
      if (hasChanged) Object.assign(entry, { changedAt: now, isBrief: false })
      entry.changes = changes
    } else if (entry.phase === 'closed') {
      entry.changes ??= changes
      const isDue = hasWork || (hasChanged && now - entry.since > CHANGED_MS)
      entry.wants = isDue && (work.workers === 0 || needsHelp(work)) ? (entry.wants ?? now) : undefined
    }
  }

  /** Opens and closes runners, so that whoever has work gets one, in turn. */
  function takeTurns(): void {
    if (stopped) return
    const now = performance.now()
    const isAway = new Set(
      [...places.values()].filter(({ awaySince }) => awaySince).flatMap(({ entries }) => [...entries.values()]),
    )
    const entries = all()
    const here = entries.filter((entry) => !isAway.has(entry)) // those of a database that is away have no connections
    const waiting = here
      .filter(({ phase, wants, notBefore, isGone }) => phase === 'closed' && wants && now >= notBefore && !isGone)
      .sort((a, b) => Number(isBrief(a)) - Number(isBrief(b)) || (a.wants ?? 0) - (b.wants ?? 0))
    const taken = here.filter(({ phase }) => phase !== 'closed')
    // What comes by the clock alone takes half of the places, so that a message waits for none of it.
    let brief = Math.ceil(most / 2) - taken.filter((entry) => entry.isBrief).length
    let free = most - taken.length
    let crowd = -taken.filter(({ phase }) => phase === 'closing').length
    for (const entry of waiting) {
      if (isBrief(entry) && brief-- <= 0) continue
      if (free-- > 0) start(entry)
      else crowd++
    }
    const idleFor = ({ idle }: Entry) => (idle === undefined ? 0 : now - idle)
    const isQuiet = (entry: Entry) => {
      const least = entry.isBrief ? Math.min(BRIEF_MS, quietMs) : quietMs
      return idleFor(entry) >= least && !entry.work?.soon && now - entry.changedAt >= least
    }
    const isOver = (entry: Entry) => idleFor(entry) >= IDLE_MS || now - entry.since >= turnMs
    const isOpen = here.filter(({ phase }) => phase === 'open')
    for (const entry of isOpen.sort((a, b) => idleFor(b) - idleFor(a) || a.since - b.since)) {
      if (!isQuiet(entry) && !(crowd > 0 && isOver(entry))) continue
      crowd--
      void shut(entry)
    }
    const jobs = entries.flatMap(({ rsin, work }) => (work && work.jobs > 0 ? [{ rsin, jobs: work.jobs }] : []))
    countRunners({ ...state(), jobs })
  }

  function start(entry: Entry): void {
    turn(entry, 'opening')
    entry.isBrief = isBrief(entry)
    entry.ended = work().then(takeTurns)

    async function work(): Promise<void> {
      try {
        if (!(await isFirst(entry))) {
          turn(entry, 'closed')
          entry.notBefore = performance.now() + LOOK_MS
          return
        }
        const { rsin, config, url, periodic, log } = entry
        entry.runner = await open({ rsin, config, url, periodic, log })
        entry.failures = 0
        entry.wants = undefined
        entry.idle = undefined
        entry.changedAt = performance.now()
        turn(entry, 'open')
        log.debug({ ms: Math.round(performance.now() - entry.since) }, 'works for this organisation')
      } catch (error) {
        if (isUnavailable(error)) entry.log.debug({ err: error }, 'the database of this organisation is away')
        else
          entry.repeats.say('error', { err: error }, 'nothing can be done for this organisation now: it is tried again')
        entry.notBefore = performance.now() + Math.min(FAILED_MS * 2 ** entry.failures++, FAILED_MOST_MS)
        await letGo(entry)
        turn(entry, 'closed')
      }
      if (entry.isGone && entry.phase === 'open') await shut(entry)
      else if (entry.isGone) leaving.delete(entry)
    }
  }

  /** Whether no other process works for it, or it needs help. */
  async function isFirst(entry: Entry): Promise<boolean> {
    const rows = await entry.place.database.sql<{ got: boolean }[]>`
      select pg_try_advisory_lock(${WORKS}::int, hashtext(${entry.schemas.own}::text)) as got`
    entry.holds = one(rows).got
    return entry.holds || (entry.work !== undefined && needsHelp(entry.work))
  }

  async function letGo(entry: Entry): Promise<void> {
    if (!entry.holds) return
    entry.holds = false
    const { sql } = entry.place.database
    await sql`select pg_advisory_unlock(${WORKS}::int, hashtext(${entry.schemas.own}::text))`.catch(() => {})
  }

  function shut(entry: Entry): Promise<void> {
    const { runner, log } = entry
    turn(entry, 'closing')
    entry.ended = (async () => {
      await runner?.stop().catch((error) => log.error({ err: error }, 'a runner did not stop in order'))
      delete entry.runner
      await letGo(entry)
      entry.changes = entry.work?.changes
      turn(entry, 'closed')
      leaving.delete(entry)
      log.debug('works for this organisation no more')
    })().then(takeTurns)
    return entry.ended
  }

  function turn(entry: Entry, phase: Entry['phase']): void {
    entry.phase = phase
    entry.since = performance.now()
  }
}

/** Whether it wants a runner for what comes by the clock alone. */
const isBrief = ({ work }: Entry) => work?.jobs === 0 && work.silent === 0 && !work.stray

/** Whether those who work for it have too much to do, or died. */
const needsHelp = ({ late, silent, stray }: Work) => late > HELP_S || silent > HELP_S || stray
