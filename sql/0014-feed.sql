-- The feed: which rows changed in which transaction, for who keeps a copy. Triggers write it, so that nothing is missed, whoever writes
-- and by whatever way (an import, a takeover, a delete that cascades). The state of a row is not kept: it is read when the feed is.

create table change (
  component text not null,
  xact xid8 not null default pg_current_xact_id(),
  id bigint generated always as identity,
  resource text not null, uuid uuid not null, row_id bigint not null, main_id bigint,
  operation text not null,
  type_id bigint, type_url text, level vertrouwelijkheidaanduiding, ready boolean,
  made_at timestamptz not null default now(),
  primary key (component, xact, id)
) with (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
select describe('change', 'Rows that were made, changed or deleted, as the feed tells them: those of one transaction are one delta. Only added to, and removed after FEED_DAYS.',
  'component', 'zrc, drc, brc or ztc: each has a feed of its own.',
  'xact', 'The transaction. With id the order in which changes became visible (src/database/position.ts).',
  'id', 'Order within a transaction.', 'resource', 'Kind of the changed object, as in notifications.', 'row_id', 'Key of its row.',
  'main_id', 'Key of the case, document or decision that it is or belongs to; of a type, or a part of one, the catalogue.',
  'operation', 'insert, update or delete. An update that changes nothing of the object itself says that its answer changed.',
  'type_id', 'What rights looked at before a delete, or before a change of it, and so are the next three: the type when it is one of ours.',
  'type_url', 'The type when it stands elsewhere.', 'level', 'The confidentiality.', 'ready', 'Whether a document may be published.',
  'made_at', 'When the transaction began.');

create table feed (
  singleton boolean primary key default true constraint feed_singleton_check check (singleton),
  epoch text not null default left(md5(random()::text), 8),
  cluster text not null,
  first xid8 not null default pg_current_xact_id()
);
comment on table feed is 'From where on the feed is whole: one row, and none while it is switched off.';
comment on column feed.singleton is 'True; keeps it to one row.';
comment on column feed.epoch is 'Positions of another epoch mean nothing here: numbers of transactions begin anew with another cluster.';
comment on column feed.cluster is 'The cluster, and its timeline, that the numbers in table change are of.';
comment on column feed.first is 'Changes of this transaction, and of those before it, are not kept (any more).';

create function current_cluster() returns text language sql stable as $$
  select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
$$;
comment on function current_cluster is 'Which numbers of transactions these are: restored elsewhere, or after a failover, they are others.';

create function begin_feed() returns void language sql as $$
  delete from change;
  insert into feed (cluster) values (current_cluster()) on conflict (singleton)
    do update set epoch = excluded.epoch, cluster = excluded.cluster, first = excluded.first
$$;
comment on function begin_feed is 'Begins the feed anew: every position of before is refused.';

create function switch_feed(turn_on boolean) returns boolean language plpgsql as $$
declare
  one record;
  switched boolean := false;
begin
  for one in select tgrelid::regclass as place, tgname as name from pg_trigger
    where tgname like 'feed\_%' and tgrelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)
      and (tgenabled <> 'D') <> turn_on order by tgrelid::regclass::text loop
    execute format('alter table %s %s trigger %I', one.place, case when turn_on then 'enable' else 'disable' end, one.name);
    switched := true;
  end loop;
  if switched then
    if turn_on then perform begin_feed(); else delete from feed; delete from change; end if;
  end if;
  return switched;
end $$;
comment on function switch_feed is 'Switches the triggers of the feed, for the owner of the tables: while they are off a change costs nothing. Returns whether they were otherwise.';

-- Makes a function for tables of one shape. `main` and `subject` are expressions of a row r: what it belongs to, and the four columns
-- that rights look at; `looked` is what a change of makes an update tell them.
create function feed_of(shape text, component text, main text, subject text default 'null, null, null, null', looked text default '1')
returns void language plpgsql as $$
begin
  execute format($function$
    create function feed_%1$s() returns trigger language plpgsql as $body$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values (%2$L, tg_argv[0], old.uuid, old.id, %3$s, 'delete', %4$s);
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (%5$s) is distinct from (%6$s) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values (%2$L, tg_argv[0], new.uuid, new.id, %7$s, 'update', %4$s);
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values (%2$L, tg_argv[0], new.uuid, new.id, %7$s, lower(tg_op));
      end if;
      return null;
    end $body$
  $function$, shape, component, replace(main, 'r.', 'old.'), replace(subject, 'r.', 'old.'), replace(looked, 'r.', 'old.'),
    replace(looked, 'r.', 'new.'), replace(main, 'r.', 'new.'));
