-- Imports in the administration pages: who started one and with which file, failures by their reason, and files that were
-- uploaded to be looked at before they are imported.
-- An operator notices that two indexes on the failed rows of imports are built, which takes a second per million of them.

alter table import add column gestart_door text not null default '';
alter table import add column bestandsnaam text not null default '';
comment on column import.gestart_door is 'Account of the administration pages that started it; empty: a client did.';
comment on column import.bestandsnaam is 'Name of the file as the browser gave it; empty for uploads of clients.';

-- The same reason in two rows may differ in a number that belongs to the row.
create function import_reden(opmerking text) returns text language sql immutable parallel safe as $$
  select left(regexp_replace(regexp_replace(opmerking, '^Rij \d+: ', ''),
    'Het bestand is \d+ bytes groot\.', 'Het bestand is groter of kleiner dan hier staat.', 'g'), 1000)
$$;
comment on function import_reden is 'Why a row failed, without what differs from row to row.';

create index import_resultaat_mislukt on import_resultaat (import_id, nummer) where not geslaagd;
create index import_resultaat_reden on import_resultaat (import_id, hashtextextended(import_reden(opmerking), 0), nummer)
  where not geslaagd;

create table import_foutsoort (
  import_id bigint not null references import on delete cascade,
  sleutel bigint not null,
  reden text not null,
  aantal integer not null,
  primary key (import_id, sleutel)
);
create index import_foutsoort_aantal on import_foutsoort (import_id, aantal desc, sleutel);
comment on table import_foutsoort is 'How many rows of an import failed for one reason; kept with every batch, since counting a million rows takes too long for a page.';
comment on column import_foutsoort.import_id is 'The import.';
comment on column import_foutsoort.sleutel is 'Hash of the reason.';
comment on column import_foutsoort.reden is 'The reason (function import_reden).';
comment on column import_foutsoort.aantal is 'Rows that failed for it.';

create function import_foutsoort_tellen() returns trigger language plpgsql as $$
begin
  insert into import_foutsoort (import_id, sleutel, reden, aantal)
  select import_id, hashtextextended(reden, 0) as sleutel, min(reden), count(*)
  from (select import_id, import_reden(opmerking) as reden from nieuw where not geslaagd) f
  group by 1, 2 order by 1, 2
  on conflict (import_id, sleutel) do update set aantal = import_foutsoort.aantal + excluded.aantal;
  return null;
end $$;
comment on function import_foutsoort_tellen is 'Adds the failed rows of a batch to import_foutsoort.';
create trigger import_foutsoort_tellen after insert on import_resultaat
  referencing new table as nieuw for each statement execute function import_foutsoort_tellen();

insert into import_foutsoort (import_id, sleutel, reden, aantal)
select import_id, hashtextextended(reden, 0), min(reden), count(*)
from (select import_id, import_reden(opmerking) as reden from import_resultaat where not geslaagd) f group by 1, 2;

create table import_concept (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint import_concept_uuid_uniek unique,
  bestandsnaam text not null default '',
  omvang bigint not null default 0,
  kop json,
  basis_url text not null,
  totaal integer not null default 0,
  gemaakt_door text not null default '',
  gemaakt_op timestamptz not null default now(),
  verwijderd_op timestamptz,
  proef_status text check (proef_status in ('wacht', 'bezig', 'klaar', 'mislukt')),
  proef_reden text,
  proef_verwerkt integer not null default 0,
  proef_fouten integer not null default 0,
  proef_gestart_op timestamptz,
  proef_bijgewerkt_op timestamptz,
  proef_beeindigd_op timestamptz
);
comment on table import_concept is 'Files that were uploaded in the administration pages and not imported yet. The daily clean-up removes them after a day.';
comment on column import_concept.id is 'Internal key.';
comment on column import_concept.uuid is 'Part of the addresses of its pages.';
comment on column import_concept.bestandsnaam is 'Name of the file as the browser gave it.';
comment on column import_concept.omvang is 'Size of the file in bytes.';
comment on column import_concept.kop is 'Header of the CSV, as an array of names.';
comment on column import_concept.basis_url is 'Address under which the upload came in: URLs in rows that begin with it are ours.';
comment on column import_concept.totaal is 'Rows in the CSV.';
comment on column import_concept.gemaakt_door is 'Account that uploaded it.';
comment on column import_concept.gemaakt_op is 'When it was uploaded.';
comment on column import_concept.verwijderd_op is 'When it was imported or thrown away; a job then removes its rows bit by bit.';
comment on column import_concept.proef_status is 'Dry run: wacht (asked for), bezig, klaar or mislukt (stopped before the end); empty: never asked for.';
comment on column import_concept.proef_reden is 'Why the dry run stopped.';
comment on column import_concept.proef_verwerkt is 'Rows that the dry run has looked at.';
comment on column import_concept.proef_fouten is 'Of these, rows that would not be imported.';
comment on column import_concept.proef_gestart_op is 'When the dry run began. It also tells two runs of its job apart: the older one ends.';
comment on column import_concept.proef_bijgewerkt_op is 'Last progress of the dry run.';
comment on column import_concept.proef_beeindigd_op is 'When the dry run ended.';

create table import_concept_regel (
  concept_id bigint not null references import_concept on delete cascade,
  nummer integer not null,
  cellen json not null,
  primary key (concept_id, nummer)
);
comment on table import_concept_regel is 'Rows of an uploaded CSV, as they came; they become those of import_regel.';
comment on column import_concept_regel.concept_id is 'The upload.';
comment on column import_concept_regel.nummer is 'Row number as people count it in the file: the header is 1, the first row is 2.';
comment on column import_concept_regel.cellen is 'The cells in their order.';

create table import_concept_foutsoort (
  concept_id bigint not null references import_concept on delete cascade,
  sleutel bigint not null,
  reden text not null,
  aantal integer not null,
  voorbeelden jsonb not null,
  primary key (concept_id, sleutel)
);
create index import_concept_foutsoort_aantal on import_concept_foutsoort (concept_id, aantal desc, sleutel);
comment on table import_concept_foutsoort is 'How many rows would fail for one reason, as the dry run found.';
comment on column import_concept_foutsoort.concept_id is 'The upload.';
comment on column import_concept_foutsoort.sleutel is 'Hash of the reason.';
comment on column import_concept_foutsoort.reden is 'The reason (function import_reden).';
comment on column import_concept_foutsoort.aantal is 'Rows that would fail for it.';
comment on column import_concept_foutsoort.voorbeelden is 'The first few of them: nummer and opmerking.';

-- Not logged: after a crash of the database the dry run begins anew.
create unlogged table import_concept_sleutel (
  concept_id bigint not null references import_concept on delete cascade,
  sleutel text not null,
  primary key (concept_id, sleutel)
);
comment on table import_concept_sleutel is 'The uuids and numbers that a dry run has met in good rows, to find those that come twice in a file of any size.';
comment on column import_concept_sleutel.concept_id is 'The upload.';
comment on column import_concept_sleutel.sleutel is 'A uuid, or a bronorganisatie and identificatie.';
