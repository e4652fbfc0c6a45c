-- Zaken: cases and all that hangs on them.
--
-- A row of one zaak is locked for every change below it, so that it cannot close halfway and its rules hold without more
-- constraints than stand here. Geometry is GeoJSON with its bounding box beside it: the box finds candidates in an index, the
-- program judges them exactly.
--
-- A type (or document, or besluit) is one of ours or stands at another server: then the row has its URL instead of a
-- reference, and beside it what the case needs of it later, so that nothing has to be asked while rows are locked.

create table zaak (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint zaak_uuid_unique unique,
  identificatie text not null, bronorganisatie text not null,
  omschrijving text not null default '', toelichting text not null default '',
  zaaktype_id bigint references zaaktype,
  zaaktype_url text, zaaktype_catalogus_url text, zaaktype_identificatie text, zaaktype_omschrijving text,
  registratiedatum date not null default today('Europe/Amsterdam'),
  verantwoordelijke_organisatie text not null, startdatum date not null,
  einddatum date, einddatum_gepland date, uiterlijke_einddatum_afdoening date, publicatiedatum date,
  laatst_gemuteerd timestamptz not null default now(), laatst_geopend timestamptz,
  communicatiekanaal text not null default '', communicatiekanaal_naam text not null default '',
  producten_of_diensten text[] not null default '{}',
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  betalingsindicatie text not null default '', laatste_betaaldatum timestamptz,
  zaakgeometrie jsonb, zaakgeometrie_grenzen box,
  verlenging_reden text not null default '', verlenging_duur text,
  opschorting_indicatie boolean not null default false, opschorting_reden text not null default '',
  opschorting_eerdere boolean not null default false, selectielijstklasse text not null default '',
  hoofdzaak_id bigint references zaak on delete cascade,
  kenmerken jsonb not null default '[]',
  archiefnominatie text constraint zaak_archiefnominatie_check check (archiefnominatie in ('blijvend_bewaren', 'vernietigen')),
  archiefstatus text not null default 'nog_te_archiveren' constraint zaak_archiefstatus_check
      check (archiefstatus in ('nog_te_archiveren', 'gearchiveerd', 'gearchiveerd_procestermijn_onbekend', 'overgedragen')),
  archiefactiedatum date, startdatum_bewaartermijn date,
  opdrachtgevende_organisatie text not null default '', processobjectaard text not null default '',
  processobject_datumkenmerk text not null default '', processobject_identificatie text not null default '',
  processobject_objecttype text not null default '', processobject_registratie text not null default '',
  duplicate integer not null default 0,
  constraint zaak_identificatie_unique unique (identificatie, bronorganisatie, duplicate),
  constraint zaak_not_own_hoofdzaak check (hoofdzaak_id <> id),
  constraint zaak_one_zaaktype check (num_nonnulls(zaaktype_id, zaaktype_url) = 1),
  constraint zaak_data_of_type_elsewhere check (
    num_nonnulls(zaaktype_catalogus_url, zaaktype_identificatie, zaaktype_omschrijving)
      = case when zaaktype_url is null then 0 else 3 end),
  constraint zaak_verlenging_duur_is_term check (is_term(verlenging_duur, 100))
);
create index zaak_hoofdzaak_id_idx on zaak (hoofdzaak_id) where hoofdzaak_id is not null;
create index zaak_kenmerken_idx on zaak using gin (kenmerken jsonb_path_ops) where kenmerken <> '[]';
-- Points in an area are found in this index alone, rights included.
create index zaak_zaakgeometrie_grenzen_idx on zaak using gist (zaakgeometrie_grenzen) include (id, zaaktype_id, vertrouwelijkheidaanduiding)
  where zaakgeometrie_grenzen is not null;
create index zaak_zaaktype_url_vertrouwelijkheidaanduiding_id_idx on zaak (zaaktype_url, vertrouwelijkheidaanduiding, id)
  where zaaktype_url is not null;
-- Orders by date; equal dates by age, as the list does.
create index zaak_einddatum_id_idx on zaak (einddatum, id);
create index zaak_publicatiedatum_id_idx on zaak (publicatiedatum, id);
create index zaak_registratiedatum_id_idx on zaak (registratiedatum, id);
create index zaak_archiefactiedatum_id_idx on zaak (archiefactiedatum, id);
create index zaak_startdatum_id_idx on zaak (startdatum, id);
create index zaak_einddatum_gepland_id_idx on zaak (einddatum_gepland, id);
create index zaak_uiterlijke_einddatum_afdoening_id_idx on zaak (uiterlijke_einddatum_afdoening, id);
create index zaak_archiefstatus_id_idx on zaak (archiefstatus, id) where archiefstatus <> 'nog_te_archiveren';
-- For whoever may see some types: what lists count and order by is in the index by which rights find it.
create index zaak_rights_idx on zaak (zaaktype_id, vertrouwelijkheidaanduiding, id)
  include (startdatum, registratiedatum, einddatum, einddatum_gepland, uiterlijke_einddatum_afdoening, publicatiedatum,
    archiefactiedatum);
