-- Catalogi: the types that cases, documents and decisions have, per catalogue and per version.
--
-- A relation between types of their own (zaaktype, besluittype, informatieobjecttype) points to the version it was written
-- with; it is read by key: every version with the same catalogue and identificatie or omschrijving counts as related.
-- Durations are kept as normalised ISO 8601 text (P1Y2M10D); `column::interval` computes with them.

create table catalogus (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint catalogus_uuid_unique unique,
  domein text not null, rsin text not null,
  contactpersoon_beheer_naam text not null, contactpersoon_beheer_telefoonnummer text not null default '',
  contactpersoon_beheer_emailadres text not null default '', naam text not null default '', versie text not null default '',
  begindatum_versie date,
  constraint catalogus_domein_rsin_unique unique (domein, rsin)
);
select describe('catalogus', 'A catalogue of types (Catalogi API, Catalogus).',
  'domein', 'Domain, five capitals at most; unique together with rsin.', 'naam', 'Name.', 'versie', 'Version.');

create table verwerkingsactiviteit (
  catalogus_id bigint not null references catalogus on delete cascade,
  zaaktype_identificatie text not null default '',
  url text not null,
  constraint verwerkingsactiviteit_pkey primary key (catalogus_id, zaaktype_identificatie)
);
select describe('verwerkingsactiviteit', 'Which processing activity cases belong to, in the log of processing.',
  'zaaktype_identificatie', 'All versions of this zaaktype; empty: those of the catalogue that have none of their own.',
  'url', 'The activity in the register of processing activities.');

create table informatieobjecttype (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint informatieobjecttype_uuid_unique unique,
  catalogus_id bigint not null references catalogus,
  omschrijving text not null,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  begin_geldigheid date not null, einde_geldigheid date, concept boolean not null default true,
  informatieobjectcategorie text not null, trefwoord text[] not null default '{}',
  omschrijving_generiek jsonb not null default '{}'
);
create index informatieobjecttype_catalogus_id_omschrijving_idx on informatieobjecttype (catalogus_id, omschrijving);
select describe('informatieobjecttype', 'A version of a document type (Catalogi API, InformatieObjectType).',
  'omschrijving', 'Name; versions of one type share it within their catalogue.',
  'vertrouwelijkheidaanduiding', 'Confidentiality of documents that state none (drc-007).', 'begin_geldigheid', 'First day of validity.',
  'einde_geldigheid', 'Last day of validity.', 'omschrijving_generiek', 'Group omschrijvingGeneriek as the API shows it.');

