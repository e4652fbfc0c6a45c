-- Attempts to deliver notifications are begun and ended several at a time. An operator notices nothing but less work for the
-- database.

drop function neem_notificatie;
drop function noteer_notificatie_poging;

-- Begins attempts: for each message, by the job at the same place. Gives the messages that are to be sent now, with all that
-- sending takes. Left out is what is done, not yet due, or in the hands of another job; and what has to wait, which is
-- written down so that whoever ends the waiting plans it again.
-- The locks make this and `noteer_notificatie_pogingen` see what the other did for messages of the same main object. They
-- are taken in one order, so that no two calls wait for each other. (`offset 0`: a row at a time by its key, also when the
-- plan was made while the table was small.)
create function neem_notificaties(p_ids bigint[], p_jobs bigint[])
returns table (
  id bigint, nummer integer, herhalingen integer,
  uuid uuid, kanaal text, hoofd_object text, resource text, resource_url text, actie text, aanmaakdatum timestamptz,
  kenmerken jsonb,
  max_retries integer, backoff jsonb, backoff_max integer, base_factor integer,
  dienst_uuid uuid, api_root text, authenticatie text, client_id text, header text, geheim bytea, gebruikers_id text,
  gebruikers_weergave text, termijn_ms integer
)
language plpgsql as $$
#variable_conflict use_column
declare
  slot integer;
  instelling notificatie_instelling;
  bericht notificatie;
  laatste record;
begin
  for slot in
    select distinct hashtext(n.hoofd_object_uuid::text)
    from unnest(p_ids) as v(id), lateral (select hoofd_object_uuid from notificatie where id = v.id offset 0) n order by 1
  loop
    perform pg_advisory_xact_lock(31331, slot);
  end loop;
  select * into instelling from notificatie_instelling;
  select i.max_retries, i.backoff, i.backoff_max, i.base_factor,
    d.uuid, d.api_root, d.authenticatie, d.client_id, d.header, d.geheim, d.gebruikers_id, d.gebruikers_weergave, d.termijn_ms
    into max_retries, backoff, backoff_max, base_factor,
      dienst_uuid, api_root, authenticatie, client_id, header, geheim, gebruikers_id, gebruikers_weergave, termijn_ms
    from notificatie_instelling i join dienst d on d.id = i.dienst_id;
  for plaats in 1 .. cardinality(p_ids) loop
    select * into bericht from notificatie n where n.id = p_ids[plaats];
    continue when bericht.status is distinct from 'gepland' or bericht.volgende_poging_op > clock_timestamp();
    if dienst_uuid is null or instelling.op_volgorde and exists (
      select from notificatie eerder
      where eerder.hoofd_object_uuid = bericht.hoofd_object_uuid and eerder.status = 'gepland' and eerder.id < bericht.id)
    then
      update notificatie n set volgende_poging_op = null where n.id = bericht.id;
      continue;
    end if;
    select p.nummer, p.job_id, p.uitkomst into laatste
      from notificatie_poging p where p.notificatie_id = bericht.id order by p.nummer desc limit 1;
    if laatste.nummer is not null and laatste.uitkomst is null then
      continue when laatste.job_id <> p_jobs[plaats] and exists (
        select from graphile_worker.jobs j where j.id = laatste.job_id and j.locked_at is not null);
      update notificatie_poging p set uitkomst = 'lost' where p.notificatie_id = bericht.id and p.nummer = laatste.nummer;
    end if;
    id := bericht.id;
    nummer := coalesce(laatste.nummer, 0) + 1;
    herhalingen := bericht.herhalingen;
    uuid := bericht.uuid;
    kanaal := bericht.kanaal;
    hoofd_object := bericht.hoofd_object;
    resource := bericht.resource;
    resource_url := bericht.resource_url;
    actie := bericht.actie;
    aanmaakdatum := bericht.aanmaakdatum;
    kenmerken := bericht.kenmerken;
    insert into notificatie_poging (notificatie_id, nummer, job_id)
      values (bericht.id, coalesce(laatste.nummer, 0) + 1, p_jobs[plaats]);
    return next;
  end loop;
end $$;
comment on function neem_notificaties is 'Begins attempts to deliver messages, and gives what is to be sent.';

-- Ends attempts. Gives the places (from 1) of those that were still the caller's; of the others another worker found them
-- lost and has made its own.
-- p_wachten: seconds until the next attempt; empty: this was the last one.
-- What has to be tried again is planned in one go: while the receiver is down there is more of it than of changes.
create function noteer_notificatie_pogingen(
  p_ids bigint[], p_nummers integer[], p_uitkomsten text[], p_http_statussen integer[], p_antwoorden text[],
  p_duren_ms integer[], p_wachten double precision[])
returns integer[] language plpgsql as $$
declare
  onze integer[] := '{}';
  herhalingen graphile_worker.job_spec[] := '{}';
  slot integer;
  moment timestamptz;
  hoofd uuid;
  volgende record;
begin
  for slot in
    select distinct hashtext(n.hoofd_object_uuid::text)
    from unnest(p_ids) as v(id), lateral (select hoofd_object_uuid from notificatie where id = v.id offset 0) n order by 1
  loop
    perform pg_advisory_xact_lock(31331, slot);
  end loop;
  for plaats in 1 .. cardinality(p_ids) loop
    update notificatie_poging set uitkomst = p_uitkomsten[plaats], http_status = p_http_statussen[plaats],
      antwoord = p_antwoorden[plaats], duur_ms = p_duren_ms[plaats]
      where notificatie_id = p_ids[plaats] and nummer = p_nummers[plaats] and uitkomst is null;
    continue when not found;
    onze := onze || plaats;
    if p_uitkomsten[plaats] <> 'delivered' and p_wachten[plaats] is not null then
      moment := clock_timestamp() + p_wachten[plaats] * interval '1 second';
      update notificatie n set herhalingen = n.herhalingen + 1, volgende_poging_op = moment where id = p_ids[plaats];
      herhalingen := herhalingen || row('verstuur-notificatie', json_build_object('id', p_ids[plaats]), null, moment,
        null, null, null, null)::graphile_worker.job_spec;
      continue;
    end if;
    update notificatie set
      status = case p_uitkomsten[plaats] when 'delivered' then 'afgeleverd' else 'mislukt' end,
      volgende_poging_op = null, beeindigd_op = clock_timestamp()
      where id = p_ids[plaats] returning hoofd_object_uuid into hoofd;
    select id, volgende_poging_op into volgende from notificatie
      where hoofd_object_uuid = hoofd and status = 'gepland' order by id limit 1;
    if found and volgende.volgende_poging_op is null then
      update notificatie set volgende_poging_op = clock_timestamp() where id = volgende.id;
      perform plan_notificatie(volgende.id);
    end if;
  end loop;
  if cardinality(herhalingen) > 0 then
    perform graphile_worker.add_jobs(herhalingen);
  end if;
  return onze;
end $$;
comment on function noteer_notificatie_pogingen is 'Ends attempts to deliver messages: writes the outcome, and plans what follows.';