-- A case is found by any part of its number or of its description, where pg_trgm is available (0004-documenten.sql).
do $$
declare
  place text;
begin
  select n.nspname into place from pg_extension x join pg_namespace n on n.oid = x.extnamespace where x.extname = 'pg_trgm';
  if place is not null then
    execute format($index$create index zaak_search
      on zaak using gin (lower(identificatie || ' ' || omschrijving) %I.gin_trgm_ops)$index$, place);
  end if;
end $$;
select describe('zaak', 'A case (Zaken API, Zaak).',
  'id', 'Internal key; order of lists, newest first.', 'identificatie', 'Number; unique together with bronorganisatie (zrc-002).',
  'bronorganisatie', 'RSIN of the organisation that gave the number.', 'omschrijving', 'Short description.',
  'zaaktype_id', 'The version of the case type, when it is one of ours; it never changes.',
  'zaaktype_url', 'The version of the case type, when it stands elsewhere; rights compare it as it was written.',
  'zaaktype_catalogus_url', 'The catalogue of a type elsewhere: notifications name it.',
  'zaaktype_identificatie', 'identificatie of a type elsewhere, when the case was made.',
  'zaaktype_omschrijving', 'omschrijving of a type elsewhere, when the case was made; lists are filtered by it.',
  'registratiedatum', 'Day of registration.', 'verantwoordelijke_organisatie', 'RSIN of the organisation that is responsible.',
  'startdatum', 'Day on which the work began or will begin.', 'einddatum', 'Day on which it was closed; empty: open. Only statuses set it.',
  'laatst_gemuteerd', 'Last change of the case, its statuses, result, documents or objects.',
  'laatst_geopend', 'When someone last opened it, as a client says.', 'communicatiekanaal', 'URL of the channel through which it came.',
  'communicatiekanaal_naam', 'Name of that channel.',
  'producten_of_diensten', 'URLs of products or services, out of those of the case type (zrc-015).',
  'vertrouwelijkheidaanduiding', 'Confidentiality; rights compare it.', 'zaakgeometrie', 'Where it is about: GeoJSON in EPSG:4326.',
  'zaakgeometrie_grenzen', 'The smallest box around zaakgeometrie, for searches.', 'verlenging_reden', 'Why it was prolonged.',
  'opschorting_indicatie', 'Whether it is suspended.', 'opschorting_reden', 'Why.',
  'opschorting_eerdere', 'Whether it ever was suspended; never goes back to false.',
  'selectielijstklasse', 'URL of the selectielijst result.',
  'hoofdzaak_id', 'The case that this one is part of; it is no part itself (zrc-013). Deleted with it (zrc-023).',
  'kenmerken', 'Marks from other systems: [{"kenmerk", "bron"}].', 'archiefnominatie', 'Keep for good, or destroy.',
  'archiefstatus', 'How far archiving is; other than nog_te_archiveren locks what hangs on the case.',
  'startdatum_bewaartermijn', 'Day on which the term before archiefactiedatum begins.',
  'opdrachtgevende_organisatie', 'RSIN of the organisation that commissioned it.',
  'processobject_datumkenmerk', 'Attribute of the process object that holds the end date.',
  'processobject_identificatie', 'Number of the process object.',
  'duplicate', '0, or the place among cases that were taken over with the same number.');

create table zaak_andere_zaak (
  zaak_id bigint not null references zaak on delete cascade,
  place integer not null,
  andere_zaak_id bigint references zaak on delete cascade,
  andere_zaak_url text,
  aard_relatie text not null
    constraint zaak_andere_zaak_aard_relatie_check check (aard_relatie in ('vervolg', 'onderwerp', 'bijdrage', 'overig')),
  overige_relatie text not null default '', toelichting text not null default '',
  primary key (zaak_id, place),
  constraint zaak_andere_zaak_one_zaak check (num_nonnulls(andere_zaak_id, andere_zaak_url) = 1)
);
create index zaak_andere_zaak_andere_zaak_id_idx on zaak_andere_zaak (andere_zaak_id) where andere_zaak_id is not null;
select describe('zaak_andere_zaak', 'relevanteAndereZaken: cases that matter to a case.',
  'place', 'Position in the list.', 'andere_zaak_id', 'The other case when it is one of ours.',
  'andere_zaak_url', 'URL of the other case when it stands elsewhere.', 'aard_relatie', 'What the other case is to this one.',
  'overige_relatie', 'The relation in words, where aard_relatie is overig.');

