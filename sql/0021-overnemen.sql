-- A merge of two organisations: the one that takes over has work of its own, and goes on with it until the switch. Only what came from
-- the other one is closed for changes until then.

create or replace function require_switch() returns void language plpgsql stable as $$
begin
  if exists (select from takeover where read_only and status <> 'omgeschakeld' and not trial
      and settings ->> 'samenvoegen' is distinct from 'true') then
    raise exception 'taken over, and read-only until the switch'
      using errcode = 'integrity_constraint_violation', constraint = 'takeover_read_only';
  end if;
end $$;
comment on function require_switch is 'Refuses while a takeover is under way that lets nothing be changed. A merge closes only what it brought.';

create or replace function taken_over(object uuid, component text) returns boolean language plpgsql stable as $$
declare closed boolean;
begin
  if not exists (select from takeover where status <> 'omgeschakeld' and not trial) then return false; end if;
  if component in ('zrc', 'drc', 'brc', 'ztc') then perform require_switch(); end if;
  select bool_or(o.read_only) into closed from takeover_object w join takeover o on o.id = w.takeover_id
    where w.uuid = object and o.status <> 'omgeschakeld';
  if closed is null then return false; end if;
  if closed then
    raise exception 'taken over, and read-only until the switch'
      using errcode = 'integrity_constraint_violation', constraint = 'takeover_read_only';
  end if;
  return true;
end $$;
comment on function taken_over is 'Whether this main object was taken over and the switch is still to come: its changes are not announced. Refuses changes of the registers when they are not allowed either.';
