-- Bulk import of documents. The uploaded CSV is staged row by row; results stand apart, so that the wide rows are never
-- rewritten; counters and position move in the transaction that holds the documents of the batch. Files that are uploaded in
-- the administration pages wait in import_draft, to be looked at and tried before they are imported.

create table import (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint import_uuid_unique unique,
  kind text not null default 'documenten' constraint import_kind_check check (kind = 'documenten'),
  status text not null default 'pending'
    constraint import_status_check check (status in ('queued', 'pending', 'active', 'finished', 'error')),
  reason text, header json, dialect jsonb not null default '{}', base_url text, batch_size integer,
  total integer not null default 0, processed integer not null default 0, succeeded integer not null default 0,
  failed integer generated always as (processed - succeeded) stored,
  empty_rows integer not null default 0,
  applicatie_uuid text not null default '', client_id text not null default '', started_by text not null default '',
  bestandsnaam text not null default '',
  created_at timestamptz not null default now(), started_at timestamptz, updated_at timestamptz not null default now(),
  ended_at timestamptz, deleted_at timestamptz,
  paused_at timestamptz
);
-- The rule "one open import", kept by the database: a second create, however simultaneous, meets this index.
create unique index import_one_open on import (kind) where status in ('pending', 'active');
-- An import that waits for its turn is not open. Whoever ends the open one opens the first of these (progress.ts).
create index import_queue on import (id) where status = 'queued';
select describe('import', 'Bulk imports of documents.',
  'uuid', 'Part of its URLs.', 'kind', 'What is imported.',
  'status', 'queued (waits for its turn), pending (no CSV yet), active (runs), finished (all rows handled) or error (stopped before the end).',
  'reason', 'Why it stopped (status error), or what it waits for (status active).',
  'header', 'Header of the CSV, as an array of names; empty: no CSV yet.',
  'dialect', 'How the file was written (src/documenten/import/dialect.ts), for a report that is written the same way; {}: as RFC 4180 has it.',
  'base_url', 'Address under which the upload came in: URLs in rows that begin with it are ours.',
  'batch_size', 'Rows a batch (IMPORT_DOCUMENTEN_BATCH_SIZE at the upload).', 'total', 'Rows in the CSV, without the empty ones.',
  'processed', 'Rows handled and committed; the next batch begins at the row after.', 'succeeded', 'Of these, rows that became a document.',
  'failed', 'Of these, rows that did not.', 'empty_rows', 'Rows without anything in them, which were passed over.',
  'applicatie_uuid', 'Application that made it.', 'client_id', 'Client that made it.',
  'started_by', 'Account of the administration pages that started it; empty: a client did.',
  'bestandsnaam', 'Name of the file as the browser gave it; empty for uploads of clients.',
  'started_at', 'When its CSV was accepted, or its turn came after that.', 'updated_at', 'When its last batch was committed.',
  'ended_at', 'When it became finished or error.', 'deleted_at', 'When it was deleted; a job then removes its rows bit by bit.',
  'paused_at', 'Since when it is paused (status active): no batch is begun until it goes on.');

create table import_row (
  import_id bigint not null references import on delete cascade,
  number integer not null, cells json not null,
  bytes integer not null generated always as (octet_length(cells::text)) stored,
  primary key (import_id, number)
);
select describe('import_row', 'Rows of the uploaded CSV, as they came.',
  'number', 'Row number as people count it in the file: the header is 1, the first row is 2; empty rows do not count.',
  'cells', 'The cells in their order (json and not jsonb: a cell may hold what jsonb refuses).', 'bytes', 'Size of the cells in bytes.');

-- The same reason in two rows may differ in a number that belongs to the row: its own, in front, and the size of its file.
create function import_reason(remark text) returns text language sql immutable parallel safe as $$
  select left(regexp_replace(regexp_replace(remark, '^\w+ \d+: ', ''), '\d+(?= bytes \w+\.)', '#', 'g'), 1000)