create table zaak_gerelateerde_zaak (
  id bigint generated always as identity primary key,
  zaak_id bigint not null references zaak on delete cascade,
  andere_zaak_id bigint references zaak on delete cascade,
  andere_zaak_url text,
  constraint zaak_gerelateerde_zaak_one_zaak check (num_nonnulls(andere_zaak_id, andere_zaak_url) = 1),
  constraint zaak_gerelateerde_zaak_unique unique nulls not distinct (zaak_id, andere_zaak_id, andere_zaak_url)
);
create index zaak_gerelateerde_zaak_andere_zaak_id_idx on zaak_gerelateerde_zaak (andere_zaak_id) where andere_zaak_id is not null;
select describe('zaak_gerelateerde_zaak', 'gerelateerdeZaken: two of our own have a row each way.',
  'id', 'Internal key; order in the list.', 'andere_zaak_id', 'The other case when it is one of ours.',
  'andere_zaak_url', 'URL of the other case when it stands elsewhere.');

create function concat_names(party jsonb) returns text language sql immutable parallel safe
return coalesce(party ->> 'statutaireNaam', '') || ' ' || coalesce(party ->> 'naam', '') || ' '
  || coalesce(party ->> 'handelsnaam', '') || ' ';
comment on function concat_names is 'The names of an organisation, a vestiging or a part of an organisation, as one text.';

create table rol (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint rol_uuid_unique unique,
  zaak_id bigint not null references zaak on delete cascade,
  betrokkene text not null default '',
  betrokkene_type text not null constraint rol_betrokkene_type_check check (betrokkene_type in
    ('natuurlijk_persoon', 'niet_natuurlijk_persoon', 'vestiging', 'organisatorische_eenheid', 'medewerker')),
  betrokkene_identificatie jsonb, afwijkende_naam_betrokkene text not null default '',
  roltype_id bigint references roltype,
  roltype_url text, omschrijving text not null, omschrijving_generiek text not null,
  roltoelichting text not null default '', registratiedatum timestamptz not null default now(),
  indicatie_machtiging text not null default '', contactpersoon_rol jsonb,
  begin_geldigheid date, einde_geldigheid date, authenticatie_context jsonb,
  inp_bsn_lookup bytea, anp_identificatie_lookup bytea, inp_a_nummer_lookup bytea,
  constraint rol_one_type check (num_nonnulls(roltype_id, roltype_url) = 1)
);
create index rol_zaak_id_idx on rol (zaak_id);
create index rol_betrokkene_idx on rol (betrokkene) where betrokkene <> '';
-- Numbers of persons are sealed: a row is found by an HMAC of them, and by the number itself as long as it is not sealed yet.
create index rol_inp_bsn_lookup_idx on rol (inp_bsn_lookup) where inp_bsn_lookup is not null;
create index rol_anp_identificatie_lookup_idx on rol (anp_identificatie_lookup) where anp_identificatie_lookup is not null;
create index rol_inp_a_nummer_lookup_idx on rol (inp_a_nummer_lookup) where inp_a_nummer_lookup is not null;
create index rol_inp_bsn_idx on rol ((betrokkene_identificatie ->> 'inpBsn'))
  where inp_bsn_lookup is null and betrokkene_identificatie ->> 'inpBsn' <> '';
create index rol_inn_nnp_id_idx on rol ((betrokkene_identificatie ->> 'innNnpId')) where betrokkene_identificatie ->> 'innNnpId' <> '';
create index rol_kvk_nummer_idx on rol ((betrokkene_identificatie ->> 'kvkNummer')) where betrokkene_identificatie ->> 'kvkNummer' <> '';
create index rol_vestigings_nummer_idx on rol ((betrokkene_identificatie ->> 'vestigingsNummer'))
  where betrokkene_identificatie ->> 'vestigingsNummer' <> '';
create index rol_identificatie_idx on rol ((betrokkene_identificatie ->> 'identificatie'))
  where betrokkene_identificatie ->> 'identificatie' <> '';
create index rol_roltype_url_idx on rol (roltype_url) where roltype_url is not null;
-- Cases by who is involved are counted in the index alone. Where the case is not in it such an index is small, because equal
-- values are kept once.
create index rol_betrokkene_type_zaak_id_idx on rol (betrokkene_type, zaak_id);
create index rol_omschrijving_generiek_zaak_id_idx on rol (omschrijving_generiek, zaak_id);
create index rol_omschrijving_idx on rol (omschrijving);
create index rol_indicatie_machtiging_idx on rol (indicatie_machtiging) where indicatie_machtiging <> '';
create index rol_level_of_assurance_idx on rol ((authenticatie_context ->> 'levelOfAssurance')) where authenticatie_context is not null;
create index rol_anp_identificatie_idx on rol ((betrokkene_identificatie ->> 'anpIdentificatie'))
  where anp_identificatie_lookup is null and betrokkene_identificatie ->> 'anpIdentificatie' <> '';
