-- For the administration pages: pausing the notifications, their log, the queue of jobs, and what each clean-up did.
-- An operator notices that the indexes on notificatie are built anew, which takes some seconds per million messages.

-- While sending is paused there is no service, for whoever plans or sends: messages then wait, as they do before one is set.
alter table notificatie_instelling rename column dienst_id to ingestelde_dienst_id;
alter table notificatie_instelling add column gepauzeerd_op timestamptz;
alter table notificatie_instelling add column dienst_id bigint
  generated always as (case when gepauzeerd_op is null then ingestelde_dienst_id end) stored;
comment on column notificatie_instelling.ingestelde_dienst_id is 'The notifications service (soort nrc) of the settings; empty: none.';
comment on column notificatie_instelling.gepauzeerd_op is 'Since when sending is paused; empty: it is not.';
comment on column notificatie_instelling.dienst_id is 'The service that messages go to now; empty: messages wait. It follows from the two above.';

-- The log of messages is in the order of time. These take the place of indexes that could not be read in that order.
drop index if exists notificatie_aanmaakdatum;
drop index if exists notificatie_mislukt;
create index notificatie_aanmaakdatum on notificatie (aanmaakdatum, id);
create index notificatie_mislukt on notificatie (aanmaakdatum, id) where status = 'mislukt';
create index notificatie_wacht on notificatie (aanmaakdatum, id) where status = 'gepland';
create index notificatie_kanaal on notificatie (kanaal, aanmaakdatum, id);
-- Messages of one object: the main object, or what lies below it by the uuid at the end of its URL.
create index notificatie_hoofd_object on notificatie (hoofd_object_uuid);
create index notificatie_resource on notificatie (right(resource_url, 36)) where resource_url <> hoofd_object;
-- For the last outcome at the receiver.
create index notificatie_poging_begonnen on notificatie_poging (begonnen_op);

create table bewaartermijn_run (
  id bigint generated always as identity primary key,
  gestart_door text not null default '',
  begonnen_op timestamptz not null default now(),
  beeindigd_op timestamptz,
  imports integer not null default 0,
  notificaties integer not null default 0,
  bestanden integer not null default 0,
  onafgemaakt integer not null default 0,
  overgeslagen text[] not null default '{}',
  fout text
);
comment on table bewaartermijn_run is 'What each run of the clean-up (task bewaartermijnen) removed. The last hundred are kept.';
comment on column bewaartermijn_run.id is 'Number.';
comment on column bewaartermijn_run.gestart_door is 'Account that asked for it in the administration pages; empty: the clock.';
comment on column bewaartermijn_run.begonnen_op is 'When it began.';
comment on column bewaartermijn_run.beeindigd_op is 'When it ended; empty: it runs, or its worker died and it begins anew.';
comment on column bewaartermijn_run.imports is 'Imports removed.';
comment on column bewaartermijn_run.notificaties is 'Notifications removed.';
comment on column bewaartermijn_run.bestanden is 'Stored files removed that belonged to no document.';
comment on column bewaartermijn_run.onafgemaakt is 'Unfinished writes removed from the stores.';
comment on column bewaartermijn_run.overgeslagen is 'Stores that could not be reached.';
comment on column bewaartermijn_run.fout is 'Why it ended before the end.';

create function taak_staat(bezig_sinds timestamptz, pogingen integer, max_pogingen integer, vanaf timestamptz)
returns text language sql stable as $$
  select case
    when bezig_sinds is not null then 'bezig'
    when pogingen >= max_pogingen then 'mislukt'
    when vanaf > now() then 'gepland'
    else 'wacht'
  end
$$;
comment on function taak_staat is 'State of a job: gepland (later), wacht (for a worker), bezig (a worker has it) or mislukt (all attempts used).';

-- As it was, for some jobs or (null) for all.
create function taken(p_ids bigint[]) returns table (
  id bigint, taak text, staat text, hoort_bij text, pogingen integer, max_pogingen integer, laatste_fout text,
  gemaakt_op timestamptz, vanaf timestamptz, bezig_sinds timestamptz, worker text
) language plpgsql stable as $$
begin
  return query
  select
    j.id::bigint,
    t.identifier::text,
    taak_staat(j.locked_at, j.attempts, j.max_attempts, j.run_at),
    coalesce(
      'import ' || (j.payload ->> 'import'),
      (select 'import ' || i.uuid from import i where t.identifier = 'verwijder-import' and i.id::text = j.payload ->> 'id'),
      (select 'notificatie ' || n.uuid from notificatie n
        where t.identifier = 'verstuur-notificatie' and n.id = (j.payload ->> 'id')::bigint),
      nullif(j.payload::text, '{}')
    ),
    j.attempts::integer,
    j.max_attempts::integer,
    j.last_error,
    j.created_at,
    j.run_at,
    j.locked_at,
    (select w.naam || ' (' || w.host || ', pid ' || w.pid || ')' from worker w where w.pool_id = j.locked_by)
  from graphile_worker._private_jobs j
  join graphile_worker._private_tasks t on t.id = j.task_id
  where p_ids is null or j.id = any(p_ids);
end $$;
comment on function taken(bigint[]) is 'These jobs, or all, as the view taak_overzicht shows them.';

create or replace function taken() returns table (
  id bigint, taak text, staat text, hoort_bij text, pogingen integer, max_pogingen integer, laatste_fout text,
  gemaakt_op timestamptz, vanaf timestamptz, bezig_sinds timestamptz, worker text
) language sql stable as $$ select * from taken(null) $$;
