// Settings that were changed in the pages: table `setting`, laid over the environment. A process reads them at its start and
// again at every signal of the database, so that a change counts everywhere at once.
import type { Logger } from 'pino'
import { type Config, withStored } from '../config.ts'
import type { Database } from '../database/database.ts'
import { listen } from '../database/listen.ts'
import { CHANGEABLE } from './environment.ts'

export type LiveSettings = {
  /** Each of its settings has the value of this moment: a value that is kept apart does not follow a change. */
  config: Config
  /** Takes over what was changed just now, before the signal comes. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/** A signal can be missed on a connection that died silently, or while the database was away. */
const REREAD_MS = 60_000

/** The settings of a process that keeps running. */
export async function openLiveSettings(config: Config, database: Database, log: Logger): Promise<LiveSettings> {
  let current = config
  const refresh = async () => {
    current = await readStored(config, database, log)
  }
  const again = () =>
    void refresh().catch((error) => log.warn({ reason: (error as Error).message }, 'the settings were not read again'))
  await refresh()
  const listener = await listen(database.url, 'zaakstroom_settings', again, log)
  const timer = setInterval(again, REREAD_MS).unref()
  const names = new Set([...Object.keys(config), ...CHANGEABLE.map(({ key }) => key)]) as Set<keyof Config>
  const getters = [...names].map((name) => [name, { enumerable: true, get: () => current[name] }] as const)
  return {
    config: Object.defineProperties({}, Object.fromEntries(getters)) as Config,
    refresh,
    close: async () => {
      clearInterval(timer)
      await listener.close()
    },
  }
}

/** The configuration with the stored settings of this moment, for a command that does one thing and ends. */
export async function readStored(config: Config, { db }: Database, log: Logger): Promise<Config> {
  const rows = await db.selectFrom('setting').select(['name', 'value']).execute()
  const read = withStored(config, new Map(rows.map(({ name, value }) => [name, value])))
  for (const fault of read.faults.values()) log.error({ fault }, 'a stored setting is wrong: its default is used')
  return { ...read.config, takenOverUrls: await takenOverUrls(db) }
}

/** Clients of an installation that was taken over go on with its addresses: from the switch on they are ours. */
async function takenOverUrls(db: Database['db']): Promise<string[]> {
  const takeovers = await db
    .selectFrom('takeover')
    .where('status', '=', 'omgeschakeld')
    .where('trial', '=', false)
    .orderBy('id')
    .select(['kind', 'source', 'settings'])
    .execute()
  return takeovers
    .flatMap(({ kind, source, settings }) => {
      const { oudeUrls = [] } = settings as { oudeUrls?: string[] }
      return kind === 'api' ? [source, ...oudeUrls] : oudeUrls
    })
    .map((url) => url.replace(/\/+$/, ''))
}