create index rol_ann_identificatie_idx on rol ((betrokkene_identificatie ->> 'annIdentificatie'))
  where betrokkene_identificatie ->> 'annIdentificatie' <> '';
create index rol_inp_a_nummer_idx on rol ((betrokkene_identificatie ->> 'inpA_nummer'))
  where inp_a_nummer_lookup is null and betrokkene_identificatie ->> 'inpA_nummer' <> '';
-- What PostgreSQL does not know of a value within JSON: how many different there are. It expected thousands of rows for one number.
create statistics rol_identificaties on (betrokkene_identificatie ->> 'innNnpId'),
  (betrokkene_identificatie ->> 'kvkNummer'), (betrokkene_identificatie ->> 'vestigingsNummer'),
  (betrokkene_identificatie ->> 'identificatie') from rol;
-- Who is involved and is no natural person is found by any part of a name, as a case is by its description.
do $$
declare
  place text;
begin
  select n.nspname into place from pg_extension x join pg_namespace n on n.oid = x.extnamespace where x.extname = 'pg_trgm';
  if place is not null then
    execute format($index$create index rol_name_search on rol using gin (lower(concat_names(betrokkene_identificatie)
      || afwijkende_naam_betrokkene) %I.gin_trgm_ops)
      where betrokkene_type in ('niet_natuurlijk_persoon', 'vestiging', 'organisatorische_eenheid')$index$, place);
  end if;
end $$;
-- Of a type, in the order of the list and with the case that rights look at.
create index rol_roltype_idx on rol (roltype_id, id) include (zaak_id);
select describe('rol', 'Who is involved in a case, and as what (Zaken API, Rol).',
  'id', 'Internal key; order of lists, newest first.', 'betrokkene', 'URL of who is involved; empty: betrokkene_identificatie says it.',
  'betrokkene_type', 'Kind of who is involved; decides the shape of betrokkene_identificatie.',
  'betrokkene_identificatie', 'Who is involved, complete as the API shows it, but with numbers of persons sealed in their places.',
  'roltype_id', 'As what; a roltype of the zaaktype of the case (zrc-019), when that is one of ours.',
  'roltype_url', 'As what, when the roltype stands elsewhere.', 'omschrijving', 'Name of the roltype when the row was written.',
  'omschrijving_generiek', 'Generic name of the roltype when the row was written.', 'registratiedatum', 'When it was made.',
  'contactpersoon_rol', 'Contact person, as the API shows it.', 'begin_geldigheid', 'First day.', 'einde_geldigheid', 'Last day.',
  'authenticatie_context', 'How who is involved proved himself, as the API shows it, with numbers sealed.',
  'inp_bsn_lookup', 'HMAC of inpBsn under the key that it is sealed with: what it is found by.',
  'anp_identificatie_lookup', 'The same of anpIdentificatie.', 'inp_a_nummer_lookup', 'The same of inpA_nummer.');

create table status (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint status_uuid_unique unique,
  zaak_id bigint not null references zaak on delete cascade,
  statustype_id bigint references statustype,
  statustype_url text, statustype_omschrijving text, is_eindstatus boolean,
  datum_status_gezet timestamptz not null, statustoelichting text not null default '',
  gezetdoor_id bigint references rol on delete set null,
  laatst boolean not null default true,
  constraint status_moment_unique unique (zaak_id, datum_status_gezet),
  constraint status_one_type check (num_nonnulls(statustype_id, statustype_url) = 1),
  constraint status_data_of_type_elsewhere check (
    num_nonnulls(statustype_omschrijving, is_eindstatus) = case when statustype_url is null then 0 else 2 end)
);
create index status_gezetdoor_id_idx on status (gezetdoor_id) where gezetdoor_id is not null;
create index status_statustype_url_idx on status (statustype_url) where statustype_url is not null;
-- Statuses by moment, and the cases whose last status is of a statustype.
create index status_datum_status_gezet_id_idx on status (datum_status_gezet, id);
create index status_laatst_idx on status (statustype_id, zaak_id) where laatst;
-- Of a type, in the order of the list and with the case that rights look at.
create index status_statustype_idx on status (statustype_id, datum_status_gezet, id) include (zaak_id);
select describe('status', 'Stages that a case reached (Zaken API, Status). The one with the highest datum_status_gezet is the current one.',
  'statustype_id', 'The stage; a statustype of the zaaktype of the case (zrc-016), when that is one of ours.',
  'statustype_url', 'The stage, when it stands elsewhere.', 'statustype_omschrijving', 'Name of a stage elsewhere, when it was reached.',
  'is_eindstatus', 'Whether a stage elsewhere is the last of its zaaktype, as that server said when it was reached. Of ours the volgnummer says it.',
  'datum_status_gezet', 'When it was reached.',
  'gezetdoor_id', 'The rol that set it; empty again when that goes, since a status is a fact of its own.',
  'laatst', 'Whether its case has no later status. Kept by triggers.');

