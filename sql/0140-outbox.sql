-- Claiming deliveries and recording attempts as functions, of which the steps that have nothing to do cost nothing: as one
-- statement each, planning took longer than the work. An operator notices less work for the database.

create function is_claimable(l levering, p_worker integer, p_busy_messages bigint[], p_busy_receivers bigint[])
returns boolean language sql stable as $$
  select l.genomen_door is null
    or l.genomen_door = p_worker and not exists (
      select from unnest(p_busy_messages, p_busy_receivers) as b(message, receiver)
      where b.message = l.notificatie_id and b.receiver = l.abonnement_id)
    or l.genomen_door <> p_worker and not exists (select from worker w where w.id = l.genomen_door)
$$;
comment on function is_claimable is 'Whether nobody makes an attempt to deliver it: nobody claimed it, or whoever did is gone or knows nothing of it.';

-- Claims deliveries that are due, fairly between the receivers: of each the one that is due longest, then of each the next.
-- Gives what to send, and without a number what was only looked at. The steps that nothing has to be done in cost nothing.
-- p_worker: id in table worker; 0: none, for whoever sends without being registered. p_busy…: what its process has in hand.
-- p_released…: main objects of which a message ended since the last call.
create function claim_deliveries(p_worker integer, p_external integer, p_total integer,
  p_busy_messages bigint[], p_busy_receivers bigint[], p_released_receivers bigint[], p_released_objects uuid[])
returns table (
  notificatie_id bigint, abonnement_id bigint, hoofd_object_uuid uuid, poging integer, herhalingen integer, replay boolean,
  message jsonb, max_retries integer, backoff jsonb, backoff_max integer, base_factor integer, dienst jsonb, abonnement jsonb
)
language plpgsql as $$
#variable_conflict use_column
declare
  settings notificatie_instelling;
  ids bigint[] := '{}';
  receivers bigint[] := '{}';
  blocked bigint[];
  blocked_by bigint[];
  blocked_receivers bigint[];
