import type { TaskList } from 'graphile-worker'
import type { Config } from '../src/config.ts'
import type { BatchParts } from '../src/documenten/import/batch.ts'
import type { Stores } from '../src/documenten/storage/choose.ts'
import { CRON } from '../src/jobs/retention.ts'
import type { portionRunner } from '../src/overnemen/portions.ts'
import type { Services } from '../src/services/services.ts'
import { foldCounts } from './fold-counts.ts'
import { importBatch } from './import-batch.ts'
import { importDryRun } from './import-dry-run.ts'
import { remoteRelationTasks } from './remote-relations.ts'
import { removeBytes } from './remove-bytes.ts'
import { removeDraft } from './remove-draft.ts'
import { removeFile } from './remove-file.ts'
import { removeImport } from './remove-import.ts'
import { bewaartermijnen } from './retention.ts'
import { overneemStap } from './takeover-step.ts'

export type TaskParts = BatchParts &
  Stores & { config: Config; services: Services; runner: ReturnType<typeof portionRunner> }

/** Every kind of job, by the name under which it is queued, but for `verstuur-notificaties`: that has a worker of its own. */
export function taskList(parts: TaskParts): TaskList {
  return {
    'import-batch': importBatch(parts),
    'import-proef': importDryRun(parts),
    'verwijder-import': removeImport(parts),
    'verwijder-concept': removeDraft(parts),
    'verwijder-bestand': removeFile(parts),
    'verwijder-bytes': removeBytes(parts),
    'vouw-documentaantallen': foldCounts(parts),
    bewaartermijnen: bewaartermijnen(parts),
    'overneem-stap': overneemStap(parts),
    ...remoteRelationTasks(parts),
  }
}

/** What runs by the clock (UTC). A run that was missed because no worker was there is made up for within a day. */
export const CRONTAB = `
${CRON} bewaartermijnen ?fill=1d&jobKey=bewaartermijnen
*/5 * * * * vouw-documentaantallen ?jobKey=vouw-documentaantallen
`
