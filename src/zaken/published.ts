// Which cases are told of by cloud events of the NL GOV profile. A citizen sees these cases elsewhere, so they are those of zaaktypen that
// are published (publicatieIndicatie), and none before it is complete: a case has its parties and its content before its first status.

import type postgres from 'postgres'
import type { CloudEvent } from '../core/cloud-event.ts'

/** What citizens are told of. The events of combined endpoints are for applications, and told of every case. */
const TOLD = new Set(['gemuteerd', 'geopend', 'verwijderd'])

/** Those of these cases that are published and complete. Of a zaaktype elsewhere it is not known whether it is published. */
export async function publishedZaken(
  sql: postgres.Sql | postgres.TransactionSql,
  uuids: string[],
): Promise<Set<string>> {
  const rows = await sql<{ uuid: string }[]>`
    select z.uuid from zaak z join zaaktype t on t.id = z.zaaktype_id
    where z.uuid = any(${uuids}::uuid[]) and t.publicatie_indicatie and exists (select from status s where s.zaak_id = z.id)`
  return new Set(rows.map(({ uuid }) => uuid))
}

/** Those of the events that may be told. */
export async function publishedEvents(sql: postgres.TransactionSql, events: CloudEvent[]): Promise<CloudEvent[]> {
  const asks = ({ resource, actie }: CloudEvent) => resource === 'zaak' && TOLD.has(actie)
  const open = events.filter((event) => asks(event) && event.published === undefined)
  const published =
    open.length > 0
      ? await publishedZaken(
          sql,
          open.map(({ uuid }) => uuid),
        )
      : new Set()
  return events.filter((event) => !asks(event) || (event.published ?? published.has(event.uuid)))
}
