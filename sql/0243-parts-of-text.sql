-- Parts of text are found by an index in omschrijving and identificatie of cases and in auteur and beschrijving of documents, as
-- in the titel of documents (0004), where the extension pg_trgm is available. An operator notices that writing of cases and
-- documents waits while they are made, some ten seconds with a million, and 150 MB. A new row costs 30 µs more: its text waits in
-- the pending list of the index until there is enough of it.
do $$
declare
  plaats text;
begin
  select n.nspname into plaats from pg_extension x join pg_namespace n on n.oid = x.extnamespace where x.extname = 'pg_trgm';
  if plaats is not null then
    execute format('create index zaak_deel_van_tekst
      on zaak using gin (lower(omschrijving) %1$I.gin_trgm_ops, lower(identificatie) %1$I.gin_trgm_ops)', plaats);
    execute format('create index enkelvoudiginformatieobject_versie_deel_van_tekst
      on enkelvoudiginformatieobject_versie using gin (lower(auteur) %1$I.gin_trgm_ops, lower(beschrijving) %1$I.gin_trgm_ops)', plaats);
  end if;
end $$;
