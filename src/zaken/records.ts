// What changes below a case are recorded and announced with.

import type { CloudEvent } from '../core/cloud-event.ts'
import type { Mutation } from '../core/mutate.ts'
import { link } from '../http/links.ts'
import type { ZaakCore } from './lock.ts'
import type { ZaakSubject } from './rights.ts'
import { typeLink, zaaktypeLink } from './types.ts'

/** How people name a case. */
export const zaakLabel = (zaak: Pick<ZaakCore, 'bronorganisatie' | 'identificatie'>) =>
  `${zaak.bronorganisatie} - ${zaak.identificatie}`

/** The same of a row of `zaak`. */
export const ZAAK_LABEL = `bronorganisatie || ' - ' || identificatie`

/** Where changes of a case and of what hangs on it are announced. */
export function zakenKanaal(
  zaak: ZaakSubject & Pick<ZaakCore, 'bronorganisatie' | 'catalogusUuid' | 'zaaktypeCatalogusUrl'>,
  base: string,
) {
  return {
    naam: 'zaken' as const,
    kenmerken: {
      bronorganisatie: zaak.bronorganisatie,
      zaaktype: zaaktypeLink(base, zaak),
      'zaaktype.catalogus': typeLink(base, 'catalogus', zaak.catalogusUuid, zaak.zaaktypeCatalogusUrl),
      vertrouwelijkheidaanduiding: zaak.vertrouwelijkheidaanduiding,
    },
  }
}

type Announced = Parameters<typeof zakenKanaal>[0] & Pick<ZaakCore, 'uuid'>

/** A cloud event of a case. `more` is what it tells beside what every one of them tells. */
export function zaakEvent(zaak: Announced, actie: string, base: string, more: Record<string, string> = {}): CloudEvent {
  const { naam: kanaal, kenmerken } = zakenKanaal(zaak, base)
  const url = link(base, 'zaak', zaak.uuid)
  return { kanaal, resource: 'zaak', actie, url, uuid: zaak.uuid, data: { ...kenmerken, ...more } }
}

/** A case changed in a way that may matter to who asked for it. */
export const announceChange = (m: Mutation, zaak: Announced): void =>
  m.announce(zaakEvent(zaak, 'gemuteerd', m.actor.base))

/** Parts of which a change is one of the case to the outside. Roles, properties and notes are not. */
const CHANGES_ZAAK = new Set(['status', 'substatus', 'resultaat', 'zaakinformatieobject', 'zaakobject', 'zaakbesluit'])

/**
 * Records a change of something below a case. It is announced unless `stil`; the standard announces of some resources only
 * that they came.
 */
export function recordBelow(
  m: Mutation,
  zaak: ZaakCore,
  change: {
    actie: 'create' | 'update' | 'partial_update' | 'destroy'
    resource: string
    url: string
    uuid: string
    detail: string
    oud: unknown
    nieuw: unknown
    stil?: boolean
  },
): void {
  const { detail, stil = false, ...rest } = change
  m.record({
    component: 'zrc',
    ...rest,
    weergave: `(${zaakLabel(zaak)}) - ${detail}`,
    hoofdobject: { url: link(m.actor.base, 'zaak', zaak.uuid), uuid: zaak.uuid },
    kanaal: stil ? null : zakenKanaal(zaak, m.actor.base),
  })
  if (CHANGES_ZAAK.has(change.resource)) announceChange(m, zaak)
}

const ZAAKEIGENSCHAPPEN = 'zaakeigenschappen'
/** The one resource with a nested URL. */
export const eigenschapLink = (base: string, zaakUuid: string, uuid: string) =>
  `${link(base, 'zaak', zaakUuid)}/${ZAAKEIGENSCHAPPEN}/${uuid}`