create table zaaktype (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint zaaktype_uuid_unique unique,
  catalogus_id bigint not null references catalogus,
  identificatie text not null, omschrijving text not null, omschrijving_generiek text not null default '',
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  doel text not null, aanleiding text not null, toelichting text not null default '',
  indicatie_intern_of_extern text not null
    constraint zaaktype_indicatie_intern_of_extern_check check (indicatie_intern_of_extern in ('intern', 'extern')),
  handeling_initiator text not null, onderwerp text not null, handeling_behandelaar text not null, doorlooptijd text not null,
  servicenorm text,
  opschorting_en_aanhouding_mogelijk boolean not null, verlenging_mogelijk boolean not null,
  verlengingstermijn text, trefwoorden text[] not null default '{}',
  publicatie_indicatie boolean not null, publicatietekst text not null default '',
  verantwoordingsrelatie text[] not null default '{}', producten_of_diensten text[] not null default '{}',
  selectielijst_procestype text not null default '',
  referentieproces_naam text not null, referentieproces_link text not null default '', verantwoordelijke text not null,
  broncatalogus_url text not null default '', broncatalogus_domein text not null default '',
  broncatalogus_rsin text not null default '',
  bronzaaktype_url text not null default '', bronzaaktype_identificatie text not null default '',
  bronzaaktype_omschrijving text not null default '',
  begin_geldigheid date not null, einde_geldigheid date, versiedatum date not null,
  concept boolean not null default true,
  constraint zaaktype_doorlooptijd_is_term check (is_term(doorlooptijd, 100)),
  constraint zaaktype_servicenorm_is_term check (is_term(servicenorm, 100)),
  constraint zaaktype_verlengingstermijn_is_term check (is_term(verlengingstermijn, 100))
);
create index zaaktype_catalogus_id_identificatie_idx on zaaktype (catalogus_id, identificatie);
select describe('zaaktype', 'A version of a case type (Catalogi API, ZaakType).',
  'identificatie', 'Key; versions of one type share it within their catalogue.',
  'vertrouwelijkheidaanduiding', 'Confidentiality of cases that state none.',
  'doorlooptijd', 'Legal term (duration): uiterlijkeEinddatumAfdoening of a case follows from it.',
  'servicenorm', 'Service level (duration): einddatumGepland of a case follows from it.',
  'verlengingstermijn', 'By how much (duration); empty when no extension is possible.',
  'publicatie_indicatie', 'Whether the start of a case is published.',
  'producten_of_diensten', 'URLs of products that cases of this type can be about.',
  'selectielijst_procestype', 'URL of the procestype in the selectielijst; empty: none.',
  'broncatalogus_url', 'Catalogue it was taken from: URL.', 'broncatalogus_domein', 'Catalogue it was taken from: domain.',
  'broncatalogus_rsin', 'Catalogue it was taken from: RSIN.', 'bronzaaktype_url', 'Type it was taken from: URL.',
  'bronzaaktype_identificatie', 'Type it was taken from: identificatie.',
  'bronzaaktype_omschrijving', 'Type it was taken from: omschrijving.', 'begin_geldigheid', 'First day of validity.',
  'einde_geldigheid', 'Last day of validity.');

create table zaaktype_deelzaaktype (
  zaaktype_id bigint not null references zaaktype on delete cascade,
  deelzaaktype_id bigint not null references zaaktype on delete cascade,
  by_url boolean not null default true,
  primary key (zaaktype_id, deelzaaktype_id)
);
create index zaaktype_deelzaaktype_deelzaaktype_id_idx on zaaktype_deelzaaktype (deelzaaktype_id);
select describe('zaaktype_deelzaaktype', 'Case types of which a case can be part of a case of this type.',
  'zaaktype_id', 'The type of the whole.', 'deelzaaktype_id', 'The type of the part.');

create table zaaktype_gerelateerd_zaaktype (
  zaaktype_id bigint not null references zaaktype on delete cascade,
  place integer not null,
  gerelateerd_zaaktype_id bigint references zaaktype on delete cascade,
  gerelateerd_zaaktype_url text,
  aard_relatie text not null
    constraint zaaktype_gerelateerd_zaaktype_aard_relatie_check check (aard_relatie in ('vervolg', 'bijdrage', 'onderwerp')),
  toelichting text not null default '',
  primary key (zaaktype_id, place),
  constraint zaaktype_gerelateerd_one_zaaktype check (num_nonnulls(gerelateerd_zaaktype_id, gerelateerd_zaaktype_url) = 1)
);
create index zaaktype_gerelateerd_zaaktype_gerelateerd_zaaktype_id_idx on zaaktype_gerelateerd_zaaktype (gerelateerd_zaaktype_id);
select describe('zaaktype_gerelateerd_zaaktype', 'Case types that a case type is related to.',
  'zaaktype_id', 'The type that has the relation.', 'place', 'Position in the list.',
  'gerelateerd_zaaktype_id', 'The other type, when it is one of ours.',
  'gerelateerd_zaaktype_url', 'The other type, when it stands elsewhere.', 'aard_relatie', 'vervolg, bijdrage or onderwerp.');

