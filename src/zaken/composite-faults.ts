// Faults of a combined request are named by the part of its body that they are about: `rollen.0.roltype`.

import type { TObject } from 'typebox'
import { type InvalidParam, invalidAll, Problem, toProblem } from '../core/problem.ts'
import { isUniqueViolation } from '../database/error-codes.ts'
import { readInput } from '../http/input.ts'

/** Faults of a part of a composite, under the name of that part. */
export const prefixed = (name: string, faults: InvalidParam[]) =>
  faults.map((fault) => ({ ...fault, name: `${name}.${fault.name}` }))

function renamed(name: string, error: unknown): unknown {
  return error instanceof Problem && error.invalidParams ? invalidAll(prefixed(name, error.invalidParams)) : error
}

/** What `read` reads. @throws Problem 400 of it, with its faults under this name */
export function part<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw renamed(name, error)
  }
}

/** Each by the schema, named by its place. */
export function parts(name: string, schema: TObject, given: object[] = []): Record<string, unknown>[] {
  return given.map((one, index) => part(`${name}.${index}`, () => readInput(schema, one)) as Record<string, unknown>)
}

/** As `part`, also for what the database refuses. */
export async function within<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // A rule that the database keeps gets its name too; a deadlock stays what it is and is tried again.
    throw renamed(name, isUniqueViolation(error) ? toProblem(error) : error)
  }
}

/** One after the other, each named by its place. */
export async function each<G, T>(
  name: string,
  given: readonly G[],
  work: (one: G, index: number) => Promise<T>,
): Promise<T[]> {
  const made: T[] = []
  for (const [index, one] of given.entries()) made.push(await within(`${name}.${index}`, () => work(one, index)))
  return made
}
