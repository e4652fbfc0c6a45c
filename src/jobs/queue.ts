import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import { withOrigin } from '../telemetry/request-id.ts'

export type JobOptions = {
  /** A job with a key replaces the waiting one with the same key. */
  jobKey?: string
  /** Not before so many seconds have passed, by the clock of the database. */
  delaySeconds?: number
  maxAttempts?: number
  queueName?: string
  priority?: number
}

/**
 * Adds a job in the transaction of the change that needs it: both are there, or neither. It goes on under the id of the request
 * that it came from.
 */
export async function enqueue<Name extends keyof GraphileWorker.Tasks & string>(
  trx: Db,
  name: Name,
  payload: GraphileWorker.Tasks[Name],
  options: JobOptions = {},
): Promise<void> {
  await sql`select add_job(
    ${name}, payload => ${JSON.stringify(withOrigin(payload))}::text::json, queue_name => ${options.queueName ?? null},
    run_at => now() + ${options.delaySeconds ?? null}::float8 * interval '1 second', max_attempts => ${options.maxAttempts ?? null},
    job_key => ${options.jobKey ?? null}, priority => ${options.priority ?? null})`.execute(trx)
}

/** The same for jobs of one kind, each with a key of its own, in one statement however many there are. */
export async function enqueueAll<Name extends keyof GraphileWorker.Tasks & string>(
  trx: Db,
  name: Name,
  jobs: readonly { payload: GraphileWorker.Tasks[Name]; jobKey: string }[],
): Promise<void> {
  const specs = jobs.map(({ payload, jobKey }) => ({
    identifier: name,
    payload: withOrigin(payload),
    job_key: jobKey,
  }))
  await sql`select from add_jobs(array(
    select spec from jsonb_populate_recordset(null::job_spec, ${JSON.stringify(specs)}::text::jsonb) spec
  ))`.execute(trx)
}
