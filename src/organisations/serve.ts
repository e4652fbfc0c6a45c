// The organisations that a process answers for. What one has (its pool, settings, keys, stores) is opened at its first request, by all who
// wait for it together, and closed when it was quiet for a while. Nothing here waits for an organisation but requests of its own.
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Problem } from '../core/problem.ts'
import { whenClosed } from '../http/when-closed.ts'
import { inOrganisation, type OpenOrganisation, outside } from '../telemetry/current-organisation.ts'
import { openRepeats, type Repeats } from '../telemetry/repeats.ts'
import { countOrganisations, countServed } from './metrics.ts'
import type { Organisation } from './organisation.ts'
import type { Registry } from './registry.ts'

/** So long nobody asks for it, and it is closed here. */
const QUIET_MS = 60_000
const LOOK_MS = 5_000
/** So long a request waits for what is being opened. */
const WAIT_MS = 3_000
/** One that could not be opened is tried again after so long. */
const AGAIN_MS = 1_000
/** A request has waited for so long: its database is asked whether it answers, and for as long as it does not. */
const LATE_MS = 2_000
const ASK_MS = 1_000
/** And that of one that is open so often: a pooler may send its sessions elsewhere from one moment to the next. */
const ALWAYS_MS = 30_000
/** Answers that go on have so long when it was suspended, moved or removed. */
const CUT_MS = 5_000
/** Requests that are answered at once, unless its limits say otherwise. */
export const REQUESTS = 256

/** What is opened of an organisation. */
export type Opened<P> = {
  parts: P
  /** Whether its database answers, with the tables of this organisation. */
  answers?(): Promise<boolean>
  close(): Promise<void>
}
export type Served<P> = OpenOrganisation & { parts: P }

type Entry<P> = {
  organisation: Organisation
  print: string
  /** Requests that use it, and since when. */
  users: Map<ServerResponse, number>
  usedAt: number
  opening: Promise<Served<P>> | undefined
  began: number
  failedAt: number
  served: Served<P> | undefined
  answers: (() => Promise<boolean>) | undefined
  askedAt: number
  close: () => Promise<void>
  repeats: Repeats
}

export type Organisations<P> = {
  /** Whose host it is, as a request names it. */
  find(host: string): Organisation | undefined
  /**
   * What is open of it, for as long as this answer is on its way.
   * @throws Problem 503 when it is suspended, read-only for a change, on its way to another database, away, or has too much to do
   */
  enter(organisation: Organisation, request: { isChange: boolean; raw: ServerResponse }): Promise<Served<P>>
  /** How many are open here, and of how many the database did not answer. */
  figures(): { open: number; away: number }
  /** How many requests of one are answered here now. */
  requests(rsin: string): number
  close(): Promise<void>
}

/** A host without its port, as the registry has it. */
export const hostOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')

