// What an import of types changed or left out: each object of the file beside what was made of it.
import { isDuration, isoDuration } from '../../http/duration.ts'

/** One member of one object of the file that was not taken over as it stood. */
export type ImportChange = {
  /** Kind of type, and what it is called. */
  resource: string
  label: string
  /** What was made of it, or is used instead. */
  url: string
  /** Member, with dots for what is inside it. `url`: a type that exists already is used instead. */
  field: string
  given: unknown
  /** What stands there now; null when it was left out. */
  taken: unknown
}

/** These say where an object stands or follow from others: an import sets them. */
const DERIVED = new Set([
  'url',
  'catalogus',
  'concept',
  'zaaktypeIdentificatie',
  'isEindstatus',
  'beginObject',
  'eindeObject',
])

/**
 * The members of an object that differ from what was made of it. Lists that follow from other objects are no members of
 * its own: `own` names those that are.
 * @param given the object of the file, with camelCase names and our URLs
 * @param made its representation in the API
 */
export function changedMembers(
  given: Record<string, unknown>,
  made: Record<string, unknown>,
  own: ReadonlySet<string>,
): Pick<ImportChange, 'field' | 'given' | 'taken'>[] {
  return Object.entries(given).flatMap(([name, value]) => {
    if (DERIVED.has(name) || (Array.isArray(value) && Object.hasOwn(made, name) && !own.has(name))) return []
    return compare(name, value, memberOf(made, name))
  })
}

function compare(field: string, given: unknown, taken: unknown): Pick<ImportChange, 'field' | 'given' | 'taken'>[] {
  if (isEmpty(given) || isSame(given, taken)) return []
  if (isGroup(given) && isGroup(taken))
    return Object.entries(given).flatMap(([name, value]) => compare(`${field}.${name}`, value, memberOf(taken, name)))
  if (Array.isArray(given) && Array.isArray(taken)) {
    const there = new Set(taken.map(normal)) // lists of a thousand texts are compared too
    const lost = given.filter(
      (item) => !there.has(normal(item)) && !taken.some((other) => isGroup(other) && isSame(item, other)),
    )
    return lost.length === 0 ? [] : [{ field, given: lost, taken: null }]
  }
  return [{ field, given, taken: taken ?? null }]
}

const memberOf = (of: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(of, name) ? of[name] : undefined

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return true
  return typeof value === 'object' && Object.values(value).every(isEmpty)
}

function isSame(given: unknown, taken: unknown): boolean {
  if (isGroup(given) && isGroup(taken))
    return Object.entries(given).every(([name, value]) => isEmpty(value) || isSame(value, memberOf(taken, name)))
  return normal(given) === normal(taken)
}

/** Numbers are taken as text, durations in their one spelling. */
function normal(value: unknown): string {
  if (typeof value === 'string' && isDuration(value)) return isoDuration(value)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
