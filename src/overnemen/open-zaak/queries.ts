// The queries on the tables of Open Zaak, one per kind. Their rows are in the intermediate form, in the order of their key.
//
// Versions 1.2x to 1.30 differ in columns: what a version does not have is read as null.

/** The columns that this database has: `table.column`. */
export type Schema = ReadonlySet<string>

export type Query = {
  /** The kind whose objects come out. */
  kind: string
  /** Its table, and the key by which it is read in portions. */
  table: string
  key: string
  /** Columns of the query, for rows of `from`; the table is `x`. */
  select: (schema: Schema) => string
  joins?: string
  /** A condition that the rows must meet. */
  where?: string
}

export type Owner = 'zaak' | 'document' | 'besluit'
const ofCase = { zaak: 'zaak_id' }
/**
 * On what the rows of a kind hang, by their columns for it. Parts that are read side by side are divided by the first, so that
 * the rows of one owner keep their order. Kinds without an owner are divided by their key.
 */
export const OWNERS: Record<string, Partial<Record<Owner, string>>> = {
  ...{ zaak: { zaak: 'identificatie_ptr_id' }, zaakrelatie: { zaak: 'identificatie_ptr_id' } },
  ...{ document: { document: 'id' }, besluit: { besluit: 'id' } },
  ...{ rol: ofCase, status: ofCase, substatus: ofCase, resultaat: ofCase, zaakeigenschap: ofCase, zaakobject: ofCase },
  ...{
    klantcontact: ofCase,
    zaakcontactmoment: ofCase,
    zaakverzoek: ofCase,
    zaaknotitie: { zaak: 'gerelateerd_aan_id' },
  },
  ...{ gebruiksrecht: { document: 'informatieobject_id' }, verzending: { document: 'informatieobject_id' } },
  ...{ zaakinformatieobject: ofCase, besluitinformatieobject: { besluit: 'besluit_id' } },
  objectinformatieobject: { document: 'informatieobject_id', zaak: '_zaak_id', besluit: '_besluit_id' },
  zaakbesluit: { zaak: 'zaak_id', besluit: '_besluit_id' },
}

/** Columns as words, `name` or `name=column`; what is not there is null. */
const pick = (schema: Schema, alias: string, table: string, words: string): string =>
  words
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const [name, column = name] = word.split('=')
      return schema.has(`${table}.${column}`) ? `${alias}."${column}" as ${name}` : `null as ${name}`
    })
    .join(', ')

/** The uuid of an object here, or else its URL at another server: there are two sets of columns for it. */
const here = (schema: Schema, holder: string, column: string, table: string, key = 'id') => {
  const own = `(select t.uuid::text from ${table} t where t.${key} = x.${column}_id)`
  if (!schema.has(`${holder}.${column}_base_url_id`)) return own
  return `coalesce(${own}, (select s.api_root || x.${column}_relative_url from zgw_consumers_service s where s.id = x.${column}_base_url_id))`
}

/** A document has its uuid with its versions. */
const documentHere = (schema: Schema, holder: string, column: string) => {
  const own = `(select v.uuid::text from documenten_enkelvoudiginformatieobject v where v.canonical_id = x.${column}_id limit 1)`
  if (!schema.has(`${holder}.${column}_base_url_id`)) return own
  return `coalesce(${own}, (select s.api_root || x.${column}_relative_url from zgw_consumers_service s where s.id = x.${column}_base_url_id))`
}

const list = (query: string) => `coalesce((select json_agg(l) from (${query}) l), '[]')`
const has = (schema: Schema, table: string) => [...schema].some((column) => column.startsWith(`${table}.`))
const geldigheid = 'begin_geldigheid=datum_begin_geldigheid einde_geldigheid=datum_einde_geldigheid'
const ofZaaktype = '(select t.uuid::text from catalogi_zaaktype t where t.id = x.zaaktype_id) as zaaktype'
const ofStatustype = '(select t.uuid::text from catalogi_statustype t where t.id = x.statustype_id) as statustype'
const ofCatalogus = '(select t.uuid::text from catalogi_catalogus t where t.id = x.catalogus_id) as catalogus'
const ofZaak = '(select t.uuid::text from zaken_zaak t where t.identificatie_ptr_id = x.zaak_id) as zaak'

