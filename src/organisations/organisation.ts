// An organisation, and the settings that it has: those of the installation, with its own laid over them.
import { SETTINGS } from '../config/environment.ts'
import { type Config, ConfigError, readConfig } from '../config.ts'

export const STATES = ['active', 'read-only', 'suspended', 'moving', 'adding'] as const
export type State = (typeof STATES)[number]

/**
 * Bounds of one organisation: `connections` of one process and `requests` that one process answers at once, `bytes` of the contents of
 * documents, `abonnementen`, `imports` that are open at once and `importRows` of each. One that is not there is that of the installation.
 */
export type Limits = Partial<Record<(typeof LIMITS)[number], number>>
export const LIMITS = ['connections', 'requests', 'bytes', 'abonnementen', 'imports', 'importRows'] as const

/** Settings of the installation that stand for a bound where an organisation has none of its own. */
const BOUNDS = {
  DATABASE_POOL_SIZE: 'connections',
  STORAGE_MAX_BYTES: 'bytes',
  ABONNEMENTEN_MAX: 'abonnementen',
  IMPORTS_OPEN: 'imports',
  IMPORT_MAX_ROWS: 'importRows',
} as const satisfies Record<string, keyof Limits>

/** What is sealed of an organisation. */
export type Sealed = {
  databaseUrl: string
  /** Lines of DATA_KEYS: a ring of its own. */
  dataKeys: string
  /** SECRET_KEY of an installation that was one by itself. */
  secretKey?: string
  /** Settings of its own, as text by their name in the environment. */
  settings: Record<string, string>
  /** A move that is under way, or was killed. */
  move?: { from: string; to: string } | undefined
}

export type Organisation = Sealed & {
  id: number
  uuid: string
  rsin: string
  name: string
  /** Names without port, the one of links first. */
  hosts: readonly string[]
  /** Host, port and database: organisations with the same share one. */
  server: string
  schema: string
  limits: Limits
  state: State
  reason: string
  version: string
}

/** What belongs to a process, or to the installation: an organisation cannot have its own. */
const OF_INSTALLATION = new Set([
  'CONTROL_DATABASE_URL',
  'ORGANISATION',
  'SECRET_KEY',
  'DATA_KEYS',
  'BOOTSTRAP_CLIENT_ID',
  'BOOTSTRAP_CLIENT_SECRET',
  'BOOTSTRAP_ADMIN_USERNAME',
  'BOOTSTRAP_ADMIN_PASSWORD',
  'DATABASE_URL',
  'DATABASE_SCHEMA',
  'DATA_DIR',
  'HOST',
  'PORT',
  'TIME_ZONE',
  'TRUST_PROXY',
  'NO_PROXY',
  'LOG_LEVEL',
  'STOP_DELAY_SECONDS',
  'METRICS_PORT',
  'WORKER_CONCURRENCY',
  'WORKER_HEALTH_PORT',
  'WORKER_ORGANISATIONS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_SAMPLER_ARG',
  'BEHEER_THEME_CSS',
  'BEHEER_THEME_CLASS',
  'HTTP_HEADERS_TIMEOUT',
  'HTTP_REQUEST_TIMEOUT',
  'HTTP_MIN_RATE',
  'HTTP_MAX_CONNECTIONS',
  'HTTP_MAX_CONNECTIONS_PER_ADDRESS',
  ...Object.keys(BOUNDS).filter((name) => name !== 'DATABASE_POOL_SIZE'),
])

/** Settings that an organisation may have of its own, by their name in the environment. */
export const OWN_SETTINGS: readonly string[] = SETTINGS.map(({ env }) => env).filter(
  (name) => !OF_INSTALLATION.has(name),
)

/** What is one organisation's, and not taken from the environment of the installation. */
const NEVER_SHARED = [
  'CONTROL_DATABASE_URL',
  'ORGANISATION',
  'SECRET_KEY',
  'DATA_KEYS',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_READ_URL',
  'DATABASE_SCHEMA',
  'PUBLIC_URL',
  'OWN_URLS',
  'BOOTSTRAP_CLIENT_ID',
  'BOOTSTRAP_CLIENT_SECRET',
  'BOOTSTRAP_ADMIN_USERNAME',
  'BOOTSTRAP_ADMIN_PASSWORD',
]