begin
  if p_worker <> 0 and not exists (select from worker w where w.id = p_worker) then return; end if;
  if cardinality(p_released_receivers) > 0 then
    update levering l set volgende_poging_op = now()
    from unnest(p_released_receivers, p_released_objects) as v(receiver, object),
      lateral (
        select e.notificatie_id, e.volgende_poging_op from levering e
        where e.abonnement_id = v.receiver and e.hoofd_object_uuid = v.object and e.status = 'gepland'
        order by e.notificatie_id limit 1) first
    where first.volgende_poging_op is null and l.notificatie_id = first.notificatie_id and l.abonnement_id = v.receiver
      and l.volgende_poging_op is null and l.status = 'gepland';
  end if;
  select * into settings from notificatie_instelling;
  if settings.dienst_id is not null and p_external > 0 then
    select coalesce(array_agg(c.notificatie_id), '{}'), coalesce(array_agg(0::bigint), '{}') into ids, receivers from (
      select l.notificatie_id from levering l
      where l.abonnement_id = 0 and l.status = 'gepland' and l.volgende_poging_op <= now()
        and is_claimable(l, p_worker, p_busy_messages, p_busy_receivers)
      order by l.volgende_poging_op, l.notificatie_id limit p_external for update skip locked) c;
  end if;
  if exists (select from abonnement a where a.status = 'actief') then
    select ids || coalesce(array_agg(c.notificatie_id), '{}'), receivers || coalesce(array_agg(c.id), '{}')
      into ids, receivers
    from (
      select a.id, l.notificatie_id
      from abonnement a,
        lateral (
          select l.notificatie_id, l.volgende_poging_op from levering l
          where l.abonnement_id = a.id and l.status = 'gepland' and l.volgende_poging_op <= now()
            and is_claimable(l, p_worker, p_busy_messages, p_busy_receivers)
          order by l.volgende_poging_op, l.notificatie_id
          -- After five failures in a row an abonnement gets one message at a time, until it accepts one.
          limit greatest(0, case when a.fouten >= 5 then 1 else a.gelijktijdig end
            - (select count(*) from unnest(p_busy_receivers) b where b = a.id))
          for update skip locked) l
      where a.status = 'actief' and a.verwijderd_op is null and (a.niet_voor is null or a.niet_voor <= now())
      order by row_number() over (partition by a.id order by l.volgende_poging_op, l.notificatie_id), l.volgende_poging_op
      limit p_total) c;
  end if;
  if cardinality(ids) = 0 then return; end if;

  select array_agg(v.id), array_agg(v.receiver), array_agg(earlier.notificatie_id)
    into blocked, blocked_receivers, blocked_by
  from unnest(ids, receivers) as v(id, receiver),
    lateral (select * from levering l where l.notificatie_id = v.id and l.abonnement_id = v.receiver limit 1) l,
    lateral (
      select e.notificatie_id from levering e
      where e.abonnement_id = v.receiver and e.hoofd_object_uuid = l.hoofd_object_uuid and e.status = 'gepland'
        and e.notificatie_id < v.id
      order by e.notificatie_id limit 1) earlier
  where case v.receiver when 0 then settings.op_volgorde
    else (select a.op_volgorde from abonnement a where a.id = v.receiver) end;
  if blocked is not null then
    update levering l set volgende_poging_op = null
    from unnest(blocked, blocked_receivers, blocked_by) as b(id, receiver, earlier),
      lateral (
        select e.notificatie_id from levering e
        where e.notificatie_id = b.earlier and e.abonnement_id = b.receiver and e.status = 'gepland'
        for share skip locked) held
    where l.notificatie_id = b.id and l.abonnement_id = b.receiver;
  end if;
  insert into notificatie_poging (notificatie_id, abonnement_id, nummer, begonnen_op, uitkomst)
    select l.notificatie_id, l.abonnement_id, l.poging, coalesce(l.begonnen_op, now()), 'lost'
    from unnest(ids, receivers) as v(id, receiver),
      lateral (select * from levering l where l.notificatie_id = v.id and l.abonnement_id = v.receiver limit 1) l
    where l.genomen_door is not null and not coalesce(v.id = any(blocked), false)
    on conflict do nothing;
  -- Of a message that somebody removed.
  delete from levering l using unnest(ids, receivers) as v(id, receiver)
    where l.notificatie_id = v.id and l.abonnement_id = v.receiver
      and not exists (select from notificatie n where n.id = v.id);

  return query
  with taken as (
    update levering l set genomen_door = p_worker, poging = l.poging + 1, begonnen_op = clock_timestamp()
    from unnest(ids, receivers) as v(id, receiver)
    where l.notificatie_id = v.id and l.abonnement_id = v.receiver and not exists (
      select from unnest(blocked, blocked_receivers) as b(id, receiver) where b.id = v.id and b.receiver = v.receiver)
    returning l.*
  )
  select v.id, v.receiver, t.hoofd_object_uuid, t.poging, t.herhalingen, t.replay,
    jsonb_build_object('uuid', n.uuid, 'kanaal', n.kanaal, 'hoofdObject', n.hoofd_object, 'resource', n.resource,
      'resourceUrl', n.resource_url, 'actie', n.actie, 'bron', n.bron, 'kenmerken', n.kenmerken,
      'aanmaakdatum', coalesce(n.aanmaakdatum_tekst, replace(rtrim(
        to_char(n.aanmaakdatum at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0') || 'Z', '.Z', 'Z'))),
    settings.max_retries, settings.backoff, settings.backoff_max, settings.base_factor,
    case when v.receiver = 0 then (
      select jsonb_build_object('uuid', d.uuid, 'apiRoot', d.api_root,
        'authenticatie', d.authenticatie, 'clientId', d.client_id, 'header', d.header, 'geheim', encode(d.geheim, 'base64'),
        'gebruikersId', d.gebruikers_id, 'gebruikersWeergave', d.gebruikers_weergave, 'termijnMs', d.termijn_ms)
      from dienst d where d.id = settings.dienst_id) end,
    case when v.receiver <> 0 then (
      select jsonb_build_object('uuid', a.uuid, 'callbackUrl', a.callback_url,
        'authenticatie', a.authenticatie, 'auth', encode(a.auth, 'base64'), 'uitgaandClientId', a.uitgaand_client_id,
        'tokenUrl', a.token_url, 'tokenScope', a.token_scope, 'certificaat', a.certificaat,
        'certificaatSleutel', encode(a.certificaat_sleutel, 'base64'),
        'ondertekening', array(select encode(s, 'base64') from unnest(a.ondertekening) s),
        'cloudevents', a.cloudevents, 'termijnMs', a.termijn_ms)
      from abonnement a where a.id = v.receiver) end
  from unnest(ids, receivers) as v(id, receiver)
  left join taken t on t.notificatie_id = v.id and t.abonnement_id = v.receiver
  left join lateral (select * from notificatie n where n.id = t.notificatie_id limit 1) n on true
  order by v.id;
end $$;
comment on function claim_deliveries is 'Claims deliveries that are due for a worker, and gives what is to be sent.';

-- Records attempts that ended. Gives the places (from 1) of those that were still the caller's; of the others another worker
-- found them lost and has made its own. p_waits: seconds until the next attempt; empty: this was the last one. p_rests:
-- seconds that the receiver asked to be left alone.
create function record_deliveries(p_messages bigint[], p_receivers bigint[], p_numbers integer[], p_outcomes text[],
  p_statuses integer[], p_answers text[], p_ms integer[], p_waits double precision[], p_rests double precision[])
returns integer[] language plpgsql as $$
declare
  ours integer[] := '{}';
  failed integer[];
  places integer[];
  begun timestamptz[] := '{}';
  begun_failed timestamptz[];
begin
  with gone as (
    delete from levering l
    using unnest(p_messages, p_receivers, p_numbers, p_outcomes) with ordinality as u(message, receiver, number, outcome, place)
    where u.outcome = 'delivered' and l.notificatie_id = u.message and l.abonnement_id = u.receiver
      and l.poging = u.number and l.genomen_door is not null
    returning u.place::integer as place, l.begonnen_op
  )
  select coalesce(array_agg(place), '{}'), coalesce(array_agg(begonnen_op), '{}') into ours, begun from gone;
  if 'delivered' <> any(p_outcomes) then
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
      returning u.place::integer as place, l.begonnen_op
    )
    select array_agg(place), array_agg(begonnen_op) into failed, begun_failed from kept;
    ours := ours || coalesce(failed, '{}');
    begun := begun || coalesce(begun_failed, '{}');
  end if;
  insert into notificatie_poging (notificatie_id, abonnement_id, nummer, begonnen_op, duur_ms, uitkomst, http_status, antwoord)
    select p_messages[o.place], p_receivers[o.place], p_numbers[o.place], coalesce(o.begun, now()), p_ms[o.place],
      p_outcomes[o.place], p_statuses[o.place], p_answers[o.place]
    from unnest(ours, begun) as o(place, begun)
    on conflict do nothing;
  select array_agg(o.place) into places from unnest(ours) as o(place) where p_receivers[o.place] <> 0;
  if places is null then return ours; end if;

  update abonnement a set fouten = 0, storing_sinds = null, niet_voor = null, laatste_uitkomst = null, laatste_http_status = null
    where a.id in (select p_receivers[o.place] from unnest(places) as o(place) where p_outcomes[o.place] = 'delivered')
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
      from unnest(places) as o(place) group by 1 having bool_and(p_outcomes[o.place] <> 'delivered')
    ) f
    where a.id = f.receiver;
  return ours;
end $$;
comment on function record_deliveries is 'Records attempts to deliver: the delivery goes, is planned again or has failed, and its abonnement is well or not.';
