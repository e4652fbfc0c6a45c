// Options that are more than their text, read in one way by every command.
import { UsageError } from './usage.ts'

/** @throws UsageError for anything but a number within the bounds, written in digits */
export function readNumber(text: string, name: string, from: number, to: number, { whole = true } = {}): number {
  const isNumber = whole ? /^\d{1,15}$/.test(text) : /^\d{1,15}(\.\d{1,6})?$/.test(text)
  const number = Number(text)
  if (!isNumber || number < from || number > to)
    throw new UsageError(`${name} is a ${whole ? 'whole ' : ''}number from ${from} to ${to}`)
  return number
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/

/**
 * A moment of ISO 8601 with its zone; a day alone is its begin in UTC.
 * @throws UsageError for anything else: 02-03-2026 is two days, depending on who reads it
 */
export function readMoment(text: string, name: string): Date {
  const [, day] = MOMENT.exec(text) ?? []
  const isDay = day !== undefined && !day.startsWith('0000') && isReal(day)
  if (!isDay)
    throw new UsageError(`${name} is a moment with its zone, such as 2026-03-02T08:00:00Z or 2026-03-02T09:00:00+01:00`)
  return new Date(text)
}

/** Whether the calendar has it: 30 February would be 2 March. */
const isReal = (day: string): boolean => {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