end $$;
comment on function feed_of is 'Makes the function that tells the feed of each row of a table.';

-- The answer of a resource also has what stands in other tables: a row there that names it (in the column of the first argument)
-- changes it. The others are its table, its component and its name, and what it belongs to.
create function feed_touch() returns trigger language plpgsql as $$
begin
  execute format('insert into change (component, resource, uuid, row_id, main_id, operation)
    select %L, %L, r.uuid, r.id, %s, ''update'' from %I r where r.id in (($1).%5$I, ($2).%5$I)',
    tg_argv[2], tg_argv[3], tg_argv[4], tg_argv[1], tg_argv[0]) using old, new;
  return null;
end $$;
comment on function feed_touch is 'Tells the feed of a resource whose answer changes by a row of another table.';

create function feed_touches(counted text, key text, target text, component text, main text default 'r.id',
  events text[] default '{insert,update,delete}') returns void language plpgsql as $$
declare
  event text;
begin
  foreach event in array events loop
    execute format('create trigger feed_%2$s_%3$s after %3$s on %1$I for each row when (%4$s) execute function feed_touch(%2$L, %5$L, %6$L, %5$L, %7$L)',
      counted, key, event, case event when 'insert' then format('new.%I is not null', key) when 'delete' then format('old.%I is not null', key)
        when 'update' then case when counted in ('zaak', 'status', 'zaakinformatieobject')
          then format('old.%1$I is distinct from new.%1$I', key) else 'true' end end, target, component, main);
  end loop;
end $$;
comment on function feed_touches is 'Makes the triggers for this.';

do $$
declare
  shape text;
  counted text;
  pair text[];
