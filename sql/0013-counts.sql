-- Counts of cases, of what hangs on them, of besluiten and of documents are kept: triggers add what a statement changed, a job folds
-- it, and the sum is exact at every moment for whoever may see all types or some. Filters that fit most of all rows (open or closed,
-- archive, organisation) are columns of the counts, because no index counts a million rows quickly. docs/database.md shows it.
-- Their rows have no key: they are added with every change and read all together, so that an index would only cost (2 % of the log).

create table zaak_count (
  zaaktype_id bigint, zaaktype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  bronorganisatie text not null, archiefnominatie text, archiefstatus text not null,
  einddatum date constraint zaak_count_einddatum_check check (einddatum is null or einddatum = 'infinity'),
  archiefactiedatum date constraint zaak_count_archiefactiedatum_check check (archiefactiedatum is null or archiefactiedatum = 'infinity'),
  count bigint not null
);
comment on table zaak_count is 'How many cases there are, as additions and subtractions: their sum is exact at every moment. Writers only insert, so that they never wait for each other; a job folds the rows into one per combination.';
comment on column zaak_count.einddatum is 'Whether they are closed: infinity stands for any day, empty for open cases.';
comment on column zaak_count.archiefactiedatum is 'Whether they have one, in the same way.';
comment on column zaak_count.count is 'What to add to the count; negative after a delete.';

create table zaak_part_count (
  kind text not null, groep text not null, zaaktype_id bigint, zaaktype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  count bigint not null, type_id bigint, type_url text,
  omschrijving text not null default '', betrokkene_type text not null default '',
  indicatie_machtiging text not null default ''
);
select describe('zaak_part_count', 'How many rows hang on cases, per table, as additions and subtractions (see zaak_count).',
  'kind', 'The table whose rows are counted; with one of its columns: cases that have a row with the value in groep there.',
  'groep', 'Of a rol its omschrijving_generiek; of a status laatst or eerder; of a zaakobject its object_type; else empty.',
  'zaaktype_id', 'As on their case; so are the next two.', 'count', 'What to add to the count; negative after a delete.',
  'type_id', 'Of a status its statustype, of a resultaat its resultaattype, of a rol its roltype.', 'type_url', 'That type elsewhere.',
  'omschrijving', 'Of a rol; so are the next two.', 'betrokkene_type', 'Kind of who is involved.');

create table besluit_count (
  besluittype_id bigint, besluittype_url text, verantwoordelijke_organisatie text not null,
  count bigint not null
);
comment on table besluit_count is 'How many besluiten there are, as additions and subtractions (see zaak_count).';
comment on column besluit_count.count is 'What to add to the count; negative after a delete.';

create table enkelvoudiginformatieobject_count (
  informatieobjecttype_id bigint, informatieobjecttype_url text,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  bronorganisatie text not null, is_gereed_voor_publicatie boolean,
  count bigint not null
);
comment on table enkelvoudiginformatieobject_count is 'How many documents there are, as additions and subtractions (see zaak_count).';
comment on column enkelvoudiginformatieobject_count.count is 'What to add to the count; negative after a delete.';

create table file_count (backend text not null, count bigint not null);
comment on table file_count is 'How many bytes the contents of documents take, as additions and subtractions (see zaak_count).';
comment on column file_count.backend is 'Storage that holds them.';
comment on column file_count.count is 'Bytes to add; negative after a removal.';

-- ---- what the pictures of the pages show, noted by the job fold-counts ----

create table queue_figure (
  minute timestamptz primary key,
  deliveries integer not null, delivery_seconds integer not null, jobs integer not null, job_seconds integer not null
);
select describe('queue_figure', 'What waited at a minute of the last hours (src/operations/figures.ts).',
  'minute', 'The minute, by its beginning.', 'deliveries', 'Deliveries that waited.',
  'delivery_seconds', 'Age of the message that waited longest.', 'jobs', 'Jobs that could have begun.',
  'job_seconds', 'For how long the oldest of them could.');

