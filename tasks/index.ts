import type { Task } from 'graphile-worker'
import type { Config } from '../src/config.ts'
import { mutator } from '../src/core/mutate.ts'
import type { SecretBox } from '../src/core/secret-box.ts'
import { logOptionsOf } from '../src/core/verwerkingen.ts'
import type { Ahead } from '../src/documenten/import/ahead.ts'
import type { BatchParts } from '../src/documenten/import/prepare.ts'
import type { Stores } from '../src/documenten/storage/choose.ts'
import type { Periodic } from '../src/jobs/periodic.ts'
import { DAILY_AT } from '../src/operations/retention.ts'
import type { portionRunner } from '../src/overnemen/portions.ts'
import { openRemoteRelations } from '../src/services/remote-relations.ts'
import type { Services } from '../src/services/services.ts'
import { underOrigin } from '../src/telemetry/request-id.ts'
import { traced } from '../src/telemetry/tracing.ts'
import { blockAbonnementen } from './block-abonnementen.ts'
import { completeRelation } from './complete-relation.ts'
import { foldCounts } from './fold-counts.ts'
import { importBatch } from './import-batch.ts'
import { importDryRun } from './import-dry-run.ts'
import { importReceipt } from './import-receipt.ts'
import { makeSnapshots } from './make-snapshot.ts'
import { removeAbonnementen } from './remove-abonnementen.ts'
import { removeBytes } from './remove-bytes.ts'
import { removeDraft } from './remove-draft.ts'
import { removeFile } from './remove-file.ts'
import { removeImport } from './remove-import.ts'
import { removeKeys } from './remove-keys.ts'
import { removeRelation } from './remove-relation.ts'
import { replayMessages } from './replay-messages.ts'
import { reseal } from './reseal.ts'
import { retention } from './retention.ts'
import { rotateSigningKeys } from './rotate-signing-keys.ts'
import { sendAlerts } from './send-alerts.ts'
import { sendDigests } from './send-digests.ts'
import { takeoverStep } from './takeover-step.ts'
import { watchAlerts } from './watch-alerts.ts'
import { watchFeed } from './watch-feed.ts'

export type TaskParts = BatchParts &
  Stores & {
    ahead?: Ahead
    config: Config
    box: SecretBox
    services: Services
    runner: ReturnType<typeof portionRunner>
  }

type Tasks = Record<Exclude<keyof GraphileWorker.Tasks, 'send-notificaties'>, Task>

/**
 * Every kind of job, by the name under which it is queued, which is that of its file; but for `send-notificaties`, which
 * has a worker of its own. Each goes on under the id of the request that it came from, and in its trace.
 */
export function taskList(parts: TaskParts): Tasks {
  const mutate = mutator(parts.database, {
    announces: () => !parts.config.notificationsDisabled,
    log: () => logOptionsOf(parts.config),
  })
  const relations = openRemoteRelations(mutate, parts.services)
  return underOrigins({
    'import-batch': importBatch(parts),
    'import-dry-run': importDryRun(parts),
    'import-receipt': importReceipt(parts),
    'remove-import': removeImport(parts),
    'remove-draft': removeDraft(parts),
    'remove-file': removeFile(parts),
    'remove-bytes': removeBytes(parts),
    'fold-counts': foldCounts(parts),
    'remove-keys': removeKeys(parts),
    'make-snapshot': makeSnapshots(parts),
    'watch-feed': watchFeed(parts),
    'watch-alerts': watchAlerts(parts),
    'send-alerts': sendAlerts(parts),
    'send-digests': sendDigests(parts),
    'replay-messages': replayMessages(mutate),
    'remove-abonnementen': removeAbonnementen(parts.database),
    'block-abonnementen': blockAbonnementen(parts),
    reseal: reseal(parts),
    retention: retention(parts),
    'rotate-signing-keys': rotateSigningKeys(parts, mutate),
    'takeover-step': takeoverStep(parts),
    'complete-relation': completeRelation(relations),
    'remove-relation': removeRelation(relations),
  })
}

function underOrigins(tasks: Tasks): Tasks {
  const under =
    (name: string, work: Task): Task =>
    (payload, helpers) => {
      const { traceparent } = (payload ?? {}) as { traceparent?: string }
      const attributes = { 'zaakstroom.task': name }
      return underOrigin(payload, () =>
        traced(`job ${name}`, { kind: 'CONSUMER', attributes, parent: traceparent }, async () =>
          work(payload, helpers),
        ),
      )
    }
  return Object.fromEntries(Object.entries(tasks).map(([name, work]) => [name, under(name, work)])) as Tasks
}

/** What runs at set moments. Those that nobody was there for are made up once. */
export const PERIODIC: Periodic[] = [
  { task: 'retention', every: '1 day', from: `2000-01-01T${DAILY_AT}Z` },
  { task: 'remove-keys', every: '1 hour', from: '2000-01-01T00:00Z' },
  { task: 'rotate-signing-keys', every: '1 hour', from: '2000-01-01T00:30Z' },
  { task: 'fold-counts', every: '1 minute', from: '2000-01-01T00:00Z' },
  { task: 'watch-feed', every: '1 minute', from: '2000-01-01T00:00Z' },
  { task: 'watch-alerts', every: '1 minute', from: '2000-01-01T00:00Z' },
  { task: 'send-digests', every: '1 day', from: '2000-01-01T06:00Z' },
  { task: 'block-abonnementen', every: '1 minute', from: '2000-01-01T00:00Z' },
]
