-- Notificaties: a message for every change, written in the transaction of that change, and its delivery to the notifications
-- service. The functions take and end attempts together with their jobs in the queue, several at a time.

create table notificatie (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint notificatie_uuid_uniek unique,
  kanaal text not null,
  hoofd_object text not null,
  hoofd_object_uuid uuid not null,
  resource text not null,
  resource_url text not null,
  actie text not null,
  kenmerken jsonb not null,
  aanmaakdatum timestamptz not null default now(),
  status text not null default 'gepland'
    constraint notificatie_status_check check (status in ('gepland', 'afgeleverd', 'mislukt')),
  volgende_poging_op timestamptz default now(),
  herhalingen integer not null default 0,
  beeindigd_op timestamptz
);
-- For the order within a main object, and for what waits; small, since nearly all messages are delivered.
create index notificatie_gepland on notificatie (hoofd_object_uuid, id) where status = 'gepland';
create index notificatie_aanmaakdatum on notificatie (aanmaakdatum, id);
create index notificatie_mislukt on notificatie (aanmaakdatum, id) where status = 'mislukt';
create index notificatie_wacht on notificatie (aanmaakdatum, id) where status = 'gepland';
create index notificatie_kanaal on notificatie (kanaal, aanmaakdatum, id);
-- Messages of one object: the main object, or what lies below it by the uuid at the end of its URL.
create index notificatie_hoofd_object on notificatie (hoofd_object_uuid);
create index notificatie_resource on notificatie (right(resource_url, 36)) where resource_url <> hoofd_object;
comment on table notificatie is 'Messages for the notifications service, written in the transaction of the change that they tell of.';
comment on column notificatie.id is 'Internal key; order of the changes.';
comment on column notificatie.uuid is 'Constant id of the message: goes along with every attempt.';
comment on column notificatie.kanaal is 'Channel, such as documenten.';
comment on column notificatie.hoofd_object is 'URL of the main object.';
comment on column notificatie.hoofd_object_uuid is 'uuid of the main object: messages of one object keep their order.';
comment on column notificatie.resource is 'Kind of the changed object.';
comment on column notificatie.resource_url is 'URL of the changed object.';
comment on column notificatie.actie is 'create, update, partial_update or destroy.';
comment on column notificatie.kenmerken is 'Attributes on which subscribers filter.';
comment on column notificatie.aanmaakdatum is 'When the change was made.';
comment on column notificatie.status is 'gepland (waits), afgeleverd (accepted by the receiver) or mislukt (all attempts used).';
comment on column notificatie.volgende_poging_op is 'When it is to be sent. Empty while it is gepland: it waits for a service, or for an earlier message of its main object.';
comment on column notificatie.herhalingen is 'Retries that were planned since it was made or resent.';
comment on column notificatie.beeindigd_op is 'When it was delivered, or failed for the last time.';

create table notificatie_instelling (
  enig boolean primary key default true constraint notificatie_instelling_enig_check check (enig),
  ingestelde_dienst_id bigint constraint notificatie_dienst_in_gebruik references dienst,
  gepauzeerd_op timestamptz,
  dienst_id bigint generated always as (case when gepauzeerd_op is null then ingestelde_dienst_id end) stored,
  max_retries integer not null default 7
    constraint notificatie_instelling_max_retries_check check (max_retries between 0 and 100),
  backoff jsonb not null default '25' constraint notificatie_instelling_backoff_check check (case jsonb_typeof(backoff)
    when 'boolean' then true when 'number' then backoff::numeric between 0 and 1000000 else false end),
  backoff_max integer not null default 52000
    constraint notificatie_instelling_backoff_max_check check (backoff_max between 1 and 31536000),
  base_factor integer not null default 4
    constraint notificatie_instelling_base_factor_check check (base_factor between 1 and 1000),
  op_volgorde boolean not null default true,
  gewijzigd_op timestamptz not null default now()
);
comment on table notificatie_instelling is 'How notifications are delivered: one row, read at every attempt.';
comment on column notificatie_instelling.enig is 'True; keeps it to one row.';
comment on column notificatie_instelling.ingestelde_dienst_id is 'The notifications service (soort nrc) of the settings; empty: none.';
comment on column notificatie_instelling.gepauzeerd_op is 'Since when sending is paused; empty: it is not.';
comment on column notificatie_instelling.dienst_id is 'The service that messages go to now; empty: messages wait. It follows from the two above.';
comment on column notificatie_instelling.max_retries is 'Attempts after the first, before a message has failed.';
comment on column notificatie_instelling.backoff is 'Factor of the delay in seconds; true: binary exponential; false or 0: always 180 s.';
comment on column notificatie_instelling.backoff_max is 'Longest delay in seconds, unless backoff is false.';
comment on column notificatie_instelling.base_factor is 'Base of the power in the delay.';
comment on column notificatie_instelling.op_volgorde is 'Messages of one main object wait for each other.';
comment on column notificatie_instelling.gewijzigd_op is 'When it was last changed.';
insert into notificatie_instelling default values;

