-- Delivery to receivers that fail for a while: what an attempt counts for, and what goes when a receiver answers again.

-- A message is refused when its receiver accepted others since its last attempt. Only that counts: what a receiver does to
-- everything says nothing of a message.
alter table delivery add column refusals integer not null default 0, add column aside boolean not null default false;
comment on column delivery.retries is
  'Retries that were planned since it was made, resent, or its receiver answered again: the next delay follows from it.';
comment on column delivery.refusals is 'Retries that were refused while its receiver accepted others.';
comment on column delivery.aside is
  'It was refused for what it is while its receiver accepted others: later messages of its main object do not wait for it.';
comment on column delivery.ended_at is 'When an attempt failed for the last time.';

create table external_receiver (
  singleton boolean primary key default true constraint external_receiver_singleton_check check (singleton),
  failures integer not null default 0, failing_since timestamptz, not_before timestamptz,
  last_outcome text, last_http_status integer, paused_at timestamptz
);
select describe('external_receiver', 'How the external notifications service is doing: one row.',
  'singleton', 'True; keeps it to one row.',
  'failures', 'Attempts that failed since the last one that succeeded.', 'failing_since', 'Since when attempts fail; empty: they do not.',
  'not_before', 'Nothing is sent to it before this moment: it asked for that.',
  'last_outcome', 'Outcome of the last attempt that failed; empty: the last one succeeded.', 'last_http_status', 'Status of that answer.',
  'paused_at', 'Since when sending to it is paused; empty: it is not.');
insert into external_receiver default values;

alter table notificatie_settings add column outage_counts text not null default 'extern'
  constraint notificatie_settings_outage_counts_check check (outage_counts in ('geen', 'extern', 'alle'));
comment on column notificatie_settings.outage_counts is
  'At which receivers an attempt counts while the receiver fails as a whole: none (geen), the external service (extern), or all (alle).';
comment on column notificatie_settings.paused_at is 'Since when sending is paused, to all receivers; empty: it is not.';

-- What was refused got a main object of its own, and was out of order for ever.
update delivery l set hoofd_object_uuid = delivery_order(n.hoofd_object_uuid, n.cloudevent)
from notificatie n
where l.attempt > 0 and n.id = l.notificatie_id and l.hoofd_object_uuid <> delivery_order(n.hoofd_object_uuid, n.cloudevent);

-- What waits goes first, and in the order in which it was made. What failed while the receiver accepted nothing goes too.
create function receiver_answers(p_receiver bigint, p_failures integer) returns boolean language plpgsql as $$
declare
  failures integer;
  since timestamptz;
begin
  if p_receiver = 0 then
    select x.failures, x.failing_since into failures, since from external_receiver x for update;
    update external_receiver set failures = 0, failing_since = null, not_before = null, last_outcome = null, last_http_status = null;
  else
    select a.failures, a.failing_since into failures, since from abonnement a where a.id = p_receiver for update;
    update abonnement a set failures = 0, failing_since = null, not_before = null, last_outcome = null, last_http_status = null
      where a.id = p_receiver;
    if (select a.callback_url = '' from abonnement a where a.id = p_receiver) then return false; end if;
  end if;
  if coalesce(failures < p_failures, true) then return false; end if;
  update delivery l set next_attempt_at = n.aanmaakdatum, retries = l.refusals, aside = false
    from notificatie n
    where l.abonnement_id = p_receiver and l.status = 'gepland' and l.claimed_by is null and (l.next_attempt_at > now() or l.aside)
      and n.id = l.notificatie_id;
  update delivery l set status = 'gepland', next_attempt_at = n.aanmaakdatum, retries = l.refusals, aside = false, cause = null
    from notificatie n
    where l.abonnement_id = p_receiver and l.status = 'mislukt' and l.ended_at >= since and l.place is null
      and (l.refusals = 0 or l.refusals < (select max_retries from notificatie_settings)) and n.id = l.notificatie_id;
  return true;
end $$;
comment on function receiver_answers is
  'A receiver accepts messages: its rest ends, and from so many failures on what waits goes at once (empty: never). Gives whether it does.';

