// voltooi-spiegeling and ruim-spiegel: keep the other side of relations with other servers in step, where the process that
// changed ours could not. Running twice is harmless: both look at what is there first.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import type { Config } from '../src/config.ts'
import type { Database } from '../src/database/database.ts'
import { mutator } from '../src/database/mutate.ts'
import { readInput } from '../src/http/input.ts'
import { openRemoteRelations } from '../src/services/remote-relations.ts'
import type { Services } from '../src/services/services.ts'

const Payload = Type.Object({ id: Type.Integer() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'voltooi-spiegeling': Static<typeof Payload>
      'ruim-spiegel': Static<typeof Payload>
    }
  }
}

type Parts = { database: Database; config: Config; services: Services }

export function remoteRelationTasks({
  database,
  config,
  services,
}: Parts): Record<'voltooi-spiegeling' | 'ruim-spiegel', Task> {
  const spiegels = openRemoteRelations(mutator(database, { announces: !config.notificationsDisabled }), services)
  return {
    'voltooi-spiegeling': async (payload) => spiegels.complete(readInput(Payload, payload).id),
    'ruim-spiegel': async (payload) => spiegels.ruim(readInput(Payload, payload).id),
  }
}
