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
