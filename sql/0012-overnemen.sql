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
  source text not null, settings jsonb not null default '{}', secret bytea not null,
  trial boolean not null default false,
  status text not null default 'loopt' constraint takeover_status_check check (status in ('loopt', 'klaar', 'gestopt', 'omgeschakeld')),
  round integer not null default 1, phase integer not null default 0,
  read_only boolean not null default true, changes_only boolean not null default false,
  snapshot text,
  created_at timestamptz not null default now(), round_begun_at timestamptz not null default now(), round_done_at timestamptz,
  switched_at timestamptz, switch_snapshot text, checked_at timestamptz, differences bigint
);
create unique index takeover_one_source on takeover (source, trial) where status <> 'omgeschakeld';
select describe('takeover', 'Takeovers of other installations. One row as long as it lasts, however often it is run.',
  'uuid', 'Part of its URL in the beheer.', 'kind', 'api (through the APIs of the standard) or open-zaak (from its database).',
  'source', 'Where it comes from, without user or password.',
  'secret', 'Secret of the client or address of the database, sealed with a key of the ring.',
  'settings', 'How it is read: {"clientId", "oudeUrls", "bestanden", "bytes", "wijzigingen", "naast", "tempo"}.',
  'trial', 'Dry run: all is written to shadow tables that are thrown away, for the report.',
  'status', 'loopt (a round is under way), klaar (the round is complete), gestopt (cannot go on) or omgeschakeld (this side is in charge now).',
  'round', 'Number of the round: each brings what changed since the one before.',
  'phase', 'Steps of one phase run side by side; the next begins when all are complete.',
  'read_only', 'Whether the APIs refuse changes of what was taken over, until the switch.',
  'changes_only', 'Whether this round reads only what changed since the one before.',
  'snapshot', 'Exported snapshot of the database that this round reads.', 'round_begun_at', 'When this round began.',
  'round_done_at', 'When this round was complete.', 'switched_at', 'When this side came in charge.',
  'switch_snapshot', 'Which transactions had ended then: what changed since is played back by it.',
  'checked_at', 'When both sides were last compared to the end.',
  'differences', 'How many differences that found, beside those that the report explains.');

create table takeover_step (
  id bigint generated always as identity primary key,
  takeover_id bigint not null references takeover on delete cascade,
  round integer not null, phase integer not null, place integer not null,
  name text not null, above text, until text, position text,
  expected bigint not null default 0, forecast double precision not null default 0, seen bigint not null default 0, written bigint not null default 0,
  unchanged bigint not null default 0, refused bigint not null default 0, removed bigint not null default 0,
  begun_at timestamptz, updated_at timestamptz, done_at timestamptz,
  fault text, retry_at timestamptz, addresses jsonb not null default '{}'
);
create index takeover_step_phase on takeover_step (takeover_id, round, phase);
select describe('takeover_step', 'Steps of a round: one kind of object, or a part of it. A portion moves the position in the transaction that writes its rows.',
  'round', 'The round.', 'phase', 'Which steps it runs beside.',
  'place', 'Its place in the list of steps; steps side by side are divided by it.', 'name', 'What is read.',
  'above', 'Keys above this one; empty: from the first.', 'until', 'Keys up to this one; empty: to the last.',
  'position', 'How far it came: the last key, or page, that was committed.', 'expected', 'How many there are about.',
  'forecast', 'How many seconds it would take by itself, as it was told at the begin of the round.', 'seen', 'How many were read.',
  'written', 'Of these, how many were new or changed.', 'unchanged', 'Of these, how many were as before.',
  'refused', 'Of these, how many could not be written.', 'removed', 'How many are gone at the source, and were removed.',
  'begun_at', 'When its first portion began.', 'updated_at', 'When its last portion was committed.', 'done_at', 'When it was complete.',
  'fault', 'Why its last portion failed; empty again when it went on.', 'retry_at', 'When it is tried again after that.',
  'addresses', 'Addresses of installations in what was read: {"oud.nl": {"confirmed": true, "places": {"zaak kenmerken": 3}}}.');

create table takeover_object (
  kind text not null, uuid uuid not null, takeover_id bigint not null, hash bytea not null,
  round integer not null, changed_in integer not null,
  primary key (uuid, kind)
) with (fillfactor = 80);
select describe('takeover_object', 'What was taken over, with a checksum of how it was: a later round writes what differs and removes what is gone.',
  'kind', 'Kind of object.', 'uuid', 'The object.', 'takeover_id', 'Where it came from.', 'hash', 'Checksum of the object at the source.',
  'round', 'The last round that saw it.', 'changed_in', 'The last round in which it was new or changed.');

