// What each kind of object needs to be played to the APIs of the standard, in the order in which they are: what a case refers to comes
// before it, and what closes it last.
import type { Component } from '../../core/actor.ts'
import { PATHS, type Resource } from '../../http/links.ts'

export type BackKind = {
  /** As the feed names it. */
  name: string
  component: Component
  /** Path of its collection; undefined: it stands below its case, at this place. */
  path: string | { below: string }
  /** The field that names what it belongs to, which is also the parameter of its list. */
  owner?: string
  /** Fields by which one is found again whose answer was lost; without them its list is read. */
  number?: [string, string]
  /** Without these it cannot be made. */
  required: string[]
  /** What the service fills in by itself, and what a client cannot state. */
  derived: string[]
  /** What is only right when all that belongs to it is there: closing a case decides these. */
  late: string[]
  /** Compared once those of this kind are there; with `late`, once all are. */
  after?: string
  /** How it is changed; undefined: the standard has no change of it. */
  change?: 'PATCH' | 'PUT'
}

type Given = Partial<Omit<BackKind, 'name' | 'component'>>
const kind = (component: Component, name: string, given: Given = {}): BackKind => ({
  name,
  component,
  path: PATHS[name as Resource],
  required: given.owner ? [given.owner] : [],
  late: [],
  ...given,
  derived: ['url', 'uuid', '_expand', ...(given.derived ?? [])],
})

/** Set by a service itself, and never by a client: told once in the report, and not for each object. */
const PARTS = ['rollen', 'status', 'resultaat', 'zaakinformatieobjecten', 'zaakobjecten', 'eigenschappen', 'deelzaken']

/** All kinds, in the order in which they are made. */
export const BACK: BackKind[] = [
  kind('drc', 'enkelvoudiginformatieobject', {
    number: ['identificatie', 'bronorganisatie'],
    required: ['identificatie', 'bronorganisatie', 'creatiedatum', 'titel', 'auteur', 'taal', 'informatieobjecttype'],
    derived: ['versie', 'beginRegistratie', 'inhoud', 'locked', 'bestandsdelen'],
    after: 'gebruiksrechten',
  }),
  kind('drc', 'gebruiksrechten', { owner: 'informatieobject', change: 'PATCH' }),
  kind('drc', 'verzending', { owner: 'informatieobject', change: 'PATCH' }),
  kind('zrc', 'zaak', {
    number: ['identificatie', 'bronorganisatie'],
    required: ['identificatie', 'bronorganisatie', 'verantwoordelijkeOrganisatie', 'zaaktype', 'startdatum'],
    derived: [...PARTS, 'laatstGemuteerd', 'betalingsindicatieWeergave'],
    late: ['einddatum', 'archiefnominatie', 'archiefstatus', 'archiefactiedatum', 'startdatumBewaartermijn'],
    change: 'PATCH',
  }),
  kind('zrc', 'rol', {
    owner: 'zaak',
    required: ['zaak', 'roltype', 'betrokkeneType'],
    derived: ['registratiedatum', 'omschrijving', 'omschrijvingGeneriek', 'statussen'],
    change: 'PUT',
  }),
  kind('zrc', 'zaakeigenschap', {
    path: { below: 'zaakeigenschappen' },
    required: ['zaak', 'eigenschap', 'waarde'],
    derived: ['naam'],
    change: 'PATCH',
  }),
  kind('zrc', 'zaakobject', { owner: 'zaak', required: ['zaak', 'objectType'], change: 'PATCH' }),
  kind('zrc', 'klantcontact', { owner: 'zaak' }),
  kind('zrc', 'zaakcontactmoment', { owner: 'zaak', required: ['zaak', 'contactmoment'] }),
  kind('zrc', 'zaakverzoek', { owner: 'zaak', required: ['zaak', 'verzoek'] }),
  kind('zrc', 'zaaknotitie', {
    owner: 'gerelateerdAan',
    derived: ['aanmaakdatum', 'wijzigingsdatum'],
    change: 'PATCH',
  }),
  kind('brc', 'besluit', {
    number: ['identificatie', 'verantwoordelijkeOrganisatie'],
    required: ['identificatie', 'verantwoordelijkeOrganisatie', 'besluittype', 'datum', 'ingangsdatum'],
    derived: ['vervalredenWeergave'],
    change: 'PATCH',
  }),
  kind('brc', 'besluitinformatieobject', { owner: 'besluit', required: ['besluit', 'informatieobject'] }),
  kind('zrc', 'zaakinformatieobject', {
    owner: 'zaak',
    required: ['zaak', 'informatieobject'],
    derived: ['registratiedatum', 'aardRelatieWeergave'],
    late: ['status'],
    change: 'PATCH',
  }),
  kind('zrc', 'resultaat', { owner: 'zaak', required: ['zaak', 'resultaattype'], change: 'PATCH' }),
  kind('zrc', 'status', {
    owner: 'zaak',
    required: ['zaak', 'statustype', 'datumStatusGezet'],
    derived: ['indicatieLaatstGezetteStatus', 'zaakinformatieobjecten'],
  }),
  kind('zrc', 'substatus', { owner: 'zaak', required: ['zaak', 'omschrijving', 'tijdstip'] }),
  // Those of a document or besluit of ours are made by the other service when the relation is.
  kind('drc', 'objectinformatieobject', { owner: 'informatieobject', required: ['informatieobject', 'object'] }),
  kind('zrc', 'zaakbesluit', { path: { below: 'besluiten' }, required: ['besluit'] }),
]

/** Kinds of which what is gone is removed in this order: a document goes after what names it. */
export const REMOVED: string[] = [
  ...['zaakinformatieobject', 'besluitinformatieobject', 'objectinformatieobject', 'zaakbesluit', 'zaakeigenschap'],
  ...['zaakobject', 'resultaat', 'rol', 'zaakcontactmoment', 'zaakverzoek', 'zaaknotitie', 'verzending'],
  ...['gebruiksrechten', 'klantcontact', 'substatus', 'status', 'besluit', 'zaak', 'enkelvoudiginformatieobject'],
]

const byName = new Map(BACK.map((one) => [one.name, one]))
export const backKindOf = (name: string): BackKind | undefined => byName.get(name)
