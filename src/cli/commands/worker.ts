// worker: the jobs.
import type { Command } from 'commander'
import { expected } from '../../database/rows.ts'
import { runMetrics } from '../processes.ts'
import { inOrder, runUntilSignal } from '../until-signal.ts'

export function addTo(program: Command): void {
  program
    .command('worker')
    .description('only the jobs (needs DATABASE_URL and SECRET_KEY)')
    .action(() =>
      runUntilSignal('worker', ['DATABASE_URL', 'SECRET_KEY'], async (config, log) => {
        const databaseUrl = expected(config.databaseUrl)
        const { runWorker, runWorkerHealth } = await import('../run-worker.ts') // here: --help does without
        const worker = await runWorker(config, databaseUrl, log)
        return inOrder(worker, async (add) => {
          add(await runMetrics(config, 'worker', databaseUrl, log))
          if (config.workerHealthPort !== undefined)
            add(await runWorkerHealth(config.workerHealthPort, config.host, worker))
          log.info('started')
        })
      }),
    )
}
