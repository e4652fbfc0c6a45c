// Types that a body names in a relation, and relations that move to another version when theirs goes.
import { sql } from 'kysely'
import type { Mutation } from '../core/mutate.ts'
import { fault, type InvalidParam } from '../core/problem.ts'
import { resolveLink } from '../http/links.ts'
import { type Hoofdtype, TYPE_KEY, validOn } from './versions.ts'

export type RelatedType = { id: number; uuid: string; concept: boolean; catalogusId: number }
/** A type that a body names, and whether it names that version by its URL. */
export type NamedType = RelatedType & { byUrl: boolean }

/**
 * The types that a body names in a relation, each by URL or by its key (omschrijving, or identificatie of a zaaktype)
 * within the catalogue. Of the versions with that key it is the valid published one, or else the newest. What cannot be
 * found is added to `faults` under `name`.
 */
export async function findRelations(
  { read, actor: { base } }: Mutation,
  type: Hoofdtype,
  values: readonly string[],
  catalogusId: number,
  name: string | ((index: number) => string),
  faults: InvalidParam[],
): Promise<NamedType[]> {
  const wanted = values.map((value) => ({ value, target: isUrl(value) ? resolveLink(value, base) : undefined }))
  const uuids = wanted.flatMap(({ target }) => (target?.kind === 'ours' ? target.uuid : []))
  const keys = wanted.flatMap(({ value, target }) => (target ? [] : value))
  if (values.length === 0) return []
  const { rows } = await sql<RelatedType & { sleutel: string }>`
    select id, uuid, concept, catalogus_id as "catalogusId", ${sql.ref(TYPE_KEY[type])} as sleutel from ${sql.table(type)}
    where uuid = any(${uuids}::uuid[]) or (catalogus_id = ${catalogusId} and ${sql.ref(TYPE_KEY[type])} = any(${keys}::text[]))
    order by concept, ${validOn('', null)} desc, begin_geldigheid desc, id desc`.execute(read)
  const found: NamedType[] = []
  for (const [index, { value, target }] of wanted.entries()) {
    const at = typeof name === 'string' ? name : name(index)
    if (target && (target.kind !== 'ours' || target.resource !== type)) {
      const other = target.kind === 'ours'
      faults.push(
        fault(
          at,
          other ? 'incorrect_match' : 'no_match',
          other ? 'Deze URL is van een andere resource.' : `Deze URL is geen ${type} van deze dienst.`,
        ),
      )
      continue
    }
    const row = target
      ? rows.find(({ uuid }) => uuid === target.uuid)
      : rows.find(({ sleutel, catalogusId: own }) => sleutel === value && own === catalogusId)
    if (!row) faults.push(fault(at, 'does_not_exist', `Dit ${type} bestaat niet.`))
    else if (!found.some(({ id }) => id === row.id) || typeof name !== 'string')
      found.push({ ...row, byUrl: target !== undefined })
  }
  return found
}

/** Rather than the name of a type. */
export const isUrl = (text: string) => /^https?:\/\//i.test(text)

/**
 * Before a version is removed: relations that were written with it go over to another version of the same type, since they
 * are relations with the type.
 */
export async function handOverRelations(
  m: Mutation,
  type: Hoofdtype,
  id: number,
  tables: readonly { table: string; owner: string; column: string }[],
): Promise<void> {
  const key = sql.raw(TYPE_KEY[type])
  const { rows } = await sql<{ id: number }>`
    select v.id from ${sql.table(type)} v join ${sql.table(type)} k on k.catalogus_id = v.catalogus_id and k.${key} = v.${key}
    where k.id = ${id} and v.id <> k.id and v.${key} <> ''
    order by v.concept, v.begin_geldigheid desc, v.id desc limit 1`.execute(m.trx)
  const heir = rows[0]?.id
  if (heir === undefined) return
  for (const { table, owner, column } of tables) {
    const [name, col, own] = [sql.table(table), sql.ref(column), sql.ref(owner)]
    await sql`update ${name} r set ${col} = ${heir} where ${col} = ${id}
      and not exists (select 1 from ${name} o where o.${own} = r.${own} and o.${col} = ${heir})`.execute(m.trx)
  }
}
