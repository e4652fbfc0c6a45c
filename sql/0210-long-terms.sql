-- Terms of up to five hundred years: the selectielijst has terms of 110 years, and a hundred was the longest. Nothing that is
-- stored changes; older programs go on refusing what is longer than a hundred years.

create or replace function is_term(term text) returns boolean language sql immutable as $$
  select case when term ~ '^P(?=.)(\d{1,3}Y)?(\d{1,4}M)?(\d{1,6}D)?(T(?=.)(\d{1,2}H)?(\d{1,2}M)?(\d{1,2}(\.\d{1,6})?S)?)?$'
    then timestamp '2000-01-01' + term::interval <= timestamp '2500-01-01' else term is null end
$$;
comment on function is_term is 'Whether it is a normalised ISO 8601 duration of at most five hundred years, or nothing. The same reading as src/http/duration.ts.';
