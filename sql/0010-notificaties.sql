-- Notificaties: a message for every change, written in the transaction of that change, and its delivery: to an external
-- notifications service, or to the abonnementen of the one that is built in. src/notificaties/claims.ts tells how.

create table notificatie (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint notificatie_uuid_unique unique,
  kanaal text not null, hoofd_object text not null, hoofd_object_uuid uuid not null,
  resource text not null, resource_url text not null, actie text not null, kenmerken jsonb not null,
  aanmaakdatum timestamptz not null default now(),
  bron text not null default '', aanmaakdatum_text text, cloudevent text, request_id text not null default '',
  traceparent text
) with (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create index notificatie_aanmaakdatum on notificatie (aanmaakdatum, id);
create index notificatie_kanaal on notificatie (kanaal, aanmaakdatum, id);
-- Messages of one object: the main object, or what lies below it by the uuid at the end of its URL.
create index notificatie_hoofd_object on notificatie (hoofd_object_uuid);
create index notificatie_resource on notificatie (right(resource_url, 36)) where resource_url <> hoofd_object;
select describe('notificatie', 'Messages about changes, written in the transaction of the change. Rows are only added, and removed after their term; what has to be delivered is in delivery.',
  'id', 'Internal key; order of the changes.', 'uuid', 'Constant id of the message: goes along with every attempt.',
  'kanaal', 'Channel, such as documenten.', 'hoofd_object', 'URL of the main object.',
  'hoofd_object_uuid', 'uuid of the main object: messages of one object keep their order.', 'resource', 'Kind of the changed object.',
  'resource_url', 'URL of the changed object.', 'kenmerken', 'Attributes on which subscribers filter.',
  'aanmaakdatum', 'When the change was made.', 'bron', 'Attribute source of a message that another publisher gave; empty: none.',
  'aanmaakdatum_text', 'The moment as another publisher wrote it; empty: it is our own message.',
  'cloudevent', 'Type of a cloud event, such as nl.overheid.zaken.zaak-gemuteerd; empty: it is a notification of the standard.',
  'request_id', 'Id of the request that the message came from.',
  'traceparent', 'Trace context of the request that the message came from; empty: it was not traced.');

create table delivery (
  notificatie_id bigint not null, abonnement_id bigint not null default 0,
  hoofd_object_uuid uuid not null,
  status text not null default 'gepland' constraint delivery_status_check check (status in ('gepland', 'mislukt')),
  next_attempt_at timestamptz default now(),
  retries integer not null default 0, attempt integer not null default 0, claimed_by integer,
  begun_at timestamptz, ended_at timestamptz, cause text, replay boolean not null default false, place bigint,
  primary key (notificatie_id, abonnement_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.05);
create index delivery_due on delivery (abonnement_id, next_attempt_at, notificatie_id) where status = 'gepland';
create index delivery_order on delivery (abonnement_id, hoofd_object_uuid, notificatie_id) where status = 'gepland';
create index delivery_failed on delivery (abonnement_id, notificatie_id) where status = 'mislukt';
-- Of what failed, by its cause and by its message: pages count along these, and need not look at the rows.
create index delivery_cause on delivery (cause, notificatie_id) include (abonnement_id, ended_at) where status = 'mislukt';
create index delivery_failed_message on delivery (notificatie_id) where status = 'mislukt';
create index delivery_place on delivery (abonnement_id, place) where place is not null;
select describe('delivery', 'What is still to be delivered, or failed: one row per message and receiver. It goes when the receiver has accepted the message.',
  'notificatie_id', 'The message.', 'abonnement_id', 'The receiver: an abonnement, or 0 for the external notifications service.',
  'hoofd_object_uuid', 'Main object of the message: those of one object keep their order.',
  'status', 'gepland (waits) or mislukt (all attempts used).',
  'next_attempt_at', 'When it is to be sent. Empty: it waits for an earlier message of its main object, or to be fetched, or it failed.',
  'retries', 'Retries that were planned since it was made or resent.', 'attempt', 'Number of the last attempt that was begun; 0: none.',
  'claimed_by', 'The worker that makes an attempt now (table worker). When that worker is gone, another makes the attempt again.',
  'begun_at', 'When that attempt began.', 'ended_at', 'When it failed for the last time.',
  'cause', 'How its last attempt ended when it failed: an outcome of delivery_attempt, of http with the status (http-503).',
  'place', 'Its place among what the receiver fetched (src/nrc/abonnement/fetch.ts); empty: it was not fetched yet.',
  'replay', 'It was delivered or failed before and is sent again because somebody asked.');

create table delivery_attempt (
  notificatie_id bigint not null, abonnement_id bigint not null default 0, number integer not null,
  begun_at timestamptz not null default clock_timestamp(),
  duration_ms integer,
  outcome text not null constraint delivery_attempt_outcome_check check (outcome in
    ('delivered', 'http', 'refused', 'dns', 'tls', 'tls-expired', 'tls-name', 'tls-ca', 'tls-client', 'tls-version', 'timeout',
      'connection', 'protocol', 'blocked', 'unknown', 'lost')),
  http_status integer, answer text, is_last boolean not null default false,
  primary key (notificatie_id, abonnement_id, number)
) with (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
-- For the last outcomes at a receiver.
create index delivery_attempt_begun on delivery_attempt (abonnement_id, begun_at);
select describe('delivery_attempt', 'Attempts to deliver a message that ended.',
  'notificatie_id', 'The message.', 'abonnement_id', 'The receiver, as in delivery.', 'number', 'Number of the attempt, from 1.',
  'begun_at', 'When it began.', 'duration_ms', 'Milliseconds that it took.',
  'outcome', 'delivered; http (a status that is no success); the kind of failure; lost (the worker died before it could tell).',
  'http_status', 'Status of the answer.', 'answer', 'Start of the body of the answer, at most 4 KB.',
  'is_last', 'With it the delivery failed: no other was planned.');

create table delivery_figure (
  hour timestamptz not null, abonnement_id bigint not null,
  delivered integer not null, retried integer not null, failed integer not null,
  counted_until timestamptz not null,
  primary key (abonnement_id, hour)
);
select describe('delivery_figure', 'How many attempts began in an hour at a receiver, for pictures; counted by a job (src/notificaties/figures.ts).',
  'hour', 'The hour, by its beginning.', 'abonnement_id', 'The receiver, as in delivery.', 'delivered', 'Attempts that delivered.',
  'retried', 'Attempts that failed, after which another was planned.', 'failed', 'Attempts with which the delivery failed.',
  'counted_until', 'All attempts that began before were counted when this row was written.');

create view notificatie_overview as
select n.uuid, n.kanaal, n.resource, n.actie, n.resource_url, n.aanmaakdatum,
  coalesce((select max(l.status) from delivery l where l.notificatie_id = n.id), 'afgeleverd') as status,
  (select min(l.next_attempt_at) from delivery l where l.notificatie_id = n.id) as next_attempt_at
from notificatie n order by n.id desc;
comment on view notificatie_overview is 'Messages with their state, newest first.';
comment on column notificatie_overview.status is 'mislukt (for some receiver), gepland (for some receiver) or afgeleverd (nothing is left to do).';
comment on column notificatie_overview.next_attempt_at is 'When it is sent next.';

create table notificatie_settings (
  singleton boolean primary key default true constraint notificatie_settings_singleton_check check (singleton),
  configured_service_id bigint constraint notificatie_service_in_use references service,
  paused_at timestamptz,
  service_id bigint generated always as (case when paused_at is null then configured_service_id end) stored,
  max_retries integer not null default 7 constraint notificatie_settings_max_retries_check check (max_retries between 0 and 100),
  backoff jsonb not null default '25' constraint notificatie_settings_backoff_check check (case jsonb_typeof(backoff)
    when 'boolean' then true when 'number' then backoff::numeric between 0 and 1000000 else false end),
  backoff_max integer not null default 52000 constraint notificatie_settings_backoff_max_check check (backoff_max between 1 and 31536000),
  base_factor integer not null default 4 constraint notificatie_settings_base_factor_check check (base_factor between 1 and 1000),
  in_order boolean not null default true,
  mode text not null default 'extern' constraint notificatie_settings_mode_check check (mode in ('extern', 'ingebouwd', 'beide')),
  changed_at timestamptz not null default now(),
  block_after_hours integer not null default 336
    constraint notificatie_settings_block_after_hours_check check (block_after_hours between 1 and 87600),
  block_from_count integer not null default 1000000
    constraint notificatie_settings_block_from_count_check check (block_from_count between 1 and 100000000)
);
select describe('notificatie_settings', 'How notifications are delivered: one row, read at every attempt.',
  'singleton', 'True; keeps it to one row.', 'configured_service_id', 'The notifications service (kind nrc) of the settings; empty: none.',
  'paused_at', 'Since when sending is paused; empty: it is not.',
  'service_id', 'The service that messages go to now; empty: messages wait. It follows from the two above.',
  'max_retries', 'Attempts after the first, before a message has failed.',
  'backoff', 'Factor of the delay in seconds; true: binary exponential; false or 0: always 180 s.',
  'backoff_max', 'Longest delay in seconds, unless backoff is false.', 'base_factor', 'Base of the power in the delay.',
  'in_order', 'Messages of one main object wait for each other.',
  'mode', 'Who gets our messages: an external notifications service (extern), the abonnementen here (ingebouwd), or both (beide).',
  'block_after_hours', 'An abonnement is blocked when a message waits for it for so many hours.',
  'block_from_count', 'An abonnement is blocked when so many messages wait for it.');
insert into notificatie_settings default values;

-- Not logged: when it is lost, senders are woken once more than needed.
create unlogged table active_sender (
  worker_id integer primary key,
  seen_at timestamptz not null default now()
);
select describe('active_sender', 'Workers that look for what is due by themselves at this moment. While there is one, nobody is woken.',
  'worker_id', 'The worker (table worker).', 'seen_at', 'When it last said so.');

-- Reads what is committed now, and not when the statement that calls it began: src/notificaties/sender.ts tells why.
-- Not void: that is no column of a statement that Citus sends on.
create function wake_sender() returns boolean language plpgsql volatile as $$
begin
  if exists (select from active_sender z join worker w on w.id = z.worker_id) then return false; end if;
  if exists (
    select from jobs
    where key = 'send-notificaties' and run_at <= clock_timestamp() and locked_at is null and attempts < max_attempts
  ) then return false; end if;
  perform add_job('send-notificaties', job_key => 'send-notificaties');
  return true;
end $$;
comment on function wake_sender is 'Wakes a sender, unless one looks by itself or is about to; returns whether it did. To be called after the rows in delivery were written.';

-- ---- the notifications service that is built in: who subscribes ----

create table kanaal (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint kanaal_uuid_unique unique,
  naam text not null constraint kanaal_naam_unique unique constraint kanaal_naam_check check (length(naam) between 1 and 50),
  documentatie_link text not null default '' constraint kanaal_documentatie_link_check check (length(documentatie_link) <= 200),
  filters text[] not null default '{}', own boolean not null default false,
  created_at timestamptz not null default now()
);
select describe('kanaal', 'Channels of the notifications service that is built in.',
  'id', 'Internal key; order of lists.', 'naam', 'Name, such as zaken. It never changes.',
  'documentatie_link', 'Where its kenmerken are explained; may be empty.', 'filters', 'Names of the kenmerken that one may filter on.',
  'own', 'This service publishes on it: its filters come from the program.');

create table abonnement (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint abonnement_uuid_unique unique,
  applicatie_id bigint constraint abonnement_applicatie references applicatie on delete set null,
  client_id text not null default '',
  callback_url text not null constraint abonnement_callback_url_check check (length(callback_url) <= 2000),
  authenticatie text not null default 'header'
    constraint abonnement_authenticatie_check check (authenticatie in ('header', 'jwt', 'oauth2')),
  auth bytea not null, outgoing_client_id text not null default '',
  token_url text not null default '', token_scope text not null default '', certificaat text not null default '',
  certificate_key bytea,
  ondertekening bytea[] not null default '{}' constraint abonnement_ondertekening_check check (cardinality(ondertekening) <= 2),
  cloudevents boolean not null default false, in_order boolean not null default true,
  concurrency integer not null default 4 constraint abonnement_concurrency_check check (concurrency between 1 and 50),
  timeout_ms integer not null default 10000 constraint abonnement_timeout_ms_check check (timeout_ms between 1000 and 60000),
  status text not null default 'actief'
    constraint abonnement_status_check check (status in ('actief', 'gepauzeerd', 'geblokkeerd', 'opgezegd')),
  reason text not null default '', status_since timestamptz not null default now(),
  failures integer not null default 0, failing_since timestamptz, not_before timestamptz,
  last_outcome text, last_http_status integer,
  created_at timestamptz not null default now(), changed_at timestamptz not null default now(), deleted_at timestamptz,
  last_fault_at timestamptz, missed_after bigint,
  place bigint not null default 0, confirmed bigint not null default 0, fetched_at timestamptz
);
create index abonnement_applicatie on abonnement (applicatie_id);
select describe('abonnement', 'Who gets messages of the notifications service that is built in, and where.',
  'id', 'Internal key; order of lists. Never 0: that stands for the external service.',
  'uuid', 'Last part of its URL, and what its secrets are bound to.',
  'applicatie_id', 'Who may see and change it; empty: that applicatie is gone.',
  'client_id', 'Client id of the token that made it, for the log.', 'callback_url', 'Where messages go; empty: the receiver fetches them.',
  'place', 'The last place that a message got when it was fetched.', 'confirmed', 'Up to which place the receiver has them.',
  'fetched_at', 'When it last asked for messages, to the minute; empty: never.',
  'authenticatie', 'How we identify ourselves there: header (auth as it is), jwt (signed for each message) or oauth2 (client credentials).',
  'auth', 'Value of the header Authorization, or the secret (jwt, oauth2); sealed with a key of the ring.',
  'outgoing_client_id', 'Our client id there (jwt, oauth2).',
  'certificate_key', 'Private key of that certificate; sealed with a key of the ring.',
  'ondertekening', 'Secrets of the signature (Standard Webhooks), newest first; encrypted. Two during a change.',
  'cloudevents', 'It gets cloud events instead of messages of the standard.',
  'in_order', 'Messages of one main object wait for each other.', 'concurrency', 'Messages that are sent to it at once.',
  'timeout_ms', 'Milliseconds that one attempt may take, from connecting to the last byte of the answer.',
  'status', 'actief, gepauzeerd (messages wait), geblokkeerd (no new messages are planned; they stay in the log for a replay) or opgezegd (the receiver said 410).',
  'reason', 'Why it has that status.', 'status_since', 'Since when it has that status.',
  'failures', 'Attempts that failed since the last one that succeeded.', 'failing_since', 'Since when attempts fail; empty: they do not.',
  'not_before', 'Nothing is sent to it before this moment: it asked for that, or it fails and is probed.',
  'last_outcome', 'Outcome of the last attempt that failed; empty: the last one succeeded.', 'last_http_status', 'Status of that answer.',
  'deleted_at', 'When it was deleted: nothing is sent any more, and a worker removes what is left.',
  'last_fault_at', 'When an attempt last failed; empty: never.',
  'missed_after', 'Key of a message before it was blocked or unsubscribed; later ones were not planned for it. Empty: it missed nothing.');

create function follow_abonnement() returns trigger language plpgsql as $$
begin
  if new.failures > old.failures then new.last_fault_at := now(); end if;
  -- Whoever plans messages without seeing this status does it with a higher key: that is given out after this was committed.
  if old.status in ('actief', 'gepauzeerd') and new.status in ('geblokkeerd', 'opgezegd') then
    new.missed_after := coalesce(old.missed_after, pg_sequence_last_value(pg_get_serial_sequence('notificatie', 'id')::regclass), 0);
  end if;
  if old.applicatie_id is not null and new.applicatie_id is null and new.status = 'actief' then
    new.status := 'gepauzeerd';
    new.reason := '';
    new.status_since := now();
  end if;
  return new;
end $$;
comment on function follow_abonnement is 'Keeps when an attempt last failed and what an abonnement misses; without its applicatie it is paused.';
create trigger abonnement_followed before update of failures, status, applicatie_id on abonnement
  for each row execute function follow_abonnement();

create function kenmerk_name(p_name text) returns text language sql immutable parallel safe as $$
  select lower(replace(p_name, '_', ''))
$$;
comment on function kenmerk_name is 'A name of a kenmerk for comparing: camelCase and snake_case are one name.';

create function kenmerk_value(p_value text) returns text language sql immutable parallel safe as $$
  select coalesce(substring(p_value from '^https?://[^?#]*(/[^/?#]+/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'), p_value)
$$;
comment on function kenmerk_value is 'A value of a kenmerk for comparing: of the URL of a resource only its kind and uuid, since a service may have several names.';

-- What the filters of abonnementen ask is kept in a shape that is compared at once: names folded, values of URLs without their
-- address, long values as a hash. Every change is held against all filters of its kanaal: five thousand took from half a second to half
-- a minute, where names were folded and URLs taken apart for each. They take a fiftieth of that or less.
create function kenmerk_short(p_value text) returns text language sql immutable parallel safe as $$
  select case when length(w) <= 60 then w else md5(w) || md5(w || '+') end from (select kenmerk_value(p_value) as w) v
$$;
comment on function kenmerk_short(text) is 'A value of a kenmerk for comparing, of 64 characters at most.';

-- In plpgsql, which keeps its plan: every message asks it.
create function comparable_kenmerken(p_kenmerken jsonb) returns jsonb language plpgsql immutable parallel safe as $$
begin
  return (select coalesce(jsonb_object_agg(naam, waarde), '{}') from (
    select kenmerk_name(k.naam) as naam, case when min(short) = max(short) then to_jsonb(min(short)) else 'false' end as waarde
    from jsonb_each_text(p_kenmerken) k(naam, waarde), lateral (select kenmerk_short(coalesce(k.waarde, '')) as short offset 0) v
    group by 1) k);
end $$;
comment on function comparable_kenmerken(jsonb) is
  'The kenmerken of a message, to compare; false where one name has several values, which no filter lets through.';

-- A generated column calls it, also while pg_restore has no search path.
create function comparable_filters(p_filters jsonb) returns jsonb language sql immutable parallel safe
set search_path from current as $$
  select coalesce(jsonb_object_agg(naam, waarde), '{}') || (
      select jsonb_strip_nulls(jsonb_build_object(
        'RESOURCE', case when p_filters ->> '#resource' <> '*' then
          to_jsonb(string_to_array(p_filters ->> '#resource', ',')) end,
        'ACTIE', case when p_filters ->> '#actie' <> '*' then
          to_jsonb(string_to_array(p_filters ->> '#actie', ',')) end)))
  from (
    select kenmerk_name(f.naam) as naam, case when min(short) = max(short) then to_jsonb(min(short)) else 'null' end as waarde
    from jsonb_each_text(p_filters) f(naam, waarde), lateral (select kenmerk_short(f.waarde) as short offset 0) v
    where f.waarde <> '*' and f.naam not in ('#resource', '#actie')
    group by 1) f
$$;
comment on function comparable_filters(jsonb) is
  'Filters, to compare with comparable_kenmerken; null where one name asks several values. The names in capitals are those of the message.';

-- A kenmerk that the message does not have keeps nothing out: there the filters are laid beneath it.
create function comparable_fits(p_toets jsonb, p_kenmerken jsonb, p_resource text, p_actie text)
returns boolean language sql immutable parallel safe as $$
  select (p_toets -> 'RESOURCE' is null or p_toets -> 'RESOURCE' ? p_resource)
    and (p_toets -> 'ACTIE' is null or p_toets -> 'ACTIE' ? p_actie
      or p_actie = 'partial_update' and p_toets -> 'ACTIE' ? 'update')
    and (p_toets || p_kenmerken) @> p_toets
$$;
comment on function comparable_fits(jsonb, jsonb, text, text) is
  'Whether a message fits filters, both in the shape to compare (comparable_kenmerken, comparable_filters).';

create function filters_fit(p_filters jsonb, p_kenmerken jsonb, p_resource text, p_actie text)
returns boolean language sql immutable parallel safe as $$
  select comparable_fits(comparable_filters(p_filters), comparable_kenmerken(p_kenmerken), p_resource, p_actie)
$$;
comment on function filters_fit is 'Whether a message fits the filters of one row of abonnement_kanaal.';

create table abonnement_kanaal (
  id bigint generated always as identity primary key,
  abonnement_id bigint not null references abonnement on delete cascade,
  kanaal_id bigint not null constraint abonnement_kanaal_exists references kanaal,
  filters jsonb not null default '{}',
  comparable jsonb not null generated always as (comparable_filters(filters)) stored
);
create index abonnement_kanaal_abonnement on abonnement_kanaal (abonnement_id);
create index abonnement_kanaal_kanaal on abonnement_kanaal (kanaal_id);
-- It stays in the row, also where the filters themselves do not.
alter table abonnement_kanaal alter column comparable set storage external, set (toast_tuple_target = 4096);
select describe('abonnement_kanaal', 'What an abonnement wants: it gets a message when one of these rows fits, and once however many do.',
  'id', 'Internal key; order in which they were given.', 'abonnement_id', 'The abonnement.', 'kanaal_id', 'The channel.',
  'filters', 'Names and values that all have to fit, as they were registered; * fits all.',
  'comparable', 'The filters in the shape in which messages are compared with them.');

-- A function of its own: in the statement that records a change these joins cost a tenth of it, also where nobody subscribes.
create function subscribers_of(p_kanaal text, p_kenmerken jsonb, p_resource text, p_actie text, p_cloudevent text)
returns table (abonnement_id bigint, next_attempt_at timestamptz) language plpgsql stable as $$
declare
  comparable jsonb;
begin
  if not exists (select from kanaal k join abonnement_kanaal ak on ak.kanaal_id = k.id where k.naam = p_kanaal) then return; end if;
  comparable := comparable_kenmerken(p_kenmerken);
  return query select distinct s.id, case when s.callback_url <> '' then now() end from (
    select a.id, a.callback_url, ak.comparable as filters
    from kanaal k join abonnement_kanaal ak on ak.kanaal_id = k.id
    join abonnement a on a.id = ak.abonnement_id and a.status in ('actief', 'gepauzeerd') and a.deleted_at is null
    where k.naam = p_kanaal and (p_cloudevent is null or a.cloudevents)
    offset 0 -- only those of this kanaal, and never before that is known
  ) s where comparable_fits(s.filters, comparable, p_resource, p_actie);
end $$;
comment on function subscribers_of is 'The abonnementen that a message goes to, each with the moment at which it is sent; empty: it fetches them.';

create table resend (
  id bigint generated always as identity primary key,
  abonnement_id bigint not null references abonnement on delete cascade,
  kind text not null constraint resend_kind_check check (kind in ('failed', 'since', 'missed')),
  since timestamptz not null default '-infinity', until timestamptz,
  after_message bigint not null default 0, waits_for text[],
  position_at timestamptz not null default '-infinity', position bigint not null default 0,
  per_minute integer not null constraint resend_per_minute_check check (per_minute between 1 and 600000),
  planned integer not null default 0,
  started_by text not null, started_at timestamptz not null default now(), ended_at timestamptz,
  stopped boolean not null default false
);
create unique index resend_one_at_once on resend (abonnement_id) where ended_at is null;
create index resend_abonnement on resend (abonnement_id, id);
select describe('resend', 'Sending messages again to one abonnement: a job plans them in portions, at a rate. The newest is shown.',
  'abonnement_id', 'Who gets them.',
  'kind', 'failed (those that failed), since (all since a moment) or missed (those that were not planned while it was blocked).',
  'since', 'Messages that were made since this moment.', 'until', 'And before this one; empty: it is not known yet.',
  'after_message', 'Only messages with a higher key (missed).',
  'waits_for', 'Transactions (virtualtransaction of pg_locks) that have to end before it begins: they may not have seen yet that messages are planned again (missed).',
  'position_at', 'Moment of the last message that was looked at.', 'position', 'Key of that message.',
  'per_minute', 'Deliveries that it plans in a minute, at most.', 'planned', 'Deliveries that it planned until now.',
  'started_by', 'Who asked for it.', 'started_at', 'When.', 'ended_at', 'When all was planned, or somebody stopped it; empty: it goes on.',
  'stopped', 'Somebody stopped it.');

-- ---- sending ----

create function is_claimable(l delivery, p_worker integer, p_busy_messages bigint[], p_busy_receivers bigint[])
returns boolean language sql stable as $$
  select l.claimed_by is null
    or l.claimed_by = p_worker and not exists (
      select from unnest(p_busy_messages, p_busy_receivers) as b(message, receiver)
      where b.message = l.notificatie_id and b.receiver = l.abonnement_id)
    or l.claimed_by <> p_worker and not exists (select from worker w where w.id = l.claimed_by)
$$;
comment on function is_claimable is 'Whether nobody makes an attempt to deliver it: nobody claimed it, or whoever did is gone or knows nothing of it.';

-- Messages with the same of these go one after the other: those of a main object. Its cloud events are an order of their own, so that
-- they hold up no notification.
create function delivery_order(hoofd_object uuid, cloudevent text) returns uuid language sql immutable
return case when cloudevent is null then hoofd_object else overlay(hoofd_object::text placing 'ffffffff' from 1)::uuid end;
comment on function delivery_order is 'What messages to one receiver are kept in order by.';

-- The caller has seen everything before so many seconds, but of a receiver that fails or changed since then. src/notificaties/lower-bounds.ts.
create function looked_from(p_well boolean, p_changed timestamptz, p_age double precision, p_receiver bigint,
  p_receivers bigint[], p_ages double precision[])
returns timestamptz language sql stable parallel safe as $$
  select coalesce(nullif(greatest(now() - interval '1 second' * case when p_well then
    case when p_receiver = any (p_receivers) then p_ages[array_position(p_receivers, p_receiver)] else p_age end end, p_changed),
    p_changed), '-infinity')
$$;
comment on function looked_from is 'From which moment on a sender looks for what is due to a receiver.';

create function message_of(n notificatie) returns json language sql stable as $$
  select json_build_object('uuid', n.uuid, 'kanaal', n.kanaal, 'hoofdObject', n.hoofd_object, 'resource', n.resource,
    'resourceUrl', n.resource_url, 'actie', n.actie, 'bron', n.bron, 'kenmerken', n.kenmerken,
    'cloudevent', n.cloudevent, 'requestId', n.request_id, 'traceparent', n.traceparent,
    'aanmaakdatum', coalesce(n.aanmaakdatum_text, replace(rtrim(
      to_char(n.aanmaakdatum at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0') || 'Z', '.Z', 'Z')))
$$;
comment on function message_of is 'A message as it goes to whoever delivers it.';

-- Claims deliveries that are due, fairly between the receivers: of each the one that is due longest, then of each the next.
-- Gives what to send, and without a number what was only looked at.
-- p_worker: id in table worker; 0: none, for whoever sends without being registered. p_busy…: what its process has in hand.
-- p_open_receivers: the receivers of what it is sending now. p_sparing: from so many failures in a row an abonnement gets one message
-- at a time, until it accepts one. p_age, p_receivers, p_ages: see looked_from.
create function claim_deliveries(p_worker integer, p_external integer, p_total integer,
  p_busy_messages bigint[], p_busy_receivers bigint[], p_open_receivers bigint[], p_sparing integer,
  p_age double precision, p_receivers bigint[], p_ages double precision[])
returns table (
  notificatie_id bigint, abonnement_id bigint, hoofd_object_uuid uuid, due_age double precision, attempt integer, retries integer, replay boolean,
  message json, max_retries integer, backoff jsonb, backoff_max integer, base_factor integer, service json, abonnement json
)
language plpgsql as $$
#variable_conflict use_column
declare
  settings record;
  ids bigint[] := '{}';
  receivers bigint[] := '{}';
  due timestamptz[] := '{}';
  -- Per delivery: an earlier one of the same main object that is not done, whether its last attempt was lost, whether its
  -- message was removed.
  earlier bigint[] := '{}';
  lost boolean[] := '{}';
  orphans boolean[] := '{}';
  of_subscribers record;
begin
  select i.*, exists (select from abonnement a where a.status = 'actief') as has_subscribers into settings
  from notificatie_settings i where p_worker = 0 or exists (select from worker w where w.id = p_worker);
  if not found then return; end if;

  -- is_claimable cannot be inlined: the usual case is told before it.
  if settings.service_id is not null and p_external > 0 then
    select coalesce(array_agg(c.notificatie_id), '{}'), coalesce(array_agg(0::bigint), '{}'), array_agg(e.notificatie_id),
        array_agg(c.next_attempt_at), array_agg(c.claimed_by is not null),
        array_agg(not exists (select from notificatie n where n.id = c.notificatie_id))
      into ids, receivers, earlier, due, lost, orphans
    from (
      select l.notificatie_id, l.hoofd_object_uuid, l.claimed_by, l.next_attempt_at from delivery l
      where l.abonnement_id = 0 and l.status = 'gepland' and l.next_attempt_at <= now()
        and l.next_attempt_at >= looked_from(true, settings.changed_at, p_age, 0, p_receivers, p_ages)
        and (l.claimed_by is null or is_claimable(l, p_worker, p_busy_messages, p_busy_receivers))
      order by l.next_attempt_at, l.notificatie_id limit p_external for update skip locked) c
    left join lateral (
      select e.notificatie_id from delivery e
      where settings.in_order and e.abonnement_id = 0 and e.hoofd_object_uuid = c.hoofd_object_uuid
        and e.status = 'gepland' and e.notificatie_id < c.notificatie_id
      order by e.notificatie_id limit 1) e on true;
  end if;
  if settings.has_subscribers then
    select array_agg(c.notificatie_id) as ids, array_agg(c.abonnement_id) as receivers, array_agg(e.notificatie_id) as earlier,
        array_agg(c.next_attempt_at) as due, array_agg(c.claimed_by is not null) as lost,
        array_agg(not exists (select from notificatie n where n.id = c.notificatie_id)) as orphans
      into of_subscribers
    from (
      select a.id as abonnement_id, a.in_order, l.notificatie_id, l.hoofd_object_uuid, l.claimed_by, l.next_attempt_at
      from abonnement a,
        lateral (
          select l.notificatie_id, l.next_attempt_at, l.hoofd_object_uuid, l.claimed_by from delivery l
          -- What is due; of one that is probed else what would be due first.
          where l.abonnement_id = a.id and l.status = 'gepland'
            and l.next_attempt_at <= case when a.failures >= p_sparing then 'infinity' else now() end
            and l.next_attempt_at >= looked_from(a.failures = 0 and a.not_before is null, a.status_since, p_age, a.id, p_receivers, p_ages)
            and (l.claimed_by is null or is_claimable(l, p_worker, p_busy_messages, p_busy_receivers))
          order by l.next_attempt_at, l.notificatie_id
          limit greatest(0, case when a.failures >= p_sparing then 1 else a.concurrency end
            - (select count(*) from unnest(p_open_receivers) b where b = a.id))
          for update skip locked) l
      where a.status = 'actief' and a.deleted_at is null and a.callback_url <> '' and (a.not_before is null or a.not_before <= now())
      order by row_number() over (partition by a.id order by l.next_attempt_at, l.notificatie_id), l.next_attempt_at
      limit p_total) c
    left join lateral (
      select e.notificatie_id from delivery e
      where c.in_order and e.abonnement_id = c.abonnement_id and e.hoofd_object_uuid = c.hoofd_object_uuid
        and e.status = 'gepland' and e.notificatie_id < c.notificatie_id
      order by e.notificatie_id limit 1) e on true;
    if of_subscribers.ids is not null then
      ids := ids || of_subscribers.ids;
      receivers := receivers || of_subscribers.receivers;
      earlier := earlier || of_subscribers.earlier;
      due := due || of_subscribers.due;
      lost := lost || of_subscribers.lost;
      orphans := orphans || of_subscribers.orphans;
    end if;
  end if;
  if cardinality(ids) = 0 then return; end if;

  if num_nonnulls(variadic earlier) > 0 then
    update delivery l set next_attempt_at = null
    from unnest(ids, receivers, earlier) as b(id, receiver, earlier),
      lateral (
        select e.notificatie_id from delivery e
        where e.notificatie_id = b.earlier and e.abonnement_id = b.receiver and e.status = 'gepland'
        for share skip locked) held
    where l.notificatie_id = b.id and l.abonnement_id = b.receiver;
  end if;
  if true = any (lost) then
    insert into delivery_attempt (notificatie_id, abonnement_id, number, begun_at, outcome)
      select l.notificatie_id, l.abonnement_id, l.attempt, coalesce(l.begun_at, now()), 'lost'
      from unnest(ids, receivers, earlier) as v(id, receiver, earlier)
      join delivery l on l.notificatie_id = v.id and l.abonnement_id = v.receiver
      where l.claimed_by is not null and v.earlier is null
      on conflict do nothing;
  end if;
  if true = any (orphans) then
    delete from delivery l using unnest(ids, receivers) as v(id, receiver)
      where l.notificatie_id = v.id and l.abonnement_id = v.receiver
        and not exists (select from notificatie n where n.id = v.id);
  end if;

  return query
  update delivery l set claimed_by = p_worker, attempt = l.attempt + 1, begun_at = clock_timestamp()
  from unnest(ids, receivers, earlier, due) as v(id, receiver, earlier, due)
  join notificatie n on n.id = v.id
  where v.earlier is null and l.notificatie_id = v.id and l.abonnement_id = v.receiver
  returning l.notificatie_id, l.abonnement_id, l.hoofd_object_uuid, extract(epoch from now() - v.due)::float8, l.attempt, l.retries, l.replay,
    message_of(n),
    settings.max_retries, settings.backoff, settings.backoff_max, settings.base_factor,
    case when l.abonnement_id = 0 then (
      select json_build_object('uuid', d.uuid, 'apiRoot', d.api_root,
        'authenticatie', d.authenticatie, 'clientId', d.client_id, 'header', d.header, 'sealedSecret', encode(d.sealed_secret, 'base64'),
        'gebruikersId', d.gebruikers_id, 'gebruikersWeergave', d.gebruikers_weergave, 'timeoutMs', d.timeout_ms,
        'tokenUrl', d.token_url, 'tokenScope', d.token_scope, 'certificaat', d.certificaat,
        'certificateKey', encode(d.certificate_key, 'base64'), 'ca', d.ca)
      from service d where d.id = settings.service_id) end,
    case when l.abonnement_id <> 0 then (
      select json_build_object('uuid', a.uuid, 'callbackUrl', a.callback_url,
        'authenticatie', a.authenticatie, 'auth', encode(a.auth, 'base64'), 'outgoingClientId', a.outgoing_client_id,
        'tokenUrl', a.token_url, 'tokenScope', a.token_scope, 'certificaat', a.certificaat,
        'certificateKey', encode(a.certificate_key, 'base64'),
        'ondertekening', array(select encode(s, 'base64') from unnest(a.ondertekening) s),
        'cloudevents', a.cloudevents, 'timeoutMs', a.timeout_ms, 'atOnce', a.concurrency)
      from abonnement a where a.id = l.abonnement_id) end;
  if num_nonnulls(variadic earlier) > 0 then
    return query select v.id, v.receiver, null::uuid, extract(epoch from now() - v.due)::float8, null::integer, null::integer,
      null::boolean, null::json, null::integer, null::jsonb, null::integer, null::integer, null::json, null::json
    from unnest(ids, receivers, earlier, due) as v(id, receiver, earlier, due) where v.earlier is not null;
  end if;
end $$;
comment on function claim_deliveries is 'Claims deliveries that are due for a worker, and gives what is to be sent.';

-- Records attempts that ended, and makes due what waited for them. Gives the places (from 1) of those that were still the
-- caller's, whether a next message of the same main object may go, and whether what waited for a receiver goes; of the others another worker found them lost and has made
-- its own. p_waits: seconds until the next attempt; empty: this was the last one. p_rests: seconds that the receiver asked to be
-- left alone. p_probes: how long an abonnement is left alone after the failure with number p_sparing, after the next one, …; the last
-- for all after it. p_unsubscribed: what to write down as the reason of one that answered 410.
create function record_attempts(p_messages bigint[], p_receivers bigint[], p_numbers integer[], p_outcomes text[],
  p_statuses integer[], p_answers text[], p_ms integer[], p_waits double precision[], p_rests double precision[],
  p_sparing integer, p_probes double precision[], p_unsubscribed text, out places integer[], out released boolean,
  out recovered boolean)
language plpgsql as $$
declare
  objects uuid[];
  more integer[];
  more_objects uuid[];
  next_ids bigint[];
  next_receivers bigint[];
  of_subscribers integer[];
begin
  with gone as (
    delete from delivery l
    using unnest(p_messages, p_receivers, p_numbers, p_outcomes) with ordinality as u(message, receiver, number, outcome, place)
    where u.outcome = 'delivered' and l.notificatie_id = u.message and l.abonnement_id = u.receiver
      and l.attempt = u.number and l.claimed_by is not null
    returning u.place::integer as place, l.begun_at, l.hoofd_object_uuid
  ), logged as (
    insert into delivery_attempt (notificatie_id, abonnement_id, number, begun_at, duration_ms, outcome, http_status, answer)
    select p_messages[place], p_receivers[place], p_numbers[place], coalesce(begun_at, now()), p_ms[place], p_outcomes[place],
      p_statuses[place], p_answers[place]
    from gone on conflict do nothing
  )
  select coalesce(array_agg(place), '{}'), coalesce(array_agg(hoofd_object_uuid), '{}') into places, objects from gone;
  if 'delivered' <> any (p_outcomes) then
    with kept as (
      -- A probe before its time uses none of the attempts of its message. A message that is refused for good (4xx) keeps its
      -- attempts too, but leaves the order of its main object: it holds up no other.
      update delivery l set
        status = case when u.wait is null and not u.probe then 'mislukt' else 'gepland' end,
        next_attempt_at = case when u.probe then l.next_attempt_at else clock_timestamp() + u.wait * interval '1 second' end,
        ended_at = case when u.wait is null and not u.probe then clock_timestamp() end,
        cause = case when u.wait is null and not u.probe then case u.outcome when 'http' then 'http-' || u.status else u.outcome end end,
        retries = l.retries + case when u.wait is null or u.probe then 0 else 1 end,
        hoofd_object_uuid = case when u.refused then gen_random_uuid() else l.hoofd_object_uuid end,
        claimed_by = null
      from (
        select v.*, o.hoofd_object_uuid as object, o.next_attempt_at > o.begun_at as probe,
          coalesce(v.status between 400 and 499 and v.status not in (408, 409, 425, 429), false) as refused
        from unnest(p_messages, p_receivers, p_numbers, p_outcomes, p_statuses, p_waits)
          with ordinality as v(message, receiver, number, outcome, status, wait, place)
        join delivery o on o.notificatie_id = v.message and o.abonnement_id = v.receiver
      ) u
      where u.outcome <> 'delivered' and l.notificatie_id = u.message and l.abonnement_id = u.receiver
        and l.attempt = u.number and l.claimed_by is not null
      returning u.place::integer as place, l.begun_at, u.object as hoofd_object_uuid, l.status = 'mislukt' as is_last
    ), logged as (
      insert into delivery_attempt (notificatie_id, abonnement_id, number, begun_at, duration_ms, outcome, http_status, answer, is_last)
      select p_messages[place], p_receivers[place], p_numbers[place], coalesce(begun_at, now()), p_ms[place],
        p_outcomes[place], p_statuses[place], p_answers[place], is_last
      from kept on conflict do nothing
    )
    select array_agg(place), array_agg(hoofd_object_uuid) into more, more_objects from kept;
    places := places || coalesce(more, '{}');
    objects := objects || coalesce(more_objects, '{}');
  end if;

  -- Whoever parks a message holds the earlier one under a share lock until that commits. So what was parked behind the messages
  -- of above was committed before they could be taken away, and this statement, which begins later, sees it.
  select array_agg(f.notificatie_id), array_agg(f.abonnement_id) into next_ids, next_receivers
  from unnest(places, objects) as o(place, object),
    lateral (
      select e.notificatie_id, e.abonnement_id, e.next_attempt_at from delivery e
      where e.abonnement_id = p_receivers[o.place] and e.hoofd_object_uuid = o.object and e.status = 'gepland'
      order by e.notificatie_id limit 1) f
  where f.next_attempt_at is null;
  released := next_ids is not null;
  if released then
    update delivery l set next_attempt_at = now()
    from (
      -- In one order, so that two who record at once never wait for each other.
      select n.notificatie_id, n.abonnement_id from delivery n
      join unnest(next_ids, next_receivers) as v(id, receiver) on n.notificatie_id = v.id and n.abonnement_id = v.receiver
      where n.status = 'gepland' and n.next_attempt_at is null
      order by n.notificatie_id, n.abonnement_id for update of n) first
    where l.notificatie_id = first.notificatie_id and l.abonnement_id = first.abonnement_id;
  end if;

  select array_agg(o.place) into of_subscribers from unnest(places) as o(place) where p_receivers[o.place] <> 0;
  if of_subscribers is null then return; end if;
  -- It accepts again: what waits for its next attempt goes now, and first what was made first.
  update delivery l set next_attempt_at = n.aanmaakdatum
    from abonnement a, notificatie n
    where a.failures >= p_sparing and a.id in (
        select p_receivers[o.place] from unnest(of_subscribers) as o(place) where p_outcomes[o.place] = 'delivered')
      and l.abonnement_id = a.id and l.status = 'gepland' and l.claimed_by is null and l.next_attempt_at > now()
      and n.id = l.notificatie_id;
  recovered := found;
  released := released or recovered;
  update abonnement a set failures = 0, failing_since = null, not_before = null, last_outcome = null, last_http_status = null
    where a.id in (select p_receivers[o.place] from unnest(of_subscribers) as o(place) where p_outcomes[o.place] = 'delivered')
      and (a.failures > 0 or a.not_before is not null);
  update abonnement a set failures = a.failures + f.count, failing_since = coalesce(a.failing_since, now()),
      last_outcome = f.outcome, last_http_status = f.http_status,
      -- Before the first probe there is no such place, and greatest looks at nothing that is empty.
      not_before = greatest(a.not_before, now() + f.rest * interval '1 second', now() + interval '1 second'
        * p_probes[least(a.failures + f.count - p_sparing + 1, cardinality(p_probes))]),
      status = case when f.unsubscribed and a.status = 'actief' then 'opgezegd' else a.status end,
      reason = case when f.unsubscribed and a.status = 'actief' then p_unsubscribed else a.reason end,
      status_since = case when f.unsubscribed and a.status = 'actief' then now() else a.status_since end
    from (
      select p_receivers[o.place] as receiver, count(*)::integer as count, max(p_rests[o.place]) as rest,
        coalesce(bool_or(p_statuses[o.place] = 410), false) as unsubscribed,
        (array_agg(p_outcomes[o.place] order by o.place desc))[1] as outcome,
        (array_agg(p_statuses[o.place] order by o.place desc))[1] as http_status
      from unnest(of_subscribers) as o(place) group by 1 having bool_and(p_outcomes[o.place] <> 'delivered')
    ) f
    where a.id = f.receiver;
end $$;
comment on function record_attempts is 'Records attempts to deliver: the delivery goes, is planned again or has failed, its abonnement is well or not, and what waited for it may go.';

-- ---- cloud events that come in ----

create table received_event (
  source text not null, id text not null, type text not null, outcome text not null,
  received_at timestamptz not null default now(),
  primary key (source, id)
);
create index received_event_received_at on received_event (received_at);
select describe('received_event', 'Cloud events that came in and were acted on, so that each is acted on once. They are removed after NOTIFICATION_NUMBER_OF_DAYS_RETAINED.',
  'source', 'Attribute source.', 'id', 'Attribute id, unique within the source.', 'type', 'Attribute type.',
  'outcome', 'uitgevoerd, or why nothing was done.', 'received_at', 'When it came first.');
