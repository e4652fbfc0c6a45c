// What a text of a setting has to be beyond its pattern: an address that can be called, headers, a file that can be read. What is wrong
// is told at the start, by the name of the setting, and not at the first use.
import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import { isReservedSchema } from '../database/schema.ts'
import { readHeaders } from '../lib/headers.ts'
import { list } from '../lib/list.ts'
import { readAllowedHosts } from './allowed-hosts.ts'

/** @returns what is wrong, to be read behind the name of the setting; undefined: nothing */
type Judge = (text: string) => string | undefined

const must = (what: string) => `must ${what}`

const isAddress = (text: string) => /^[^\s\\]+$/.test(text) && URL.canParse(text) && new URL(text).hostname !== ''

/** tcp://host:port or unix:/path. */
function isSocket(text: string): boolean {
  if (text.startsWith('unix:/')) return true
  return isAddress(text.replace(/^tcp:/, 'http:')) && Number(/:(\d+)$/.exec(text)?.[1]) > 0
}

/** An address or range; one of everybody is none, since it would believe anybody. */
function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= (version === 4 ? 32 : 128))
  )
}

/** A host or domain, perhaps with a port. */
function isHost(text: string): boolean {
  const [, host = text] = /^([^:]+|\[[^\]]+\]):\d{1,5}$/.exec(text) ?? []
  return readAllowedHosts([host.replace(/^\./, '')]) !== undefined
}

/** Kinds of file systems in which nothing is stored: /proc and /sys. */
const PSEUDO = new Set([0x9fa0, 0x62656572])

/** Whether a directory is there, or can be made where it is to be. In /proc making one never ends. */
function judgeDirectory(text: string): string | undefined {
  let there = resolve(text)
  while (!existsSync(there)) there = dirname(there)
  if (!statSync(there).isDirectory()) return `${must('be a directory')}: a file is in its place`
  return PSEUDO.has(statfsSync(there).type) ? `${must('be a directory')} on a file system that stores` : undefined
}

/** The text of a file, judged. */
const file =
  (what: string, isRight: (text: string) => boolean): Judge =>
  (path) => {
    try {
      return isRight(readFileSync(path, 'utf8')) ? undefined : must(`be ${what}`)
    } catch {
      return must(`be ${what}, and cannot be read`)
    }
  }

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

/** The certificates in a text, each as PEM. @throws Error when one is none */
export function certificatesIn(text: string): string[] {
  const found = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  for (const pem of found) new X509Certificate(pem)
  return found
}

export const KINDS = {
  address: (text) =>
    isAddress(text) ? undefined : must('be an address: a host that there may be, and a port to 65535'),
  socket: (text) => (isSocket(text) ? undefined : must('be tcp://host:port or unix:/path, with a port to 65535')),
  headers: (text) => (readHeaders(text) ? undefined : must('be headers as name=value, with commas, percent-encoded')),
  hosts: (text) =>
    text.trim() === '*' || list(text).every(isHost) ? undefined : must('be hosts, domains or addresses, with commas'),
  ranges: (text) =>
    list(text).every(isRange) ? undefined : must('be addresses or CIDR ranges, with commas, and not everybody'),
  schema: (text) =>
    isReservedSchema(text) ? must('not be a word of SQL or a schema of PostgreSQL itself') : undefined,
  directory: judgeDirectory,
  stylesheet: file('a file with a stylesheet', (text) => text.includes('{')),
  json: file('a file with JSON', isJson),
  certificates: file('a file with certificates (PEM)', (text) => certificatesIn(text).length > 0),
} satisfies Record<string, Judge>
export type Kind = keyof typeof KINDS
