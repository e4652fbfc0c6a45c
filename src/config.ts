import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { AzureSettings } from './documenten/storage/azure.ts'
import { BACKENDS, type Backend } from './documenten/storage/index.ts'
import type { S3Settings } from './documenten/storage/s3.ts'

/** Numbers of cases: with the year of their startdatum, with that of today, or as UWV makes them. */
export const NUMMERINGEN = ['use-start-datum-year', 'use-creation-year', 'use-uwv-identification'] as const

/** Names read from the environment, with the type and default of each. The description is what `--help` prints. */
const Environment = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', minLength: 1, description: 'address to listen on' }),
  PORT: Type.Integer({ default: 8000, minimum: 0, maximum: 65535, description: 'port to listen on' }),
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      description: 'PostgreSQL 15 or newer; unset: an embedded one in DATA_DIR',
    }),
  ),
  DATABASE_POOL_SIZE: Type.Integer({
    default: 10,
    minimum: 2,
    maximum: 500,
    description: 'connections of one process',
  }),
  DATA_DIR: Type.String({
    default: './data',
    minLength: 1,
    description: 'embedded database, generated key, stored files',
  }),
  PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#]+(/[^?#]*[^/?#])?$',
      description: 'address in links, without slash at the end',
    }),
  ),
  TRUST_PROXY: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'addresses or ranges (CIDR) of our own proxies, with commas: they say who the client is',
    }),
  ),
  SECRET_KEY: Type.Optional(
    Type.String({ minLength: 16, description: 'encrypts client secrets; `start` generates one into DATA_DIR' }),
  ),
  BOOTSTRAP_CLIENT_ID: Type.Optional(
    Type.String({ minLength: 1, maxLength: 50, description: 'client id with all rights, made or updated at start' }),
  ),
  BOOTSTRAP_CLIENT_SECRET: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'its secret' })),
  BOOTSTRAP_ADMIN_USERNAME: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,150}$',
      description: 'account of the administration pages, made at start when it is not there',
    }),
  ),
  BOOTSTRAP_ADMIN_PASSWORD: Type.Optional(
    Type.String({ minLength: 12, maxLength: 1000, description: 'its password, at least 12 characters' }),
  ),
  BEHEER_THEME_CSS: Type.Optional(
    Type.String({ minLength: 1, description: 'stylesheet with the NL Design System tokens of the municipality' }),
  ),
  BEHEER_THEME_CLASS: Type.Optional(
    Type.String({ pattern: '^[\\w-]+$', description: 'class under which its tokens stand, such as `utrecht-theme`' }),
  ),
  API_CONTACT_NAME: Type.String({
    default: 'Beheer van deze Zaakstroom',
    minLength: 1,
    description: 'whom the OpenAPI documents name to ask',
  }),
  API_CONTACT_EMAIL: Type.Optional(
    Type.String({
      pattern: '^[^@\\s]+@[^@\\s]+$',
      description: 'their e-mail address, which the NL API Design Rules want',
    }),
  ),
  API_CONTACT_URL: Type.Optional(
    Type.String({ pattern: '^https?://[^\\s]+$', description: 'their page; unset: our page of the APIs' }),
  ),
  BEHEER_TOTP_REQUIRED: Type.Boolean({
    default: false,
    description: 'true: whoever signs in with a password has to set up one-time codes',
  }),
  OIDC_ISSUER: Type.Optional(
    Type.String({ pattern: '^https?://[^?#]+$', description: 'OpenID Connect provider for the administration pages' }),
  ),
  OIDC_CLIENT_ID: Type.Optional(Type.String({ minLength: 1, description: 'our client id there' })),
  OIDC_CLIENT_SECRET: Type.Optional(
    Type.String({ minLength: 1, description: 'our secret there; unset: a public client, with PKCE alone' }),
  ),
  OIDC_LABEL: Type.String({
    default: 'OpenID Connect',
    minLength: 1,
    maxLength: 60,
    description: 'name of the provider',
  }),
  OIDC_SCOPES: Type.String({ default: 'openid profile email', pattern: '(^| )openid( |$)', description: 'scopes' }),
  OIDC_ROLE_CLAIM: Type.String({
    default: 'roles',
    pattern: '^[^.]+(\\.[^.]+)*$',
    description: 'claim of the ID token with the roles, with dots for a claim within a claim',
  }),
  OIDC_ROLE_VIEWER: Type.String({
    default: 'viewer',
    description: 'values of that claim that mean viewer, with commas',
  }),
  OIDC_ROLE_OPERATOR: Type.String({ default: 'operator', description: 'those that mean operator' }),
  OIDC_ROLE_ADMINISTRATOR: Type.String({ default: 'administrator', description: 'those that mean administrator' }),
  JWT_EXPIRY: Type.Integer({ default: 3600, minimum: 1, description: 'seconds that a token lives after iat' }),
  JWT_LEEWAY: Type.Integer({ default: 0, minimum: 0, description: 'seconds of clock difference that are forgiven' }),
  JWT_IAT_SKEW: Type.Integer({
    default: 300,
    minimum: 0,
    maximum: 86_400,
    description: 'seconds that iat of a token may lie in the future',
  }),
  DOCUMENTEN_DIR: Type.Optional(
    Type.String({ minLength: 1, description: 'directory of the stored files; default DATA_DIR/documenten' }),
  ),
  DOCUMENTEN_API_BACKEND: Type.Enum([...BACKENDS], {
    default: 'filesystem',
    description: 'where new documents go; those that exist stay where they are until `storage migrate`',
  }),
  S3_ACCESS_KEY_ID: Type.Optional(
    Type.String({ minLength: 1, description: 'key of S3; unset: the SDK looks for one, such as that of a role' }),
  ),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String({ minLength: 1, description: 'its secret' })),
  S3_REGION_NAME: Type.Optional(Type.String({ minLength: 1, description: 'region of the bucket' })),
  S3_ENDPOINT_URL: Type.Optional(
    Type.String({ pattern: '^https?://[^/?#@]+/?$', description: 'server other than that of Amazon' }),
  ),
  S3_STORAGE_BUCKET_NAME: Type.String({ default: 'openzaak', minLength: 1, description: 'bucket; it has to exist' }),
  S3_LOCATION: Type.String({ default: 'documenten/', description: 'prefix of the keys in the bucket' }),
  AZURE_ACCOUNT_NAME: Type.Optional(
    Type.String({ pattern: '^[a-z0-9]{3,24}$', description: 'storage account in Azure' }),
  ),
  AZURE_CLIENT_ID: Type.Optional(
    Type.String({ minLength: 1, description: 'service principal; unset: the SDK looks for an identity' }),
  ),
  AZURE_TENANT_ID: Type.Optional(Type.String({ minLength: 1, description: 'its tenant' })),
  AZURE_CLIENT_SECRET: Type.Optional(Type.String({ minLength: 1, description: 'its secret' })),
  AZURE_CONNECTION_STRING: Type.Optional(
    Type.String({ minLength: 1, description: 'instead of the four above: address and key in one' }),
  ),
  AZURE_CONTAINER: Type.String({ default: 'openzaak', minLength: 1, description: 'container; it has to exist' }),
  AZURE_LOCATION: Type.String({ default: 'documenten', description: 'prefix of the names in the container' }),
  AZURE_CONNECTION_TIMEOUT_SECS: Type.Integer({
    default: 5,
    minimum: 1,
    maximum: 60,
    description: 'seconds in which a connection with Azure has to be there',
  }),
  AZURE_STORAGE_API_VERSION: Type.Optional(
    Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'version of the protocol; unset: that of the SDK' }),
  ),
  IMPORT_DOCUMENTEN_BASE_DIR: Type.String({
    default: 'import-data',
    minLength: 1,
    description: 'directory against which bestandspad is resolved',
  }),
  IMPORT_DOCUMENTEN_BATCH_SIZE: Type.Integer({
    default: 500,
    minimum: 1,
    maximum: 10_000,
    description: 'rows of an import that are handled together',
  }),
  IMPORT_RETENTION_DAYS: Type.Integer({ default: 7, minimum: 0, description: 'days after which imports are removed' }),
  ZAAK_IDENTIFICATIE_GENERATOR: Type.Enum(NUMMERINGEN, {
    default: 'use-start-datum-year',
    description: 'how numbers of cases are made: use-start-datum-year, use-creation-year or use-uwv-identification',
  }),
  ZAAK_EIGENSCHAP_WAARDE_VALIDATION: Type.Boolean({
    default: false,
    description: 'true: the value of a zaakeigenschap has to fit the specificatie of its eigenschap',
  }),
  ALLOW_UNPUBLISHED_TYPES: Type.Boolean({
    default: false,
    description:
      'true: zaken, documenten and besluiten may be made of types that are still a concept; for test environments',
  }),
  CORS_ALLOWED_ORIGINS: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'origins whose scripts may call the APIs from a browser, with commas, or *; unset: none',
    }),
  ),
  WORKER_CONCURRENCY: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 200,
    description: 'jobs at once in one worker',
  }),
  WORKER_HEALTH_PORT: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65535,
      description: '`worker` answers /livez and /readyz here; unset: nowhere',
    }),
  ),
  NOTIFICATIONS_API_ROOT: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#@]+/([^?#]*/)?$',
      description: 'notifications service, ending in a slash; fills the settings at a first start',
    }),
  ),
  NOTIFICATIONS_CLIENT_ID: Type.Optional(Type.String({ minLength: 1, description: 'our client id there' })),
  NOTIFICATIONS_SECRET: Type.Optional(Type.String({ minLength: 1, description: 'our secret there' })),
  NOTIFICATIONS_DISABLED: Type.Boolean({ default: false, description: 'true: changes are not announced at all' }),
  NOTIFICATIONS_SOURCE: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'member source of every notification' }),
  ),
  NOTIFICATIONS_CONCURRENCY: Type.Integer({
    default: 50,
    minimum: 1,
    maximum: 500,
    description: 'notifications that one worker sends at once',
  }),
  NOTIFICATIES_MODE: Type.Optional(
    Type.Enum(['extern', 'ingebouwd', 'beide'], {
      description:
        'who gets our messages: extern (a notifications service elsewhere), ingebouwd (the abonnementen here) or beide; unset: as it is in the database, and ingebouwd for `start` without a service elsewhere',
    }),
  ),
  NOTIFICATIES_HTTP_HOSTS: Type.String({
    default: '',
    description: 'hosts, with commas, whose callbacks may begin with http://; * for all. Loopback always may',
  }),
  TEST_CALLBACK_AUTH: Type.Boolean({
    default: true,
    description: 'false: a callback need not refuse a message without Authorization when an abonnement is made',
  }),
  NOTIFICATION_NUMBER_OF_DAYS_RETAINED: Type.Integer({
    default: 60,
    minimum: 1,
    description: 'days after which delivered and failed notifications are removed',
  }),
  SELECTIELIJST_API_ROOT: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#@]+/([^?#]*/)?$',
      description:
        'API of the selectielijst, ending in a slash; unset, and none imported: its URLs are stored unverified',
    }),
  ),
  SELECTIELIJST_BESTAND: Type.Optional(
    Type.String({ minLength: 1, description: 'JSON file with answers of the selectielijst, looked in first' }),
  ),
  METRICS_PORT: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 65535, description: 'metrics for Prometheus; unset: nowhere' }),
  ),
  MIN_UPLOAD_SIZE: Type.Integer({
    default: 4 * 1024 ** 3,
    minimum: 1024,
    description: 'largest body of a request with content, in bytes',
  }),
  DOCUMENTEN_UPLOAD_CHUNK_SIZE: Type.Optional(
    Type.Integer({ minimum: 1, description: 'size of a bestandsdeel in bytes; default MIN_UPLOAD_SIZE' }),
  ),
  STOP_DELAY_SECONDS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 20,
    description: 'seconds that the API goes on after a signal, while /readyz is 503 and a balancer turns away from it',
  }),
  HTTP_HEADERS_TIMEOUT: Type.Integer({
    default: 15,
    minimum: 1,
    maximum: 300,
    description: 'seconds in which the headers of a request have to be there',
  }),
  HTTP_REQUEST_TIMEOUT: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 3600,
    description: 'seconds in which its body has to be there, other than content and imports',
  }),
  HTTP_MIN_RATE: Type.Integer({
    default: 1024,
    minimum: 0,
    description: 'bytes a second, over that time, at which content has to come in and an answer has to be read; 0: any',
  }),
  HTTP_MAX_CONNECTIONS: Type.Integer({
    default: 2000,
    minimum: 10,
    description: 'connections at once; when they are taken only /livez is answered',
  }),
  HTTP_MAX_CONNECTIONS_PER_ADDRESS: Type.Integer({
    default: 500,
    minimum: 1,
    description: 'of one address; those that TRUST_PROXY names have no bound of their own',
  }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'least severe level that is logged',
  }),
})
const check = Compile(Environment)

