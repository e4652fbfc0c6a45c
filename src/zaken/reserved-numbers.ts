// reserved-numbers: the end of a number that was handed out before its case exists (`composite.ts` hands them out).
import { refuseBeforeSwitch } from '../core/before-switch.ts'
import type { Mutation } from '../core/mutate.ts'
import { notFound } from '../core/problem.ts'

/**
 * Ends the reservation of a number: no case takes it out any more. It is not handed out again either.
 * @throws Problem 404 when it is not reserved (any more)
 */
export async function endReservedZaaknummer(
  m: Mutation,
  { bronorganisatie, identificatie }: { bronorganisatie: string; identificatie: string },
): Promise<void> {
  m.unrecorded('a number is no resource')
  await refuseBeforeSwitch(m)
  const ended = await m.sql`
    delete from reserved_zaaknummer where bronorganisatie = ${bronorganisatie} and identificatie = ${identificatie} returning 1`
  if (ended.length === 0) throw notFound('Dit nummer is niet (meer) gereserveerd.')
}
