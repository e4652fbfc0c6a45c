// Making a version of a zaaktype.
import { sql } from 'kysely'
import { announceType } from '../../autorisaties/types.ts'
import type { Mutation } from '../../core/mutate.ts'
import { type InvalidParam, throwFaults } from '../../core/problem.ts'
import { expected, one } from '../../database/rows.ts'
import { recordChange } from '../records.ts'
import { anyPublished, linkFaults, requireCatalogus } from '../rules.ts'
import { dateFaults } from '../versions.ts'
import { ownColumns, toRow, toZaaktype, versionDate, type ZaaktypeInput } from './columns.ts'
import { findZaaktype } from './read.ts'
import { named, placeOf } from './record.ts'
import { readRelations, writeRelations } from './relations.ts'
import { ruleFaults } from './rules.ts'

/**
 * @param faults what was found wrong already, reported together with the other fields
 * @param own a uuid to use instead of a new one
 */
export async function createZaaktype(
  m: Mutation,
  input: ZaaktypeInput,
  faults: InvalidParam[] = [],
  own: { uuid?: string } = {},
) {
  const catalogus = await requireCatalogus(m.read, input.catalogus, m.actor.base)
  const relaties = await readRelations(m, input, catalogus.id, faults)
  throwFaults([
    ...dateFaults(input),
    ...ruleFaults(input, catalogus.id, relaties),
    ...linkFaults(m, anyPublished(relaties.besluittypen)),
  ])
  const identificatie = input.identificatie || (await nextIdentificatie(m, versionDate(input)))
  const { id, uuid } = await m.trx
    .insertInto('zaaktype')
    .values({ ...own, ...toRow(input), ...ownColumns(input), identificatie, catalogusId: catalogus.id })
    .returning(['id', 'uuid'])
    .executeTakeFirstOrThrow()
  await writeRelations(m, id, relaties)
  const row = expected(await findZaaktype(m.read, uuid))
  const zaaktype = toZaaktype(row, m.actor.base)
  recordChange(m, 'create', 'zaaktype', named(row), null, zaaktype)
  await announceType(m, 'zrc', null, placeOf(row))
  return zaaktype
}

/** The next generated identificatie of a year. Whoever asks at the same moment waits, so that none is given twice. */
async function nextIdentificatie(m: Mutation, versiedatum: string): Promise<string> {
  const prefix = `ZAAKTYPE-${versiedatum.slice(0, 4)}-`
  await sql`select pg_advisory_xact_lock(hashtext(current_schema() || ' zaaktype identificatie'))`.execute(m.trx)
  const { rows } = await sql<{ next: number }>`
    select coalesce(max(substr(identificatie, ${prefix.length + 1})::bigint), 0) + 1 as next from zaaktype
    where identificatie ~ ${`^${prefix}[0-9]{10}$`}`.execute(m.trx)
  return `${prefix}${String(one(rows).next).padStart(10, '0')}`
}
