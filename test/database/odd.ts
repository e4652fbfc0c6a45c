// Settings of a server as no program expects them.
import postgres from 'postgres'
import type { MEANING } from '../../src/database/session.ts'

/** All that changes what a statement means, odd at once. */
export const ODD: Record<keyof typeof MEANING, string> = {
  TimeZone: 'Asia/Tokyo',
  DateStyle: 'SQL, DMY',
  standard_conforming_strings: 'off',
  IntervalStyle: 'sql_standard',
  extra_float_digits: '-10',
  bytea_output: 'escape',
  array_nulls: 'off',
  transform_null_equals: 'on',
  row_security: 'off',
  client_min_messages: 'error',
  exit_on_error: 'on',
  gin_fuzzy_search_limit: '1',
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  idle_session_timeout: '1h',
}

/** Gives every new session of a database these settings; `null` takes them back. */
export async function setForDatabase(url: string, settings: Record<string, string | null>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const name = new URL(url).pathname.slice(1)
  try {
    for (const [setting, value] of Object.entries(settings))
      if (value === null) await sql.unsafe(`alter database ${name} reset ${setting}`)
      else await sql.unsafe(`alter database ${name} set ${setting} = '${value}'`)
  } finally {
    await sql.end()
  }
}
