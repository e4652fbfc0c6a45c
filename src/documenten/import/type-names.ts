// type-names: a row may name its informatieobjecttype as people do, instead of by its URL.

import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { link } from '../../http/links.ts'
import { timeZone } from '../../lib/day.ts'
import { placeOf } from './columns.ts'

type Row = { number: number; cells: string[] }
type Found = { naam: string; uuid: string; catalogi: number }

/**
 * Writes the URL of the type into each cell that names one: by its omschrijving (`Brief`), with the domein or the name of its
 * catalogue behind it where several have it (`Brief (DEMO)`). Published versions that are valid today count. What names none, or
 * more than one, stays as it is, for the checks of the row to refuse.
 */
export async function nameTypes(db: Db, base: string, header: string[], rows: Row[]): Promise<void> {
  const column = placeOf(header, 'informatieobjecttype')
  const isName = (text: string | undefined): text is string => !!text && !/^https?:/i.test(text) && !text.includes('\0')
  const names = [...new Set(rows.flatMap(({ cells }) => (isName(cells[column]) ? [cells[column].trim()] : [])))]
  if (names.length === 0) return
  const { rows: found } = await sql<Found>`
    select n.naam, count(distinct t.catalogus_id)::int as catalogi,
      (array_agg(t.uuid order by t.begin_geldigheid desc, t.id desc))[1] as uuid
    from unnest(${names}::text[]) as n (naam)
    join informatieobjecttype t on not t.concept and t.begin_geldigheid <= today(${timeZone()})
      and (t.einde_geldigheid is null or t.einde_geldigheid >= today(${timeZone()}))
    join catalogus c on c.id = t.catalogus_id
    where lower(n.naam) = lower(t.omschrijving)
      or lower(n.naam) in (lower(t.omschrijving || ' (' || c.domein || ')'), lower(t.omschrijving || ' (' || c.naam || ')'))
    group by n.naam`.execute(db)
  const urls = new Map(
    found
      .filter(({ catalogi }) => catalogi === 1)
      .map(({ naam, uuid }) => [naam, link(base, 'informatieobjecttype', uuid)]),
  )
  for (const { cells } of rows) {
    const url = isName(cells[column]) ? urls.get(cells[column].trim()) : undefined
    if (url) cells[column] = url
  }
}
