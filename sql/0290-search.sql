-- A case is found in the pages by any part of its number or of its description. An operator notices that an index is made: with
-- a million cases that takes some ten seconds, in which cases are read and not written. As with titles of documents it needs
-- pg_trgm; without it such a search reads all cases, and who adds the extension later makes the index by hand, as it stands here.
do $$
declare
  plaats text;
begin
  select n.nspname into plaats from pg_extension x join pg_namespace n on n.oid = x.extnamespace where x.extname = 'pg_trgm';
  if plaats is not null then
    execute format($index$create index zaak_zoeken
      on zaak using gin (lower(identificatie || ' ' || omschrijving) %I.gin_trgm_ops)$index$, plaats);
  end if;
end $$;
