// The settings: read from the environment, checked once, and passed on as one object. src/config/settings/ has each of them.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type AllowedHosts, readAllowedHosts } from './config/allowed-hosts.ts'
import {
  CHANGEABLE,
  type ListedSetting,
  listSettings,
  readEnvironment,
  type SettingValues,
} from './config/environment.ts'
import { certificatesIn, KINDS } from './config/kinds.ts'
import type { AzureSettings, S3Settings } from './config/storage.ts'
import { AddressFault, addressOf, hostUrls, withCertificates } from './database/address.ts'
import { followPassword } from './database/password-file.ts'
import { expected } from './database/rows.ts'
import { isReservedSchema, schemasOf, withSchema } from './database/schema.ts'
import { useTimeZone } from './lib/day.ts'
import { type DataKey, KEY_BYTES, KEY_ID, SECRET_KEY } from './lib/key-ring.ts'
import { list } from './lib/list.ts'

/** What the program makes of settings that belong together, or that are more than their text. */
type Composed = {
  /** Where everything goes that lasts longer than a transaction. */
  databaseUrl: string | undefined
  /** The pooler through which requests ask the same database, if there is one. */
  databasePoolerUrl: string | undefined
  /** A replica from which lists and reports are read. */
  databaseReadUrl: string | undefined
  /** Keys that data is sealed with, the one that seals first. */
  dataKeys: readonly DataKey[]
  trustProxy: string[]
  /** Beginnings of URLs, without slash at the end, that count as PUBLIC_URL. */
  ownUrls: string[]
  /** The same, by which installations that were taken over named themselves; known after the switch. */
  takenOverUrls: readonly string[]
  bootstrapClient: { id: string; secret: string } | undefined
  bootstrapAdmin: { gebruikersnaam: string; wachtwoord: string } | undefined
  oidc: OidcSettings | undefined
  fsc: FscSettings | undefined
  documentenDir: string
  /** Undefined when there is not one setting of S3, and nothing is to be stored there. */
  s3: S3Settings | undefined
  azure: AzureSettings | undefined
  /** Origins whose scripts may call the APIs: all, or these. */
  corsOrigins: '*' | string[]
  notifications: { apiRoot: string; clientId: string; secret: string } | undefined
  /** Hosts of callbacks that may be called without TLS; `*`: all. */
  notificatiesHttpHosts: string[]
  /** Where a callback may be although its address is not public. */
  allowedPrivateHosts: AllowedHosts
  uploadChunkSize: number
  /** All settings as text and without the secrets, for the page that shows them. */
  listed: readonly ListedSetting[]
}
export type Config = Readonly<Omit<SettingValues, 'databaseDirectUrl' | 'databaseTls' | keyof Composed> & Composed>

/** Whose tokens an Inway passes on. `certificates`: each as PEM. */
export type FscSettings = {
  peerId: string
  groupId: string
  certificates: string[]
  audience?: string | undefined
  services?: string[] | undefined
}

export type OidcSettings = {
  issuer: string
  clientId: string
  clientSecret?: string
  label: string
  scopes: string
  roleClaim: string
  /** Values of the claim that lead to each role. */
  roles: { viewer: string[]; privacy: string[]; operator: string[]; administrator: string[] }
}

/** Addresses that count as PUBLIC_URL, at this moment. */
export const otherAddresses = ({ ownUrls, takenOverUrls }: Config): string[] => [...ownUrls, ...takenOverUrls]