const simple = (kind: string, table: string, words: string, ...more: ((schema: Schema) => string)[]): Query => ({
  kind,
  table,
  key: 'id',
  select: (schema) =>
    ['x.uuid', pick(schema, 'x', table, words), ...more.map((one) => one(schema))].filter(Boolean).join(', '),
})

export const QUERIES: Query[] = [
  simple(
    'catalogus',
    'catalogi_catalogus',
    `domein rsin contactpersoon_beheer_naam contactpersoon_beheer_telefoonnummer contactpersoon_beheer_emailadres naam
     versie begindatum_versie`,
  ),
  simple(
    'informatieobjecttype',
    'catalogi_informatieobjecttype',
    `omschrijving vertrouwelijkheidaanduiding ${geldigheid} concept informatieobjectcategorie trefwoord`,
    () => ofCatalogus,
    () => `json_build_object(
      'informatieobjecttypeOmschrijvingGeneriek', x.omschrijving_generiek_informatieobjecttype,
      'definitieInformatieobjecttypeOmschrijvingGeneriek', x.omschrijving_generiek_definitie,
      'herkomstInformatieobjecttypeOmschrijvingGeneriek', x.omschrijving_generiek_herkomst,
      'hierarchieInformatieobjecttypeOmschrijvingGeneriek', x.omschrijving_generiek_hierarchie,
      'opmerkingInformatieobjecttypeOmschrijvingGeneriek', x.omschrijving_generiek_opmerking) as omschrijving_generiek`,
  ),
  simple(
    'besluittype',
    'catalogi_besluittype',
    `omschrijving omschrijving_generiek besluitcategorie reactietermijn publicatie_indicatie publicatietekst
     publicatietermijn toelichting ${geldigheid} concept`,
    () => ofCatalogus,
    () =>
      `${list(`select t.uuid::text as informatieobjecttype from catalogi_besluittype_informatieobjecttypen r
        join catalogi_informatieobjecttype t on t.id = r.informatieobjecttype_id where r.besluittype_id = x.id`)} as informatieobjecttypen`,
  ),
  simple(
    'zaaktype',
    'catalogi_zaaktype',
    `omschrijving=zaaktype_omschrijving omschrijving_generiek=zaaktype_omschrijving_generiek
     vertrouwelijkheidaanduiding doel aanleiding toelichting indicatie_intern_of_extern handeling_initiator onderwerp
     handeling_behandelaar doorlooptijd=doorlooptijd_behandeling servicenorm=servicenorm_behandeling
     opschorting_en_aanhouding_mogelijk verlenging_mogelijk verlengingstermijn trefwoorden publicatie_indicatie
     publicatietekst verantwoordingsrelatie producten_of_diensten selectielijst_procestype referentieproces_naam
     referentieproces_link verantwoordelijke broncatalogus_url broncatalogus_domein broncatalogus_rsin bronzaaktype_url
     bronzaaktype_identificatie bronzaaktype_omschrijving ${geldigheid} versiedatum concept`,
    () => 'x.identificatie::text as identificatie', // a number in older versions
    () => ofCatalogus,
  ),
  {
    kind: 'zaaktyperelatie',
    table: 'catalogi_zaaktype',
    key: 'id',
    select: () => `x.uuid,
      ${list(`select t.uuid::text as besluittype from catalogi_besluittype_zaaktypen r
        join catalogi_besluittype t on t.id = r.besluittype_id where r.zaaktype_id = x.id`)} as besluittypen,
      ${list(`select t.uuid::text as zaaktype from catalogi_zaaktype_deelzaaktypen r
        join catalogi_zaaktype t on t.id = r.to_zaaktype_id where r.from_zaaktype_id = x.id`)} as deelzaaktypen,
      ${list(`select r.gerelateerd_zaaktype as zaaktype, r.aard_relatie, r.toelichting from catalogi_zaaktypenrelatie r
        where r.zaaktype_id = x.id order by r.id`)} as gerelateerde_zaaktypen`,
  },
  simple(
    'statustype',
    'catalogi_statustype',
    `omschrijving=statustype_omschrijving omschrijving_generiek=statustype_omschrijving_generiek statustekst
     volgnummer=statustypevolgnummer informeren doorlooptijd toelichting ${geldigheid}`,
    () => ofZaaktype,
    (schema) =>
      has(schema, 'catalogi_checklistitem')
        ? `${list('select c.itemnaam, c.vraagstelling, c.verplicht, c.toelichting from catalogi_checklistitem c where c.statustype_id = x.id order by c.id')} as checklistitem_statustype`
        : `'[]'::json as checklistitem_statustype`,
  ),
  simple(
    'resultaattype',
    'catalogi_resultaattype',
    `omschrijving resultaattypeomschrijving omschrijving_generiek selectielijstklasse toelichting archiefnominatie
     archiefactietermijn brondatum_datumkenmerk=brondatum_archiefprocedure_datumkenmerk
     brondatum_einddatum_bekend=brondatum_archiefprocedure_einddatum_bekend
     brondatum_objecttype=brondatum_archiefprocedure_objecttype brondatum_registratie=brondatum_archiefprocedure_registratie
     brondatum_procestermijn=brondatum_archiefprocedure_procestermijn procesobjectaard indicatie_specifiek procestermijn
     ${geldigheid}`,
    () => `nullif(x.brondatum_archiefprocedure_afleidingswijze, '') as brondatum_afleidingswijze`,
    () => ofZaaktype,
    (schema) =>
      has(schema, 'catalogi_resultaattype_besluittypen')
        ? `${list(`select t.uuid::text as besluittype from catalogi_resultaattype_besluittypen r
            join catalogi_besluittype t on t.id = r.besluittype_id where r.resultaattype_id = x.id`)} as besluittypen,
           ${list(`select t.uuid::text as informatieobjecttype from catalogi_resultaattype_informatieobjecttypen r
            join catalogi_informatieobjecttype t on t.id = r.informatieobjecttype_id where r.resultaattype_id = x.id`)} as informatieobjecttypen`
        : `null as besluittypen`,
  ),
  simple('roltype', 'catalogi_roltype', `omschrijving omschrijving_generiek ${geldigheid}`, () => ofZaaktype),
  {
    ...simple(
      'eigenschap',
      'catalogi_eigenschap',
      `naam=eigenschapnaam definitie toelichting ${geldigheid}`,
      () => ofZaaktype,
      (schema) => (schema.has('catalogi_eigenschap.statustype_id') ? ofStatustype : 'null as statustype'),
      () => `s.groep as specificatie_groep, s.formaat as specificatie_formaat, s.lengte as specificatie_lengte,
        s.kardinaliteit as specificatie_kardinaliteit, s.waardenverzameling as specificatie_waardenverzameling`,
    ),
    joins: 'left join catalogi_eigenschapspecificatie s on s.id = x.specificatie_van_eigenschap_id',
  },
  simple(
    'zaaktype_informatieobjecttype',
    'catalogi_zaaktypeinformatieobjecttype',
    'volgnummer richting',
    () => ofZaaktype,
    () => ofStatustype,
    () =>
      '(select t.uuid::text from catalogi_informatieobjecttype t where t.id = x.informatieobjecttype_id) as informatieobjecttype',
  ),
  simple(
    'zaakobjecttype',
    'catalogi_zaakobjecttype',
    `ander_objecttype objecttype relatie_omschrijving ${geldigheid}`,
    () => ofZaaktype,
    () => ofStatustype,
  ),
  {
    kind: 'document',
    table: 'documenten_enkelvoudiginformatieobjectcanonical',
    key: 'id',
    where: 'exists (select from documenten_enkelvoudiginformatieobject v where v.canonical_id = x.id)',
    select: (schema) => `
      (select v.uuid from documenten_enkelvoudiginformatieobject v where v.canonical_id = x.id limit 1) as uuid,
      nullif(x.lock, '') as lock,
      ${list(`select ${pick(
        schema,
        'v',
        'documenten_enkelvoudiginformatieobject',
        `versie begin_registratie bronorganisatie identificatie vertrouwelijkheidaanduiding creatiedatum titel auteur status
         formaat taal bestandsnaam bestandsomvang link beschrijving ontvangstdatum verzenddatum indicatie_gebruiksrecht
         verschijningsvorm integriteit_datum ondertekening_datum trefwoorden inhoud_is_vervallen tonen_aan_initiator
         is_gereed_voor_publicatie path=inhoud`,
      )}, nullif(v.ondertekening_soort, '') as ondertekening_soort, nullif(v.integriteit_algoritme, '') as integriteit_algoritme,
          case when v.integriteit_algoritme <> '' then v.integriteit_waarde end as integriteit_waarde,
          ${here(schema, 'documenten_enkelvoudiginformatieobject', '_informatieobjecttype', 'catalogi_informatieobjecttype').replaceAll('x.', 'v.')} as informatieobjecttype
        from documenten_enkelvoudiginformatieobject v where v.canonical_id = x.id order by v.versie`)} as versies,
      ${
        has(schema, 'documenten_bestandsdeel')
          ? list(
              'select d.uuid, d.volgnummer, d.omvang from documenten_bestandsdeel d where d.informatieobject_id = x.id order by d.volgnummer',
            )
          : `'[]'::json`
      } as bestandsdelen`,
  },
  simple(
    'gebruiksrecht',
    'documenten_gebruiksrechten',
    'startdatum einddatum omschrijving_voorwaarden',
    (schema) => `${documentHere(schema, 'documenten_gebruiksrechten', 'informatieobject')} as informatieobject`,
  ),
  simple(
    'verzending',
    'documenten_verzending',
    `betrokkene aard_relatie toelichting ontvangstdatum verzenddatum contact_persoon contactpersoonnaam faxnummer
     emailadres mijn_overheid telefoonnummer`,
    (schema) => `${documentHere(schema, 'documenten_verzending', 'informatieobject')} as informatieobject`,
    () => `case when x.binnenlands_correspondentieadres_huisnummer is not null then json_build_object(
      'huisletter', x.binnenlands_correspondentieadres_huisletter,
      'huisnummer', x.binnenlands_correspondentieadres_huisnummer,
      'huisnummerToevoeging', x.binnenlands_correspondentieadres_huisnummer_toevoeging,
      'naamOpenbareRuimte', x.binnenlands_correspondentieadres_naam_openbare_ruimte,
      'postcode', x.binnenlands_correspondentieadres_postcode,
      'woonplaatsnaam', x.binnenlands_correspondentieadres_woonplaatsnaam) end as binnenlands_correspondentieadres,
    json_build_object(
      'adresBuitenland_1', x.buitenlands_correspondentieadres_adres_buitenland_1,
      'adresBuitenland_2', x.buitenlands_correspondentieadres_adres_buitenland_2,
      'adresBuitenland_3', x.buitenlands_correspondentieadres_adres_buitenland_3,
      'landPostadres', x.buitenlands_correspondentieadres_land_postadres) as buitenlands_correspondentieadres,
    case when x.correspondentie_postadres_postbus_of_antwoord_nummer is not null then json_build_object(
      'postBusOfAntwoordnummer', x.correspondentie_postadres_postbus_of_antwoord_nummer,
      'postadresPostcode', x.correspondentie_postadres_postcode,
      'postadresType', x.correspondentie_postadres_postadrestype,
      'woonplaatsnaam', x.correspondentie_postadres_woonplaatsnaam) end as correspondentie_postadres`,
  ),
  {
    kind: 'zaak',
    table: 'zaken_zaak',
    key: 'identificatie_ptr_id',
    joins: 'join zaken_zaakidentificatie i on i.id = x.identificatie_ptr_id',
    select: (schema) => `x.uuid, i.identificatie, i.bronorganisatie, x.zaakgeometrie::text as zaakgeometrie,
      ${pick(
        schema,
        'x',
        'zaken_zaak',
        `omschrijving toelichting registratiedatum verantwoordelijke_organisatie startdatum einddatum einddatum_gepland
         uiterlijke_einddatum_afdoening publicatiedatum laatst_geopend communicatiekanaal communicatiekanaal_naam
         producten_of_diensten vertrouwelijkheidaanduiding betalingsindicatie laatste_betaaldatum verlenging_reden
         verlenging_duur opschorting_indicatie opschorting_reden opschorting_eerdere=opschorting_eerdere_opschorting
         selectielijstklasse archiefnominatie archiefstatus archiefactiedatum startdatum_bewaartermijn
         opdrachtgevende_organisatie processobjectaard processobject_datumkenmerk processobject_identificatie
         processobject_objecttype processobject_registratie`,
      )},
      ${
        schema.has('zaken_zaak.laatst_gemuteerd')
          ? 'x.laatst_gemuteerd'
          : `coalesce(x.registratiedatum, x.startdatum)::timestamptz as laatst_gemuteerd`
      },
      ${here(schema, 'zaken_zaak', '_zaaktype', 'catalogi_zaaktype')} as zaaktype,
      ${list('select k.kenmerk, k.bron from zaken_zaakkenmerk k where k.zaak_id = x.identificatie_ptr_id order by k.id')} as kenmerken`,
  },
  {
    kind: 'zaakrelatie',
    table: 'zaken_zaak',
    key: 'identificatie_ptr_id',
    select: (schema) => `x.uuid,
      (select h.uuid::text from zaken_zaak h where h.identificatie_ptr_id = x.hoofdzaak_id) as hoofdzaak,
      ${list(`select ${here(schema, 'zaken_relevantezaakrelatie', '_relevant_zaak', 'zaken_zaak', 'identificatie_ptr_id').replaceAll('x.', 'r.')} as zaak,
          ${pick(schema, 'r', 'zaken_relevantezaakrelatie', 'aard_relatie overige_relatie toelichting')}
        from zaken_relevantezaakrelatie r where r.zaak_id = x.identificatie_ptr_id order by r.id`)} as relevante_andere_zaken,
      ${
        has(schema, 'zaken_zaakrelatie')
          ? list(`select ${here(schema, 'zaken_zaakrelatie', '_gerelateerde_zaak', 'zaken_zaak', 'identificatie_ptr_id').replaceAll('x.', 'r.')} as zaak
              from zaken_zaakrelatie r where r.zaak_id = x.identificatie_ptr_id order by r.id`)
          : `'[]'::json`
      } as gerelateerde_zaken`,
  },
  simple(
    'rol',
    'zaken_rol',
    `betrokkene betrokkene_type afwijkende_naam_betrokkene omschrijving omschrijving_generiek roltoelichting
     registratiedatum indicatie_machtiging begin_geldigheid einde_geldigheid authenticatie_context`,
    () => ofZaak,
    (schema) => `${here(schema, 'zaken_rol', '_roltype', 'catalogi_roltype')} as roltype`,
    (schema) =>
      schema.has('zaken_rol.contactpersoon_rol_naam')
        ? `json_build_object('emailadres', x.contactpersoon_rol_emailadres, 'functie', x.contactpersoon_rol_functie,
            'telefoonnummer', x.contactpersoon_rol_telefoonnummer, 'naam', x.contactpersoon_rol_naam) as contactpersoon_rol`
        : 'null as contactpersoon_rol',
  ),
  simple(
    'status',
    'zaken_status',
    'datum_status_gezet statustoelichting',
    () => ofZaak,
    (schema) => `${here(schema, 'zaken_status', '_statustype', 'catalogi_statustype')} as statustype`,
    (schema) =>
      schema.has('zaken_status.gezetdoor_id')
        ? '(select r.uuid::text from zaken_rol r where r.id = x.gezetdoor_id) as gezetdoor'
        : 'null as gezetdoor',
  ),
  simple(
    'substatus',
    'zaken_substatus',
    'omschrijving tijdstip doelgroep',
    () => ofZaak,
    () => '(select s.uuid::text from zaken_status s where s.id = x.status_id) as status',
  ),
  simple(
    'resultaat',
    'zaken_resultaat',
    'toelichting',
    () => ofZaak,
    (schema) => `${here(schema, 'zaken_resultaat', '_resultaattype', 'catalogi_resultaattype')} as resultaattype`,
  ),
  simple(
    'zaakeigenschap',
    'zaken_zaakeigenschap',
    'naam=_naam waarde',
    () => ofZaak,
    (schema) => `${here(schema, 'zaken_zaakeigenschap', '_eigenschap', 'catalogi_eigenschap')} as eigenschap`,
  ),
  simple(
    'zaakobject',
    'zaken_zaakobject',
    'object object_type object_type_overige object_type_overige_definitie relatieomschrijving',
    () => ofZaak,
    (schema) =>
      schema.has('zaken_zaakobject._zaakobjecttype_id')
        ? `${here(schema, 'zaken_zaakobject', '_zaakobjecttype', 'catalogi_zaakobjecttype')} as zaakobjecttype`
        : 'null as zaakobjecttype',
  ),
  simple('klantcontact', 'zaken_klantcontact', 'identificatie datumtijd kanaal onderwerp toelichting', () => ofZaak),
  simple('zaakcontactmoment', 'zaken_zaakcontactmoment', 'contactmoment spiegel=_objectcontactmoment', () => ofZaak),
  simple('zaakverzoek', 'zaken_zaakverzoek', 'verzoek spiegel=_objectverzoek', () => ofZaak),
  simple(
    'zaaknotitie',
    'zaken_zaaknotitie',
    'onderwerp tekst aangemaakt_door notitie_type status aanmaakdatum wijzigingsdatum',
    () => ofZaak.replace('x.zaak_id', 'x.gerelateerd_aan_id'),
  ),
  simple(
    'besluit',
    'besluiten_besluit',
    `identificatie verantwoordelijke_organisatie datum toelichting bestuursorgaan ingangsdatum vervaldatum vervalreden
     publicatiedatum verzenddatum uiterlijke_reactiedatum spiegel=_zaakbesluit_url`,
    (schema) => `${here(schema, 'besluiten_besluit', '_besluittype', 'catalogi_besluittype')} as besluittype`,
    (schema) => `${here(schema, 'besluiten_besluit', '_zaak', 'zaken_zaak', 'identificatie_ptr_id')} as zaak`,
  ),
  simple(
    'zaakinformatieobject',
    'zaken_zaakinformatieobject',
    'titel beschrijving registratiedatum vernietigingsdatum spiegel=_objectinformatieobject_url',
    () => ofZaak,
    (schema) => `${documentHere(schema, 'zaken_zaakinformatieobject', '_informatieobject')} as informatieobject`,
    (schema) =>
      schema.has('zaken_zaakinformatieobject.status_id')
        ? '(select s.uuid::text from zaken_status s where s.id = x.status_id) as status'
        : 'null as status',
  ),
  simple(
    'besluitinformatieobject',
    'besluiten_besluitinformatieobject',
    'spiegel=_objectinformatieobject_url',
    () => '(select b.uuid::text from besluiten_besluit b where b.id = x.besluit_id) as besluit',
    (schema) => `${documentHere(schema, 'besluiten_besluitinformatieobject', '_informatieobject')} as informatieobject`,
  ),
  simple(
    'objectinformatieobject',
    'documenten_objectinformatieobject',
    'object_type',
    (schema) => `${documentHere(schema, 'documenten_objectinformatieobject', 'informatieobject')} as informatieobject`,
    (schema) => `coalesce(
      (select z.uuid::text from zaken_zaak z where z.identificatie_ptr_id = x._zaak_id),
      (select b.uuid::text from besluiten_besluit b where b.id = x._besluit_id)
      ${
        schema.has('documenten_objectinformatieobject._object_base_url_id')
          ? ', (select s.api_root || x._object_relative_url from zgw_consumers_service s where s.id = x._object_base_url_id)'
          : ''
      }) as object`,
  ),
  simple(
    'zaakbesluit',
    'zaken_zaakbesluit',
    '',
    () => ofZaak,
    (schema) => `${here(schema, 'zaken_zaakbesluit', '_besluit', 'besluiten_besluit')} as besluit`,
  ),
]

/** Of these no change is told, neither by the audit trail nor by a moment: they are read whole in every round. */
export const UNTOLD = new Set(['verzending', 'zaaknotitie'])

/** The audit trail. */
export const AUDIT = `select x.id as key, x.uuid, lower(x.bron) as bron, x.applicatie_id, x.applicatie_weergave, x.gebruikers_id,
  x.gebruikers_weergave, x.actie, x.resultaat, x.hoofd_object, x.resource, x.resource_url, x.resource_weergave, x.toelichting,
  x.logrecord_id, x.aanmaakdatum, x.oud::text as oud, x.nieuw::text as nieuw
  from audittrails_audittrail x`
