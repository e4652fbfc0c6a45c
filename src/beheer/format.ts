// weergave: how values look on the pages. Dutch, in the time of the Netherlands, whatever the machine is set to.

const ZONE = 'Europe/Amsterdam'
const MOMENT = new Intl.DateTimeFormat('nl-NL', { dateStyle: 'medium', timeStyle: 'medium', timeZone: ZONE })
const DAG = new Intl.DateTimeFormat('nl-NL', { dateStyle: 'long', timeZone: 'UTC' })
const KORTE_DAG = new Intl.DateTimeFormat('nl-NL', { dateStyle: 'medium', timeZone: 'UTC' })
const GETAL = new Intl.NumberFormat('nl-NL', { maximumFractionDigits: 1 })
const GELEDEN = new Intl.RelativeTimeFormat('nl-NL', { numeric: 'auto' })
const STAPPEN: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** A moment as `21 nov 2026, 05:43:12`. */
export function moment(iso: string): string {
  return MOMENT.format(new Date(iso))
}

/** A date (`YYYY-MM-DD`) as `21 november 2026`. */
export function formatDate(iso: string): string {
  return DAG.format(new Date(`${iso.slice(0, 10)}T00:00:00Z`))
}

/** A date as `21 nov 2026`, for lists. */
export function formatShortDate(iso: string): string {
  return KORTE_DAG.format(new Date(`${iso.slice(0, 10)}T00:00:00Z`))
}

/** How long ago, or until then, as `3 minuten geleden`. */
export function formatAgo(iso: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000)
  const [unit, size] = STAPPEN.find(([, step]) => Math.abs(seconds) >= step) ?? ['second', 1]
  return GELEDEN.format(Math.round(seconds / size), unit)
}

export function formatNumber(value: number): string {
  return GETAL.format(value)
}

/** A number of seconds as `1 u 4 min`, with at most two units. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  const rounded = Math.round(seconds)
  const parts = [
    [Math.floor(rounded / 86_400), 'd'],
    [Math.floor(rounded / 3600) % 24, 'u'],
    [Math.floor(rounded / 60) % 60, 'min'],
    [rounded % 60, 's'],
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/** A number of bytes as `3,2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const step = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3))
  return `${formatNumber(bytes / 1000 ** step)} ${units[step]}`
}
