// rotate-signing-keys: every hour. Gives our token endpoint a new key when the newest is old, and removes keys and assertions that
// count no more. Running twice makes one key; not running leaves the keys that there are.
import type { Task } from 'graphile-worker'
import { removeEnded, rotateWhenDue } from '../src/autorisaties/token-endpoint/signing-keys.ts'
import type { Config } from '../src/config.ts'
import { systemActor } from '../src/core/access.ts'
import type { Mutate } from '../src/core/mutate.ts'
import type { SecretBox } from '../src/core/secret-box.ts'
import type { Database } from '../src/database/database.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'rotate-signing-keys': Record<string, never>
    }
  }
}

type Parts = { database: Database; config: Config; box: SecretBox }

export function rotateSigningKeys({ database, config, box }: Parts, mutate: Mutate): Task {
  return async (_payload, { logger }) => {
    await removeEnded(database)
    const { tokenEndpoint, tokenKeyDays } = config
    if (tokenEndpoint === 'off') return
    const kid = await mutate(systemActor('rotate-signing-keys'), (m) =>
      rotateWhenDue(m, box, tokenEndpoint, tokenKeyDays),
    )
    if (kid !== undefined) logger.info(`the token endpoint has a new key ${kid}`)
  }
}
