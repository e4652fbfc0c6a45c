// Changing a version of a zaaktype.
import type { Static } from 'typebox'
import { announceType } from '../../autorisaties/types.ts'
import type { Mutation } from '../../core/mutate.ts'
import { type InvalidParam, throwFaults } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import { readInput } from '../../http/input.ts'
import { recordChange } from '../records.ts'
import { anyPublished, linkFaults, publishedFaults, requireCatalogus } from '../rules.ts'
import { changedDateFaults, changesOnlyEnd, requireMovable, requireNoOverlap } from '../versions.ts'
import { ownColumns, toRow, toZaaktype, ZaaktypeInput, type ZaaktypePatch } from './columns.ts'
import { findZaaktype, zaaktypeForChange } from './read.ts'
import { named, placeOf } from './record.ts'
import { readRelations, writeRelations } from './relations.ts'
import { hasPublishedBesluittype, ruleFaults } from './rules.ts'

/**
 * PUT (`update`) or PATCH; the version is held until the change is made.
 * @param faults what was found wrong already, reported together with the relations
 * @throws Problem 404; 400 when it was published and more than its end changes, without the forced scope (ztc-009), or when
 * its period would overlap another's (ztc-016)
 */
export async function changeZaaktype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof ZaaktypePatch>,
  faults: InvalidParam[],
) {
  const before = await zaaktypeForChange(m, uuid)
  const oud = toZaaktype(before, m.actor.base)
  const input = actie === 'update' ? (body as ZaaktypeInput) : readInput(ZaaktypeInput, { ...oud, ...body })
  const catalogus = await requireCatalogus(m.read, input.catalogus, m.actor.base)
  const relaties = await readRelations(m, input, catalogus.id, faults)
  const onlyEinde = changesOnlyEnd(actie, body)
  const objectFaults = [...changedDateFaults(input, oud), ...ruleFaults(input, catalogus.id, relaties)]
  if (!onlyEinde) {
    const given = body.besluittypen ? relaties.besluittypen : []
    const linked = anyPublished(given) || (await hasPublishedBesluittype(m, before.id))
    objectFaults.push(...publishedFaults(m, before), ...linkFaults(m, linked))
  }
  throwFaults(objectFaults)
  await requireMovable(m, 'zaaktype', before, catalogus.id)
  const identificatie = input.identificatie || before.identificatie
  await m.trx
    .updateTable('zaaktype')
    .set({ ...toRow(input), ...ownColumns(input), identificatie, catalogusId: catalogus.id })
    .where('id', '=', before.id)
    .execute()
  await writeRelations(m, before.id, {
    ...(body.besluittypen && { besluittypen: relaties.besluittypen }),
    ...((actie === 'update' || body.deelzaaktypen) && { deelzaaktypen: relaties.deelzaaktypen }),
    ...(body.gerelateerdeZaaktypen && { gerelateerd: relaties.gerelateerd }),
  })
  const row = expected(await findZaaktype(m.read, uuid))
  if (!row.concept)
    await requireNoOverlap(
      m,
      'zaaktype',
      { ...row, key: row.identificatie },
      onlyEinde ? 'eindeGeldigheid' : undefined,
      { ...before, key: before.identificatie },
    )
  const zaaktype = toZaaktype(row, m.actor.base)
  recordChange(m, actie, 'zaaktype', named(row), oud, zaaktype)
  await announceType(m, 'zrc', placeOf(before), placeOf(row))
  return zaaktype
}