create table besluittype (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint besluittype_uuid_unique unique,
  catalogus_id bigint not null references catalogus,
  omschrijving text not null default '', omschrijving_generiek text not null default '',
  besluitcategorie text not null default '', reactietermijn text,
  publicatie_indicatie boolean not null,
  publicatietekst text not null default '', publicatietermijn text, toelichting text not null default '',
  begin_geldigheid date not null, einde_geldigheid date, concept boolean not null default true,
  constraint besluittype_reactietermijn_is_term check (is_term(reactietermijn, 100)),
  constraint besluittype_publicatietermijn_is_term check (is_term(publicatietermijn, 100))
);
create index besluittype_catalogus_id_omschrijving_idx on besluittype (catalogus_id, omschrijving);
select describe('besluittype', 'A version of a decision type (Catalogi API, BesluitType).',
  'omschrijving', 'Name; versions of one type share it within their catalogue.', 'publicatie_indicatie', 'Whether decisions are published.',
  'begin_geldigheid', 'First day of validity.', 'einde_geldigheid', 'Last day of validity.');

create table zaaktype_besluittype (
  zaaktype_id bigint not null references zaaktype on delete cascade,
  besluittype_id bigint not null references besluittype on delete cascade,
  by_url boolean not null default true,
  primary key (zaaktype_id, besluittype_id)
);
create index zaaktype_besluittype_besluittype_id_idx on zaaktype_besluittype (besluittype_id);
comment on table zaaktype_besluittype is 'Decisions that can be taken in cases of a type; written on the case type.';
comment on column zaaktype_besluittype.zaaktype_id is 'The case type.';

create table besluittype_informatieobjecttype (
  besluittype_id bigint not null references besluittype on delete cascade,
  informatieobjecttype_id bigint not null references informatieobjecttype on delete cascade,
  by_url boolean not null default true,
  primary key (besluittype_id, informatieobjecttype_id)
);
create index besluittype_informatieobjecttype_informatieobjecttype_id_idx on besluittype_informatieobjecttype (informatieobjecttype_id);
comment on table besluittype_informatieobjecttype is 'Documents in which decisions of a type are laid down.';

create table statustype (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint statustype_uuid_unique unique,
  zaaktype_id bigint not null references zaaktype on delete cascade,
  omschrijving text not null, omschrijving_generiek text not null default '', statustekst text not null default '',
  volgnummer integer not null constraint statustype_volgnummer_check check (volgnummer between 1 and 9999),
  informeren boolean not null default false, doorlooptijd text, toelichting text,
  checklistitem_statustype jsonb not null default '[]',
  begin_geldigheid date, einde_geldigheid date,
  constraint statustype_volgnummer_unique unique (zaaktype_id, volgnummer),
  constraint statustype_doorlooptijd_is_term check (is_term(doorlooptijd, 100))
);
select describe('statustype', 'A stage of cases of a type; the one with the highest volgnummer closes the case.',
  'volgnummer', 'Position in the process.', 'doorlooptijd', 'Term of the stage (duration).',
  'checklistitem_statustype', 'Checklist as the API shows it: itemnaam, vraagstelling, verplicht, toelichting.');

create table resultaattype (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint resultaattype_uuid_unique unique,
  zaaktype_id bigint not null references zaaktype on delete cascade,
  omschrijving text not null, resultaattypeomschrijving text not null,
  omschrijving_generiek text not null default '', selectielijstklasse text not null default '',
  toelichting text not null default '',
  archiefnominatie text not null default ''
    constraint resultaattype_archiefnominatie_check check (archiefnominatie in ('', 'blijvend_bewaren', 'vernietigen')),
  archiefactietermijn text, brondatum_afleidingswijze text, brondatum_datumkenmerk text not null default '',
  brondatum_einddatum_bekend boolean not null default false, brondatum_objecttype text not null default '',
  brondatum_registratie text not null default '', brondatum_procestermijn text, procesobjectaard text not null default '',
  indicatie_specifiek boolean, procestermijn text, begin_geldigheid date, einde_geldigheid date,
  constraint resultaattype_omschrijving_unique unique (zaaktype_id, omschrijving),
  constraint resultaattype_archiefactietermijn_is_term check (is_term(archiefactietermijn)),
  constraint resultaattype_brondatum_procestermijn_is_term check (is_term(brondatum_procestermijn)),
  constraint resultaattype_procestermijn_is_term check (is_term(procestermijn))
);
select describe('resultaattype', 'An outcome of cases of a type, and how they are archived then.',
  'resultaattypeomschrijving', 'URL of the generic description in the selectielijst.',
  'omschrijving_generiek', 'The omschrijving found there at the last save.',
  'selectielijstklasse', 'URL of the resultaat in the selectielijst.',
  'archiefactietermijn', 'Time between brondatum and archiefactiedatum (duration).',
  'brondatum_afleidingswijze', 'How the brondatum is found; empty: no brondatumArchiefprocedure.',
  'brondatum_datumkenmerk', 'Name of the attribute that holds the date.', 'brondatum_objecttype', 'Kind of object that holds the date.',
  'brondatum_registratie', 'Register that holds the date.',
  'brondatum_procestermijn', 'Time after the end of the case (duration), for afleidingswijze termijn.',
  'indicatie_specifiek', 'Whether it is a specific outcome of the procestype.', 'procestermijn', 'Term of the process (duration).');

