-- Documenten: the identity of a document apart from its versions, the versions apart from the bytes. What lists filter and
-- rights compare (type, confidentiality) stands on the identity, for its latest version, so that they never read versions.
-- Counts are kept and numbers come from a sequence, so that concurrent creates never wait for each other.

create table file (
  id bigint generated always as identity primary key,
  backend text not null, key text not null,
  size bigint not null,
  sha256 bytea,
  created_at timestamptz not null default now(),
  missing_since timestamptz,
  constraint file_key_unique unique (key, backend)
);
create index file_missing on file (missing_since) where missing_since is not null;
comment on table file is 'Stored bytes. Written before the row exists; without a row they are swept away.';
comment on column file.backend is 'Storage that holds the bytes: filesystem, s3_storage or azure_blob_storage.';
comment on column file.key is 'Key in that storage, made by us.';
comment on column file.size is 'Size in bytes.';
comment on column file.sha256 is 'SHA-256 of the bytes; empty for bytes that were taken over as they lie and not read yet.';
comment on column file.created_at is 'When it was stored.';
comment on column file.missing_since is 'When its bytes were first not found in the store; empty: they were there when last asked for.';

create table stray_file (
  backend text not null, name text not null,
  unfinished boolean not null,
  seen_at timestamptz not null default now(), last_seen_at timestamptz not null default now(),
  primary key (backend, name, unfinished)
);
comment on table stray_file is 'Bytes in a storage that no row names, as the clean-up met them. They go a day after it first did, when nothing is open that may still name them.';
comment on column stray_file.backend is 'Storage that holds them, as in file.';
comment on column stray_file.name is 'Key, or what the storage calls an unfinished write.';
comment on column stray_file.unfinished is 'It is an unfinished write: a temporary file, or an upload in parts.';
comment on column stray_file.seen_at is 'When it was first met.';
comment on column stray_file.last_seen_at is 'When it was last met.';

create table enkelvoudiginformatieobject (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint enkelvoudiginformatieobject_uuid_unique unique,
  bronorganisatie text not null, identificatie text not null,
  informatieobjecttype_id bigint references informatieobjecttype,
  informatieobjecttype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  is_gereed_voor_publicatie boolean,
  versie integer not null default 1,
  lock text,
  duplicate integer not null default 0,
  constraint enkelvoudiginformatieobject_identificatie_unique unique (identificatie, bronorganisatie, duplicate),
  constraint enkelvoudiginformatieobject_one_type check (num_nonnulls(informatieobjecttype_id, informatieobjecttype_url) = 1)
);
create index enkelvoudiginformatieobject_informatieobjecttype_id_idx
  on enkelvoudiginformatieobject (informatieobjecttype_id, vertrouwelijkheidaanduiding, id);
-- A page far into a list is found in this index alone, in the order of the list, rights included.
create index enkelvoudiginformatieobject_list on enkelvoudiginformatieobject (id)
  include (informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie);
create index enkelvoudiginformatieobject_locked_idx on enkelvoudiginformatieobject (id) where lock is not null;
-- A list that is filtered by versions alone counts all versions that fit, less those that were replaced.
create index enkelvoudiginformatieobject_more_versions_idx on enkelvoudiginformatieobject (id) where versie > 1;
-- By the name of the confidentiality: the name itself is no part of an index, because PostgreSQL lets names be changed.
create index enkelvoudiginformatieobject_place_in_alphabet_id_idx
  on enkelvoudiginformatieobject (place_in_alphabet(vertrouwelijkheidaanduiding), id);
comment on table enkelvoudiginformatieobject is 'A document: what stays the same over its versions, and of the latest version what rights and lists need.';
comment on column enkelvoudiginformatieobject.id is 'Internal key; order of lists.';
comment on column enkelvoudiginformatieobject.bronorganisatie is 'RSIN of the organisation that made it (latest version).';
comment on column enkelvoudiginformatieobject.identificatie is 'Number, unique within bronorganisatie (latest version).';
comment on column enkelvoudiginformatieobject.informatieobjecttype_id is 'Its type, when that is one of ours (latest version).';
comment on column enkelvoudiginformatieobject.informatieobjecttype_url is 'Its type, when that stands elsewhere (latest version).';
comment on column enkelvoudiginformatieobject.vertrouwelijkheidaanduiding is 'Confidentiality (latest version).';
comment on column enkelvoudiginformatieobject.is_gereed_voor_publicatie is 'Whether it may be published (latest version): some applications read nothing else.';
comment on column enkelvoudiginformatieobject.versie is 'Number of the latest version.';
comment on column enkelvoudiginformatieobject.lock is 'Id of the lock that a client holds, empty when unlocked (drc-009).';
comment on column enkelvoudiginformatieobject.duplicate is '0, or the place among documents that were taken over with the same number.';