create table notificatie_poging (
  notificatie_id bigint not null references notificatie on delete cascade,
  nummer integer not null,
  job_id bigint not null,
  begonnen_op timestamptz not null default clock_timestamp(),
  duur_ms integer,
  uitkomst text constraint notificatie_poging_uitkomst_check check (uitkomst in
    ('delivered', 'http', 'refused', 'dns', 'tls', 'timeout', 'connection', 'protocol', 'blocked', 'unknown', 'lost')),
  http_status integer,
  antwoord text,
  primary key (notificatie_id, nummer)
);
-- For the last outcome at the receiver.
create index notificatie_poging_begonnen on notificatie_poging (begonnen_op);
comment on table notificatie_poging is 'Attempts to deliver a message. A row is written before the attempt, so that two workers never make the same one.';
comment on column notificatie_poging.notificatie_id is 'The message.';
comment on column notificatie_poging.nummer is 'Number of the attempt, from 1.';
comment on column notificatie_poging.job_id is 'The job that makes it; a worker that gets this job again knows that the attempt was lost.';
comment on column notificatie_poging.begonnen_op is 'When it began.';
comment on column notificatie_poging.duur_ms is 'Milliseconds that it took.';
comment on column notificatie_poging.uitkomst is 'delivered; http (a status that is no success); the kind of failure; lost (the worker died before it could tell); empty while it runs.';
comment on column notificatie_poging.http_status is 'Status of the answer.';
comment on column notificatie_poging.antwoord is 'Start of the body of the answer, at most 4 KB.';

-- While messages come in quick succession the sender looks for them by itself, every few milliseconds, and nobody need tell
-- it: PostgreSQL commits transactions that notify one by one, each with a wait for the disk of its own.
-- Not logged: when it is lost the sender is told again.
create unlogged table notificatie_zender (
  enig boolean primary key default true constraint notificatie_zender_enig_check check (enig),
  wakker_tot timestamptz not null
);
comment on table notificatie_zender is 'Whether a sender looks for notifications by itself: at most one row.';
comment on column notificatie_zender.enig is 'True; keeps it to one row.';
comment on column notificatie_zender.wakker_tot is 'Until when a sender does so at least. After that it is told of every message (channel notificatie).';

insert into graphile_worker._private_tasks (identifier) values ('verstuur-notificatie') on conflict do nothing;

-- Adds the job that delivers a message, from its first attempt to its last. Straight into the table: add_job costs several
-- times as much, and calls all workers. When the sender falls asleep before this is committed, it finds the job at its
-- next look, within a second.
create function plan_notificatie(p_id bigint, p_moment timestamptz default now()) returns void
language plpgsql as $$
begin
  insert into graphile_worker._private_jobs (task_id, payload, run_at)
    select id, json_build_object('id', p_id), p_moment from graphile_worker._private_tasks
    where identifier = 'verstuur-notificatie';
  if not found then -- somebody cleaned up
    perform graphile_worker.add_job('verstuur-notificatie', json_build_object('id', p_id), run_at => p_moment);
  end if;
  if not exists (select from notificatie_zender where wakker_tot > clock_timestamp()) then
    perform pg_notify('notificatie', '');
  end if;
end $$;
comment on function plan_notificatie is 'Adds the job that delivers a message, and wakes the sender when it sleeps.';

-- Takes jobs that are due for a worker, as graphile-worker does for others, and begins the attempts that they are for. Gives
-- the messages with all that sending takes; without a number those that are not to be sent now.
-- A job of a message that is done, or that another job has in hand, goes; so does that of a message that has to wait, which is
-- written down so that whoever ends the waiting plans it again. A job that comes too early is moved.
-- The locks make this and `noteer_notificatie_pogingen` see what the other did for messages of the same main object. They
-- are taken in one order, so that no two calls wait for each other; of jobs that somebody holds this one keeps away.
-- p_wakker: the caller looks again within a few milliseconds, for the next 300 at least.
--
-- The settings of both functions, `offset 0` and `any(array(…))`: their statements are planned once, perhaps while the tables
-- are empty, when every plan seems as good as another. These leave only those that find a few rows by their keys, and what
-- is due in the order of an index, however full the tables become.
create function neem_notificaties(p_pool text, p_aantal integer, p_wakker boolean)
returns table (
  job bigint, id bigint, nummer integer, herhalingen integer,
  uuid uuid, kanaal text, hoofd_object text, resource text, resource_url text, actie text, aanmaakdatum timestamptz,
  kenmerken jsonb,
  max_retries integer, backoff jsonb, backoff_max integer, base_factor integer,
  dienst_uuid uuid, api_root text, authenticatie text, client_id text, header text, geheim bytea, gebruikers_id text,
  gebruikers_weergave text, termijn_ms integer
)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  jobs bigint[];
  ids bigint[];
  sloten integer[];
