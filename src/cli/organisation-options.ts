// What an organisation is given on the command line, checked.
import { randomBytes } from 'node:crypto'
import { AddressFault } from '../database/address.ts'
import { namesSchema } from '../database/schema.ts'
import { KEY_BYTES, SECRET_KEY } from '../lib/key-ring.ts'
import { LIMITS, type Limits } from '../organisations/organisation.ts'
import { readDatabaseUrl } from './other-database.ts'
import { UsageError } from './usage.ts'

/** Who changes organisations by a command, as the registry records it. */
export const ACTOR = 'zaakstroom organisation'

export type Shown = { json?: boolean }

/** Tells people how far it is, and nothing to a program. */
export const tellUnless =
  ({ json }: Shown) =>
  (line: string) => {
    if (!json) console.error(line)
  }

/** A line of DATA_KEYS with a key that nobody had before. */
export const newKey = (): string =>
  `${new Date().toISOString().slice(0, 7)}:${randomBytes(KEY_BYTES).toString('base64')}`

/** The ring of an installation, as it was given to it. @throws UsageError */
export function keysOf(given: string): { dataKeys: string; secretKey?: string } {
  const lines = given.split(/\s+/).filter(Boolean)
  if (lines.length === 0)
    throw new UsageError('its keys are given on standard input: SECRET_KEY, or the lines of DATA_KEYS')
  const isLine = (line: string) => /^[a-z0-9-]+:[\w+/-]+={0,2}$/.test(line) && !line.startsWith(`${SECRET_KEY}:`)
  const secret = lines.filter((line) => !isLine(line))
  if (secret.length > 1) throw new UsageError('more than one line is no line of DATA_KEYS')
  return {
    dataKeys: lines.filter(isLine).join('\n'),
    ...(secret[0] && { secretKey: secret[0].replace(/^secret-key:/, '') }),
  }
}

/** The address of a database of an organisation: its schema is kept beside it. @throws UsageError when it names one, or is none */
export function addressWithoutSchema(given: string, url: string): string {
  try {
    if (!namesSchema(url)) return url
  } catch (error) {
    throw error instanceof AddressFault ? new UsageError(`${given} ${error.message}`) : error
  }
  throw new UsageError(`${given} names a search_path: leave it out, an organisation has its schema by itself`)
}

/** That of an option, with the password that goes with it; or what counts without it. @throws UsageError */
export async function givenAddress(option: string, given: string | undefined, otherwise: string): Promise<string> {
  return addressWithoutSchema(option, given === undefined ? otherwise : await readDatabaseUrl(option, given))
}

const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/

/** Host names as the registry has them: in lower case, each once. @throws UsageError */
export function hostsOf(given: readonly string[]): string[] {
  const hosts = given.map((host) => host.toLowerCase().replace(/\.$/, ''))
  const wrong = hosts.find((host) => !HOST.test(host))
  if (wrong !== undefined) throw new UsageError(`--host ${wrong} is no host name: without https:// and without port`)
  return [...new Set(hosts)]
}

/** Settings with those that are written as `NAME=value` laid over them; `NAME=` takes one away. @throws UsageError */
export function settingsOf(before: Record<string, string>, given: readonly string[] = []): Record<string, string> {
  const settings = { ...before }
  for (const one of given) {
    const [, name = '', value = ''] = /^([A-Z0-9_]+)=(.*)$/s.exec(one) ?? []
    if (name === '') throw new UsageError('--setting is written as NAME=value')
    if (value === '') delete settings[name]
    else settings[name] = /^DATABASE_.*URL$/.test(name) ? addressWithoutSchema(name, value) : value
  }
  return settings
}

/** The same of bounds. @throws UsageError */
export function limitsOf(before: Limits, given: readonly string[] = []): Limits {
  const limits = { ...before }
  for (const one of given) {
    const [, name = '', value = ''] = /^(\w+)=(\d*)$/.exec(one) ?? []
    const known = LIMITS.find((limit) => limit === name)
    if (!known) throw new UsageError(`--limit is written as name=number, with one of ${LIMITS.join(', ')}`)
    if (value === '') delete limits[known]
    else limits[known] = Number(value)
  }
  return limits
}