create table enkelvoudiginformatieobject_versie (
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  versie integer not null,
  begin_registratie timestamptz not null default now(),
  bronorganisatie text not null, identificatie text not null,
  informatieobjecttype_id bigint references informatieobjecttype,
  informatieobjecttype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  creatiedatum date not null,
  titel text not null, auteur text not null,
  status text not null default '', formaat text not null default '',
  taal text not null,
  bestandsnaam text not null default '',
  bestandsomvang bigint,
  file_id bigint references file,
  link text not null default '', beschrijving text not null default '',
  ontvangstdatum date, verzenddatum date,
  indicatie_gebruiksrecht boolean,
  verschijningsvorm text not null default '',
  ondertekening_soort text, ondertekening_datum date,
  integriteit_algoritme text, integriteit_waarde text, integriteit_datum date,
  trefwoorden text[] not null default '{}',
  inhoud_is_vervallen boolean,
  tonen_aan_initiator boolean not null default false,
  is_gereed_voor_publicatie boolean,
  primary key (enkelvoudiginformatieobject_id, versie)
);
create index enkelvoudiginformatieobject_versie_file_id_idx on enkelvoudiginformatieobject_versie (file_id);
-- A type that goes is looked for in all versions.
create index enkelvoudiginformatieobject_versie_informatieobjecttype_id_idx on enkelvoudiginformatieobject_versie (informatieobjecttype_id);
create index enkelvoudiginformatieobject_versie_trefwoorden on enkelvoudiginformatieobject_versie using gin (trefwoorden);
create index enkelvoudiginformatieobject_versie_creatiedatum
  on enkelvoudiginformatieobject_versie (creatiedatum, enkelvoudiginformatieobject_id);
create index enkelvoudiginformatieobject_versie_titel on enkelvoudiginformatieobject_versie (titel, enkelvoudiginformatieobject_id);
-- Documents by what a list can be ordered by.
create index enkelvoudiginformatieobject_versie_auteur_idx on enkelvoudiginformatieobject_versie (auteur, enkelvoudiginformatieobject_id);
create index enkelvoudiginformatieobject_versie_bestandsomvang_idx
  on enkelvoudiginformatieobject_versie (bestandsomvang, enkelvoudiginformatieobject_id);
create index enkelvoudiginformatieobject_versie_formaat_idx on enkelvoudiginformatieobject_versie (formaat, enkelvoudiginformatieobject_id);
create index enkelvoudiginformatieobject_versie_status_idx on enkelvoudiginformatieobject_versie (status, enkelvoudiginformatieobject_id);
-- A part of a title is found by an index where the extension pg_trgm may be created: it comes with PostgreSQL and needs no
-- superuser, but some installations leave it out. Without it such a filter reads all titles. Who adds it later makes the
-- index by hand, as it stands here.
do $$
begin
  create extension if not exists pg_trgm;
exception
  when insufficient_privilege or undefined_file or feature_not_supported or invalid_schema_name then
    raise notice 'pg_trgm is not available (%): a filter on a part of a title reads all titles', sqlerrm;
end $$;
do $$
declare
  place text;
