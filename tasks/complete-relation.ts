// complete-relation: ends what a process that stopped left halfway at another server. Running twice is harmless: it looks at
// what is there first.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import { readInput } from '../src/http/input.ts'
import type { openRemoteRelations } from '../src/services/remote-relations.ts'

const Payload = Type.Object({ id: Type.Integer() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'complete-relation': Static<typeof Payload>
    }
  }
}

export function completeRelation(relations: ReturnType<typeof openRemoteRelations>): Task {
  return async (payload) => relations.complete(readInput(Payload, payload).id)
}
