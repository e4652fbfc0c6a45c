// The audit record and the notification of a change in a catalogue.
import type { Actie, Mutation } from '../core/mutate.ts'
import { link, type Resource } from '../http/links.ts'

/** Where changes of a type are announced. */
function typeKanaal(naam: string, base: string, catalogusUuid: string) {
  return { naam, kenmerken: { catalogus: link(base, 'catalogus', catalogusUuid) } }
}

/** Records a change of something in a catalogue: its audit row and, for the types with a channel, its notification. */
export function recordChange(
  m: Mutation,
  actie: Actie,
  resource: Resource,
  row: { uuid: string; weergave: string; catalogusUuid?: string; zaaktypeUuid?: string },
  oud: unknown,
  nieuw: unknown,
): void {
  const kanaal = KANALEN[resource]
  const { base } = m.actor
  m.record({
    component: 'ztc',
    actie,
    resource,
    url: link(base, resource, row.uuid),
    uuid: row.uuid,
    weergave: row.weergave,
    ...(row.zaaktypeUuid && {
      hoofdobject: { url: link(base, 'zaaktype', row.zaaktypeUuid), uuid: row.zaaktypeUuid },
    }),
    kanaal: kanaal && row.catalogusUuid ? typeKanaal(kanaal, base, row.catalogusUuid) : null,
    oud,
    nieuw,
  })
}

const KANALEN: Partial<Record<Resource, string>> = {
  zaaktype: 'zaaktypen',
  besluittype: 'besluittypen',
  informatieobjecttype: 'informatieobjecttypen',
}
