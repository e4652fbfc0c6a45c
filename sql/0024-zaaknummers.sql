-- Numbers of cases by choice (ZAAK_IDENTIFICATIE_GENERATOR): the year of the startdatum, the year of today, or the letters and
-- check digit that UWV uses. An operator notices nothing until he chooses another.

create sequence zaak_nummer_uwv minvalue 0 maxvalue 7019999999; -- 702 prefixes, from A to ZZ, of ten million each

create function zaaknummer_uwv_letters(n bigint) returns text language sql immutable as $$
  select case when voor < 26 then chr(65 + voor) else chr(65 + voor / 26 - 1) || chr(65 + voor % 26) end
  from (select (n / 10000000)::integer) as prefix(voor)
$$;
comment on function zaaknummer_uwv_letters is 'The letters before the number at this place in the order of UWV: A to Z, then AA to ZZ.';

-- Letters count as 0 to 25, and each place as much as its number, from the left; the check digit brings the sum to 10 modulo
-- 11. Where it would have to be 10 itself, there is no such number.
create function zaaknummer_uwv(n bigint) returns text language sql immutable as $$
  with nummer as (select zaaknummer_uwv_letters(n) || lpad((n % 10000000)::text, 7, '0') as tekst),
  som as (
    select sum(plaats * (ascii(teken) - case when teken between '0' and '9' then 48 else 65 end)) as som
    from nummer, unnest(string_to_array(tekst, null)) with ordinality as t(teken, plaats)
  )
  select (
    select tekst || cijfer from generate_series(0, 9) cijfer
    where (som + (length(tekst) + 1) * cijfer) % 11 = 10
  ) from nummer, som
$$;
comment on function zaaknummer_uwv is 'The number at this place in the order of UWV; null where there is none.';

create function zaak_identificatie(dag date, wijze text) returns text language plpgsql volatile as $$
declare
  nummer text;
begin
  if wijze = 'use-creation-year' then return zaak_identificatie(current_date); end if;
  if wijze <> 'use-uwv-identification' then return zaak_identificatie(dag); end if;
  while nummer is null loop
    nummer := zaaknummer_uwv(nextval('zaak_nummer_uwv'));
  end loop;
  return nummer;
end $$;
comment on function zaak_identificatie(date, text) is 'The next generated identificatie in this way, for a zaak of this startdatum.';

create function haal_zaaknummers_in(dag date, wijze text) returns void language plpgsql volatile as $$
declare
  laatste bigint;
  letters text;
  hoogste bigint;
begin
  if wijze = 'use-creation-year' then perform haal_zaaknummers_in(current_date); return; end if;
  if wijze <> 'use-uwv-identification' then perform haal_zaaknummers_in(dag); return; end if;
  select last_value into laatste from zaak_nummer_uwv;
  letters := zaaknummer_uwv_letters(laatste);
  select max(substring(identificatie from '^[A-Z]{1,2}(\d{7})\d$')::bigint) into hoogste
  from zaak where identificatie like letters || '________' and identificatie ~ ('^' || letters || '\d{8}$');
  perform nextval('zaak_nummer_uwv') from generate_series(1, coalesce(hoogste, 0) - laatste % 10000000);
end $$;
comment on function haal_zaaknummers_in(date, text) is 'Moves the sequence of this way past the numbers that zaken have already.';

-- The other side of these relations is known in table spiegel, as that of all others.
alter table zaakcontactmoment drop column object_url;
alter table zaakverzoek drop column object_url;
