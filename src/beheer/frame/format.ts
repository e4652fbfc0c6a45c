// Format: how values look on the pages. In the language of the request, in the time zone of the settings, whatever the machine is
// set to.
import { dayOf, timeZone, today } from '../../lib/day.ts'
import { language, t } from '../language/language.ts'

const inLocale = (locale: string, zone: string) => ({
  moment: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone }),
  longMoment: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: zone }),
  day: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }),
  hour: new Intl.DateTimeFormat(locale, { weekday: 'short', hour: '2-digit', minute: '2-digit', timeZone: zone }),
  clock: new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', timeZone: zone }),
  month: new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' }),
  shortDay: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }),
  number: new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
  ago: new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }),
})
const LOCALES = { nl: 'nl-NL', en: 'en-GB' }
const made: Record<string, ReturnType<typeof inLocale>> = {}
/** Made at first use: all of them would be a noticeable part of a start. */
const formats = () => (made[`${language()} ${timeZone()}`] ??= inLocale(LOCALES[language()], timeZone()))
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** A moment as `21 nov 2026, 05:43:12`. */
export function moment(iso: string): string {
  return formats().moment.format(new Date(iso))
}

/** A moment without its seconds, as `21 november 2026 om 05:43`. */
export function longMoment(at: Date): string {
  return formats().longMoment.format(at)
}

/** A date (`YYYY-MM-DD`) as `21 november 2026`. */
export function formatDate(iso: string): string {
  return formats().day.format(new Date(`${iso.slice(0, 10)}T00:00:00Z`))
}

/** A date as `21 nov 2026`, for lists. */
export function formatShortDate(iso: string): string {
  return formats().shortDay.format(new Date(`${iso.slice(0, 10)}T00:00:00Z`))
}

/** The hour of a moment, as `do 05:00`. */
export function hourOf(iso: string): string {
  return formats().hour.format(new Date(iso))
}

/** The time of day of a moment, as `15:07`. */
export function timeOf(at: string | Date): string {
  return formats().clock.format(new Date(at))
}

/** A month, by one of its days, as `nov 2026`. */
export function formatMonth(iso: string): string {
  return formats().month.format(new Date(`${iso.slice(0, 10)}T00:00:00Z`))
}

/** A moment of these days as `vandaag 15:07`, `gisteren 15:07` or `morgen 02:10`; another as `21 nov 2026 05:43`. */
export function formatNear(at: string | Date): string {
  const [day, time] = [dayOf(at), timeOf(at)]
  if (day === today()) return t`vandaag ${time}`
  if (day === today(-86_400)) return t`gisteren ${time}`
  if (day === today(86_400)) return t`morgen ${time}`
  return `${formatShortDate(day)} ${time}`
}

/** How long ago, or until then, as `3 minuten geleden`. */
export function formatAgo(iso: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000)
  const [unit, size] = UNITS.find(([, step]) => Math.abs(seconds) >= step) ?? ['second', 1]
  return formats().ago.format(Math.round(seconds / size), unit)
}

/** As the language of the request writes it: `1.234,5` or `1,234.5`. */
export function formatNumber(value: number): string {
  return formats().number.format(value)
}

/** A number of seconds as `1 u 4 min`, with at most two units. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  const rounded = Math.round(seconds)
  const parts = [
    [Math.floor(rounded / 86_400), 'd'],
    [Math.floor(rounded / 3600) % 24, t('u')],
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
