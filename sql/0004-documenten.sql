-- Documents: the identity apart from its versions, the versions apart from the bytes.
-- What lists filter and rights compare (type, confidentiality) stands on the identity, for its latest version.

create sequence document_nummer;
comment on sequence document_nummer is 'Numbers of generated identificaties: DOCUMENT-<year>-<number>. Gaps are normal.';

create table bestand (
  id bigint generated always as identity primary key,
  backend text not null,
  sleutel text not null,
  omvang bigint not null,
  sha256 bytea not null,
  gemaakt_op timestamptz not null default now(),
  constraint bestand_sleutel_uniek unique (sleutel, backend)
);
comment on table bestand is 'Stored bytes. Written before the row exists; without a row they are swept away.';
comment on column bestand.id is 'Internal key.';
comment on column bestand.backend is 'Storage that holds the bytes: filesystem, s3_storage or azure_blob_storage.';
comment on column bestand.sleutel is 'Key in that storage, made by us.';
comment on column bestand.omvang is 'Size in bytes.';
comment on column bestand.sha256 is 'SHA-256 of the bytes.';
comment on column bestand.gemaakt_op is 'When it was stored.';

create table enkelvoudiginformatieobject (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint enkelvoudiginformatieobject_uuid_uniek unique,
  bronorganisatie text not null,
  identificatie text not null,
  informatieobjecttype_id bigint references informatieobjecttype,
  informatieobjecttype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  versie integer not null default 1,
  lock text,
  constraint enkelvoudiginformatieobject_identificatie_uniek unique (identificatie, bronorganisatie),
  constraint enkelvoudiginformatieobject_een_type check (num_nonnulls(informatieobjecttype_id, informatieobjecttype_url) = 1)
);
create index on enkelvoudiginformatieobject (informatieobjecttype_id, vertrouwelijkheidaanduiding, id);
comment on table enkelvoudiginformatieobject is 'A document: what stays the same over its versions, and of the latest version what rights and lists need.';
comment on column enkelvoudiginformatieobject.id is 'Internal key; order of lists.';
comment on column enkelvoudiginformatieobject.uuid is 'Last part of its URL.';
comment on column enkelvoudiginformatieobject.bronorganisatie is 'RSIN of the organisation that made it (latest version).';
comment on column enkelvoudiginformatieobject.identificatie is 'Number, unique within bronorganisatie (latest version).';
comment on column enkelvoudiginformatieobject.informatieobjecttype_id is 'Its type, when that is one of ours (latest version).';
comment on column enkelvoudiginformatieobject.informatieobjecttype_url is 'Its type, when that stands elsewhere (latest version).';
comment on column enkelvoudiginformatieobject.vertrouwelijkheidaanduiding is 'Confidentiality (latest version).';
comment on column enkelvoudiginformatieobject.versie is 'Number of the latest version.';
comment on column enkelvoudiginformatieobject.lock is 'Id of the lock that a client holds, empty when unlocked (drc-009).';

