-- What an import has prepared says in which store it lies, and every process says to which store it writes: so that a change of
-- DOCUMENTEN_API_BACKEND during an import, or beside a move of all documents, loses no bytes.

alter table import_ahead add column backend text, add column store text, add column directory text;
select describe('import_ahead', 'Batches of the active import that a worker prepares, or has prepared, before they are written.',
  'backend', 'Backend to which its files are copied; empty: a program of before 1.1.0 prepares it.',
  'store', 'Which store that is: two with the same backend may have other directories or buckets.',
  'directory', 'What the keys of its files begin with: nothing else is below it.');

create table store_writer (
  id uuid primary key, backend text not null, store text not null,
  host text not null, pid integer not null, seen_at timestamptz not null default now()
);
select describe('store_writer', 'Processes that write documents, and to which store.',
  'id', 'Id of the process, new at each start.', 'backend', 'Backend of the store.', 'store', 'Which store that is.',
  'host', 'Name of its machine or container.', 'pid', 'Process id on that machine.', 'seen_at', 'Its last sign of life.');

select describe_rest();
