-- Taking over the data of another installation: what was taken from where, how far it is, and what did not fit.
--
-- Two documents (cases, decisions) may come with one number. The first keeps place 0 (duplicate), as all that are made here: a new one
-- with a number that exists is refused. Later ones stand beside it.
--
-- The register has a row for every object and every file, and no reference to its takeover: a check for each took up to a third of the
-- time, and let processes side by side wait for each other. Nothing removes the takeover.

create table takeover (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint takeover_uuid_unique unique,
  kind text not null constraint takeover_kind_check check (kind in ('api', 'open-zaak')),
  source text not null,
  settings jsonb not null default '{}',
  secret bytea not null,
  trial boolean not null default false,
  status text not null default 'loopt' constraint takeover_status_check check (status in ('loopt', 'klaar', 'gestopt', 'omgeschakeld')),
  round integer not null default 1,
  phase integer not null default 0,
  read_only boolean not null default true, changes_only boolean not null default false,
  snapshot text,
  created_at timestamptz not null default now(), round_begun_at timestamptz not null default now(), round_done_at timestamptz,
  switched_at timestamptz, checked_at timestamptz, differences bigint
);
create unique index takeover_one_source on takeover (source, trial) where status <> 'omgeschakeld';
comment on table takeover is 'Takeovers of other installations. One row as long as it lasts, however often it is run.';
comment on column takeover.uuid is 'Part of its URL in the beheer.';
comment on column takeover.kind is 'api (through the APIs of the standard) or open-zaak (from its database).';
comment on column takeover.source is 'Where it comes from, without user or password.';
comment on column takeover.secret is 'Secret of the client or address of the database, sealed with a key of the ring.';
comment on column takeover.settings is 'How it is read: {"clientId", "oudeUrls", "bestanden", "bytes", "wijzigingen", "naast", "tempo"}.';
comment on column takeover.trial is 'Dry run: all is written to shadow tables that are thrown away, for the report.';
comment on column takeover.status is 'loopt (a round is under way), klaar (the round is complete), gestopt (cannot go on) or omgeschakeld (this side is in charge now).';
comment on column takeover.round is 'Number of the round: each brings what changed since the one before.';
comment on column takeover.phase is 'Steps of one phase run side by side; the next begins when all are complete.';
comment on column takeover.read_only is 'Whether the APIs refuse changes of what was taken over, until the switch.';
comment on column takeover.changes_only is 'Whether this round reads only what changed since the one before.';
comment on column takeover.snapshot is 'Exported snapshot of the database that this round reads.';
comment on column takeover.round_begun_at is 'When this round began.';
comment on column takeover.round_done_at is 'When this round was complete.';
comment on column takeover.switched_at is 'When this side came in charge.';
comment on column takeover.checked_at is 'When both sides were last compared to the end.';
comment on column takeover.differences is 'How many differences that found, beside those that the report explains.';

create table takeover_step (
  id bigint generated always as identity primary key,
  takeover_id bigint not null references takeover on delete cascade,
  round integer not null, phase integer not null, place integer not null,
  name text not null,
  above text, until text, position text,
  expected bigint not null default 0, forecast double precision not null default 0, seen bigint not null default 0, written bigint not null default 0,
  unchanged bigint not null default 0, refused bigint not null default 0, removed bigint not null default 0,
  begun_at timestamptz, updated_at timestamptz, done_at timestamptz,
  fault text, retry_at timestamptz, addresses jsonb not null default '{}'
);
create index takeover_step_phase on takeover_step (takeover_id, round, phase);
comment on table takeover_step is 'Steps of a round: one kind of object, or a part of it. A portion moves the position in the transaction that writes its rows.';
comment on column takeover_step.round is 'The round.';
comment on column takeover_step.phase is 'Which steps it runs beside.';
comment on column takeover_step.place is 'Its place in the list of steps; steps side by side are divided by it.';
comment on column takeover_step.name is 'What is read.';
comment on column takeover_step.above is 'Keys above this one; empty: from the first.';
comment on column takeover_step.until is 'Keys up to this one; empty: to the last.';
comment on column takeover_step.position is 'How far it came: the last key, or page, that was committed.';
comment on column takeover_step.expected is 'How many there are about.';
comment on column takeover_step.forecast is 'How many seconds it would take by itself, as it was told at the begin of the round.';
comment on column takeover_step.seen is 'How many were read.';
comment on column takeover_step.written is 'Of these, how many were new or changed.';
comment on column takeover_step.unchanged is 'Of these, how many were as before.';
comment on column takeover_step.refused is 'Of these, how many could not be written.';
comment on column takeover_step.removed is 'How many are gone at the source, and were removed.';
comment on column takeover_step.begun_at is 'When its first portion began.';
comment on column takeover_step.updated_at is 'When its last portion was committed.';
comment on column takeover_step.done_at is 'When it was complete.';
comment on column takeover_step.fault is 'Why its last portion failed; empty again when it went on.';
comment on column takeover_step.retry_at is 'When it is tried again after that.';
comment on column takeover_step.addresses is 'Addresses of installations in what was read: {"oud.nl": {"confirmed": true, "places": {"zaak kenmerken": 3}}}.';