$$;
comment on function import_reason is 'Why a row failed, without what differs from row to row: a # stands for it. src/documenten/import/judge.ts has it in words.';

create table import_outcome (
  import_id bigint not null references import on delete cascade,
  number integer not null, succeeded boolean not null, remark text not null default '',
  document_uuid uuid, identificatie text,
  primary key (import_id, number)
);
create index import_outcome_failed on import_outcome (import_id, number) where not succeeded;
create index import_outcome_reason on import_outcome (import_id, hashtextextended(import_reason(remark), 0), number) where not succeeded;
select describe('import_outcome', 'Outcome of a row, written with the document that it became.',
  'number', 'The row.', 'succeeded', 'Whether it became a document.', 'remark', 'Why not, naming the column.',
  'document_uuid', 'uuid of the document.', 'identificatie', 'identificatie of the document.');

create table import_fault_kind (
  import_id bigint not null references import on delete cascade,
  hash bigint not null, reason text not null, count integer not null,
  primary key (import_id, hash)
);
create index import_fault_kind_count on import_fault_kind (import_id, count desc, hash);
select describe('import_fault_kind', 'How many rows of an import failed for one reason; kept with every batch, since counting a million rows takes too long for a page.',
  'hash', 'Hash of the reason.', 'reason', 'The reason (function import_reason).', 'count', 'Rows that failed for it.');

create table import_figure (
  import_id bigint not null references import on delete cascade, at timestamptz not null,
  handled integer not null, failed integer not null,
  primary key (import_id, at)
);
select describe('import_figure', 'How many rows of an import were handled in ten seconds, for the picture of its speed; each batch adds its own.',
  'at', 'Begin of the ten seconds.', 'handled', 'Rows handled.', 'failed', 'Of these, rows that did not become a document.');

create function count_import_faults() returns trigger language plpgsql as $$
begin
  insert into import_fault_kind (import_id, hash, reason, count)
  select import_id, hashtextextended(reason, 0) as hash, min(reason), count(*)
  from (select import_id, import_reason(remark) as reason from added where not succeeded) f
  group by 1, 2 order by 1, 2
  on conflict (import_id, hash) do update set count = import_fault_kind.count + excluded.count;
  return null;
end $$;
comment on function count_import_faults is 'Adds the failed rows of a batch to import_fault_kind.';
create trigger count_import_faults after insert on import_outcome
  referencing new table as added for each statement execute function count_import_faults();

-- Several workers prepare batches of one import before it is their turn: a second worker makes an import faster where its files take
-- long, as with a blob store. Unlogged, because what a crash loses of it is prepared again.
create unlogged table import_ahead (
  import_id bigint not null references import on delete cascade,
  start integer not null, rows integer not null, claim uuid not null,
  seen_at timestamptz not null default now(), content json,
  primary key (import_id, start)
);
-- It lives for seconds: packing it would cost more than its place.
alter table import_ahead alter column content set storage external;
select describe('import_ahead', 'Batches of the active import that a worker prepares, or has prepared, before they are written.',
  'start', 'How many rows lie before its first one.', 'rows', 'How many rows it has.',
  'claim', 'Id of the claim: who prepares it, and whose files these are.',
  'seen_at', 'Last sign of life of who prepares it; when it was ready.',
  'content', 'What was prepared: rows that failed, and rows with their copied file; empty: not ready.');

