-- Counts of what hangs on cases are kept by type as well: statuses by statustype, resultaten by resultaattype, rollen by roltype,
-- omschrijving, kind of betrokkene and machtiging, zaakobjecten by kind of object. Lists that are filtered by these are counted
-- by adding up some rows; until now each row that fits was read, with its case for whoever may see some types.
--
-- An operator notices that writing of cases waits while this counts what is there: some seconds with a million cases.

lock table zaak, status, rol, resultaat, zaakobject, substatus, klantcontact, zaaknotitie in share row exclusive mode;

create view zaakdeel as
  select 'status' as soort, zaak_id, case when laatst then 'laatst' else 'eerder' end as groep,
    statustype_id as type_id, statustype_url as type_url, '' as omschrijving, '' as betrokkene_type, '' as indicatie_machtiging
  from status
  union all
  select 'rol', zaak_id, omschrijving_generiek, roltype_id, roltype_url, omschrijving, betrokkene_type, indicatie_machtiging
  from rol
  union all select 'resultaat', zaak_id, '', resultaattype_id, resultaattype_url, '', '', '' from resultaat
  union all select 'zaakobject', zaak_id, object_type, null, null, '', '', '' from zaakobject
  union all select 'substatus', zaak_id, '', null, null, '', '', '' from substatus
  union all select 'klantcontact', zaak_id, '', null, null, '', '', '' from klantcontact
  union all select 'zaaknotitie', zaak_id, '', null, null, '', '', '' from zaaknotitie;
comment on view zaakdeel is 'What hangs on cases, as zaakdeel_aantal counts it.';

-- Counted before the table of counts is changed, so that lists wait for a moment only.
create temporary table geteld on commit drop as
  select d.soort, d.groep, d.type_id, d.type_url, d.omschrijving, d.betrokkene_type, d.indicatie_machtiging,
    z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, count(*) as aantal
  from zaakdeel d join zaak z on z.id = d.zaak_id
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;

alter table zaakdeel_aantal
  add column type_id bigint,
  add column type_url text,
  add column omschrijving text not null default '',
  add column betrokkene_type text not null default '',
  add column indicatie_machtiging text not null default '';
comment on column zaakdeel_aantal.groep is 'Of a rol its omschrijving_generiek; of a status laatst or eerder; of a zaakobject its object_type; else empty.';
comment on column zaakdeel_aantal.type_id is 'Of a status its statustype, of a resultaat its resultaattype, of a rol its roltype.';
comment on column zaakdeel_aantal.type_url is 'That type elsewhere.';
comment on column zaakdeel_aantal.omschrijving is 'Of a rol; so are the next two.';
comment on column zaakdeel_aantal.betrokkene_type is 'Kind of who is involved.';
comment on column zaakdeel_aantal.indicatie_machtiging is 'gemachtigde, machtiginggever or empty.';

delete from zaakdeel_aantal;
insert into zaakdeel_aantal (soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
  zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
table geteld;

drop function deelaantallen;
create function deelaantallen(zaak bigint) returns table (soort text, groep text, type_id bigint, type_url text,
  omschrijving text, betrokkene_type text, indicatie_machtiging text, aantal bigint) language sql stable as $$
  select soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*)
  from zaakdeel where zaak_id = zaak group by 1, 2, 3, 4, 5, 6, 7
$$;
comment on function deelaantallen is 'What hangs on one case, as zaakdeel_aantal counts it.';