-- As in sql/0010-notificaties.sql, but: what is aside holds nothing up, a pause holds for abonnementen too, and the external service
-- gets the rest that it asks for.
create or replace function claim_deliveries(p_worker integer, p_external integer, p_total integer,
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
  select i.*, i.paused_at is null and exists (select from abonnement a where a.status = 'actief') as has_subscribers,
      x.not_before, x.not_before is null as is_well, x.paused_at is not null as external_paused into settings
  from notificatie_settings i cross join external_receiver x where p_worker = 0 or exists (select from worker w where w.id = p_worker);
  if not found then return; end if;

  -- is_claimable cannot be inlined: the usual case is told before it.
  if settings.service_id is not null and not settings.external_paused and p_external > 0 and (settings.is_well or settings.not_before <= now()) then
    select coalesce(array_agg(c.notificatie_id), '{}'), coalesce(array_agg(0::bigint), '{}'), array_agg(e.notificatie_id),
        array_agg(c.next_attempt_at), array_agg(c.claimed_by is not null),
        array_agg(not exists (select from notificatie n where n.id = c.notificatie_id))
      into ids, receivers, earlier, due, lost, orphans
    from (
      select l.notificatie_id, l.hoofd_object_uuid, l.claimed_by, l.next_attempt_at, l.aside from delivery l
      where l.abonnement_id = 0 and l.status = 'gepland' and l.next_attempt_at <= now()
        and l.next_attempt_at >= looked_from(settings.is_well, settings.changed_at, p_age, 0, p_receivers, p_ages)
        and (l.claimed_by is null or is_claimable(l, p_worker, p_busy_messages, p_busy_receivers))
      order by l.next_attempt_at, l.notificatie_id limit p_external for update skip locked) c
    left join lateral (
      select e.notificatie_id from delivery e
      where settings.in_order and not c.aside and not e.aside and e.abonnement_id = 0 and e.hoofd_object_uuid = c.hoofd_object_uuid
        and e.status = 'gepland' and e.notificatie_id < c.notificatie_id
      order by e.notificatie_id limit 1) e on true;
  end if;
  if settings.has_subscribers then
    select array_agg(c.notificatie_id) as ids, array_agg(c.abonnement_id) as receivers, array_agg(e.notificatie_id) as earlier,
        array_agg(c.next_attempt_at) as due, array_agg(c.claimed_by is not null) as lost,
        array_agg(not exists (select from notificatie n where n.id = c.notificatie_id)) as orphans
      into of_subscribers
    from (
      select a.id as abonnement_id, a.in_order, l.notificatie_id, l.hoofd_object_uuid, l.claimed_by, l.next_attempt_at, l.aside
      from abonnement a,
        lateral (
          select l.notificatie_id, l.next_attempt_at, l.hoofd_object_uuid, l.claimed_by, l.aside from delivery l
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
      where c.in_order and not c.aside and not e.aside and e.abonnement_id = c.abonnement_id and e.hoofd_object_uuid = c.hoofd_object_uuid
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

drop function record_attempts(bigint[], bigint[], integer[], text[], integer[], text[], integer[], double precision[], double precision[],
  integer, double precision[], text);
-- Records attempts that ended, and makes due what waited for them. Gives the places (from 1) of those that were still the
-- caller's, whether a next message of the same main object may go, whether what waited for a receiver goes, and the places of those
-- that failed for good; of the others another worker found them lost and has made its own. p_waits: seconds until the next attempt.
-- p_rests: seconds that the receiver asked to be left alone. p_probes: how long an abonnement is left alone after the failure with
-- number p_sparing, after the next one, …; the last for all after it. p_unsubscribed: what to write down as the reason of one that
-- answered 410.
create function record_attempts(p_messages bigint[], p_receivers bigint[], p_numbers integer[], p_outcomes text[],
  p_statuses integer[], p_answers text[], p_ms integer[], p_waits double precision[], p_rests double precision[],
  p_sparing integer, p_probes double precision[], p_unsubscribed text, out places integer[], out released boolean,
  out recovered boolean, out failed integer[])
language plpgsql as $$
declare
  settings record;
  objects uuid[];
  well bigint[];
  well_at timestamptz[];
  more integer[];
  more_objects uuid[];
  more_ended timestamptz[];
  next_ids bigint[];
  next_receivers bigint[];
  receiver bigint;
begin
  recovered := false;
  select i.max_retries, i.backoff_max, i.outage_counts into settings from notificatie_settings i;
  with gone as (
    delete from delivery l
    using unnest(p_messages, p_receivers, p_numbers, p_outcomes) with ordinality as u(message, receiver, number, outcome, place)
    where u.outcome = 'delivered' and l.notificatie_id = u.message and l.abonnement_id = u.receiver
      and l.attempt = u.number and l.claimed_by is not null
    returning u.place::integer as place, l.abonnement_id, l.begun_at, l.hoofd_object_uuid
  ), logged as (
    insert into delivery_attempt (notificatie_id, abonnement_id, number, begun_at, duration_ms, outcome, http_status, answer)
    select p_messages[place], p_receivers[place], p_numbers[place], coalesce(begun_at, now()), p_ms[place], p_outcomes[place],
      p_statuses[place], p_answers[place]
    from gone on conflict do nothing
  )
  select coalesce(array_agg(place), '{}'), coalesce(array_agg(hoofd_object_uuid), '{}'), array_agg(abonnement_id),
      array_agg(begun_at + p_ms[place] * interval '1 ms')
    into places, objects, well, well_at from gone;
  if 'delivered' <> any (p_outcomes) then
    with judged as (
      select u.*, o.retries, o.refusals + case when is_refused then 1 else 0 end as refusals, is_refused, is_well_else,
        always_counts and is_early as keeps, always_counts and not is_early and o.retries >= settings.max_retries
          or not always_counts and is_well_else and o.refusals + case when is_refused then 1 else 0 end >= settings.max_retries as is_last,
        coalesce(o.begun_at, now()) + coalesce(u.ms, 0) * interval '1 ms' as ended,
        -- The next moment is counted from when this attempt was planned: a sender that is late does not shift the schedule.
        case when o.retries > 0 and o.begun_at - o.next_attempt_at between interval '0' and interval '1 hour'
          then least(o.begun_at - o.next_attempt_at, interval '5 seconds',
          u.wait * interval '0.5 second') else interval '0' end as late
      from unnest(p_messages, p_receivers, p_numbers, p_outcomes, p_statuses, p_ms, p_waits, p_rests)
        with ordinality as u(message, receiver, number, outcome, status, ms, wait, rest, place)
      join delivery o on o.notificatie_id = u.message and o.abonnement_id = u.receiver
      left join lateral (
        select a.failing_since from abonnement a where a.id = u.receiver
        union all select x.failing_since from external_receiver x where u.receiver = 0) r on true
      -- Whether the receiver accepted something since the last attempt of this one.
      cross join lateral (select r.failing_since is null or coalesce(r.failing_since > o.ended_at, false) as is_well_else,
        o.next_attempt_at > o.begun_at as is_early,
        settings.outage_counts = 'alle' or settings.outage_counts = 'extern' and u.receiver = 0 as always_counts) w
      cross join lateral (select o.ended_at is not null and is_well_else as is_refused) x
      where u.outcome <> 'delivered'
    ), kept as (
      update delivery l set
        status = case when is_last then 'mislukt' else 'gepland' end,
        next_attempt_at = case when is_last then null when keeps then l.next_attempt_at
          else greatest(ended + coalesce(wait, settings.backoff_max) * interval '1 second' - late, ended + rest * interval '1 second') end,
        ended_at = ended,
        cause = case when is_last then case u.outcome when 'http' then 'http-' || u.status else u.outcome end end,
        retries = l.retries + case when is_last or keeps then 0 else 1 end,
        refusals = u.refusals,
        -- Of these statuses the message is the cause, where the receiver accepts others.
        aside = is_refused and coalesce(u.status in (400, 413, 415, 422), false),
        claimed_by = null
      from judged u
      where l.notificatie_id = u.message and l.abonnement_id = u.receiver
        and l.attempt = u.number and l.claimed_by is not null
      returning u.place::integer as place, l.begun_at, l.hoofd_object_uuid, l.ended_at, l.status = 'mislukt' as is_last
    ), logged as (
      insert into delivery_attempt (notificatie_id, abonnement_id, number, begun_at, duration_ms, outcome, http_status, answer, is_last)
      select p_messages[place], p_receivers[place], p_numbers[place], coalesce(begun_at, now()), p_ms[place],
        p_outcomes[place], p_statuses[place], p_answers[place], is_last
      from kept on conflict do nothing
    )
    select array_agg(place), array_agg(hoofd_object_uuid), array_agg(ended_at), array_agg(place) filter (where is_last)
      into more, more_objects, more_ended, failed from kept;
    places := places || coalesce(more, '{}');
    objects := objects || coalesce(more_objects, '{}');
  end if;

  -- Whoever parks a message holds the earlier one under a share lock until that commits. So what was parked behind the messages
  -- of above was committed before they could be taken away, and this statement, which begins later, sees it.
  select array_agg(f.notificatie_id), array_agg(f.abonnement_id) into next_ids, next_receivers
  from unnest(places, objects) as o(place, object),
    lateral (
      select e.notificatie_id, e.abonnement_id, e.next_attempt_at from delivery e
      where e.abonnement_id = p_receivers[o.place] and e.hoofd_object_uuid = o.object and e.status = 'gepland' and not e.aside
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

  -- What a receiver accepted before it began to fail says nothing of how it is now.
  for receiver in
    select w.id from (select v.id, max(v.at) as at from unnest(well, well_at) as v(id, at) group by 1) w
    cross join lateral (
      select a.failures, a.failing_since, a.not_before from abonnement a where a.id = w.id
      union all select x.failures, x.failing_since, x.not_before from external_receiver x where w.id = 0) r
    where (r.failures > 0 or r.not_before is not null) and w.at >= coalesce(r.failing_since, '-infinity')
    order by 1
  loop
    recovered := receiver_answers(receiver, case when receiver <> 0 or settings.outage_counts = 'geen' then p_sparing end) or recovered;
  end loop;
  released := released or recovered;
  if more is null then return; end if;
  with f as (
    select p_receivers[o.place] as receiver, count(*)::integer as count, max(p_rests[o.place]) as rest, min(o.ended) as since,
      coalesce(bool_or(p_statuses[o.place] = 410), false) as unsubscribed,
      (array_agg(p_outcomes[o.place] order by o.place desc))[1] as outcome,
      (array_agg(p_statuses[o.place] order by o.place desc))[1] as http_status
    from unnest(more, more_ended) as o(place, ended)
    where o.ended > coalesce((select max(v.at) from unnest(well, well_at) as v(id, at) where v.id = p_receivers[o.place]), '-infinity')
    group by 1
  ), of_external as (
    update external_receiver x set failures = x.failures + f.count, failing_since = coalesce(x.failing_since, f.since),
      last_outcome = f.outcome, last_http_status = f.http_status,
      not_before = greatest(x.not_before, now() + f.rest * interval '1 second')
    from f where f.receiver = 0
  )
  update abonnement a set failures = a.failures + f.count, failing_since = coalesce(a.failing_since, f.since),
      last_outcome = f.outcome, last_http_status = f.http_status,
      -- Before the first probe there is no such place, and greatest looks at nothing that is empty.
      not_before = greatest(a.not_before, now() + f.rest * interval '1 second', now() + interval '1 second'
        * p_probes[least(a.failures + f.count - p_sparing + 1, cardinality(p_probes))]),
      status = case when f.unsubscribed and a.status = 'actief' then 'opgezegd' else a.status end,
      reason = case when f.unsubscribed and a.status = 'actief' then p_unsubscribed else a.reason end,
      status_since = case when f.unsubscribed and a.status = 'actief' then now() else a.status_since end
    from f where a.id = f.receiver;
end $$;
comment on function record_attempts is 'Records attempts to deliver: the delivery goes, is planned again or has failed, its receiver is well or not, and what waited for it may go.';
