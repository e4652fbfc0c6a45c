-- Numbers of new cases as one expression. An operator notices nothing.
--
-- PostgreSQL puts a function like this into the statement that calls it; one with a FROM is run as a query of its own, which
-- took more time than finding the zaaktype of the case.
create or replace function zaak_identificatie(dag date) returns text language sql volatile as $$
  select 'ZAAK-' || to_char(dag, 'YYYY') || '-' || to_char(nextval('zaak_nummer'), 'FM9999999990000000000')
$$;
