// What the parts of a zaaktype share: the zaaktype that they belong to, and the rules that it sets them.
import { sql } from 'kysely'
import Type from 'typebox'
import type { Mutation } from '../core/mutate.ts'
import { type InvalidParam, invalidAll, notFound, onObject, throwFaults } from '../core/problem.ts'
import { localUuid } from '../http/links.ts'
import { mayForce, mayForceDelete } from './access.ts'
import { deleteUnlessInUse, filterUuid, missing, OTHER_CATALOGUS, requireLocal } from './rules.ts'
import { DatumGeldigheid, StatusFilter } from './versions.ts'

/** Filters that the lists of everything below a zaaktype share. */
export const BelowZaaktypeFilter = {
  zaaktype: Type.Optional(Type.String({ format: 'uri' })),
  zaaktypeIdentificatie: Type.Optional(Type.String()),
  status: StatusFilter,
  datumGeldigheid: DatumGeldigheid,
}

type BelowZaaktype = {
  zaaktype?: string
  zaaktypeIdentificatie?: string
  status?: 'alles' | 'concept' | 'definitief'
  datumGeldigheid?: string
}

/**
 * What the filters above keep, in a query on parts `t` of zaaktypen `z`. A part without dates of its own is valid when its
 * zaaktype is.
 */
export function belowZaaktype(filter: BelowZaaktype, base: string) {
  const { status = 'definitief', datumGeldigheid: datum } = filter
  const kept = [sql`true`]
  if (status !== 'alles') kept.push(sql`z.concept = ${status === 'concept'}`)
  if (filter.zaaktype !== undefined) kept.push(sql`z.uuid = ${filterUuid(filter.zaaktype, base, 'zaaktype')}`)
  if (filter.zaaktypeIdentificatie !== undefined) kept.push(sql`z.identificatie = ${filter.zaaktypeIdentificatie}`)
  if (datum !== undefined) {
    kept.push(sql`coalesce(t.begin_geldigheid, z.begin_geldigheid) <= ${datum}::date`)
    kept.push(sql`coalesce(coalesce(t.einde_geldigheid, z.einde_geldigheid) >= ${datum}::date, true)`)
  }
  return sql<boolean>`${sql.join(kept, sql` and `)}`
}

const NON_CONCEPT_ZAAKTYPE = onObject(
  'non-concept-zaaktype',
  'Het zaaktype is gepubliceerd: wat eronder hangt kan niet worden gewijzigd.',
)
const OTHER_ZAAKTYPE = onObject('relations-incorrect-zaaktype', 'Het statustype hoort bij een ander zaaktype.')

export type ZaaktypeOfPart = {
  id: number
  uuid: string
  identificatie: string
  concept: boolean
  catalogusId: number
  catalogusUuid: string
  selectielijstProcestype: string
}

/**
 * The zaaktype that the body of a part (statustype, roltype …) names, held so that it is not published meanwhile.
 * @throws Problem 400 on `zaaktype`: `no_match`, `incorrect_match` or `does_not_exist`
 */
export async function requireZaaktypeForChange(m: Mutation, url: string): Promise<ZaaktypeOfPart> {
  const uuid = requireLocal('zaaktype', url, m.actor.base, 'zaaktype')
  const zaaktype = await m.trx
    .selectFrom('zaaktype as z')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
    .where('z.uuid', '=', uuid)
    .select(['z.id', 'z.uuid', 'z.identificatie', 'z.concept', 'z.catalogusId', 'z.selectielijstProcestype'])
    .select('c.uuid as catalogusUuid')
    .forShare('z')
    .executeTakeFirst()
  if (!zaaktype) throw missing('zaaktype')
  return zaaktype
}

/** The catalogus of some parts can be written, but says nothing of its own (1.3.2): it is that of the zaaktype, or left out. */
export function catalogusFaults(
  m: Mutation,
  catalogus: string | null | undefined,
  { catalogusUuid }: Pick<ZaaktypeOfPart, 'catalogusUuid'>,
): InvalidParam[] {
  if (!catalogus || localUuid(catalogus, m.actor.base, 'catalogus') === catalogusUuid) return []
  return [{ name: 'catalogus', code: OTHER_CATALOGUS.code, reason: 'Dit is niet de catalogus van het zaaktype.' }]
}

/**
 * The statustype that the body of a part names.
 * @throws Problem 400: it does not exist, or belongs to another zaaktype
 */
export async function requireStatustype(m: Mutation, url: string | null, zaaktypeId: number): Promise<number | null> {
  if (!url) return null
  const uuid = requireLocal('statustype', url, m.actor.base, 'statustype')
  const statustype = await m.trx
    .selectFrom('statustype')
    .where('uuid', '=', uuid)
    .select(['id', 'zaaktypeId'])
    .executeTakeFirst()
  if (!statustype) throw missing('statustype')
  if (statustype.zaaktypeId !== zaaktypeId) throw invalidAll([OTHER_ZAAKTYPE])
  return statustype.id
}

/** ztc-010: what is below a published zaaktype stays as it is, without the forced scope. */
export function zaaktypeFaults(m: Mutation, zaaktypen: { concept: boolean }[]): InvalidParam[] {
  return !mayForce(m.actor) && zaaktypen.some(({ concept }) => !concept) ? [NON_CONCEPT_ZAAKTYPE] : []
}

/** Holds a part of a zaaktype, and that zaaktype, until the change is made. @throws Problem 404 when there is no such part */
export async function holdTypePart(m: Mutation, table: PartTable, uuid: string): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select z.id from ${sql.table(table)} t join zaaktype z on z.id = t.zaaktype_id where t.uuid = ${uuid}
    for share of z`.execute(m.trx)
  if (rows.length === 0) throw notFound()
  const held = await sql`select 1 from ${sql.table(table)} t where t.uuid = ${uuid} for update`.execute(m.trx)
  if (held.rows.length === 0) throw notFound()
}

/** ztc-010 for a removal: what is below a published zaaktype stays, without the forced scope for that. */
export async function deleteTypePart(
  m: Mutation,
  table: Exclude<PartTable, 'zaaktype_informatieobjecttype'>,
  part: { id: number; concept: boolean },
): Promise<void> {
  if (!part.concept && !mayForceDelete(m.actor)) throwFaults([NON_CONCEPT_ZAAKTYPE])
  await deleteUnlessInUse(() => sql`delete from ${sql.table(table)} where id = ${part.id}`.execute(m.trx))
}

export type PartTable =
  | 'statustype'
  | 'resultaattype'
  | 'roltype'
  | 'eigenschap'
  | 'zaakobjecttype'
  | 'zaaktype_informatieobjecttype'
