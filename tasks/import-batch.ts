// import-batch: handles one batch of an import and leaves the job of the next. Running twice is harmless: the position
// of the import, read under its lock, says whether the batch is still to be done.

import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import { isUnavailable } from '../src/database/database.ts'
import { type Ahead, openAhead } from '../src/documenten/import/ahead.ts'
import { processBatch } from '../src/documenten/import/batch.ts'
import type { BatchParts } from '../src/documenten/import/prepare.ts'
import { enqueueBatch, noteWaiting, stopImport } from '../src/documenten/import/progress.ts'
import { readInput } from '../src/http/input.ts'
import { caseLinks } from '../src/zaken/import-links.ts'

const Payload = Type.Object({
  import: Type.String({ format: 'uuid' }),
  start: Type.Integer({ minimum: 0 }),
  rowByRowUntil: Type.Optional(Type.Integer({ minimum: 0 })),
})
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'import-batch': Static<typeof Payload>
    }
  }
}

/** How often a batch looks whether its API was switched on again. */
const REST_SECONDS = 30

/** @param parts.ahead what prepares batches in this process; it may be shared with whoever calls its `look` */
export function importBatch(parts: BatchParts & { ahead?: Ahead }): Task {
  const { ahead = openAhead(parts) } = parts
  return async (payload, { job }) => {
    const batch = readInput(Payload, payload)
    if (!parts.config.documentenApi) {
      await parts.database.db.transaction().execute(async (trx) => {
        await noteWaiting(
          trx,
          batch.import,
          'De Documenten API staat uit. De import gaat verder als zij weer aanstaat.',
        )
        await enqueueBatch(trx, batch, REST_SECONDS)
      })
      return
    }
    try {
      const [crash] = await parts.database.sql<{ count: number }[]>`
        select count from worker_crash where job_id = ${job.id}`
      await processBatch({ ...parts, caseLinks }, ahead, batch, crash?.count)
    } catch (error) {
      if (job.attempts < job.max_attempts || isUnavailable(error)) throw error
      parts.log.error({ import: batch.import, err: error }, 'import stopped: its batch failed at every attempt')
      await parts.database.db.transaction().execute(async (trx) => {
        const row = await trx.selectFrom('import').where('uuid', '=', batch.import).select('id').executeTakeFirst()
        if (row) await stopImport(trx, row.id, 'Een batch kon ook na herhaalde pogingen niet worden verwerkt.')
      })
    }
  }
}
