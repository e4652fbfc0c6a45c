// Form: what a form sends, checked against a schema with the words of the API.

import type { Static, TObject } from 'typebox'
import { type InvalidParam, invalidAll, Problem } from '../../core/problem.ts'
import { readInput, Verbatim } from '../../http/input.ts'
import { reason } from '../language/language.ts'

/** A form as it came: text, and a list where a name came more than once. */
export type FormValues = Record<string, string | string[] | undefined>
/** Per field what is wrong with it; '' holds what is about the form as a whole. */
export type FormFaults = Record<string, string>

type FieldSchema = { type?: unknown; 'x-verbatim'?: boolean }

/** A password, as it was typed: it may begin or end with a space. */
export const PasswordField = Verbatim({ maxLength: 1000 })

/**
 * Reads the fields of the schema from a form: an empty field counts as left out, a checkbox is a boolean, a list field may
 * come once or more often.
 * @param others what the schema does not say: it finds its faults in the form as it came
 * @throws Problem 400 with all that is wrong, per field
 */
export function readForm<T extends TObject>(
  schema: T,
  form: unknown,
  others: (given: FormValues) => FormFaults = () => ({}),
): Static<T> {
  const given = (form ?? {}) as FormValues
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.properties) as [string, FieldSchema][]) {
    const value = given[name]
    const list = value === undefined ? [] : [value].flat()
    const last = list.at(-1)
    if (field.type === 'array') values[name] = list.filter((part) => part !== '')
    else if (field.type === 'boolean') values[name] = last !== undefined && last !== '' && last !== 'false'
    else if (last !== undefined && last.trim() !== '') values[name] = last
  }
  const found = others(given)
  if (Object.keys(found).length === 0) return readInput(schema, values)
  const faults: FormFaults = {}
  try {
    readInput(schema, values)
  } catch (error) {
    Object.assign(faults, formFaultsOf(error))
  }
  throw formProblem({ ...found, ...faults })
}

/** Puts extra checks beside those of the schema. @throws Problem 400 when any of them found something */
export function throwFormFaults(faults: FormFaults): void {
  if (Object.keys(faults).length > 0) throw formProblem(faults)
}

/** To throw where one thing is known to be wrong: 400. */
export const formProblem = (faults: FormFaults): Problem =>
  invalidAll(Object.entries(faults).map(([name, reason]): InvalidParam => ({ name, code: 'invalid', reason })))

/** What to show beside the fields after a failure; whatever is no refusal of the input is thrown on. */
export function formFaultsOf(error: unknown): FormFaults {
  if (!(error instanceof Problem) || error.status >= 500 || [403, 404, 429].includes(error.status)) throw error
  if (!error.invalidParams) return { '': reason(error.detail) }
  return Object.fromEntries(
    error.invalidParams.map(({ name, reason: why }) => [name === 'nonFieldErrors' ? '' : name, reason(why)]),
  )
}