begin
  if p_wakker and not exists (
    select from notificatie_zender where wakker_tot > clock_timestamp() + interval '150 milliseconds')
  then
    insert into notificatie_zender (wakker_tot) values (clock_timestamp() + interval '300 milliseconds')
      on conflict (enig) do update set wakker_tot = excluded.wakker_tot;
  end if;
  with aan_de_beurt as materialized (
    select j.id, (j.payload ->> 'id')::bigint as bericht
    from graphile_worker._private_jobs j
    where j.is_available and j.run_at <= now()
      and j.task_id = (select t.id from graphile_worker._private_tasks t where t.identifier = 'verstuur-notificatie')
    order by j.priority, j.run_at limit p_aantal for update skip locked
  )
  select array_agg(a.id), array_agg(a.bericht), array_agg(distinct hashtext(n.hoofd_object_uuid::text))
    into jobs, ids, sloten
    from aan_de_beurt a
    left join lateral (select hoofd_object_uuid from notificatie where notificatie.id = a.bericht offset 0) n on true;
  if jobs is null then return; end if;
  perform pg_advisory_xact_lock(31331, slot) from unnest(sloten) as slot;
  -- There may be more: for a sender that has its hands free.
  if cardinality(jobs) = p_aantal then perform pg_notify('notificatie', ''); end if;
  return query
  with gevraagd as materialized (
    select v.job, v.id, n.status, n.volgende_poging_op, n.hoofd_object_uuid, n.herhalingen, n.uuid, n.kanaal, n.hoofd_object,
      n.resource, n.resource_url, n.actie, n.aanmaakdatum, n.kenmerken,
      p.nummer as laatste, p.nummer is not null and p.uitkomst is null as open, p.job_id as van, row_number() over (partition by v.id order by v.job) as keer
    from unnest(jobs, ids) as v(job, id)
    left join lateral (select * from notificatie where notificatie.id = v.id offset 0) n on true
    left join lateral (
      select * from notificatie_poging p where p.notificatie_id = v.id order by p.nummer desc limit 1) p on true
  ), beoordeeld as materialized (
    select g.*, i.max_retries, i.backoff, i.backoff_max, i.base_factor, i.dienst_id,
      case
        when g.status is distinct from 'gepland' or g.keer > 1 then 'weg'
        when g.volgende_poging_op > clock_timestamp() then 'later'
        when i.dienst_id is null or i.op_volgorde and (
          select n.id from notificatie n
          where n.hoofd_object_uuid = g.hoofd_object_uuid and n.status = 'gepland' order by n.id limit 1) < g.id
          then 'wacht'
        when g.open and g.van <> g.job and exists (
          select from graphile_worker._private_jobs j where j.id = g.van and j.locked_at is not null) then 'weg'
        else 'nu'
      end as wat
    from gevraagd g cross join notificatie_instelling i
  ), weg as (
    delete from graphile_worker._private_jobs j
      where j.id = any(array(select b.job from beoordeeld b where b.wat in ('weg', 'wacht')))
  ), later as (
    update graphile_worker._private_jobs j
      set run_at = (select b.volgende_poging_op from beoordeeld b where b.job = j.id)
      where j.id = any(array(select b.job from beoordeeld b where b.wat = 'later'))
  ), wacht as (
    update notificatie n set volgende_poging_op = null
      where n.id = any(array(select b.id from beoordeeld b where b.wat = 'wacht'))
  ), verloren as (
    update notificatie_poging p set uitkomst = 'lost'
      where p.notificatie_id = any(array(select b.id from beoordeeld b where b.wat = 'nu' and b.open)) and p.uitkomst is null
  ), genomen as (
    update graphile_worker._private_jobs j set attempts = j.attempts + 1, locked_by = p_pool, locked_at = now()
      where j.id = any(array(select b.job from beoordeeld b where b.wat = 'nu'))
  ), begonnen as (
    insert into notificatie_poging (notificatie_id, nummer, job_id)
      select b.id, coalesce(b.laatste, 0) + 1, b.job from beoordeeld b where b.wat = 'nu'
  )
  select b.job, b.id, case when b.wat = 'nu' then coalesce(b.laatste, 0) + 1 end, b.herhalingen, b.uuid, b.kanaal, b.hoofd_object, b.resource, b.resource_url,
    b.actie, b.aanmaakdatum, b.kenmerken, b.max_retries, b.backoff, b.backoff_max, b.base_factor, d.uuid, d.api_root,
    d.authenticatie, d.client_id, d.header, d.geheim, d.gebruikers_id, d.gebruikers_weergave, d.termijn_ms
  from beoordeeld b left join dienst d on d.id = b.dienst_id order by b.id;
