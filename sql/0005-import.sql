-- Bulk import of documents. The uploaded CSV is staged row by row; results stand apart, so that the wide rows are
-- never rewritten; counters and position move in the transaction that holds the documents of the batch.

create table import (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint import_uuid_uniek unique,
  soort text not null default 'documenten' check (soort = 'documenten'),
  status text not null default 'pending' check (status in ('pending', 'active', 'finished', 'error')),
  reden text,
  kop json,
  basis_url text,
  batchgrootte integer,
  totaal integer not null default 0,
  verwerkt integer not null default 0,
  geslaagd integer not null default 0,
  mislukt integer generated always as (verwerkt - geslaagd) stored,
  applicatie_uuid text not null default '',
  client_id text not null default '',
  gemaakt_op timestamptz not null default now(),
  gestart_op timestamptz,
  bijgewerkt_op timestamptz not null default now(),
  beeindigd_op timestamptz,
  verwijderd_op timestamptz
);
-- The rule "one open import", kept by the database: a second create, however simultaneous, meets this index.
create unique index import_een_open on import (soort) where status in ('pending', 'active');
comment on table import is 'Bulk imports of documents.';
comment on column import.id is 'Internal key.';
comment on column import.uuid is 'Part of its URLs.';
comment on column import.soort is 'What is imported.';
comment on column import.status is 'pending (no CSV yet), active (runs), finished (all rows handled) or error (stopped before the end).';
comment on column import.reden is 'Why it stopped (status error), or what it waits for (status active).';
comment on column import.kop is 'Header of the CSV, as an array of names.';
comment on column import.basis_url is 'Address under which the upload came in: URLs in rows that begin with it are ours.';
comment on column import.batchgrootte is 'Rows a batch (IMPORT_DOCUMENTEN_BATCH_SIZE at the upload).';
comment on column import.totaal is 'Rows in the CSV.';
comment on column import.verwerkt is 'Rows handled and committed; the next batch begins at the row after.';
comment on column import.geslaagd is 'Of these, rows that became a document.';
comment on column import.mislukt is 'Of these, rows that did not.';
comment on column import.applicatie_uuid is 'Application that made it.';
comment on column import.client_id is 'Client that made it.';
comment on column import.gemaakt_op is 'When it was made.';
comment on column import.gestart_op is 'When its CSV was accepted.';
comment on column import.bijgewerkt_op is 'When its last batch was committed.';
comment on column import.beeindigd_op is 'When it became finished or error.';
comment on column import.verwijderd_op is 'When it was deleted; a job then removes its rows bit by bit.';

create table import_regel (
  import_id bigint not null references import on delete cascade,
  nummer integer not null,
  cellen json not null,
  primary key (import_id, nummer)
);
comment on table import_regel is 'Rows of the uploaded CSV, as they came.';
comment on column import_regel.import_id is 'The import.';
comment on column import_regel.nummer is 'Row number as people count it in the file: the header is 1, the first row is 2.';
comment on column import_regel.cellen is 'The cells in their order (json and not jsonb: a cell may hold what jsonb refuses).';

create table import_resultaat (
  import_id bigint not null references import on delete cascade,
  nummer integer not null,
  geslaagd boolean not null,
  opmerking text not null default '',
  document_uuid uuid,
  identificatie text,
  primary key (import_id, nummer)
);
comment on table import_resultaat is 'Outcome of a row, written with the document that it became.';
comment on column import_resultaat.import_id is 'The import.';
comment on column import_resultaat.nummer is 'The row.';
comment on column import_resultaat.geslaagd is 'Whether it became a document.';
comment on column import_resultaat.opmerking is 'Why not, naming the column.';
comment on column import_resultaat.document_uuid is 'uuid of the document.';
comment on column import_resultaat.identificatie is 'identificatie of the document.';

-- Documents come with numbers of their own, from another register for instance, so that the next number may be taken. Many
-- in a row are passed over at once: a number that the sequence gave out does not come back.
create or replace function document_identificatie(creatiedatum date) returns text language plpgsql volatile as $$
declare
  kenmerk text;
begin
  loop
    select 'DOCUMENT-' || to_char(creatiedatum, 'YYYY') || '-' || lpad(n::text, greatest(10, length(n::text)), '0')
      into kenmerk from nextval('document_nummer') n;
    exit when not exists (select from enkelvoudiginformatieobject e where e.identificatie = kenmerk);
  end loop;
  return kenmerk;
end $$;