/** Settings that may stand in a file instead, as containers are given their secrets: `NAME_FILE` has its path. */
export const SECRETS = [
  'DATABASE_URL',
  'SECRET_KEY',
  'BOOTSTRAP_CLIENT_SECRET',
  'BOOTSTRAP_ADMIN_PASSWORD',
  'OIDC_CLIENT_SECRET',
  'S3_SECRET_ACCESS_KEY',
  'AZURE_CLIENT_SECRET',
  'AZURE_CONNECTION_STRING',
  'NOTIFICATIONS_SECRET',
] as const satisfies (keyof typeof Environment.properties)[]

/** Documented names of settings that are also read under another spelling that is in use. */
const ALSO_READ: Record<string, string[]> = {
  IMPORT_RETENTION_DAYS: ['IMPORT_RENTENTION_DAYS'],
  JWT_LEEWAY: ['TIME_LEEWAY'],
}

const BOOLEANS: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false }

export type Config = Readonly<{
  host: string
  port: number
  databaseUrl: string | undefined
  databasePoolSize: number
  dataDir: string
  publicUrl: string | undefined
  /** Proxies whose `X-Forwarded-For` is believed. */
  trustProxy: string[]
  secretKey: string | undefined
  bootstrapClient: { id: string; secret: string } | undefined
  /** The first account of the administration pages. */
  bootstrapAdmin: { gebruikersnaam: string; wachtwoord: string } | undefined
  beheerTheme: { css: string | undefined; className: string | undefined }
  /** Whom the OpenAPI documents name. */
  apiContact: { name: string; email?: string; url?: string }
  /** Who signs in to the pages with a password needs one-time codes as well. */
  beheerTotpRequired: boolean
  /** The provider that people may sign in to the pages with. */
  oidc: OidcSettings | undefined
  jwtExpiry: number
  jwtLeeway: number
  /** Seconds that the clock of a client may run ahead of ours. */
  jwtIatSkew: number
  documentenDir: string
  documentenBackend: Backend
  /** Undefined when there is not one setting of S3, and nothing is to be stored there. */
  s3: S3Settings | undefined
  azure: AzureSettings | undefined
  importBaseDir: string
  importBatchSize: number
  importRetentionDays: number
  zaakIdentificatieGenerator: (typeof NUMMERINGEN)[number]
  zaakEigenschapWaardeValidation: boolean
  /** Whether a type that is still a concept may be used. */
  allowUnpublishedTypes: boolean
  /** Origins whose scripts may call the APIs: all, or these. */
  corsOrigins: '*' | string[]
  workerConcurrency: number
  workerHealthPort: number | undefined
  /** What fills the settings of notifications at a first start. */
  notifications: { apiRoot: string; clientId: string; secret: string } | undefined
  notificationsDisabled: boolean
  notificationsSource: string | undefined
  notificationsConcurrency: number
  /** Who gets our messages; undefined: what the database says. */
  notificatiesMode: 'extern' | 'ingebouwd' | 'beide' | undefined
  /** Hosts of callbacks that may be called without TLS; `*`: all. */
  notificatiesHttpHosts: string[]
  notificatiesTestCallbackAuth: boolean
  notificationDaysRetained: number
  selectielijstApiRoot: string | undefined
  selectielijstBestand: string | undefined
  metricsPort: number | undefined
  minUploadSize: number
  uploadChunkSize: number
  /** How long requests are still served after the stop was announced. */
  stopDelaySeconds: number
  /** Seconds for the headers of a request, and for its body. */
  httpHeadersTimeout: number
  httpRequestTimeout: number
  /** Bytes a second. */
  httpMinRate: number
  httpMaxConnections: number
  httpMaxConnectionsPerAddress: number
  logLevel: Static<typeof Environment>['LOG_LEVEL']
}>