create table resultaattype_besluittype (
  resultaattype_id bigint not null references resultaattype on delete cascade,
  besluittype_id bigint not null references besluittype on delete cascade,
  by_url boolean not null default true,
  primary key (resultaattype_id, besluittype_id)
);
create index resultaattype_besluittype_besluittype_id_idx on resultaattype_besluittype (besluittype_id);
comment on table resultaattype_besluittype is 'Decisions that lead to an outcome.';

create table resultaattype_informatieobjecttype (
  resultaattype_id bigint not null references resultaattype on delete cascade,
  informatieobjecttype_id bigint not null references informatieobjecttype on delete cascade,
  by_url boolean not null default true,
  primary key (resultaattype_id, informatieobjecttype_id)
);
create index resultaattype_informatieobjecttype_informatieobjecttype_id_idx on resultaattype_informatieobjecttype (informatieobjecttype_id);
comment on table resultaattype_informatieobjecttype is 'Documents that belong to an outcome.';

create table roltype (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint roltype_uuid_unique unique,
  zaaktype_id bigint not null references zaaktype on delete cascade,
  omschrijving text not null, omschrijving_generiek text not null,
  begin_geldigheid date, einde_geldigheid date,
  constraint roltype_omschrijving_unique unique (zaaktype_id, omschrijving)
);
comment on table roltype is 'A part that someone can have in cases of a type.';
comment on column roltype.omschrijving_generiek is 'Generic role: initiator, behandelaar and so on.';

create table eigenschap (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint eigenschap_uuid_unique unique,
  zaaktype_id bigint not null references zaaktype on delete cascade,
  statustype_id bigint references statustype on delete set null,
  naam text not null, definitie text not null,
  toelichting text not null default '', specificatie_groep text not null default '',
  specificatie_formaat text not null
    constraint eigenschap_specificatie_formaat_check check (specificatie_formaat in ('tekst', 'getal', 'datum', 'datum_tijd')),
  specificatie_lengte text not null, specificatie_kardinaliteit text not null,
  specificatie_waardenverzameling text[] not null default '{}',
  begin_geldigheid date, einde_geldigheid date,
  constraint eigenschap_naam_unique unique (zaaktype_id, naam)
);
create index eigenschap_statustype_id_idx on eigenschap (statustype_id);
select describe('eigenschap', 'A property that cases of a type have of their own.',
  'statustype_id', 'The stage at which it must have a value.', 'naam', 'Name.', 'specificatie_groep', 'Group it belongs to.',
  'specificatie_formaat', 'tekst, getal, datum (YYYYMMDD) or datum_tijd (YYYYMMDDhhmmss).',
  'specificatie_lengte', 'Length of a value; n,m for a number with decimals.');

