// The figures of all organisations, kept in the registry: workers read each organisation once a minute, on the connection that looks at
// its work anyway. So a page about hundreds of them asks one database, and finds what was read last of one that is away.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import { readSize, type Size } from '../database/size.ts'
import { isConnectionFault } from '../jobs/pool.ts'
import { type Figures, figuresOf, withConnection } from './figures.ts'
import { directUrlOf, type Organisation } from './organisation.ts'
import type { Registry } from './registry.ts'
import type { Runners } from './runners.ts'

/** Between two readings of one organisation, whichever worker reads it. */
const EVERY_S = 60
/** A round that came a little early counts. */
const EARLY_S = 5
/** How large it is, is read again after so long. */
const SIZED = '15 minutes'
/** Databases that are read at once. */
const AT_ONCE = 4

type Fault = '' | 'away' | 'unreadable'
type Read = { id: number; fault: Fault; seconds: number; figures: Figures | null }

/** What is kept of one, with what the centre changed last. */
export type Kept = {
  rsin: string
  /** Why it could not be read when it was tried last; '': it was. */
  fault: Fault
  faultSince: string | null
  readAt: string | null
  /** For how many seconds these figures have been there. */
  age: number | null
  figures: Figures | null
  changedAt: string | null
  actor: string | null
  action: string | null
}

/** Of all organisations. */
export async function readKept({ sql }: Pick<Database, 'sql'>): Promise<Kept[]> {
  return sql<Kept[]>`
    select o.rsin, coalesce(k.fault, '') as fault, k.fault_since as "faultSince", k.read_at as "readAt",
      extract(epoch from now() - k.read_at)::float8 as age, k.figures, c.at as "changedAt", c.actor, c.action
    from organisation o left join organisation_figures k on k.organisation_id = o.id
    left join lateral (select at, actor, action from organisation_change where rsin = o.rsin order by id desc limit 1) c on true`
}

/** Keeps them until it is stopped. One worker at a time reads an organisation; one that dies leaves it to the next round. */
export function keepFigures(
  parts: {
    control: Pick<Database, 'sql'>
    registry: Pick<Registry, 'all'>
    /** Where the work of an organisation is looked at. */
    runners: Pick<Runners, 'look'>
    log: Logger
  },
  { everyS = EVERY_S } = {},
): { stop(): Promise<void> } {
  const { control, registry, runners, log } = parts
  const ending = new AbortController()
  const running = (async () => {
    while (!ending.signal.aborted) {
      await round().catch((error) => log.debug({ err: error }, 'the figures of organisations are not kept now'))
      await sleep(everyS * 1000, undefined, { signal: ending.signal }).catch(() => {})
    }
  })()
  return {
    stop: async () => {
      ending.abort()
      await running
    },
  }

  async function round(): Promise<void> {
    const claimed = await claim(control, everyS - Math.min(EARLY_S, everyS))
    const due = new Map(claimed.map((one) => [one.id, one]))
    const organisations = registry.all().filter(({ id }) => due.has(id))
    const waiting = [...Map.groupBy(organisations, directUrlOf).values()]
    const take = async () => {
      for (let next = waiting.pop(); next && !ending.signal.aborted; next = waiting.pop())
        await keep(control, await readAll(next))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, take))

    /** Those of one database. When that is away nobody waits for it twice. */
    async function readAll(organisations: Organisation[]): Promise<Read[]> {
      const all: Read[] = []
      let isAway = false
      for (const one of organisations) {
        if (ending.signal.aborted) break
        const read: Read = isAway ? away(one, 0) : await readOne(one, due.get(one.id)?.size ?? null)
        isAway ||= read.fault === 'away'
        all.push(read)
      }
      return all
    }
  }

  async function readOne(organisation: Organisation, size: Size | null): Promise<Read> {
    const look = runners.look(organisation.rsin)
    if (look?.awayFor !== undefined) return away(organisation, look.awayFor)
    const { id } = organisation
    try {
      // Not on the connection of all: its process would keep what it knows of each table and index, megabytes of each organisation.
      const sized = size ?? (await withConnection(organisation, (sql) => readSize(sql)))
      const figures = await (look ? figuresOf(look.sql, look.schemas) : withConnection(organisation, figuresOf))
      return { id, fault: '', seconds: 0, figures: { ...sized, ...figures } }
    } catch (error) {
      if (isConnectionFault(error)) return away(organisation, 0)
      return { id, fault: 'unreadable', seconds: 0, figures: null }
    }
  }
}

const away = ({ id }: Organisation, seconds: number): Read => ({ id, fault: 'away', seconds, figures: null })

/** Takes those that nobody read lately. @returns them, with the size of those where it was read lately */
async function claim({ sql }: Pick<Database, 'sql'>, olderS: number) {
  return sql<{ id: number; size: Size | null }[]>`
    insert into organisation_figures as k (organisation_id, asked_at) select id, now() from organisation order by id
    on conflict (organisation_id) do update set asked_at = excluded.asked_at
      where k.asked_at <= now() - ${olderS}::int * interval '1 second'
    returning organisation_id as id, case when (figures->>'sizedAt')::timestamptz > now() - ${SIZED}::interval
      then jsonb_build_object('bytes', figures->'bytes', 'sizedAt', figures->'sizedAt') end as size`
}

async function keep({ sql }: Pick<Database, 'sql'>, all: Read[]): Promise<void> {
  const of = <K extends keyof Read>(name: K) => all.map((one) => one[name])
  const figures = all.map((one) => one.figures && JSON.stringify(one.figures))
  await sql`
    update organisation_figures k set fault = g.fault,
      fault_since = case when g.fault = '' then null when g.fault = k.fault then k.fault_since
        else now() - g.seconds * interval '1 second' end,
      read_at = case when g.fault = '' then now() else k.read_at end, figures = coalesce(g.figures::jsonb, k.figures)
    from unnest(${of('id')}::bigint[], ${of('fault')}::text[], ${of('seconds')}::float8[], ${figures}::text[])
      g(id, fault, seconds, figures)
    where k.organisation_id = g.id`
}
