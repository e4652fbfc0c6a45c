-- What an import has prepared says in which store it lies, and every process says to which store it writes: so that a change of
-- DOCUMENTEN_API_BACKEND during an import, or beside a move of all documents, loses no bytes.

alter table import_ahead add column backend text, add column store text, add column directory text,
  add column bytes bigint not null default 0;
select describe('import_ahead', 'Batches of the active import that a worker prepares, or has prepared, before they are written.',
  'backend', 'Backend to which its files are copied; empty: a program of before 1.1.0 prepares it.',
  'store', 'Which store that is: two with the same backend may have other directories or buckets.',
  'directory', 'What the keys of its files begin with: nothing else is below it.',
  'bytes', 'Size of the files that are being copied, where they come on a disk of ours.');

create table store_writer (
  id uuid primary key, backend text not null, store text not null,
  host text not null, pid integer not null, seen_at timestamptz not null default now()
);
select describe('store_writer', 'Processes that write documents, and to which store.',
  'id', 'Id of the process, new at each start.', 'backend', 'Backend of the store.', 'store', 'Which store that is.',
  'host', 'Name of its machine or container.', 'pid', 'Process id on that machine.', 'seen_at', 'Its last sign of life.');

-- Rows are numbered without those that were passed over, so that a batch is a stretch of numbers. People count all rows of their file.
create table import_shift (
  import_id bigint not null references import on delete cascade, number integer not null, shift integer not null,
  primary key (import_id, number)
);
select describe('import_shift', 'How many more rows of the file lie before a row than its number says; of each row from which that differs on.',
  'number', 'The row.', 'shift', 'What is added to numbers from there on to get that of the file.');
create table import_draft_shift (
  draft_id bigint not null references import_draft on delete cascade, number integer not null, shift integer not null,
  primary key (draft_id, number)
);
select describe('import_draft_shift', 'The same of an uploaded file that was not imported yet.',
  'number', 'The row.', 'shift', 'What is added to numbers from there on to get that of the file.');

create function import_line(import bigint, row_number integer) returns integer language sql stable as $$
  select row_number + coalesce((
    select shift from import_shift where import_id = import and number <= row_number order by number desc limit 1), 0)
$$;
comment on function import_line is 'The number that a row of an import has in its file.';
create function import_draft_line(draft bigint, row_number integer) returns integer language sql stable as $$
  select row_number + coalesce((
    select shift from import_draft_shift where draft_id = draft and number <= row_number order by number desc limit 1), 0)
$$;
comment on function import_draft_line is 'The number that a row of an uploaded file has in it.';

alter table import add column passed_over integer not null default 0, add column rest_of bigint references import on delete set null;
create index import_rest_of_idx on import (rest_of) where rest_of is not null;
select describe('import', 'Bulk imports of documents.',
  'passed_over', 'Rows that became a document before: their column resultaat says so, or the import of which this is the rest.',
  'rest_of', 'The import of which this one brings what failed.');
alter table import_draft add column passed_over integer not null default 0,
  add column trial_bytes bigint not null default 0, add column trial_largest bigint not null default 0,
  add column trial_largest_line integer;
select describe('import_draft', 'Files that were uploaded in the administration pages and not imported yet. The daily clean-up removes them after a day.',
  'passed_over', 'Rows whose column resultaat says that they became a document before.',
  'trial_bytes', 'Size of the files that would be copied, as far as the dry run has looked.',
  'trial_largest', 'Size of the largest of them.', 'trial_largest_line', 'The row of that one, as numbered in the file.');

-- Rows are written once, portion by portion while a file is received: below the number of a draft, in import_row. Taking them is saying
-- of which import they are. A worker of 1.0.0 does not find the rows of such an import: it tries a batch, and fails, until one of 1.1.0
-- comes. What 1.0.0 received itself stays where it is.
alter table import_row drop constraint import_row_import_id_fkey;
alter table import add column rows_id bigint;
select describe('import', 'Bulk imports of documents.',
  'rows_id', 'Its rows in import_row: those of a draft with a minus before its id. Empty: those with its own id.');
create function import_draft_rows(draft bigint) returns table (number integer, cells json, bytes integer) language sql stable as $$
  select r.number, r.cells, r.bytes from import_row r where r.import_id = -draft
  union all select r.number, r.cells, octet_length(r.cells::text) from import_draft_row r where r.draft_id = draft
$$;
comment on function import_draft_rows is 'The rows of an uploaded file that was not imported yet.';
select describe('import_row', 'Rows of uploaded files, as they came.',
  'import_id', 'The import; below zero the draft that received them (rows_id of import).');
comment on table import_draft_row is 'Rows of files that a program of 1.0.0 received to be looked at.';

create table import_receipt (
  import_id bigint primary key references import on delete cascade,
  position integer not null default 0, documents integer not null default 0, bytes bigint not null default 0,
  gone integer not null default 0, damaged integer not null default 0, faults jsonb not null default '[]', hash bytea not null default '',
  created_at timestamptz not null default now(), ended_at timestamptz, jws text
);
select describe('import_receipt', 'What was found when each copy that an import stored was read once more, after its end.',
  'position', 'The last row whose copy was read.', 'documents', 'Copies that are what their source was.', 'bytes', 'Size of these.',
  'gone', 'Documents that were deleted since.', 'damaged', 'Copies that are not what their source was, or are missing.',
  'faults', 'The first hundred of those.', 'hash', 'Chain over the sums of all copies (src/documenten/import/receipt.ts).',
  'ended_at', 'When all copies were read.', 'jws', 'The receipt, signed.');

alter table import add column sha256 bytea;
alter table import_draft add column sha256 bytea;
create index import_sha256 on import (sha256) where sha256 is not null;
select describe('import', 'Bulk imports of documents.', 'sha256', 'SHA-256 of its file: the same one again is told.');
select describe('import_draft', 'Files that were uploaded in the administration pages and not imported yet. The daily clean-up removes them after a day.',
  'sha256', 'SHA-256 of the file.');

select describe_rest();
