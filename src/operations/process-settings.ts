// What every process of an installation has to have alike. Each tells its settings while it runs, and looks at those of the others: who
// differs says so in its log, at `/readyz` and on the page of the configuration. During a restart of all, old and new ones differ a while.
import { createHmac, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Config } from '../config.ts'
import type { Database, ReadSql } from '../database/database.ts'

/** Settings that all processes share: what one writes by them, others read by them. */
export const SHARED_SETTINGS = [
  ...['PUBLIC_URL', 'OWN_URLS', 'TIME_ZONE', 'FEED_DAYS', 'NOTIFICATIONS_DISABLED', 'NOTIFICATIES_MODE'],
  ...['ENABLE_CLOUD_EVENTS', 'CLOUD_EVENTS_SOURCE', 'DOCUMENTEN_API_BACKEND', 'IDEMPOTENCY_KEY_HOURS'],
  ...['LOGBOEK_DATAVERWERKINGEN', 'LOGBOEK_ACTIVITEIT', 'LOGBOEK_OTLP_ENDPOINT', 'BOOTSTRAP_CLIENT_SECRET'],
  ...['ZAKEN_API_ENABLED', 'DOCUMENTEN_API_ENABLED', 'CATALOGI_API_ENABLED', 'BESLUITEN_API_ENABLED'],
  'AUTORISATIES_API_ENABLED',
] as const
/** What no request gets right answers without: who differs in it from a process that was there before is not ready. */
const SPLITTING: readonly string[] = ['PUBLIC_URL']
const BEAT_MS = 60_000
/** A process that was silent for so long is gone. */
const SILENT = '150 seconds'

/**
 * A setting of which another process has another value. `isSplit`: what they tell clients differs, and the other was there before; so the
 * older one goes on to serve.
 */
export type Difference = { setting: string; role: string; process: string; isSplit: boolean }

export type ProcessSettings = {
  /** Those of this moment, as the last look had them. */
  differences(): readonly Difference[]
  close(): Promise<void>
}

/** Tells the settings of this process until it is closed, and looks at those of others each minute. */
export async function announceSettings(
  { sql }: Pick<Database, 'sql'>,
  config: Config,
  role: string,
  log: Pick<Logger, 'warn' | 'debug'>,
): Promise<ProcessSettings> {
  const id = randomUUID()
  let differences: Difference[] = []
  let told = ''
  let earlier: Set<string> | undefined
  const beat = async () => {
    const settings = sharedSettings(config)
    await sql`
      insert into process_setting (id, role, host, pid, settings, fixed)
      values (${id}, ${role}, ${hostname()}, ${process.pid}, ${sql.json(settings)}, ${fixedSettings(config)})
      on conflict (id) do update set settings = excluded.settings, seen_at = excluded.seen_at`
    const found = await findDifferences(sql, id)
    earlier ??= new Set(found.map((one) => one.id))
    differences = found.map(({ id: other, ...one }) => ({
      ...one,
      isSplit: SPLITTING.includes(one.setting) && earlier!.has(other),
    }))
    const text = JSON.stringify(differences)
    if (text !== told && differences.length > 0)
      log.warn({ differences }, 'another process of this installation has other settings')
    told = text
  }
  const safely = () => beat().catch((error) => log.debug({ err: error }, 'settings were not told to other processes'))
  await safely()
  await sql`delete from process_setting where seen_at < now() - interval '1 day'`.catch(() => {})
  const timer = setInterval(() => void safely(), BEAT_MS).unref()
  return {
    differences: () => differences,
    close: async () => {
      clearInterval(timer)
      await sql`delete from process_setting where id = ${id}`.catch(() => {})
    },
  }
}

/** The values as text; a secret as what tells it apart from another, by a key that the database does not have. */
function sharedSettings(config: Config): Record<string, string> {
  const byName = new Map(config.listed.map(({ env, value }) => [env, value ?? '']))
  const key = config.secretKey ?? config.dataKeys[0]?.key ?? ''
  const secret = config.bootstrapClient?.secret
  const values = Object.fromEntries(SHARED_SETTINGS.map((name) => [name, byName.get(name) ?? '']))
  if (secret && key)
    values.BOOTSTRAP_CLIENT_SECRET = createHmac('sha256', key).update(secret).digest('hex').slice(0, 16)
  return values
}

/** Settings that the pages could change, and that the environment of this process fixes. */
const fixedSettings = (config: Config): string[] =>
  config.listed.flatMap(({ env, from, changeable }) => (changeable && from === 'environment' ? env : []))

type Found = Omit<Difference, 'isSplit'> & { id: string }

async function findDifferences(sql: postgres.Sql, id: string): Promise<Found[]> {
  return sql<Found[]>`
    select other.id, s.name as setting, other.role, other.host || '/' || other.pid as process
    from process_setting own, process_setting other, jsonb_each_text(own.settings) s(name, value)
    where own.id = ${id} and other.id <> own.id and other.seen_at > now() - ${SILENT}::interval
      and other.settings ->> s.name <> s.value
      -- What only an api has to have.
      and not (s.name = 'BOOTSTRAP_CLIENT_SECRET' and '' in (s.value, other.settings ->> s.name))
    order by 2, 3, 4 limit 100`
}

/** Of each setting that the pages may change, the processes whose environment fixes it. */
export async function fixedElsewhere(sql: ReadSql): Promise<Map<string, string[]>> {
  const rows = await sql<{ name: string; processes: string[] }[]>`
    select f.name, array_agg(p.role || ' ' || p.host || '/' || p.pid order by p.role, p.host, p.pid) as processes
    from process_setting p, unnest(p.fixed) f(name) where p.seen_at > now() - ${SILENT}::interval group by 1`
  return new Map(rows.map(({ name, processes }) => [name, processes]))
}
