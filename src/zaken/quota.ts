// How much may hang on one case: as much as answers that name all of it can hold (docs/security.md, Bounds).

import { LIMITS } from '../core/limits.ts'
import type { Mutation } from '../core/mutate.ts'
import { invalidAll, onObject } from '../core/problem.ts'

type Table = 'zaak' | 'rol' | 'zaakinformatieobject' | 'zaakobject' | 'zaakeigenschap' | 'status'

/**
 * SQL: how many rows there are, counted no further than `most`. In the `returning` of an insert it does not see what was
 * inserted.
 */
export const countUpTo = (m: Mutation, table: Table, column: string, id: number, most: number) =>
  m.sql`(select count(*)::int from (select from ${m.sql(table)} b where b.${m.sql(column)} = ${id} limit ${most}) x)`

/** @throws Problem 400 when there are as many as there may be */
export function requireRoom(there: number, what: string, most: number = LIMITS.related): void {
  if (there >= most) throw invalidAll([onObject('max_items', `Een zaak heeft ten hoogste ${most} ${what}.`)])
}
