// Applicatie labels: what rights mean, in words. The scopes are those of the standard; one that is not here is shown as it is.

import type { Component } from '../../core/actor.ts'
import type { Vertrouwelijkheidaanduiding } from '../../core/vertrouwelijkheidaanduiding.ts'
import { words } from '../language/language.ts'

export const COMPONENTEN: Record<Component, string> = words({
  zrc: 'Zaken API',
  drc: 'Documenten API',
  brc: 'Besluiten API',
  ztc: 'Catalogi API',
  ac: 'Autorisaties API',
  nrc: 'Notificaties API',
  kc: 'Klanten API',
  cmc: 'Contactmomenten API',
  vrc: 'Verzoeken API',
})

export const isComponent = (text: unknown): text is Component =>
  typeof text === 'string' && Object.hasOwn(COMPONENTEN, text)

/** What the types of a component are called, one and several; the others know no types. */
export const TYPEN: Partial<Record<Component, { singular: string; plural: string }>> = words(
  {
    zrc: { singular: 'zaaktype', plural: 'zaaktypen' },
    drc: { singular: 'informatieobjecttype', plural: 'informatieobjecttypen' },
    brc: { singular: 'besluittype', plural: 'besluittypen' },
  },
  'singular',
  'plural',
)
/** Whether its rights go up to a vertrouwelijkheidaanduiding. */
export const hasMax = (component: Component): boolean => component === 'zrc' || component === 'drc'

const AUDITTRAIL: [string, string] = ['audittrails.lezen', 'de geschiedenis (audittrail) lezen']

/** Per component its scopes, each with what it allows. */
export const SCOPES: Record<Component, [scope: string, woorden: string][]> = words(
  {
    zrc: [
      ['zaken.lezen', 'zaken lezen en zoeken'],
      ['zaken.aanmaken', 'zaken aanmaken, met de eerste status'],
      ['zaken.bijwerken', 'open zaken wijzigen'],
      ['zaken.statussen.toevoegen', 'statussen aan open zaken toevoegen'],
      ['zaken.geforceerd-bijwerken', 'ook afgesloten zaken wijzigen'],
      ['zaken.heropenen', 'afgesloten zaken heropenen'],
      ['zaken.verwijderen', 'zaken verwijderen'],
      AUDITTRAIL,
    ],
    drc: [
      ['documenten.lezen', 'documenten lezen, zoeken en downloaden'],
      ['documenten.aanmaken', 'documenten aanmaken'],
      ['documenten.bijwerken', 'documenten wijzigen'],
      ['documenten.lock', 'documenten vergrendelen om ze te wijzigen, en weer vrijgeven'],
      ['documenten.geforceerd-unlock', 'documenten vrijgeven die een ander vergrendelde'],
      ['documenten.geforceerd-bijwerken', 'documenten wijzigen, geforceerd'],
      ['documenten.verwijderen', 'documenten verwijderen'],
      AUDITTRAIL,
    ],
    brc: [
      ['besluiten.lezen', 'besluiten lezen en zoeken'],
      ['besluiten.aanmaken', 'besluiten aanmaken'],
      ['besluiten.bijwerken', 'besluiten wijzigen'],
      ['besluiten.verwijderen', 'besluiten verwijderen'],
      AUDITTRAIL,
    ],
    ztc: [
      ['catalogi.lezen', 'catalogi en typen lezen'],
      ['catalogi.schrijven', 'catalogi en concepten van typen maken, wijzigen en publiceren'],
      ['catalogi.geforceerd-schrijven', 'gepubliceerde typen wijzigen'],
      ['catalogi.geforceerd-verwijderen', 'gepubliceerde typen verwijderen'],
    ],
    ac: [
      ['autorisaties.lezen', 'applicaties en hun rechten lezen'],
      ['autorisaties.bijwerken', 'applicaties en hun rechten wijzigen'],
    ],
    nrc: [
      ['notificaties.publiceren', 'notificaties versturen'],
      ['notificaties.consumeren', 'notificaties ontvangen'],
      ['cloudevents.bezorgen', 'cloud events bij ons bezorgen (/events)'],
    ],
    kc: [],
    cmc: [],
    vrc: [],
  },
  '1',
)

/** What a scope allows, in words; one that the standard does not have is shown as it is. */
export function scopeInWords(component: Component, scope: string): string {
  return SCOPES[component].find(([name]) => name === scope)?.[1] ?? scope
}

export const VERTROUWELIJKHEID: Record<Vertrouwelijkheidaanduiding, string> = words({
  openbaar: 'openbaar',
  beperkt_openbaar: 'beperkt openbaar',
  intern: 'intern',
  zaakvertrouwelijk: 'zaakvertrouwelijk',
  vertrouwelijk: 'vertrouwelijk',
  confidentieel: 'confidentieel',
  geheim: 'geheim',
  zeer_geheim: 'zeer geheim',
})
