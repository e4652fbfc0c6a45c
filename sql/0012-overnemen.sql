-- Taking over the data of another installation: what was taken from where, how far it is, and what did not fit.
--
-- Two documents (cases, decisions) may come with one number. The first keeps place 0 (dubbel), as all that are made here: a new one
-- with a number that exists is refused. Later ones stand beside it.
--
-- The register has a row for every object and every file, and no reference to its takeover: a check for each took up to a third of the
-- time, and let processes side by side wait for each other. Nothing removes the takeover.

create table overneming (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint overneming_uuid_uniek unique,
  soort text not null constraint overneming_soort_check check (soort in ('api', 'open-zaak')),
  bron text not null,
  instellingen jsonb not null default '{}',
  geheim bytea not null,
  proef boolean not null default false,
  status text not null default 'loopt' constraint overneming_status_check check (status in ('loopt', 'klaar', 'gestopt', 'omgeschakeld')),
  ronde integer not null default 1,
  fase integer not null default 0,
  alleen_lezen boolean not null default true,
  momentopname text,
  gemaakt_op timestamptz not null default now(),
  ronde_begonnen_op timestamptz not null default now(),
  ronde_klaar_op timestamptz,
  omgeschakeld_op timestamptz
);
create unique index overneming_een_bron on overneming (bron, proef) where status <> 'omgeschakeld';
comment on table overneming is 'Takeovers of other installations. One row as long as it lasts, however often it is run.';
comment on column overneming.id is 'Internal key.';
comment on column overneming.uuid is 'Part of its URL in the beheer.';
comment on column overneming.soort is 'api (through the APIs of the standard) or open-zaak (from its database).';
comment on column overneming.bron is 'Where it comes from, without user or password.';
comment on column overneming.instellingen is 'How it is read: {"clientId", "oudeUrls", "bestanden", "bytes", "naast", "tempo"}.';
comment on column overneming.geheim is 'Secret of the client or address of the database, encrypted with SECRET_KEY.';
comment on column overneming.proef is 'Dry run: all is written to shadow tables that are thrown away, for the report.';
comment on column overneming.status is 'loopt (a round is under way), klaar (the round is complete), gestopt (cannot go on) or omgeschakeld (this side is in charge now).';
comment on column overneming.ronde is 'Number of the round: each brings what changed since the one before.';
comment on column overneming.fase is 'Steps of one phase run side by side; the next begins when all are complete.';
comment on column overneming.alleen_lezen is 'Whether the APIs refuse changes of what was taken over, until the switch.';
comment on column overneming.momentopname is 'Exported snapshot of the database that this round reads.';
comment on column overneming.gemaakt_op is 'When it was made.';
comment on column overneming.ronde_begonnen_op is 'When this round began.';
comment on column overneming.ronde_klaar_op is 'When this round was complete.';
comment on column overneming.omgeschakeld_op is 'When this side came in charge.';

create table overneming_stap (
  id bigint generated always as identity primary key,
  overneming_id bigint not null references overneming on delete cascade,
  ronde integer not null,
  fase integer not null,
  volgorde integer not null,
  naam text not null,
  van text,
  tot text,
  positie text,
  verwacht bigint not null default 0,
  gelezen bigint not null default 0,
  geschreven bigint not null default 0,
  ongewijzigd bigint not null default 0,
  geweigerd bigint not null default 0,
  verwijderd bigint not null default 0,
  begonnen_op timestamptz,
  bijgewerkt_op timestamptz,
  klaar_op timestamptz,
  fout text
);
create index overneming_stap_fase on overneming_stap (overneming_id, ronde, fase);
comment on table overneming_stap is 'Steps of a round: one kind of object, or a part of it. A portion moves the position in the transaction that writes its rows.';
comment on column overneming_stap.id is 'Internal key.';
comment on column overneming_stap.overneming_id is 'The takeover.';
comment on column overneming_stap.ronde is 'The round.';
comment on column overneming_stap.fase is 'Which steps it runs beside.';
comment on column overneming_stap.volgorde is 'Its place in the list of steps; steps side by side are divided by it.';
comment on column overneming_stap.naam is 'What is read.';
comment on column overneming_stap.van is 'Keys above this one; empty: from the first.';
comment on column overneming_stap.tot is 'Keys up to this one; empty: to the last.';
comment on column overneming_stap.positie is 'How far it came: the last key, or page, that was committed.';
comment on column overneming_stap.verwacht is 'How many there are about.';
comment on column overneming_stap.gelezen is 'How many were read.';
comment on column overneming_stap.geschreven is 'Of these, how many were new or changed.';
comment on column overneming_stap.ongewijzigd is 'Of these, how many were as before.';
comment on column overneming_stap.geweigerd is 'Of these, how many could not be written.';
comment on column overneming_stap.verwijderd is 'How many are gone at the source, and were removed.';
comment on column overneming_stap.begonnen_op is 'When its first portion began.';
comment on column overneming_stap.bijgewerkt_op is 'When its last portion was committed.';
comment on column overneming_stap.klaar_op is 'When it was complete.';
comment on column overneming_stap.fout is 'Why its last portion failed; empty again when it went on.';