create table zaaktype_informatieobjecttype (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint zaaktype_informatieobjecttype_uuid_unique unique,
  zaaktype_id bigint not null references zaaktype on delete cascade,
  informatieobjecttype_id bigint not null references informatieobjecttype on delete cascade,
  volgnummer integer not null constraint zaaktype_informatieobjecttype_volgnummer_check check (volgnummer between 1 and 999),
  richting text not null constraint zaaktype_informatieobjecttype_richting_check check (richting in ('inkomend', 'intern', 'uitgaand')),
  statustype_id bigint references statustype on delete set null,
  by_url boolean not null default true,
  constraint zaaktype_informatieobjecttype_volgnummer_unique unique (zaaktype_id, volgnummer)
);
create index zaaktype_informatieobjecttype_informatieobjecttype_id_idx on zaaktype_informatieobjecttype (informatieobjecttype_id);
create index zaaktype_informatieobjecttype_statustype_id_idx on zaaktype_informatieobjecttype (statustype_id);
select describe('zaaktype_informatieobjecttype', 'Documents that belong to cases of a type.',
  'volgnummer', 'Position within the case type.', 'statustype_id', 'The stage at which the document must be there.');

create table zaakobjecttype (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint zaakobjecttype_uuid_unique unique,
  zaaktype_id bigint not null references zaaktype on delete cascade,
  statustype_id bigint references statustype on delete set null,
  ander_objecttype boolean not null, objecttype text not null, relatie_omschrijving text not null,
  begin_geldigheid date,
  einde_geldigheid date
);
create index zaakobjecttype_zaaktype_id_idx on zaakobjecttype (zaaktype_id);
create index zaakobjecttype_statustype_id_idx on zaakobjecttype (statustype_id);
select describe('zaakobjecttype', 'Objects that cases of a type can be about.',
  'statustype_id', 'The stage at which the object must be known.', 'objecttype', 'URL of the type of object.');

-- A catalogue and a zaaktype hold no more than an answer that names all of it: 25,000 versions of types of a kind, and 1,000 parts of
-- a kind.
create function has_room() returns trigger language plpgsql as $$
declare
  is_full boolean;
begin
  execute format('select exists (select from %I b where b.%I = ($1).%I offset %s)', tg_table_name, tg_argv[0], tg_argv[0],
    tg_argv[1]::integer - 1) into is_full using new;
  if is_full then
    raise exception '% has as many rows as there may be', tg_table_name using errcode = '23514', constraint = 'has_room';
  end if;
  return new;
end $$;

do $$
declare
  counted text;
begin
  foreach counted in array array['statustype', 'resultaattype', 'eigenschap', 'roltype', 'zaakobjecttype', 'zaaktype_informatieobjecttype'] loop
    execute format('create trigger %1$s_has_room before insert on %1$I for each row execute function has_room(''zaaktype_id'', ''1000'')', counted);
  end loop;
  foreach counted in array array['zaaktype', 'informatieobjecttype', 'besluittype'] loop
    execute format('create trigger %1$s_has_room before insert on %1$I for each row execute function has_room(''catalogus_id'', ''25000'')', counted);
  end loop;
end $$;

-- The selectielijst as `zaakstroom selectielijst import` read it from files: every process of the service looks in it, and none has
-- to reach another server for it.
create table selectielijst_item (
  url text primary key,
  kind text not null
    constraint selectielijst_item_kind_check check (kind in ('ProcesType', 'Resultaat', 'ResultaattypeOmschrijvingGeneriek')),
  procestype text,
  content jsonb not null
);
create index selectielijst_item_kind_idx on selectielijst_item (kind, procestype);
select describe('selectielijst_item', 'What was imported of the selectielijst: procestypen, resultaten and generic descriptions.',
  'url', 'Its URL at the selectielijst, without a slash at the end.', 'kind', 'Kind of resource.',
  'procestype', 'URL of the procestype that a Resultaat belongs to.', 'content', 'The resource as the selectielijst serves it.');

create table selectielijst_import (
  id boolean primary key default true constraint selectielijst_import_singleton check (id),
  day date not null, files text[] not null,
  imported_at timestamptz not null default now()
);
select describe('selectielijst_import', 'The last import of the selectielijst; one row at most.',
  'id', 'Always true: there is one selectielijst.', 'day', 'The day of the files.', 'files', 'Names of the files.',
  'imported_at', 'When it was imported.');