export type OidcSettings = {
  issuer: string
  clientId: string
  clientSecret: string | undefined
  label: string
  scopes: string
  roleClaim: string
  /** Values of the claim that lead to each role. */
  roles: { viewer: string[]; operator: string[]; administrator: string[] }
}

/** Thrown when the environment is wrong; `faults` names every setting that is, with the reason. */
export class ConfigError extends Error {
  faults: string[]
  constructor(faults: string[]) {
    super(`configuration is wrong:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
    this.faults = faults
  }
}

/**
 * Reads and checks the environment once. An empty value counts as unset, since compose files write it so.
 * @param required settings that this subcommand cannot do without
 * @throws ConfigError that lists all faults at once
 */
export function readConfig(given: NodeJS.ProcessEnv, required: ('DATABASE_URL' | 'SECRET_KEY')[] = []): Config {
  const values: Record<string, unknown> = {}
  const faults: string[] = []
  const env = withSecretFiles(given, faults)
  for (const [name, schema] of Object.entries(Environment.properties) as [
    string,
    { default?: unknown; type?: string },
  ][]) {
    const text = [name, ...(ALSO_READ[name] ?? [])].map((key) => env[key]?.trim()).find((value) => value)
    if (text === undefined) {
      if (schema.default !== undefined) values[name] = schema.default
    } else if (schema.type === 'boolean') values[name] = BOOLEANS[text.toLowerCase()] ?? text
    else values[name] = schema.type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text
  }
  for (const name of required) if (values[name] === undefined) faults.push(`${name} is required`)
  if ((values.BOOTSTRAP_CLIENT_ID === undefined) !== (values.BOOTSTRAP_CLIENT_SECRET === undefined)) {
    faults.push('BOOTSTRAP_CLIENT_ID and BOOTSTRAP_CLIENT_SECRET go together')
  }
  if ((values.BOOTSTRAP_ADMIN_USERNAME === undefined) !== (values.BOOTSTRAP_ADMIN_PASSWORD === undefined)) {
    faults.push('BOOTSTRAP_ADMIN_USERNAME and BOOTSTRAP_ADMIN_PASSWORD go together')
  }
  if ((values.OIDC_ISSUER === undefined) !== (values.OIDC_CLIENT_ID === undefined)) {
    faults.push('OIDC_ISSUER and OIDC_CLIENT_ID go together')
  }
  const { NOTIFICATIONS_API_ROOT: root, NOTIFICATIONS_CLIENT_ID: id, NOTIFICATIONS_SECRET: secret } = values
  if (new Set([root, id, secret].map((value) => value === undefined)).size > 1) {
    faults.push('NOTIFICATIONS_API_ROOT, NOTIFICATIONS_CLIENT_ID and NOTIFICATIONS_SECRET go together')
  }
  faults.push(...storageFaults(values))
  const trustProxy = String(values.TRUST_PROXY ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
  if (!trustProxy.every(isAddressRange)) faults.push('TRUST_PROXY must be addresses or CIDR ranges, with commas')
  const corsOrigins = readOrigins(String(values.CORS_ALLOWED_ORIGINS ?? ''))
  if (!corsOrigins) faults.push('CORS_ALLOWED_ORIGINS must be origins (https://example.nl), with commas, or *')
  // The message names the setting and the rule, never the value: it may be a secret.
  if (!check.Check(values)) {
    for (const error of check.Errors(values)) faults.push(`${error.instancePath.slice(1)} ${error.message}`)
  }
  if (faults.length > 0) throw new ConfigError(faults)
  const valid = values as Static<typeof Environment>
  const dataDir = resolve(valid.DATA_DIR)
  return {
    host: valid.HOST,
    port: valid.PORT,
    databaseUrl: valid.DATABASE_URL,
    databasePoolSize: valid.DATABASE_POOL_SIZE,
    dataDir,
    publicUrl: valid.PUBLIC_URL,
    trustProxy,
    secretKey: valid.SECRET_KEY,
    bootstrapAdmin: valid.BOOTSTRAP_ADMIN_USERNAME
      ? { gebruikersnaam: valid.BOOTSTRAP_ADMIN_USERNAME, wachtwoord: valid.BOOTSTRAP_ADMIN_PASSWORD! }
      : undefined,
    beheerTheme: { css: valid.BEHEER_THEME_CSS, className: valid.BEHEER_THEME_CLASS },
    bootstrapClient: valid.BOOTSTRAP_CLIENT_ID
      ? { id: valid.BOOTSTRAP_CLIENT_ID, secret: valid.BOOTSTRAP_CLIENT_SECRET! }
      : undefined,
    apiContact: {
      name: valid.API_CONTACT_NAME,
      ...(valid.API_CONTACT_EMAIL && { email: valid.API_CONTACT_EMAIL }),
      ...(valid.API_CONTACT_URL && { url: valid.API_CONTACT_URL }),
    },
    beheerTotpRequired: valid.BEHEER_TOTP_REQUIRED,
    oidc: oidcSettings(valid),
    jwtExpiry: valid.JWT_EXPIRY,
    jwtLeeway: valid.JWT_LEEWAY,
    jwtIatSkew: valid.JWT_IAT_SKEW,
    documentenDir: resolve(valid.DOCUMENTEN_DIR ?? `${dataDir}/documenten`),
    documentenBackend: valid.DOCUMENTEN_API_BACKEND,
    s3: s3Settings(valid, env),
    azure: azureSettings(valid),
    importBaseDir: resolve(valid.IMPORT_DOCUMENTEN_BASE_DIR),
    importBatchSize: valid.IMPORT_DOCUMENTEN_BATCH_SIZE,
    importRetentionDays: valid.IMPORT_RETENTION_DAYS,
    zaakIdentificatieGenerator: valid.ZAAK_IDENTIFICATIE_GENERATOR,
    zaakEigenschapWaardeValidation: valid.ZAAK_EIGENSCHAP_WAARDE_VALIDATION,
    allowUnpublishedTypes: valid.ALLOW_UNPUBLISHED_TYPES,
    corsOrigins: corsOrigins ?? [],
    workerConcurrency: valid.WORKER_CONCURRENCY,
    workerHealthPort: valid.WORKER_HEALTH_PORT,
    notifications: valid.NOTIFICATIONS_API_ROOT
      ? {
          apiRoot: valid.NOTIFICATIONS_API_ROOT,
          clientId: valid.NOTIFICATIONS_CLIENT_ID!,
          secret: valid.NOTIFICATIONS_SECRET!,
        }
      : undefined,
    notificationsDisabled: valid.NOTIFICATIONS_DISABLED,
    notificationsSource: valid.NOTIFICATIONS_SOURCE,
    notificationsConcurrency: valid.NOTIFICATIONS_CONCURRENCY,
    notificatiesMode: valid.NOTIFICATIES_MODE,
    notificatiesHttpHosts: valid.NOTIFICATIES_HTTP_HOSTS.split(',').map((host) => host.trim()),
    notificatiesTestCallbackAuth: valid.TEST_CALLBACK_AUTH,
    notificationDaysRetained: valid.NOTIFICATION_NUMBER_OF_DAYS_RETAINED,
    selectielijstApiRoot: valid.SELECTIELIJST_API_ROOT,
    selectielijstBestand: valid.SELECTIELIJST_BESTAND ? resolve(valid.SELECTIELIJST_BESTAND) : undefined,
    metricsPort: valid.METRICS_PORT,
    minUploadSize: valid.MIN_UPLOAD_SIZE,
    uploadChunkSize: valid.DOCUMENTEN_UPLOAD_CHUNK_SIZE ?? valid.MIN_UPLOAD_SIZE,
    stopDelaySeconds: valid.STOP_DELAY_SECONDS,
    httpHeadersTimeout: valid.HTTP_HEADERS_TIMEOUT,
    httpRequestTimeout: valid.HTTP_REQUEST_TIMEOUT,
    httpMinRate: valid.HTTP_MIN_RATE,
    httpMaxConnections: valid.HTTP_MAX_CONNECTIONS,
    httpMaxConnectionsPerAddress: valid.HTTP_MAX_CONNECTIONS_PER_ADDRESS,
    logLevel: valid.LOG_LEVEL,
  }
}

/** The environment with the contents of the files that `NAME_FILE` names, without the newline that editors end them with. */
function withSecretFiles(env: NodeJS.ProcessEnv, faults: string[]): NodeJS.ProcessEnv {
  const read: NodeJS.ProcessEnv = {}
  for (const name of SECRETS) {
    const path = env[`${name}_FILE`]?.trim()
    if (!path) continue
    if (env[name]?.trim()) faults.push(`${name} and ${name}_FILE exclude each other`)
    try {
      read[name] = readFileSync(path, 'utf8').trim()
      if (!read[name]) faults.push(`${name}_FILE is empty`)
    } catch {
      faults.push(`${name}_FILE cannot be read`)
    }
  }
  return { ...env, ...read }
}

/** Origins as browsers write them (RFC 6454): in lower case, without the port of their scheme. Undefined when one is none. */
function readOrigins(text: string): '*' | string[] | undefined {
  if (text === '*') return '*'
  const given = text === '' ? [] : text.split(',').map((one) => one.trim())
  const isOrigin = (one: string) => /^https?:\/\/[^/?#@]+$/.test(one) && URL.canParse(one)
  return given.every(isOrigin) ? given.map((one) => new URL(one).origin) : undefined
}

function isAddressRange(text: string): boolean {
  const [address, bits, ...rest] = text.split('/')
  const version = isIP(address!)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

function oidcSettings(valid: Static<typeof Environment>): OidcSettings | undefined {
  if (!valid.OIDC_ISSUER) return undefined
  const values = (text: string) =>
    text
      .split(',')
      .map((value) => value.trim())
      .filter(Boolean)
  return {
    issuer: valid.OIDC_ISSUER,
    clientId: valid.OIDC_CLIENT_ID!,
    clientSecret: valid.OIDC_CLIENT_SECRET,
    label: valid.OIDC_LABEL,
    scopes: valid.OIDC_SCOPES,
    roleClaim: valid.OIDC_ROLE_CLAIM,
    roles: {
      viewer: values(valid.OIDC_ROLE_VIEWER),
      operator: values(valid.OIDC_ROLE_OPERATOR),
      administrator: values(valid.OIDC_ROLE_ADMINISTRATOR),
    },
  }
}

function storageFaults(values: Record<string, unknown>): string[] {
  const faults: string[] = []
  const given = (...names: string[]) => names.filter((name) => values[name] !== undefined).length
  if (given('S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY') === 1)
    faults.push('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY go together')
  if (given('AZURE_CLIENT_SECRET') === 1 && given('AZURE_CLIENT_ID', 'AZURE_TENANT_ID') < 2)
    faults.push('AZURE_CLIENT_SECRET goes with AZURE_CLIENT_ID and AZURE_TENANT_ID')
  if (
    values.DOCUMENTEN_API_BACKEND === 'azure_blob_storage' &&
    given('AZURE_ACCOUNT_NAME', 'AZURE_CONNECTION_STRING') < 1
  )
    faults.push('AZURE_ACCOUNT_NAME is required, since DOCUMENTEN_API_BACKEND is azure_blob_storage')
  return faults
}

function s3Settings(valid: Static<typeof Environment>, env: NodeJS.ProcessEnv): S3Settings | undefined {
  const set = Object.keys(Environment.properties).some((name) => name.startsWith('S3_') && env[name]?.trim())
  if (!set && valid.DOCUMENTEN_API_BACKEND !== 's3_storage') return undefined
  return {
    bucket: valid.S3_STORAGE_BUCKET_NAME,
    location: valid.S3_LOCATION,
    key: valid.S3_ACCESS_KEY_ID ? { id: valid.S3_ACCESS_KEY_ID, secret: valid.S3_SECRET_ACCESS_KEY! } : undefined,
    region: valid.S3_REGION_NAME,
    endpoint: valid.S3_ENDPOINT_URL,
  }
}

function azureSettings(valid: Static<typeof Environment>): AzureSettings | undefined {
  const { AZURE_CONNECTION_STRING: connectionString, AZURE_ACCOUNT_NAME: name } = valid
  if (!connectionString && !name) return undefined
  const client = valid.AZURE_CLIENT_SECRET
    ? { id: valid.AZURE_CLIENT_ID!, tenant: valid.AZURE_TENANT_ID!, secret: valid.AZURE_CLIENT_SECRET }
    : undefined
  return {
    account: connectionString ? { connectionString } : { name: name!, ...(client && { client }) },
    container: valid.AZURE_CONTAINER,
    location: valid.AZURE_LOCATION,
    connectionTimeoutMs: valid.AZURE_CONNECTION_TIMEOUT_SECS * 1000,
    apiVersion: valid.AZURE_STORAGE_API_VERSION,
  }
}

/** The settings as lines for `--help`: name, meaning, default. */
export function describeConfig(): string {
  return Object.entries(Environment.properties)
    .map(([name, schema]) => {
      const { description, default: standard } = schema as { description?: string; default?: unknown }
      return `  ${name.padEnd(30)} ${description}${standard === undefined ? '' : ` (${standard})`}`
    })
    .join('\n')
}
