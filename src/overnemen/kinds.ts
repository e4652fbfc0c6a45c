// The intermediate form: what a reader hands over and the writer takes, one line per kind of object.
//
// An object is its uuid, the columns of our table under their own names, references as the uuid of an object that is taken
// over or the URL of one elsewhere, and lists of what stands in tables below it. Both readers make it, our own rows are read
// back in it, and its checksum says whether something changed: so the two sides are compared by one rule.

/** How a value stands in the form. `text`, `flag`, `texts` and `items` are never null, all others are when there is nothing. */
export type ColumnType =
  | 'text'
  | 'text?'
  | 'flag'
  | 'boolean'
  | 'integer'
  | 'bigint'
  | 'date'
  | 'moment'
  | 'duration'
  | 'texts'
  | 'json'
  | 'items'
  | 'vertrouwelijkheid'
export type Column = { name: string; type: ColumnType; path: string[] }

/** A reference to another object. */
export type Ref = {
  name: string
  /** The kind that it names; null: only its uuid is kept, and it need not be there. */
  kind: string | null
  /** Column of our key of it. */
  id: string
  /** Column of its URL when it stands elsewhere; without one it cannot. */
  url?: string
  optional?: boolean
  /** Columns that cannot be empty beside a URL elsewhere, with what stands there as long as nobody asked that server. */
  elsewhere?: Record<string, unknown>
  path: string[]
}

/** Rows of a table below ours, replaced as a whole. */
export type List = {
  name: string
  table: string
  parent: string
  columns: Column[]
  refs: Ref[]
  /** Column with the place in the list. */
  order?: string
}

export type Kind = {
  name: string
  table: string
  columns: Column[]
  refs: Ref[]
  lists: List[]
  /** It has no row of its own: it writes to the row, or the lists, of an object of this kind with the same uuid. */
  of?: string
  /** Number and organisation, which two objects may share. */
  number?: [string, string]
}

/** What a reader hands over. Values stand as the source has them; `normalise` gives them their one form. */
export type Taken = { uuid: string } & Record<string, unknown>

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Columns as words: `naam`, `naam:type`, and `naam=place.in.api` where that differs from the name in camel case.
 */
function columns(words: string): Column[] {
  return words
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const [, name = word, type, path] = /^([a-z0-9_]+)(?::([a-z?]+))?(?:=(\S+))?$/.exec(word) ?? []
      return { name, type: (type ?? 'text') as ColumnType, path: (path ?? camel(name)).split('.') }
    })
}

function ref(name: string, options: Partial<Ref> = {}): Ref {
  return { name, kind: name, id: `${name}_id`, path: [camel(name)], ...options }
}

/** Many to many: a table of two keys. */
function pairs(name: string, table: string, parent: string, kind: string): List {
  return { name, table, parent: `${parent}_id`, columns: [], refs: [ref(kind, { path: [] })] }
}

const geldigheid = 'begin_geldigheid:date einde_geldigheid:date'
const zaak = ref('zaak')
const document = ref('informatieobject', { kind: 'document', id: 'enkelvoudiginformatieobject_id' })
const documentOrUrl = { ...document, url: 'informatieobject_url' }
const ownZaaktype = ref('zaaktype')

const VERSION = columns(`versie:integer begin_registratie:moment bronorganisatie identificatie
  vertrouwelijkheidaanduiding:vertrouwelijkheid creatiedatum:date titel auteur status formaat taal bestandsnaam
  bestandsomvang:bigint link beschrijving ontvangstdatum:date verzenddatum:date indicatie_gebruiksrecht:boolean
  verschijningsvorm ondertekening_soort:text?=ondertekening.soort ondertekening_datum:date=ondertekening.datum
  integriteit_algoritme:text?=integriteit.algoritme integriteit_waarde:text?=integriteit.waarde
  integriteit_datum:date=integriteit.datum trefwoorden:texts inhoud_is_vervallen:boolean tonen_aan_initiator:flag
  is_gereed_voor_publicatie:boolean`)

type Input = Partial<Omit<Kind, 'columns'>> & { columns?: string }
const kind = (name: string, { columns: words = '', ...rest }: Input): Kind => ({
  name,
  table: name,
  columns: columns(words),
  refs: [],
  lists: [],
  ...rest,
})

