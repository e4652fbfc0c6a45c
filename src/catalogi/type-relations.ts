// Which types belong together. A relation names one version of a type and stands for all of them, since relations outlive
// the version that they were written with. Each rule is one SQL expression: callers put it in the statement that they
// make anyway, for one row or for a batch.
import { sql } from 'kysely'
import type { ReadDb } from '../database/database.ts'

/** Versions of a type share their catalogue and this column. */
const KEY = { informatieobjecttype: 'omschrijving', besluittype: 'omschrijving', zaaktype: 'identificatie' } as const

/** Whether `linked`, a query of ids, has some version of the type with the id `type`. */
const hasVersion = (table: keyof typeof KEY, linked: string, type: string) => `exists (
  select from ${table} version join ${table} given on given.id = ${type}
  where version.id in (${linked}) and version.catalogus_id = given.catalogus_id and version.${KEY[table]} = given.${KEY[table]})`

/** SQL of zrc-017: documents of this type belong to cases of this zaaktype. Both are SQL expressions of an id. */
export const documenttypeOfZaaktype = (zaaktype: string, documenttype: string): string =>
  hasVersion(
    'informatieobjecttype',
    `select r.informatieobjecttype_id from zaaktype_informatieobjecttype r where r.zaaktype_id = ${zaaktype}`,
    documenttype,
  )

/** SQL of zrc-013: a case of the second zaaktype can be part of a case of the first. */
export const deelzaaktypeOfZaaktype = (hoofdzaaktype: string, zaaktype: string): string =>
  hasVersion(
    'zaaktype',
    `select r.deelzaaktype_id from zaaktype_deelzaaktype r where r.zaaktype_id = ${hoofdzaaktype}`,
    zaaktype,
  )

/** SQL of the last statustype of a zaaktype, which closes a case. `statustype` names a row of the statement. */
export const isLastStatustype = (statustype: string): string => `not exists (
  select from statustype later where later.zaaktype_id = ${statustype}.zaaktype_id and later.volgnummer > ${statustype}.volgnummer)`

/** brc-007: decisions of this type are taken in cases of this zaaktype. */
export const isBesluittypeOfZaaktype = (db: ReadDb, zaaktypeId: number, besluittypeId: number): Promise<boolean> => {
  const linked = 'select r.besluittype_id from zaaktype_besluittype r where r.zaaktype_id = a.id'
  return holds(db, hasVersion('besluittype', linked, 'b.id'), ['zaaktype', zaaktypeId], ['besluittype', besluittypeId])
}

/** brc-008: decisions of this besluittype are laid down in documents of this type. */
export const isDocumenttypeOfBesluittype = (
  db: ReadDb,
  besluittypeId: number,
  documenttypeId: number,
): Promise<boolean> => {
  const linked =
    'select r.informatieobjecttype_id from besluittype_informatieobjecttype r where r.besluittype_id = a.id'
  const rule = hasVersion('informatieobjecttype', linked, 'b.id')
  return holds(db, rule, ['besluittype', besluittypeId], ['informatieobjecttype', documenttypeId])
}

async function holds(db: ReadDb, rule: string, a: [string, number], b: [string, number]): Promise<boolean> {
  const { rows } = await sql`
    select from ${sql.table(a[0])} a, ${sql.table(b[0])} b where a.id = ${a[1]} and b.id = ${b[1]} and ${sql.raw(rule)}`.execute(
    db,
  )
  return rows.length > 0
}
