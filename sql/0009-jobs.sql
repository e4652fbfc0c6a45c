-- Jobs: which worker processes are alive, what each clean-up did, and the queue as people see it. graphile-worker keeps the
-- queue itself, in a schema of its own.

-- A job that a worker has taken stays locked in graphile-worker for four hours when that worker is killed; with these rows the
-- other workers see within seconds that it is gone and free its jobs. Every row is written once a second. Deleting a row by
-- hand is harmless: a living worker registers itself again.
create table worker (
  id integer generated always as identity primary key,
  name text not null, version text not null, host text not null,
  pid integer not null,
  pool_id text not null constraint worker_pool_id_unique unique,
  started_at timestamptz not null default now(), seen_at timestamptz not null default now(),
  uninterrupted_since timestamptz not null default now()
);
comment on table worker is 'One row per registered worker: a running process with one graphile-worker pool. Rows of dead workers are removed by the others.';
comment on column worker.id is 'Number of the registration. The worker holds the session advisory lock (31330, id) while it lives.';
comment on column worker.name is 'Name of the worker in logs, chosen by whoever starts it.';
comment on column worker.version is 'Version of the program that the worker runs.';
comment on column worker.host is 'Name of the machine or container the process runs on.';
comment on column worker.pid is 'Process id on that machine.';
comment on column worker.pool_id is 'Id of the graphile-worker pool: the value of locked_by on the jobs this worker runs.';
comment on column worker.started_at is 'When the worker registered.';
comment on column worker.seen_at is 'Last sign of life, by the clock of the database.';
comment on column worker.uninterrupted_since is 'Since when the signs of life came without a gap. A worker that was itself cut off may not yet judge the others.';

create table worker_crash (
  job_id bigint primary key,
  count integer not null default 1,
  last_at timestamptz not null default now()
);
comment on table worker_crash is 'Jobs during which a worker died. The first five times the job keeps its attempts; after that a crash counts as a failed attempt.';
comment on column worker_crash.job_id is 'Id of the job in graphile_worker. Rows of jobs that are gone are removed.';
comment on column worker_crash.count is 'How often a worker died while it ran this job.';
comment on column worker_crash.last_at is 'When that was last found out.';

create table periodic_job (
  task text primary key,
  last_at timestamptz not null
);
comment on table periodic_job is 'Up to where the jobs that come at set moments were planned: one row a kind, kept by src/jobs/periodic.ts.';
comment on column periodic_job.task is 'Kind of job: a file of that name in tasks/.';
comment on column periodic_job.last_at is 'The last of its moments for which a job was added.';

create table clock_setback (
  id bigint generated always as identity primary key,
  noticed_at timestamptz not null default now(),
  ahead_seconds double precision not null,
  deliveries integer not null, receivers integer not null, jobs integer not null,
  resumed integer not null
);
comment on table clock_setback is 'When the clock of the database was found to have been ahead, and what was pulled back. The last hundred are kept.';
comment on column clock_setback.id is 'Number.';
comment on column clock_setback.noticed_at is 'When that was found out, by the clock that was set right.';
comment on column clock_setback.ahead_seconds is 'By how much it had been ahead at least, in seconds.';
comment on column clock_setback.deliveries is 'Deliveries that were planned too far ahead.';
comment on column clock_setback.receivers is 'Abonnementen that were left alone for too long.';
comment on column clock_setback.jobs is 'Jobs that were planned too far ahead.';
comment on column clock_setback.resumed is 'Abonnementen that had been blocked by that clock, and were resumed.';