create table overneming_object (
  soort text not null,
  uuid uuid not null,
  overneming_id bigint not null,
  hash bytea not null,
  ronde integer not null,
  gewijzigd integer not null,
  primary key (uuid, soort)
) with (fillfactor = 80);
comment on table overneming_object is 'What was taken over, with a checksum of how it was: a later round writes what differs and removes what is gone.';
comment on column overneming_object.soort is 'Kind of object.';
comment on column overneming_object.uuid is 'The object.';
comment on column overneming_object.overneming_id is 'Where it came from.';
comment on column overneming_object.hash is 'Checksum of the object at the source.';
comment on column overneming_object.ronde is 'The last round that saw it.';
comment on column overneming_object.gewijzigd is 'The last round in which it was new or changed.';

create table overneming_melding (
  id bigint generated always as identity primary key,
  overneming_id bigint not null references overneming on delete cascade,
  soort text not null,
  sleutel text not null,
  uitkomst text not null constraint overneming_melding_uitkomst_check check (uitkomst in ('geweigerd', 'gemarkeerd', 'verschil')),
  code text not null,
  veld text not null default '',
  tekst text not null,
  ronde integer not null,
  gemaakt_op timestamptz not null default now(),
  constraint overneming_melding_uniek unique (overneming_id, soort, sleutel, code, veld)
);
comment on table overneming_melding is 'The report: what did not fit, one row per object and reason. A row goes when a later round finds the object mended.';
comment on column overneming_melding.id is 'Internal key.';
comment on column overneming_melding.overneming_id is 'The takeover.';
comment on column overneming_melding.soort is 'Kind of object.';
comment on column overneming_melding.sleutel is 'uuid of the object, or what it is known by at the source.';
comment on column overneming_melding.uitkomst is 'geweigerd (not taken), gemarkeerd (taken, with this remark) or verschil (found by the comparison).';
comment on column overneming_melding.code is 'What is the matter, for filters.';
comment on column overneming_melding.veld is 'The field, when it is about one.';
comment on column overneming_melding.tekst is 'What is the matter, for people.';
comment on column overneming_melding.ronde is 'The last round that found it.';
comment on column overneming_melding.gemaakt_op is 'When it was first found.';

create table overneming_uitstel (
  id bigint generated always as identity primary key,
  overneming_id bigint not null references overneming on delete cascade,
  soort text not null,
  uuid uuid not null,
  object jsonb not null,
  ontbreekt text not null,
  constraint overneming_uitstel_uniek unique (overneming_id, soort, uuid)
);
comment on table overneming_uitstel is 'Objects that refer to one that was not there yet; they are tried again at the end of the round.';
comment on column overneming_uitstel.id is 'Internal key; order in which they are tried.';
comment on column overneming_uitstel.overneming_id is 'The takeover.';
comment on column overneming_uitstel.soort is 'Kind of object.';
comment on column overneming_uitstel.uuid is 'The object.';
comment on column overneming_uitstel.object is 'The object as it was read.';
comment on column overneming_uitstel.ontbreekt is 'What it refers to.';

create table overneming_bestand (
  id bigint generated always as identity primary key,
  overneming_id bigint not null,
  pad text not null,
  omvang bigint,
  bestand_id bigint references bestand on delete set null,
  staat text not null default 'wacht' constraint overneming_bestand_staat_check check (staat in ('wacht', 'klaar', 'ontbreekt')),
  constraint overneming_bestand_uniek unique (overneming_id, pad)
);
create index overneming_bestand_open on overneming_bestand (overneming_id, id) where staat <> 'klaar';
create index overneming_bestand_bestand on overneming_bestand (bestand_id) where bestand_id is not null;
comment on table overneming_bestand is 'Bytes at the source, by their path there: two versions of a document may share one.';
comment on column overneming_bestand.id is 'Internal key.';
comment on column overneming_bestand.overneming_id is 'The takeover.';
comment on column overneming_bestand.pad is 'Path below the root of the old store, or below the APIs.';
comment on column overneming_bestand.omvang is 'Size that the source states.';
comment on column overneming_bestand.bestand_id is 'The bytes here.';
comment on column overneming_bestand.staat is 'wacht (not here yet), klaar or ontbreekt (the source has no such bytes).';

create table overneming_inhoud (
  overneming_bestand_id bigint not null,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  versie integer not null,
  primary key (enkelvoudiginformatieobject_id, versie)
);
create index overneming_inhoud_bestand on overneming_inhoud (overneming_bestand_id);
comment on table overneming_inhoud is 'Which version of a document has which bytes at the source.';
comment on column overneming_inhoud.overneming_bestand_id is 'The bytes.';
comment on column overneming_inhoud.enkelvoudiginformatieobject_id is 'The document.';
comment on column overneming_inhoud.versie is 'The version.';

-- Until the switch the old installation is in charge: what was taken over is not changed here, and nobody is told of it.
create function overgenomen(object uuid) returns boolean language plpgsql stable as $$
declare
  gesloten boolean;
begin
  if not exists (select from overneming where status <> 'omgeschakeld' and not proef) then return false; end if;
  select bool_or(o.alleen_lezen) into gesloten
  from overneming_object w join overneming o on o.id = w.overneming_id
  where w.uuid = object and o.status <> 'omgeschakeld';
  if gesloten then
    raise exception 'taken over, and read-only until the switch'
      using errcode = 'integrity_constraint_violation', constraint = 'overneming_alleen_lezen';
  end if;
  return gesloten is not null;
end $$;
comment on function overgenomen is 'Whether this main object was taken over and the switch is still to come: its changes are not announced. Refuses when they are not allowed either.';
