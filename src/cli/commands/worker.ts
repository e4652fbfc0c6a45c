// worker: the jobs.
import type { Command } from 'commander'
import { expected } from '../../database/rows.ts'
import { runMetrics } from '../processes.ts'
import { inOrder, runUntilSignal } from '../until-signal.ts'

export function addTo(program: Command): void {
  program
    .command('worker')
    .description('only the jobs (needs SECRET_KEY, and DATABASE_URL or CONTROL_DATABASE_URL)')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://… SECRET_KEY=… zaakstroom worker')
    .action(() =>
      runUntilSignal('worker', ['DATABASE_URL', 'SECRET_KEY'], async (config, log) => {
        const { databaseUrl, controlDatabaseUrl, workerHealthPort, host } = config
        // Here: --help does without.
        const { runWorker, runWorkerHealth, workerReadiness } = await import('../run-worker.ts')
        const { runWorkers } = await import('../run-workers.ts')
        const many = controlDatabaseUrl && (await runWorkers(config, controlDatabaseUrl, log))
        const worker = many || (await runWorker(config, expected(databaseUrl), log))
        const readiness = 'readiness' in worker ? worker.readiness : workerReadiness(worker)
        return inOrder(worker, async (add) => {
          add(await runMetrics(config, 'worker', databaseUrl, log))
          if (workerHealthPort !== undefined) add(await runWorkerHealth(workerHealthPort, host, readiness))
          log.info('started')
        })
      }),
    )
}
