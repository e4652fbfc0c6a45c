// What every session of ours has, whatever server, database and role say: one place for both drivers. A pooler in transaction
// mode takes little of what a client asks at its start; there the rest comes from its `connect_query`, or from `alter role … set`.

/**
 * What changes the meaning of a statement, of a value or of a fault. The start holds every session to these, and to the
 * `search_path` of `schema.ts`.
 */
export const MEANING = {
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  standard_conforming_strings: 'on',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  array_nulls: 'on', // else a null in an array is the text NULL
  transform_null_equals: 'off',
  row_security: 'on',
  client_min_messages: 'notice',
  exit_on_error: 'off',
  gin_fuzzy_search_limit: '0', // else long lists miss rows
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  idle_session_timeout: '0',
}

/** How long things may take, and what they may cost. */
export const LIMITS = {
  jit: 'off', // our queries are short; compiling them takes longer than running them
  statement_timeout: '30000',
  lock_timeout: '10000',
  idle_in_transaction_session_timeout: '30000',
}

/** What poolers pass on of what a client asks at its start. */
const PASSED = ['TimeZone', 'DateStyle', 'standard_conforming_strings'] as const

/** What a session through a pooler in transaction mode asks at its start. */
export const POOLED = Object.fromEntries(PASSED.map((name) => [name, MEANING[name]]))

/** Settings as the start-up parameter `options` of the protocol has them. */
export const startupOptions = (settings: Record<string, string>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`)
    .join(' ')

/** The session is not as the program needs it. */
export class SessionFault extends Error {}

const HELD = {
  ...MEANING,
  default_transaction_read_only: 'off', // not set: who runs the database may stop all writing with it, and readiness tells
  session_replication_role: 'origin', // for superusers to set: with `replica` no trigger of ours runs
}

/**
 * Holds a session to what the program relies on.
 * @param ask a query with one parameter, on the driver whose sessions are meant
 * @param where what to call the connection: the name of its setting
 * @param searchPath schemas, with a comma and a space between them
 * @throws SessionFault with the names, and the statements that mend it
 */
export async function requireSession(
  ask: (text: string, names: string) => Promise<readonly { name: string; value: string | null; role: string }[]>,
  where: string,
  searchPath: string,
): Promise<void> {
  const wanted: Record<string, string> = { ...HELD, search_path: searchPath }
  const rows = await ask(
    `select name, current_setting(name, true) as value, quote_ident(current_user) as role
     from unnest(string_to_array($1, ',')) name`,
    Object.keys(wanted).join(','),
  )
  const other = rows.filter(({ name, value }) => value !== null && plain(name, value) !== wanted[name])
  if (other.length === 0) return
  const found = other.map(({ name, value }) => `${name} = ${value}`).join(', ')
  const mended = other.map(
    ({ name, role }) =>
      `alter role ${role} set ${name} = ${name === 'search_path' ? searchPath : `'${wanted[name]}'`};`,
  )
  throw new SessionFault(
    `sessions of ${where} have ${found}: a pooler drops what the program asks at its start. This mends it: ${mended.join(' ')}`,
  )
}

/** A `search_path` as we write it, whatever was between the names. */
const plain = (name: string, value: string): string =>
  name === 'search_path'
    ? value
        .replaceAll('"', '')
        .split(',')
        .map((part) => part.trim())
        .join(', ')
    : value
