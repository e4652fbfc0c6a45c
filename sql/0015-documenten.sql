-- Indexes for what clients filter documents by, and for the orders that people want to see them in; and the size of the
-- rows of an import, by which its batches are bounded. An operator notices that this takes a few minutes with many millions
-- of documents, during which nothing is written to them.

create index enkelvoudiginformatieobject_versie_trefwoorden on enkelvoudiginformatieobject_versie using gin (trefwoorden);
create index enkelvoudiginformatieobject_versie_creatiedatum on enkelvoudiginformatieobject_versie (creatiedatum, enkelvoudiginformatieobject_id);
create index enkelvoudiginformatieobject_versie_titel on enkelvoudiginformatieobject_versie (titel, enkelvoudiginformatieobject_id);

-- A part of a title is found by an index where the extension pg_trgm may be created: it comes with PostgreSQL and needs no
-- superuser, but some installations leave it out. Without it such a filter reads all titles. Who adds it later makes the
-- index by hand, as it stands here.
do $$
begin
  create extension if not exists pg_trgm;
exception
  when insufficient_privilege or undefined_file or feature_not_supported or invalid_schema_name then
    raise notice 'pg_trgm is not available (%): a filter on a part of a title reads all titles', sqlerrm;
end $$;
do $$
declare
  plaats text;
begin
  select n.nspname into plaats from pg_extension x join pg_namespace n on n.oid = x.extnamespace where x.extname = 'pg_trgm';
  if plaats is not null then
    execute format('create index enkelvoudiginformatieobject_versie_deel_van_titel
      on enkelvoudiginformatieobject_versie using gin (lower(titel) %I.gin_trgm_ops)', plaats);
  end if;
end $$;

alter table import_regel add column omvang integer not null generated always as (octet_length(cellen::text)) stored;
comment on column import_regel.omvang is 'Size of the cells in bytes.';
