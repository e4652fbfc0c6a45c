// Tells the report why the database refused an object that is taken over.

import { isUniqueViolation } from '../database/error-codes.ts'

/** Faults of what was written, not of the database: classes 22 (data) and 23 (constraints). */
export function isFaultOfData(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^2[23]/.test(code)
}

/** The code that the report gives of it. */
export function codeOf(error: unknown): string {
  const { code, constraint_name } = error as { code: string; constraint_name?: string }
  if (isUniqueViolation(error)) return `bestaat-al:${constraint_name ?? ''}`
  if (code === '23502') return 'verplicht'
  if (code.startsWith('22')) return 'waarde'
  return `regel:${constraint_name ?? code}`
}

/** In words, without the values: they may be of persons. */
export function wordsOf(error: unknown): string {
  const { code, constraint_name, column_name } = error as Record<string, string | undefined>
  if (isUniqueViolation(error)) return `Een ander object is er al met dezelfde gegevens (${constraint_name}).`
  if (code === '23502') return `Het veld ${column_name} is leeg.`
  if (code === '22007' || code === '22008') return 'Een datum of moment bestaat niet.'
  if (code?.startsWith('22')) return 'Een waarde past niet bij de soort van het veld.'
  return `Een waarde is niet een van de mogelijke (${constraint_name ?? code}).`
}
