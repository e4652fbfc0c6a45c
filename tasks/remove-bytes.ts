// remove-bytes: removes what is left where a document was before it moved. Running twice is harmless.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import type { Database } from '../src/database/database.ts'
import type { Stores } from '../src/documenten/storage/choose.ts'
import { readInput } from '../src/http/input.ts'
import { belongsToSource } from '../src/overnemen/bytes.ts'

const Payload = Type.Object({ backend: Type.String(), key: Type.String() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'remove-bytes': Static<typeof Payload>
    }
  }
}

type Parts = { database: Database; storeFor: Stores['storeFor'] }

export function removeBytes({ database, storeFor }: Parts): Task {
  return async (payload) => {
    const { backend, key } = readInput(Payload, payload)
    const [row] = await database.sql`select from file where backend = ${backend} and key = ${key}`
    if (row || (await belongsToSource(database.sql, key))) return // it has moved back meanwhile, or others need it
    await storeFor(backend).remove(key)
  }
}
