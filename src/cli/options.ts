// Options that are more than their text, read in one way by every command.
import { type Command, Option } from 'commander'
import { expected } from '../database/rows.ts'
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

/**
 * Spellings that options had before: they go on to work, and help and documents do not show them.
 * @param names of options of this command, by what they were called: `--proef` to `--dry-run`
 */
export function formerly(command: Command, names: Record<string, string>): Command {
  for (const [former, now] of Object.entries(names)) {
    const option = expected(command.options.find(({ long }) => long === now))
    const again = new Option(option.flags.replace(now, former)).hideHelp()
    again.parseArg = option.parseArg
    again.attributeName = () => option.attributeName()
    command.addOption(again)
  }
  return command
}

/** One of these words. A word of before stands for that of now. @throws UsageError for another */
export function readChoice<T extends string>(
  text: string,
  name: string,
  now: readonly T[],
  before: Record<string, T> = {},
): T {
  const found = now.find((word) => word === text) ?? before[text]
  if (found === undefined) throw new UsageError(`${name} is ${now.join(' or ')}`)
  return found
}

/** What would be done, with all its rules, and nothing of it done. */
export const DRY_RUN = ['--dry-run', 'say what would be done, and do nothing of it'] as const
/** Answers the question before what cannot be undone. */
export const YES = ['--yes', 'do it without a question: for scripts'] as const