create table substatus (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint substatus_uuid_unique unique,
  zaak_id bigint not null references zaak on delete cascade,
  status_id bigint not null references status on delete cascade,
  omschrijving text not null, tijdstip timestamptz not null default now(),
  doelgroep text not null default 'betrokkenen'
);
create index substatus_zaak_id_idx on substatus (zaak_id);
create index substatus_status_id_idx on substatus (status_id);
select describe('substatus', 'A step within a status (Zaken API, SubStatus).',
  'status_id', 'The status that it is a step of.', 'tijdstip', 'When it was reached.');

create table resultaat (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint resultaat_uuid_unique unique,
  zaak_id bigint not null constraint resultaat_zaak_unique unique references zaak on delete cascade,
  resultaattype_id bigint references resultaattype,
  resultaattype_url text, resultaattype_elsewhere jsonb, toelichting text not null default '',
  constraint resultaat_one_type check (num_nonnulls(resultaattype_id, resultaattype_url) = 1),
  constraint resultaat_data_of_type_elsewhere check ((resultaattype_url is null) = (resultaattype_elsewhere is null))
);
create index resultaat_resultaattype_url_idx on resultaat (resultaattype_url) where resultaattype_url is not null;
-- Of a type, in the order of the list and with the case that rights look at: a page is found by walking the index.
create index resultaat_resultaattype_idx on resultaat (resultaattype_id, id) include (zaak_id);
comment on table resultaat is 'Outcome of a case (Zaken API, Resultaat); a case has one at most.';
comment on column resultaat.resultaattype_id is 'The kind of outcome; of the zaaktype of the case (zrc-020), when that is one of ours.';
comment on column resultaat.resultaattype_url is 'The kind of outcome, when it stands elsewhere.';
comment on column resultaat.resultaattype_elsewhere is 'What archiving needs of a kind of outcome elsewhere, as that server said when the outcome was given: {"omschrijving", "archiefnominatie", "archiefactietermijn", "brondatumArchiefprocedure"}.';

