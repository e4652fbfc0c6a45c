// The scopes of the Besluiten API, and which besluiten the rights of an applicatie reach.
import { type RawBuilder, sql } from 'kysely'
import { isAllowed, reach, type Subject } from '../core/access.ts'
import type { Actor } from '../core/actor.ts'
import { forbidden } from '../core/problem.ts'

export type Scopes = readonly string[]
export const LEZEN = ['besluiten.lezen'] as const
export const AANMAKEN = ['besluiten.aanmaken'] as const
export const BIJWERKEN = ['besluiten.bijwerken'] as const
export const VERWIJDEREN = ['besluiten.verwijderen'] as const

/** The first gate of a route: one of these scopes on any right. */
export const access = <S extends Scopes>(scopes: S) => ({ access: { component: 'brc', scopes } }) as const

/** What rights are compared with: the type, and nothing else. */
type Typed = { besluittypeUuid: string | null; besluittypeUrl: string | null }
const subjectOf = ({ besluittypeUuid, besluittypeUrl }: Typed): Subject => ({
  type: besluittypeUuid ? { uuid: besluittypeUuid } : { url: besluittypeUrl ?? '' },
})
/** Whether a right with one of these scopes reaches the besluit, by its type. */
export const mayDo = (actor: Actor, scopes: Scopes, besluit: Typed): boolean =>
  isAllowed(actor, 'brc', scopes, subjectOf(besluit))

/** @throws Problem 403 when no right with one of these scopes reaches the besluit */
export function requireMay(actor: Actor, scopes: Scopes, besluit: Typed): void {
  if (!mayDo(actor, scopes, besluit)) throw forbidden()
}

/** For lists: whether rights of the actor with one of these scopes reach besluit `b`. */
export function reached(actor: Actor, scopes: Scopes = LEZEN): RawBuilder<boolean> {
  const groups = reach(actor, 'brc', scopes)
  if (groups === 'alles') return sql<boolean>`true`
  const typeIds = groups.flatMap((group) => group.typeIds)
  const typeUrls = groups.flatMap((group) => group.typeUrls)
  const choices = [
    ...(typeIds.length > 0 ? [sql`b.besluittype_id = any(${typeIds}::bigint[])`] : []),
    ...(typeUrls.length > 0 ? [sql`b.besluittype_url = any(${typeUrls}::text[])`] : []),
  ]
  return choices.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(choices, sql` or `)})`
}
