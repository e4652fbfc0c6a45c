// remove-relation: removes the other side of a relation at another server, where the process that removed ours could not.
// Running twice is harmless: it looks at what is there first.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import { readInput } from '../src/http/input.ts'
import type { openRemoteRelations } from '../src/services/remote-relations.ts'

const Payload = Type.Object({ id: Type.Integer() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'remove-relation': Static<typeof Payload>
    }
  }
}

export function removeRelation(relations: ReturnType<typeof openRemoteRelations>): Task {
  return async (payload) => relations.removeStale(readInput(Payload, payload).id)
}