create table growth_figure (
  day date primary key,
  cases bigint not null, documents bigint not null, database_bytes bigint not null, disk_bytes bigint, disk_total bigint
);
select describe('growth_figure', 'What there was at the end of a day (src/operations/figures.ts).',
  'day', 'The day, in the time zone of the settings.', 'cases', 'Cases.', 'documents', 'Documents.',
  'database_bytes', 'Bytes of the tables and indexes, the queue included.',
  'disk_bytes', 'Bytes in use on the disk of the documents; empty where documents are on no disk of ours.',
  'disk_total', 'Bytes that this disk has.');

-- ---- setting up ----

create function forget_counts() returns trigger language plpgsql as $$
begin
  if tg_argv[0] = 'zaak_part' then
    delete from zaak_part_count where split_part(kind, '.', 1) = tg_table_name;
  else
    execute format('delete from %I', tg_table_name || '_count');
  end if;
  return null;
end $$;
comment on function forget_counts is 'A table was emptied: so are its counts.';

-- What both kinds have in common. Rows that come or go are counted once a statement, however many they are; those that change what they
-- are counted by, one by one.
create function add_count_triggers(counted text, changes text, kind text) returns void language plpgsql as $$
begin
  execute format('create trigger count_added after insert on %1$I
    referencing new table as changed for each statement execute function count_%1$s()', counted);
  execute format('create trigger count_removed after delete on %1$I
    referencing old table as changed for each statement execute function count_%1$s()', counted);
  execute format('create trigger count_changed after update on %1$I for each row when ((%2$s) is distinct from (%3$s))
    execute function recount_%1$s()', counted, replace(changes, 'r.', 'old.'), replace(changes, 'r.', 'new.'));
  execute format('create trigger count_emptied after truncate on %I
    for each statement execute function forget_counts(%L)', counted, kind);
end $$;
comment on function add_count_triggers is 'Part of count_rows_of and count_parts_of.';

create function columns_of_counts(counts regclass, row_of text default '') returns text language sql stable as $$
  select string_agg(case when row_of <> '' and atttypid = 'date'::regtype
    then format('case when %s%s is not null then ''infinity''::date end', row_of, attname) else row_of || attname end, ', ' order by attnum)
  from pg_attribute where attrelid = counts and attnum > 0 and not attisdropped and attname <> 'count'
$$;
comment on function columns_of_counts is 'What a table of counts counts by; with row_of the values of that row (r., old., new.) for it.';

create function count_rows_of(counted text, amount text default '1') returns void language plpgsql as $$
declare
  counts text := counted || '_count';
  columns text := columns_of_counts(counts::regclass);
begin
  execute format($function$
    create function count_%1$s() returns trigger language plpgsql as $body$
    begin
      insert into %2$I (%3$s, count)
      select %4$s, sum(%8$s) * case tg_op when 'INSERT' then 1 else -1 end from changed r group by %5$s;
      return null;
    end $body$;
    create function recount_%1$s() returns trigger language plpgsql as $body$
    begin
      insert into %2$I (%3$s, count) values (%6$s, -%9$s), (%7$s, %10$s);
      return null;
    end $body$;
  $function$, counted, counts, columns, columns_of_counts(counts::regclass, 'r.'),
    (select string_agg(n::text, ', ') from generate_series(1, cardinality(string_to_array(columns, ', '))) n),
    columns_of_counts(counts::regclass, 'old.'), columns_of_counts(counts::regclass, 'new.'),
    amount, replace(amount, 'r.', 'old.'), replace(amount, 'r.', 'new.'));
  perform add_count_triggers(counted, concat_ws(', ', columns_of_counts(counts::regclass, 'r.'), nullif(amount, '1')), '');
end $$;
comment on function count_rows_of is 'Makes the triggers that keep how many rows a table has, or the sum of amount of each, in the table …_count of its name, by the columns of that.';

-- The case is held, so that it does not change its type or level while this adds to the count of the old one. Whoever comes by the API
-- holds it already.
create function count_parts_of(part text, groep text default '''''', type text default null, also text[] default '{}',
  held text default 'share') returns void language plpgsql as $$
declare
  columns text := 'groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging';
  counted text := concat_ws(', ', groep, case when type is null then 'null::bigint, null::text' else format('r.%1$s_id, r.%1$s_url', type) end,
    (select string_agg(case when name = any(also) then 'r.' || name else '''''' end, ', ' order by place)
      from unnest(array['omschrijving', 'betrokkene_type', 'indicatie_machtiging']) with ordinality as o(name, place)));
  parts text := format('select %L::text as kind, zaak_id, %s from %I r', part, counted, part);
begin
  execute format('create or replace view zaak_part (kind, zaak_id, %s) as %s %s', columns,
    rtrim(pg_get_viewdef(to_regclass('zaak_part')), ';') || ' union all', parts);
  execute format($function$
    create function count_%1$s() returns trigger language plpgsql as $body$
    begin
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, %2$s, count)
      select %1$L, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, %2$s, count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from (
        select z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, %3$s
        from changed r join zaak z on z.id = r.zaak_id order by z.id for %6$s of z
      ) part (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, %2$s)
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10;
      return null;
    end $body$;
    create function recount_%1$s() returns trigger language plpgsql as $body$
    begin
      perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for %6$s;
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, %2$s, count)
      select %1$L, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, %7$s, k.sign
      from (values (old.zaak_id, %4$s, -1), (new.zaak_id, %5$s, 1)) as k (zaak_id, %2$s, sign) join zaak z on z.id = k.zaak_id;
      return null;
    end $body$;
  $function$, part, columns, counted, replace(counted, 'r.', 'old.'), replace(counted, 'r.', 'new.'), held,
    'k.' || replace(columns, ', ', ', k.'));
  perform add_count_triggers(part, 'r.zaak_id, ' || counted, 'zaak_part');
end $$;
comment on function count_parts_of is 'Makes the triggers that keep how many rows of a table hang on cases, and their line in the view zaak_part. groep, type, also: what they are counted by besides; held: how strictly their case is held.';

-- ---- what is counted ----

select count_rows_of('zaak');
select count_rows_of('besluit');
select count_rows_of('enkelvoudiginformatieobject');
select count_rows_of('file', 'r.size');

-- Lines are added to it by count_parts_of.
create view zaak_part (kind, zaak_id, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging) as
  select ''::text, 0::bigint, ''::text, 0::bigint, ''::text, ''::text, ''::text, ''::text where false;
comment on view zaak_part is 'What hangs on cases, as zaak_part_count counts it.';

-- Of two statuses that come at once each sees the other, so that one remains the last.
select count_parts_of('status', $$case when r.laatst then 'laatst' else 'eerder' end$$, type => 'statustype', held => 'no key update');
-- Of two rollen that come at once each sees the other, so that their case is counted once.
select count_parts_of('rol', 'r.omschrijving_generiek', type => 'roltype',
  also => '{omschrijving, betrokkene_type, indicatie_machtiging}', held => 'no key update');
select count_parts_of('resultaat', type => 'resultaattype');
select count_parts_of('zaakobject', 'r.object_type');
select count_parts_of('substatus');
select count_parts_of('klantcontact');
select count_parts_of('zaaknotitie');

-- Cases by what their rollen are. One case has many that are equal in this, so that rollen say nothing of it: a case is added with the
-- first of a value and goes with the last. count_added, count_changed and count_removed, which come first by their names, hold it.
do $do$
declare
  name text;
  source text;
  tables text;
begin
  execute format('create or replace view zaak_part (kind, zaak_id, groep, type_id, type_url, omschrijving, betrokkene_type,
      indicatie_machtiging) as %s union all
    select distinct v.kind, r.zaak_id, v.value, null::bigint, null::text, %2$L, %2$L, %2$L
    from rol r, lateral (values (%3$L, r.omschrijving_generiek), (%4$L, r.betrokkene_type), (%5$L, r.indicatie_machtiging)) v (kind, value)',
    rtrim(pg_get_viewdef('zaak_part'::regclass), ';'), '', 'rol.omschrijving_generiek', 'rol.betrokkene_type', 'rol.indicatie_machtiging');
  for name, source, tables in values
    ('insert', 'select 1 as sign, * from come', 'new table as come'),
    ('update', 'select 1 as sign, * from come union all select -1, * from gone', 'old table as gone new table as come'),
    ('delete', 'select -1 as sign, * from gone', 'old table as gone')
  loop
    execute format($function$
      create function count_zaken_by_rol_%1$s() returns trigger language plpgsql as $body$
      begin
        insert into zaak_part_count (kind, groep, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
        select c.kind, c.value, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, c.sign
        from (
          select r.zaak_id, v.kind, v.value, max(r.sign) as sign
          from (%2$s) r cross join lateral (
            select bool_or(o.omschrijving_generiek = r.omschrijving_generiek) as omschrijving,
              bool_or(o.betrokkene_type = r.betrokkene_type) as betrokkene,
              bool_or(o.indicatie_machtiging = r.indicatie_machtiging) as machtiging
            from rol o where o.zaak_id = r.zaak_id %4$s
          ) others
          cross join lateral (values (others.omschrijving, 'rol.omschrijving_generiek', r.omschrijving_generiek),
            (others.betrokkene, 'rol.betrokkene_type', r.betrokkene_type),
            (others.machtiging, 'rol.indicatie_machtiging', r.indicatie_machtiging)) v (stays, kind, value)
          where v.stays is not true group by 1, 2, 3 having max(r.sign) = min(r.sign)
        ) c join zaak z on z.id = c.zaak_id;
        return null;
      end $body$;
      create trigger count_zaken_%1$s after %1$s on rol referencing %3$s for each statement execute function count_zaken_by_rol_%1$s();
    $function$, name, source, tables, case when name <> 'delete' then 'and o.id not in (select id from come)' end);
  end loop;
end $do$;

-- ---- what a case takes along ----

create function counts_of_parts(zaak bigint) returns table (kind text, groep text, type_id bigint, type_url text,
  omschrijving text, betrokkene_type text, indicatie_machtiging text, count bigint) language sql stable as $$
  select kind, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*)
  from zaak_part where zaak_id = zaak group by 1, 2, 3, 4, 5, 6, 7
$$;
comment on function counts_of_parts is 'What hangs on one case, as zaak_part_count counts it.';

create function move_counts_of_parts() returns trigger language plpgsql as $$
begin
  insert into zaak_part_count (kind, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
  select d.kind, d.groep, d.type_id, d.type_url, d.omschrijving, d.betrokkene_type, d.indicatie_machtiging,
    k.zaaktype_id, k.zaaktype_url, k.level, d.count * k.sign
  from counts_of_parts(new.id) d, (values
    (old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, -1),
    (new.zaaktype_id, new.zaaktype_url, new.vertrouwelijkheidaanduiding, 1)
  ) as k (zaaktype_id, zaaktype_url, level, sign);
  return null;
end $$;
create trigger count_parts_moved after update on zaak for each row
  when ((old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding)
    is distinct from (new.zaaktype_id, new.zaaktype_url, new.vertrouwelijkheidaanduiding))
  execute function move_counts_of_parts();

-- Before the case goes, because what hangs on it goes after it, and then nothing says any more of which type it was.
create function remove_counts_of_parts() returns trigger language plpgsql as $$
begin
  insert into zaak_part_count (kind, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
  select kind, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, -count
  from counts_of_parts(old.id);
  return old;
end $$;
create trigger count_parts_removed before delete on zaak for each row execute function remove_counts_of_parts();

-- ---- the last status of a case ----

-- count_added and count_removed, which come first by their names, hold the case.
create function mark_last_status() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    update status s set laatst = false
    where s.zaak_id in (select zaak_id from changed) and s.laatst
      and exists (select from status o where o.zaak_id = s.zaak_id and o.datum_status_gezet > s.datum_status_gezet);
  else
    update status s set laatst = true
    where s.zaak_id in (select zaak_id from changed) and not s.laatst
      and not exists (select from status o where o.zaak_id = s.zaak_id and o.datum_status_gezet > s.datum_status_gezet);
  end if;
  return null;
end $$;
create trigger last_added after insert on status referencing new table as changed for each statement execute function mark_last_status();
create trigger last_removed after delete on status referencing old table as changed for each statement execute function mark_last_status();

create function mark_last_status_anew() returns trigger language plpgsql as $$
begin
  perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for no key update;
  update status s set laatst = not s.laatst
  where s.zaak_id in (old.zaak_id, new.zaak_id) and s.laatst <> not exists (
    select from status o where o.zaak_id = s.zaak_id and o.datum_status_gezet > s.datum_status_gezet);
  return null;
end $$;
create trigger last_changed after update on status for each row
  when ((old.zaak_id, old.datum_status_gezet) is distinct from (new.zaak_id, new.datum_status_gezet))
  execute function mark_last_status_anew();

-- ---- all ----

create function fold_counts(of_table text default null) returns void language plpgsql as $$
declare
  counts text;
begin
  foreach counts in array array['zaak_count', 'zaak_part_count', 'besluit_count', 'enkelvoudiginformatieobject_count', 'file_count'] loop
    continue when of_table <> counts;
    execute format('with gone as (
        delete from %1$I where ctid = any(array(select unnest(array_agg(ctid)) from %1$I group by %2$s having count(*) > 1 or sum(count) = 0))
        returning *)
      insert into %1$I (%2$s, count) select %2$s, sum(count) from gone group by %2$s having sum(count) <> 0',
      counts, columns_of_counts(counts::regclass));
  end loop;
end $$;
comment on function fold_counts is 'Leaves one row a combination of all counts, or of those of one table. What others add meanwhile stays; two at once do no harm. Rows that stand alone stay as they are: while an old snapshot is held, all that is replaced is passed by every count.';

create function count_anew() returns void language plpgsql as $$
declare
  counted text;
begin
  lock table zaak, zaak_part, besluit, enkelvoudiginformatieobject, file in share row exclusive mode;
  foreach counted in array array['zaak', 'besluit', 'enkelvoudiginformatieobject', 'file'] loop
    execute format('delete from %I', counted || '_count');
    execute format('insert into %1$I (%2$s, count) select %3$s, sum(%6$s) from %4$I r group by %5$s', counted || '_count',
      columns_of_counts((counted || '_count')::regclass), columns_of_counts((counted || '_count')::regclass, 'r.'), counted,
      (select string_agg(n::text, ', ')
        from generate_series(1, cardinality(string_to_array(columns_of_counts((counted || '_count')::regclass), ', '))) n),
      case counted when 'file' then 'r.size' else '1' end);
  end loop;
  delete from zaak_part_count;
  insert into zaak_part_count (kind, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
  select d.kind, d.groep, d.type_id, d.type_url, d.omschrijving, d.betrokkene_type, d.indicatie_machtiging,
    z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, count(*)
  from zaak_part d join zaak z on z.id = d.zaak_id
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
end $$;
comment on function count_anew is 'Counts all anew, while writing waits: for who wrote rows with the triggers switched off.';

-- ---- vacuum ----

-- Counts are folded every minute: what the folding leaves behind has to go as often. Of tables that mostly grow the default waits for a
-- fifth, which at a million rows is days, and until then a count by index has to look at every row. By a hundredth and ten thousand rows,
-- and analyzed as often.
do $$
declare
  name text;
begin
  foreach name in array array['zaak_count', 'zaak_part_count', 'besluit_count', 'enkelvoudiginformatieobject_count', 'file_count'] loop
    execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)', name);
    execute format('alter table %I replica identity full', name); -- where somebody replicates logically
  end loop;
  foreach name in array array['zaak', 'status', 'rol', 'resultaat', 'zaakobject', 'zaakinformatieobject', 'besluit',
    'enkelvoudiginformatieobject', 'enkelvoudiginformatieobject_versie', 'objectinformatieobject', 'notificatie', 'audit'] loop
    execute format('alter table %I set (
      autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_vacuum_insert_threshold = 10000,
      autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000,
      autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 10000)', name);
  end loop;
end $$;
