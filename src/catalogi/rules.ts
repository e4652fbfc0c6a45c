// Rules that types and their parts share, and the faults by which they say so.

import type { Mutation } from '../core/mutate.ts'
import { type InvalidParam, invalid, onObject, Problem, throwFaults } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { localUuid, type Resource, resolveLink } from '../http/links.ts'
import { mayForce, mayForceDelete } from './access.ts'

/** The uuid in a filter on a relation, or null: a URL of something else finds nothing. */
export const filterUuid = (url: string, base: string, resource: Resource) => localUuid(url, base, resource) ?? null

const NON_CONCEPT_OBJECT = onObject('non-concept-object', 'Dit type is gepubliceerd en kan niet worden gewijzigd.')
export const NON_CONCEPT_RELATION = onObject('non-concept-relation', 'Een gerelateerd type is gepubliceerd.')
export const OTHER_CATALOGUS = onObject(
  'relations-incorrect-catalogus',
  'Gerelateerde typen horen in dezelfde catalogus.',
)

/**
 * The catalogue that a body names.
 * @throws Problem 400 on `catalogus`: `no_match`, `incorrect_match` or `does_not_exist`
 */
export async function requireCatalogus(db: ReadDb, url: string, base: string): Promise<{ id: number; uuid: string }> {
  const uuid = requireLocal('catalogus', url, base, 'catalogus')
  const catalogus = await db.selectFrom('catalogus').where('uuid', '=', uuid).select(['id', 'uuid']).executeTakeFirst()
  if (!catalogus) throw missing('catalogus')
  return catalogus
}

/**
 * @returns its uuid, which need not be there
 * @throws Problem 400: `no_match` for a URL elsewhere, `incorrect_match` for one of another resource
 */
export function requireLocal(name: string, url: string, base: string, resource: Resource): string {
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') throw invalid(name, 'no_match', `Deze URL is geen ${resource} van deze dienst.`)
  if (target.resource !== resource) throw invalid(name, 'incorrect_match', 'Deze URL is van een andere resource.')
  return target.uuid
}

/** To throw: 400 `does_not_exist`. */
export const missing = (name: string) => invalid(name, 'does_not_exist', `Dit ${name} bestaat niet.`)

export const anyPublished = (types: readonly { concept: boolean }[]) => types.some(({ concept }) => !concept)

/** ztc-009: what was published stays as it is, without the forced scope. */
export const publishedFaults = (m: Mutation, type: { concept: boolean }): InvalidParam[] =>
  type.concept || mayForce(m.actor) ? [] : [NON_CONCEPT_OBJECT]

/**
 * ztc-011: a relation with a published type is not made, and what has one is not changed, without the forced scope.
 * @param published whether there is such a relation, or would be
 */
export const linkFaults = (m: Mutation, published: boolean): InvalidParam[] =>
  published && !mayForce(m.actor) ? [NON_CONCEPT_RELATION] : []

/**
 * What was published, or has a relation with a published type, is not removed without the forced scope for that.
 * @throws Problem 400 (ztc-009, ztc-011)
 */
export async function requireDeletable(
  m: Mutation,
  type: { concept: boolean },
  hasPublishedRelations: () => Promise<boolean>,
): Promise<void> {
  if (mayForceDelete(m.actor)) return
  if (!type.concept) throwFaults([NON_CONCEPT_OBJECT])
  if (await hasPublishedRelations()) throwFaults([NON_CONCEPT_RELATION])
}

/** ztc-013: types that are related stand in one catalogue. */
export const otherCatalogusFaults = (
  related: readonly { catalogusId: number }[],
  catalogusId: number,
  name = OTHER_CATALOGUS.name,
): InvalidParam[] => (related.some((type) => type.catalogusId !== catalogusId) ? [{ ...OTHER_CATALOGUS, name }] : [])

/** Runs a deletion; what is still referred to (a zaak, a document, a besluit) is a 409. */
export async function deleteUnlessInUse(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if ((error as { code?: string }).code !== '23503') throw error
    throw new Problem(409, { detail: 'Dit is nog in gebruik: er zijn objecten die ernaar verwijzen.' })
  }
}

/** The version of a besluittype with this uuid; undefined when there is none. */
export async function findBesluittypeInfo(db: ReadDb, uuid: string) {
  return db
    .selectFrom('besluittype as t')
    .innerJoin('catalogus as c', 'c.id', 't.catalogusId')
    .where('t.uuid', '=', uuid)
    .select(['t.id', 't.uuid', 't.concept', 't.catalogusId', 't.omschrijving', 'c.uuid as catalogusUuid'])
    .executeTakeFirst()
}
