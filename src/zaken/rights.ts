// The scopes of the Zaken API, and which cases the rights of an applicatie reach.
import { type RawBuilder, sql } from 'kysely'
import { isAllowed, reach, requireAllowed, type Subject } from '../core/access.ts'
import type { Actor } from '../core/actor.ts'
import type { Vertrouwelijkheidaanduiding } from '../core/vertrouwelijkheidaanduiding.ts'

export type Scopes = readonly string[]
export const LEZEN = ['zaken.lezen'] as const
export const AANMAKEN = ['zaken.aanmaken'] as const
export const ALLEEN_BIJWERKEN = ['zaken.bijwerken'] as const
export const GEFORCEERD = ['zaken.geforceerd-bijwerken'] as const
export const BIJWERKEN = [...ALLEEN_BIJWERKEN, ...GEFORCEERD] as const
export const VERWIJDEREN = ['zaken.verwijderen'] as const
export const STATUSSEN_TOEVOEGEN = ['zaken.statussen.toevoegen'] as const
export const HEROPENEN = ['zaken.heropenen'] as const
export const STATUS_ZETTEN = [...AANMAKEN, ...STATUSSEN_TOEVOEGEN, ...HEROPENEN] as const
export const KOPPELEN = [...AANMAKEN, ...BIJWERKEN] as const
export const ONTKOPPELEN = [...BIJWERKEN, ...VERWIJDEREN] as const

/** The first gate of a route: one of these scopes on any right. */
export const access = <S extends Scopes>(scopes: S) => ({ access: { component: 'zrc', scopes } }) as const

/** Where the zaaktype of a case stands: the uuid of one of ours, or else its URL. */
export type WithZaaktype = { zaaktypeUuid: string | null; zaaktypeUrl: string | null }
/** What rights are compared with. */
export type ZaakSubject = WithZaaktype & { vertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding }
/** What rights are held against: the zaaktype, ours or elsewhere, and the vertrouwelijkheidaanduiding. */
export const subjectOf = (zaak: ZaakSubject): Subject => ({
  type: zaak.zaaktypeUuid ? { uuid: zaak.zaaktypeUuid } : { url: zaak.zaaktypeUrl ?? '' },
  vertrouwelijkheidaanduiding: zaak.vertrouwelijkheidaanduiding,
})
/** Whether a right with one of these scopes reaches the case, by its zaaktype and level (zrc-006). */
export const mayDo = (actor: Actor, scopes: Scopes, zaak: ZaakSubject): boolean =>
  isAllowed(actor, 'zrc', scopes, subjectOf(zaak))

/** zrc-006. @throws Problem 403 when no right with one of these scopes reaches the case */
export function requireMay(actor: Actor, scopes: Scopes, zaak: ZaakSubject): void {
  requireAllowed(actor, 'zrc', scopes, subjectOf(zaak))
}

/** Cases of zaaktypen of ours, or cases of zaaktypen elsewhere. */
export type ZaaktypeOrigin = 'eigen' | 'elders'

/**
 * zrc-006 for lists: whether the rights of the actor with one of these scopes reach case `z`.
 * @param deel looks only at cases of this kind
 */
export function reached(actor: Actor, scopes: Scopes = LEZEN, deel?: ZaaktypeOrigin): RawBuilder<boolean> {
  const groups = reach(actor, 'zrc', scopes)
  if (groups === 'alles') return sql<boolean>`true`
  const choices = groups.flatMap(({ max, typeIds, typeUrls }) => {
    if (max === null) return []
    const upTo = sql`z.vertrouwelijkheidaanduiding <= ${max}::vertrouwelijkheidaanduiding`
    return [
      ...(typeIds.length > 0 && deel !== 'elders'
        ? [sql`(${upTo} and z.zaaktype_id = any(${typeIds}::bigint[]))`]
        : []),
      ...(typeUrls.length > 0 && deel !== 'eigen'
        ? [sql`(${upTo} and z.zaaktype_url = any(${typeUrls}::text[]))`]
        : []),
    ]
  })
  return choices.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(choices, sql` or `)})`
}
