// replay-messages: plans a portion of messages that are sent again to an abonnement, and adds the job of the next portion.
// Running it twice is harmless.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import { systemActor } from '../src/core/access.ts'
import type { Mutate } from '../src/core/mutate.ts'
import { readInput } from '../src/http/input.ts'
import { replayPortion } from '../src/nrc/abonnement/replay.ts'

const Payload = Type.Object({ id: Type.Integer() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'replay-messages': Static<typeof Payload>
    }
  }
}

export function replayMessages(mutate: Mutate): Task {
  return async (payload) => {
    const { id } = readInput(Payload, payload)
    await mutate(systemActor('replay-messages'), (m) => replayPortion(m, id))
  }
}
