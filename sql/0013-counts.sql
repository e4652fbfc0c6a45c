-- Counts of cases, of what hangs on them and of besluiten are kept, as those of documents are: triggers add what a statement changed, a
-- job folds it, and the sum is exact at every moment for whoever may see all types or some. Filters that fit most of all cases (open
-- or closed, archive, organisation) are columns of the count, because no index counts a million rows quickly. What hangs on cases is
-- counted by type as well, so that lists that are filtered by these are counted by adding up some rows.

create table zaak_aantal (
  id bigint generated always as identity primary key,
  zaaktype_id bigint,
  zaaktype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  bronorganisatie text not null,
  archiefnominatie text,
  archiefstatus text not null,
  einddatum date,
  aantal bigint not null,
  constraint zaak_aantal_einddatum_check check (einddatum is null or einddatum = 'infinity')
);
comment on table zaak_aantal is 'How many cases there are, as additions and subtractions: their sum is exact at every moment. Writers only insert, so that they never wait for each other; a job folds the rows into one per combination.';
comment on column zaak_aantal.id is 'Internal key.';
comment on column zaak_aantal.zaaktype_id is 'As on the cases that are counted; so are the next five.';
comment on column zaak_aantal.zaaktype_url is 'Zaaktype elsewhere.';
comment on column zaak_aantal.vertrouwelijkheidaanduiding is 'Confidentiality.';
comment on column zaak_aantal.bronorganisatie is 'RSIN.';
comment on column zaak_aantal.archiefnominatie is 'blijvend_bewaren, vernietigen or empty.';
comment on column zaak_aantal.archiefstatus is 'Whether they are archived.';
comment on column zaak_aantal.einddatum is 'Whether they are closed: infinity stands for any day, empty for open cases.';
comment on column zaak_aantal.aantal is 'What to add to the count; negative after a delete.';

create table zaakdeel_aantal (
  id bigint generated always as identity primary key,
  soort text not null,
  groep text not null,
  zaaktype_id bigint,
  zaaktype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  aantal bigint not null,
  type_id bigint,
  type_url text,
  omschrijving text not null default '',
  betrokkene_type text not null default '',
  indicatie_machtiging text not null default ''
);
comment on table zaakdeel_aantal is 'How many rows hang on cases, per table, as additions and subtractions (see zaak_aantal).';
comment on column zaakdeel_aantal.id is 'Internal key.';
comment on column zaakdeel_aantal.soort is 'The table whose rows are counted.';
comment on column zaakdeel_aantal.groep is 'Of a rol its omschrijving_generiek; of a status laatst or eerder; of a zaakobject its object_type; else empty.';
comment on column zaakdeel_aantal.zaaktype_id is 'As on their case; so are the next two.';
comment on column zaakdeel_aantal.zaaktype_url is 'Zaaktype elsewhere.';
comment on column zaakdeel_aantal.vertrouwelijkheidaanduiding is 'Confidentiality.';
comment on column zaakdeel_aantal.aantal is 'What to add to the count; negative after a delete.';
comment on column zaakdeel_aantal.type_id is 'Of a status its statustype, of a resultaat its resultaattype, of a rol its roltype.';
comment on column zaakdeel_aantal.type_url is 'That type elsewhere.';
comment on column zaakdeel_aantal.omschrijving is 'Of a rol; so are the next two.';
comment on column zaakdeel_aantal.betrokkene_type is 'Kind of who is involved.';
comment on column zaakdeel_aantal.indicatie_machtiging is 'gemachtigde, machtiginggever or empty.';


-- ---- cases ----

-- Once a statement, however many rows it touches.
create function tel_zaken() returns trigger language plpgsql as $$
begin
  insert into zaak_aantal
    (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus, einddatum, aantal)
  select zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus,
    case when einddatum is not null then 'infinity'::date end, count(*) * case tg_op when 'INSERT' then 1 else -1 end
  from rijen group by 1, 2, 3, 4, 5, 6, 7;
  return null;
end $$;

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

create function deelaantallen(zaak bigint) returns table (soort text, groep text, type_id bigint, type_url text,
  omschrijving text, betrokkene_type text, indicatie_machtiging text, aantal bigint) language sql stable as $$
  select soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*)
  from zaakdeel where zaak_id = zaak group by 1, 2, 3, 4, 5, 6, 7
$$;
comment on function deelaantallen is 'What hangs on one case, as zaakdeel_aantal counts it.';

create function tel_zaak_anders() returns trigger language plpgsql as $$
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

