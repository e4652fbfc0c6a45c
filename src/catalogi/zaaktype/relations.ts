// The relations of a zaaktype with besluittypen and with other zaaktypen.

import type { Mutation } from '../../core/mutate.ts'
import { type InvalidParam, throwFaults } from '../../core/problem.ts'
import { replaceRows } from '../../database/replace-rows.ts'
import { expected } from '../../database/rows.ts'
import { resolveLink } from '../../http/links.ts'
import { findRelations, isUrl, type NamedType } from '../related-types.ts'
import type { ZaaktypeInput } from './columns.ts'

type Gerelateerd = { id: number | null; url: string | null; aardRelatie: string; toelichting: string }
export type Relations = { besluittypen: NamedType[]; deelzaaktypen: NamedType[]; gerelateerd: Gerelateerd[] }

/** @throws Problem 400 with `faults` and all relations that cannot be found */
export async function readRelations(
  m: Mutation,
  input: ZaaktypeInput,
  catalogusId: number,
  faults: InvalidParam[],
): Promise<Relations> {
  const { base } = m.actor
  const find = (
    type: 'besluittype' | 'zaaktype',
    values: readonly string[],
    name: string | ((index: number) => string),
  ) => findRelations(m, type, values, catalogusId, name, faults)
  const besluittypen = await find('besluittype', input.besluittypen, 'besluittypen')
  const deelzaaktypen = await find('zaaktype', input.deelzaaktypen ?? [], 'deelzaaktypen')
  const given = input.gerelateerdeZaaktypen.map((item, index) => ({
    ...item,
    index,
    elsewhere: isElsewhere(item.zaaktype, base),
  }))
  const ours = given.filter(({ elsewhere }) => !elsewhere)
  const found = await find(
    'zaaktype',
    ours.map(({ zaaktype }) => zaaktype),
    (place) => `gerelateerdeZaaktypen.${ours[place]?.index}.zaaktype`,
  )
  throwFaults(faults)
  const gerelateerd = given.map((item) => ({
    id: item.elsewhere ? null : expected(found[ours.indexOf(item)]).id,
    url: item.elsewhere ? item.zaaktype : null,
    aardRelatie: item.aardRelatie,
    toelichting: item.toelichting ?? '',
  }))
  return { besluittypen, deelzaaktypen, gerelateerd }
}

const isElsewhere = (text: string, base: string) => isUrl(text) && resolveLink(text, base).kind === 'elsewhere'

/** Replaces each kind of relation that is given, and leaves the others. */
export async function writeRelations(m: Mutation, zaaktypeId: number, relaties: Partial<Relations>): Promise<void> {
  const { besluittypen, deelzaaktypen, gerelateerd } = relaties
  if (besluittypen)
    await replaceRows(
      m.trx.deleteFrom('zaaktypeBesluittype').where('zaaktypeId', '=', zaaktypeId),
      besluittypen.map(({ id, byUrl }) => ({ zaaktypeId, besluittypeId: id, byUrl })),
      (rows) => m.trx.insertInto('zaaktypeBesluittype').values(rows),
    )
  if (deelzaaktypen)
    await replaceRows(
      m.trx.deleteFrom('zaaktypeDeelzaaktype').where('zaaktypeId', '=', zaaktypeId),
      deelzaaktypen.map(({ id, byUrl }) => ({ zaaktypeId, deelzaaktypeId: id, byUrl })),
      (rows) => m.trx.insertInto('zaaktypeDeelzaaktype').values(rows),
    )
  if (gerelateerd)
    await replaceRows(
      m.trx.deleteFrom('zaaktypeGerelateerdZaaktype').where('zaaktypeId', '=', zaaktypeId),
      gerelateerd.map(({ id, url, aardRelatie, toelichting }, place) => ({
        zaaktypeId,
        place,
        gerelateerdZaaktypeId: id,
        gerelateerdZaaktypeUrl: url,
        aardRelatie,
        toelichting,
      })),
      (rows) => m.trx.insertInto('zaaktypeGerelateerdZaaktype').values(rows),
    )
}

/**
 * Sets the relations of a zaaktype with other zaaktypen, for an import in which they may refer to each other. Those with a
 * type of ours that is not there are left out.
 * @returns what was left out, by the name of the relation
 */
export async function setZaaktypeRelations(
  m: Mutation,
  uuid: string,
  input: Pick<ZaaktypeInput, 'deelzaaktypen' | 'gerelateerdeZaaktypen'>,
): Promise<{ field: string; given: unknown }[]> {
  const { id, catalogusId } = await m.trx
    .selectFrom('zaaktype')
    .where('uuid', '=', uuid)
    .select(['id', 'catalogusId'])
    .executeTakeFirstOrThrow()
  const { base } = m.actor
  const missing: { field: string; given: unknown }[] = []
  const find = async (text: string, field: string) => {
    const faults: InvalidParam[] = []
    const [found] = await findRelations(m, 'zaaktype', [text], catalogusId, 'zaaktype', faults)
    if (!found || found.catalogusId !== catalogusId) missing.push({ field, given: text })
    return found?.catalogusId === catalogusId ? [found] : []
  }
  const deelzaaktypen: NamedType[] = []
  for (const text of input.deelzaaktypen ?? []) deelzaaktypen.push(...(await find(text, 'deelzaaktypen')))
  const gerelateerd: Gerelateerd[] = []
  for (const { zaaktype, aardRelatie, toelichting = '' } of input.gerelateerdeZaaktypen) {
    if (isElsewhere(zaaktype, base)) gerelateerd.push({ id: null, url: zaaktype, aardRelatie, toelichting })
    else
      for (const found of await find(zaaktype, 'gerelateerdeZaaktypen'))
        gerelateerd.push({ id: found.id, url: null, aardRelatie, toelichting })
  }
  await writeRelations(m, id, { deelzaaktypen, gerelateerd })
  return missing
}
