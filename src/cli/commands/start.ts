// start: api and worker in one process, on a database of its own unless DATABASE_URL names one.
import type { Command } from 'commander'
import { migrate, switchFeed } from '../../database/migrate.ts'
import { checkConnections, runMetrics } from '../processes.ts'
import { findSecretBox, openServer } from '../server.ts'
import { inOrder, runUntilSignal } from '../until-signal.ts'

export function addTo(program: Command): void {
  program
    .command('start')
    .description('api and worker in one process; prepares the database first')
    .addHelpText('after', '\nExample:\n  zaakstroom start')
    .action(() =>
      runUntilSignal('start', [], async (config, log) => {
        const box = await findSecretBox(config, true)
        const server = await openServer(config, log, true)
        return inOrder(server, async (add) => {
          await checkConnections(config, log, true)
          await migrate(server.url)
          if (await switchFeed(server.url, config.feedDays > 0))
            log.info({ on: config.feedDays > 0 }, 'the feed of changes was switched')
          const { runWorker } = await import('../run-worker.ts') // here: --help does without
          const { runApi } = await import('../run-api.ts')
          add(await runWorker(config, server.url, log))
          const api = add(await runApi(config, server.url, box, log, { alone: true }))
          add(await runMetrics(config, 'start', server.url, log))
          log.info({ address: api.address }, 'started')
        })
      }),
    )
}
