-- Durations are terms: ISO 8601, not negative, at most a hundred years. Longer ones made every new case of a type fail, since
-- no date lies so far away. What was stored out of bounds becomes a hundred years. An operator notices that the cases are
-- read once to check them.

create function is_term(term text) returns boolean language sql immutable as $$
  select case when term ~ '^P(?=.)(\d{1,3}Y)?(\d{1,4}M)?(\d{1,5}D)?(T(?=.)(\d{1,2}H)?(\d{1,2}M)?(\d{1,2}(\.\d{1,6})?S)?)?$'
    then timestamp '2000-01-01' + term::interval <= timestamp '2100-01-01' else term is null end
$$;
comment on function is_term is 'Whether it is a normalised ISO 8601 duration of at most a hundred years, or nothing. The same reading as src/http/duration.ts.';

update zaaktype set doorlooptijd = 'P100Y' where not is_term(doorlooptijd);
update zaaktype set servicenorm = 'P100Y' where not is_term(servicenorm);
update zaaktype set verlengingstermijn = 'P100Y' where not is_term(verlengingstermijn);
update statustype set doorlooptijd = 'P100Y' where not is_term(doorlooptijd);
update resultaattype set archiefactietermijn = 'P100Y' where not is_term(archiefactietermijn);
update resultaattype set brondatum_procestermijn = 'P100Y' where not is_term(brondatum_procestermijn);
update resultaattype set procestermijn = 'P100Y' where not is_term(procestermijn);
update besluittype set reactietermijn = 'P100Y' where not is_term(reactietermijn);
update besluittype set publicatietermijn = 'P100Y' where not is_term(publicatietermijn);
update zaak set verlenging_duur = 'P100Y' where not is_term(verlenging_duur);

alter table zaaktype
  add constraint zaaktype_doorlooptijd_is_termijn check (is_term(doorlooptijd)),
  add constraint zaaktype_servicenorm_is_termijn check (is_term(servicenorm)),
  add constraint zaaktype_verlengingstermijn_is_termijn check (is_term(verlengingstermijn));
alter table statustype add constraint statustype_doorlooptijd_is_termijn check (is_term(doorlooptijd));
alter table resultaattype
  add constraint resultaattype_archiefactietermijn_is_termijn check (is_term(archiefactietermijn)),
  add constraint resultaattype_brondatum_procestermijn_is_termijn check (is_term(brondatum_procestermijn)),
  add constraint resultaattype_procestermijn_is_termijn check (is_term(procestermijn));
alter table besluittype
  add constraint besluittype_reactietermijn_is_termijn check (is_term(reactietermijn)),
  add constraint besluittype_publicatietermijn_is_termijn check (is_term(publicatietermijn));
alter table zaak add constraint zaak_verlenging_duur_is_termijn check (is_term(verlenging_duur));