create view resultaat_archiving as
  select r.zaak_id,
    coalesce(y.omschrijving, r.resultaattype_elsewhere ->> 'omschrijving') as omschrijving,
    coalesce(y.archiefnominatie, r.resultaattype_elsewhere ->> 'archiefnominatie') as archiefnominatie,
    coalesce(y.archiefactietermijn, r.resultaattype_elsewhere ->> 'archiefactietermijn') as archiefactietermijn,
    coalesce(y.brondatum_afleidingswijze, r.resultaattype_elsewhere #>> '{brondatumArchiefprocedure,afleidingswijze}') as afleidingswijze,
    coalesce(y.brondatum_datumkenmerk, r.resultaattype_elsewhere #>> '{brondatumArchiefprocedure,datumkenmerk}') as datumkenmerk,
    coalesce(y.brondatum_objecttype, r.resultaattype_elsewhere #>> '{brondatumArchiefprocedure,objecttype}') as objecttype,
    coalesce(y.brondatum_procestermijn, r.resultaattype_elsewhere #>> '{brondatumArchiefprocedure,procestermijn}') as procestermijn
  from resultaat r left join resultaattype y on y.id = r.resultaattype_id;
select describe('resultaat_archiving', 'How the outcome of a case has it archived, wherever its resultaattype stands.',
  'omschrijving', 'What the outcome is called.',
  'archiefnominatie', 'Whether the case is kept (blijvend_bewaren) or destroyed (vernietigen).', 'archiefactietermijn', 'After how long.',
  'afleidingswijze', 'How the day is found from which that is counted.',
  'datumkenmerk', 'The name of the date in another register, for some ways.', 'objecttype', 'The kind of object that has that date.',
  'procestermijn', 'The term of the process, for the way termijn.');

create table zaakinformatieobject (
  id bigint generated always as identity primary key,
  uuid uuid not null default uuid_v7() constraint zaakinformatieobject_uuid_unique unique,
  zaak_id bigint not null references zaak on delete cascade,
  enkelvoudiginformatieobject_id bigint references enkelvoudiginformatieobject,
  informatieobject_url text, titel text not null default '', beschrijving text not null default '',
  registratiedatum timestamptz not null default now(), vernietigingsdatum timestamptz,
  status_id bigint references status on delete set null,
  constraint zaakinformatieobject_unique unique (zaak_id, enkelvoudiginformatieobject_id),
  constraint zaakinformatieobject_one_document check (num_nonnulls(enkelvoudiginformatieobject_id, informatieobject_url) = 1)
);
create index zaakinformatieobject_enkelvoudiginformatieobject_id_idx on zaakinformatieobject (enkelvoudiginformatieobject_id);
create index zaakinformatieobject_status_id_idx on zaakinformatieobject (status_id) where status_id is not null;
create unique index zaakinformatieobject_elsewhere_unique on zaakinformatieobject (zaak_id, informatieobject_url)
  where informatieobject_url is not null;
create index zaakinformatieobject_informatieobject_url_idx on zaakinformatieobject (informatieobject_url)
  where informatieobject_url is not null;
select describe('zaakinformatieobject', 'That a document belongs to a case (Zaken API, ZaakInformatieObject); an objectinformatieobject stands beside it (zrc-005).',
  'enkelvoudiginformatieobject_id', 'The document, when it is one of ours; it cannot be deleted while this is here.',
  'titel', 'Name of the document within the case.', 'registratiedatum', 'When it was linked (zrc-004).',
  'status_id', 'The status for which it matters.');

create table zaakeigenschap (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint zaakeigenschap_uuid_unique unique,
  zaak_id bigint not null references zaak on delete cascade,
  eigenschap_id bigint references eigenschap,
  eigenschap_url text, naam text not null, waarde text not null,
  constraint zaakeigenschap_one_type check (num_nonnulls(eigenschap_id, eigenschap_url) = 1)
);
create index zaakeigenschap_zaak_id_idx on zaakeigenschap (zaak_id);
create index zaakeigenschap_eigenschap_id_idx on zaakeigenschap (eigenschap_id);
select describe('zaakeigenschap', 'A value that a case has for an eigenschap of its zaaktype (Zaken API, ZaakEigenschap).',
  'eigenschap_id', 'The eigenschap; of the zaaktype of the case (zrc-018), when that is one of ours.',
  'eigenschap_url', 'The eigenschap, when it stands elsewhere.', 'naam', 'Its name when the row was made.', 'waarde', 'The value.');

create table zaakobject (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint zaakobject_uuid_unique unique,
  zaak_id bigint not null references zaak on delete cascade,
  object text not null default '',
  zaakobjecttype_id bigint references zaakobjecttype,
  zaakobjecttype_url text,
  object_type text not null, object_type_overige text not null default '', object_type_overige_definitie jsonb,
  relatieomschrijving text not null default '', object_identificatie jsonb,
  constraint zaakobject_one_type check (num_nonnulls(zaakobjecttype_id, zaakobjecttype_url) <= 1)
);
create index zaakobject_zaak_id_idx on zaakobject (zaak_id);
create index zaakobject_zaakobjecttype_id_idx on zaakobject (zaakobjecttype_id) where zaakobjecttype_id is not null;
create index zaakobject_object_idx on zaakobject (object) where object <> '';
create index zaakobject_object_type_idx on zaakobject (object_type);
select describe('zaakobject', 'What a case is about (Zaken API, ZaakObject).',
  'id', 'Internal key; order of lists, newest first.', 'object', 'URL of the object; empty: object_identificatie says it.',
  'zaakobjecttype_id', 'The zaakobjecttype, when one of ours was named.',
  'zaakobjecttype_url', 'The zaakobjecttype, when one elsewhere was named.',
  'object_type', 'Kind of object; decides the shape of object_identificatie.',
  'object_type_overige', 'Kind of object in words, where object_type is overige.',
  'object_type_overige_definitie', 'How the data of the object is found and judged, as the API shows it.',
  'object_identificatie', 'The object, complete as the API shows it, with numbers of persons sealed.');

create table zaakbesluit (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint zaakbesluit_uuid_unique unique,
  zaak_id bigint not null constraint zaakbesluit_zaak_exists references zaak,
  besluit_uuid uuid, besluit_url text, ingangsdatum date, vervaldatum date,
  constraint zaakbesluit_one_besluit check (num_nonnulls(besluit_uuid, besluit_url) = 1),
  constraint zaakbesluit_unique unique nulls not distinct (zaak_id, besluit_uuid, besluit_url)
);
create index zaakbesluit_besluit_uuid_idx on zaakbesluit (besluit_uuid) where besluit_uuid is not null;
select describe('zaakbesluit', 'Besluiten of a case (Zaken API, ZaakBesluit). For besluiten of ours the row comes and goes with Besluit.zaak. A case with besluiten is not deleted: the reference does not cascade.',
  'besluit_uuid', 'uuid of the besluit when it is one of ours.', 'besluit_url', 'URL of the besluit when it stands elsewhere.',
  'ingangsdatum', 'Its ingangsdatum: archiving may count from it.', 'vervaldatum', 'Its vervaldatum: archiving may count from it.');

create table klantcontact (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint klantcontact_uuid_unique unique,
  zaak_id bigint not null references zaak on delete cascade,
  identificatie text not null constraint klantcontact_identificatie_unique unique,
  datumtijd timestamptz not null,
  kanaal text not null default '', onderwerp text not null default '',
  toelichting text not null default ''
);
create index klantcontact_zaak_id_idx on klantcontact (zaak_id);
select describe('klantcontact', 'A contact with a customer about a case (Zaken API, KlantContact; deprecated).',
  'identificatie', 'Number, unique over all.', 'datumtijd', 'When it was.', 'kanaal', 'Channel.');

create table zaakcontactmoment (
  id bigint generated always as identity primary key,
  uuid uuid not null default uuid_v7() constraint zaakcontactmoment_uuid_unique unique,
  zaak_id bigint not null references zaak on delete cascade,
  contactmoment text not null,
  constraint zaakcontactmoment_unique unique (zaak_id, contactmoment)
);
create index zaakcontactmoment_contactmoment_idx on zaakcontactmoment (contactmoment);
comment on table zaakcontactmoment is 'A contactmoment about a case (Zaken API, ZaakContactMoment).';
comment on column zaakcontactmoment.contactmoment is 'Its URL.';

create table zaakverzoek (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint zaakverzoek_uuid_unique unique,
  zaak_id bigint not null references zaak on delete cascade,
  verzoek text not null,
  constraint zaakverzoek_unique unique (zaak_id, verzoek)
);
create index zaakverzoek_verzoek_idx on zaakverzoek (verzoek);
comment on table zaakverzoek is 'A verzoek that belongs to a case (Zaken API, ZaakVerzoek).';
comment on column zaakverzoek.verzoek is 'Its URL.';

create table zaaknotitie (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint zaaknotitie_uuid_unique unique,
  zaak_id bigint not null references zaak on delete cascade,
  onderwerp text not null, tekst text not null, aangemaakt_door text not null default '',
  notitie_type text not null default 'intern' constraint zaaknotitie_notitie_type_check check (notitie_type in ('intern', 'extern')),
  status text not null default 'concept' constraint zaaknotitie_status_check check (status in ('concept', 'definitief')),
  aanmaakdatum timestamptz not null default now(),
  wijzigingsdatum timestamptz not null default now()
);
create index zaaknotitie_zaak_id_idx on zaaknotitie (zaak_id);
select describe('zaaknotitie', 'A note on a case (Zaken API 1.7, ZaakNotitie).',
  'tekst', 'The note.', 'aangemaakt_door', 'Who wrote it.', 'status', 'concept or definitief; a definitive note does not change.',
  'aanmaakdatum', 'When it was made.', 'wijzigingsdatum', 'When it last changed.');

create table reserved_zaaknummer (
  bronorganisatie text not null, identificatie text not null,
  reserved_at timestamptz not null default now(),
  primary key (identificatie, bronorganisatie)
);
select describe('reserved_zaaknummer', 'Numbers handed out beforehand; the row goes when a zaak takes the number.',
  'bronorganisatie', 'RSIN of the organisation that asked.', 'identificatie', 'The number.', 'reserved_at', 'When it was handed out.');

-- Numbers of new cases, by choice (ZAAK_IDENTIFICATIE_GENERATOR): the year of the startdatum, with numbers that go on or that begin
-- anew each year, the year of today, or the letters and check digit that UWV uses.
create sequence zaak_nummer;
comment on sequence zaak_nummer is 'Numbers of generated identificaties of zaken; it never goes back, so a number never returns.';
create sequence zaak_nummer_uwv minvalue 0 maxvalue 7019999999;
comment on sequence zaak_nummer_uwv is 'Places in the order of UWV: 702 prefixes, from A to ZZ, of ten million numbers each.';

-- One expression: PostgreSQL puts a function like this into the statement that calls it; one with a FROM is run as a query of
-- its own, which took more time than finding the zaaktype of the case.
create function zaak_identificatie(day date) returns text language sql volatile as $$
  select 'ZAAK-' || to_char(day, 'YYYY') || '-' || to_char(nextval('zaak_nummer'), 'FM9999999990000000000')
$$;
comment on function zaak_identificatie(date) is 'The next generated identificatie, for a zaak of this startdatum.';

create function highest_zaaknummer(day date) returns bigint language sql stable as $$
  select coalesce(max(substring(identificatie from '^ZAAK-\d{4}-(\d{10,18})$')::bigint), 0)
  from (select identificatie from zaak union all select identificatie from reserved_zaaknummer) n
  where identificatie like 'ZAAK-' || to_char(day, 'YYYY') || '-%'
$$;
comment on function highest_zaaknummer is 'The highest number that a zaak of this year has, or that was handed out for one.';

-- A number may be taken already, when cases came from elsewhere with theirs.
create function skip_zaaknummers(day date) returns void language sql volatile as $$
  select nextval('zaak_nummer')
  from generate_series(1, least(highest_zaaknummer(day) - (select last_value from zaak_nummer), 10000000))
$$;
comment on function skip_zaaknummers(date) is 'Moves the sequence of generated numbers past the numbers that zaken of this year have.';

-- Each year counts from where the sequence stood at its first zaak: no create waits for another, and no number returns.
create table zaak_number_year (year integer primary key, starts_after bigint not null);
select describe('zaak_number_year', 'Where the numbers of a year begin, for numbers per year.',
  'year', 'The year.', 'starts_after', 'What is taken off the sequence for a number of this year.');

create function zaak_identificatie_of_year(day date) returns text language plpgsql volatile as $$
declare
  n bigint; start bigint;
begin
  loop
    n := nextval('zaak_nummer');
    select starts_after into start from zaak_number_year where year = extract(year from day);
    if not found then
      insert into zaak_number_year values (extract(year from day), n - 1 - highest_zaaknummer(day)) on conflict do nothing;
      select starts_after into start from zaak_number_year where year = extract(year from day);
    end if;
    exit when n > start;
  end loop;
  return 'ZAAK-' || to_char(day, 'YYYY') || '-' || to_char(n - start, 'FM9999999990000000000');
end $$;
comment on function zaak_identificatie_of_year is 'The next generated identificatie when each year begins at 1, for a zaak of this startdatum.';

create function zaaknummer_uwv_letters(n bigint) returns text language sql immutable as $$
  select case when prefix_at < 26 then chr(65 + prefix_at) else chr(65 + prefix_at / 26 - 1) || chr(65 + prefix_at % 26) end
  from (select (n / 10000000)::integer) as prefix(prefix_at)
$$;
comment on function zaaknummer_uwv_letters is 'The letters before the number at this place in the order of UWV: A to Z, then AA to ZZ.';

-- Letters count as 0 to 25, and each place as much as its number, from the left; the check digit brings the sum to 10 modulo
-- 11. Where it would have to be 10 itself, there is no such number.
create function zaaknummer_uwv(n bigint) returns text language sql immutable as $$
  with number as (select zaaknummer_uwv_letters(n) || lpad((n % 10000000)::text, 7, '0') as body),
  weight as (
    select sum(place * (ascii(sign) - case when sign between '0' and '9' then 48 else 65 end)) as weight
    from number, unnest(string_to_array(body, null)) with ordinality as t(sign, place)
  )
  select (
    select body || digit from generate_series(0, 9) digit
    where (weight + (length(body) + 1) * digit) % 11 = 10
  ) from number, weight
$$;
comment on function zaaknummer_uwv is 'The number at this place in the order of UWV; null where there is none.';

create function zaak_identificatie(day date, way text, current_day date) returns text language plpgsql volatile as $$
declare
  number text;
begin
  if way = 'use-creation-year' then return zaak_identificatie(current_day); end if;
  if way = 'use-number-per-year' then return zaak_identificatie_of_year(day); end if;
  if way <> 'use-uwv-identification' then return zaak_identificatie(day); end if;
  while number is null loop
    number := zaaknummer_uwv(nextval('zaak_nummer_uwv'));
  end loop;
  return number;
end $$;
comment on function zaak_identificatie(date, text, date) is 'The next generated identificatie in this way, for a zaak of this startdatum.';

create function skip_zaaknummers(day date, way text, current_day date) returns void language plpgsql volatile as $$
declare
  last_place bigint;
  letters text;
  highest bigint;
begin
  if way = 'use-creation-year' then perform skip_zaaknummers(current_day); return; end if;
  if way = 'use-number-per-year' then
    update zaak_number_year
    set starts_after = least(starts_after, (select last_value from zaak_nummer) - highest_zaaknummer(day))
    where year = extract(year from day);
    return;
  end if;
  if way <> 'use-uwv-identification' then perform skip_zaaknummers(day); return; end if;
  select last_value into last_place from zaak_nummer_uwv;
  letters := zaaknummer_uwv_letters(last_place);
  select max(substring(identificatie from '^[A-Z]{1,2}(\d{7})\d$')::bigint) into highest
  from zaak where identificatie like letters || '________' and identificatie ~ ('^' || letters || '\d{8}$');
  perform nextval('zaak_nummer_uwv') from generate_series(1, coalesce(highest, 0) - last_place % 10000000);
end $$;
comment on function skip_zaaknummers(date, text, date) is 'Moves the sequence of this way past the numbers that zaken have already.';