create table import_draft (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint import_draft_uuid_unique unique,
  bestandsnaam text not null default '', bytes bigint not null default 0, header json,
  dialect jsonb not null default '{}', base_url text not null,
  total integer not null default 0, empty_rows integer not null default 0,
  created_by text not null default '', created_at timestamptz not null default now(), deleted_at timestamptz,
  trial_status text constraint import_draft_trial_status_check check (trial_status in ('wacht', 'bezig', 'klaar', 'mislukt')),
  trial_reason text, trial_handled integer not null default 0, trial_faults integer not null default 0,
  trial_started_at timestamptz, trial_updated_at timestamptz,
  trial_ended_at timestamptz
);
select describe('import_draft', 'Files that were uploaded in the administration pages and not imported yet. The daily clean-up removes them after a day.',
  'uuid', 'Part of the addresses of its pages.', 'bestandsnaam', 'Name of the file as the browser gave it.',
  'bytes', 'Size of the file in bytes.', 'header', 'Header of the CSV, as an array of names.',
  'dialect', 'How the file was written (src/documenten/import/dialect.ts).',
  'base_url', 'Address under which the upload came in: URLs in rows that begin with it are ours.',
  'total', 'Rows in the CSV, without the empty ones.', 'empty_rows', 'Rows without anything in them, which were passed over.',
  'created_by', 'Account that uploaded it.', 'created_at', 'When it was uploaded.',
  'deleted_at', 'When it was imported or thrown away; a job then removes its rows bit by bit.',
  'trial_status', 'Dry run: wacht (asked for), bezig, klaar or mislukt (stopped before the end); empty: never asked for.',
  'trial_reason', 'Why the dry run stopped.', 'trial_handled', 'Rows that the dry run has looked at.',
  'trial_faults', 'Of these, rows that would not be imported.',
  'trial_started_at', 'When the dry run began. It also tells two runs of its job apart: the older one ends.',
  'trial_updated_at', 'Last progress of the dry run.', 'trial_ended_at', 'When the dry run ended.');

create table import_draft_row (
  draft_id bigint not null references import_draft on delete cascade,
  number integer not null, cells json not null,
  primary key (draft_id, number)
);
select describe('import_draft_row', 'Rows of an uploaded CSV, as they came; they become those of import_row.',
  'number', 'Row number as people count it in the file: the header is 1, the first row is 2.', 'cells', 'The cells in their order.');

create table import_draft_fault (
  draft_id bigint not null references import_draft on delete cascade,
  number integer not null, remark text not null,
  primary key (draft_id, number)
);
select describe('import_draft_fault', 'Rows of an uploaded CSV that would not be imported, as the dry run found.',
  'number', 'The row.', 'remark', 'Why not, naming the column.');

create table import_draft_fault_kind (
  draft_id bigint not null references import_draft on delete cascade,
  hash bigint not null, reason text not null, count integer not null, examples jsonb not null,
  primary key (draft_id, hash)
);
create index import_draft_fault_kind_count on import_draft_fault_kind (draft_id, count desc, hash);
select describe('import_draft_fault_kind', 'How many rows would fail for one reason, as the dry run found.',
  'hash', 'Hash of the reason.', 'reason', 'The reason (function import_reason).', 'count', 'Rows that would fail for it.',
  'examples', 'The first few of them: number and remark.');

-- Not logged: after a crash of the database the dry run begins anew.
create unlogged table import_draft_key (
  draft_id bigint not null references import_draft on delete cascade,
  key text not null,
  primary key (draft_id, key)
);
comment on table import_draft_key is 'The uuids and numbers that a dry run has met in good rows, to find those that come twice in a file of any size.';
comment on column import_draft_key.key is 'A uuid, or a bronorganisatie and identificatie.';

create view import_overview as
select
  i.uuid,
  i.status,
  i.total,
  i.processed,
  i.succeeded,
  i.failed,
  case when i.total > 0 then round(100.0 * i.processed / i.total, 1) end as percent,
  case when i.processed > 0 and i.started_at is not null then
    round(i.processed / greatest(extract(epoch from coalesce(i.ended_at, i.updated_at) - i.started_at), 0.001), 1)
  end as rows_per_second,
  i.reason,
  i.client_id,
  i.created_at,
  i.started_at,
  i.updated_at,
  i.ended_at
from import i
where i.deleted_at is null
order by i.id desc;
select describe('import_overview', 'Imports with their progress, newest first.',
  'percent', 'Rows handled, in per cent of all.', 'rows_per_second', 'Rows handled a second since the upload.');
