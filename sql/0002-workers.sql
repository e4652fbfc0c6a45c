-- Which worker processes are alive. A job that a worker has taken stays locked in graphile-worker for four hours when that
-- worker is killed; with these rows the other workers see within seconds that it is gone and free its jobs.
-- Every row is written once a second. Deleting a row by hand is harmless: a living worker registers itself again.

create table worker (
  id integer generated always as identity primary key,
  naam text not null,
  versie text not null,
  host text not null,
  pid integer not null,
  pool_id text not null constraint worker_pool_id_uniek unique,
  gestart_op timestamptz not null default now(),
  gezien_op timestamptz not null default now(),
  ononderbroken_sinds timestamptz not null default now()
);

comment on table worker is 'One row per registered worker: a running process with one graphile-worker pool. Rows of dead workers are removed by the others.';
comment on column worker.id is 'Number of the registration. The worker holds the session advisory lock (31330, id) while it lives.';
comment on column worker.naam is 'Name of the worker in logs, chosen by whoever starts it.';
comment on column worker.versie is 'Version of the program that the worker runs.';
comment on column worker.host is 'Name of the machine or container the process runs on.';
comment on column worker.pid is 'Process id on that machine.';
comment on column worker.pool_id is 'Id of the graphile-worker pool: the value of locked_by on the jobs this worker runs.';
comment on column worker.gestart_op is 'When the worker registered.';
comment on column worker.gezien_op is 'Last sign of life, by the clock of the database.';
comment on column worker.ononderbroken_sinds is 'Since when the signs of life came without a gap. A worker that was itself cut off may not yet judge the others.';

create table worker_crash (
  job_id bigint primary key,
  aantal integer not null default 1,
  laatste_op timestamptz not null default now()
);

comment on table worker_crash is 'Jobs during which a worker died. The first five times the job keeps its attempts; after that a crash counts as a failed attempt.';
comment on column worker_crash.job_id is 'Id of the job in graphile_worker. Rows of jobs that are gone are removed.';
comment on column worker_crash.aantal is 'How often a worker died while it ran this job.';
comment on column worker_crash.laatste_op is 'When that was last found out.';