create table enkelvoudiginformatieobject_versie (
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  versie integer not null,
  begin_registratie timestamptz not null default now(),
  bronorganisatie text not null,
  identificatie text not null,
  informatieobjecttype_id bigint references informatieobjecttype,
  informatieobjecttype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  creatiedatum date not null,
  titel text not null,
  auteur text not null,
  status text not null default '',
  formaat text not null default '',
  taal text not null,
  bestandsnaam text not null default '',
  bestandsomvang bigint,
  bestand_id bigint references bestand,
  link text not null default '',
  beschrijving text not null default '',
  ontvangstdatum date,
  verzenddatum date,
  indicatie_gebruiksrecht boolean,
  verschijningsvorm text not null default '',
  ondertekening_soort text,
  ondertekening_datum date,
  integriteit_algoritme text,
  integriteit_waarde text,
  integriteit_datum date,
  trefwoorden text[] not null default '{}',
  inhoud_is_vervallen boolean,
  tonen_aan_initiator boolean not null default false,
  is_gereed_voor_publicatie boolean,
  primary key (enkelvoudiginformatieobject_id, versie)
);
create index on enkelvoudiginformatieobject_versie (bestand_id);
comment on table enkelvoudiginformatieobject_versie is 'A version of a document; only added to, by every PUT and PATCH.';
comment on column enkelvoudiginformatieobject_versie.enkelvoudiginformatieobject_id is 'The document.';
comment on column enkelvoudiginformatieobject_versie.versie is 'Number, from 1, without gaps.';
comment on column enkelvoudiginformatieobject_versie.begin_registratie is 'When this version was made or last touched.';
comment on column enkelvoudiginformatieobject_versie.bronorganisatie is 'RSIN of the organisation that made it.';
comment on column enkelvoudiginformatieobject_versie.identificatie is 'Number within bronorganisatie.';
comment on column enkelvoudiginformatieobject_versie.informatieobjecttype_id is 'Its type, when that is one of ours.';
comment on column enkelvoudiginformatieobject_versie.informatieobjecttype_url is 'Its type, when that stands elsewhere.';
comment on column enkelvoudiginformatieobject_versie.vertrouwelijkheidaanduiding is 'Confidentiality.';
comment on column enkelvoudiginformatieobject_versie.creatiedatum is 'Day on which the document was made.';
comment on column enkelvoudiginformatieobject_versie.titel is 'Title.';
comment on column enkelvoudiginformatieobject_versie.auteur is 'Author.';
comment on column enkelvoudiginformatieobject_versie.status is 'in_bewerking, ter_vaststelling, definitief, gearchiveerd or empty.';
comment on column enkelvoudiginformatieobject_versie.formaat is 'Media type as the client gave it.';
comment on column enkelvoudiginformatieobject_versie.taal is 'Language, ISO 639-2/B.';
comment on column enkelvoudiginformatieobject_versie.bestandsnaam is 'Name of the file, for people.';
comment on column enkelvoudiginformatieobject_versie.bestandsomvang is 'Size in bytes; of an upload in parts the announced size.';
comment on column enkelvoudiginformatieobject_versie.bestand_id is 'The stored bytes; empty: no content.';
comment on column enkelvoudiginformatieobject_versie.link is 'URL where the document can be read.';
comment on column enkelvoudiginformatieobject_versie.beschrijving is 'Description.';
comment on column enkelvoudiginformatieobject_versie.ontvangstdatum is 'Day of receipt.';
comment on column enkelvoudiginformatieobject_versie.verzenddatum is 'Day of sending.';
comment on column enkelvoudiginformatieobject_versie.indicatie_gebruiksrecht is 'Whether rights of use apply; empty: unknown (drc-006).';
comment on column enkelvoudiginformatieobject_versie.verschijningsvorm is 'Appearance.';
comment on column enkelvoudiginformatieobject_versie.ondertekening_soort is 'Kind of signature.';
comment on column enkelvoudiginformatieobject_versie.ondertekening_datum is 'Day of signature.';
comment on column enkelvoudiginformatieobject_versie.integriteit_algoritme is 'Algorithm of the checksum that the client gave.';
comment on column enkelvoudiginformatieobject_versie.integriteit_waarde is 'That checksum.';
comment on column enkelvoudiginformatieobject_versie.integriteit_datum is 'Day on which it was made.';
comment on column enkelvoudiginformatieobject_versie.trefwoorden is 'Key words.';
comment on column enkelvoudiginformatieobject_versie.inhoud_is_vervallen is 'Whether the content is no longer valid (1.5).';
comment on column enkelvoudiginformatieobject_versie.tonen_aan_initiator is 'Whether the initiator may see it (1.6).';
comment on column enkelvoudiginformatieobject_versie.is_gereed_voor_publicatie is 'Whether it may be published (1.7).';

create function document_identificatie(creatiedatum date) returns text language sql volatile as $$
  select 'DOCUMENT-' || to_char(creatiedatum, 'YYYY') || '-' || lpad(n::text, greatest(10, length(n::text)), '0')
  from nextval('document_nummer') n
$$;
comment on function document_identificatie is 'The next generated identificatie, for a document of this creatiedatum.';
