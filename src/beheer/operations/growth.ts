// Growth: how many cases and documents come in a month, what disk and database take, and when the disk is full.

import type { FastifyInstance } from 'fastify'
import { today } from '../../lib/day.ts'
import { type DiskGrowth, diskGrowth, growthByMonth, type Month } from '../../operations/figures.ts'
import { type BarPart, drawBars } from '../frame/bars.ts'
import { formatBytes, formatDate, formatMonth, formatNumber } from '../frame/format.ts'
import { t } from '../language/language.ts'

export function registerGrowth(app: FastifyInstance): void {
  app.get('/groei', { config: { access: 'beheer', rol: 'viewer' } }, async (_request, reply) => {
    const [months, growth] = await Promise.all([growthByMonth(app.reader), diskGrowth(app.reader)])
    const hasDisk = months.some(({ diskBytes }) => diskBytes !== null)
    return reply.page('growth', {
      title: t('Groei'),
      isEmpty: months.every(({ cases }) => cases === null),
      full: hasDisk ? fullInWords(growth) : null,
      isSoon: isFullSoon(growth),
      cases: drawNew(months, 'newCases', 'cases'),
      documents: drawNew(months, 'newDocuments', 'documents'),
      disk: hasDisk
        ? drawBytes(months, 'diskBytes', months.findLast(({ diskTotal }) => diskTotal !== null)?.diskTotal)
        : null,
      database: drawBytes(months, 'databaseBytes'),
    })
  })
}

const shown = (value: number | null, write: (value: number) => string) => (value === null ? '–' : write(value))

function drawNew(months: Month[], added: 'newCases' | 'newDocuments', total: 'cases' | 'documents') {
  const parts: BarPart[] = [{ word: t('Erbij in de maand'), tone: 'bezig' }]
  return drawBars(
    parts,
    months.map((month) => ({
      label: formatMonth(month.month),
      values: [Math.max(0, month[added] ?? 0)],
      words: t`${shown(month[added], formatNumber)} erbij, ${shown(month[total], formatNumber)} in totaal`,
      cells: [shown(month[added], formatNumber), shown(month[total], formatNumber)],
    })),
    { heads: [t('Erbij'), t('Aan het einde')] },
  )
}

function drawBytes(months: Month[], bytes: 'diskBytes' | 'databaseBytes', full?: number | null) {
  const parts: BarPart[] = [{ word: t('In gebruik aan het einde van de maand'), tone: 'bezig' }]
  const top = full ?? Math.max(1, ...months.map((month) => month[bytes] ?? 0))
  return drawBars(
    parts,
    months.map((month) => ({
      label: formatMonth(month.month),
      values: [month[bytes] ?? 0],
      words: t`${shown(month[bytes], formatBytes)} in gebruik`,
      cells: [shown(month[bytes], formatBytes)],
    })),
    {
      full: top,
      topText: full ? t`hele hoogte: ${formatBytes(top)}` : t`hoogste: ${formatBytes(top)}`,
      heads: [t('In gebruik')],
    },
  )
}

const FAR_DAYS = 5 * 365
/** From here on somebody has to order a disk. */
const SOON_DAYS = 60

const daysLeft = (growth: DiskGrowth): number | null =>
  growth === null || growth.bytesPerDay <= 0 ? null : growth.free / growth.bytesPerDay

export const isFullSoon = (growth: DiskGrowth): boolean => (daysLeft(growth) ?? FAR_DAYS) < SOON_DAYS

/** The week in which the disk is full, if it goes on like this; null when that is years away or not known. */
export function fullWeek(growth: DiskGrowth): string | null {
  const days = daysLeft(growth)
  if (days === null || days > FAR_DAYS) return null
  const { week, monday, sunday } = weekOf(today(Math.round(days * 86_400)))
  return t`week ${week} (${formatDate(monday)} tot en met ${formatDate(sunday)})`
}

function fullInWords(growth: DiskGrowth): string {
  if (growth === null) return t('Wanneer de schijf vol is, is bekend als haar gebruik een week is bijgehouden.')
  const perWeek = formatBytes(Math.max(0, Math.round(growth.bytesPerDay * 7)))
  const week = fullWeek(growth)
  if (growth.bytesPerDay <= 0) return t('De schijf loopt niet verder vol.')
  if (week === null) return t`Er komt ${perWeek} per week bij. De schijf is nog jaren groot genoeg.`
  return t`Er komt ${perWeek} per week bij. Gaat dat zo door, dan is de schijf vol in ${week}.`
}

/** The week of ISO 8601 that a day is in. */
export function weekOf(day: string): { week: number; monday: string; sunday: string } {
  const DAY = 86_400_000
  const at = Date.parse(`${day}T00:00:00Z`)
  const monday = at - ((new Date(at).getUTCDay() + 6) % 7) * DAY
  const thursday = monday + 3 * DAY
  const begin = Date.UTC(new Date(thursday).getUTCFullYear(), 0, 1)
  const textOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  return {
    week: 1 + Math.floor((thursday - begin) / (7 * DAY)),
    monday: textOf(monday),
    sunday: textOf(monday + 6 * DAY),
  }
}
