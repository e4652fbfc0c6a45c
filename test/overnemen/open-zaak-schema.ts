// The tables of Open Zaak 1.30, and of Open Notificaties 1.16 (datamodel_…), that a takeover reads, with their columns: a database to test with is made of them.
// Columns are words, `name` for text or `name:type`. PostGIS is not needed: geometry is text in hexadecimal EWKB.

export const TABLES: Record<string, string> = {
  audittrails_audittrail: `
    id:bigint uuid:uuid bron actie actie_weergave resultaat:integer hoofd_object resource resource_url
    aanmaakdatum:timestamptz oud:jsonb nieuw:jsonb applicatie_id applicatie_weergave gebruikers_id
    gebruikers_weergave toelichting resource_weergave logrecord_id`,
  authorizations_applicatie: `
    id:bigint uuid:uuid client_ids:text[] label heeft_alle_autorisaties:boolean`,
  authorizations_autorisatie: `
    id:bigint component zaaktype scopes:text[] max_vertrouwelijkheidaanduiding applicatie_id:bigint besluittype
    informatieobjecttype`,
  autorisaties_catalogusautorisatie: `
    id:bigint component scopes:text[] max_vertrouwelijkheidaanduiding applicatie_id:bigint catalogus_id:bigint`,
  besluiten_besluit: `
    id:bigint uuid:uuid identificatie verantwoordelijke_organisatie datum:date toelichting bestuursorgaan
    ingangsdatum:date vervaldatum:date vervalreden publicatiedatum:date verzenddatum:date
    uiterlijke_reactiedatum:date _zaakbesluit_url _besluittype_id:bigint _zaak_id:bigint
    _besluittype_base_url_id:bigint _besluittype_relative_url _zaak_base_url_id:bigint _zaak_relative_url _etag`,
  besluiten_besluitinformatieobject: `
    id:bigint uuid:uuid _objectinformatieobject_url _informatieobject_id:bigint besluit_id:bigint
    _informatieobject_base_url_id:bigint _informatieobject_relative_url _etag`,
  catalogi_besluittype: `
    id:bigint datum_begin_geldigheid:date datum_einde_geldigheid:date concept:boolean uuid:uuid omschrijving
    omschrijving_generiek besluitcategorie reactietermijn:interval publicatie_indicatie:boolean publicatietekst
    publicatietermijn:interval toelichting catalogus_id:bigint _etag`,
  catalogi_besluittype_informatieobjecttypen: `
    id:bigint besluittype_id:bigint informatieobjecttype_id:bigint`,
  catalogi_besluittype_zaaktypen: `
    id:bigint besluittype_id:bigint zaaktype_id:bigint`,
  catalogi_catalogus: `
    id:bigint naam uuid:uuid domein rsin contactpersoon_beheer_naam contactpersoon_beheer_telefoonnummer
    contactpersoon_beheer_emailadres _etag begindatum_versie:date versie`,
  catalogi_checklistitem: `
    id:bigint itemnaam vraagstelling verplicht:boolean toelichting statustype_id:bigint`,
  catalogi_eigenschap: `
    id:bigint uuid:uuid eigenschapnaam definitie toelichting specificatie_van_eigenschap_id:bigint
    zaaktype_id:bigint _etag statustype_id:bigint datum_begin_geldigheid:date datum_einde_geldigheid:date`,
  catalogi_eigenschapspecificatie: `
    id:bigint groep formaat lengte kardinaliteit waardenverzameling:text[]`,
  catalogi_informatieobjecttype: `
    id:bigint datum_begin_geldigheid:date datum_einde_geldigheid:date concept:boolean uuid:uuid omschrijving
    vertrouwelijkheidaanduiding catalogus_id:bigint _etag omschrijving_generiek_definitie
    omschrijving_generiek_herkomst omschrijving_generiek_hierarchie omschrijving_generiek_informatieobjecttype
    omschrijving_generiek_opmerking trefwoord:text[] informatieobjectcategorie`,
  catalogi_resultaattype: `
    id:bigint uuid:uuid omschrijving resultaattypeomschrijving omschrijving_generiek selectielijstklasse
    archiefnominatie archiefactietermijn:interval brondatum_archiefprocedure_afleidingswijze
    brondatum_archiefprocedure_datumkenmerk brondatum_archiefprocedure_einddatum_bekend:boolean
    brondatum_archiefprocedure_objecttype brondatum_archiefprocedure_registratie
    brondatum_archiefprocedure_procestermijn:interval toelichting zaaktype_id:bigint _etag
    indicatie_specifiek:boolean procesobjectaard procestermijn:interval datum_begin_geldigheid:date
    datum_einde_geldigheid:date`,
  catalogi_resultaattype_besluittypen: `
    id:bigint resultaattype_id:bigint besluittype_id:bigint`,
  catalogi_resultaattype_informatieobjecttypen: `
    id:bigint resultaattype_id:bigint informatieobjecttype_id:bigint`,
  catalogi_resultaattype_zaakobjecttypen: `
    id:bigint resultaattype_id:bigint zaakobjecttype_id:bigint`,
  catalogi_roltype: `
    id:bigint uuid:uuid omschrijving omschrijving_generiek zaaktype_id:bigint _etag datum_begin_geldigheid:date
    datum_einde_geldigheid:date`,
  catalogi_statustype: `
    id:bigint uuid:uuid statustype_omschrijving statustype_omschrijving_generiek statustypevolgnummer:integer
    informeren:boolean statustekst toelichting zaaktype_id:bigint _etag doorlooptijd:interval
    datum_begin_geldigheid:date datum_einde_geldigheid:date`,
  catalogi_zaakobjecttype: `
    id:bigint _etag uuid:uuid ander_objecttype:boolean objecttype relatie_omschrijving zaaktype_id:bigint
    statustype_id:bigint datum_begin_geldigheid:date datum_einde_geldigheid:date`,
  catalogi_zaaktype: `
    id:bigint datum_begin_geldigheid:date datum_einde_geldigheid:date concept:boolean uuid:uuid identificatie
    zaaktype_omschrijving zaaktype_omschrijving_generiek vertrouwelijkheidaanduiding doel aanleiding toelichting
    indicatie_intern_of_extern handeling_initiator onderwerp handeling_behandelaar doorlooptijd_behandeling:interval
    servicenorm_behandeling:interval opschorting_en_aanhouding_mogelijk:boolean verlenging_mogelijk:boolean
    verlengingstermijn:interval trefwoorden:text[] publicatie_indicatie:boolean publicatietekst
    verantwoordingsrelatie:text[] versiedatum:date producten_of_diensten:text[] selectielijst_procestype
    referentieproces_naam referentieproces_link catalogus_id:bigint selectielijst_procestype_jaar:integer _etag
    verantwoordelijke broncatalogus_domein broncatalogus_rsin broncatalogus_url bronzaaktype_identificatie
    bronzaaktype_omschrijving bronzaaktype_url`,
  catalogi_zaaktype_deelzaaktypen: `
    id:bigint from_zaaktype_id:bigint to_zaaktype_id:bigint`,
  catalogi_zaaktypeinformatieobjecttype: `
    id:bigint uuid:uuid volgnummer:integer richting informatieobjecttype_id:bigint statustype_id:bigint
    zaaktype_id:bigint _etag`,
  catalogi_zaaktypenrelatie: `
    id:bigint gerelateerd_zaaktype aard_relatie toelichting zaaktype_id:bigint`,
  datamodel_kanaal: `
    id:bigint uuid:uuid naam documentatie_link filters:text[]`,
  datamodel_abonnement: `
    id:bigint uuid:uuid callback_url auth client_id auth_type secret oauth2_token_url oauth2_scope
    send_cloudevents:boolean client_certificate_id:bigint`,
  datamodel_filtergroup: `
    id:bigint abonnement_id:bigint kanaal_id:bigint`,
  datamodel_filter: `
    id:bigint key value filter_group_id:bigint`,
  datamodel_cloudeventfiltergroup: `
    id:bigint abonnement_id:bigint type_substring`,
  django_site: `
    id:bigint domain name`,
  documenten_bestandsdeel: `
    id:bigint uuid:uuid volgnummer:integer omvang:integer inhoud informatieobject_id:bigint
    informatieobject_uuid:uuid datetime_created:timestamptz _voltooid:boolean`,
  documenten_enkelvoudiginformatieobject: `
    id:bigint identificatie bronorganisatie creatiedatum:date titel vertrouwelijkheidaanduiding auteur status
    beschrijving ontvangstdatum:date verzenddatum:date indicatie_gebruiksrecht:boolean ondertekening_soort
    ondertekening_datum:date uuid:uuid formaat taal bestandsnaam inhoud link integriteit_algoritme
    integriteit_waarde integriteit_datum:date versie:integer begin_registratie:timestamptz
    _informatieobjecttype_id:bigint canonical_id:bigint bestandsomvang:integer
    _informatieobjecttype_base_url_id:bigint _informatieobjecttype_relative_url verschijningsvorm trefwoorden:text[]`,
  documenten_enkelvoudiginformatieobjectcanonical: `
    id:bigint lock latest_version_id:bigint`,
  documenten_gebruiksrechten: `
    id:bigint uuid:uuid omschrijving_voorwaarden startdatum:timestamptz einddatum:timestamptz
    informatieobject_id:bigint`,
  documenten_objectinformatieobject: `
    id:bigint uuid:uuid object_type _besluit_id:bigint _zaak_id:bigint informatieobject_id:bigint
    _object_base_url_id:bigint _object_relative_url`,
  documenten_reserveddocument: `
    id:bigint identificatie bronorganisatie date_created:timestamptz`,
  documenten_verzending: `
    id:bigint uuid:uuid betrokkene aard_relatie telefoonnummer faxnummer emailadres mijn_overheid:boolean
    toelichting ontvangstdatum:date verzenddatum:date contact_persoon contactpersoonnaam
    binnenlands_correspondentieadres_huisletter binnenlands_correspondentieadres_huisnummer:integer
    binnenlands_correspondentieadres_huisnummer_toevoeging binnenlands_correspondentieadres_naam_openbare_ruimte
    binnenlands_correspondentieadres_postcode binnenlands_correspondentieadres_woonplaatsnaam
    buitenlands_correspondentieadres_adres_buitenland_1 buitenlands_correspondentieadres_adres_buitenland_2
    buitenlands_correspondentieadres_adres_buitenland_3 buitenlands_correspondentieadres_land_postadres
    correspondentie_postadres_postbus_of_antwoord_nummer:integer correspondentie_postadres_postcode
    correspondentie_postadres_postadrestype correspondentie_postadres_woonplaatsnaam informatieobject_id:bigint`,
  vng_api_common_jwtsecret: `
    id:bigint identifier secret`,
  zaken_adres: `
    id:bigint identificatie wpl_woonplaats_naam gor_openbare_ruimte_naam huisnummer:integer huisletter
    huisnummertoevoeging postcode num_identificatie locatie_omschrijving locatie_aanduiding
    natuurlijkpersoon_id:bigint terreingebouwdobject_id:bigint vestiging_id:bigint wozobject_id:bigint
    zaakobject_id:bigint nietnatuurlijkpersoon_id:bigint`,
  zaken_buurt: `
    id:bigint buurt_code buurt_naam gem_gemeente_code wyk_wijk_code zaakobject_id:bigint`,
  zaken_gemeente: `
    id:bigint gemeente_naam gemeente_code zaakobject_id:bigint`,
  zaken_gemeentelijkeopenbareruimte: `
    id:bigint identificatie openbare_ruimte_naam zaakobject_id:bigint`,
  zaken_huishouden: `
    id:bigint nummer zaakobject_id:bigint`,
  zaken_inrichtingselement: `
    id:bigint type identificatie naam zaakobject_id:bigint`,
  zaken_kadastraleonroerendezaak: `
    id:bigint kadastrale_identificatie kadastrale_aanduiding zaakobject_id:bigint zakelijk_recht_id:bigint`,
  zaken_klantcontact: `
    id:bigint uuid:uuid identificatie datumtijd:timestamptz kanaal onderwerp toelichting zaak_id:bigint`,
  zaken_kunstwerkdeel: `
    id:bigint type identificatie naam zaakobject_id:bigint`,
  zaken_maatschappelijkeactiviteit: `
    id:bigint kvk_nummer handelsnaam zaakobject_id:bigint`,
  zaken_medewerker: `
    id:bigint identificatie achternaam voorletters voorvoegsel_achternaam rol_id:bigint zaakobject_id:bigint`,
  zaken_natuurlijkpersoon: `
    id:bigint inp_bsn anp_identificatie inp_a_nummer geslachtsnaam voorvoegsel_geslachtsnaam voorletters voornamen
    geslachtsaanduiding geboortedatum rol_id:bigint zaakobject_id:bigint
    zakelijk_rechtHeeft_als_gerechtigde_id:bigint`,
  zaken_nietnatuurlijkpersoon: `
    id:bigint inn_nnp_id ann_identificatie statutaire_naam inn_rechtsvorm bezoekadres rol_id:bigint
    zaakobject_id:bigint zakelijk_rechtHeeft_als_gerechtigde_id:bigint kvk_nummer vestigings_nummer`,
  zaken_openbareruimte: `
    id:bigint identificatie wpl_woonplaats_naam gor_openbare_ruimte_naam zaakobject_id:bigint`,
  zaken_organisatorischeeenheid: `
    id:bigint identificatie naam is_gehuisvest_in rol_id:bigint zaakobject_id:bigint`,
  zaken_overige: `
    id:bigint overige_data:jsonb zaakobject_id:bigint`,
  zaken_pand: `
    id:bigint identificatie zaakobject_id:bigint`,
  zaken_relevantezaakrelatie: `
    id:bigint aard_relatie _relevant_zaak_id:bigint zaak_id:bigint _relevant_zaak_base_url_id:bigint
    _relevant_zaak_relative_url overige_relatie toelichting`,
  zaken_resultaat: `
    id:bigint uuid:uuid toelichting _resultaattype_id:bigint zaak_id:bigint _etag _resultaattype_base_url_id:bigint
    _resultaattype_relative_url`,
  zaken_rol: `
    id:bigint uuid:uuid betrokkene betrokkene_type omschrijving omschrijving_generiek roltoelichting
    registratiedatum:timestamptz indicatie_machtiging _roltype_id:bigint zaak_id:bigint _etag
    _roltype_base_url_id:bigint _roltype_relative_url afwijkende_naam_betrokkene contactpersoon_rol_emailadres
    contactpersoon_rol_functie contactpersoon_rol_naam contactpersoon_rol_telefoonnummer authenticatie_context:jsonb
    begin_geldigheid:date einde_geldigheid:date`,
  zaken_spoorbaandeel: `
    id:bigint type identificatie naam zaakobject_id:bigint`,
  zaken_status: `
    id:bigint uuid:uuid datum_status_gezet:timestamptz statustoelichting _statustype_id:bigint zaak_id:bigint _etag
    _statustype_base_url_id:bigint _statustype_relative_url gezetdoor_id:bigint`,
  zaken_substatus: `
    id:bigint uuid:uuid tijdstip:timestamptz omschrijving doelgroep status_id:bigint zaak_id:bigint`,
  zaken_subverblijfbuitenland: `
    id:bigint lnd_landcode lnd_landnaam sub_adres_buitenland_1 sub_adres_buitenland_2 sub_adres_buitenland_3
    natuurlijkpersoon_id:bigint nietnatuurlijkpersoon_id:bigint vestiging_id:bigint`,
  zaken_terreindeel: `
    id:bigint type identificatie naam zaakobject_id:bigint`,
  zaken_terreingebouwdobject: `
    id:bigint identificatie huishouden_id:bigint zaakobject_id:bigint`,
  zaken_vestiging: `
    id:bigint vestigings_nummer handelsnaam:text[] rol_id:bigint zaakobject_id:bigint kvk_nummer`,
  zaken_waterdeel: `
    id:bigint type_waterdeel identificatie naam zaakobject_id:bigint`,
  zaken_wegdeel: `
    id:bigint type identificatie naam zaakobject_id:bigint`,
  zaken_wijk: `
    id:bigint wijk_code wijk_naam gem_gemeente_code zaakobject_id:bigint`,
  zaken_woonplaats: `
    id:bigint identificatie woonplaats_naam zaakobject_id:bigint`,
  zaken_wozdeelobject: `
    id:bigint nummer_woz_deel_object zaakobject_id:bigint`,
  zaken_wozobject: `
    id:bigint woz_object_nummer woz_deelobject_id:bigint woz_warde_id:bigint zaakobject_id:bigint`,
  zaken_wozwaarde: `
    id:bigint waardepeildatum zaakobject_id:bigint`,
  zaken_zaak: `
    id:bigint uuid:uuid identificatie bronorganisatie omschrijving toelichting registratiedatum:date
    verantwoordelijke_organisatie startdatum:date einddatum:date einddatum_gepland:date
    uiterlijke_einddatum_afdoening:date publicatiedatum:date producten_of_diensten:text[] communicatiekanaal
    vertrouwelijkheidaanduiding betalingsindicatie laatste_betaaldatum:timestamptz zaakgeometrie verlenging_reden
    verlenging_duur:interval opschorting_indicatie:boolean opschorting_reden selectielijstklasse archiefnominatie
    archiefstatus archiefactiedatum:date _zaaktype_id:bigint hoofdzaak_id:bigint _etag opdrachtgevende_organisatie
    _zaaktype_base_url_id:bigint _zaaktype_relative_url identificatie_ptr_id:bigint processobject_datumkenmerk
    processobject_identificatie processobject_objecttype processobject_registratie processobjectaard
    startdatum_bewaartermijn:date created_on:timestamptz communicatiekanaal_naam
    opschorting_eerdere_opschorting:boolean laatst_gemuteerd:timestamptz laatst_geopend:timestamptz`,
  zaken_zaakbesluit: `
    id:bigint uuid:uuid _besluit_id:bigint zaak_id:bigint _besluit_base_url_id:bigint _besluit_relative_url`,
  zaken_zaakcontactmoment: `
    id:bigint uuid:uuid contactmoment _objectcontactmoment zaak_id:bigint`,
  zaken_zaakeigenschap: `
    id:bigint uuid:uuid _naam waarde _eigenschap_id:bigint zaak_id:bigint _etag _eigenschap_base_url_id:bigint
    _eigenschap_relative_url`,
  zaken_zaakidentificatie: `
    id:bigint identificatie bronorganisatie`,
  zaken_zaakinformatieobject: `
    id:bigint uuid:uuid aard_relatie titel beschrijving registratiedatum:timestamptz _objectinformatieobject_url
    _informatieobject_id:bigint zaak_id:bigint _etag _informatieobject_base_url_id:bigint
    _informatieobject_relative_url status_id:bigint vernietigingsdatum:timestamptz`,
  zaken_zaakkenmerk: `
    id:bigint kenmerk bron zaak_id:bigint`,
  zaken_zaaknotitie: `
    id:bigint uuid:uuid onderwerp tekst aangemaakt_door notitie_type status aanmaakdatum:timestamptz
    wijzigingsdatum:timestamptz gerelateerd_aan_id:bigint`,
  zaken_zaakobject: `
    id:bigint uuid:uuid object relatieomschrijving object_type object_type_overige zaak_id:bigint
    object_type_overige_definitie:jsonb _zaakobjecttype_id:bigint _zaakobjecttype_base_url_id:bigint
    _zaakobjecttype_relative_url`,
  zaken_zaakrelatie: `
    id:bigint _gerelateerde_zaak_relative_url _gerelateerde_zaak_id:bigint _gerelateerde_zaak_base_url_id:bigint
    zaak_id:bigint`,
  zaken_zaakverzoek: `
    id:bigint uuid:uuid verzoek _objectverzoek zaak_id:bigint`,
  zaken_zakelijkrecht: `
    id:bigint identificatie avg_aard zaakobject_id:bigint`,
  zaken_zakelijkrechtheeftalsgerechtigde: `
    id:bigint zakelijk_recht_id:bigint`,
  zgw_consumers_service: `
    id:bigint label api_type api_root client_id secret auth_type header_key header_value nlx user_id
    user_representation client_certificate_id:bigint server_certificate_id:bigint uuid:uuid timeout
    api_connection_check_path slug jwt_valid_for oauth2_scope oauth2_token_url`,
}

/** Statements that make the tables, with the keys and indexes by which they are read. */
export function createTables(): string {
  const statements = Object.entries(TABLES).map(([table, words]) => {
    const columns = words
      .trim()
      .split(/\s+/)
      .map((word) => {
        const [name, type = 'text'] = word.split(':')
        return `"${name}" ${type}`
      })
    const key = table === 'zaken_zaak' ? 'identificatie_ptr_id' : 'id'
    const indexed = columns
      .map((column) => /^"(.+_id)" bigint$/.exec(column)?.[1])
      .filter((name) => name !== undefined && name !== key)
      .map((name) => `create index on ${table} ("${name}");`)
    return `create table ${table} (${columns.join(', ')}, primary key (${key})); ${indexed.join(' ')}`
  })
  return statements.join('\n')
}
