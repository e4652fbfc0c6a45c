// A case that changes held against If-Match.
import type { Mutation } from '../../core/mutate.ts'
import { judgePrecondition } from '../../core/precondition.ts'
import { requireMatch } from '../../http/etag.ts'
import { detail } from '../../http/expand.ts'
import { jsonPieces } from '../../http/json-pieces.ts'
import { toZaak, type ZaakRow } from './columns.ts'
import { etagWithLists, longLists } from './long-lists.ts'

/**
 * `requireMatch` for a case that is held, also with long lists.
 * @param zaak as `readZaak` would read it now
 * @throws Problem 412
 */
export async function requireZaakMatch(m: Mutation, zaak: ZaakRow): Promise<void> {
  const { precondition, base } = m.actor
  if (!precondition) return
  const answer = detail(toZaak(zaak, base))
  if (longLists(answer).length === 0) return requireMatch(m, answer)
  judgePrecondition(precondition, await etagWithLists(m.read, zaak, answer, jsonPieces(answer)))
}
