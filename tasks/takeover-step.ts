// takeover-step: goes on with one step of a takeover. Running twice is harmless: the position of the step, read under its
// lock, says what is still to be done.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import { kyselyOn } from '../src/database/database.ts'
import { readInput } from '../src/http/input.ts'
import type { portionRunner } from '../src/overnemen/portions.ts'
import { queueStep, type TakeoverParts } from '../src/overnemen/takeover.ts'

const Payload = Type.Object({ stap: Type.Integer(), rij: Type.String() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'takeover-step': Static<typeof Payload>
    }
  }
}

type Parts = Pick<TakeoverParts, 'database'> & { runner: ReturnType<typeof portionRunner> }

export function takeoverStep({ database, runner }: Parts): Task {
  return async (payload, { abortSignal }) => {
    const { stap, rij } = readInput(Payload, payload)
    try {
      // A job that takes hours would keep its worker from stopping, and be taken for lost.
      if (await runner.runStep(stap, abortSignal)) await queueStep(kyselyOn(database.sql), stap, rij)
    } catch (error) {
      // Without values: a message of the driver may quote them.
      const { name, code } = error as { name?: string; code?: string }
      await database.sql`
        update overneming_stap set fout = ${[name, code].filter(Boolean).join(' ')} where id = ${stap} and klaar_op is null`
      throw error
    }
  }
}
