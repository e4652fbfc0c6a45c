// The address of another database than ours, with its password: on the command line everybody on the machine reads along.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AddressFault, addressOf } from '../database/address.ts'
import { readSecret } from './terminal.ts'
import { UsageError } from './usage.ts'

/** For the help of commands that take one. */
export const ANOTHER_DATABASE = `Its password is best left out of the command line, which others on the machine can read. The address is read from standard input
with -, or from a file with file:/run/secrets/name; without a password in it PGPASSFILE (or ~/.pgpass) is looked at, and
postgres://?service=name (or PGSERVICE) takes the rest from PGSERVICEFILE (or ~/.pg_service.conf), as psql does.`

/**
 * The whole address, of what was given for an option.
 * @throws UsageError when it is none
 */
export async function readDatabaseUrl(
  option: string,
  given: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const text =
    given === '-' ? await readSecret(`${option}: `) : given.startsWith('file:') ? textOf(option, given.slice(5)) : given
  const url = text.trim()
  if (!/^postgres(ql)?:\/\//.test(url)) throw new UsageError(`${option} is an address of a database (postgres://…)`)
  try {
    return withPassword(withService(url, env), env)
  } catch (error) {
    throw error instanceof AddressFault ? new UsageError(`${option} ${error.message}`) : error
  }
}

function textOf(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be read (${(error as { code?: string }).code})`)
  }
}

const FORM = /^(postgres(?:ql)?:\/\/)(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(\/[^?]*)?(?:\?(.*))?$/s

/** What the address leaves open is filled from the service that it, or PGSERVICE, names. */
function withService(url: string, env: NodeJS.ProcessEnv): string {
  const [, scheme = '', user, password, authority = '', path = '', query = ''] = FORM.exec(url) ?? []
  const asked = new URLSearchParams(query)
  const name = asked.get('service') ?? (authority === '' && !asked.has('host') ? env.PGSERVICE : undefined)
  if (!name) return url
  const service = serviceOf(name, env.PGSERVICEFILE ?? join(homedir(), '.pg_service.conf'))
  asked.delete('service')
  const { host, port, dbname, user: who, password: secret, ...more } = service
  if (authority === '' && host) asked.set('host', asked.get('host') ?? host)
  if (authority === '' && port) asked.set('port', asked.get('port') ?? port)
  for (const [key, value] of Object.entries(more)) if (!asked.has(key)) asked.set(key, value)
  const credentials = [user || encodeURIComponent(who ?? ''), password ?? (secret && encodeURIComponent(secret))]
  const signed = credentials[0] ? `${credentials.filter((one) => one !== undefined).join(':')}@` : ''
  const database = path.length > 1 ? path : `/${encodeURIComponent(dbname ?? '')}`
  const rest = asked.toString()
  return `${scheme}${signed}${authority}${database}${rest ? `?${rest}` : ''}`
}

function serviceOf(name: string, file: string): Record<string, string> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new UsageError(`the service ${name} is looked for in ${file}, which cannot be read`)
  }
  const found: Record<string, string> = {}
  let section: string | undefined
  let isThere = false
  for (const line of text.split('\n')) {
    section = /^\s*\[(.+)\]\s*$/.exec(line)?.[1] ?? section
    if (section !== name) continue
    isThere = true
    const at = line.indexOf('=')
    if (at > 0) found[line.slice(0, at).trim()] = line.slice(at + 1).trim()
  }
  if (!isThere) throw new UsageError(`there is no service ${name} in ${file}`)
  return found
}

/** The password of the first line of PGPASSFILE that fits: host, port, database, user and password, with `*` for any. */
function withPassword(url: string, env: NodeJS.ProcessEnv): string {
  const { host, port, database, user, password, tls } = addressOf(url)
  if (password !== undefined || !user || 'key' in tls) return url
  let text: string
  try {
    text = readFileSync(env.PGPASSFILE ?? join(homedir(), '.pgpass'), 'utf8')
  } catch {
    return url
  }
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) continue
    const parts = fieldsOf(line)
    const [at, atPort, of, by, secret] = parts
    const fits = [
      [at, host],
      [atPort, String(port)],
      [of, database ?? user],
      [by, user],
    ] as const
    if (secret && fits.every(([asked, is]) => asked === '*' || asked === is)) return withSecret(url, secret)
  }
  return url
}

/** Fields are parted by colons; a colon or backslash of a field itself has a backslash before it. */
function fieldsOf(line: string): string[] {
  const fields = ['']
  let isEscaped = false
  for (const letter of line.replace('\r', '')) {
    if (!isEscaped && letter === ':') fields.push('')
    else if (isEscaped || letter !== '\\') fields[fields.length - 1] += letter
    isEscaped = !isEscaped && letter === '\\'
  }
  return fields
}

const withSecret = (url: string, secret: string): string => {
  const [, scheme = '', user = ''] = FORM.exec(url) ?? []
  // A user that is named as a parameter keeps its place.
  if (user === '') return `${url}${url.includes('?') ? '&' : '?'}password=${encodeURIComponent(secret)}`
  return `${scheme}${user}:${encodeURIComponent(secret)}@${url.slice(url.indexOf('@') + 1)}`
}
