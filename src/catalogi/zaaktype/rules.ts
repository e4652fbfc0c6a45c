// The rules of a zaaktype itself: what stands in it, and what it may be related to.
import { sql } from 'kysely'
import type { Mutation } from '../../core/mutate.ts'
import type { InvalidParam } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { askEach } from '../../services/services.ts'
import { procestypeFaults as klasseFaults } from '../archive.ts'
import { otherCatalogusFaults } from '../rules.ts'
import type { Selectielijst } from '../selectielijst.ts'
import type { ZaaktypeInput } from './columns.ts'
import type { Relations } from './relations.ts'

/** ztc-001: the procestype is one of the selectielijst. */
export async function procestypeFaults(selectielijst: Selectielijst, url: string | undefined): Promise<InvalidParam[]> {
  if (!url) return []
  const found = await selectielijst.find(url, 'ProcesType')
  return found.kind === 'fault' ? [{ name: 'selectielijstProcestype', code: found.code, reason: found.reason }] : []
}

/** ztc-002: the resultaattypen of a zaaktype are of its procestype, which so does not change below them. */
export async function changedProcestypeFaults(
  db: ReadDb,
  selectielijst: Selectielijst,
  uuid: string,
  url: string | undefined,
): Promise<InvalidParam[]> {
  if (url === undefined) return []
  const klassen = await db
    .selectFrom('resultaattype as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .where('z.uuid', '=', uuid)
    .where('z.selectielijstProcestype', '<>', url)
    .where('t.selectielijstklasse', '<>', '')
    .select('t.selectielijstklasse as klasse')
    .distinct()
    .execute()
  const found = await askEach(klassen, ({ klasse }) => selectielijst.find(klasse, 'Resultaat'))
  if (found.every((klasse) => klasseFaults(klasse, url).length === 0)) return []
  const reason = 'De resultaattypen van dit zaaktype horen bij het procestype dat het had.'
  return [{ name: 'selectielijstProcestype', code: 'procestype-mismatch', reason }]
}

export async function hasPublishedBesluittype(m: Mutation, zaaktypeId: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from zaaktype_besluittype r join besluittype b on b.id = r.besluittype_id
    where r.zaaktype_id = ${zaaktypeId} and not b.concept limit 1`.execute(m.trx)
  return rows.length > 0
}

export function ruleFaults(input: ZaaktypeInput, catalogusId: number, relaties: Relations): InvalidParam[] {
  const faults = [
    ...otherCatalogusFaults(relaties.besluittypen, catalogusId),
    ...otherCatalogusFaults(relaties.deelzaaktypen, catalogusId, 'deelzaaktypen'),
  ]
  if (input.verlengingMogelijk && !input.verlengingstermijn)
    faults.push({
      name: 'nonFieldErrors',
      code: 'verlenging-mismatch',
      reason: 'Als verlenging mogelijk is, is verlengingstermijn verplicht.',
    })
  if (isFilled(input.broncatalogus) !== isFilled(input.bronzaaktype))
    faults.push({
      name: 'nonFieldErrors',
      code: 'invalid-bronzaaktype-for-broncatalogus',
      reason: 'Broncatalogus en bronzaaktype gaan samen.',
    })
  return faults
}

const isFilled = (group: object | undefined) => Object.values(group ?? {}).some((value) => value !== '')