/** All kinds, in the order in which their rows can be written. */
export const KINDS: Kind[] = [
  kind('catalogus', {
    columns: `domein rsin contactpersoon_beheer_naam contactpersoon_beheer_telefoonnummer
      contactpersoon_beheer_emailadres naam versie begindatum_versie:date`,
  }),
  kind('informatieobjecttype', {
    columns: `omschrijving vertrouwelijkheidaanduiding:vertrouwelijkheid ${geldigheid} concept:flag
      informatieobjectcategorie trefwoord:texts omschrijving_generiek:json`,
    refs: [ref('catalogus')],
  }),
  kind('besluittype', {
    columns: `omschrijving omschrijving_generiek besluitcategorie reactietermijn:duration publicatie_indicatie:flag
      publicatietekst publicatietermijn:duration toelichting ${geldigheid} concept:flag`,
    refs: [ref('catalogus')],
    lists: [pairs('informatieobjecttypen', 'besluittype_informatieobjecttype', 'besluittype', 'informatieobjecttype')],
  }),
  kind('zaaktype', {
    columns: `identificatie omschrijving omschrijving_generiek vertrouwelijkheidaanduiding:vertrouwelijkheid doel
      aanleiding toelichting indicatie_intern_of_extern handeling_initiator onderwerp handeling_behandelaar
      doorlooptijd:duration servicenorm:duration opschorting_en_aanhouding_mogelijk:flag verlenging_mogelijk:flag
      verlengingstermijn:duration trefwoorden:texts publicatie_indicatie:flag publicatietekst
      verantwoordingsrelatie:texts producten_of_diensten:texts selectielijst_procestype
      referentieproces_naam=referentieproces.naam referentieproces_link=referentieproces.link verantwoordelijke
      broncatalogus_url=broncatalogus.url broncatalogus_domein=broncatalogus.domein broncatalogus_rsin=broncatalogus.rsin
      bronzaaktype_url=bronzaaktype.url bronzaaktype_identificatie=bronzaaktype.identificatie
      bronzaaktype_omschrijving=bronzaaktype.omschrijving ${geldigheid} versiedatum:date concept:flag`,
    refs: [ref('catalogus')],
  }),
  kind('zaaktyperelatie', {
    table: 'zaaktype',
    of: 'zaaktype',
    lists: [
      pairs('besluittypen', 'zaaktype_besluittype', 'zaaktype', 'besluittype'),
      {
        ...pairs('deelzaaktypen', 'zaaktype_deelzaaktype', 'zaaktype', 'zaaktype'),
        refs: [ref('zaaktype', { id: 'deelzaaktype_id', path: [] })],
      },
      {
        name: 'gerelateerde_zaaktypen',
        table: 'zaaktype_gerelateerd_zaaktype',
        parent: 'zaaktype_id',
        order: 'place',
        columns: columns('aard_relatie toelichting'),
        refs: [ref('zaaktype', { id: 'gerelateerd_zaaktype_id', url: 'gerelateerd_zaaktype_url' })],
      },
    ],
  }),
  kind('statustype', {
    columns: `omschrijving omschrijving_generiek statustekst volgnummer:integer informeren:flag doorlooptijd:duration
      toelichting:text? checklistitem_statustype:items ${geldigheid}`,
    refs: [ownZaaktype],
  }),
  kind('resultaattype', {
    columns: `omschrijving resultaattypeomschrijving omschrijving_generiek selectielijstklasse toelichting archiefnominatie
      archiefactietermijn:duration brondatum_afleidingswijze:text?=brondatumArchiefprocedure.afleidingswijze
      brondatum_datumkenmerk=brondatumArchiefprocedure.datumkenmerk
      brondatum_einddatum_bekend:flag=brondatumArchiefprocedure.einddatumBekend
      brondatum_objecttype=brondatumArchiefprocedure.objecttype
      brondatum_registratie=brondatumArchiefprocedure.registratie
      brondatum_procestermijn:duration=brondatumArchiefprocedure.procestermijn
      procesobjectaard indicatie_specifiek:boolean procestermijn:duration ${geldigheid}`,
    refs: [ownZaaktype],
    lists: [
      pairs('besluittypen', 'resultaattype_besluittype', 'resultaattype', 'besluittype'),
      pairs('informatieobjecttypen', 'resultaattype_informatieobjecttype', 'resultaattype', 'informatieobjecttype'),
    ],
  }),
  kind('roltype', { columns: `omschrijving omschrijving_generiek ${geldigheid}`, refs: [ownZaaktype] }),
  kind('eigenschap', {
    columns: `naam definitie toelichting specificatie_groep=specificatie.groep specificatie_formaat=specificatie.formaat
      specificatie_lengte=specificatie.lengte specificatie_kardinaliteit=specificatie.kardinaliteit
      specificatie_waardenverzameling:texts=specificatie.waardenverzameling ${geldigheid}`,
    refs: [ownZaaktype, ref('statustype', { optional: true })],
  }),
  kind('zaaktype_informatieobjecttype', {
    columns: 'volgnummer:integer richting',
    refs: [ownZaaktype, ref('informatieobjecttype'), ref('statustype', { optional: true })],
  }),
  kind('zaakobjecttype', {
    columns: `ander_objecttype:flag objecttype relatie_omschrijving ${geldigheid}`,
    refs: [ownZaaktype, ref('statustype', { optional: true })],
  }),
  kind('document', {
    table: 'enkelvoudiginformatieobject',
    columns: 'lock:text?',
    number: ['identificatie', 'bronorganisatie'],
    lists: [
      {
        name: 'versies',
        table: 'enkelvoudiginformatieobject_versie',
        parent: 'enkelvoudiginformatieobject_id',
        columns: VERSION,
        refs: [ref('informatieobjecttype', { url: 'informatieobjecttype_url' })],
      },
      {
        name: 'bestandsdelen',
        table: 'bestandsdeel',
        parent: 'enkelvoudiginformatieobject_id',
        columns: columns('uuid volgnummer:integer omvang:bigint'),
        refs: [],
      },
    ],
  }),
  kind('gebruiksrecht', {
    columns: 'startdatum:moment einddatum:moment omschrijving_voorwaarden',
    refs: [document],
  }),
  kind('verzending', {
    columns: `betrokkene aard_relatie toelichting ontvangstdatum:date verzenddatum:date contact_persoon contactpersoonnaam
      binnenlands_correspondentieadres:json buitenlands_correspondentieadres:json correspondentie_postadres:json
      faxnummer emailadres mijn_overheid:flag telefoonnummer`,
    refs: [document],
  }),
  kind('zaak', {
    columns: `identificatie bronorganisatie omschrijving toelichting registratiedatum:date verantwoordelijke_organisatie
      startdatum:date einddatum:date einddatum_gepland:date uiterlijke_einddatum_afdoening:date publicatiedatum:date
      laatst_gemuteerd:moment laatst_geopend:moment communicatiekanaal communicatiekanaal_naam
      producten_of_diensten:texts vertrouwelijkheidaanduiding:vertrouwelijkheid betalingsindicatie
      laatste_betaaldatum:moment zaakgeometrie:json verlenging_reden=verlenging.reden
      verlenging_duur:duration=verlenging.duur opschorting_indicatie:flag=opschorting.indicatie
      opschorting_reden=opschorting.reden opschorting_eerdere:flag=opschorting.eerdereOpschorting selectielijstklasse
      kenmerken:items archiefnominatie:text? archiefstatus archiefactiedatum:date startdatum_bewaartermijn:date
      opdrachtgevende_organisatie processobjectaard processobject_datumkenmerk=processobject.datumkenmerk
      processobject_identificatie=processobject.identificatie processobject_objecttype=processobject.objecttype
      processobject_registratie=processobject.registratie`,
    number: ['identificatie', 'bronorganisatie'],
    refs: [
      ref('zaaktype', {
        url: 'zaaktype_url',
        elsewhere: { zaaktype_catalogus_url: '', zaaktype_identificatie: '', zaaktype_omschrijving: '' },
      }),
    ],
  }),
  kind('zaakrelatie', {
    table: 'zaak',
    of: 'zaak',
    refs: [ref('hoofdzaak', { kind: 'zaak', optional: true })],
    lists: [
      {
        name: 'relevante_andere_zaken',
        table: 'zaak_andere_zaak',
        parent: 'zaak_id',
        order: 'place',
        columns: columns('aard_relatie overige_relatie toelichting'),
        refs: [ref('zaak', { id: 'andere_zaak_id', url: 'andere_zaak_url', path: ['url'] })],
      },
      {
        name: 'gerelateerde_zaken',
        table: 'zaak_gerelateerde_zaak',
        parent: 'zaak_id',
        columns: [],
        refs: [ref('zaak', { id: 'andere_zaak_id', url: 'andere_zaak_url', path: ['url'] })],
      },
    ],
  }),
  kind('rol', {
    columns: `betrokkene betrokkene_type betrokkene_identificatie:json afwijkende_naam_betrokkene omschrijving
      omschrijving_generiek roltoelichting registratiedatum:moment indicatie_machtiging contactpersoon_rol:json
      begin_geldigheid:date einde_geldigheid:date authenticatie_context:json`,
    refs: [zaak, ref('roltype', { url: 'roltype_url' })],
  }),
  kind('status', {
    columns: 'datum_status_gezet:moment statustoelichting',
    refs: [
      zaak,
      ref('statustype', {
        url: 'statustype_url',
        elsewhere: { statustype_omschrijving: '', is_eindstatus: false },
      }),
      ref('gezetdoor', { kind: 'rol', optional: true }),
    ],
  }),
  kind('substatus', { columns: 'omschrijving tijdstip:moment doelgroep', refs: [zaak, ref('status')] }),
  kind('resultaat', {
    columns: 'toelichting',
    refs: [zaak, ref('resultaattype', { url: 'resultaattype_url', elsewhere: { resultaattype_elsewhere: {} } })],
  }),
  kind('zaakeigenschap', {
    columns: 'naam waarde',
    refs: [zaak, ref('eigenschap', { url: 'eigenschap_url' })],
  }),
  kind('zaakobject', {
    columns: `object object_type object_type_overige object_type_overige_definitie:json relatieomschrijving
      object_identificatie:json`,
    refs: [zaak, ref('zaakobjecttype', { url: 'zaakobjecttype_url', optional: true })],
  }),
  kind('klantcontact', {
    columns: 'identificatie datumtijd:moment kanaal onderwerp toelichting',
    refs: [zaak],
  }),
  kind('zaakcontactmoment', { columns: 'contactmoment', refs: [zaak] }),
  kind('zaakverzoek', { columns: 'verzoek', refs: [zaak] }),
  kind('zaaknotitie', {
    columns: 'onderwerp tekst aangemaakt_door notitie_type status aanmaakdatum:moment wijzigingsdatum:moment',
    refs: [{ ...zaak, path: ['gerelateerdAan'] }],
  }),
  kind('besluit', {
    columns: `identificatie verantwoordelijke_organisatie datum:date toelichting bestuursorgaan ingangsdatum:date
      vervaldatum:date vervalreden publicatiedatum:date verzenddatum:date uiterlijke_reactiedatum:date`,
    number: ['identificatie', 'verantwoordelijke_organisatie'],
    refs: [ref('besluittype', { url: 'besluittype_url' }), ref('zaak', { url: 'zaak_url', optional: true })],
  }),
  kind('zaakinformatieobject', {
    columns: 'titel beschrijving registratiedatum:moment vernietigingsdatum:moment',
    refs: [zaak, documentOrUrl, ref('status', { optional: true })],
  }),
  kind('besluitinformatieobject', { refs: [ref('besluit'), documentOrUrl] }),
  kind('objectinformatieobject', {
    columns: 'object_type',
    refs: [document, ref('object', { kind: null, id: 'object_uuid', url: 'object_url' })],
  }),
  kind('zaakbesluit', {
    refs: [zaak, ref('besluit', { kind: null, id: 'besluit_uuid', url: 'besluit_url' })],
  }),
]

const byName = new Map(KINDS.map((one, place) => [one.name, { kind: one, place }]))

/** @throws when there is no such kind */
export function kindOf(name: string): Kind {
  const found = byName.get(name)
  if (!found) throw new Error(`there is no kind ${name}`)
  return found.kind
}

/** For sorting: lower is written earlier, and removed later. */
export const placeOf = (name: string): number => byName.get(name)?.place ?? KINDS.length
