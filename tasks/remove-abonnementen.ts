// remove-abonnementen: removes what deleted abonnementen left. Running it twice is harmless.
import type { Task } from 'graphile-worker'
import type { Database } from '../src/database/database.ts'
import { enqueue } from '../src/jobs/queue.ts'
import { deleteEndedAbonnementen } from '../src/nrc/abonnement/write.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'remove-abonnementen': Record<string, never>
    }
  }
}

const AGAIN_S = 60

export function removeAbonnementen(database: Database): Task {
  return async (_payload, { logger }) => {
    const { gone, left } = await deleteEndedAbonnementen(database)
    if (gone > 0) logger.info(`removed ${gone} abonnementen`)
    if (left === 0) return
    await enqueue(database.db, 'remove-abonnementen', {}, { jobKey: 'remove-abonnementen', delaySeconds: AGAIN_S })
  }
}
