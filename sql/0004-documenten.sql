-- Documenten: the identity of a document apart from its versions, the versions apart from the bytes. What lists filter and
-- rights compare (type, confidentiality) stands on the identity, for its latest version, so that they never read versions.
-- Counts are kept and numbers come from a sequence, so that concurrent creates never wait for each other.

create table file (
  id bigint generated always as identity primary key,
  backend text not null, key text not null, size bigint not null, sha256 bytea,
  created_at timestamptz not null default now(), missing_since timestamptz,
  constraint file_key_unique unique (key, backend)
);
create index file_missing on file (missing_since) where missing_since is not null;
select describe('file', 'Stored bytes. Written before the row exists; without a row they are swept away.',
  'backend', 'Storage that holds the bytes: filesystem, s3_storage or azure_blob_storage.', 'key', 'Key in that storage, made by us.',
  'size', 'Size in bytes.', 'sha256', 'SHA-256 of the bytes; empty for bytes that were taken over as they lie and not read yet.',
  'created_at', 'When it was stored.',
  'missing_since', 'When its bytes were first not found in the store; empty: they were there when last asked for.');

create table stray_file (
  backend text not null, name text not null, unfinished boolean not null,
  seen_at timestamptz not null default now(), last_seen_at timestamptz not null default now(),
  primary key (backend, name, unfinished)
);
select describe('stray_file', 'Bytes in a storage that no row names, as the clean-up met them. They go a day after it first did, when nothing is open that may still name them.',
  'backend', 'Storage that holds them, as in file.', 'name', 'Key, or what the storage calls an unfinished write.',
  'unfinished', 'It is an unfinished write: a temporary file, or an upload in parts.', 'seen_at', 'When it was first met.',
  'last_seen_at', 'When it was last met.');

