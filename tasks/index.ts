import type { TaskList } from 'graphile-worker'
import type { Config } from '../src/config.ts'
import type { BatchParts } from '../src/documenten/import/batch.ts'
import type { Opslagen } from '../src/documenten/storage/choose.ts'
import { CRON } from '../src/jobs/retention.ts'
import type { Diensten } from '../src/services/services.ts'
import { vouwDocumentaantallen } from './fold-counts.ts'
import { importBatch } from './import-batch.ts'
import { importProef } from './import-dry-run.ts'
import { planNotificaties } from './plan-notifications.ts'
import { spiegelTasks } from './remote-relations.ts'
import { verwijderBytes } from './remove-bytes.ts'
import { verwijderConcept } from './remove-draft.ts'
import { verwijderBestand } from './remove-file.ts'
import { verwijderImport } from './remove-import.ts'
import { bewaartermijnen } from './retention.ts'

export type TaskParts = BatchParts & Opslagen & { config: Config; diensten: Diensten }

/** Every kind of job, by the name under which it is queued, but for `verstuur-notificatie`: that has a worker of its own. */
export function taskList(parts: TaskParts): TaskList {
  return {
    'import-batch': importBatch(parts),
    'import-proef': importProef(parts),
    'verwijder-import': verwijderImport(parts),
    'verwijder-concept': verwijderConcept(parts),
    'verwijder-bestand': verwijderBestand(parts),
    'verwijder-bytes': verwijderBytes(parts),
    'vouw-documentaantallen': vouwDocumentaantallen(parts),
    bewaartermijnen: bewaartermijnen(parts),
    'plan-notificaties': planNotificaties(parts),
    ...spiegelTasks(parts),
  }
}

/** What runs by the clock (UTC). A run that was missed because no worker was there is made up for within a day. */
export const CRONTAB = `
${CRON} bewaartermijnen ?fill=1d&jobKey=bewaartermijnen
* * * * * plan-notificaties ?jobKey=plan-notificaties
*/5 * * * * vouw-documentaantallen ?jobKey=vouw-documentaantallen
`
