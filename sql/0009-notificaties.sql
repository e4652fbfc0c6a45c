-- Other services that this one talks to, and the delivery of notifications to one of them.

create table dienst (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint dienst_uuid_uniek unique,
  label text not null check (length(label) between 1 and 100),
  slug text not null constraint dienst_slug_uniek unique check (slug ~ '^[-a-zA-Z0-9_]{1,100}$'),
  soort text not null check (soort in ('nrc', 'zrc', 'ztc', 'drc', 'brc', 'ac', 'orc')),
  api_root text not null constraint dienst_api_root_uniek unique check (api_root ~ '^https?://[^/?#@]+/([^?#]*/)?$'),
  authenticatie text not null default 'geen' check (authenticatie in ('geen', 'zgw', 'api_key')),
  client_id text not null default '',
  header text not null default '',
  geheim bytea,
  gebruikers_id text not null default '',
  gebruikers_weergave text not null default '',
  termijn_ms integer not null default 10000 check (termijn_ms between 100 and 300000),
  gemaakt_op timestamptz not null default now(),
  constraint dienst_authenticatie_volledig check (case authenticatie
    when 'zgw' then client_id <> '' and geheim is not null
    when 'api_key' then header <> '' and geheim is not null
    else geheim is null end)
);
comment on table dienst is 'Other services (APIs) that this one may talk to; nothing else is ever called.';
comment on column dienst.id is 'Internal key.';
comment on column dienst.uuid is 'Constant name, also what the secret is bound to.';
comment on column dienst.label is 'Name for people.';
comment on column dienst.slug is 'Name for configuration files.';
comment on column dienst.soort is 'Kind of API: nrc, zrc, ztc, drc, brc, ac or orc (any other).';
comment on column dienst.api_root is 'Where its API begins, with a slash at the end. URLs below it belong to this service.';
comment on column dienst.authenticatie is 'How we identify ourselves: geen, zgw (a JWT of our own) or api_key (a header).';
comment on column dienst.client_id is 'Our client id there (zgw).';
comment on column dienst.header is 'Name of the header that carries the key (api_key).';
comment on column dienst.geheim is 'Secret (zgw) or key (api_key), encrypted with SECRET_KEY.';
comment on column dienst.gebruikers_id is 'Claim user_id of our tokens.';
comment on column dienst.gebruikers_weergave is 'Claim user_representation of our tokens.';
comment on column dienst.termijn_ms is 'Milliseconds that a call may take, from connecting to the last byte of the answer.';
comment on column dienst.gemaakt_op is 'When it was made.';

create table notificatie_instelling (
  enig boolean primary key default true check (enig),
  dienst_id bigint constraint notificatie_dienst_in_gebruik references dienst,
  max_retries integer not null default 7 check (max_retries between 0 and 100),
  backoff jsonb not null default '25' check (case jsonb_typeof(backoff)
    when 'boolean' then true when 'number' then backoff::numeric between 0 and 1000000 else false end),
  backoff_max integer not null default 52000 check (backoff_max between 1 and 31536000),
  base_factor integer not null default 4 check (base_factor between 1 and 1000),
  op_volgorde boolean not null default true,
  gewijzigd_op timestamptz not null default now()
);
insert into notificatie_instelling default values;
comment on table notificatie_instelling is 'How notifications are delivered: one row, read at every attempt.';
comment on column notificatie_instelling.enig is 'True; keeps it to one row.';
comment on column notificatie_instelling.dienst_id is 'The notifications service (soort nrc); empty: messages wait.';
comment on column notificatie_instelling.max_retries is 'Attempts after the first, before a message has failed.';
comment on column notificatie_instelling.backoff is 'Factor of the delay in seconds; true: binary exponential; false or 0: always 180 s.';
comment on column notificatie_instelling.backoff_max is 'Longest delay in seconds, unless backoff is false.';
comment on column notificatie_instelling.base_factor is 'Base of the power in the delay.';
comment on column notificatie_instelling.op_volgorde is 'Messages of one main object wait for each other.';
comment on column notificatie_instelling.gewijzigd_op is 'When it was last changed.';

alter table notificatie
  add column volgende_poging_op timestamptz default now(),
  add column herhalingen integer not null default 0,
  add column beeindigd_op timestamptz;
comment on column notificatie.volgende_poging_op is 'When it is to be sent. Empty while it is gepland: it waits for a service, or for an earlier message of its main object.';
comment on column notificatie.herhalingen is 'Retries that were planned since it was made or resent.';
comment on column notificatie.beeindigd_op is 'When it was delivered, or failed for the last time.';
-- For the order within a main object, and for what waits; small, since nearly all messages are delivered.
create index notificatie_gepland on notificatie (hoofd_object_uuid, id) where status = 'gepland';
create index notificatie_mislukt on notificatie (id) where status = 'mislukt';
create index notificatie_aanmaakdatum on notificatie using brin (aanmaakdatum);

