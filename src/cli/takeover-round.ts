// Follows a round of a takeover from the command line, with a worker of its own beside those of the installation.
import { setTimeout as sleep } from 'node:timers/promises'
import { takeoverStep } from '../../tasks/takeover-step.ts'
import { startWorker } from '../jobs/worker.ts'
import { TooFewRights } from '../overnemen/api/source.ts'
import { NotOpenZaak } from '../overnemen/open-zaak/source.ts'
import { reasonOf, untilThere } from '../overnemen/patience.ts'
import { type PortionParts, portionRunner } from '../overnemen/portions.ts'
import { forecastOf, progressOf, type Round } from '../overnemen/round.ts'
import { SourceUnavailable } from '../overnemen/source.ts'
import { nameOf, SwitchedAlready, type Takeover } from '../overnemen/takeover.ts'
import { forecastLine, tell, waitLine } from './takeover-lines.ts'
import { UsageError } from './usage.ts'

/** Why nothing moves, on stderr: once for every attempt. */
export const tellWaiting = (reason: string, until: Date): void =>
  console.error(`waiting: ${waitLine(`SourceUnavailable ${reason}`, until)}`)

/**
 * Begins a round, or goes on with one, until its end or the signal.
 * @returns the takeover as it is then
 * @throws UsageError when the source cannot be read, or was switched
 */
export async function followRound(
  parts: PortionParts,
  begin: () => Promise<Round>,
  { url, naast, stopped, isQuiet }: { url: string; naast: number; stopped: AbortSignal; isQuiet: boolean },
): Promise<Takeover> {
  const { database, log } = parts
  // A source that was there before is waited for; one that never was may have a wrong address.
  const [known] = await database.sql`
    select from takeover_step s join takeover o on o.id = s.takeover_id where o.source = ${nameOf(url)} limit 1`
  const round = await (known ? untilThere(begin, tellWaiting, stopped) : begin()).catch((error) => {
    if (error instanceof SourceUnavailable) throw new UsageError(reasonOf(`SourceUnavailable ${error.code}`, 'en'))
    throw [NotOpenZaak, SwitchedAlready, TooFewRights].some((kind) => error instanceof kind)
      ? new UsageError(error.message)
      : error
  })
  const { resumed, takeover } = round
  if (!isQuiet) {
    console.error(
      `${resumed ? 'Going on with round' : 'Round'} ${takeover.round}${takeover.trial ? ' (dry run)' : ''} from ${takeover.source}`,
    )
    console.error(forecastLine(await forecastOf(database, takeover), takeover.kind))
  }
  const runner = portionRunner(parts)
  const worker = await startWorker({
    databaseUrl: database.url,
    name: 'overnemen',
    taskList: { 'takeover-step': takeoverStep({ database, runner }) },
    concurrency: naast,
    log,
  })
  let state = takeover
  try {
    while (!stopped.aborted) {
      await sleep(500, undefined, { signal: stopped }).catch(() => {})
      state = await round.state()
      if (!isQuiet) tell(await progressOf(database, state))
      if (state.status !== 'loopt') break
    }
  } finally {
    await worker.stop()
    await runner.close()
    await round.release()
  }
  return state
}
