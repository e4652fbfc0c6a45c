-- Terms of at most a hundred years, but for those of archiving: the selectielijst has terms of 110 years, and they keep five
-- hundred. Nothing that is stored changes. A column with a longer term keeps the bound that it had, so that its rows can still be
-- changed. Older programs answer 500 to a term of more than a hundred years for as long as they run beside newer ones.

-- Constraints call it, also while pg_restore has no search path.
create function is_term(term text, years integer) returns boolean language plpgsql immutable strict parallel safe
set search_path from current as $$
begin
  return case
    when is_term(term) then timestamp '2000-01-01' + term::interval <= timestamp '2000-01-01' + make_interval(years => years)
    else false
  end;
end $$;
comment on function is_term(text, integer) is 'The same of at most so many years. The bounds are those of MAX_YEARS in src/http/duration.ts.';

do $$
declare
  term record;
begin
  for term in
    select tabel, kolom, format('%s_%s_is_termijn', tabel, kolom) as regel
    from (values
      ('zaaktype', 'doorlooptijd'), ('zaaktype', 'servicenorm'), ('zaaktype', 'verlengingstermijn'),
      ('statustype', 'doorlooptijd'), ('besluittype', 'reactietermijn'), ('besluittype', 'publicatietermijn'),
      ('zaak', 'verlenging_duur')) terms (tabel, kolom)
  loop
    begin
      execute format('alter table %I drop constraint %I, add constraint %I check (is_term(%I, 100))',
        term.tabel, term.regel, term.regel, term.kolom);
    exception when check_violation then
      raise notice '% keeps its bound of five hundred years: some are longer than a hundred', term.regel;
    end;
  end loop;
end $$;
