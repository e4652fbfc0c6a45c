// The picture of deliveries over time: stacked bars by hour or by day, each leading to the messages of its day.
import type { Reader } from '../../database/database.ts'
import { timeZone } from '../../lib/day.ts'
import { attemptFigures } from '../../notificaties/figures.ts'
import { type BarPart, drawBars } from '../frame/bars.ts'
import { formatShortDate, hourOf } from '../frame/format.ts'
import { t } from '../language/language.ts'

/** @param receiver of this abonnement only, and the uuid by which the list of messages is asked for it */
export async function deliveryPicture(reader: Pick<Reader, 'sql'>, per: 'hour' | 'day', receiver?: number) {
  const figures = await attemptFigures(reader, { per, zone: timeZone(), ...(receiver !== undefined && { receiver }) })
  const parts: BarPart[] = [
    { word: t('Bezorgd'), tone: 'goed' },
    { word: t('Nog eens geprobeerd'), tone: 'let-op' },
    { word: t('Mislukt'), tone: 'fout' },
  ]
  return drawBars(
    parts,
    figures.map(({ at, day, delivered, retried, failed }) => ({
      label: per === 'hour' ? hourOf(at) : formatShortDate(day),
      values: [delivered, retried, failed],
      path: `/notificaties?van=${day}&tot=${day}${failed > 0 ? '&status=mislukt' : ''}`,
    })),
  )
}