begin
  select n.nspname into place from pg_extension x join pg_namespace n on n.oid = x.extnamespace where x.extname = 'pg_trgm';
  if place is not null then
    execute format('create index enkelvoudiginformatieobject_versie_part_of_title
      on enkelvoudiginformatieobject_versie using gin (lower(titel) %I.gin_trgm_ops)', place);
    execute format('create index enkelvoudiginformatieobject_versie_part_of_text
      on enkelvoudiginformatieobject_versie using gin (lower(auteur) %1$I.gin_trgm_ops, lower(beschrijving) %1$I.gin_trgm_ops)', place);
  end if;
end $$;
comment on table enkelvoudiginformatieobject_versie is 'A version of a document; only added to, by every PUT and PATCH.';
comment on column enkelvoudiginformatieobject_versie.versie is 'Number, from 1, without gaps.';
comment on column enkelvoudiginformatieobject_versie.begin_registratie is 'When this version was made or last touched.';
comment on column enkelvoudiginformatieobject_versie.bronorganisatie is 'RSIN of the organisation that made it.';
comment on column enkelvoudiginformatieobject_versie.identificatie is 'Number within bronorganisatie.';
comment on column enkelvoudiginformatieobject_versie.informatieobjecttype_id is 'Its type, when that is one of ours.';
comment on column enkelvoudiginformatieobject_versie.informatieobjecttype_url is 'Its type, when that stands elsewhere.';
comment on column enkelvoudiginformatieobject_versie.creatiedatum is 'Day on which the document was made.';
comment on column enkelvoudiginformatieobject_versie.titel is 'Title.';
comment on column enkelvoudiginformatieobject_versie.status is 'in_bewerking, ter_vaststelling, definitief, gearchiveerd or empty.';
comment on column enkelvoudiginformatieobject_versie.formaat is 'Media type as the client gave it.';
comment on column enkelvoudiginformatieobject_versie.bestandsnaam is 'Name of the file, for people.';
comment on column enkelvoudiginformatieobject_versie.bestandsomvang is 'Size in bytes; of an upload in parts the announced size.';
comment on column enkelvoudiginformatieobject_versie.file_id is 'The stored bytes; empty: no content.';
comment on column enkelvoudiginformatieobject_versie.indicatie_gebruiksrecht is 'Whether rights of use apply; empty: unknown (drc-006).';
comment on column enkelvoudiginformatieobject_versie.integriteit_algoritme is 'Algorithm of the checksum that the client gave.';
comment on column enkelvoudiginformatieobject_versie.integriteit_waarde is 'That checksum.';
comment on column enkelvoudiginformatieobject_versie.integriteit_datum is 'Day on which it was made.';
comment on column enkelvoudiginformatieobject_versie.tonen_aan_initiator is 'Whether the initiator may see it (1.6).';
comment on column enkelvoudiginformatieobject_versie.is_gereed_voor_publicatie is 'Whether it may be published (1.7).';

create table bestandsdeel (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint bestandsdeel_uuid_unique unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  volgnummer integer not null,
  omvang bigint not null constraint bestandsdeel_omvang_check check (omvang > 0),
  file_id bigint references file,
  constraint bestandsdeel_volgnummer_unique unique (enkelvoudiginformatieobject_id, volgnummer)
);
create index bestandsdeel_file_id_idx on bestandsdeel (file_id) where file_id is not null;
comment on table bestandsdeel is 'Parts in which the content of a document is being uploaded; unlocking joins them and removes these rows.';
comment on column bestandsdeel.volgnummer is 'Place in the whole, from 1.';
comment on column bestandsdeel.omvang is 'Size in bytes that the part must have.';
comment on column bestandsdeel.file_id is 'The bytes, once they have come.';

create table gebruiksrecht (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint gebruiksrecht_uuid_unique unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  startdatum timestamptz not null,
  einddatum timestamptz,
  omschrijving_voorwaarden text not null
);
create index gebruiksrecht_enkelvoudiginformatieobject_id_idx on gebruiksrecht (enkelvoudiginformatieobject_id);
comment on table gebruiksrecht is 'Conditions under which a document may be used outside the case (Documenten API, Gebruiksrechten).';
comment on column gebruiksrecht.startdatum is 'From when.';
comment on column gebruiksrecht.einddatum is 'Until when.';

create table objectinformatieobject (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint objectinformatieobject_uuid_unique unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject,
  object_type text not null
    constraint objectinformatieobject_object_type_check check (object_type in ('besluit', 'zaak', 'verzoek')),
  object_uuid uuid, object_url text,
  constraint objectinformatieobject_one_object check (num_nonnulls(object_uuid, object_url) = 1),
  constraint objectinformatieobject_unique unique nulls not distinct (enkelvoudiginformatieobject_id, object_uuid, object_url)
);
create index objectinformatieobject_object_uuid_idx on objectinformatieobject (object_uuid) where object_uuid is not null;
create index objectinformatieobject_object_url_idx on objectinformatieobject (object_url) where object_url is not null;
-- Documents that belong to something else than a case.
create index objectinformatieobject_object_type_idx on objectinformatieobject
  (object_type, enkelvoudiginformatieobject_id) where object_type <> 'zaak';
comment on table objectinformatieobject is 'That a document belongs to a zaak, besluit or verzoek (drc-003). While a row is there the document cannot be deleted (drc-008): the reference does not cascade.';
comment on column objectinformatieobject.object_type is 'Kind of the object.';
comment on column objectinformatieobject.object_uuid is 'uuid of the object when it is one of ours; the row comes and goes with the zaakinformatieobject or besluitinformatieobject.';
comment on column objectinformatieobject.object_url is 'URL of the object when it stands elsewhere.';

create table verzending (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint verzending_uuid_unique unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  betrokkene text not null,
  aard_relatie text not null constraint verzending_aard_relatie_check check (aard_relatie in ('afzender', 'geadresseerde')),
  toelichting text not null default '',
  ontvangstdatum date, verzenddatum date,
  contact_persoon text not null,
  contactpersoonnaam text not null default '',
  binnenlands_correspondentieadres jsonb, buitenlands_correspondentieadres jsonb, correspondentie_postadres jsonb,
  faxnummer text not null default '', emailadres text not null default '',
  mijn_overheid boolean not null default false,
  telefoonnummer text not null default ''
);
create index verzending_enkelvoudiginformatieobject_id_idx on verzending (enkelvoudiginformatieobject_id);
create index verzending_betrokkene_idx on verzending (betrokkene);
comment on table verzending is 'That a document was sent to or received from someone (Documenten API, Verzending).';
comment on column verzending.id is 'Internal key; order of lists, newest first.';
comment on column verzending.betrokkene is 'URL of who it was sent to or came from.';
comment on column verzending.aard_relatie is 'afzender or geadresseerde.';
comment on column verzending.binnenlands_correspondentieadres is 'Address in the country, as the API shows it.';
comment on column verzending.buitenlands_correspondentieadres is 'Address abroad, as the API shows it.';
comment on column verzending.correspondentie_postadres is 'Postal address, as the API shows it.';
comment on column verzending.mijn_overheid is 'Whether MijnOverheid was the channel.';

create sequence document_nummer;
comment on sequence document_nummer is 'Numbers of generated identificaties: DOCUMENT-<year>-<number>. Gaps are normal.';

create table reserved_documentnummer (
  bronorganisatie text not null, identificatie text not null,
  reserved_at timestamptz not null default now(),
  primary key (identificatie, bronorganisatie)
);
comment on table reserved_documentnummer is 'Numbers that were handed out before their document exists. They never expire; the document takes its number out.';
comment on column reserved_documentnummer.bronorganisatie is 'RSIN of the organisation it was reserved for.';
comment on column reserved_documentnummer.identificatie is 'The number.';
comment on column reserved_documentnummer.reserved_at is 'When.';

-- Documents come with numbers of their own, from another register for instance, so that the next number may be taken. Many
-- in a row are passed over at once: a number that the sequence gave out does not come back.
create function document_identificatie(creatiedatum date) returns text language plpgsql volatile as $$
declare
  number text;
begin
  loop
    select 'DOCUMENT-' || to_char(creatiedatum, 'YYYY') || '-' || lpad(n::text, greatest(10, length(n::text)), '0')
      into number from nextval('document_nummer') n;
    exit when not exists (select from enkelvoudiginformatieobject e where e.identificatie = number);
  end loop;
  return number;
end $$;
comment on function document_identificatie is 'The next generated identificatie, for a document of this creatiedatum.';

-- A number may be taken already, when documents came from elsewhere with theirs. Then the sequence is brought past the
-- highest of that year at once. It only ever moves on: what was handed out or reserved never comes back.
create function skip_documentnummers(creatiedatum date) returns void language plpgsql volatile as $$
declare
  highest bigint;
begin
  select max(substring(identificatie from '^DOCUMENT-\d{4}-(\d{10,18})$')::bigint) into highest
  from enkelvoudiginformatieobject
  where identificatie like 'DOCUMENT-' || to_char(creatiedatum, 'YYYY') || '-%';
  perform nextval('document_nummer')
  from generate_series(1, least(coalesce(highest, 0) - (select last_value from document_nummer), 10000000));
end $$;
comment on function skip_documentnummers is 'Moves the sequence of generated numbers past the numbers that documents of this year have.';
