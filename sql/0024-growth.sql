-- What grew with what it should not: the delete of a case read all of its rollen for each of them, and the clean-up of the feed read the
-- whole table for each portion. An operator notices nothing but less work.

do $do$
declare
  name text;
  source text;
begin
  for name, source in values
    ('insert', 'select 1 as sign, * from come'),
    ('update', 'select 1 as sign, * from come union all select -1, * from gone'),
    ('delete', 'select -1 as sign, * from gone')
  loop
    -- Each value is looked for once, and not at all when the case goes: its rollen are then gone, and each entry of theirs in the index
    -- would be read. A subquery as a value stays one, so that no plan joins all rollen there are.
    execute format($function$
      create or replace function count_zaken_by_rol_%1$s() returns trigger language plpgsql as $body$
      begin
        insert into zaak_part_count (kind, groep, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
        select c.kind, c.value, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, c.sign
        from (
          select r.zaak_id, v.kind, v.value, max(r.sign) as sign
          from (%2$s) r cross join lateral (values ('rol.omschrijving_generiek', r.omschrijving_generiek),
            ('rol.betrokkene_type', r.betrokkene_type), ('rol.indicatie_machtiging', r.indicatie_machtiging)) v (kind, value)
          group by 1, 2, 3 having max(r.sign) = min(r.sign)
        ) c join zaak z on z.id = c.zaak_id
        where (select true from rol o where o.zaak_id = z.id %3$s
          and case c.kind when 'rol.omschrijving_generiek' then o.omschrijving_generiek
            when 'rol.betrokkene_type' then o.betrokkene_type else o.indicatie_machtiging end = c.value limit 1) is null;
        return null;
      end $body$;
    $function$, name, source, case when name <> 'delete' then 'and o.id not in (select id from come)' end);
  end loop;
end $do$;

create or replace function remove_changes(term interval, portion integer) returns integer language sql as $$
  with old as materialized (
    -- The oldest of each feed, by its key: they became visible in about the order in which they were made.
    select head.* from (values ('zrc'), ('drc'), ('brc'), ('ztc')) f (component) cross join lateral (
      select component, xact, id, made_at from change c where c.component = f.component order by xact, id limit portion
    ) head where made_at < now() - term
  ), removed as (
    delete from change c using old o where c.component = o.component and c.xact = o.xact and c.id = o.id returning c.xact
  ), moved as (
    update feed set first = greatest(first, (select max(xact) from removed)) where exists (select from removed)
  ) select count(*)::integer from removed
$$;

-- One number far ahead cost each collision ten million steps of a sequence, in the transaction of a create.
create function skip_numbers(p_sequence regclass, p_highest bigint) returns void language plpgsql as $$
declare
  reached bigint;
  steps bigint;
begin
  -- One at a time: whoever comes second finds the sequence moved.
  perform pg_advisory_xact_lock(hashtext(current_schema() || ' numbers'), (p_sequence::oid::bigint % 2147483648)::int);
  execute format('select last_value from %s', p_sequence) into reached;
  steps := least(p_highest - reached, 10000000);
  -- Who takes a number meanwhile does not wait. A few steps are taken one by one; many are more than are taken in between.
  if steps > 10000 then
    perform setval(p_sequence, reached + steps);
  else
    perform nextval(p_sequence) from generate_series(1, steps);
  end if;
end $$;
comment on function skip_numbers is 'Moves a sequence on to a number, by ten million at most, and never back.';

create or replace function skip_documentnummers(creatiedatum date) returns void language plpgsql volatile as $$
declare
  highest bigint;
begin
  select max(substring(identificatie from '^DOCUMENT-\d{4}-(\d{10,18})$')::bigint) into highest
  from enkelvoudiginformatieobject
  where identificatie like 'DOCUMENT-' || to_char(creatiedatum, 'YYYY') || '-%';
  perform skip_numbers('document_nummer', coalesce(highest, 0));
end $$;

create or replace function skip_besluitnummers(day date) returns void language plpgsql volatile as $$
declare
  highest bigint;
begin
  select max(substring(identificatie from '^BESLUIT-\d{4}-(\d{10,18})$')::bigint) into highest
  from besluit where identificatie like 'BESLUIT-' || to_char(day, 'YYYY') || '-%';
  perform skip_numbers('besluit_nummer', coalesce(highest, 0));
end $$;

create or replace function skip_zaaknummers(day date) returns void language plpgsql volatile as $$
begin
  perform skip_numbers('zaak_nummer', highest_zaaknummer(day));
end $$;

create or replace function skip_zaaknummers(day date, way text, current_day date) returns void language plpgsql volatile as $$
declare
  last_place bigint;
  letters text;
  highest bigint;
begin
  if way = 'use-creation-year' then perform skip_zaaknummers(current_day); return; end if;
  if way = 'use-number-per-year' then
    update zaak_number_year
    set starts_after = least(starts_after, (select last_value from zaak_nummer) - highest_zaaknummer(day))
    where year = extract(year from day);
    return;
  end if;
  if way <> 'use-uwv-identification' then perform skip_zaaknummers(day); return; end if;
  select last_value into last_place from zaak_nummer_uwv;
  letters := zaaknummer_uwv_letters(last_place);
  select max(substring(identificatie from '^[A-Z]{1,2}(\d{7})\d$')::bigint) into highest
  from zaak where identificatie like letters || '________' and identificatie ~ ('^' || letters || '\d{8}$');
  perform skip_numbers('zaak_nummer_uwv', last_place - last_place % 10000000 + coalesce(highest, 0));
end $$;
