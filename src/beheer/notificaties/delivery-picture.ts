// The picture of deliveries over time: stacked bars by hour or by day, each leading to the messages of its moment.
import type { Reader } from '../../database/database.ts'
import { timeZone } from '../../lib/day.ts'
import { attemptFigures } from '../../notificaties/figures.ts'
import { type BarPart, drawBars } from '../frame/bars.ts'
import { formatShortDate, hourOf } from '../frame/format.ts'
import { t } from '../language/language.ts'

/** @param receiver of this abonnement only */
export async function deliveryPicture(
  reader: Pick<Reader, 'sql'>,
  per: 'hour' | 'day',
  receiver?: { id: number; uuid: string },
) {
  const figures = await attemptFigures(reader, { per, zone: timeZone(), ...(receiver && { receiver: receiver.id }) })
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
      path: `/notificaties?${new URLSearchParams({
        poging: per === 'hour' ? `${new Date(at).toISOString().slice(0, 16)}Z` : day,
        ...(failed > 0 ? { hoe: 'mislukt' } : retried > 0 && { hoe: 'nogmaals' }),
        ...(receiver && { bij: receiver.uuid }),
      })}`,
    })),
  )
}
