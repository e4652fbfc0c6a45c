-- The id of a request (X-Request-ID) is kept with the change and the message that it led to, so that one search finds everything
-- that came of it. Rows of before have none. An operator notices nothing: a column with a constant default is added at once.
alter table audit add column verzoek_id text not null default '';
comment on column audit.verzoek_id is 'Header X-Request-ID of the request, or the id that it was given.';
alter table notificatie add column verzoek_id text not null default '';
comment on column notificatie.verzoek_id is 'Id of the request that the message came from.';

-- A claim gives all of a message and of its receiver. The program looked part of it up beside the claim, in the state of the moment
-- that its statement began: of a message that was committed after that it found nothing, and sent a cloud event as a notification.
create or replace function claim_deliveries(p_worker integer, p_external integer, p_total integer,
  p_busy_messages bigint[], p_busy_receivers bigint[], p_open_receivers bigint[], p_released_receivers bigint[],
  p_released_objects uuid[])
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
            - (select count(*) from unnest(p_open_receivers) b where b = a.id))
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
      'cloudevent', n.cloudevent, 'verzoekId', n.verzoek_id,
      'aanmaakdatum', coalesce(n.aanmaakdatum_tekst, replace(rtrim(
        to_char(n.aanmaakdatum at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0') || 'Z', '.Z', 'Z'))),
    settings.max_retries, settings.backoff, settings.backoff_max, settings.base_factor,
    case when v.receiver = 0 then (
      select jsonb_build_object('uuid', d.uuid, 'apiRoot', d.api_root,
        'authenticatie', d.authenticatie, 'clientId', d.client_id, 'header', d.header, 'geheim', encode(d.geheim, 'base64'),
        'gebruikersId', d.gebruikers_id, 'gebruikersWeergave', d.gebruikers_weergave, 'termijnMs', d.termijn_ms,
        'tokenUrl', d.token_url, 'tokenScope', d.token_scope, 'certificaat', d.certificaat,
        'certificaatSleutel', encode(d.certificaat_sleutel, 'base64'), 'ca', d.ca)
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