/** The address of its database past a pooler, without the schema. */
export const directUrlOf = ({ databaseUrl, settings }: Pick<Organisation, 'databaseUrl' | 'settings'>): string =>
  settings.DATABASE_DIRECT_URL ?? databaseUrl

/** Connections of one process for one organisation, unless its limits say otherwise. */
const CONNECTIONS = 3

/**
 * The configuration of one organisation.
 * @param env the environment of the installation
 * @throws ConfigError when its own settings are wrong
 */
export function configOf(env: NodeJS.ProcessEnv, organisation: Organisation): Config {
  const { rsin, hosts, settings, limits, databaseUrl, schema, dataKeys, secretKey } = organisation
  const wrong = Object.keys(settings).find((name) => !OWN_SETTINGS.includes(name))
  if (wrong) throw new ConfigError([`${wrong} is no setting of an organisation`])
  const own: NodeJS.ProcessEnv = { ...env }
  for (const name of [...NEVER_SHARED, ...Object.keys(settings)]) {
    delete own[name]
    delete own[`${name}_FILE`]
  }
  const below = (name: string, otherwise: string) => `${env[name]?.trim() || otherwise}/${rsin}`
  const dataDir = below('DATA_DIR', './data')
  const address = (host: string) => addressAt(env.PUBLIC_URL, host)
  return readConfig({
    ...own,
    DATABASE_URL: databaseUrl,
    DATABASE_SCHEMA: schema,
    ...boundsOf({ connections: CONNECTIONS, ...limits }),
    DATA_KEYS: dataKeys,
    SECRET_KEY: secretKey,
    DATA_DIR: dataDir,
    DOCUMENTEN_DIR: below('DOCUMENTEN_DIR', `${env.DATA_DIR?.trim() || './data'}/documenten`),
    IMPORT_DOCUMENTEN_BASE_DIR: below('IMPORT_DOCUMENTEN_BASE_DIR', './import-data'),
    ...located('S3_LOCATION', own, settings, rsin),
    ...located('AZURE_LOCATION', own, settings, rsin),
    PUBLIC_URL: hosts[0] && address(hosts[0]),
    OWN_URLS: hosts.slice(1).map(address).join(','),
    ...settings,
  })
}

/** The bounds that count for one, of those that have one. @param config of the installation */
export function limitsFor({ limits, settings }: Pick<Organisation, 'limits' | 'settings'>, config: Config): Limits {
  const { storageMaxBytes, abonnementenMax, importsOpen, importMaxRows } = config
  const usual: Record<string, number | undefined> = {
    connections: CONNECTIONS,
    bytes: storageMaxBytes,
    abonnementen: abonnementenMax,
    imports: importsOpen,
    importRows: importMaxRows,
  }
  const own = Object.entries(BOUNDS).map(([name, limit]) => [limit, settings[name] && Number(settings[name])])
  const all = [...Object.entries(usual), ...Object.entries(limits), ...own]
  return Object.fromEntries(all.filter(([, value]) => typeof value === 'number'))
}

const boundsOf = (limits: Limits): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(BOUNDS).flatMap(([name, limit]) =>
      limits[limit] === undefined ? [] : [[name, String(limits[limit])]],
    ),
  )

/** The prefix of an object store, where the installation or the organisation has one: below that of the installation. */
function located(name: string, env: NodeJS.ProcessEnv, settings: Record<string, string>, rsin: string) {
  const store = name.slice(0, name.indexOf('_') + 1)
  const isUsed = Object.keys({ ...env, ...settings }).some((one) => one.startsWith(store))
  return isUsed ? { [name]: [env[name]?.trim().replace(/\/+$/, '') || 'documenten', rsin].join('/') } : {}
}

/** Our address at a host: scheme, port and path are those of the installation. */
function addressAt(publicUrl: string | undefined, host: string): string {
  if (!publicUrl?.trim()) return `https://${host}`
  const url = new URL(publicUrl)
  url.hostname = host
  return url.href.replace(/\/+$/, '')
}
