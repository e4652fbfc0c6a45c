// takeover-step: goes on with one step of a takeover. Running twice is harmless: the position of the step, read under its
// lock, says what is still to be done.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import { isConflict, isUnavailable, kyselyOn } from '../src/database/database.ts'
import { StoreUnavailable } from '../src/documenten/storage/index.ts'
import { readInput } from '../src/http/input.ts'
import { AGAIN_SECONDS, faultOf, isOwnFault } from '../src/overnemen/patience.ts'
import type { portionRunner } from '../src/overnemen/portions.ts'
import { SourceUnavailable } from '../src/overnemen/source.ts'
import { queueStep, stopRound, type TakeoverParts } from '../src/overnemen/takeover.ts'

const Payload = Type.Object({ stap: Type.Integer(), rij: Type.String() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'takeover-step': Static<typeof Payload>
    }
  }
}

type Parts = Pick<TakeoverParts, 'database'> & { runner: ReturnType<typeof portionRunner> }

const CONFLICTS = 5

export function takeoverStep({ database, runner }: Parts): Task {
  return async (payload, { abortSignal, job }) => {
    const { stap, rij } = readInput(Payload, payload)
    const trx = kyselyOn(database.sql)
    try {
      // A job that takes hours would keep its worker from stopping, and be taken for lost.
      if (await inSpiteOfConflicts(() => runner.runStep(stap, abortSignal))) await queueStep(trx, stap, rij)
    } catch (error) {
      // Without values: a message of the driver may quote them, and messages of jobs are kept and logged.
      const fault = faultOf(error)
      const isAway = error instanceof SourceUnavailable || error instanceof StoreUnavailable || isUnavailable(error)
      // What fails the same way each time is not tried for ten minutes first: somebody has to be told.
      const isLast = !isAway && (job.attempts >= job.max_attempts || isOwnFault(error))
      // As the queue waits after a failure: longer each time.
      const seconds = isAway ? AGAIN_SECONDS : Math.exp(Math.min(job.attempts, 10))
      await database.sql`
        update takeover_step set fault = ${fault}, retry_at = ${isLast ? null : database.sql`now() + ${seconds} * interval '1 second'`}
        where id = ${stap} and done_at is null`
      if (isAway) return queueStep(trx, stap, rij, AGAIN_SECONDS)
      if (isLast) await stopRound(database, stap)
      throw new StepFailed(fault)
    }
  }
}

/** A conflict is over the next moment. One that comes back each time is a fault as any other: its job waits longer each time. */
async function inSpiteOfConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === CONFLICTS || !isConflict(error)) throw error
    }
  }
}

class StepFailed extends Error {
  override name = 'StepFailed'
}
