// An object of ours as the other side is told it: without what a service fills in, and with its addresses.
import { isDuration, isoDuration } from '../../http/duration.ts'
import { UUID_PATTERN } from '../../lib/uuid.ts'
import type { Json } from '../api/client.ts'
import { json, moment } from '../normalise.ts'

const UUIDS = new RegExp(UUID_PATTERN, 'gi')

/** Stands where something is named that is not there yet. */
export const NOT_YET = Symbol('not there yet')

/** The uuids in addresses of ours, wherever they stand. */
export function uuidsIn(value: unknown, base: string): string[] {
  if (typeof value === 'string') return value.startsWith(`${base}/`) ? (value.match(UUIDS) ?? []) : []
  if (value === null || typeof value !== 'object') return []
  return Object.values(value).flatMap((inner) => uuidsIn(inner, base))
}

/**
 * The value with our addresses as the other side has them.
 * @param names of what was made here; null: not there yet
 * @returns with `NOT_YET` for an address of what is not there; in a list that one is left out
 */
export function rewritten(value: unknown, ours: string, theirs: string, names: Map<string, string | null>): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(`${ours}/`)) return value
    let missing = false
    const text = value.slice(ours.length).replace(UUIDS, (uuid) => {
      const there = names.get(uuid.toLowerCase())
      missing ||= there === null
      return there ?? uuid
    })
    return missing ? NOT_YET : theirs + text
  }
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value))
    return value.map((one) => rewritten(one, ours, theirs, names)).filter((one) => one !== NOT_YET)
  const fields = Object.entries(value).map(([name, inner]) => [name, rewritten(inner, ours, theirs, names)] as const)
  return fields.some(([, inner]) => inner === NOT_YET) ? NOT_YET : Object.fromEntries(fields)
}

/** Whether a field says nothing: a service that makes an object fills it in the same way. */
export const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' &&
    !Array.isArray(value) &&
    Object.values(value).every((one) => one === false || isEmpty(one)))

/** Without nulls within: where a service takes a text, it takes an empty one. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (inner === null ? [] : [[name, withoutNulls(inner)]])),
  )
}

/** One spelling of a value: moments in UTC, terms as we write them, one form of nothing, and lists of texts and groups in one order. */
function spelled(value: unknown): unknown {
  if (typeof value === 'string') return (isDuration(value) ? isoDuration(value) : moment(value)) || null
  if (value === null || value === undefined || typeof value !== 'object') return value ?? null
  if (isEmpty(value)) return null
  if (Array.isArray(value)) {
    const items = value.map(spelled)
    if (items.every((one) => typeof one === 'string')) return items.sort()
    return items.some((one) => typeof one !== 'object' || Array.isArray(one))
      ? items
      : items.sort((a, b) => (json(a) < json(b) ? -1 : 1))
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const one = spelled(inner)
      return one === null || one === false ? [] : [[name, one]]
    }),
  )
}

export const isSame = (a: unknown, b: unknown): boolean => json(spelled(a)) === json(spelled(b))

/** Fields of ours that the other side says otherwise; `unknown` of these are those that it does not have. */
export function differing(ours: Json, theirs: Json, ignored: string[]): { differ: string[]; unknown: string[] } {
  const [differ, unknown]: [string[], string[]] = [[], []]
  for (const [name, value] of Object.entries(ours)) {
    if (ignored.includes(name)) continue
    if (!(name in theirs)) {
      if (!isEmpty(value) && value !== false) unknown.push(name)
    } else if (value === NOT_YET || !isSame(value, theirs[name])) differ.push(name)
  }
  return { differ, unknown }
}
