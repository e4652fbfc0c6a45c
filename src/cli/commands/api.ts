// api: the HTTP side.
import type { Command } from 'commander'
import { expected } from '../../database/rows.ts'
import { runMetrics } from '../processes.ts'
import { findSecretBox } from '../server.ts'
import { inOrder, runUntilSignal } from '../until-signal.ts'

export function addTo(program: Command): void {
  program
    .command('api')
    .description('only the HTTP side (needs DATABASE_URL and SECRET_KEY)')
    .action(() =>
      runUntilSignal('api', ['DATABASE_URL', 'SECRET_KEY'], async (config, log) => {
        const databaseUrl = expected(config.databaseUrl)
        const { runApi } = await import('../run-api.ts') // here: --help does without
        const api = await runApi(config, databaseUrl, await findSecretBox(config, false), log)
        return inOrder(api, async (add) => {
          add(await runMetrics(config, 'api', databaseUrl, log))
          log.info({ address: api.address }, 'started')
        })
      }),
    )
}