create table retention_run (
  id bigint generated always as identity primary key,
  started_by text not null default '',
  begun_at timestamptz not null default now(), ended_at timestamptz,
  imports integer not null default 0, notificaties integer not null default 0, files integer not null default 0,
  unfinished integer not null default 0,
  skipped text[] not null default '{}',
  fault text
);
comment on table retention_run is 'What each run of the clean-up (task bewaartermijnen) removed. The last hundred are kept.';
comment on column retention_run.id is 'Number.';
comment on column retention_run.started_by is 'Account that asked for it in the administration pages; empty: the clock.';
comment on column retention_run.begun_at is 'When it began.';
comment on column retention_run.ended_at is 'When it ended; empty: it runs, or its worker died and it begins anew.';
comment on column retention_run.imports is 'Imports removed.';
comment on column retention_run.notificaties is 'Notifications removed.';
comment on column retention_run.files is 'Stored files removed that belonged to no document.';
comment on column retention_run.unfinished is 'Unfinished writes removed from the stores.';
comment on column retention_run.skipped is 'Stores that could not be reached.';
comment on column retention_run.fault is 'Why it ended before the end.';

create function job_state(busy_since timestamptz, attempts integer, max_attempts integer, run_at timestamptz)
returns text language sql stable as $$
  select case
    when busy_since is not null then 'bezig'
    when attempts >= max_attempts then 'mislukt'
    when run_at > now() then 'gepland'
    else 'wacht'
  end
$$;
comment on function job_state is 'State of a job: gepland (later), wacht (for a worker), bezig (a worker has it) or mislukt (all attempts used).';

-- These jobs, or all (null), as graphile-worker's view `jobs` has them. A function between that view and ours: a view on it
-- would stand in the way of its upgrades.
create function job_rows(p_ids bigint[]) returns table (
  id bigint, task text, state text, belongs_to text, attempts integer, max_attempts integer, last_fault text,
  created_at timestamptz, run_at timestamptz, busy_since timestamptz, worker text
) language plpgsql stable as $$
begin
  return query
  select
    j.id::bigint,
    j.task_identifier::text,
    job_state(j.locked_at, j.attempts, j.max_attempts, j.run_at),
    case when j.key like 'import:%' then 'import ' || substr(j.key, 8) when j.key <> j.task_identifier then j.key end,
    j.attempts::integer,
    j.max_attempts::integer,
    j.last_error,
    j.created_at,
    j.run_at,
    j.locked_at,
    (select w.name || ' (' || w.host || ', pid ' || w.pid || ')' from worker w where w.pool_id = j.locked_by)
  from graphile_worker.jobs j
  where p_ids is null or j.id = any(p_ids);
end $$;
comment on function job_rows(bigint[]) is 'These jobs, or all, as the view job_overview shows them.';

create function job_rows() returns table (
  id bigint, task text, state text, belongs_to text, attempts integer, max_attempts integer, last_fault text,
  created_at timestamptz, run_at timestamptz, busy_since timestamptz, worker text
) language plpgsql stable security definer as $$
begin
  -- Whoever may read the view needs no right of their own on the queue.
  if not has_table_privilege(coalesce(nullif(current_setting('role'), 'none'), session_user), 'job_overview', 'select') then
    raise insufficient_privilege using message = 'permission denied for view job_overview';
  end if;
  return query select * from job_rows(null);
end $$;
do $$ begin
  execute format('alter function job_rows() set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
comment on function job_rows() is 'The rows of the view job_overview, for who may read that.';

create view job_overview as select * from job_rows() order by id;
comment on view job_overview is 'Jobs that are in the queue. A job that is done is gone.';
comment on column job_overview.id is 'Id in graphile_worker.';
comment on column job_overview.task is 'Kind of job: a file of that name in tasks/.';
comment on column job_overview.state is 'gepland (later), wacht (for a worker), bezig (a worker has it) or mislukt (all attempts used).';
comment on column job_overview.belongs_to is 'What the job belongs to.';
comment on column job_overview.attempts is 'Attempts begun.';
comment on column job_overview.max_attempts is 'Attempts allowed.';
comment on column job_overview.last_fault is 'How the last attempt failed.';
comment on column job_overview.created_at is 'When it was added.';
comment on column job_overview.run_at is 'Not before this moment.';
comment on column job_overview.busy_since is 'When the worker took it.';
comment on column job_overview.worker is 'Which worker has it.';