begin
  perform feed_of('zaak', 'zrc', 'r.id', 'r.zaaktype_id, r.zaaktype_url, r.vertrouwelijkheidaanduiding, null',
    'r.zaaktype_id, r.zaaktype_url, r.vertrouwelijkheidaanduiding');
  perform feed_of('zaak_part', 'zrc', 'r.zaak_id', '(select z.zaaktype_id from zaak z where z.id = r.zaak_id),
    (select z.zaaktype_url from zaak z where z.id = r.zaak_id), (select z.vertrouwelijkheidaanduiding from zaak z where z.id = r.zaak_id), null',
    'r.zaak_id');
  perform feed_of('document', 'drc', 'r.id',
    'r.informatieobjecttype_id, r.informatieobjecttype_url, r.vertrouwelijkheidaanduiding, r.is_gereed_voor_publicatie',
    'r.informatieobjecttype_id, r.informatieobjecttype_url, r.vertrouwelijkheidaanduiding, r.is_gereed_voor_publicatie');
  perform feed_of('document_part', 'drc', 'r.enkelvoudiginformatieobject_id',
    '(select e.informatieobjecttype_id from enkelvoudiginformatieobject e where e.id = r.enkelvoudiginformatieobject_id),
    (select e.informatieobjecttype_url from enkelvoudiginformatieobject e where e.id = r.enkelvoudiginformatieobject_id),
    (select e.vertrouwelijkheidaanduiding from enkelvoudiginformatieobject e where e.id = r.enkelvoudiginformatieobject_id),
    (select e.is_gereed_voor_publicatie from enkelvoudiginformatieobject e where e.id = r.enkelvoudiginformatieobject_id)',
    'r.enkelvoudiginformatieobject_id');
  perform feed_of('besluit', 'brc', 'r.id', 'r.besluittype_id, r.besluittype_url, null, null', 'r.besluittype_id, r.besluittype_url');
  perform feed_of('besluit_part', 'brc', 'r.besluit_id', '(select b.besluittype_id from besluit b where b.id = r.besluit_id),
    (select b.besluittype_url from besluit b where b.id = r.besluit_id), null, null', 'r.besluit_id');
  perform feed_of('catalogus', 'ztc', 'r.id');
  perform feed_of('type', 'ztc', 'r.catalogus_id');
  perform feed_of('type_part', 'ztc', '(select t.catalogus_id from zaaktype t where t.id = r.zaaktype_id)');
  for shape, counted in select k.key, unnest(string_to_array(k.value, ' ')) from jsonb_each_text('{
    "zaak": "zaak", "zaak_part": "status substatus resultaat rol zaakinformatieobject zaakobject zaakeigenschap zaakbesluit klantcontact zaakcontactmoment zaakverzoek zaaknotitie",
    "document": "enkelvoudiginformatieobject", "document_part": "gebruiksrecht objectinformatieobject verzending",
    "besluit": "besluit", "besluit_part": "besluitinformatieobject", "catalogus": "catalogus", "type": "zaaktype informatieobjecttype besluittype",
    "type_part": "statustype resultaattype roltype eigenschap zaaktype_informatieobjecttype zaakobjecttype"}') k loop
    execute format('create trigger feed_row after insert or update or delete on %I for each row execute function feed_%s(%L)', counted, shape,
      case counted when 'gebruiksrecht' then 'gebruiksrechten' when 'zaaktype_informatieobjecttype' then 'zaaktypeinformatieobjecttype' else counted end);
  end loop;

  perform feed_touches('zaak', 'hoofdzaak_id', 'zaak', 'zrc');
  perform feed_touches('zaak_andere_zaak', 'zaak_id', 'zaak', 'zrc');
  perform feed_touches('zaak_gerelateerde_zaak', 'zaak_id', 'zaak', 'zrc');
  perform feed_touches('status', 'gezetdoor_id', 'rol', 'zrc', 'r.zaak_id');
  perform feed_touches('zaakinformatieobject', 'status_id', 'status', 'zrc', 'r.zaak_id');
  -- A new version has a new number, which is a change of the document itself.
  perform feed_touches('enkelvoudiginformatieobject_versie', 'enkelvoudiginformatieobject_id', 'enkelvoudiginformatieobject', 'drc',
    events => '{update}');
  perform feed_touches('bestandsdeel', 'enkelvoudiginformatieobject_id', 'enkelvoudiginformatieobject', 'drc');
  foreach pair slice 1 in array array[['zaaktype_deelzaaktype', 'zaaktype'], ['zaaktype_gerelateerd_zaaktype', 'zaaktype'],
    ['zaaktype_besluittype', 'zaaktype'], ['zaaktype_besluittype', 'besluittype'], ['zaaktype_informatieobjecttype', 'informatieobjecttype'],
    ['besluittype_informatieobjecttype', 'besluittype'], ['besluittype_informatieobjecttype', 'informatieobjecttype'],
    ['resultaattype_besluittype', 'besluittype']] loop
    perform feed_touches(pair[1], pair[2] || '_id', pair[2], 'ztc', 'r.catalogus_id');
  end loop;
  foreach counted in array array['resultaattype_besluittype', 'resultaattype_informatieobjecttype'] loop
    perform feed_touches(counted, 'resultaattype_id', 'resultaattype', 'ztc', '(select t.catalogus_id from zaaktype t where t.id = r.zaaktype_id)');
  end loop;
  perform begin_feed();
end $$;

create function remove_changes(term interval, portion integer) returns integer language sql as $$
  with old as materialized (
    select ctid, xact from change where made_at < now() - term limit portion
  ), removed as (
    delete from change c using old o where c.ctid = o.ctid returning c.xact
  ), moved as (
    update feed set first = greatest(first, (select max(xact) from removed)) where exists (select from removed)
  ) select count(*)::integer from removed
$$;
comment on function remove_changes is 'Removes a portion of the changes whose term is over, and refuses the positions of before them. Returns how many.';

create table feed_snapshot (
  id bigint generated always as identity primary key,
  component text not null, rights text not null, viewer jsonb not null, position text, total bigint,
  file_id bigint references file, sha256 bytea, sealed_key bytea,
  created_at timestamptz not null default now(), made_at timestamptz
);
create unique index feed_snapshot_under_way on feed_snapshot (component, rights) where made_at is null;
create index feed_snapshot_component_rights_idx on feed_snapshot (component, rights, id);
create index feed_snapshot_file_id_idx on feed_snapshot (file_id);
select describe('feed_snapshot', 'Snapshots of a collection for who begins a copy, each as its rights see it. Kept for FEED_SNAPSHOT_DAYS.',
  'component', 'zrc, drc, brc or ztc, as in change.', 'rights', 'For which rights: part of the position.',
  'viewer', 'Those rights, and the address for links.', 'position', 'Where deltas follow on it; empty: it is being made.',
  'total', 'Resources in it.', 'file_id', 'Its bytes: gzip of a line of JSON per resource, sealed with its key.',
  'sha256', 'Of that gzip.', 'sealed_key', 'Key of its bytes, sealed with a key of the ring.', 'made_at', 'When it was ready.');

select describe_rest();
