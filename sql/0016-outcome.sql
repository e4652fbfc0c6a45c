-- What is told of a change: whether it was committed though its answer was lost, and moments that never go back.

-- Not logged: PostgreSQL empties it after a crash, and on a standby that is promoted. Numbers of transactions that were given out before
-- that and reached no log are then given out again, so a number proves something only as long as this is the same life of the server.
create unlogged table server_life (
  id uuid not null default gen_random_uuid(),
  is_only boolean primary key default true constraint server_life_is_one_row check (is_only)
);
insert into server_life default values;
select describe('server_life', 'Which life of the server this is: empty after a crash and after a failover, and then made anew.',
  'id', 'What the number of a transaction is told with.', 'is_only', 'True: there is one row.');

-- now() is when a transaction began: one that waits for another would tell a moment before that of what it waited for.
create function moment_from(stands timestamptz) returns timestamptz language sql volatile as $$
  select greatest(stands, clock_timestamp())
$$;
comment on function moment_from is 'This very moment, and never before the one that stands there. To be asked when the row is held.';

alter table audit alter aanmaakdatum set default clock_timestamp();
alter table notificatie alter aanmaakdatum set default clock_timestamp();
alter table change alter made_at set default clock_timestamp();
alter table zaak alter laatst_gemuteerd set default clock_timestamp();
alter table enkelvoudiginformatieobject_versie alter begin_registratie set default clock_timestamp();
