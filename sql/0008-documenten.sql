-- Documents, complete: rights of use, relations to other objects, sending, upload in parts, reserved numbers, and counts
-- that make lists quick. An operator notices that a count over all documents no longer reads them all.

-- ---- what lists filter ----

alter table enkelvoudiginformatieobject add column is_gereed_voor_publicatie boolean;
comment on column enkelvoudiginformatieobject.is_gereed_voor_publicatie is 'Whether it may be published (latest version): some applications read nothing else.';
update enkelvoudiginformatieobject e set is_gereed_voor_publicatie = v.is_gereed_voor_publicatie
from enkelvoudiginformatieobject_versie v
where v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie and v.is_gereed_voor_publicatie is not null;

-- A page far into a list is found in this index alone, in the order of the list, rights included.
create index enkelvoudiginformatieobject_lijst on enkelvoudiginformatieobject (id)
  include (informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie);
create index on enkelvoudiginformatieobject (id) where lock is not null;

-- ---- counts ----

create table enkelvoudiginformatieobject_aantal (
  id bigint generated always as identity primary key,
  informatieobjecttype_id bigint,
  informatieobjecttype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  bronorganisatie text not null,
  is_gereed_voor_publicatie boolean,
  aantal bigint not null
);
comment on table enkelvoudiginformatieobject_aantal is 'How many documents there are, as additions and subtractions: their sum is exact at every moment. Writers only insert, so that they never wait for each other; a job folds the rows into one per combination.';
comment on column enkelvoudiginformatieobject_aantal.id is 'Internal key.';
comment on column enkelvoudiginformatieobject_aantal.informatieobjecttype_id is 'As on the documents that are counted; so are the next four.';
comment on column enkelvoudiginformatieobject_aantal.informatieobjecttype_url is 'Type elsewhere.';
comment on column enkelvoudiginformatieobject_aantal.vertrouwelijkheidaanduiding is 'Confidentiality.';
comment on column enkelvoudiginformatieobject_aantal.bronorganisatie is 'RSIN.';
comment on column enkelvoudiginformatieobject_aantal.is_gereed_voor_publicatie is 'Whether they may be published.';
comment on column enkelvoudiginformatieobject_aantal.aantal is 'What to add to the count; negative after a delete.';

insert into enkelvoudiginformatieobject_aantal
  (informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, aantal)
select informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, count(*)
from enkelvoudiginformatieobject group by 1, 2, 3, 4, 5;

-- Once a statement, however many rows it touches: an import adds a whole batch with one row a combination.
create function tel_documenten_erbij() returns trigger language plpgsql as $$
begin
  insert into enkelvoudiginformatieobject_aantal
    (informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, aantal)
  select informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, count(*)
  from nieuw group by 1, 2, 3, 4, 5;
  return null;
end $$;
create function tel_documenten_eraf() returns trigger language plpgsql as $$
begin
  insert into enkelvoudiginformatieobject_aantal
    (informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, aantal)
  select informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, -count(*)
  from oud group by 1, 2, 3, 4, 5;
  return null;
end $$;
create function tel_documenten_anders() returns trigger language plpgsql as $$
begin
  insert into enkelvoudiginformatieobject_aantal
    (informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, aantal)
  select informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, sum(n)
  from (
    select informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, 1 as n from nieuw
    union all
    select informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, -1 from oud
  ) verschil
  group by 1, 2, 3, 4, 5 having sum(n) <> 0;
  return null;
end $$;
create function tel_documenten_opnieuw() returns trigger language plpgsql as $$
begin
  delete from enkelvoudiginformatieobject_aantal;
  return null;
end $$;
create trigger documenten_erbij after insert on enkelvoudiginformatieobject
  referencing new table as nieuw for each statement execute function tel_documenten_erbij();
create trigger documenten_eraf after delete on enkelvoudiginformatieobject
  referencing old table as oud for each statement execute function tel_documenten_eraf();
create trigger documenten_anders after update on enkelvoudiginformatieobject
  referencing old table as oud new table as nieuw for each statement execute function tel_documenten_anders();
create trigger documenten_weg after truncate on enkelvoudiginformatieobject
  for each statement execute function tel_documenten_opnieuw();

create function vouw_documentaantallen() returns void language sql as $$
  with gone as (delete from enkelvoudiginformatieobject_aantal returning *)
  insert into enkelvoudiginformatieobject_aantal
    (informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, aantal)
  select informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, sum(aantal)
  from gone group by 1, 2, 3, 4, 5 having sum(aantal) <> 0
$$;
comment on function vouw_documentaantallen is 'Replaces the counts by one row a combination. What others add meanwhile stays; two at once do no harm.';

-- ---- numbers ----

create table documentnummer_reservering (
  bronorganisatie text not null,
  identificatie text not null,
  gereserveerd_op timestamptz not null default now(),
  primary key (identificatie, bronorganisatie)
);
comment on table documentnummer_reservering is 'Numbers that were handed out before their document exists. They never expire; the document takes its number out.';
comment on column documentnummer_reservering.bronorganisatie is 'RSIN of the organisation it was reserved for.';
comment on column documentnummer_reservering.identificatie is 'The number.';
comment on column documentnummer_reservering.gereserveerd_op is 'When.';

-- A number may be taken already, when documents came from elsewhere with theirs. Then the sequence is brought past the
-- highest of that year at once. It only ever moves on: what was handed out or reserved never comes back.
create function haal_documentnummers_in(creatiedatum date) returns void language plpgsql volatile as $$
declare
  hoogste bigint;
