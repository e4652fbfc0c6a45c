// remove-abonnementen: removes what deleted abonnementen left. Running it twice is harmless.
import type { Task } from 'graphile-worker'
import type { Database } from '../src/database/database.ts'
import { deleteEndedAbonnementen } from '../src/nrc/abonnement/write.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'remove-abonnementen': Record<string, never>
    }
  }
}

const AGAIN_MS = 60_000

export function removeAbonnementen(database: Database): Task {
  return async (_payload, { logger, addJob }) => {
    const { gone, left } = await deleteEndedAbonnementen(database)
    if (gone > 0) logger.info(`removed ${gone} abonnementen`)
    if (left === 0) return
    const runAt = new Date(Date.now() + AGAIN_MS)
    await addJob('remove-abonnementen', {}, { jobKey: 'remove-abonnementen', runAt })
  }
}
