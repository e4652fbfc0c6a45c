-- What proves whether a change was committed whose answer was lost.

-- Not logged: PostgreSQL empties it after a crash, and on a standby that is promoted. Numbers of transactions that were given out before
-- that and reached no log are then given out again, so a number proves something only as long as this is the same life of the server.
create unlogged table server_life (
  id uuid not null default gen_random_uuid(),
  is_only boolean primary key default true constraint server_life_is_one_row check (is_only)
);
insert into server_life default values;
select describe('server_life', 'Which life of the server this is: empty after a crash and after a failover, and then made anew.',
  'id', 'What the number of a transaction is told with.', 'is_only', 'True: there is one row.');
