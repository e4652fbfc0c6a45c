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

export function removeAbonnementen(database: Database): Task {
  return async (_payload, { logger }) => {
    const count = await deleteEndedAbonnementen(database)
    if (count > 0) logger.info(`removed ${count} abonnementen`)
  }
}
