// What the page of the centre asks: of all organisations, from the memory of this process and the one database of the registry, which is
// not waited for. Pages have these functions, and neither that database nor the secrets of anybody.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { type Kept, readKept } from './keep-figures.ts'
import { type Limits, limitsFor, type Organisation, type Sealed } from './organisation.ts'
import type { Registry } from './registry.ts'
import { type Organisations, REQUESTS } from './serve.ts'

/** What may be known of an organisation: none of its secrets, and no value of a setting. */
export type Known = Omit<Organisation, keyof Sealed | 'limits'> & {
  /** Those that count, also where they are those of the installation. */
  limits: Limits
  /** Names of its own settings. */
  settings: string[]
  /** Requests that this process answers for it now. */
  requests: number
}
export type Change = { id: number; at: string; actor: string; action: string; fields: string[]; account: string }
type Cursor = { na?: string; voor?: string }

export type Overview = {
  all(): Known[]
  find(rsin: string): Known | undefined
  /** What is kept of each, by RSIN. `isLate`: the registry did not answer in time, and this is what was read last; undefined: nothing was. */
  kept(): Promise<{ all: ReadonlyMap<string, Kept> | undefined; isLate: boolean }>
  /** What was changed of one, the newest first; undefined when the registry does not answer in time. */
  changes(rsin: string, limit: number, cursor: Cursor): Promise<Change[] | undefined>
}

/** A page waits for the registry for so long. */
const WAIT_MS = 150

export function openOverview(
  control: Pick<Database, 'sql'>,
  registry: Pick<Registry, 'all' | 'byRsin'>,
  organisations: Pick<Organisations<unknown>, 'requests'>,
  config: Config,
): Overview {
  let last: ReadonlyMap<string, Kept> | undefined
  let reading: Promise<ReadonlyMap<string, Kept>> | undefined
  const read = () =>
    (reading ??= readKept(control)
      .then((rows) => (last = new Map(rows.map((row) => [row.rsin, row]))))
      .finally(() => {
        reading = undefined
      }))
  const known = (organisation: Organisation): Known => {
    const { databaseUrl: _, dataKeys: __, secretKey: ___, move: ____, settings, ...others } = organisation
    return {
      ...others,
      limits: { requests: REQUESTS, ...limitsFor(organisation, config) },
      settings: Object.keys(settings).toSorted(),
      requests: organisations.requests(others.rsin),
    }
  }
  return {
    all: () => registry.all().map(known),
    find: (rsin) => {
      const found = registry.byRsin(rsin)
      return found && known(found)
    },
    async kept() {
      const all = await inTime(read())
      return { all: all ?? last, isLate: all === undefined }
    },
    changes: (rsin, limit, { na, voor }) =>
      inTime(
        voor === undefined
          ? control.sql<Change[]>`
              select id, at, actor, action, fields, account from organisation_change
              where rsin = ${rsin} and id < ${na ?? Number.MAX_SAFE_INTEGER}::bigint order by id desc limit ${limit}`
          : control.sql<Change[]>`
              select id, at, actor, action, fields, account from organisation_change
              where rsin = ${rsin} and id > ${voor}::bigint order by id limit ${limit}`,
      ),
  }
}

/** Undefined when it takes too long, or fails. */
async function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  const late = new AbortController()
  try {
    return await Promise.race([
      work.catch(() => undefined),
      sleep(WAIT_MS, undefined, { signal: late.signal, ref: false }),
    ])
  } finally {
    late.abort()
  }
}
