-- no-transaction
-- Indexes for the filters and orders of long lists, made beside what goes on. An operator notices that this takes a minute or
-- two with a million cases, and some 400 MB. What they cost: a new case 25 µs more (its dates are added at the right end, a
-- text waits in the pending list of its index), a status 5 µs, a rol 10 µs, a document 30 µs.

-- Orders by date; equal dates by age, as the list does.
drop index concurrently if exists zaak_einddatum_id_idx;
create index concurrently zaak_einddatum_id_idx on zaak (einddatum, id);
drop index concurrently if exists zaak_publicatiedatum_id_idx;
create index concurrently zaak_publicatiedatum_id_idx on zaak (publicatiedatum, id);
drop index concurrently if exists zaak_registratiedatum_id_idx;
create index concurrently zaak_registratiedatum_id_idx on zaak (registratiedatum, id);
drop index concurrently if exists zaak_archiefactiedatum_id_idx;
create index concurrently zaak_archiefactiedatum_id_idx on zaak (archiefactiedatum, id);
drop index concurrently if exists zaak_startdatum_id_idx;
create index concurrently zaak_startdatum_id_idx on zaak (startdatum, id);
drop index concurrently if exists zaak_archiefactiedatum_idx;
drop index concurrently if exists zaak_startdatum_idx;
drop index concurrently if exists zaak_einddatum_gepland_idx;
create index concurrently zaak_einddatum_gepland_idx on zaak (einddatum_gepland) where einddatum_gepland is not null;
drop index concurrently if exists zaak_uiterlijke_einddatum_afdoening_idx;
create index concurrently zaak_uiterlijke_einddatum_afdoening_idx on zaak (uiterlijke_einddatum_afdoening)
  where uiterlijke_einddatum_afdoening is not null;

drop index concurrently if exists zaak_archiefstatus_id_idx;
create index concurrently zaak_archiefstatus_id_idx on zaak (archiefstatus, id) where archiefstatus <> 'nog_te_archiveren';

-- Statuses by moment, for a statustype too; and the cases whose last status is of a statustype.
drop index concurrently if exists status_datum_status_gezet_id_idx;
create index concurrently status_datum_status_gezet_id_idx on status (datum_status_gezet, id);
drop index concurrently if exists status_statustype_id_datum_status_gezet_id_idx;
create index concurrently status_statustype_id_datum_status_gezet_id_idx on status (statustype_id, datum_status_gezet, id);
drop index concurrently if exists status_statustype_id_idx;
drop index concurrently if exists status_laatst_idx;
create index concurrently status_laatst_idx on status (statustype_id, zaak_id) where laatst;

-- Cases by who is involved are counted in the index alone. Where the case is not in it such an index is small, because equal
-- values are kept once.
drop index concurrently if exists rol_betrokkene_type_zaak_id_idx;
create index concurrently rol_betrokkene_type_zaak_id_idx on rol (betrokkene_type, zaak_id);
drop index concurrently if exists rol_omschrijving_generiek_zaak_id_idx;
create index concurrently rol_omschrijving_generiek_zaak_id_idx on rol (omschrijving_generiek, zaak_id);
drop index concurrently if exists rol_omschrijving_idx;
create index concurrently rol_omschrijving_idx on rol (omschrijving);
drop index concurrently if exists rol_indicatie_machtiging_idx;
create index concurrently rol_indicatie_machtiging_idx on rol (indicatie_machtiging) where indicatie_machtiging <> '';
drop index concurrently if exists rol_level_of_assurance_idx;
create index concurrently rol_level_of_assurance_idx on rol ((authenticatie_context ->> 'levelOfAssurance'))
  where authenticatie_context is not null;
drop index concurrently if exists rol_anp_identificatie_idx;
create index concurrently rol_anp_identificatie_idx on rol ((betrokkene_identificatie ->> 'anpIdentificatie'))
  where betrokkene_identificatie ->> 'anpIdentificatie' <> '';
drop index concurrently if exists rol_ann_identificatie_idx;
create index concurrently rol_ann_identificatie_idx on rol ((betrokkene_identificatie ->> 'annIdentificatie'))
  where betrokkene_identificatie ->> 'annIdentificatie' <> '';
drop index concurrently if exists rol_inp_a_nummer_idx;
create index concurrently rol_inp_a_nummer_idx on rol ((betrokkene_identificatie ->> 'inpA_nummer'))
  where betrokkene_identificatie ->> 'inpA_nummer' <> '';
drop index concurrently if exists zaakobject_object_type_idx;
create index concurrently zaakobject_object_type_idx on zaakobject (object_type);

-- Documents by what a list can be ordered by.
drop index concurrently if exists enkelvoudiginformatieobject_versie_auteur_idx;
create index concurrently enkelvoudiginformatieobject_versie_auteur_idx
  on enkelvoudiginformatieobject_versie (auteur, enkelvoudiginformatieobject_id);
drop index concurrently if exists enkelvoudiginformatieobject_versie_bestandsomvang_idx;
create index concurrently enkelvoudiginformatieobject_versie_bestandsomvang_idx
  on enkelvoudiginformatieobject_versie (bestandsomvang, enkelvoudiginformatieobject_id);
drop index concurrently if exists enkelvoudiginformatieobject_versie_formaat_idx;
create index concurrently enkelvoudiginformatieobject_versie_formaat_idx
  on enkelvoudiginformatieobject_versie (formaat, enkelvoudiginformatieobject_id);
drop index concurrently if exists enkelvoudiginformatieobject_versie_status_idx;
create index concurrently enkelvoudiginformatieobject_versie_status_idx
  on enkelvoudiginformatieobject_versie (status, enkelvoudiginformatieobject_id);

-- What PostgreSQL does not know of a value within JSON: how many different there are. It expected thousands of rows for one BSN.
drop statistics if exists rol_identificaties;
create statistics rol_identificaties on (betrokkene_identificatie ->> 'inpBsn'), (betrokkene_identificatie ->> 'innNnpId'),
  (betrokkene_identificatie ->> 'kvkNummer'), (betrokkene_identificatie ->> 'vestigingsNummer'),
  (betrokkene_identificatie ->> 'identificatie') from rol;
analyze rol, status;