end $$;
comment on function neem_notificaties is 'Takes jobs that deliver messages, begins their attempts, and gives what is to be sent.';

-- Ends attempts, and the jobs that they were for, or moves those to the next attempt. Gives the places (from 1) of the
-- attempts that were still the caller's; of the others another worker found them lost and has made its own.
-- p_wachten: seconds until the next attempt; empty: this was the last one.
create function noteer_notificatie_pogingen(
  p_jobs bigint[], p_ids bigint[], p_nummers integer[], p_uitkomsten text[], p_http_statussen integer[], p_antwoorden text[],
  p_duren_ms integer[], p_wachten double precision[])
returns integer[] language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  onze integer[]; -- places
  klaar integer[]; -- of these, for the last time
  opnieuw integer[]; -- to be tried again
  sloten integer[];
  hoofden uuid[];
  moment timestamptz;
  volgende bigint;
begin
  -- The jobs before the locks, as when they are taken.
  perform from graphile_worker._private_jobs where id = any(p_jobs) order by id for update;
  select array_agg(distinct hashtext(n.hoofd_object_uuid::text)) into sloten
    from unnest(p_ids) as v(id), lateral (select hoofd_object_uuid from notificatie where id = v.id offset 0) n;
  perform pg_advisory_xact_lock(31331, slot) from unnest(sloten) as slot;
  with genoteerd as (
    update notificatie_poging p set
      uitkomst = p_uitkomsten[array_position(p_ids, p.notificatie_id)],
      http_status = p_http_statussen[array_position(p_ids, p.notificatie_id)],
      antwoord = p_antwoorden[array_position(p_ids, p.notificatie_id)],
      duur_ms = p_duren_ms[array_position(p_ids, p.notificatie_id)]
    where p.notificatie_id = any(p_ids) and p.uitkomst is null
      and p.nummer = p_nummers[array_position(p_ids, p.notificatie_id)]
    returning array_position(p_ids, p.notificatie_id) as plaats
  )
  select array_agg(plaats), array_agg(plaats) filter (where p_uitkomsten[plaats] = 'delivered' or p_wachten[plaats] is null),
      array_agg(plaats) filter (where p_uitkomsten[plaats] <> 'delivered' and p_wachten[plaats] is not null)
    into onze, klaar, opnieuw from genoteerd;
  moment := clock_timestamp();
  if opnieuw is not null then
    update notificatie n set herhalingen = n.herhalingen + 1,
        volgende_poging_op = moment + p_wachten[array_position(p_ids, n.id)] * interval '1 second'
      where n.id = any(array(select p_ids[plaats] from unnest(opnieuw) as plaats));
    update graphile_worker._private_jobs j set attempts = 0, locked_at = null, locked_by = null,
        run_at = moment + p_wachten[array_position(p_jobs, j.id)] * interval '1 second'
      where j.id = any(array(select p_jobs[plaats] from unnest(opnieuw) as plaats));
  end if;
  if klaar is null then return coalesce(onze, '{}'); end if;
  delete from graphile_worker._private_jobs j where j.id = any(array(select p_jobs[plaats] from unnest(klaar) as plaats));
  with beeindigd as (
    update notificatie n set volgende_poging_op = null, beeindigd_op = moment,
        status = case p_uitkomsten[array_position(p_ids, n.id)] when 'delivered' then 'afgeleverd' else 'mislukt' end
      where n.id = any(array(select p_ids[plaats] from unnest(klaar) as plaats))
      returning n.hoofd_object_uuid
  )
  select array_agg(distinct hoofd_object_uuid) into hoofden from beeindigd;
  for volgende in
    update notificatie n set volgende_poging_op = moment
    where n.id = any(array(
      select eerste.id from unnest(hoofden) as h(hoofd), lateral (
        select id, volgende_poging_op from notificatie
        where hoofd_object_uuid = h.hoofd and status = 'gepland' order by id limit 1) eerste
      where eerste.volgende_poging_op is null))
    returning n.id
  loop
    perform plan_notificatie(volgende);
  end loop;
  return onze;
end $$;
comment on function noteer_notificatie_pogingen is 'Ends attempts to deliver messages: writes the outcome, and plans what follows.';
