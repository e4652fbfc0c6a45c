-- What the filters of abonnementen ask is kept in a shape that is compared at once: names folded, values of URLs without their
-- address, long values as a hash. Every change is held against all filters of its kanaal: five thousand took from half a second to
-- half a minute, where names were folded and URLs taken apart for each. They take a fiftieth of that or less. An operator notices
-- nothing; the table is written once more, and it is small.
create function kenmerk_kort(p_waarde text) returns text language sql immutable parallel safe as $$
  select case when length(w) <= 60 then w else md5(w) || md5(w || '+') end from (select kenmerk_waarde(p_waarde) as w) v
$$;
comment on function kenmerk_kort(text) is 'A value of a kenmerk for comparing, of 64 characters at most.';

-- In plpgsql, which keeps its plan: every message asks it.
create function kenmerken_toets(p_kenmerken jsonb) returns jsonb language plpgsql immutable parallel safe as $$
begin
  return (select coalesce(jsonb_object_agg(naam, waarde), '{}') from (
    select kenmerk_naam(k.naam) as naam, case when min(kort) = max(kort) then to_jsonb(min(kort)) else 'false' end as waarde
    from jsonb_each_text(p_kenmerken) k(naam, waarde), lateral (select kenmerk_kort(coalesce(k.waarde, '')) as kort offset 0) v
    group by 1) k);
end $$;
comment on function kenmerken_toets(jsonb) is
  'The kenmerken of a message, to compare; false where one name has several values, which no filter lets through.';

-- A generated column calls it, also while pg_restore has no search path.
create function filters_toets(p_filters jsonb) returns jsonb language sql immutable parallel safe
set search_path from current as $$
  select coalesce(jsonb_object_agg(naam, waarde), '{}') || (
      select jsonb_strip_nulls(jsonb_build_object(
        'RESOURCE', case when p_filters ->> '#resource' <> '*' then
          to_jsonb(string_to_array(p_filters ->> '#resource', ',')) end,
        'ACTIE', case when p_filters ->> '#actie' <> '*' then
          to_jsonb(string_to_array(p_filters ->> '#actie', ',')) end)))
  from (
    select kenmerk_naam(f.naam) as naam, case when min(kort) = max(kort) then to_jsonb(min(kort)) else 'null' end as waarde
    from jsonb_each_text(p_filters) f(naam, waarde), lateral (select kenmerk_kort(f.waarde) as kort offset 0) v
    where f.waarde <> '*' and f.naam not in ('#resource', '#actie')
    group by 1) f
$$;
comment on function filters_toets(jsonb) is
  'Filters, to compare with kenmerken_toets; null where one name asks several values. The names in capitals are those of the message.';

-- A kenmerk that the message does not have keeps nothing out: there the filters are laid beneath it.
create function toets_past(p_toets jsonb, p_kenmerken jsonb, p_resource text, p_actie text)
returns boolean language sql immutable parallel safe as $$
  select (p_toets -> 'RESOURCE' is null or p_toets -> 'RESOURCE' ? p_resource)
    and (p_toets -> 'ACTIE' is null or p_toets -> 'ACTIE' ? p_actie
      or p_actie = 'partial_update' and p_toets -> 'ACTIE' ? 'update')
    and (p_toets || p_kenmerken) @> p_toets
$$;
comment on function toets_past(jsonb, jsonb, text, text) is
  'Whether a message fits filters, both in the shape to compare (kenmerken_toets, filters_toets).';

create or replace function filters_passen(p_filters jsonb, p_kenmerken jsonb, p_resource text, p_actie text)
returns boolean language sql immutable parallel safe as $$
  select toets_past(filters_toets(p_filters), kenmerken_toets(p_kenmerken), p_resource, p_actie)
$$;

alter table abonnement_kanaal add column toets jsonb not null generated always as (filters_toets(filters)) stored;
comment on column abonnement_kanaal.toets is 'The filters in the shape in which messages are compared with them.';
-- It stays in the row, also where the filters themselves do not.
alter table abonnement_kanaal alter column toets set storage external, set (toast_tuple_target = 4096);
