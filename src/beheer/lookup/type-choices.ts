// type-choices: types as a filter offers them. Two catalogues may each have a "Melding", and each has its versions.

import { type RawBuilder, sql } from 'kysely'
import type { ReadDb } from '../../database/database.ts'
import { expected, one } from '../../database/rows.ts'
import { formatShortDate } from '../frame/format.ts'
import { t } from '../language/language.ts'

type Kind = 'zaaktype' | 'informatieobjecttype' | 'besluittype'
type Row = { uuid: string; omschrijving: string; key: string; domein: string; begin: string; concept: boolean }

/** What the versions of a type share within their catalogue. */
const KEYS: Record<Kind, RawBuilder<unknown>> = {
  zaaktype: sql`t.identificatie`,
  informatieobjecttype: sql`t.omschrijving`,
  besluittype: sql`t.omschrijving`,
}
const MOST = 1000

/** For a select: a type in all its versions (`DEMO:MELDING`) and, where there are more of them, each version (its uuid). */
export async function typeChoices(db: ReadDb, kind: Kind): Promise<[value: string, text: string][]> {
  const { rows } = await sql<Row>`
    select t.uuid, t.omschrijving, ${KEYS[kind]} as key, c.domein, t.begin_geldigheid as begin, t.concept
    from ${sql.table(kind)} t join catalogus c on c.id = t.catalogus_id
    order by lower(t.omschrijving), c.domein, t.begin_geldigheid desc, t.id desc limit ${MOST}`.execute(db)
  const types = Map.groupBy(rows, ({ domein, key }) => `${domein}:${key}`)
  const names = Map.groupBy(types.values(), (versions) => one(versions).omschrijving)
  return [...types].flatMap(([value, versions]) => {
    const { omschrijving, domein } = one(versions)
    const name = expected(names.get(omschrijving)).length > 1 ? `${omschrijving} (${domein})` : omschrijving
    if (versions.length === 1) return [[value, name] as [string, string]]
    return [
      [value, t`${name}, alle versies`] as [string, string],
      ...versions.map((version): [string, string] => [
        version.uuid,
        t`${name}, ${version.concept ? t('concept') : t('versie')} van ${formatShortDate(version.begin)}`,
      ]),
    ]
  })
}

/** The numbers of the versions that a choice stands for; none when there is no such type. */
export async function chosenTypes(db: ReadDb, kind: Kind, value: string): Promise<number[]> {
  const [, domein, key] = /^([^:]*):(.*)$/s.exec(value) ?? []
  const chosen = /^[0-9a-f-]{36}$/.test(value)
    ? sql`t.uuid::text = ${value}`
    : domein === undefined
      ? sql`${KEYS[kind]} = ${value}`
      : sql`c.domein = ${domein} and ${KEYS[kind]} = ${key}`
  const { rows } = await sql<{ id: number }>`
    select t.id from ${sql.table(kind)} t join catalogus c on c.id = t.catalogus_id where ${chosen}`.execute(db)
  return rows.map(({ id }) => id)
}