begin
  select max(substring(identificatie from '^DOCUMENT-\d{4}-(\d{10,18})$')::bigint) into hoogste
  from enkelvoudiginformatieobject
  where identificatie like 'DOCUMENT-' || to_char(creatiedatum, 'YYYY') || '-%';
  perform nextval('document_nummer')
  from generate_series(1, least(coalesce(hoogste, 0) - (select last_value from document_nummer), 10000000));
end $$;
comment on function haal_documentnummers_in is 'Moves the sequence of generated numbers past the numbers that documents of this year have.';

-- ---- upload in parts ----

create table bestandsdeel (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint bestandsdeel_uuid_uniek unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  volgnummer integer not null,
  omvang bigint not null check (omvang > 0),
  bestand_id bigint references bestand,
  constraint bestandsdeel_volgnummer_uniek unique (enkelvoudiginformatieobject_id, volgnummer)
);
create index on bestandsdeel (bestand_id) where bestand_id is not null;
comment on table bestandsdeel is 'Parts in which the content of a document is being uploaded; unlocking joins them and removes these rows.';
comment on column bestandsdeel.id is 'Internal key.';
comment on column bestandsdeel.uuid is 'Last part of its URL.';
comment on column bestandsdeel.enkelvoudiginformatieobject_id is 'The document.';
comment on column bestandsdeel.volgnummer is 'Place in the whole, from 1.';
comment on column bestandsdeel.omvang is 'Size in bytes that the part must have.';
comment on column bestandsdeel.bestand_id is 'The bytes, once they have come.';

-- ---- rights of use, relations, sending ----

create table gebruiksrecht (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint gebruiksrecht_uuid_uniek unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  startdatum timestamptz not null,
  einddatum timestamptz,
  omschrijving_voorwaarden text not null
);
create index on gebruiksrecht (enkelvoudiginformatieobject_id);
comment on table gebruiksrecht is 'Conditions under which a document may be used outside the case (Documenten API, Gebruiksrechten).';
comment on column gebruiksrecht.id is 'Internal key.';
comment on column gebruiksrecht.uuid is 'Last part of its URL.';
comment on column gebruiksrecht.enkelvoudiginformatieobject_id is 'The document.';
comment on column gebruiksrecht.startdatum is 'From when.';
comment on column gebruiksrecht.einddatum is 'Until when.';
comment on column gebruiksrecht.omschrijving_voorwaarden is 'The conditions.';

create table objectinformatieobject (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint objectinformatieobject_uuid_uniek unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject,
  object_type text not null check (object_type in ('besluit', 'zaak', 'verzoek')),
  object_uuid uuid,
  object_url text,
  constraint objectinformatieobject_een_object check (num_nonnulls(object_uuid, object_url) = 1),
  constraint objectinformatieobject_uniek unique nulls not distinct (enkelvoudiginformatieobject_id, object_uuid, object_url)
);
create index on objectinformatieobject (object_uuid) where object_uuid is not null;
create index on objectinformatieobject (object_url) where object_url is not null;
comment on table objectinformatieobject is 'That a document belongs to a zaak, besluit or verzoek (drc-003). While a row is there the document cannot be deleted (drc-008): the reference does not cascade.';
comment on column objectinformatieobject.id is 'Internal key.';
comment on column objectinformatieobject.uuid is 'Last part of its URL.';
comment on column objectinformatieobject.enkelvoudiginformatieobject_id is 'The document.';
comment on column objectinformatieobject.object_type is 'Kind of the object.';
comment on column objectinformatieobject.object_uuid is 'uuid of the object when it is one of ours; the row comes and goes with the zaakinformatieobject or besluitinformatieobject.';
comment on column objectinformatieobject.object_url is 'URL of the object when it stands elsewhere.';

create table verzending (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint verzending_uuid_uniek unique,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  betrokkene text not null,
  aard_relatie text not null check (aard_relatie in ('afzender', 'geadresseerde')),
  toelichting text not null default '',
  ontvangstdatum date,
  verzenddatum date,
  contact_persoon text not null,
  contactpersoonnaam text not null default '',
  binnenlands_correspondentieadres jsonb,
  buitenlands_correspondentieadres jsonb,
  correspondentie_postadres jsonb,
  faxnummer text not null default '',
  emailadres text not null default '',
  mijn_overheid boolean not null default false,
  telefoonnummer text not null default ''
);
create index on verzending (enkelvoudiginformatieobject_id);
create index on verzending (betrokkene);
comment on table verzending is 'That a document was sent to or received from someone (Documenten API, Verzending).';
comment on column verzending.id is 'Internal key; order of lists, newest first.';
comment on column verzending.uuid is 'Last part of its URL.';
comment on column verzending.enkelvoudiginformatieobject_id is 'The document.';
comment on column verzending.betrokkene is 'URL of who it was sent to or came from.';
comment on column verzending.aard_relatie is 'afzender or geadresseerde.';
comment on column verzending.toelichting is 'Explanation.';
comment on column verzending.ontvangstdatum is 'Day of receipt.';
comment on column verzending.verzenddatum is 'Day of sending.';
comment on column verzending.contact_persoon is 'URL of the contact person.';
comment on column verzending.contactpersoonnaam is 'Name of the contact person.';
comment on column verzending.binnenlands_correspondentieadres is 'Address in the country, as the API shows it.';
comment on column verzending.buitenlands_correspondentieadres is 'Address abroad, as the API shows it.';
comment on column verzending.correspondentie_postadres is 'Postal address, as the API shows it.';
comment on column verzending.faxnummer is 'Fax number.';
comment on column verzending.emailadres is 'E-mail address.';
comment on column verzending.mijn_overheid is 'Whether MijnOverheid was the channel.';
comment on column verzending.telefoonnummer is 'Phone number.';