create table enkelvoudiginformatieobject (
  id bigint generated always as identity primary key,
  uuid uuid not null default uuid_v7() constraint enkelvoudiginformatieobject_uuid_unique unique,
  bronorganisatie text not null, identificatie text not null,
  informatieobjecttype_id bigint references informatieobjecttype,
  informatieobjecttype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  is_gereed_voor_publicatie boolean, versie integer not null default 1, lock text,
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
select describe('enkelvoudiginformatieobject', 'A document: what stays the same over its versions, and of the latest version what rights and lists need.',
  'id', 'Internal key; order of lists.', 'bronorganisatie', 'RSIN of the organisation that made it (latest version).',
  'identificatie', 'Number, unique within bronorganisatie (latest version).',
  'informatieobjecttype_id', 'Its type, when that is one of ours (latest version).',
  'informatieobjecttype_url', 'Its type, when that stands elsewhere (latest version).',
  'vertrouwelijkheidaanduiding', 'Confidentiality (latest version).',
  'is_gereed_voor_publicatie', 'Whether it may be published (latest version): some applications read nothing else.',
  'versie', 'Number of the latest version.', 'lock', 'Id of the lock that a client holds, empty when unlocked (drc-009).',
  'duplicate', '0, or the place among documents that were taken over with the same number.');

create table enkelvoudiginformatieobject_versie (
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  versie integer not null, begin_registratie timestamptz not null default now(),
  bronorganisatie text not null, identificatie text not null,
  informatieobjecttype_id bigint references informatieobjecttype,
  informatieobjecttype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  creatiedatum date not null,
  titel text not null, auteur text not null, status text not null default '', formaat text not null default '',
  taal text not null, bestandsnaam text not null default '', bestandsomvang bigint,
  file_id bigint references file,
  link text not null default '', beschrijving text not null default '',
  ontvangstdatum date, verzenddatum date, indicatie_gebruiksrecht boolean,
  verschijningsvorm text not null default '', ondertekening_soort text, ondertekening_datum date,
  integriteit_algoritme text, integriteit_waarde text, integriteit_datum date,
  trefwoorden text[] not null default '{}',
  inhoud_is_vervallen boolean, tonen_aan_initiator boolean not null default false, is_gereed_voor_publicatie boolean,
  primary key (enkelvoudiginformatieobject_id, versie)
);
create index enkelvoudiginformatieobject_versie_file_id_idx on enkelvoudiginformatieobject_versie (file_id);
-- For whoever may see some types: what lists count by date is in the index by which rights find it. A type that goes is looked for in it.
create index enkelvoudiginformatieobject_versie_rights_idx on enkelvoudiginformatieobject_versie
  (informatieobjecttype_id, vertrouwelijkheidaanduiding, enkelvoudiginformatieobject_id) include (creatiedatum);
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
-- It stands in a schema of its own: several organisations in one database share it, and none takes it along.
do $$
begin
  if not exists (select from pg_extension where extname = 'pg_trgm') then
    create schema if not exists extensions;
    create extension if not exists pg_trgm schema extensions;
  end if;
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
select describe('enkelvoudiginformatieobject_versie', 'A version of a document; only added to, by every PUT and PATCH.',
  'versie', 'Number, from 1, without gaps.', 'begin_registratie', 'When this version was made or last touched.',
  'bronorganisatie', 'RSIN of the organisation that made it.', 'identificatie', 'Number within bronorganisatie.',
  'informatieobjecttype_id', 'Its type, when that is one of ours.', 'informatieobjecttype_url', 'Its type, when that stands elsewhere.',
  'creatiedatum', 'Day on which the document was made.', 'titel', 'Title.',
  'status', 'in_bewerking, ter_vaststelling, definitief, gearchiveerd or empty.', 'formaat', 'Media type as the client gave it.',
  'bestandsnaam', 'Name of the file, for people.', 'bestandsomvang', 'Size in bytes; of an upload in parts the announced size.',
  'file_id', 'The stored bytes; empty: no content.', 'indicatie_gebruiksrecht', 'Whether rights of use apply; empty: unknown (drc-006).',
  'integriteit_algoritme', 'Algorithm of the checksum that the client gave.', 'integriteit_waarde', 'That checksum.',
  'integriteit_datum', 'Day on which it was made.', 'tonen_aan_initiator', 'Whether the initiator may see it (1.6).',
  'is_gereed_voor_publicatie', 'Whether it may be published (1.7).');

create table bestandsdeel (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint bestandsdeel_uuid_unique unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  volgnummer integer not null,
  omvang bigint not null constraint bestandsdeel_omvang_check check (omvang > 0),
  file_id bigint references file,
  constraint bestandsdeel_volgnummer_unique unique (enkelvoudiginformatieobject_id, volgnummer)
);
create index bestandsdeel_file_id_idx on bestandsdeel (file_id) where file_id is not null;
select describe('bestandsdeel', 'Parts in which the content of a document is being uploaded; unlocking joins them and removes these rows.',
  'volgnummer', 'Place in the whole, from 1.', 'omvang', 'Size in bytes that the part must have.',
  'file_id', 'The bytes, once they have come.');

create table gebruiksrecht (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint gebruiksrecht_uuid_unique unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  startdatum timestamptz not null, einddatum timestamptz,
  omschrijving_voorwaarden text not null
);
create index gebruiksrecht_enkelvoudiginformatieobject_id_idx on gebruiksrecht (enkelvoudiginformatieobject_id);
select describe('gebruiksrecht', 'Conditions under which a document may be used outside the case (Documenten API, Gebruiksrechten).',
  'startdatum', 'From when.', 'einddatum', 'Until when.');

create table objectinformatieobject (
  id bigint generated always as identity primary key,
  uuid uuid not null default uuid_v7() constraint objectinformatieobject_uuid_unique unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject,
  object_type text not null constraint objectinformatieobject_object_type_check check (object_type in ('besluit', 'zaak', 'verzoek')),
  object_uuid uuid, object_url text,
  constraint objectinformatieobject_one_object check (num_nonnulls(object_uuid, object_url) = 1),
  constraint objectinformatieobject_unique unique nulls not distinct (enkelvoudiginformatieobject_id, object_uuid, object_url)
      include (object_type) -- documents by it are counted in this index
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
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint verzending_uuid_unique unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  betrokkene text not null,
  aard_relatie text not null constraint verzending_aard_relatie_check check (aard_relatie in ('afzender', 'geadresseerde')),
  toelichting text not null default '', ontvangstdatum date, verzenddatum date,
  contact_persoon text not null, contactpersoonnaam text not null default '',
  binnenlands_correspondentieadres jsonb, buitenlands_correspondentieadres jsonb, correspondentie_postadres jsonb,
  faxnummer text not null default '', emailadres text not null default '',
  mijn_overheid boolean not null default false,
  telefoonnummer text not null default ''
);
create index verzending_enkelvoudiginformatieobject_id_idx on verzending (enkelvoudiginformatieobject_id);
create index verzending_betrokkene_idx on verzending (betrokkene);
select describe('verzending', 'That a document was sent to or received from someone (Documenten API, Verzending).',
  'id', 'Internal key; order of lists, newest first.', 'betrokkene', 'URL of who it was sent to or came from.',
  'aard_relatie', 'afzender or geadresseerde.', 'binnenlands_correspondentieadres', 'Address in the country, as the API shows it.',
  'buitenlands_correspondentieadres', 'Address abroad, as the API shows it.',
  'correspondentie_postadres', 'Postal address, as the API shows it.', 'mijn_overheid', 'Whether MijnOverheid was the channel.');

create sequence document_nummer;
comment on sequence document_nummer is 'Numbers of generated identificaties: DOCUMENT-<year>-<number>. Gaps are normal.';

create table reserved_documentnummer (
  bronorganisatie text not null, identificatie text not null,
  reserved_at timestamptz not null default now(),
  primary key (identificatie, bronorganisatie)
);
select describe('reserved_documentnummer', 'Numbers that were handed out before their document exists. They never expire; the document takes its number out.',
  'bronorganisatie', 'RSIN of the organisation it was reserved for.', 'identificatie', 'The number.', 'reserved_at', 'When.');

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
