-- Views for who looks into the database: imports with their progress, and the job queue with what each job belongs to.
-- An operator notices nothing: nothing is stored.

create view import_overzicht as
select
  i.uuid,
  i.status,
  i.totaal,
  i.verwerkt,
  i.geslaagd,
  i.mislukt,
  case when i.totaal > 0 then round(100.0 * i.verwerkt / i.totaal, 1) end as procent,
  case when i.verwerkt > 0 and i.gestart_op is not null then
    round(i.verwerkt / greatest(extract(epoch from coalesce(i.beeindigd_op, i.bijgewerkt_op) - i.gestart_op), 0.001), 1)
  end as rijen_per_seconde,
  i.reden,
  i.client_id,
  i.gemaakt_op,
  i.gestart_op,
  i.bijgewerkt_op,
  i.beeindigd_op
from import i
where i.verwijderd_op is null
order by i.id desc;
comment on view import_overzicht is 'Imports with their progress, newest first.';
comment on column import_overzicht.procent is 'Rows handled, in per cent of all.';
comment on column import_overzicht.rijen_per_seconde is 'Rows handled a second since the upload.';

-- A function between the view and the tables of graphile-worker: a view on those would stand in the way of its upgrades.
create function taken() returns table (
  id bigint, taak text, staat text, hoort_bij text, pogingen integer, max_pogingen integer, laatste_fout text,
  gemaakt_op timestamptz, vanaf timestamptz, bezig_sinds timestamptz, worker text
) language plpgsql stable as $$
begin
  return query
  select
    j.id::bigint,
    t.identifier::text,
    case
      when j.locked_at is not null then 'bezig'
      when j.attempts >= j.max_attempts then 'mislukt'
      when j.run_at > now() then 'gepland'
      else 'wacht'
    end,
    coalesce(
      'import ' || (j.payload ->> 'import'),
      (select 'import ' || i.uuid from import i where t.identifier = 'verwijder-import' and i.id::text = j.payload ->> 'id'),
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
  join graphile_worker._private_tasks t on t.id = j.task_id;
end $$;
comment on function taken is 'The rows of the view taak_overzicht.';

create view taak_overzicht as select * from taken() order by id;
comment on view taak_overzicht is 'Jobs that are in the queue. A job that is done is gone.';
comment on column taak_overzicht.id is 'Id in graphile_worker.';
comment on column taak_overzicht.taak is 'Kind of job: a file of that name in tasks/.';
comment on column taak_overzicht.staat is 'gepland (later), wacht (for a worker), bezig (a worker has it) or mislukt (all attempts used).';
comment on column taak_overzicht.hoort_bij is 'What the job belongs to.';
comment on column taak_overzicht.pogingen is 'Attempts begun.';
comment on column taak_overzicht.max_pogingen is 'Attempts allowed.';
comment on column taak_overzicht.laatste_fout is 'How the last attempt failed.';
comment on column taak_overzicht.gemaakt_op is 'When it was added.';
comment on column taak_overzicht.vanaf is 'Not before this moment.';
comment on column taak_overzicht.bezig_sinds is 'When the worker took it.';
comment on column taak_overzicht.worker is 'Which worker has it.';
