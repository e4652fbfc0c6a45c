-- Positions of the feed are sealed, and those of another history of the database are told from those of this one. Copies that were
-- begun before begin anew: their positions are answered with 410.

alter table feed add secret bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
comment on column feed.secret is 'Key that positions are sealed with: a number of a transaction tells how much others did.';

create or replace function current_cluster() returns text language sql stable as $$
  select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (select oid from pg_database where datname = current_database()) || '/' || 'feed'::regclass::oid
$$;
comment on function current_cluster is 'Which numbers of transactions these are, of which table: restored, also within the same cluster, or after a failover, they are others.';

update feed set cluster = current_cluster();

comment on column feed.cluster is 'The cluster with its timeline, the database and the table, that the numbers in table change are of.';

alter table feed_snapshot add xact xid8, add judged xid8;
comment on column feed_snapshot.xact is 'The transaction of its position.';
comment on column feed_snapshot.judged is 'Up to this transaction nothing has left that it holds: it is withdrawn when something did.';

-- Positions of the feed and of messages that are fetched are of one history of the database. A restore begins another one.
create table history (
  singleton boolean primary key default true constraint history_singleton_check check (singleton),
  epoch text not null default left(md5(random()::text), 8),
  secret bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
  cluster text not null default current_cluster(),
  mark bigint not null default 0,
  told text not null default ''
);
comment on table history is 'The history of this database, which a restore ends: one row.';
comment on column history.singleton is 'True; keeps it to one row.';
comment on column history.epoch is 'Positions of another epoch mean nothing here.';
comment on column history.secret is 'Key that positions of fetched messages are sealed with.';
comment on column history.cluster is 'What current_cluster() said when it began.';
comment on column history.mark is 'The number that stands beside the documents as well. One there that is higher says that this database was put back (src/documenten/storage/mark.ts).';
comment on column history.told is 'What told_so_far() said at that mark.';
insert into history default values;

create function told_so_far() returns text language sql stable as $$
  select concat_ws(' ', (select sum(place + confirmed) from abonnement), (select string_agg(l.last, ' ' order by component)
    from unnest(array['zrc', 'drc', 'brc', 'ztc']) component, lateral (
      select c.xact || '/' || c.id as last from change c where c.component = component.component order by c.xact desc, c.id desc limit 1) l))
$$;
comment on function told_so_far is 'Another text once readers may have been told more: changes, or messages that they fetch.';

create function begin_history() returns void language sql as $$
  update history set epoch = left(md5(random()::text), 8), cluster = current_cluster();
  select begin_feed() where exists (select from feed)
$$;
comment on function begin_history is 'Begins another history: every position of before is refused.';

create function next_mark(known bigint) returns table (mark bigint, is_other boolean) language plpgsql as $$
declare
  before history%rowtype;
begin
  select * into strict before from history for update;
  if known > before.mark or before.cluster <> current_cluster() then
    perform begin_history();
    is_other := true;
  else
    is_other := false;
  end if;
  update history h set mark = greatest(known, before.mark) + 1, told = told_so_far() returning h.mark into mark;
  return next;
end $$;
comment on function next_mark is 'The next mark to be kept beside the documents, where the newest one there is this; another history begins when that is newer than ours.';
