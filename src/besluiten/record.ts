// What a change of a besluit leaves in the audit trail and tells subscribers.
import type { Mutation } from '../core/mutate.ts'
import { link } from '../http/links.ts'
import type { Besluit, BesluitRow } from './columns.ts'
import { besluitenKanaal } from './read.ts'

/** @param oud, nieuw as clients see it; null where there is none. Deleting one takes its trail along. */
export function recordBesluit(
  m: Mutation,
  actie: 'create' | 'update' | 'partial_update' | 'destroy',
  row: BesluitRow,
  oud: Besluit | null,
  nieuw: Besluit | null,
): void {
  const { base } = m.actor
  m.record({
    component: 'brc',
    actie,
    resource: 'besluit',
    url: link(base, 'besluit', row.uuid),
    uuid: row.uuid,
    weergave: row.identificatie,
    kanaal: besluitenKanaal(row, base),
    oud,
    nieuw,
    ...(actie === 'destroy' && { spoor: 'wis' }),
  })
}
