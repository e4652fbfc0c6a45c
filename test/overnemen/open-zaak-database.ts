// A generated installation of Open Zaak: a catalogue, and as many cases as are asked with what hangs on them.
import postgres from 'postgres'
import { createTables, type Version } from './open-zaak-schema.ts'

/** The address by which it names itself in its data. */
export const OLD = 'http://oud.example'
export const RSIN = '517439943'

/** A uuid that says what it is: kind in the first part, number in the last. */
export const uuidOf = (kind: number, n: number): string =>
  `${kind.toString(16).padStart(8, '0')}-0000-4000-8000-${n.toString(16).padStart(12, '0')}`
const sqlUuid = (kind: number, n = 'n') =>
  `('${kind.toString(16).padStart(8, '0')}-0000-4000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`

export const KIND = {
  catalogus: 1,
  zaaktype: 2,
  statustype: 3,
  roltype: 4,
  resultaattype: 5,
  informatieobjecttype: 6,
  besluittype: 7,
  applicatie: 8,
  zaak: 16,
  status: 17,
  rol: 18,
  resultaat: 19,
  document: 20,
  zio: 21,
  oio: 22,
  audit: 23,
  eigenschap: 24,
  other: 32,
} as const

/** Makes the tables and fills them. Every second case is closed; every case has a document when `documents` is so many. */
export async function fillOpenZaak(
  url: string,
  counts: { zaken: number; documents: number; audit?: number; version?: Version },
): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(createTables(counts.version))
    await sql.unsafe(`
      insert into django_site (id, domain, name) values (1, 'oud.example', 'oud');
      insert into zgw_consumers_service (id, uuid, slug, label, api_type, api_root, timeout, jwt_valid_for) values
        (1, '${uuidOf(KIND.other, 99)}', 'elders', 'Elders', 'ztc', 'http://elders.example/catalogi/api/v1/', 10, 43200);
      insert into catalogi_catalogus (id, uuid, domein, rsin, naam, contactpersoon_beheer_naam, versie)
        values (1, '${uuidOf(KIND.catalogus, 1)}', 'TEST', '${RSIN}', 'Test', 'Beheerder', '');
      insert into catalogi_zaaktype (id, uuid, identificatie, zaaktype_omschrijving, zaaktype_omschrijving_generiek,
        vertrouwelijkheidaanduiding, doel, aanleiding, toelichting, indicatie_intern_of_extern, handeling_initiator, onderwerp,
        handeling_behandelaar, doorlooptijd_behandeling, servicenorm_behandeling, opschorting_en_aanhouding_mogelijk,
        verlenging_mogelijk, trefwoorden, publicatie_indicatie, publicatietekst, verantwoordingsrelatie, producten_of_diensten,
        selectielijst_procestype, referentieproces_naam, referentieproces_link, catalogus_id, verantwoordelijke,
        datum_begin_geldigheid, versiedatum, concept)
        select n, ${sqlUuid(KIND.zaaktype)}, 'ZT-' || n, 'Zaaktype ' || n, '', 'openbaar', 'doel', 'aanleiding', '', 'extern',
          'aanvragen', 'onderwerp', 'behandelen', '1 mon 10 days', '00:00:00', false, false, '{}', false, '', '{}', '{}', '',
          'proces', '', 1, 'gemeente', '2020-01-01', '2020-01-01', n = 2 from generate_series(1, 2) n;
      insert into catalogi_statustype (id, uuid, zaaktype_id, statustype_omschrijving, statustype_omschrijving_generiek,
        statustypevolgnummer, informeren, statustekst)
        select n, ${sqlUuid(KIND.statustype)}, (n + 1) / 2, case n % 2 when 1 then 'Begonnen' else 'Klaar' end, '', 2 - n % 2, false, ''
        from generate_series(1, 4) n;
      insert into catalogi_roltype (id, uuid, zaaktype_id, omschrijving, omschrijving_generiek)
        select n, ${sqlUuid(KIND.roltype)}, n, 'Aanvrager', 'initiator' from generate_series(1, 2) n;
      insert into catalogi_eigenschapspecificatie (id, groep, formaat, lengte, kardinaliteit, waardenverzameling)
        values (1, '', 'tekst', '20', '1', '{}');
      insert into catalogi_eigenschap (id, uuid, eigenschapnaam, definitie, toelichting, specificatie_van_eigenschap_id, zaaktype_id)
        values (1, '${uuidOf(KIND.eigenschap, 1)}', 'kleur', 'De kleur', '', 1, 1);
      insert into catalogi_resultaattype (id, uuid, zaaktype_id, omschrijving, resultaattypeomschrijving, omschrijving_generiek,
        selectielijstklasse, archiefnominatie, archiefactietermijn, brondatum_archiefprocedure_afleidingswijze,
        brondatum_archiefprocedure_datumkenmerk, brondatum_archiefprocedure_einddatum_bekend,
        brondatum_archiefprocedure_objecttype, brondatum_archiefprocedure_registratie, toelichting, procesobjectaard)
        select n, ${sqlUuid(KIND.resultaattype)}, n, 'Verleend', 'http://elders.example/omschrijvingen/1', 'Verleend',
          'http://elders.example/resultaten/1', 'vernietigen', '10 years', 'afgehandeld', '', false, '', '', '', ''
        from generate_series(1, 2) n;
      insert into catalogi_informatieobjecttype (id, uuid, catalogus_id, omschrijving, vertrouwelijkheidaanduiding,
        datum_begin_geldigheid, concept, informatieobjectcategorie, trefwoord, omschrijving_generiek_informatieobjecttype,
        omschrijving_generiek_definitie, omschrijving_generiek_herkomst, omschrijving_generiek_hierarchie, omschrijving_generiek_opmerking)
        values (1, '${uuidOf(KIND.informatieobjecttype, 1)}', 1, 'Brief', 'openbaar', '2020-01-01', false, 'brieven', '{a,b}', '', '', '', '', '');
      insert into zaken_zaakidentificatie (id, identificatie, bronorganisatie)
        select n, 'ZAAK-2024-' || lpad(n::text, 10, '0'), '${RSIN}' from generate_series(1, ${counts.zaken}) n;
      insert into zaken_zaak (uuid, identificatie_ptr_id, omschrijving, toelichting, registratiedatum, verantwoordelijke_organisatie,
        startdatum, einddatum, producten_of_diensten, communicatiekanaal, vertrouwelijkheidaanduiding, betalingsindicatie,
        zaakgeometrie, verlenging_reden, opschorting_indicatie, opschorting_reden, selectielijstklasse, archiefstatus,
        _zaaktype_id, opdrachtgevende_organisatie, processobject_datumkenmerk, processobject_identificatie,
        processobject_objecttype, processobject_registratie, processobjectaard, created_on, communicatiekanaal_naam,
        opschorting_eerdere_opschorting, laatst_gemuteerd)
        select ${sqlUuid(KIND.zaak)}, n, 'Zaak ' || n, '', '2024-01-02', '${RSIN}', '2024-01-01',
          case when n % 2 = 0 then date '2024-03-01' end, '{}', '', 'openbaar', '',
          case when n % 10 = 1 then '0101000020E6100000CDCCCCCCCCCC13403333333333334A40' end, '', false, '', '', 'nog_te_archiveren',
          1, '', '', '', '', '', '', now(), '', false, timestamptz '2024-03-01 10:00:00.123456+00' + n * interval '1 second'
        from generate_series(1, ${counts.zaken}) n;
      insert into zaken_rol (id, uuid, zaak_id, betrokkene, betrokkene_type, omschrijving, omschrijving_generiek, roltoelichting,
        registratiedatum, indicatie_machtiging, _roltype_id, afwijkende_naam_betrokkene, contactpersoon_rol_emailadres,
        contactpersoon_rol_functie, contactpersoon_rol_naam, contactpersoon_rol_telefoonnummer)
        select n, ${sqlUuid(KIND.rol)}, n, '', 'natuurlijk_persoon', 'Aanvrager', 'initiator', '', '2024-01-01 09:00+00', '', 1, '', '', '', '', ''
        from generate_series(1, ${counts.zaken}) n;
      insert into zaken_natuurlijkpersoon (id, rol_id, inp_bsn, anp_identificatie, inp_a_nummer, geslachtsnaam,
        voorvoegsel_geslachtsnaam, voorletters, voornamen, geslachtsaanduiding, geboortedatum)
        select n, n, '111222333', '', '', 'Jansen', '', '', '', '', '' from generate_series(1, ${counts.zaken}) n;
      insert into zaken_status (id, uuid, zaak_id, _statustype_id, datum_status_gezet, statustoelichting, gezetdoor_id)
        select n, ${sqlUuid(KIND.status)}, n, 1, timestamptz '2024-01-01 10:00+00', '', n from generate_series(1, ${counts.zaken}) n
        union all
        select ${counts.zaken} + n, ${sqlUuid(KIND.status, `(${counts.zaken} + n)`)}, n, 2, timestamptz '2024-03-01 10:00+00', '', null
        from generate_series(2, ${counts.zaken}, 2) n;
      insert into zaken_resultaat (id, uuid, zaak_id, _resultaattype_id, toelichting)
        select n, ${sqlUuid(KIND.resultaat)}, n, 1, '' from generate_series(2, ${counts.zaken}, 2) n;
      insert into documenten_enkelvoudiginformatieobjectcanonical (id, lock)
        select n, '' from generate_series(1, ${counts.documents}) n;
      insert into documenten_enkelvoudiginformatieobject (id, uuid, canonical_id, versie, begin_registratie, identificatie,
        bronorganisatie, creatiedatum, titel, vertrouwelijkheidaanduiding, auteur, status, beschrijving, ondertekening_soort,
        formaat, taal, bestandsnaam, inhoud, link, integriteit_algoritme, integriteit_waarde, _informatieobjecttype_id,
        bestandsomvang, verschijningsvorm, trefwoorden)
        select n, ${sqlUuid(KIND.document)}, n, 1, '2024-01-01 11:00+00', 'DOCUMENT-2024-' || lpad(n::text, 10, '0'), '${RSIN}',
          '2024-01-01', 'Document ' || n, 'openbaar', 'auteur', 'definitief', '', '', 'text/plain', 'nld', 'brief.txt',
          'uploads/2024/01/' || n || '.bin', '', '', '', 1, 10, '', '{}' from generate_series(1, ${counts.documents}) n;
      insert into zaken_zaakinformatieobject (id, uuid, zaak_id, _informatieobject_id, titel, beschrijving, registratiedatum)
        select n, ${sqlUuid(KIND.zio)}, n, n, '', '', '2024-01-01 12:00+00' from generate_series(1, ${Math.min(counts.zaken, counts.documents)}) n;
      insert into documenten_objectinformatieobject (id, uuid, object_type, _zaak_id, informatieobject_id)
        select n, ${sqlUuid(KIND.oio)}, 'zaak', n, n from generate_series(1, ${Math.min(counts.zaken, counts.documents)}) n;
      insert into audittrails_audittrail (id, uuid, bron, actie, actie_weergave, resultaat, hoofd_object, resource, resource_url,
        aanmaakdatum, nieuw, applicatie_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, toelichting, resource_weergave, logrecord_id)
        select n, ${sqlUuid(KIND.audit)}, 'ZRC', 'create', 'Object aangemaakt', 201, '${OLD}/zaken/api/v1/zaken/' || ${sqlUuid(KIND.zaak)},
          'zaak', '${OLD}/zaken/api/v1/zaken/' || ${sqlUuid(KIND.zaak)}, '2024-01-01 09:00+00',
          jsonb_build_object('url', '${OLD}/zaken/api/v1/zaken/' || ${sqlUuid(KIND.zaak)}), '', 'Portaal', '', '', '', 'Zaak ' || n, ''
        from generate_series(1, ${counts.audit ?? counts.zaken}) n;
      insert into authorizations_applicatie (id, uuid, client_ids, label, heeft_alle_autorisaties) values
        (1, '${uuidOf(KIND.applicatie, 1)}', '{portaal}', 'Portaal', false),
        (2, '${uuidOf(KIND.applicatie, 2)}', '{portaal,Balie}', 'Balie', false);
      insert into authorizations_autorisatie (id, component, zaaktype, scopes, max_vertrouwelijkheidaanduiding, applicatie_id, besluittype, informatieobjecttype) values
        (1, 'zrc', '${OLD}/catalogi/api/v1/zaaktypen/${uuidOf(KIND.zaaktype, 1)}', '{zaken.lezen}', 'zeer_geheim', 1, '', '');
      insert into autorisaties_catalogusautorisatie (id, component, scopes, max_vertrouwelijkheidaanduiding, applicatie_id, catalogus_id)
        values (1, 'drc', '{documenten.lezen}', 'zeer_geheim', 2, 1);
      insert into vng_api_common_jwtsecret (id, identifier, secret) values (1, 'portaal', 'geheim-van-het-portaal-1234567890abcdef'), (2, 'wees', 'x');
    `)
    await sql.unsafe('analyze')
  } finally {
    await sql.end()
  }
}

