// The pictures of a queue over the last three hours: how much waited, and for how long the oldest did.
import type { Reader } from '../../database/database.ts'
import { LATE_SECONDS, queueFigures } from '../../operations/figures.ts'
import { type BarPart, drawBars } from '../frame/bars.ts'
import { formatDuration, formatNumber, timeOf } from '../frame/format.ts'
import { t } from '../language/language.ts'

/** @returns null when nothing waited */
export async function queuePictures(reader: Pick<Reader, 'sql'>, of: 'deliveries' | 'jobs') {
  const figures = await queueFigures(reader, of)
  if (figures.every(({ count }) => count === 0)) return null
  const parts: BarPart[] = [
    { word: t('Op tijd'), tone: 'bezig' },
    { word: t`Oudste langer dan ${formatDuration(LATE_SECONDS)}`, tone: 'let-op' },
  ]
  const heads = [t('Wachtend'), t('Oudste')]
  const draw = (value: 'count' | 'seconds', topOf: (top: number) => string) => {
    const top = Math.max(...figures.map((figure) => figure[value]))
    return drawBars(
      parts,
      figures.map(({ at, ...figure }) => {
        const oldest = figure.count === 0 ? '–' : formatDuration(figure.seconds)
        const isLate = figure.seconds > LATE_SECONDS
        const state = isLate ? `, ${t('te lang')}` : ''
        return {
          label: timeOf(at),
          values: isLate ? [0, figure[value]] : [figure[value], 0],
          words: t`${formatNumber(figure.count)} wachtend, de oudste ${oldest}` + state,
          cells: [formatNumber(figure.count), oldest + state],
        }
      }),
      { heads, topText: topOf(top) },
    )
  }
  return {
    depth: draw('count', (top) => t`hoogste: ${formatNumber(top)}`),
    age: draw('seconds', (top) => t`langste: ${formatDuration(top)}`),
  }
}
