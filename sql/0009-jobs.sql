-- Jobs: which worker processes are alive, what each clean-up did, and the queue as people see it. graphile-worker keeps the
-- queue itself, in a schema of its own.

-- A job that a worker has taken stays locked in graphile-worker for four hours when that worker is killed; with these rows the
-- other workers see within seconds that it is gone and free its jobs. Every row is written once a second. Deleting a row by
-- hand is harmless: a living worker registers itself again.
create table worker (
  id integer generated always as identity primary key,
  name text not null, version text not null, host text not null, pid integer not null,
  pool_id text not null constraint worker_pool_id_unique unique,
  started_at timestamptz not null default now(), seen_at timestamptz not null default now(),
  uninterrupted_since timestamptz not null default now()
);
select describe('worker', 'One row per registered worker: a running process with one graphile-worker pool. Rows of dead workers are removed by the others.',
  'id', 'Number of the registration. The worker holds the session advisory lock (31330 # hashtext(current_schema()), id) while it lives.',
  'name', 'Name of the worker in logs, chosen by whoever starts it.', 'version', 'Version of the program that the worker runs.',
  'host', 'Name of the machine or container the process runs on.', 'pid', 'Process id on that machine.',
  'pool_id', 'Id of the graphile-worker pool: the value of locked_by on the jobs this worker runs.',
  'started_at', 'When the worker registered.', 'seen_at', 'Last sign of life, by the clock of the database.',
  'uninterrupted_since', 'Since when the signs of life came without a gap. A worker that was itself cut off may not yet judge the others.');

create table worker_crash (
  job_id bigint primary key,
  count integer not null default 1,
  last_at timestamptz not null default now()
);
select describe('worker_crash', 'Jobs during which a worker died. The first five times the job keeps its attempts; after that a crash counts as a failed attempt.',
  'job_id', 'Id of the job in the queue. Rows of jobs that are gone are removed.',
  'count', 'How often a worker died while it ran this job.', 'last_at', 'When that was last found out.');

create table periodic_job (
  task text primary key,
  last_at timestamptz not null
);
select describe('periodic_job', 'Up to where the jobs that come at set moments were planned: one row a kind, kept by src/jobs/periodic.ts.',
  'task', 'Kind of job: a file of that name in tasks/.', 'last_at', 'The last of its moments for which a job was added.');

create table clock_setback (
  id bigint generated always as identity primary key,
  noticed_at timestamptz not null default now(), ahead_seconds double precision not null,
  deliveries integer not null, receivers integer not null, jobs integer not null,
  resumed integer not null
);
select describe('clock_setback', 'When the clock of the database was found to have been ahead, and what was pulled back. The last hundred are kept.',
  'id', 'Number.', 'noticed_at', 'When that was found out, by the clock that was set right.',
  'ahead_seconds', 'By how much it had been ahead at least, in seconds.', 'deliveries', 'Deliveries that were planned too far ahead.',
  'receivers', 'Abonnementen that were left alone for too long.', 'jobs', 'Jobs that were planned too far ahead.',
  'resumed', 'Abonnementen that had been blocked by that clock, and were resumed.');

create table server_error (
  id bigint generated always as identity primary key,
  happened_at timestamptz not null, request_id text not null, exception_id text not null,
  method text not null, route text not null, status integer not null, kind text not null, place text not null, client_id text not null
);
select describe('server_error', 'Requests that ended with an error of ours: the last 5,000 of 14 days. Nothing of what was asked, nor the text of an error.',
  'id', 'Number.', 'happened_at', 'When.', 'request_id', 'Id of the request, as on the error page and in X-Request-ID.',
  'exception_id', 'Id in the member instance of the answer; empty: it was a page.', 'method', 'Method.',
  'route', 'Pattern of the route, without what stood in its place; empty: there is none.', 'status', 'Status of the answer.',
  'kind', 'Name and code of the error.', 'place', 'First line of ours in its stack.', 'client_id', 'Client that asked; empty: none, or a page.');

create table retention_run (
  id bigint generated always as identity primary key,
  started_by text not null default '',
  begun_at timestamptz not null default now(), ended_at timestamptz,
  imports integer not null default 0, notificaties integer not null default 0, files integer not null default 0,
  unfinished integer not null default 0, skipped text[] not null default '{}',
  fault text
);
select describe('retention_run', 'What each run of the clean-up (task bewaartermijnen) removed. The last hundred are kept.',
  'id', 'Number.', 'started_by', 'Account that asked for it in the administration pages; empty: the clock.', 'begun_at', 'When it began.',
  'ended_at', 'When it ended; empty: it runs, or its worker died and it begins anew.', 'imports', 'Imports removed.',
  'notificaties', 'Notifications removed.', 'files', 'Stored files removed that belonged to no document.',
  'unfinished', 'Unfinished writes removed from the stores.', 'skipped', 'Stores that could not be reached.',
  'fault', 'Why it ended before the end.');

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
  from jobs j
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
  execute format('alter function job_rows() set search_path = pg_catalog, %s, pg_temp', current_setting('search_path'));
end $$;
comment on function job_rows() is 'The rows of the view job_overview, for who may read that.';

create view job_overview as select * from job_rows() order by id;
select describe('job_overview', 'Jobs that are in the queue. A job that is done is gone.',
  'id', 'Id in the queue.', 'task', 'Kind of job: a file of that name in tasks/.',
  'state', 'gepland (later), wacht (for a worker), bezig (a worker has it) or mislukt (all attempts used).',
  'belongs_to', 'What the job belongs to.', 'attempts', 'Attempts begun.', 'max_attempts', 'Attempts allowed.',
  'last_fault', 'How the last attempt failed.', 'created_at', 'When it was added.', 'run_at', 'Not before this moment.',
  'busy_since', 'When the worker took it.', 'worker', 'Which worker has it.');