create table takeover_remark (
  id bigint generated always as identity primary key,
  takeover_id bigint not null references takeover on delete cascade,
  kind text not null, key text not null,
  outcome text not null constraint takeover_remark_outcome_check check (outcome in ('geweigerd', 'gemarkeerd', 'verschil')),
  code text not null, field text not null default '', value text not null default '', text text not null,
  identificatie text not null default '', round integer not null,
  created_at timestamptz not null default now(),
  constraint takeover_remark_unique unique (takeover_id, kind, key, code, field)
);
select describe('takeover_remark', 'The report: what did not fit, one row per object and reason. A row goes when a later round finds the object mended.',
  'kind', 'Kind of object.', 'key', 'uuid of the object, or what it is known by at the source.',
  'outcome', 'geweigerd (not taken), gemarkeerd (taken, with this remark) or verschil (found by the comparison).',
  'code', 'What is the matter, for filters.', 'field', 'The field, when it is about one.',
  'value', 'What the field holds; never the number of a person.', 'text', 'The rule that it breaks, for people.',
  'identificatie', 'What people know the object by, or the case or document that it belongs to.', 'round', 'The last round that found it.',
  'created_at', 'When it was first found.');

create table takeover_postponed (
  id bigint generated always as identity primary key,
  takeover_id bigint not null references takeover on delete cascade,
  kind text not null, uuid uuid not null, object jsonb not null, missing text not null,
  constraint takeover_postponed_unique unique (takeover_id, kind, uuid)
);
select describe('takeover_postponed', 'Objects that refer to one that was not there yet; they are tried again at the end of the round.',
  'id', 'Internal key; order in which they are tried.', 'kind', 'Kind of object.', 'uuid', 'The object.',
  'object', 'The object as it was read.', 'missing', 'What it refers to.');

create table takeover_file (
  id bigint generated always as identity primary key,
  takeover_id bigint not null, path text not null, size bigint,
  file_id bigint references file on delete set null,
  state text not null default 'wacht' constraint takeover_file_state_check check (state in ('wacht', 'klaar', 'ontbreekt')),
  constraint takeover_file_unique unique (takeover_id, path)
);
create index takeover_file_open on takeover_file (takeover_id, id) where state <> 'klaar';
create index takeover_file_file on takeover_file (file_id) where file_id is not null;
select describe('takeover_file', 'Bytes at the source, by their path there: two versions of a document may share one.',
  'path', 'Path below the root of the old store, or below the APIs.', 'size', 'Size that the source states.', 'file_id', 'The bytes here.',
  'state', 'wacht (not here yet), klaar or ontbreekt (the source has no such bytes).');

create table takeover_content (
  takeover_file_id bigint not null,
  enkelvoudiginformatieobject_id bigint not null references enkelvoudiginformatieobject on delete cascade,
  versie integer not null,
  primary key (enkelvoudiginformatieobject_id, versie)
);
create index takeover_content_file on takeover_content (takeover_file_id);
select describe('takeover_content', 'Which version of a document has which bytes at the source.',
  'takeover_file_id', 'The bytes.', 'versie', 'The version.');

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

-- The way back: what changed since the switch is played to the APIs of the old installation, and each row says how far one object is.
create table playback (
  id bigint generated always as identity primary key,
  takeover_id bigint not null references takeover on delete cascade,
  target text not null, planned_to text not null,
  begun_at timestamptz not null default now(), done_at timestamptz,
  constraint playback_unique unique (takeover_id, target)
);
select describe('playback', 'Playbacks of what changed since a switch, by the installation that they go to.',
  'target', 'Address of the installation, without user or password.',
  'planned_to', 'The snapshot up to which changes are in playback_item; the next run goes on from it.',
  'begun_at', 'When it was first asked for.', 'done_at', 'When all was last tried.');

create table playback_item (
  playback_id bigint not null references playback on delete cascade,
  place bigint generated always as identity,
  resource text not null, uuid uuid not null, row_id bigint not null, main uuid,
  made_here boolean not null,
  state text not null default 'waiting' constraint playback_item_state_check
    check (state in ('waiting', 'sent', 'made', 'created', 'changed', 'deleted', 'equal', 'refused')),
  there uuid, locked boolean not null default false,
  label text not null default '', remarks jsonb not null default '[]',
  primary key (playback_id, uuid, resource)
);
create unique index playback_item_place on playback_item (playback_id, resource, place);
create index playback_item_there on playback_item (there) where there is not null;
select describe('playback_item', 'Objects that changed since the switch, and what became of them there. Also the map from our uuids to those of what was made there.',
  'playback_id', 'The playback.', 'place', 'The order in which they changed here.', 'resource', 'Kind of object, as the feed names it.', 'uuid', 'The object here.',
  'row_id', 'Its row here.', 'main', 'The case, document or besluit that it is or belongs to; empty when that is gone.',
  'made_here', 'Whether it was made since the switch: it has another uuid there.',
  'state', 'waiting, sent (a create of which no answer was seen), made (to be compared), or how it ended: created, changed, deleted, equal or refused.',
  'there', 'Its uuid there, when it was made by this.', 'locked', 'Whether this locked the document there, and did not see it unlocked.',
  'label', 'What people know it by.', 'remarks', 'What did not go back: [{"outcome", "code", "field", "value", "text"}].');
