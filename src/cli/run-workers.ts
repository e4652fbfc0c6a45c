// The job side of many organisations: a runner of each that has something to do.
import type { Logger } from 'pino'
import { PERIODIC } from '../../tasks/index.ts'
import type { Config } from '../config.ts'
import { tellOfHosts } from '../database/primary.ts'
import { keepFigures } from '../organisations/keep-figures.ts'
import { configOf } from '../organisations/organisation.ts'
import { openControl, openRegistry } from '../organisations/registry.ts'
import { openRunners } from '../organisations/runners.ts'
import { openTurns } from '../organisations/turns.ts'
import { runWorker } from './run-worker.ts'
import { findSecretBox, NEVER, type Running } from './server.ts'

/** Jobs of one organisation at once. */
const AT_ONCE = 2

/** Works for all organisations of the registry. Resolves when it follows them. */
export async function runWorkers(
  config: Config,
  controlUrl: string,
  log: Logger,
): Promise<Running & { readiness(): Promise<{ status: string; checks: object }> }> {
  tellOfHosts(log)
  const opened = new AsyncDisposableStack()
  try {
    const control = openControl(controlUrl)
    opened.defer(control.close)
    const registry = await openRegistry(control, await findSecretBox(config, false), log)
    opened.defer(registry.close)
    const turns = openTurns(config.workerConcurrency)
    const runners = openRunners({
      registry,
      configOf: (organisation) => configOf(process.env, organisation),
      periodic: PERIODIC,
      most: config.workerOrganisations,
      log,
      open: ({ rsin, config: own, url, periodic, log }) =>
        runWorker(own, url, log, {
          periodic,
          rsin,
          concurrency: Math.min(AT_ONCE, config.workerConcurrency),
          take: (work) => turns.take(rsin, work),
          isShared: () => runners.state().open > 1,
        }),
    })
    opened.defer(runners.stop)
    opened.defer(keepFigures({ control, registry, runners, log }).stop)
    return {
      failed: NEVER,
      stop: () => opened.disposeAsync(),
      readiness: async () => {
        const isKnown = await control.answers()
        const { up, away, open, waiting } = runners.state()
        const checks = {
          registry: isKnown ? { status: 'ok' } : { status: 'late', detail: 'not reachable: what was read last counts' },
          databases:
            away === 0 ? { status: 'ok' } : { status: 'degraded', detail: `${away} of ${up + away} do not answer` },
          organisations: { status: runners.healthy() ? 'ok' : 'failed', detail: `${open} open, ${waiting} waiting` },
        }
        return { status: runners.healthy() ? (away === 0 ? 'ok' : 'degraded') : 'failed', checks }
      },
    }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}
