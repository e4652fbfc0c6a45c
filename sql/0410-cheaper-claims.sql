-- Claiming deliveries and recording attempts in fewer steps: what almost never has anything to do is decided in the step before
-- it. And who records that a message ended lets the next one of its main object go in the same call, so that no further claim is
-- needed for that. An operator notices that sending takes less of the database.

-- Claims deliveries that are due, fairly between the receivers: of each the one that is due longest, then of each the next.
-- Gives what to send, and without a number what was only looked at.
-- p_worker: id in table worker; 0: none, for whoever sends without being registered. p_busy…: what its process has in hand.
-- p_open_receivers: the receivers of what it is sending now.
create function claim_deliveries(p_worker integer, p_external integer, p_total integer,
  p_busy_messages bigint[], p_busy_receivers bigint[], p_open_receivers bigint[])
returns table (
  notificatie_id bigint, abonnement_id bigint, hoofd_object_uuid uuid, poging integer, herhalingen integer, replay boolean,
  message json, max_retries integer, backoff jsonb, backoff_max integer, base_factor integer, dienst json, abonnement json
)
language plpgsql as $$
#variable_conflict use_column
declare
  settings record;
  ids bigint[] := '{}';
  receivers bigint[] := '{}';
  -- Per delivery: an earlier one of the same main object that is not done, whether its last attempt was lost, whether its
  -- message was removed.
  earlier bigint[] := '{}';
  lost boolean[] := '{}';
  orphans boolean[] := '{}';
  of_subscribers record;
