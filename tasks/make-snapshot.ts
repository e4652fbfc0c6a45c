// make-snapshot: makes a snapshot of a collection that a client asked for. Running twice is harmless: what was made is not made again,
// and the bytes of a run that was cut off are swept away.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import type { SecretBox } from '../src/core/secret-box.ts'
import type { Database } from '../src/database/database.ts'
import type { Stores } from '../src/documenten/storage/choose.ts'
import { makeSnapshot } from '../src/feed/snapshots.ts'
import { readInput } from '../src/http/input.ts'

const Payload = Type.Object({ id: Type.Integer() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'make-snapshot': Static<typeof Payload>
    }
  }
}

export function makeSnapshots(
  parts: { database: Database; box: SecretBox } & Pick<Stores, 'storeFor'> & { config: { documentenBackend: string } },
): Task {
  const { storeFor, config } = parts
  // Past the scanner: what is in a snapshot was never a file of anybody.
  return async (payload) => makeSnapshot(parts, storeFor(config.documentenBackend), readInput(Payload, payload).id)
}
