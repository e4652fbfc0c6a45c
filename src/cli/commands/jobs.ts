// jobs: what goes on in the database of this installation, who began it, and how far it is; following it, and stopping it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { systemActor } from '../../core/access.ts'
import { mutator } from '../../core/mutate.ts'
import type { ReadSql } from '../../database/database.ts'
import { cancelImport } from '../../documenten/import/control.ts'
import { MOVE_LOCK } from '../../documenten/storage/files.ts'
import { stopReplay } from '../../nrc/abonnement/replay.ts'
import { endDryRun, stopTakeover, type Takeover } from '../../overnemen/takeover.ts'
import { changeDatabase, withDatabase } from '../database.ts'
import { onSignal } from '../signals.ts'
import { print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

const LOOK_MS = 1000
const MOST_JOBS = 200

/** Something that goes on. What is not known is null. */
type Going = {
  kind: 'import' | 'takeover' | 'resend' | 'reseal' | 'storage' | 'job'
  /** What follows and stops it. */
  id: string
  what: string
  state: 'runs' | 'waits' | 'paused'
  startedBy: string | null
  since: string
  done: number | null
  total: number | null
  /** Of `done` and `total`. */
  unit: string | null
}

export function addTo(program: Command): void {
  const jobs = program.command('jobs').description('what goes on, who began it, and how far it is')
  jobs
    .command('list', { isDefault: true })
    .description(
      'imports, takeovers, messages sent again, a change of key, a move of documents, and what workers are at',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom jobs list')
    .action(async (options: { json?: boolean }) => {
      const all = await withDatabase(({ sql }) => readGoing(sql))
      print(options, all, all.map(lineOf).join('\n') || 'Nothing goes on.')
    })
  jobs
    .command('follow')
    .description('show how far it is until it has ended; ends with 1 when it failed or was stopped')
    .argument('<id>', 'as `jobs list` shows it')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom jobs follow 5e2f0c2c-4b50-4b7c-9b4e-7ab9c3d6b3a1')
    .action((id: string, options: { json?: boolean }) => withDatabase(({ sql }) => follow(sql, id, options)))
  jobs
    .command('stop')
    .description('stop an import, a takeover or the sending again; what was done stays, and the rest is not begun')
    .argument('<id>', 'as `jobs list` shows it')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom jobs stop 5e2f0c2c-4b50-4b7c-9b4e-7ab9c3d6b3a1')
    .action(stop)
}

async function readGoing(sql: ReadSql): Promise<Going[]> {
  const rows = await sql<(Omit<Going, 'since'> & { since: number })[]>`
    select g.kind, g.id, g.what, g.state, g.started_by as "startedBy", extract(epoch from g.since)::float8 as since,
      g.done, g.total, g.unit
    from (
      select 1 as place, 'import' as kind, uuid::text as id, bestandsnaam as what,
        case when paused_at is not null then 'paused' when status = 'active' then 'runs' else 'waits' end as state,
        coalesce(nullif(started_by, ''), nullif(client_id, '')) as started_by, coalesce(started_at, created_at) as since,
        processed::bigint as done, total::bigint as total, 'rows' as unit
      from import where status in ('queued', 'pending', 'active') and deleted_at is null
      union all
      select 2, 'takeover', uuid::text, source || case when trial then ' (dry run)' else '' end, 'runs', null, round_begun_at,
        s.seen, s.expected, 'rows'
      from takeover t cross join lateral (
        select coalesce(sum(seen), 0)::bigint as seen, coalesce(sum(greatest(expected, seen)), 0)::bigint as expected
        from takeover_step where takeover_id = t.id and round = t.round) s
      where status = 'loopt'
      union all
      select 3, 'resend', a.uuid::text, r.kind, 'runs', r.started_by, r.started_at, r.planned::bigint, null, 'messages'
      from resend r join abonnement a on a.id = r.abonnement_id where r.ended_at is null
      union all
      select 4, 'reseal', 'reseal', 'with the key ' || max(key), 'runs', null, min(begun_at),
        count(done_at), count(*), 'tables'
      from reseal having count(*) > count(done_at)
      union all
      select 5, 'storage', 'storage', 'storage migrate', 'runs', a.client_addr::text, a.backend_start, null, null, null
      from pg_locks l left join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and l.classid = ${MOVE_LOCK}
        and l.objid = (hashtext(current_schema())::bigint & 4294967295)::oid and l.objsubid = 2
        and l.database = (select oid from pg_database where datname = current_database())
      union all
      (select 6, 'job', id::text, concat_ws(' of ', task, belongs_to) || coalesce(', at ' || worker, ''), 'runs', null,
        busy_since, null, null, null
      from job_overview where state = 'bezig' order by id limit ${MOST_JOBS})
    ) g order by g.place, g.since, g.id`
  return rows.map((row) => ({ ...row, since: new Date(row.since * 1000).toISOString() }))
}

function lineOf({ kind, id, what, state, startedBy, since, done, total, unit }: Going): string {
  const far = done === null ? '' : `, ${done}${total === null ? '' : ` of ${total}`} ${unit}`
  return `${id}  ${kind} ${what}: ${state}${far}, since ${since}${startedBy === null ? '' : `, by ${startedBy}`}`
}

const nothing = (id: string) => new UsageError(`nothing with the id ${id} goes on (zaakstroom jobs list)`)

/** Tells on standard error how far it is, and at its end what became of it. */
async function follow(sql: ReadSql, id: string, options: { json?: boolean }): Promise<void> {
  const look = async () => (await readGoing(sql)).find((one) => one.id === id)
  let last = await look()
  if (!last) throw nothing(id)
  const isStoppable = last.kind in STOPPED
  const undo = onSignal(['SIGINT', 'SIGTERM'], (name) => {
    console.error(`It goes on.${isStoppable ? ` Stop it with \`zaakstroom jobs stop ${id}\`.` : ''}`)
    process.exit(name === 'SIGINT' ? 130 : 143)
  })
  try {
    let told = ''
    for (let now: Going | undefined = last; now; now = await look()) {
      last = now
      if (!options.json && lineOf(now) !== told) console.error(lineOf(now))
      told = lineOf(now)
      await sleep(LOOK_MS)
    }
    const outcome = await outcomeOf(sql, last)
    print(options, { ...last, state: outcome }, `${id}  ${last.kind} ${last.what}: ${outcome}`)
    if (outcome === 'failed' || outcome === 'stopped') process.exitCode = 1
  } finally {
    undo()
  }
}

type Outcome = 'done' | 'failed' | 'stopped' | 'ended'

/** What became of it, as far as its rows tell: a dry run leaves none, and a job is gone when it is done. */
async function outcomeOf(sql: ReadSql, { kind, id }: Going): Promise<Outcome> {
  if (kind === 'reseal') return 'done'
  if (kind === 'storage') return 'ended'
  const rows = await sql<{ outcome: Outcome }[]>`
    select case status when 'finished' then 'done' else 'failed' end as outcome from import
    where ${kind} = 'import' and uuid::text = ${id}
    union all
    select case status when 'gestopt' then 'stopped' else 'done' end from takeover
    where ${kind} = 'takeover' and uuid::text = ${id}
    union all
    (select case when r.stopped then 'stopped' else 'done' end from resend r join abonnement a on a.id = r.abonnement_id
    where ${kind} = 'resend' and a.uuid::text = ${id} order by r.id desc limit 1)
    union all
    select case when last_fault is null then 'ended' else 'failed' end from job_overview
    where ${kind} = 'job' and id::text = ${id}`
  return rows[0]?.outcome ?? (kind === 'job' ? 'done' : 'ended')
}

/** What can be stopped from here, and what is said of it. */
const STOPPED = {
  import: 'The import stops after the batch that it is at; what was imported stays.',
  takeover: 'Workers end the portion that they are at. Give the same `overnemen` command to go on.',
  resend: 'What was planned is sent; the rest is not.',
}

async function stop(id: string, options: { json?: boolean }): Promise<void> {
  await changeDatabase(async (database) => {
    const found = (await readGoing(database.sql)).find((one) => one.id === id)
    if (!found) throw nothing(id)
    const { kind } = found
    const mutate = mutator(database)
    const actor = systemActor('jobs stop')
    if (kind === 'import') await mutate(actor, (m) => cancelImport(m, id))
    else if (kind === 'resend') await mutate(actor, (m) => stopReplay(m, id))
    else if (kind === 'takeover') {
      const [takeover] = await database.sql<Takeover[]>`select * from takeover where uuid = ${id}`
      if (!takeover) throw nothing(id)
      await (takeover.trial ? endDryRun : stopTakeover)(database, takeover)
    } else if (kind === 'storage')
      throw new UsageError(
        'a move of documents is stopped where it was begun, by ctrl-C; it goes on when it is run again',
      )
    else
      throw new UsageError(
        `${kind === 'job' ? 'a job of a worker' : 'a change of key'} ends by itself: it cannot be stopped`,
      )
    print(options, { kind, id, stopped: true }, `Stopped. ${STOPPED[kind]}`)
  })
}
