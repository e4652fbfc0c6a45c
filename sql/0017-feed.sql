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