/** Thrown when the environment is wrong; `faults` names every setting that is, with the reason. */
export class ConfigError extends Error {
  faults: string[]
  constructor(faults: string[]) {
    super(`configuration is wrong:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
    this.faults = faults
  }
}

/**
 * Reads and checks the environment once. The day of this process is in its time zone from then on.
 * @param required settings that this subcommand cannot do without
 * @throws ConfigError that lists all faults at once
 */
export function readConfig(env: NodeJS.ProcessEnv, required: ('DATABASE_URL' | 'SECRET_KEY')[] = []): Config {
  const { values, given, faults } = readEnvironment(env)
  const instead: Record<string, string> = { SECRET_KEY: 'DATA_KEYS', DATABASE_URL: 'CONTROL_DATABASE_URL' }
  const isThere = (name: string) => given.has(name) || given.has(instead[name] ?? name)
  for (const name of required) if (!isThere(name)) faults.push(`${name} is required`)
  const dataKeys = readKeys(values.dataKeys ?? '')
  if (!dataKeys) faults.push(KEYS_FAULT)
  faults.push(...faultsAmong(given, values))
  const trustProxy = list(values.trustProxy ?? '')
  try {
    useTimeZone(values.timeZone)
  } catch {
    faults.push(`TIME_ZONE must be the name of a time zone, such as Europe/Amsterdam`)
  }
  const ownUrls = list(values.ownUrls ?? '').map((url) => url.replace(/\/+$/, ''))
  if (!ownUrls.every((url) => /^https?:\/\/[^/?#]+(\/[^?#]*)?$/.test(url) && !KINDS.address(url)))
    faults.push('OWN_URLS must be addresses (https://example.nl/zgw), with commas')
  if (values.tokenEndpoint !== 'off' && !values.publicUrl)
    faults.push('TOKEN_ENDPOINT needs PUBLIC_URL: that is the issuer of its tokens')
  const lists = readLists(values, faults)
  const urls = readAddresses(values, env, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const { bootstrapClient, bootstrapAdmin, notifications, databaseDirectUrl: _, databaseTls: __, ...others } = values
  const dataDir = resolve(values.dataDir)
  return {
    ...others,
    databaseUrl: urls.DATABASE_DIRECT_URL ?? urls.DATABASE_URL,
    databasePoolerUrl: urls.DATABASE_DIRECT_URL && urls.DATABASE_URL,
    databaseReadUrl: urls.DATABASE_READ_URL,
    dataDir,
    dataKeys: dataKeys ?? [],
    trustProxy,
    ownUrls,
    takenOverUrls: [],
    bootstrapClient: bootstrapClient.id
      ? { id: bootstrapClient.id, secret: expected(bootstrapClient.secret) }
      : undefined,
    bootstrapAdmin: bootstrapAdmin.gebruikersnaam
      ? { gebruikersnaam: bootstrapAdmin.gebruikersnaam, wachtwoord: expected(bootstrapAdmin.wachtwoord) }
      : undefined,
    oidc: oidcSettings(values),
    fsc: fscSettings(values),
    documentenDir: resolve(values.documentenDir ?? `${dataDir}/documenten`),
    s3: s3Settings(values, given),
    azure: azureSettings(values),
    importBaseDir: resolve(values.importBaseDir),
    ...lists,
    notifications: notifications.apiRoot
      ? {
          apiRoot: notifications.apiRoot,
          clientId: expected(notifications.clientId),
          secret: expected(notifications.secret),
        }
      : undefined,
    ...(values.selectielijstBestand && { selectielijstBestand: resolve(values.selectielijstBestand) }),
    uploadChunkSize: values.uploadChunkSize ?? values.minUploadSize,
    listed: listSettings(env, given),
  }
}

const KEYS_FAULT = `DATA_KEYS must be id:base64, one on each line: ids of lower case letters, digits and -, each once, and keys of ${KEY_BYTES} bytes at least`

/** The keys in their order; undefined when a line says something else. */
function readKeys(text: string): DataKey[] | undefined {
  const keys: DataKey[] = []
  for (const line of text.split(/\s/)) {
    if (line === '') continue
    const at = line.indexOf(':')
    const [id, base64] = [line.slice(0, at), line.slice(at + 1)]
    const key = Buffer.from(base64, 'base64')
    const isKey = KEY_ID.test(id) && id !== SECRET_KEY && /^[\w+/-]*={0,2}$/.test(base64) && key.length >= KEY_BYTES
    if (!isKey || keys.some((other) => other.id === id)) return undefined
    keys.push({ id, key })
  }
  return keys
}

const isAddress = (url: string): boolean => /^postgres(ql)?:/.test(url)

const LOOPBACK = 'localhost,127.0.0.0/8,::1'

/** The addresses of the database with the certificates that are settings; a password in a file is followed from here on. */
function readAddresses(
  { databaseUrl, databaseDirectUrl, databaseReadUrl, databaseTls, databaseSchema, controlDatabaseUrl }: SettingValues,
  env: NodeJS.ProcessEnv,
  faults: string[],
) {
  const given = {
    DATABASE_URL: databaseUrl,
    DATABASE_DIRECT_URL: databaseDirectUrl,
    DATABASE_READ_URL: databaseReadUrl,
  }
  const read: { [Name in keyof typeof given]?: string } = {}
  for (const [name, url] of Object.entries(given)) {
    if (url === undefined || !isAddress(url)) continue // the fault is told already
    try {
      const schema = databaseSchema && !isReservedSchema(databaseSchema) ? databaseSchema : undefined // told already
      const whole = withSchema(withCertificates(url, databaseTls), schema)
      for (const host of hostUrls(whole)) addressOf(host)
      schemasOf(whole)
      read[name as keyof typeof given] = whole
    } catch (error) {
      if (!(error instanceof AddressFault)) throw error
      faults.push(`${name} ${error.message}`)
    }
  }
  for (const [name, url] of Object.entries({ ...read, CONTROL_DATABASE_URL: controlDatabaseUrl })) {
    const path = env[`${name}_FILE`]?.trim()
    if (url && path && isAddress(url)) followPassword(url, path)
  }
  return read
}

/** Lists that are written with commas, and that may change while the program runs. */
function readLists(values: SettingValues, faults: string[]) {
  const { corsOrigins, notificatiesHttpHosts, databaseUrl, allowedPrivateHosts } = values
  const origins = readOrigins(corsOrigins ?? '')
  if (!origins) faults.push('CORS_ALLOWED_ORIGINS must be origins (https://example.nl), with commas, or *')
  // Without a database of its own nobody runs it for others.
  const allowed = readAllowedHosts(list(allowedPrivateHosts ?? (databaseUrl === undefined ? LOOPBACK : '')))
  if (!allowed) faults.push('ALLOWED_PRIVATE_HOSTS must be hosts, addresses or CIDR ranges, with commas')
  return {
    corsOrigins: origins ?? [],
    notificatiesHttpHosts: list(notificatiesHttpHosts),
    allowedPrivateHosts: allowed ?? { names: [], ranges: [] },
  }
}

/**
 * The configuration with what the database says of settings that the environment leaves open.
 * @param stored texts by their name in the environment, written as there
 * @returns `faults`: what is wrong with a stored text, by its name; that one keeps its default
 */
export function withStored(
  config: Config,
  stored: ReadonlyMap<string, string>,
): { config: Config; faults: ReadonlyMap<string, string> } {
  const values: Record<string, unknown> = {}
  const faults = new Map<string, string>()
  const taken = new Map<string, string>()
  const open = new Set(config.listed.flatMap(({ env, from }) => (from === 'environment' ? [] : env)))
  for (const { env, key } of CHANGEABLE) {
    const text = stored.get(env)
    if (text === undefined || !open.has(env)) continue
    const read = readEnvironment({ [env]: text })
    const lists = readLists(read.values, read.faults)
    if (read.faults.length > 0) faults.set(env, read.faults.join('; '))
    else {
      values[key] = { ...read.values, ...lists }[key]
      taken.set(env, text)
    }
  }
  const listed = config.listed.map((one) =>
    taken.has(one.env) ? { ...one, value: taken.get(one.env), from: 'database' as const } : one,
  )
  return { config: { ...config, ...(values as Partial<Config>), listed }, faults }
}

const TOGETHER = [
  ['BOOTSTRAP_CLIENT_ID', 'BOOTSTRAP_CLIENT_SECRET'],
  ['BOOTSTRAP_ADMIN_USERNAME', 'BOOTSTRAP_ADMIN_PASSWORD'],
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID'],
  ['NOTIFICATIONS_API_ROOT', 'NOTIFICATIONS_CLIENT_ID', 'NOTIFICATIONS_SECRET'],
  ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
  ['DATABASE_SSLCERT', 'DATABASE_SSLKEY'],
  ['FSC_PEER_ID', 'FSC_GROUP_ID', 'FSC_CERTIFICATES'],
]

/** Faults that are no setting's own: one that lacks beside another. */
function faultsAmong(given: Set<string>, values: SettingValues): string[] {
  const { documentenBackend } = values
  const faults: string[] = []
  for (const names of TOGETHER)
    if (new Set(names.map((name) => given.has(name))).size > 1)
      faults.push(`${names.slice(0, -1).join(', ')} and ${names.at(-1)} go together`)
  // Else the pages could send it to another host than it is for.
  if (given.has('SMTP_PASSWORD') && !given.has('SMTP_HOST')) faults.push('SMTP_PASSWORD goes with SMTP_HOST')
  if (given.has('CONTROL_DATABASE_URL') && given.has('DATABASE_URL'))
    faults.push('CONTROL_DATABASE_URL goes without DATABASE_URL: each organisation has its own')
  if (given.has('DATABASE_DIRECT_URL') && !given.has('DATABASE_URL'))
    faults.push('DATABASE_DIRECT_URL goes with DATABASE_URL')
  if (given.has('DATABASE_READ_URL') && !given.has('DATABASE_URL'))
    faults.push('DATABASE_READ_URL goes with DATABASE_URL')
  if (values.enableCloudEvents && values.cloudEventsProfile === 'nl-gov' && !values.cloudEventsSource)
    faults.push(
      'CLOUD_EVENTS_SOURCE is required, since ENABLE_CLOUD_EVENTS is true; CLOUD_EVENTS_PROFILE=open-zaak does without',
    )
  if (given.has('AZURE_CLIENT_SECRET') && !(given.has('AZURE_CLIENT_ID') && given.has('AZURE_TENANT_ID')))
    faults.push('AZURE_CLIENT_SECRET goes with AZURE_CLIENT_ID and AZURE_TENANT_ID')
  if (values.logboekDataverwerkingen && !values.logboekActiviteit)
    faults.push('LOGBOEK_DATAVERWERKINGEN needs LOGBOEK_ACTIVITEIT: the activity of what has none of its own')
  const namesAzure = given.has('AZURE_ACCOUNT_NAME') || given.has('AZURE_CONNECTION_STRING')
  if (documentenBackend === 'azure_blob_storage' && !namesAzure)
    faults.push('AZURE_ACCOUNT_NAME is required, since DOCUMENTEN_API_BACKEND is azure_blob_storage')
  return faults
}

/** Origins as browsers write them (RFC 6454): in lower case, without the port of their scheme. Undefined when one is none. */
function readOrigins(text: string): '*' | string[] | undefined {
  if (text === '*') return '*'
  const given = text === '' ? [] : text.split(',').map((one) => one.trim())
  const isOrigin = (one: string) => /^https?:\/\/[^/?#@]+$/.test(one) && URL.canParse(one)
  return given.every(isOrigin) ? given.map((one) => new URL(one).origin) : undefined
}

/** The certificates were judged with the settings. */
function fscSettings({ fsc }: SettingValues): FscSettings | undefined {
  if (!fsc.peerId || !fsc.groupId || !fsc.certificates) return undefined
  const certificates = certificatesIn(readFileSync(fsc.certificates, 'utf8'))
  const services = fsc.services?.split(',').map((name) => name.trim())
  return { peerId: fsc.peerId, groupId: fsc.groupId, certificates, audience: fsc.audience, services }
}

function oidcSettings({ oidc }: SettingValues): OidcSettings | undefined {
  const { issuer, clientId, viewer, privacy, operator, administrator, ...plain } = oidc
  if (!issuer) return undefined
  return {
    ...plain,
    issuer,
    clientId: expected(clientId),
    roles: {
      viewer: list(viewer),
      privacy: list(privacy),
      operator: list(operator),
      administrator: list(administrator),
    },
  }
}

function s3Settings({ s3, documentenBackend }: SettingValues, given: Set<string>): S3Settings | undefined {
  const isSet = [...given].some((name) => name.startsWith('S3_'))
  if (!isSet && documentenBackend !== 's3_storage') return undefined
  const { keyId, secret, ...plain } = s3
  return { ...plain, key: keyId ? { id: keyId, secret: expected(secret) } : undefined }
}

function azureSettings({ azure }: SettingValues): AzureSettings | undefined {
  const { connectionString, name, clientId, tenant, clientSecret } = azure
  if (!connectionString && !name) return undefined
  const client = clientSecret ? { id: expected(clientId), tenant: expected(tenant), secret: clientSecret } : undefined
  return {
    account: connectionString ? { connectionString } : { name: expected(name), ...(client && { client }) },
    container: azure.container,
    location: azure.location,
    connectionTimeoutMs: azure.connectionTimeoutSeconds * 1000,
    apiVersion: azure.apiVersion,
  }
}
