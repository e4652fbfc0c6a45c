// One look at a running service: its processes, its connections and its tables.
import { readdir, readFile } from 'node:fs/promises'
import type { Scene } from '../faults/scene.ts'
import type { Sample } from './verdict.ts'

const MB = 2 ** 20

/** Tables that are emptied as fast as they are filled: they stay as large as they are. */
const PASSING = ['delivery', 'worker', 'beheer_sign_in_attempt', '_private_jobs', '_private_job_queues']

/** A process is named with its pid, so that one that was started again is another. */
export async function takeSample({ apis, workers, test }: Scene): Promise<Sample> {
  const sample: Sample = new Map()
  for (const [name, processes] of Object.entries({ api: apis, worker: workers }))
    for (const [n, one] of processes.entries()) {
      const seen = await lookAt(one.pid()!).catch(() => undefined) // it has just ended
      if (!seen) continue
      sample.set(`memory of ${name} ${n + 1} (${one.pid()}), MB`, seen.memory)
      sample.set(`files of ${name} ${n + 1} (${one.pid()})`, seen.files)
    }
  const { sql } = test.database
  const [facts] = await sql<{ connections: number; cases: number; bytes: number }[]>`
    select (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
      (select count(*)::int from zaak) as cases, pg_database_size(current_database())::float8 as bytes`
  sample.set('connections', facts!.connections)
  if (facts!.cases > 0) sample.set('bytes a case, with documents and audit trail', facts!.bytes / facts!.cases)
  type Table = { name: string; dead: number; bytes: number }
  const tables = await sql<Table[]>`
    select relname as name, n_dead_tup::int as dead, pg_total_relation_size(relid)::float8 as bytes
    from pg_stat_user_tables where schemaname = any(current_schemas(false)) and n_tup_ins > 0`
  for (const { name, dead, bytes } of tables) {
    sample.set(`dead rows of ${name}`, dead)
    if (PASSING.includes(name)) sample.set(`size of ${name}, MB`, bytes / MB)
  }
  return sample
}

async function lookAt(pid: number): Promise<{ memory: number; files: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(status)!
  return { memory: Number(kilobytes) / 1024, files: (await readdir(`/proc/${pid}/fd`)).length }
}
