const PARTS =
  /^P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)W)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+(?:\.\d+)?)S)?)?$/

/**
 * A duration of ISO 8601 in one spelling: months carry into years, weeks into days, seconds into minutes and so on up to
 * days. Days stay days: a month has no fixed length. Zero is `P0D`. The format was checked with the input.
 */
export function isoDuration(text: string): string {
  const [years, months, weeks, days, hours, minutes, seconds] = partsOf(text)
  const allMonths = years! * 12 + months!
  const allSeconds = (hours! * 60 + minutes!) * 60 + seconds!
  const allDays = weeks! * 7 + days! + Math.trunc(allSeconds / 86_400)
  const rest = allSeconds % 86_400
  const date = part(Math.trunc(allMonths / 12), 'Y') + part(allMonths % 12, 'M') + part(allDays, 'D')
  const time =
    part(Math.trunc(rest / 3600), 'H') +
    part(Math.trunc((rest % 3600) / 60), 'M') +
    part(Math.round((rest % 60) * 1e6) / 1e6, 'S')
  if (date === '' && time === '') return 'P0D'
  return `P${date}${time && `T${time}`}`
}

/** About how many days a duration lasts, to compare it with a bound: a month counts as 30 days, a year as 365. */
export function inDays(text: string): number {
  const [years, months, weeks, days, hours, minutes, seconds] = partsOf(text)
  return years! * 365 + months! * 30 + weeks! * 7 + days! + ((hours! * 60 + minutes!) * 60 + seconds!) / 86_400
}

const partsOf = (text: string) => (PARTS.exec(text) ?? []).slice(1).map((part) => Number(part ?? 0))

function part(amount: number, letter: string): string {
  return amount === 0 ? '' : `${amount}${letter}`
}