create table takeover_object (
  kind text not null,
  uuid uuid not null,
  takeover_id bigint not null,
  hash bytea not null,
  round integer not null, changed_in integer not null,
  primary key (uuid, kind)
) with (fillfactor = 80);
comment on table takeover_object is 'What was taken over, with a checksum of how it was: a later round writes what differs and removes what is gone.';
comment on column takeover_object.kind is 'Kind of object.';
comment on column takeover_object.uuid is 'The object.';
comment on column takeover_object.takeover_id is 'Where it came from.';
comment on column takeover_object.hash is 'Checksum of the object at the source.';
comment on column takeover_object.round is 'The last round that saw it.';
comment on column takeover_object.changed_in is 'The last round in which it was new or changed.';

create table takeover_remark (
  id bigint generated always as identity primary key,
  takeover_id bigint not null references takeover on delete cascade,
  kind text not null, key text not null,
  outcome text not null constraint takeover_remark_outcome_check check (outcome in ('geweigerd', 'gemarkeerd', 'verschil')),
  code text not null,
  field text not null default '', value text not null default '',
  text text not null,
  identificatie text not null default '',
  round integer not null,
  created_at timestamptz not null default now(),
  constraint takeover_remark_unique unique (takeover_id, kind, key, code, field)
);
comment on table takeover_remark is 'The report: what did not fit, one row per object and reason. A row goes when a later round finds the object mended.';
comment on column takeover_remark.kind is 'Kind of object.';
comment on column takeover_remark.key is 'uuid of the object, or what it is known by at the source.';
comment on column takeover_remark.outcome is 'geweigerd (not taken), gemarkeerd (taken, with this remark) or verschil (found by the comparison).';
comment on column takeover_remark.code is 'What is the matter, for filters.';
comment on column takeover_remark.field is 'The field, when it is about one.';
comment on column takeover_remark.value is 'What the field holds; never the number of a person.';
comment on column takeover_remark.text is 'The rule that it breaks, for people.';
comment on column takeover_remark.identificatie is 'What people know the object by, or the case or document that it belongs to.';
comment on column takeover_remark.round is 'The last round that found it.';
comment on column takeover_remark.created_at is 'When it was first found.';

create table takeover_postponed (
  id bigint generated always as identity primary key,
  takeover_id bigint not null references takeover on delete cascade,
  kind text not null,
  uuid uuid not null,
  object jsonb not null,
  missing text not null,
  constraint takeover_postponed_unique unique (takeover_id, kind, uuid)
);
comment on table takeover_postponed is 'Objects that refer to one that was not there yet; they are tried again at the end of the round.';
comment on column takeover_postponed.id is 'Internal key; order in which they are tried.';
comment on column takeover_postponed.kind is 'Kind of object.';
comment on column takeover_postponed.uuid is 'The object.';
comment on column takeover_postponed.object is 'The object as it was read.';
comment on column takeover_postponed.missing is 'What it refers to.';

create table takeover_file (
  id bigint generated always as identity primary key,
  takeover_id bigint not null,
  path text not null,
  size bigint,
  file_id bigint references file on delete set null,
  state text not null default 'wacht' constraint takeover_file_state_check check (state in ('wacht', 'klaar', 'ontbreekt')),
  constraint takeover_file_unique unique (takeover_id, path)
);
create index takeover_file_open on takeover_file (takeover_id, id) where state <> 'klaar';
create index takeover_file_file on takeover_file (file_id) where file_id is not null;
comment on table takeover_file is 'Bytes at the source, by their path there: two versions of a document may share one.';
comment on column takeover_file.path is 'Path below the root of the old store, or below the APIs.';
comment on column takeover_file.size is 'Size that the source states.';
comment on column takeover_file.file_id is 'The bytes here.';
comment on column takeover_file.state is 'wacht (not here yet), klaar or ontbreekt (the source has no such bytes).';

create table takeover_content (
  takeover_file_id bigint not null,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  versie integer not null,
  primary key (enkelvoudiginformatieobject_id, versie)
);
create index takeover_content_file on takeover_content (takeover_file_id);
comment on table takeover_content is 'Which version of a document has which bytes at the source.';
comment on column takeover_content.takeover_file_id is 'The bytes.';
comment on column takeover_content.versie is 'The version.';

-- Until the switch the old installation is in charge: nothing of the registers is changed here, and nobody is told of it.
create function require_switch() returns void language plpgsql stable as $$
begin
  if exists (select from takeover where read_only and status <> 'omgeschakeld' and not trial) then
    raise exception 'taken over, and read-only until the switch'
      using errcode = 'integrity_constraint_violation', constraint = 'takeover_read_only';
  end if;
end $$;
comment on function require_switch is 'Refuses while a takeover is under way that lets nothing be changed.';

create function taken_over(object uuid, component text) returns boolean language plpgsql stable as $$
begin
  if not exists (select from takeover where status <> 'omgeschakeld' and not trial) then return false; end if;
  if component in ('zrc', 'drc', 'brc', 'ztc') then perform require_switch(); end if;
  if not exists (select from takeover_object w join takeover o on o.id = w.takeover_id
    where w.uuid = object and o.status <> 'omgeschakeld') then return false; end if;
  perform require_switch();
  return true;
end $$;
comment on function taken_over is 'Whether this main object was taken over and the switch is still to come: its changes are not announced. Refuses changes of the registers when they are not allowed either.';
