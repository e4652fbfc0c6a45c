-- The next attempts of messages that were not delivered are planned several at a time too: while the receiver is down there
-- are more of them than there are changes. An operator notices nothing but less work for the database.
create or replace function noteer_notificatie_pogingen(
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
