// api: the HTTP side.
import type { Command } from 'commander'
import { expected } from '../../database/rows.ts'
import { runMetrics } from '../processes.ts'
import { findSecretBox } from '../server.ts'
import { inOrder, runUntilSignal } from '../until-signal.ts'

export function addTo(program: Command): void {
  program
    .command('api')
    .description('only the HTTP side (needs SECRET_KEY, and DATABASE_URL or CONTROL_DATABASE_URL)')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://… SECRET_KEY=… zaakstroom api')
    .action(() =>
      runUntilSignal('api', ['DATABASE_URL', 'SECRET_KEY'], async (config, log) => {
        const { databaseUrl, controlDatabaseUrl } = config
        const { runApi, runApiOfMany } = await import('../run-api.ts') // here: --help does without
        const box = await findSecretBox(config, false)
        const api = controlDatabaseUrl
          ? await runApiOfMany(config, controlDatabaseUrl, box, log)
          : await runApi(config, expected(databaseUrl), box, log)
        return inOrder(api, async (add) => {
          add(await runMetrics(config, 'api', databaseUrl, log))
          log.info({ address: api.address }, 'started')
        })
      }),
    )
}
