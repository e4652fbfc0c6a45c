// What the tests do to the queue of jobs by hand.
import type { Sql } from 'postgres'

/** Takes all jobs off the queue that no worker has. */
export async function emptyQueue(sql: Sql): Promise<void> {
  await sql`select complete_jobs(array(select id from jobs))`
}

/** Makes all jobs due that no worker has. */
export async function hurryQueue(sql: Sql): Promise<void> {
  await sql`select reschedule_jobs(array(select id from jobs), run_at => now())`
}

/**
 * Makes a job look as if a worker took it so many seconds ago. There is no other way to have a job of a worker that does not
 * exist, so this one place knows a table of graphile-worker.
 */
export async function lockJob(sql: Sql, id: string, poolId: string, seconds: number): Promise<void> {
  await sql`update _private_jobs set locked_by = ${poolId}, attempts = greatest(attempts, 1), run_at = now(),
    locked_at = now() - ${seconds} * interval '1 second' where id = ${id}`
}

/** Makes a job look as if so many of its attempts failed. */
export async function failJob(sql: Sql, id: string, attempts: number, error: string): Promise<void> {
  await sql`select permanently_fail_jobs(array[${id}::bigint], ${error})`
  await sql`select reschedule_jobs(array[${id}::bigint], attempts => ${attempts})`
}
