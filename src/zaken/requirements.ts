// What a type asks of a case before it gets a status, a resultaat or its end: eigenschappen and documents that have to be there, and a
// day that has to be known. The text of the standard says so in descriptions and numbers no rule of it; servers in use pass it over.
import type { Config } from '../config.ts'
import type { Mutation } from '../core/mutate.ts'
import { onObject, throwFaults } from '../core/problem.ts'
import { one } from '../database/rows.ts'
import { warn } from '../telemetry/current-request.ts'
import type { ZaakCore } from './lock.ts'
import { GEFORCEERD, mayDo } from './rights.ts'

export type Requirements = Config['typeRequirements']

/** What a case lacks for a status of this type; of a type elsewhere nothing is known. */
export async function findLackingForStatus(m: Mutation, zaakId: number, statustypeId: number | null) {
  const rows = await m.sql<{ lacking: string[] }[]>`select lacking_for_status(${zaakId}, ${statustypeId}) as lacking`
  return one(rows).lacking
}

/** What a case lacks for a resultaat of this type. */
export async function findLackingForResultaat(m: Mutation, zaakId: number, resultaattypeId: number | null) {
  const rows = await m.sql<
    { lacking: string[] }[]
  >`select lacking_for_resultaat(${zaakId}, ${resultaattypeId}) as lacking`
  return one(rows).lacking
}

/** Whether the resultaattype of the case says that the day from which its term counts is known before it closes. */
export async function hasAwaitedEnd(m: Mutation, zaakId: number): Promise<boolean> {
  const rows = await m.sql`
    select from resultaat r left join resultaattype y on y.id = r.resultaattype_id
    where r.zaak_id = ${zaakId} and coalesce(y.brondatum_einddatum_bekend,
      r.resultaattype_elsewhere #>> '{brondatumArchiefprocedure,einddatumBekend}' = 'true')`
  return rows.length > 0
}

/**
 * Warns of what a case lacks (`X-Warning`), or refuses it (`TYPE_REQUIREMENTS`). Who may force is warned: a takeover brings what was.
 * @param before what it is asked before
 * @throws Problem 400 `requirements-not-met`
 */
export function judgeRequirements(
  m: Pick<Mutation, 'actor'>,
  zaak: ZaakCore,
  lacking: readonly string[],
  { before, requirements }: { before: string; requirements: Requirements },
): void {
  if (lacking.length === 0) return
  const shown = lacking.length > MOST_SHOWN ? [...lacking.slice(0, MOST_SHOWN), '…'] : lacking
  const reason = `Het zaaktype vraagt voor ${before}: ${shown.join(', ')}.`
  if (requirements === 'refuse' && !mayDo(m.actor, GEFORCEERD, zaak))
    throwFaults([onObject('requirements-not-met', reason)])
  warn(reason)
}
const MOST_SHOWN = 10