create or replace function tel_zaak_anders() returns trigger language plpgsql as $$
begin
  insert into zaak_aantal
    (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus, einddatum, aantal)
  values
    (old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, old.bronorganisatie, old.archiefnominatie,
      old.archiefstatus, case when old.einddatum is not null then 'infinity'::date end, -1),
    (new.zaaktype_id, new.zaaktype_url, new.vertrouwelijkheidaanduiding, new.bronorganisatie, new.archiefnominatie,
      new.archiefstatus, case when new.einddatum is not null then 'infinity'::date end, 1);
  if (old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding)
    is distinct from (new.zaaktype_id, new.zaaktype_url, new.vertrouwelijkheidaanduiding) then
    insert into zaakdeel_aantal (soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
      zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
    select d.soort, d.groep, d.type_id, d.type_url, d.omschrijving, d.betrokkene_type, d.indicatie_machtiging,
      k.zaaktype_id, k.zaaktype_url, k.niveau, d.aantal * k.teken
    from deelaantallen(new.id) d, (values
      (old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, -1),
      (new.zaaktype_id, new.zaaktype_url, new.vertrouwelijkheidaanduiding, 1)
    ) as k (zaaktype_id, zaaktype_url, niveau, teken);
  end if;
  return null;
end $$;

create or replace function tel_delen_van_zaak_eraf() returns trigger language plpgsql as $$
begin
  insert into zaakdeel_aantal (soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, -aantal
  from deelaantallen(old.id);
  return old;
end $$;

-- ---- what hangs on cases ----

-- How the case is held, and why, stands in 0241.
create or replace function tel_rollen() returns trigger language plpgsql as $$
begin
  insert into zaakdeel_aantal (soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select 'rol', omschrijving_generiek, roltype_id, roltype_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count(*) * case tg_op when 'INSERT' then 1 else -1 end
  from (
    select r.omschrijving_generiek, r.roltype_id, r.roltype_url, r.omschrijving, r.betrokkene_type, r.indicatie_machtiging,
      z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding
    from rijen r join zaak z on z.id = r.zaak_id order by z.id for share of z
  ) rol
  group by 2, 3, 4, 5, 6, 7, 8, 9, 10;
  return null;
end $$;

create function tel_resultaten() returns trigger language plpgsql as $$
begin
  insert into zaakdeel_aantal (soort, groep, type_id, type_url, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select 'resultaat', '', resultaattype_id, resultaattype_url, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding,
    count(*) * case tg_op when 'INSERT' then 1 else -1 end
  from (
    select r.resultaattype_id, r.resultaattype_url, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding
    from rijen r join zaak z on z.id = r.zaak_id order by z.id for share of z
  ) resultaat
  group by 3, 4, 5, 6, 7;
  return null;
end $$;

create function tel_zaakobjecten() returns trigger language plpgsql as $$
begin
  insert into zaakdeel_aantal (soort, groep, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select 'zaakobject', object_type, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding,
    count(*) * case tg_op when 'INSERT' then 1 else -1 end
  from (
    select r.object_type, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding
    from rijen r join zaak z on z.id = r.zaak_id order by z.id for share of z
  ) zaakobject
  group by 2, 3, 4, 5;
  return null;
end $$;

create or replace function tel_statussen() returns trigger language plpgsql as $$
begin
  insert into zaakdeel_aantal (soort, groep, type_id, type_url, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select 'status', groep, statustype_id, statustype_url, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding,
    count(*) * case tg_op when 'INSERT' then 1 else -1 end
  from (
    select case when r.laatst then 'laatst' else 'eerder' end as groep, r.statustype_id, r.statustype_url,
      z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding
    from rijen r join zaak z on z.id = r.zaak_id order by z.id for no key update of z
  ) status
  group by 2, 3, 4, 5, 6, 7;
  if tg_op = 'INSERT' then
    update status s set laatst = false
    where s.zaak_id in (select zaak_id from rijen) and s.laatst
      and exists (select from status o where o.zaak_id = s.zaak_id and o.datum_status_gezet > s.datum_status_gezet);
  else
    update status s set laatst = true
    where s.zaak_id in (select zaak_id from rijen) and not s.laatst
      and not exists (select from status o where o.zaak_id = s.zaak_id and o.datum_status_gezet > s.datum_status_gezet);
  end if;
  return null;
end $$;

-- Rows change what they are counted by, or their case, one by one.
create or replace function tel_zaakdeel_anders() returns trigger language plpgsql as $$
begin
  perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for share;
  insert into zaakdeel_aantal (soort, groep, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select tg_table_name, '', z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.teken
  from (values (old.zaak_id, -1), (new.zaak_id, 1)) as k (zaak_id, teken) join zaak z on z.id = k.zaak_id;
  return null;
end $$;
create function tel_status_anders() returns trigger language plpgsql as $$
begin
  perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for share;
  insert into zaakdeel_aantal (soort, groep, type_id, type_url, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select 'status', case when k.laatst then 'laatst' else 'eerder' end, k.type_id, k.type_url,
    z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.teken
  from (values
    (old.zaak_id, old.laatst, old.statustype_id, old.statustype_url, -1),
    (new.zaak_id, new.laatst, new.statustype_id, new.statustype_url, 1)
  ) as k (zaak_id, laatst, type_id, type_url, teken) join zaak z on z.id = k.zaak_id;
  return null;
end $$;
create function tel_rol_anders() returns trigger language plpgsql as $$
begin
  perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for share;
  insert into zaakdeel_aantal (soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select 'rol', k.groep, k.type_id, k.type_url, k.omschrijving, k.betrokkene_type, k.indicatie_machtiging,
    z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.teken
  from (values
    (old.zaak_id, old.omschrijving_generiek, old.roltype_id, old.roltype_url, old.omschrijving, old.betrokkene_type,
      old.indicatie_machtiging, -1),
    (new.zaak_id, new.omschrijving_generiek, new.roltype_id, new.roltype_url, new.omschrijving, new.betrokkene_type,
      new.indicatie_machtiging, 1)
  ) as k (zaak_id, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, teken)
  join zaak z on z.id = k.zaak_id;
  return null;
end $$;
create function tel_resultaat_anders() returns trigger language plpgsql as $$
begin
  perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for share;
  insert into zaakdeel_aantal (soort, groep, type_id, type_url, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select 'resultaat', '', k.type_id, k.type_url, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.teken
  from (values
    (old.zaak_id, old.resultaattype_id, old.resultaattype_url, -1), (new.zaak_id, new.resultaattype_id, new.resultaattype_url, 1)
  ) as k (zaak_id, type_id, type_url, teken) join zaak z on z.id = k.zaak_id;
  return null;
end $$;
create function tel_zaakobject_anders() returns trigger language plpgsql as $$
begin
  perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for share;
  insert into zaakdeel_aantal (soort, groep, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select 'zaakobject', k.object_type, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.teken
  from (values (old.zaak_id, old.object_type, -1), (new.zaak_id, new.object_type, 1)) as k (zaak_id, object_type, teken)
  join zaak z on z.id = k.zaak_id;
  return null;
end $$;

-- Replaced, not dropped and made: for that even readers would have to wait.
create or replace trigger status_anders after update on status for each row
  when ((old.zaak_id, old.laatst, old.statustype_id, old.statustype_url)
    is distinct from (new.zaak_id, new.laatst, new.statustype_id, new.statustype_url))
  execute function tel_status_anders();
create or replace trigger rol_anders after update on rol for each row
  when ((old.zaak_id, old.omschrijving_generiek, old.roltype_id, old.roltype_url, old.omschrijving, old.betrokkene_type,
      old.indicatie_machtiging)
    is distinct from (new.zaak_id, new.omschrijving_generiek, new.roltype_id, new.roltype_url, new.omschrijving,
      new.betrokkene_type, new.indicatie_machtiging))
  execute function tel_rol_anders();
create or replace trigger resultaat_anders after update on resultaat for each row
  when ((old.zaak_id, old.resultaattype_id, old.resultaattype_url)
    is distinct from (new.zaak_id, new.resultaattype_id, new.resultaattype_url))
  execute function tel_resultaat_anders();
create or replace trigger zaakobject_anders after update on zaakobject for each row
  when ((old.zaak_id, old.object_type) is distinct from (new.zaak_id, new.object_type))
  execute function tel_zaakobject_anders();

create or replace trigger resultaat_erbij after insert on resultaat
  referencing new table as rijen for each statement execute function tel_resultaten();
create or replace trigger resultaat_eraf after delete on resultaat
  referencing old table as rijen for each statement execute function tel_resultaten();
create or replace trigger zaakobject_erbij after insert on zaakobject
  referencing new table as rijen for each statement execute function tel_zaakobjecten();
create or replace trigger zaakobject_eraf after delete on zaakobject
  referencing old table as rijen for each statement execute function tel_zaakobjecten();

-- ---- all ----

create or replace function vouw_aantallen() returns void language sql as $$
  select vouw_documentaantallen();
  with gone as (delete from zaak_aantal returning *)
  insert into zaak_aantal
    (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus, einddatum, aantal)
  select zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus, einddatum,
    sum(aantal)
  from gone group by 1, 2, 3, 4, 5, 6, 7 having sum(aantal) <> 0;
  with gone as (delete from zaakdeel_aantal returning *)
  insert into zaakdeel_aantal (soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, sum(aantal)
  from gone group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 having sum(aantal) <> 0;
  with gone as (delete from besluit_aantal returning *)
  insert into besluit_aantal (besluittype_id, besluittype_url, verantwoordelijke_organisatie, aantal)
  select besluittype_id, besluittype_url, verantwoordelijke_organisatie, sum(aantal)
  from gone group by 1, 2, 3 having sum(aantal) <> 0;
$$;

create or replace function tel_aantallen_opnieuw() returns void language plpgsql as $$
begin
  lock table zaak, status, rol, resultaat, zaakobject, substatus, klantcontact, zaaknotitie, besluit in share row exclusive mode;
  delete from zaak_aantal;
  delete from zaakdeel_aantal;
  delete from besluit_aantal;
  insert into zaak_aantal
    (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus, einddatum, aantal)
  select zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus,
    case when einddatum is not null then 'infinity'::date end, count(*)
  from zaak group by 1, 2, 3, 4, 5, 6, 7;
  insert into zaakdeel_aantal (soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select d.soort, d.groep, d.type_id, d.type_url, d.omschrijving, d.betrokkene_type, d.indicatie_machtiging,
    z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, count(*)
  from zaakdeel d join zaak z on z.id = d.zaak_id
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
  insert into besluit_aantal (besluittype_id, besluittype_url, verantwoordelijke_organisatie, aantal)
  select besluittype_id, besluittype_url, verantwoordelijke_organisatie, count(*) from besluit group by 1, 2, 3;
end $$;
