// import-dry-run: judges the rows of an uploaded CSV without importing them. Running twice is harmless: it begins anew, and an
// older run that still goes on ends by itself.

import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import type { Config } from '../src/config.ts'
import { type Database, isUnavailable } from '../src/database/database.ts'
import { dryRunImport, endDryRun } from '../src/documenten/import/dry-run.ts'
import { readInput } from '../src/http/input.ts'
import { caseLinks } from '../src/zaken/import-links.ts'

const Payload = Type.Object({ concept: Type.String({ format: 'uuid' }) })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'import-dry-run': Static<typeof Payload>
    }
  }
}

export function importDryRun(parts: { config: Config; database: Database }): Task {
  return async (payload, { job, abortSignal }) => {
    const { concept } = readInput(Payload, payload)
    try {
      await dryRunImport({ ...parts, caseLinks }, concept, abortSignal)
    } catch (error) {
      const last = job.attempts >= job.max_attempts && !abortSignal?.aborted && !isUnavailable(error)
      if (last) await endDryRun(parts.database, concept, { status: 'mislukt', reden: FAILED_TEXT })
      throw error
    }
  }
}

const FAILED_TEXT = 'Het proefdraaien is door een fout in de dienst gestopt. Probeer het later opnieuw.'