create table notificatie_poging (
  notificatie_id bigint not null references notificatie on delete cascade,
  nummer integer not null,
  job_id bigint not null,
  begonnen_op timestamptz not null default clock_timestamp(),
  duur_ms integer,
  uitkomst text check (uitkomst in
    ('delivered', 'http', 'refused', 'dns', 'tls', 'timeout', 'connection', 'protocol', 'blocked', 'unknown', 'lost')),
  http_status integer,
  antwoord text,
  primary key (notificatie_id, nummer)
);
comment on table notificatie_poging is 'Attempts to deliver a message. A row is written before the attempt, so that two workers never make the same one.';
comment on column notificatie_poging.notificatie_id is 'The message.';
comment on column notificatie_poging.nummer is 'Number of the attempt, from 1.';
comment on column notificatie_poging.job_id is 'The job that makes it; a worker that gets this job again knows that the attempt was lost.';
comment on column notificatie_poging.begonnen_op is 'When it began.';
comment on column notificatie_poging.duur_ms is 'Milliseconds that it took.';
comment on column notificatie_poging.uitkomst is 'delivered; http (a status that is no success); the kind of failure; lost (the worker died before it could tell); empty while it runs.';
comment on column notificatie_poging.http_status is 'Status of the answer.';
comment on column notificatie_poging.antwoord is 'Start of the body of the answer, at most 4 KB.';

-- Adds the job that makes an attempt. The mode and the key, which is never used again, make graphile-worker insert just
-- that: otherwise it first looks for earlier jobs with the same key, in time that grows with the number of waiting jobs.
create function plan_notificatie(p_id bigint, p_moment timestamptz default now()) returns void language plpgsql as $$
begin
  perform graphile_worker.add_job('verstuur-notificatie', json_build_object('id', p_id), run_at => p_moment,
    job_key => gen_random_uuid()::text, job_key_mode => 'unsafe_dedupe');
end $$;

-- Begins an attempt. Gives its number, or nothing when there is nothing to do now: the message is done, not yet due, or
-- another job has it in hand; or it has to wait, which is written down so that whoever ends the waiting plans it again.
-- The lock makes this and `noteer_notificatie_poging` see what the other did for messages of the same main object.
create function neem_notificatie(p_id bigint, p_job bigint, out nummer integer, out herhalingen integer)
language plpgsql as $$
declare
  bericht notificatie;
  instelling notificatie_instelling;
  laatste record;
begin
  select * into bericht from notificatie where id = p_id;
  if bericht.status is distinct from 'gepland' then return; end if;
  perform pg_advisory_xact_lock(31331, hashtext(bericht.hoofd_object_uuid::text));
  select * into bericht from notificatie where id = p_id;
  if bericht.status is distinct from 'gepland' or bericht.volgende_poging_op > clock_timestamp() then return; end if;
  select * into instelling from notificatie_instelling;
  if instelling.dienst_id is null or (instelling.op_volgorde and exists (
    select from notificatie eerder
    where eerder.hoofd_object_uuid = bericht.hoofd_object_uuid and eerder.status = 'gepland' and eerder.id < p_id))
  then
    update notificatie set volgende_poging_op = null where id = p_id;
    return;
  end if;
  select p.nummer, p.job_id, p.uitkomst into laatste
    from notificatie_poging p where p.notificatie_id = p_id order by p.nummer desc limit 1;
  if laatste.nummer is not null and laatste.uitkomst is null then
    if laatste.job_id <> p_job and exists (
      select from graphile_worker.jobs where id = laatste.job_id and locked_at is not null) then return; end if;
    update notificatie_poging p set uitkomst = 'lost' where p.notificatie_id = p_id and p.nummer = laatste.nummer;
  end if;
  nummer := coalesce(laatste.nummer, 0) + 1;
  herhalingen := bericht.herhalingen;
  insert into notificatie_poging (notificatie_id, nummer, job_id) values (p_id, neem_notificatie.nummer, p_job);
end $$;

-- Ends an attempt. False when it is no longer the caller's: another worker found it lost and has made its own.
-- p_wacht: seconds until the next attempt; empty: this was the last one.
create function noteer_notificatie_poging(
  p_id bigint, p_nummer integer, p_uitkomst text, p_http_status integer, p_antwoord text, p_duur_ms integer,
  p_wacht double precision)
returns boolean language plpgsql as $$
declare
  hoofd uuid;
  moment timestamptz;
  volgende notificatie;
begin
  select hoofd_object_uuid into hoofd from notificatie where id = p_id;
  perform pg_advisory_xact_lock(31331, hashtext(hoofd::text));
  update notificatie_poging set uitkomst = p_uitkomst, http_status = p_http_status, antwoord = p_antwoord, duur_ms = p_duur_ms
    where notificatie_id = p_id and nummer = p_nummer and uitkomst is null;
  if not found then return false; end if;
  if p_uitkomst <> 'delivered' and p_wacht is not null then
    moment := clock_timestamp() + p_wacht * interval '1 second';
    update notificatie set herhalingen = herhalingen + 1, volgende_poging_op = moment where id = p_id;
    perform plan_notificatie(p_id, moment);
    return true;
  end if;
  update notificatie set
    status = case p_uitkomst when 'delivered' then 'afgeleverd' else 'mislukt' end,
    volgende_poging_op = null, beeindigd_op = clock_timestamp()
    where id = p_id;
  select * into volgende from notificatie
    where hoofd_object_uuid = hoofd and status = 'gepland' order by id limit 1;
  if volgende.id is not null and volgende.volgende_poging_op is null then
    update notificatie set volgende_poging_op = clock_timestamp() where id = volgende.id;
    perform plan_notificatie(volgende.id);
  end if;
  return true;
end $$;
