// Where the tables stand: in a schema that the address of the database chooses, with the queue in one beside it. Both are the
// `search_path` of every session of ours, so that no statement names a schema, and two organisations share a database.
import { AddressFault, addressOf } from './address.ts'

/** The schema of the tables where an address names none. */
const DEFAULT = 'zaakstroom'
/** Nothing in it has to be quoted, and the name of the queue beside it is short enough. */
export const SCHEMA_NAME = '^[a-z_][a-z0-9_]{0,56}$'
/** Words that may not name a schema without quotes, as `pg_get_keywords()` has them (catcode R and T). */
const RESERVED = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently
   constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default
   deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having ilike in initially inner
   intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on only or order
   outer overlaps placing primary references returning right select session_user similar some symmetric system_user table tablesample then
   to trailing true union unique user using variadic verbose when where window with`.split(/\s+/),
)
/** Whether a schema cannot have this name, or is one of PostgreSQL itself. */
export const isReservedSchema = (name: string): boolean =>
  RESERVED.has(name) || name === 'information_schema' || name.startsWith('pg_')

const CHOSEN = /(?:-c\s*|--)search_path=((?:\\.|\S)+)/g

/** The schema of the queue beside that of the tables. */
export const queueOf = (own: string): string => `${own}_queue`

/** @throws AddressFault when the options of the address name a schema that would have to be quoted */
export function schemasOf(url: string): { own: string; queue: string } {
  const [, path] = [...(addressOf(url).options ?? '').matchAll(CHOSEN)].at(-1) ?? []
  const own =
    path
      ?.replace(/\\(.)/g, '$1')
      .split(',')[0]
      ?.trim()
      .replace(/^"(.*)"$/, '$1') ?? DEFAULT
  if (isReservedSchema(own))
    throw new AddressFault(
      `has a search_path that begins with ${own}: that is a word of SQL, or a schema of PostgreSQL`,
    )
  if (!new RegExp(SCHEMA_NAME).test(own))
    throw new AddressFault(`has a search_path that begins with ${own}: a schema has lower-case letters, digits and _`)
  return { own, queue: queueOf(own) }
}

/** The `search_path` of sessions with this address. @throws AddressFault */
export function searchPathOf(url: string): string {
  const { own, queue } = schemasOf(url)
  return `${own}, ${queue}`
}

/** Whether the address chooses a schema. @throws AddressFault */
export const namesSchema = (url: string): boolean => (addressOf(url).options ?? '').search(CHOSEN) >= 0

/** The address with this schema, unless it names one itself. */
export function withSchema(url: string, schema: string | undefined): string {
  if (schema === undefined || namesSchema(url)) return url
  const [before = '', query = ''] = url.split(/\?(.*)/s, 2)
  const asked = new URLSearchParams(query)
  asked.set('options', [asked.get('options'), `-c search_path=${schema}`].filter(Boolean).join(' '))
  return `${before}?${asked.toString().replaceAll('+', '%20')}`
}

/** The address without its schema: what is asked there is the same for all organisations of that database. */
export function withoutSchema(url: string): string {
  const { options } = addressOf(url)
  if (!options) return url
  const [before = '', query = ''] = url.split(/\?(.*)/s, 2)
  const asked = new URLSearchParams(query)
  const others = options.replace(CHOSEN, '').trim()
  if (others) asked.set('options', others)
  else asked.delete('options')
  return asked.size > 0 ? `${before}?${asked.toString().replaceAll('+', '%20')}` : before
}