-- Before the case goes, because what hangs on it goes after it, and then nothing says any more of which type it was.
create function tel_delen_van_zaak_eraf() returns trigger language plpgsql as $$
begin
  insert into zaakdeel_aantal (soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select soort, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, -aantal
  from deelaantallen(old.id);
  return old;
end $$;

-- ---- what hangs on cases ----

-- The case is held, so that it does not change its type or level while this adds to the count of the old one. Whoever comes by
-- the API holds it already.
create function tel_zaakdelen() returns trigger language plpgsql as $$
begin
  insert into zaakdeel_aantal (soort, groep, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, aantal)
  select tg_table_name, '', zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding,
    count(*) * case tg_op when 'INSERT' then 1 else -1 end
  from (
    select z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding
    from rijen r join zaak z on z.id = r.zaak_id order by z.id for share of z
  ) zaak
  group by 3, 4, 5;
  return null;
end $$;

create function tel_rollen() returns trigger language plpgsql as $$
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

-- Held more strictly, so that of two statuses that come at once each sees the other, and one remains the last.
create function tel_statussen() returns trigger language plpgsql as $$
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

-- Rows change what they are counted by, or their case, one by one.
create function tel_zaakdeel_anders() returns trigger language plpgsql as $$
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

create function bepaal_laatste_status() returns trigger language plpgsql as $$
begin
  perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for no key update;
  update status s set laatst = not s.laatst
  where s.zaak_id in (old.zaak_id, new.zaak_id) and s.laatst <> not exists (
    select from status o where o.zaak_id = s.zaak_id and o.datum_status_gezet > s.datum_status_gezet);
  return null;
end $$;

-- ---- besluiten ----

create table besluit_aantal (
  id bigint generated always as identity primary key,
  besluittype_id bigint,
  besluittype_url text,
  verantwoordelijke_organisatie text not null,
  aantal bigint not null
);
comment on table besluit_aantal is 'How many besluiten there are, as additions and subtractions (see zaak_aantal).';
comment on column besluit_aantal.id is 'Internal key.';
comment on column besluit_aantal.besluittype_id is 'As on the besluiten that are counted; so are the next two.';
comment on column besluit_aantal.besluittype_url is 'Besluittype elsewhere.';
comment on column besluit_aantal.verantwoordelijke_organisatie is 'RSIN.';
comment on column besluit_aantal.aantal is 'What to add to the count; negative after a delete.';

create function tel_besluiten() returns trigger language plpgsql as $$
begin
  insert into besluit_aantal (besluittype_id, besluittype_url, verantwoordelijke_organisatie, aantal)
  select besluittype_id, besluittype_url, verantwoordelijke_organisatie, count(*) * case tg_op when 'INSERT' then 1 else -1 end
  from rijen group by 1, 2, 3;
  return null;
end $$;

create function tel_besluit_anders() returns trigger language plpgsql as $$
begin
  insert into besluit_aantal (besluittype_id, besluittype_url, verantwoordelijke_organisatie, aantal)
  values
    (old.besluittype_id, old.besluittype_url, old.verantwoordelijke_organisatie, -1),
    (new.besluittype_id, new.besluittype_url, new.verantwoordelijke_organisatie, 1);
  return null;
end $$;

-- ---- all ----

create function vergeet_aantallen() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'zaak' then
    delete from zaak_aantal;
  elsif tg_table_name = 'besluit' then
    delete from besluit_aantal;
  else
    delete from zaakdeel_aantal where soort = tg_table_name;
  end if;
  return null;
end $$;

create function vouw_aantallen() returns void language sql as $$
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
comment on function vouw_aantallen is 'Replaces all counts by one row a combination. What others add meanwhile stays; two at once do no harm.';

create trigger zaken_erbij after insert on zaak
  referencing new table as rijen for each statement execute function tel_zaken();
create trigger zaken_eraf after delete on zaak
  referencing old table as rijen for each statement execute function tel_zaken();
create trigger zaak_anders after update on zaak for each row
  when ((old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, old.bronorganisatie, old.archiefnominatie,
      old.archiefstatus, old.einddatum is null)
    is distinct from (new.zaaktype_id, new.zaaktype_url, new.vertrouwelijkheidaanduiding, new.bronorganisatie,
      new.archiefnominatie, new.archiefstatus, new.einddatum is null))
  execute function tel_zaak_anders();
create trigger zaak_eraf before delete on zaak for each row execute function tel_delen_van_zaak_eraf();
create trigger zaken_weg after truncate on zaak for each statement execute function vergeet_aantallen();

create trigger statussen_erbij after insert on status
  referencing new table as rijen for each statement execute function tel_statussen();
create trigger statussen_eraf after delete on status
  referencing old table as rijen for each statement execute function tel_statussen();
create trigger status_anders after update on status for each row
  when ((old.zaak_id, old.laatst, old.statustype_id, old.statustype_url)
    is distinct from (new.zaak_id, new.laatst, new.statustype_id, new.statustype_url))
  execute function tel_status_anders();
create trigger status_verplaatst after update on status for each row
  when ((old.zaak_id, old.datum_status_gezet) is distinct from (new.zaak_id, new.datum_status_gezet))
  execute function bepaal_laatste_status();
create trigger statussen_weg after truncate on status for each statement execute function vergeet_aantallen();

create trigger rollen_erbij after insert on rol
  referencing new table as rijen for each statement execute function tel_rollen();
create trigger rollen_eraf after delete on rol
  referencing old table as rijen for each statement execute function tel_rollen();
create trigger rol_anders after update on rol for each row
  when ((old.zaak_id, old.omschrijving_generiek, old.roltype_id, old.roltype_url, old.omschrijving, old.betrokkene_type,
      old.indicatie_machtiging)
    is distinct from (new.zaak_id, new.omschrijving_generiek, new.roltype_id, new.roltype_url, new.omschrijving,
      new.betrokkene_type, new.indicatie_machtiging))
  execute function tel_rol_anders();
create trigger rollen_weg after truncate on rol for each statement execute function vergeet_aantallen();

create trigger resultaat_erbij after insert on resultaat
  referencing new table as rijen for each statement execute function tel_resultaten();
create trigger resultaat_eraf after delete on resultaat
  referencing old table as rijen for each statement execute function tel_resultaten();
create trigger resultaat_anders after update on resultaat for each row
  when ((old.zaak_id, old.resultaattype_id, old.resultaattype_url)
    is distinct from (new.zaak_id, new.resultaattype_id, new.resultaattype_url))
  execute function tel_resultaat_anders();
create trigger resultaat_weg after truncate on resultaat for each statement execute function vergeet_aantallen();

create trigger zaakobject_erbij after insert on zaakobject
  referencing new table as rijen for each statement execute function tel_zaakobjecten();
create trigger zaakobject_eraf after delete on zaakobject
  referencing old table as rijen for each statement execute function tel_zaakobjecten();
create trigger zaakobject_anders after update on zaakobject for each row
  when ((old.zaak_id, old.object_type) is distinct from (new.zaak_id, new.object_type))
  execute function tel_zaakobject_anders();
create trigger zaakobject_weg after truncate on zaakobject for each statement execute function vergeet_aantallen();

do $$
declare
  deel text;
begin
  foreach deel in array array['substatus', 'klantcontact', 'zaaknotitie'] loop
    execute format('create trigger %I after insert on %I
      referencing new table as rijen for each statement execute function tel_zaakdelen()', deel || '_erbij', deel);
    execute format('create trigger %I after delete on %I
      referencing old table as rijen for each statement execute function tel_zaakdelen()', deel || '_eraf', deel);
    execute format('create trigger %I after update on %I for each row
      when (old.zaak_id is distinct from new.zaak_id) execute function tel_zaakdeel_anders()', deel || '_anders', deel);
    execute format('create trigger %I after truncate on %I
      for each statement execute function vergeet_aantallen()', deel || '_weg', deel);
  end loop;
end $$;

create trigger besluiten_erbij after insert on besluit
  referencing new table as rijen for each statement execute function tel_besluiten();
create trigger besluiten_eraf after delete on besluit
  referencing old table as rijen for each statement execute function tel_besluiten();
create trigger besluit_anders after update on besluit for each row
  when ((old.besluittype_id, old.besluittype_url, old.verantwoordelijke_organisatie)
    is distinct from (new.besluittype_id, new.besluittype_url, new.verantwoordelijke_organisatie))
  execute function tel_besluit_anders();
create trigger besluiten_weg after truncate on besluit for each statement execute function vergeet_aantallen();

-- ---- what is there ----

create function tel_aantallen_opnieuw() returns void language plpgsql as $$
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
comment on function tel_aantallen_opnieuw is 'Counts all anew, while writing waits: for who wrote rows with the triggers switched off.';

-- Counts are folded every minute: what the folding leaves behind has to go as often.
alter table zaak_aantal set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table zaakdeel_aantal set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table besluit_aantal set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table enkelvoudiginformatieobject_aantal set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Tables that mostly grow: the default waits for a fifth of a table, which at a million rows is days, and until then a count
-- by index has to look at every row. By a hundredth and ten thousand rows, and analyzed as often.
do $$
declare
  naam text;
begin
  foreach naam in array array['zaak', 'status', 'rol', 'resultaat', 'zaakobject', 'zaakinformatieobject', 'besluit',
    'enkelvoudiginformatieobject', 'enkelvoudiginformatieobject_versie', 'objectinformatieobject', 'notificatie', 'audit'] loop
    execute format('alter table %I set (
      autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_vacuum_insert_threshold = 10000,
      autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000,
      autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 10000)', naam);
  end loop;
end $$;
