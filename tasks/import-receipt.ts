// import-receipt: reads each copy that an import stored once more, and signs what it found. It goes on where it was killed.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import type { SecretBox } from '../src/core/secret-box.ts'
import type { Database } from '../src/database/database.ts'
import { checkNextCopies, enqueueReceipt } from '../src/documenten/import/receipt.ts'
import type { Stores } from '../src/documenten/storage/choose.ts'
import { StoreUnavailable } from '../src/documenten/storage/index.ts'
import { readInput } from '../src/http/input.ts'

const Payload = Type.Object({ import: Type.String({ format: 'uuid' }) })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'import-receipt': Static<typeof Payload>
    }
  }
}

/** How long it waits for a store that does not answer. */
const WAIT_SECONDS = 60

export function importReceipt(parts: Stores & { database: Database; box: SecretBox }): Task {
  return async (payload, { abortSignal }) => {
    const { import: uuid } = readInput(Payload, payload)
    try {
      while (await checkNextCopies(parts, uuid)) abortSignal?.throwIfAborted()
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      await enqueueReceipt(parts.database.db, uuid, WAIT_SECONDS)
    }
  }
}