begin
  select i.*, exists (select from abonnement a where a.status = 'actief') as has_subscribers into settings
  from notificatie_instelling i where p_worker = 0 or exists (select from worker w where w.id = p_worker);
  if not found then return; end if;

  -- is_claimable cannot be inlined: the usual case is told before it.
  if settings.dienst_id is not null and p_external > 0 then
    select coalesce(array_agg(c.notificatie_id), '{}'), coalesce(array_agg(0::bigint), '{}'), array_agg(e.notificatie_id),
        array_agg(c.genomen_door is not null), array_agg(not exists (select from notificatie n where n.id = c.notificatie_id))
      into ids, receivers, earlier, lost, orphans
    from (
      select l.notificatie_id, l.hoofd_object_uuid, l.genomen_door from levering l
      where l.abonnement_id = 0 and l.status = 'gepland' and l.volgende_poging_op <= now()
        and (l.genomen_door is null or is_claimable(l, p_worker, p_busy_messages, p_busy_receivers))
      order by l.volgende_poging_op, l.notificatie_id limit p_external for update skip locked) c
    left join lateral (
      select e.notificatie_id from levering e
      where settings.op_volgorde and e.abonnement_id = 0 and e.hoofd_object_uuid = c.hoofd_object_uuid
        and e.status = 'gepland' and e.notificatie_id < c.notificatie_id
      order by e.notificatie_id limit 1) e on true;
  end if;
  if settings.has_subscribers then
    select array_agg(c.notificatie_id) as ids, array_agg(c.abonnement_id) as receivers, array_agg(e.notificatie_id) as earlier,
        array_agg(c.genomen_door is not null) as lost,
        array_agg(not exists (select from notificatie n where n.id = c.notificatie_id)) as orphans
      into of_subscribers
    from (
      select a.id as abonnement_id, a.op_volgorde, l.notificatie_id, l.hoofd_object_uuid, l.genomen_door
      from abonnement a,
        lateral (
          select l.notificatie_id, l.volgende_poging_op, l.hoofd_object_uuid, l.genomen_door from levering l
          where l.abonnement_id = a.id and l.status = 'gepland' and l.volgende_poging_op <= now()
            and (l.genomen_door is null or is_claimable(l, p_worker, p_busy_messages, p_busy_receivers))
          order by l.volgende_poging_op, l.notificatie_id
          -- After five failures in a row an abonnement gets one message at a time, until it accepts one.
          limit greatest(0, case when a.fouten >= 5 then 1 else a.gelijktijdig end
            - (select count(*) from unnest(p_open_receivers) b where b = a.id))
          for update skip locked) l
      where a.status = 'actief' and a.verwijderd_op is null and (a.niet_voor is null or a.niet_voor <= now())
      order by row_number() over (partition by a.id order by l.volgende_poging_op, l.notificatie_id), l.volgende_poging_op
      limit p_total) c
    left join lateral (
      select e.notificatie_id from levering e
      where c.op_volgorde and e.abonnement_id = c.abonnement_id and e.hoofd_object_uuid = c.hoofd_object_uuid
        and e.status = 'gepland' and e.notificatie_id < c.notificatie_id
      order by e.notificatie_id limit 1) e on true;
    if of_subscribers.ids is not null then
      ids := ids || of_subscribers.ids;
      receivers := receivers || of_subscribers.receivers;
      earlier := earlier || of_subscribers.earlier;
      lost := lost || of_subscribers.lost;
      orphans := orphans || of_subscribers.orphans;
    end if;
  end if;
  if cardinality(ids) = 0 then return; end if;

  if num_nonnulls(variadic earlier) > 0 then
    update levering l set volgende_poging_op = null
    from unnest(ids, receivers, earlier) as b(id, receiver, earlier),
      lateral (
        select e.notificatie_id from levering e
        where e.notificatie_id = b.earlier and e.abonnement_id = b.receiver and e.status = 'gepland'
        for share skip locked) held
    where l.notificatie_id = b.id and l.abonnement_id = b.receiver;
  end if;
  if true = any (lost) then
    insert into notificatie_poging (notificatie_id, abonnement_id, nummer, begonnen_op, uitkomst)
      select l.notificatie_id, l.abonnement_id, l.poging, coalesce(l.begonnen_op, now()), 'lost'
      from unnest(ids, receivers, earlier) as v(id, receiver, earlier)
      join levering l on l.notificatie_id = v.id and l.abonnement_id = v.receiver
      where l.genomen_door is not null and v.earlier is null
      on conflict do nothing;
  end if;
  if true = any (orphans) then
    delete from levering l using unnest(ids, receivers) as v(id, receiver)
      where l.notificatie_id = v.id and l.abonnement_id = v.receiver
        and not exists (select from notificatie n where n.id = v.id);
  end if;

  return query
  update levering l set genomen_door = p_worker, poging = l.poging + 1, begonnen_op = clock_timestamp()
  from unnest(ids, receivers, earlier) as v(id, receiver, earlier)
  join notificatie n on n.id = v.id
  where v.earlier is null and l.notificatie_id = v.id and l.abonnement_id = v.receiver
  returning l.notificatie_id, l.abonnement_id, l.hoofd_object_uuid, l.poging, l.herhalingen, l.replay,
    json_build_object('uuid', n.uuid, 'kanaal', n.kanaal, 'hoofdObject', n.hoofd_object, 'resource', n.resource,
      'resourceUrl', n.resource_url, 'actie', n.actie, 'bron', n.bron, 'kenmerken', n.kenmerken,
      'cloudevent', n.cloudevent, 'verzoekId', n.verzoek_id, 'traceparent', n.traceparent,
      'aanmaakdatum', coalesce(n.aanmaakdatum_tekst, replace(rtrim(
        to_char(n.aanmaakdatum at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0') || 'Z', '.Z', 'Z'))),
    settings.max_retries, settings.backoff, settings.backoff_max, settings.base_factor,
    case when l.abonnement_id = 0 then (
      select json_build_object('uuid', d.uuid, 'apiRoot', d.api_root,
        'authenticatie', d.authenticatie, 'clientId', d.client_id, 'header', d.header, 'geheim', encode(d.geheim, 'base64'),
        'gebruikersId', d.gebruikers_id, 'gebruikersWeergave', d.gebruikers_weergave, 'termijnMs', d.termijn_ms,
        'tokenUrl', d.token_url, 'tokenScope', d.token_scope, 'certificaat', d.certificaat,
        'certificaatSleutel', encode(d.certificaat_sleutel, 'base64'), 'ca', d.ca)
      from dienst d where d.id = settings.dienst_id) end,
    case when l.abonnement_id <> 0 then (
      select json_build_object('uuid', a.uuid, 'callbackUrl', a.callback_url,
        'authenticatie', a.authenticatie, 'auth', encode(a.auth, 'base64'), 'uitgaandClientId', a.uitgaand_client_id,
        'tokenUrl', a.token_url, 'tokenScope', a.token_scope, 'certificaat', a.certificaat,
        'certificaatSleutel', encode(a.certificaat_sleutel, 'base64'),
        'ondertekening', array(select encode(s, 'base64') from unnest(a.ondertekening) s),
        'cloudevents', a.cloudevents, 'termijnMs', a.termijn_ms)
      from abonnement a where a.id = l.abonnement_id) end;
  if num_nonnulls(variadic earlier) > 0 then
    return query select v.id, v.receiver, null::uuid, null::integer, null::integer, null::boolean, null::json,
      null::integer, null::jsonb, null::integer, null::integer, null::json, null::json
    from unnest(ids, receivers, earlier) as v(id, receiver, earlier) where v.earlier is not null;
  end if;
end $$;
comment on function claim_deliveries(integer, integer, integer, bigint[], bigint[], bigint[])
  is 'Claims deliveries that are due for a worker, and gives what is to be sent.';

-- Records attempts that ended, and makes due what waited for them. Gives the places (from 1) of those that were still the
-- caller's, and whether a next message of the same main object may go; of the others another worker found them lost and has made
-- its own. p_waits: seconds until the next attempt; empty: this was the last one. p_rests: seconds that the receiver asked to be
-- left alone.
create function record_attempts(p_messages bigint[], p_receivers bigint[], p_numbers integer[], p_outcomes text[],
  p_statuses integer[], p_answers text[], p_ms integer[], p_waits double precision[], p_rests double precision[],
  out places integer[], out released boolean)
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
    delete from levering l
    using unnest(p_messages, p_receivers, p_numbers, p_outcomes) with ordinality as u(message, receiver, number, outcome, place)
    where u.outcome = 'delivered' and l.notificatie_id = u.message and l.abonnement_id = u.receiver
      and l.poging = u.number and l.genomen_door is not null
    returning u.place::integer as place, l.begonnen_op, l.hoofd_object_uuid
  ), logged as (
    insert into notificatie_poging (notificatie_id, abonnement_id, nummer, begonnen_op, duur_ms, uitkomst, http_status, antwoord)
    select p_messages[place], p_receivers[place], p_numbers[place], coalesce(begonnen_op, now()), p_ms[place], p_outcomes[place],
      p_statuses[place], p_answers[place]
    from gone on conflict do nothing
  )
  select coalesce(array_agg(place), '{}'), coalesce(array_agg(hoofd_object_uuid), '{}') into places, objects from gone;
  if 'delivered' <> any (p_outcomes) then
    with kept as (
      update levering l set
        status = case when u.wait is null then 'mislukt' else 'gepland' end,
        volgende_poging_op = clock_timestamp() + u.wait * interval '1 second',
        beeindigd_op = case when u.wait is null then clock_timestamp() end,
        herhalingen = l.herhalingen + case when u.wait is null then 0 else 1 end,
        genomen_door = null
      from unnest(p_messages, p_receivers, p_numbers, p_outcomes, p_waits)
        with ordinality as u(message, receiver, number, outcome, wait, place)
      where u.outcome <> 'delivered' and l.notificatie_id = u.message and l.abonnement_id = u.receiver
        and l.poging = u.number and l.genomen_door is not null
      returning u.place::integer as place, l.begonnen_op, l.hoofd_object_uuid
    ), logged as (
      insert into notificatie_poging (notificatie_id, abonnement_id, nummer, begonnen_op, duur_ms, uitkomst, http_status, antwoord)
      select p_messages[place], p_receivers[place], p_numbers[place], coalesce(begonnen_op, now()), p_ms[place],
        p_outcomes[place], p_statuses[place], p_answers[place]
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
      select e.notificatie_id, e.abonnement_id, e.volgende_poging_op from levering e
      where e.abonnement_id = p_receivers[o.place] and e.hoofd_object_uuid = o.object and e.status = 'gepland'
      order by e.notificatie_id limit 1) f
  where f.volgende_poging_op is null;
  released := next_ids is not null;
  if released then
    update levering l set volgende_poging_op = now()
    from (
      -- In one order, so that two who record at once never wait for each other.
      select n.notificatie_id, n.abonnement_id from levering n
      join unnest(next_ids, next_receivers) as v(id, receiver) on n.notificatie_id = v.id and n.abonnement_id = v.receiver
      where n.status = 'gepland' and n.volgende_poging_op is null
      order by n.notificatie_id, n.abonnement_id for update of n) first
    where l.notificatie_id = first.notificatie_id and l.abonnement_id = first.abonnement_id;
  end if;

  select array_agg(o.place) into of_subscribers from unnest(places) as o(place) where p_receivers[o.place] <> 0;
  if of_subscribers is null then return; end if;
  update abonnement a set fouten = 0, storing_sinds = null, niet_voor = null, laatste_uitkomst = null, laatste_http_status = null
    where a.id in (select p_receivers[o.place] from unnest(of_subscribers) as o(place) where p_outcomes[o.place] = 'delivered')
      and (a.fouten > 0 or a.niet_voor is not null);
  update abonnement a set fouten = a.fouten + f.count, storing_sinds = coalesce(a.storing_sinds, now()),
      laatste_uitkomst = f.outcome, laatste_http_status = f.http_status,
      -- Probed after 5 s, 10 s, … and at most every five minutes.
      niet_voor = greatest(a.niet_voor, now() + f.rest * interval '1 second',
        case when a.fouten + f.count >= 5
          then now() + interval '1 second' * least(300, 5 * 2 ^ least(a.fouten + f.count - 5, 20)) end),
      status = case when f.unsubscribed and a.status = 'actief' then 'opgezegd' else a.status end,
      reden = case when f.unsubscribed and a.status = 'actief' then 'De ontvanger heeft opgezegd (antwoord 410).' else a.reden end,
      status_sinds = case when f.unsubscribed and a.status = 'actief' then now() else a.status_sinds end
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

comment on function claim_deliveries(integer, integer, integer, bigint[], bigint[], bigint[], bigint[], uuid[])
  is 'For workers of an earlier version.';
comment on function record_deliveries is 'For workers of an earlier version.';
