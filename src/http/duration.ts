/**
 * The one reading of ISO 8601 durations. Every duration of the standard is a term, so none is negative, and none is longer than
 * `MAX_YEARS`: a date moved by it stays a date. `is_term` in the database says the same.
 */
const PARTS =
  /^P(?!$)(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?!$)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?$/

/** The longest terms: those of archiving, of which the selectielijst has some of 110 years, and all others. */
export const MAX_YEARS = { archiving: 500, term: 100 } as const

/** The last day that the standard can write: a date that was computed and lies later is refused. */
export const isBeyondDates = (day: string | null): boolean => day !== null && day.length > '9999-12-31'.length

/** What a duration has of each; weeks are days here, hours and minutes seconds. */
type Parts = { years: number; months: number; days: number; seconds: number }

/** Undefined when it is no duration, or one of more than so many years. */
function readParts(text: string, bound: number = MAX_YEARS.archiving): Parts | undefined {
  const match = PARTS.exec(text)
  if (!match) return undefined
  const amounts = match.slice(1).map((part) => Number(part ?? 0))
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = amounts
  // From a day after which so many years have all their leap days; a date out of reach is NaN, and so refused.
  const end = Date.UTC(2000 + years, months, 1 + weeks * 7 + days, hours, minutes, seconds)
  if (!(end <= Date.UTC(2000 + bound, 0, 1))) return undefined
  return { years, months, days: weeks * 7 + days, seconds: (hours * 60 + minutes) * 60 + seconds }
}

/** Whether it is a duration that the service reads: ISO 8601, not negative, as long as a term of archiving at most. */
export const isDuration = (text: string): boolean => readParts(text) !== undefined

/** Whether it is one that is no longer than any other term. */
export const isTerm = (text: string): boolean => readParts(text, MAX_YEARS.term) !== undefined

/**
 * A duration in one spelling: months carry into years, weeks into days, seconds into minutes and so on up to days. Days
 * stay days: a month has no fixed length. Zero is `P0D`.
 * @throws RangeError for what `isDuration` refuses; the formats of the schemas refuse it first
 */
export function isoDuration(text: string): string {
  const { years, months, days, seconds } = requireParts(text)
  const allMonths = years * 12 + months
  const allDays = days + Math.trunc(seconds / 86_400)
  const rest = seconds % 86_400
  const date = part(Math.trunc(allMonths / 12), 'Y') + part(allMonths % 12, 'M') + part(allDays, 'D')
  const time =
    part(Math.trunc(rest / 3600), 'H') +
    part(Math.trunc((rest % 3600) / 60), 'M') +
    part(Math.round((rest % 60) * 1e6) / 1e6, 'S')
  if (date === '' && time === '') return 'P0D'
  return `P${date}${time && `T${time}`}`
}

/** Whether a text is a duration of no length, such as `P0D` or `PT0S`: where a term may be absent, it is. */
export const isZeroDuration = (text: string) => isDuration(text) && isoDuration(text) === 'P0D'

/** About how many days a duration lasts, to compare it with a bound: a month counts as 30 days, a year as 365. */
export function inDays(text: string): number {
  const { years, months, days, seconds } = requireParts(text)
  return years * 365 + months * 30 + days + seconds / 86_400
}

/**
 * The day a term after another, as PostgreSQL adds an interval to a date: months first, to the last day of a shorter month, then
 * days, then the time. A year after 9999 has more than four digits.
 */
export function afterTerm(day: string, term: string): string {
  const { years, months, days, seconds } = requireParts(term)
  const [year = 0, month = 1, dayOfMonth = 1] = day.split('-').map(Number)
  const monthsOn = (year + years) * 12 + month - 1 + months
  const date = new Date(0)
  date.setUTCFullYear(Math.floor(monthsOn / 12), (monthsOn % 12) + 1, 0) // the last day of that month
  if (date.getUTCDate() > dayOfMonth) date.setUTCDate(dayOfMonth)
  date.setUTCDate(date.getUTCDate() + days)
  date.setUTCSeconds(seconds)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${String(date.getUTCFullYear()).padStart(4, '0')}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`
}

function requireParts(text: string): Parts {
  const parts = readParts(text)
  if (!parts) throw new RangeError('no duration, or one that is out of bounds')
  return parts
}

function part(amount: number, letter: string): string {
  return amount === 0 ? '' : `${amount}${letter}`
}
