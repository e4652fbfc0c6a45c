// How fast an import went over time, where it stood still, and when it will be done.
import type { Reader } from '../../database/database.ts'
import { type BarPart, drawBars } from '../frame/bars.ts'
import { formatDuration, formatNear, formatNumber, timeOf } from '../frame/format.ts'
import { t } from '../language/language.ts'

/** Rows of ten seconds; `at` in milliseconds. */
export type SpeedFigure = { at: number; handled: number; failed: number }
type Span = { from: number; until: number }

const TEN = 10_000
const MOST_BARS = 48
/** Widths of a bar, in seconds; beyond it grows by hours. */
const WIDTHS = [10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600]
/** Shorter than this it did not stand still. */
const LEAST_PAUSE = 30_000
/** The speed of now is that of so long. */
const RECENT = 300_000
const MOST_FIGURES = 20_000
const DAY = 86_400_000

/** The figures of an import, in their order; at most so many of the last ones. */
export async function speedFigures({ sql }: Pick<Reader, 'sql'>, id: number, limit = MOST_FIGURES) {
  const rows = await sql<SpeedFigure[]>`
    select (extract(epoch from at) * 1000)::float8 as at, handled, failed from import_figure
    where import_id = ${id} order by import_figure.at desc limit ${limit}`
  return rows.toReversed()
}

/** Where nothing was handled for long, beside how often something usually was: batches of large files take long as well. */
export function pausesOf(figures: SpeedFigure[]): Span[] {
  const steps = figures.slice(1).map(({ at }, place) => at - (figures[place]?.at ?? at))
  const usual = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? TEN
  const least = Math.max(LEAST_PAUSE, 4 * usual)
  return steps.flatMap((step, place) => {
    const from = (figures[place]?.at ?? 0) + TEN
    return step - TEN > least ? [{ from, until: from + step - TEN }] : []
  })
}

/** Rows a second of the last minutes in which it did not stand still; undefined when it stands still now, or has only begun. */
export function recentSpeed(figures: SpeedFigure[], now: number): number | undefined {
  const recent = figures.filter(({ at }) => at > now - RECENT)
  const [first] = recent
  if (!first || recent.length < 2) return undefined
  const paused = pausesOf([...recent, { at: now, handled: 0, failed: 0 }])
  if (paused.some(({ until }) => until >= now)) return undefined
  const still = paused.reduce((sum, { from, until }) => sum + until - from, 0)
  return recent.reduce((sum, { handled }) => sum + handled, 0) / (Math.max(TEN, now - first.at - still) / 1000)
}

/** @returns null for an import of which there is nothing to see yet */
export function speedPicture(figures: SpeedFigure[]) {
  const [first, last] = [figures[0], figures.at(-1)]
  if (!first || !last || figures.length < 3) return null
  const pauses = pausesOf(figures)
  const end = last.at + TEN
  const seconds = (end - first.at) / 1000 / MOST_BARS
  const width = 1000 * (WIDTHS.find((one) => one >= seconds) ?? 3600 * Math.ceil(seconds / 3600))
  const start = Math.floor(first.at / width) * width
  const bars = Array.from({ length: Math.ceil((end - start) / width) }, (_, place) => {
    const from = start + place * width
    return { from, until: from + width, handled: 0, failed: 0 }
  })
  for (const { at, handled, failed } of figures) {
    const bar = bars[Math.floor((at - start) / width)]
    if (bar) Object.assign(bar, { handled: bar.handled + handled, failed: bar.failed + failed })
  }
  const isLong = end - first.at > DAY
  const labelOf = (at: number) => (isLong ? formatNear(new Date(at)) : timeOf(new Date(at)))
  const drawn = bars.map(({ from, until, handled, failed }) => {
    const lasted = (Math.min(until, end) - Math.max(from, first.at)) / 1000
    return { from, until, made: (handled - failed) / lasted, failed: failed / lasted, handled }
  })
  const top = Math.max(1, ...drawn.map(({ made, failed }) => made + failed))
  const isStill = ({ from, until, handled }: (typeof drawn)[number]) =>
    handled === 0 && pauses.some((pause) => pause.from < until && pause.until > from)
  const parts: BarPart[] = [
    { word: t('Geïmporteerd'), tone: 'goed' },
    { word: t('Niet geïmporteerd'), tone: 'fout' },
    { word: t('Stond stil'), tone: 'stil' },
  ]
  const rate = (value: number) => formatNumber(value >= 10 ? Math.round(value) : value)
  return drawBars(
    parts,
    drawn.map((bar) => ({
      label: labelOf(bar.from),
      values: isStill(bar) ? [0, 0, top] : [bar.made, bar.failed, 0],
      words: isStill(bar)
        ? t('stond stil')
        : t`${rate(bar.made)} rijen per seconde geïmporteerd, ${rate(bar.failed)} niet`,
      cells: isStill(bar) ? ['0', '0', t('ja')] : [rate(bar.made), rate(bar.failed), ''],
    })),
    {
      full: top,
      topText: t`hoogste balk: ${rate(top)} per seconde`,
      heads: [t('Geïmporteerd per seconde'), t('Niet geïmporteerd per seconde'), t('Stond stil')],
      ...(pauses.length > 0 && { note: pausesInWords(pauses, labelOf) }),
    },
  )
}

const NAMED_PAUSES = 3

function pausesInWords(pauses: Span[], labelOf: (at: number) => string): string {
  const named = pauses
    .slice(-NAMED_PAUSES)
    .map(({ from, until }) => t`van ${labelOf(from)} tot ${labelOf(until)} (${formatDuration((until - from) / 1000)})`)
  const more = pauses.length > NAMED_PAUSES ? ` ${t`Dat gebeurde ${pauses.length} keer.`}` : ''
  return `${t`Stond stil ${named.join(', ')}.`}${more}`
}
