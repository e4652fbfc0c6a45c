// Durations as people write and read them: a number and a unit, or "1 jaar en 6 maanden".

import { isoDuration } from '../../http/duration.ts'
import { localeOf, t, words } from '../language/language.ts'

const UNITS = { Y: 'year', M: 'month', W: 'week', D: 'day' } as const

/** Units to choose from in a form. The last one is for what takes more than one unit. */
export const DURATION_UNITS = words(
  [
    ['D', 'dagen'],
    ['W', 'weken'],
    ['M', 'maanden'],
    ['Y', 'jaar'],
    ['samen', 'samengesteld'],
  ] as const,
  '1',
)

/** `P30D` as `30 dagen`, `P56D` as `56 dagen (8 weken)`, `P1Y6M` as `1 jaar en 6 maanden`. What has hours is shown as it is. */
export function durationInWords(iso: string | null | undefined): string {
  if (!iso) return ''
  const parts = partsOf(iso)
  if (!parts) return iso
  const said = parts.map(([amount, unit]) =>
    new Intl.NumberFormat(localeOf(), {
      style: 'unit',
      unit: UNITS[unit],
      unitDisplay: 'long',
      useGrouping: false,
    }).format(amount),
  )
  const [first, ...more] = parts
  if (!first) return t('0 dagen')
  if (more.length > 0) return t`${said.slice(0, -1).join(', ')} en ${said.at(-1)}`
  const [amount, unit] = first
  // A duration is kept in days: whoever wrote 8 weeks finds them back.
  return unit === 'D' && amount > 7 && amount % 7 === 0 ? t`${said[0]} (${amount / 7} weken)` : said.join()
}

/** A duration as the two fields of a form. */
export function durationFields(iso: string | null | undefined): { amount: string; unit: string } {
  if (!iso) return { amount: '', unit: 'D' }
  const parts = partsOf(iso)
  const [first, second] = parts ?? []
  if (first && !second) return { amount: String(first[0]), unit: first[1] }
  return { amount: parts?.length === 0 ? '0' : durationInWords(iso), unit: parts?.length === 0 ? 'D' : 'samen' }
}

/** What the two fields say as ISO 8601; null when they are empty, undefined when they cannot be read. */
export function readDuration(amount: string, unit: string): string | null | undefined {
  const text = amount.trim()
  if (text === '') return null
  if (/^\d{1,5}$/.test(text)) return Object.hasOwn(UNITS, unit) ? `P${Number(text)}${unit}` : undefined
  if (/^P(?!$)(\d{1,5}Y)?(\d{1,5}M)?(\d{1,5}W)?(\d{1,5}D)?$/i.test(text)) return text.toUpperCase()
  return readWords(text)
}

function readWords(text: string): string | undefined {
  const found = new Map<string, number>()
  const rest = text
    .toLowerCase()
    .replace(
      /(\d{1,5})\s*(jaar|jaren|years?|maanden|maand|months?|weken|weeks?|dagen|dag|days?)\b/g,
      (_all, amount, word) => {
        const unit = String(word).charAt(0).toUpperCase().replace('J', 'Y')
        if (found.has(unit)) return 'twice'
        found.set(unit, Number(amount))
        return ''
      },
    )
  if (found.size === 0 || !/^(\s|,|\b(en|and)\b)*$/.test(rest)) return undefined
  return `P${Object.keys(UNITS)
    .map((unit) => (found.has(unit) ? `${found.get(unit)}${unit}` : ''))
    .join('')}`
}

function partsOf(iso: string): [number, keyof typeof UNITS][] | undefined {
  const match = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?$/.exec(isoDuration(iso))
  if (!match) return undefined
  return (['Y', 'M', 'D'] as const).flatMap((unit, place): [number, keyof typeof UNITS][] => {
    const amount = Number(match[place + 1] ?? 0)
    return amount === 0 ? [] : [[amount, unit]]
  })
}