/** One of every kind that `fillOpenZaak` leaves out, on its first cases and documents: it has to have made two of each. */
export async function fillOtherKinds(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const uuid = (n: number) => `'${uuidOf(KIND.other, n)}'`
  try {
    await sql.unsafe(`
      insert into catalogi_besluittype (id, uuid, catalogus_id, omschrijving, omschrijving_generiek, besluitcategorie,
        reactietermijn, publicatie_indicatie, publicatietekst, toelichting, datum_begin_geldigheid, concept)
        values (1, '${uuidOf(KIND.besluittype, 1)}', 1, 'Vergunning', '', '', 'P14D', false, '', '', '2020-01-01', false);
      insert into catalogi_besluittype_informatieobjecttypen (id, besluittype_id, informatieobjecttype_id) values (1, 1, 1);
      insert into catalogi_besluittype_zaaktypen (id, besluittype_id, zaaktype_id) values (1, 1, 1);
      insert into catalogi_zaaktypeinformatieobjecttype (id, uuid, volgnummer, richting, informatieobjecttype_id, zaaktype_id)
        values (1, ${uuid(1)}, 1, 'inkomend', 1, 1);
      insert into catalogi_zaakobjecttype (id, uuid, ander_objecttype, objecttype, relatie_omschrijving, zaaktype_id,
        datum_begin_geldigheid) values (1, ${uuid(2)}, false, 'pand', 'betreft', 1, '2020-01-01');
      insert into catalogi_zaaktypenrelatie (id, gerelateerd_zaaktype, aard_relatie, toelichting, zaaktype_id)
        values (1, '${OLD}/catalogi/api/v1/zaaktypen/${uuidOf(KIND.zaaktype, 2)}', 'vervolg', '', 1);
      insert into documenten_gebruiksrechten (id, uuid, omschrijving_voorwaarden, startdatum, informatieobject_id)
        values (1, ${uuid(3)}, 'Alleen intern', '2024-01-01 12:00+00', 1);
      update documenten_enkelvoudiginformatieobject set indicatie_gebruiksrecht = true where id = 1;
      insert into documenten_verzending (id, uuid, betrokkene, aard_relatie, telefoonnummer, faxnummer, emailadres,
        mijn_overheid, toelichting, verzenddatum, contact_persoon, contactpersoonnaam,
        buitenlands_correspondentieadres_adres_buitenland_1, buitenlands_correspondentieadres_adres_buitenland_2,
        buitenlands_correspondentieadres_adres_buitenland_3, buitenlands_correspondentieadres_land_postadres,
        informatieobject_id)
        values (1, ${uuid(4)}, 'http://elders.example/personen/1', 'geadresseerde', '', '', 'wie@elders.example', false, '',
          '2024-01-02', 'http://elders.example/personen/2', 'Wie', '', '', '', '', 1);
      insert into documenten_reserveddocument (id, identificatie, bronorganisatie, date_created)
        values (1, 'DOCUMENT-2024-0000000800', '${RSIN}', '2024-01-01 12:00+00');
      update zaken_zaak set hoofdzaak_id = 1 where identificatie_ptr_id = 2;
      insert into zaken_relevantezaakrelatie (id, aard_relatie, _relevant_zaak_id, zaak_id, overige_relatie, toelichting)
        values (1, 'vervolg', 2, 1, '', '');
      insert into zaken_zaakobject (id, uuid, object, relatieomschrijving, object_type, object_type_overige, zaak_id,
        _zaakobjecttype_id) values (1, ${uuid(5)}, '', 'betreft', 'pand', '', 1, 1);
      insert into zaken_pand (id, identificatie, zaakobject_id) values (1, '0363100012061234', 1);
      insert into zaken_zaakeigenschap (id, uuid, _naam, waarde, _eigenschap_id, zaak_id)
        values (1, ${uuid(6)}, 'kleur', 'rood', 1, 1);
      insert into zaken_klantcontact (id, uuid, identificatie, datumtijd, kanaal, onderwerp, toelichting, zaak_id)
        values (1, ${uuid(7)}, 'KC-1', '2024-01-03 12:00+00', 'balie', 'Vraag', '', 1);
      insert into zaken_zaakcontactmoment (id, uuid, contactmoment, _objectcontactmoment, zaak_id)
        values (1, ${uuid(8)}, 'http://elders.example/contactmomenten/1', '', 1);
      insert into zaken_zaakverzoek (id, uuid, verzoek, _objectverzoek, zaak_id)
        values (1, ${uuid(9)}, 'http://elders.example/verzoeken/1', '', 1);
      insert into zaken_zaaknotitie (id, uuid, onderwerp, tekst, aangemaakt_door, notitie_type, status, aanmaakdatum,
        wijzigingsdatum, gerelateerd_aan_id)
        values (1, ${uuid(10)}, 'Let op', 'Bel terug', '', 'intern', 'concept', '2024-01-03 12:00+00', '2024-01-03 12:00+00', 1);
      insert into zaken_substatus (id, uuid, tijdstip, omschrijving, doelgroep, status_id, zaak_id)
        values (1, ${uuid(11)}, '2024-01-01 10:30+00', 'Wacht', 'betrokkenen', 1, 1);
      insert into besluiten_besluit (id, uuid, identificatie, verantwoordelijke_organisatie, datum, toelichting, bestuursorgaan,
        ingangsdatum, vervalreden, _zaakbesluit_url, _besluittype_id, _zaak_id)
        values (1, ${uuid(12)}, 'BESLUIT-2024-0000000007', '${RSIN}', '2024-02-01', '', '', '2024-02-02', '', '', 1, 1);
      insert into besluiten_besluitinformatieobject (id, uuid, _objectinformatieobject_url, _informatieobject_id, besluit_id)
        values (1, ${uuid(13)}, '', 1, 1);
      insert into documenten_objectinformatieobject (id, uuid, object_type, _besluit_id, informatieobject_id)
        select max(id) + 1, ${uuid(14)}, 'besluit', 1, 1 from documenten_objectinformatieobject;
      insert into zaken_zaakbesluit (id, uuid, _besluit_id, zaak_id) values (1, ${uuid(15)}, 1, 1);
      insert into zaken_zaakidentificatie (id, identificatie, bronorganisatie)
        select max(id) + 1, 'ZAAK-2023-0000000500', '${RSIN}' from zaken_zaakidentificatie;
    `)
  } finally {
    await sql.end()
  }
}

/** Removes a case as that program does: with all that hangs on it, and its audit trail. By the number that it was filled with. */
export async function deleteCase(old: postgres.Sql, n: number): Promise<void> {
  await old.unsafe(`
    delete from zaken_natuurlijkpersoon where rol_id in (select id from zaken_rol where zaak_id = ${n});
    delete from zaken_status where zaak_id = ${n};
    delete from zaken_rol where zaak_id = ${n};
    delete from zaken_resultaat where zaak_id = ${n};
    delete from zaken_zaakinformatieobject where zaak_id = ${n};
    delete from documenten_objectinformatieobject where _zaak_id = ${n};
    delete from zaken_relevantezaakrelatie where zaak_id = ${n} or _relevant_zaak_id = ${n};
    delete from zaken_zaakrelatie where zaak_id = ${n} or _gerelateerde_zaak_id = ${n};
    update zaken_zaak set hoofdzaak_id = null where hoofdzaak_id = ${n};
    delete from audittrails_audittrail where right(hoofd_object, 36) = '${uuidOf(KIND.zaak, n)}';
    delete from zaken_zaak where identificatie_ptr_id = ${n};
    delete from zaken_zaakidentificatie where id = ${n};`)
}
