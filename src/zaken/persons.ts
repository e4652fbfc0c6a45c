// How rollen are found by the numbers of persons, which are sealed: a row has an HMAC of each in a column beside it.
import { type RawBuilder, sql } from 'kysely'
import { type Numbers, SEARCHED, type Searched } from '../lib/numbers.ts'

/** The column of each number. */
const COLUMNS: Record<Searched, string> = {
  inpBsn: 'inp_bsn_lookup',
  anpIdentificatie: 'anp_identificatie_lookup',
  inpA_nummer: 'inp_a_nummer_lookup',
}

export const isSearched = (member: string): member is Searched => Object.hasOwn(COLUMNS, member)

/**
 * The values of these columns for what a rol says of a person, as bytea is written.
 * @param key the key, when it is not the one that seals now
 */
export function lookupsOf(numbers: Numbers, identificatie: unknown, key?: string) {
  const who = (identificatie ?? {}) as Record<Searched, unknown>
  const of = (member: Searched): string | null => {
    const value = who[member]
    return typeof value === 'string' && value !== '' ? `\\x${numbers.lookup(member, value, key).toString('hex')}` : null
  }
  return {
    inp_bsn_lookup: of('inpBsn'),
    anp_identificatie_lookup: of('anpIdentificatie'),
    inp_a_nummer_lookup: of('inpA_nummer'),
  }
}
/** The same of several persons, one of each as the log of processing has them: by the first number that he has. */
export const lookupsOfAll = (numbers: Numbers, persons: readonly unknown[], key?: string): string[] =>
  persons.flatMap((person) => Object.values(lookupsOf(numbers, person, key)).find((found) => found !== null) ?? [])
export const LOOKUP_COLUMNS = SEARCHED.map((member) => COLUMNS[member])

/**
 * The ids of the rollen of a person: those sealed with any key, and those that are not sealed yet.
 * @throws KeyMissing when rows may be sealed with a key that is not here
 */
export function rollenOf(numbers: Numbers, member: Searched, value: string): RawBuilder<unknown> {
  const lookup = sql.ref(COLUMNS[member])
  const plain = sql.raw(`betrokkene_identificatie ->> '${member}'`)
  const hashes = numbers.lookups(member, value).map((hash) => `\\x${hash.toString('hex')}`)
  return sql`array(select id from rol where ${lookup} = any(${hashes}::text[]::bytea[])
    union all select id from rol where ${lookup} is null and ${plain} = ${value} and ${plain} <> '')`
}