/** @param open opens one; it may fail, and may take long */
export function openOrganisations<P>(parts: {
  registry: Registry
  open(organisation: Organisation, log: Logger): Promise<Opened<P>>
  log: Logger
  quietMs?: number
}): Organisations<P> {
  const { registry, open, log, quietMs = QUIET_MS } = parts
  const entries = new Map<string, Entry<P>>()
  const closing = new Set<Promise<void>>()
  let isClosed = false

  function entryOf(organisation: Organisation): Entry<P> {
    const known = entries.get(organisation.rsin)
    if (known?.organisation === organisation) return known
    const print = printOf(organisation)
    if (known?.print === print) {
      known.organisation = organisation
      return known
    }
    if (known) retire(known)
    const entry: Entry<P> = {
      organisation,
      print,
      users: new Map(),
      usedAt: performance.now(),
      opening: undefined,
      began: 0,
      failedAt: Number.NEGATIVE_INFINITY,
      served: undefined,
      answers: undefined,
      askedAt: performance.now(),
      close: async () => {},
      repeats: openRepeats(log),
    }
    entries.set(organisation.rsin, entry)
    return entry
  }

  function begin(entry: Entry<P>): Promise<Served<P>> {
    const { organisation, repeats } = entry
    const { rsin } = organisation
    entry.began = performance.now()
    const opening = outside(() => open(organisation, log.child({ organisation: rsin }))).then(
      ({ parts, answers, close }) => {
        const served: Served<P> = { rsin, parts, endings: [] }
        entry.served = served
        entry.answers = answers
        entry.close = () => inOrganisation(served, () => end(served, close))
        return served
      },
    )
    opening.catch((error) => {
      entry.failedAt = performance.now()
      entry.opening = undefined
      repeats.say('error', { organisation: rsin, err: error }, 'an organisation cannot be opened')
    })
    entry.opening = opening
    return opening
  }

  async function opened(entry: Entry<P>): Promise<Served<P>> {
    if (entry.served?.isAway) throw away()
    if (entry.served) return entry.served
    if (!entry.opening && performance.now() - entry.failedAt < AGAIN_MS) throw away()
    // One that failed is looked for again without anybody having to wait for it.
    const hasFailed = Number.isFinite(entry.failedAt)
    const opening = entry.opening ?? begin(entry)
    const left = hasFailed ? 0 : entry.began + WAIT_MS - performance.now()
    if (left <= 0) throw away()
    const late = new AbortController()
    try {
      return await Promise.race([
        opening,
        sleep(left, undefined, { signal: late.signal, ref: false }).then(() => {
          throw away()
        }),
      ])
    } catch (error) {
      throw error instanceof Problem ? error : away()
    } finally {
      late.abort()
    }
  }

  /** It is closed when the last request that uses it is through. */
  function retire(entry: Entry<P>, cutMs?: number): void {
    if (entries.get(entry.organisation.rsin) === entry) entries.delete(entry.organisation.rsin)
    if (cutMs !== undefined) cut(entry, cutMs)
    if (entry.users.size === 0) shut(entry)
  }

  function shut(entry: Entry<P>): void {
    const work = (async () => {
      await entry.opening?.catch(() => {})
      await entry.close()
    })().catch((error) =>
      log.warn({ organisation: entry.organisation.rsin, err: error }, 'an organisation was not closed'),
    )
    closing.add(work)
    void work.finally(() => closing.delete(work))
  }

  function leave(entry: Entry<P>, raw: ServerResponse): void {
    if (!entry.users.delete(raw)) return
    entry.usedAt = performance.now()
    const isRetired = entries.get(entry.organisation.rsin) !== entry
    if (isRetired && entry.users.size === 0) shut(entry)
  }

  const figures = () => {
    const all = [...entries.values()]
    const open = all.filter(({ served }) => served).length
    const away = all.filter(({ served, failedAt }) => (served ? served.isAway : Number.isFinite(failedAt))).length
    return { open, away }
  }

  const look = () => {
    const quiet = performance.now() - quietMs
    for (const entry of entries.values()) if (entry.users.size === 0 && entry.usedAt < quiet) retire(entry)
    countServed(figures())
  }
  const timer = setInterval(look, Math.min(LOOK_MS, quietMs)).unref()

  /** Databases are asked side by side, so that one that is silent holds up no other. */
  const ask = () => {
    const late = performance.now() - LATE_MS
    for (const entry of entries.values()) {
      const { users, served, answers } = entry
      const [longest] = users.values()
      const isLate = longest !== undefined && longest < late
      const isDue = entry.askedAt < performance.now() - ALWAYS_MS
      if (!served || !answers || !(served.isAway || isLate || isDue)) continue
      entry.askedAt = performance.now()
      void outside(answers).then((isThere) => {
        if (!isThere && !served.isAway)
          log.warn({ organisation: served.rsin }, 'the database of an organisation does not answer')
        if (isThere && served.isAway)
          log.info({ organisation: served.rsin }, 'the database of an organisation answers again')
        served.isAway = !isThere
      })
    }
  }
  const asking = setInterval(ask, ASK_MS).unref()

  countOrganisations(registry.all())
  const ignore = registry.onChange((all) => {
    countOrganisations(all)
    const byRsin = new Map(all.map((one) => [one.rsin, one]))
    for (const entry of [...entries.values()]) {
      const now = byRsin.get(entry.organisation.rsin)
      if (!now || now.state === 'suspended' || now.state === 'moving' || printOf(now) !== entry.print)
        retire(entry, CUT_MS)
    }
  })

  return {
    find: (host) => {
      const found = registry.byHost(hostOf(host))
      return found?.state === 'adding' ? undefined : found
    },
    async enter(organisation, { isChange, raw }) {
      const { state, limits } = organisation
      if (isClosed) throw away()
      if (state === 'suspended')
        throw new Problem(503, { code: 'organisation-suspended', detail: 'Deze organisatie is stilgezet.' })
      if (state === 'moving') throw away()
      if (state === 'read-only' && isChange) {
        const detail = 'Van deze organisatie wordt nu alleen gelezen.'
        throw new Problem(503, { code: 'organisation-read-only', detail, headers: { 'retry-after': '60' } })
      }
      const entry = entryOf(organisation)
      if (entry.users.size >= (limits.requests ?? REQUESTS)) {
        const detail = 'Deze organisatie heeft nu te veel aanvragen tegelijk.'
        throw new Problem(503, { detail, headers: { 'retry-after': '1' } })
      }
      entry.users.set(raw, performance.now())
      whenClosed(raw, () => leave(entry, raw))
      return opened(entry)
    },
    figures,
    requests: (rsin) => entries.get(rsin)?.users.size ?? 0,
    close: async () => {
      isClosed = true
      clearInterval(timer)
      clearInterval(asking)
      ignore()
      for (const entry of [...entries.values()]) {
        entries.delete(entry.organisation.rsin)
        // What does not open holds up nobody.
        if (entry.served) shut(entry)
      }
      await Promise.all(closing)
    },
  }
}

/** What it is opened with: when this changes it is opened anew. */
const printOf = ({ hosts, databaseUrl, schema, dataKeys, secretKey, settings, limits }: Organisation): string =>
  JSON.stringify([hosts, databaseUrl, schema, dataKeys, secretKey, settings, limits])

const away = () => new Problem(503, { headers: { 'retry-after': '1' } })

async function end({ endings }: OpenOrganisation, close: () => Promise<void>): Promise<void> {
  await using all = new AsyncDisposableStack()
  all.defer(close)
  for (const work of endings.splice(0)) all.defer(async () => void (await work()))
}

/** Parts from those who are still reading then. */
function cut({ users }: { users: Map<ServerResponse, number> }, ms: number): void {
  if (users.size === 0) return
  setTimeout(() => {
    for (const raw of users.keys()) raw.destroy()
  }, ms).unref()
}
