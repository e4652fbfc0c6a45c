// The scopes of the Documenten API, and which documents the rights of an applicatie reach.
import { type RawBuilder, sql } from 'kysely'
import { isAllowed, reach, type Subject } from '../core/access.ts'
import type { Actor } from '../core/actor.ts'
import { forbidden } from '../core/problem.ts'
import type { Vertrouwelijkheidaanduiding } from '../core/vertrouwelijkheidaanduiding.ts'

export type Scopes = readonly string[]
export const LEZEN = ['documenten.lezen'] as const
export const AANMAKEN = ['documenten.aanmaken'] as const
export const BIJWERKEN = ['documenten.bijwerken'] as const
/** On documents themselves: since 1.2 the forced scope is an alternative. */
export const DOCUMENT_BIJWERKEN = ['documenten.bijwerken', 'documenten.geforceerd-bijwerken'] as const
export const VERWIJDEREN = ['documenten.verwijderen'] as const
export const LOCK = ['documenten.lock'] as const
export const GEFORCEERD_UNLOCK = ['documenten.geforceerd-unlock'] as const
export const UNLOCK = [...LOCK, ...GEFORCEERD_UNLOCK] as const

const access = <S extends Scopes>(scopes: S) => ({ access: { component: 'drc', scopes } }) as const
export const readAccess = access(LEZEN)
export const createAccess = access(AANMAKEN)
export const updateAccess = access(BIJWERKEN)
export const documentBijwerken = access(DOCUMENT_BIJWERKEN)
export const deleteAccess = access(VERWIJDEREN)
export const lockAccess = access(LOCK)
export const unlockAccess = access(UNLOCK)

/** What rights look at: always the latest version of a document, whichever was asked for. */
export type DocumentSubject = {
  laatsteTypeUuid: string | null
  laatsteTypeUrl: string | null
  laatsteVertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  laatsteGereed: boolean | null
}
/**
 * Whether the rights of the actor with one of these scopes reach document `e`: per highest confidentiality the types up to
 * it. Only looks at columns that `enkelvoudiginformatieobject_count` has too.
 */
export function reached(actor: Actor, scopes: Scopes): RawBuilder<boolean> {
  const gereed = actor.alleenGereedVoorPublicatie ? sql<boolean>`e.is_gereed_voor_publicatie` : sql<boolean>`true`
  const groups = reach(actor, 'drc', scopes)
  if (groups === 'alles') return gereed
  const choices = groups.flatMap(({ max, typeIds, typeUrls }) => {
    if (max === null || typeIds.length + typeUrls.length === 0) return []
    const types = [
      ...(typeIds.length > 0 ? [sql`e.informatieobjecttype_id = any(${typeIds}::bigint[])`] : []),
      ...(typeUrls.length > 0 ? [sql`e.informatieobjecttype_url = any(${typeUrls}::text[])`] : []),
    ]
    return sql`(e.vertrouwelijkheidaanduiding <= ${max}::vertrouwelijkheidaanduiding and (${sql.join(types, sql` or `)}))`
  })
  return choices.length === 0 ? sql<boolean>`false` : sql<boolean>`${gereed} and (${sql.join(choices, sql` or `)})`
}

/** Whether the rights of the actor with one of these scopes reach every document. */
export const readsAll = (actor: Actor, scopes: Scopes): boolean =>
  reach(actor, 'drc', scopes) === 'alles' && !actor.alleenGereedVoorPublicatie

/** What rights look at: the type and vertrouwelijkheidaanduiding of the latest version. */
export function subjectOf(row: DocumentSubject): Subject {
  return {
    type: row.laatsteTypeUuid ? { uuid: row.laatsteTypeUuid } : { url: row.laatsteTypeUrl ?? '' },
    vertrouwelijkheidaanduiding: row.laatsteVertrouwelijkheidaanduiding,
  }
}

/** Whether rights with one of these scopes reach the document. */
export function mayDo(actor: Actor, scopes: Scopes, row: DocumentSubject): boolean {
  if (actor.alleenGereedVoorPublicatie && row.laatsteGereed !== true) return false
  return isAllowed(actor, 'drc', scopes, subjectOf(row))
}

/** Whether rights to read reach the document, by its type and level. */
export function mayRead(actor: Actor, row: DocumentSubject): boolean {
  return mayDo(actor, LEZEN, row)
}

/** @throws Problem 403 when rights with one of these scopes do not reach the document */
export function requireMay(actor: Actor, scopes: Scopes, row: DocumentSubject): void {
  if (!mayDo(actor, scopes, row)) throw forbidden()
}
