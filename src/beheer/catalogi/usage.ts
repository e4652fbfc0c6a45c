// What hangs on a version: cases, documents, decisions, and the types that refer to it.

import { sql } from 'kysely'
import type { ReadDb } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { formatNumber } from '../frame/format.ts'
import { t } from '../language/language.ts'
import type { Version } from './context.ts'

const MOST = 10_000

export type Usage = { open: number; closed: number; documents: number; decisions: number }

/** How many cases, documents and decisions this version has; counting stops at 10 000. */
export async function usageOf(db: ReadDb, version: Pick<Version, 'id' | 'type'>): Promise<Usage> {
  const counted = (query: ReturnType<typeof sql>) => sql`(select count(*)::int from (${query} limit ${MOST + 1}) q)`
  const none = sql`0`
  const { id, type } = version
  const { rows } = await sql<Usage>`select
    ${type === 'zaaktype' ? counted(sql`select 1 from zaak z where z.zaaktype_id = ${id} and z.einddatum is null`) : none} as open,
    ${type === 'zaaktype' ? counted(sql`select 1 from zaak z where z.zaaktype_id = ${id} and z.einddatum is not null`) : none} as closed,
    ${
      type === 'informatieobjecttype'
        ? counted(sql`select 1 from enkelvoudiginformatieobject d where d.informatieobjecttype_id = ${id}`)
        : type === 'zaaktype'
          ? counted(
              sql`select 1 from zaakinformatieobject d join zaak z on z.id = d.zaak_id where z.zaaktype_id = ${id}`,
            )
          : none
    } as documents,
    ${
      type === 'besluittype'
        ? counted(sql`select 1 from besluit b where b.besluittype_id = ${id}`)
        : type === 'zaaktype'
          ? counted(sql`select 1 from besluit b join zaak z on z.id = b.zaak_id where z.zaaktype_id = ${id}`)
          : none
    } as decisions`.execute(db)
  return one(rows)
}

/** A number that may have stopped at the most that is counted. */
export const counted = (count: number) => (count > MOST ? t`meer dan ${formatNumber(MOST)}` : formatNumber(count))

/** `12 open en 3 gesloten zaken`, or what else hangs on it. */
export function usageInWords({ open, closed, documents, decisions }: Usage, type: Version['type']): string {
  const some = (count: number, one: string, many: string) =>
    count === 0 ? t`geen ${many}` : `${counted(count)} ${count === 1 ? one : many}`
  if (type === 'informatieobjecttype') return some(documents, t('document'), t('documenten'))
  if (type === 'besluittype') return some(decisions, t('besluit'), t('besluiten'))
  if (open + closed === 0) return t('geen zaken')
  return t`${some(open, t('open zaak'), t('open zaken'))} en ${some(closed, t('gesloten zaak'), t('gesloten zaken'))}, met ${some(documents, t('document'), t('documenten'))} en ${some(decisions, t('besluit'), t('besluiten'))}`
}

export type Referrer = {
  type: 'zaaktype' | 'besluittype'
  uuid: string
  name: string
  how: string
  concept: boolean
  begin: string
  einde: string | null
}

/** Where a document type or a type of decision is used: every version that refers to any version of it. */
export async function referrersOf(db: ReadDb, version: Version): Promise<Referrer[]> {
  if (version.type === 'zaaktype') return []
  const table = sql.raw(version.type)
  const same = sql`select v.id from ${table} v where v.id = ${version.id} or (v.catalogus_id = ${version.catalogusId}
    and v.omschrijving = ${version.key} and v.omschrijving <> '')`
  const zaaktype = sql`'zaaktype' as type, z.uuid, z.omschrijving as name, z.concept, z.begin_geldigheid as begin, z.einde_geldigheid as einde`
  const parts =
    version.type === 'informatieobjecttype'
      ? sql`
        select ${zaaktype}, 'documenttype bij het zaaktype (' || r.richting || ')' as how from zaaktype_informatieobjecttype r
          join zaaktype z on z.id = r.zaaktype_id where r.informatieobjecttype_id in (${same})
        union all
        select 'besluittype', b.uuid, b.omschrijving, b.concept, b.begin_geldigheid, b.einde_geldigheid,
          'documenttype van het besluit' from besluittype_informatieobjecttype r
          join besluittype b on b.id = r.besluittype_id where r.informatieobjecttype_id in (${same})
        union all
        select ${zaaktype}, 'verplicht bij resultaat “' || o.omschrijving || '”' from resultaattype_informatieobjecttype r
          join resultaattype o on o.id = r.resultaattype_id join zaaktype z on z.id = o.zaaktype_id
          where r.informatieobjecttype_id in (${same})`
      : sql`
        select ${zaaktype}, 'besluittype bij het zaaktype' as how from zaaktype_besluittype r
          join zaaktype z on z.id = r.zaaktype_id where r.besluittype_id in (${same})
        union all
        select ${zaaktype}, 'verplicht bij resultaat “' || o.omschrijving || '”' from resultaattype_besluittype r
          join resultaattype o on o.id = r.resultaattype_id join zaaktype z on z.id = o.zaaktype_id
          where r.besluittype_id in (${same})`
  const { rows } =
    await sql<Referrer>`select * from (${parts}) q order by lower(q.name), q.begin desc limit 500`.execute(db)
  return rows
}
