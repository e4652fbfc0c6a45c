// A besluit that is about to change, and its case: held until the transaction ends.
import type { Mutation } from '../core/mutate.ts'
import { notFound } from '../core/problem.ts'
import { expected } from '../database/rows.ts'
import { holdZaak, type ZaakCore } from '../zaken/lock.ts'
import type { BesluitRow } from './columns.ts'
import { findBesluit } from './read.ts'

/** The besluit, held until the transaction ends. @throws Problem 404 */
export async function lockBesluit(m: Mutation, uuid: string): Promise<BesluitRow> {
  const found = await m.trx.selectFrom('besluit').where('uuid', '=', uuid).select('id').forUpdate().executeTakeFirst()
  if (!found) throw notFound()
  return expected(await findBesluit(m.read, uuid))
}

/** The case of a besluit, held too: it does not close meanwhile. */
export async function zaakOf(m: Mutation, { zaakUuid }: BesluitRow): Promise<ZaakCore | null> {
  return zaakUuid === null ? null : ((await holdZaak(m, zaakUuid)) ?? null)
}
