import Type from 'typebox'
import type { ReadDb } from '../database.ts'
import { link, resolveLink } from '../links.ts'
import { invalid } from '../problem.ts'

export const lezen = { access: { component: 'ztc', scopes: ['catalogi.lezen'] } } as const
export const schrijven = { access: { component: 'ztc', scopes: ['catalogi.schrijven'] } } as const

/** Filter `status` on lists of types: without it only published ones show. */
export const StatusFilter = Type.Optional(Type.Enum(['alles', 'concept', 'definitief']))

/** Versions that are valid on a day: both bounds count. */
export const DatumGeldigheid = Type.Optional(Type.String({ format: 'date' }))

/**
 * The catalogue that a body names.
 * @throws Problem 400 on `catalogus`: `no_match`, `incorrect_match` or `does_not_exist`
 */
export async function requireCatalogus(db: ReadDb, url: string, base: string): Promise<{ id: number; uuid: string }> {
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') throw invalid('catalogus', 'no_match', 'Deze URL is geen catalogus van deze dienst.')
  if (target.resource !== 'catalogus')
    throw invalid('catalogus', 'incorrect_match', 'Deze URL is van een andere resource.')
  const catalogus = await db
    .selectFrom('catalogus')
    .where('uuid', '=', target.uuid)
    .select(['id', 'uuid'])
    .executeTakeFirst()
  if (!catalogus) throw invalid('catalogus', 'does_not_exist', 'Deze catalogus bestaat niet.')
  return catalogus
}

/** Where changes of a type are announced. */
export function typeKanaal(naam: string, base: string, catalogusUuid: string) {
  return { naam, kenmerken: { catalogus: link(base, 'catalogus', catalogusUuid) } }
}
