// abonnement: who gets messages from the notifications service that is built in: how they are doing, pausing, sending again.
import type { Command } from 'commander'
import { sql } from 'kysely'
import { systemActor } from '../../core/access.ts'
import { type Mutation, mutator } from '../../core/mutate.ts'
import { Problem } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { isUuid } from '../../lib/uuid.ts'
import { COUNTED, readFigures } from '../../nrc/abonnement/figures.ts'
import { countReplay, MAX_PER_MINUTE, PER_MINUTE, startReplay, stopReplay } from '../../nrc/abonnement/replay.ts'
import { pauseAbonnement, resumeAbonnement } from '../../nrc/abonnement/state.ts'
import { changeDatabase, withDatabase } from '../database.ts'
import { readMoment, readNumber } from '../options.ts'
import { print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

export function addTo(program: Command): void {
  const abonnement = program
    .command('abonnement')
    .description('who gets messages from the built-in notifications service')
  abonnement
    .command('list')
    .description('every abonnement with its state, what waits and what failed')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const rows = await withDatabase(({ db }) =>
        readFigures(db as unknown as ReadDb, sql`true order by a.id limit 1000`),
      )
      const shown = rows.map((row) => ({
        uuid: row.uuid,
        status: row.status,
        reason: row.reason,
        callback: row.callbackUrl.replace(/\?.*$/s, '?…'),
        waiting: row.wachtend,
        oldestWaiting: row.oudsteWachtendeOp,
        failed: row.mislukt,
        failures: row.failures,
        lastSuccess: row.laatstGeluktOp,
      }))
      const capped = (count: number) => (count > COUNTED ? `>${COUNTED}` : String(count))
      const lines = shown.map(
        (one) =>
          `${one.uuid}  ${one.status.padEnd(12)} ${capped(one.waiting).padStart(7)} waiting ${capped(one.failed).padStart(7)} failed  ${one.callback || 'fetches its messages'}`,
      )
      print(options, shown, lines.length === 0 ? 'There are no abonnementen.' : lines.join('\n'))
    })
  abonnement
    .command('pause')
    .description('keep messages back until it is resumed; they wait')
    .argument('<uuid>')
    .action((uuid: string) =>
      change('abonnement pause', uuid, async (m) => {
        await pauseAbonnement(m, uuid, 'Gepauzeerd met de opdracht abonnement pause.')
        return 'Paused.'
      }),
    )
  abonnement
    .command('resume')
    .description('send again to one that is paused, blocked or unsubscribed, also what it missed')
    .argument('<uuid>')
    .action((uuid: string) =>
      change('abonnement resume', uuid, async (m) =>
        (await resumeAbonnement(m, uuid)) ? 'Resumed; what it missed is being planned.' : 'Resumed.',
      ),
    )
  abonnement
    .command('replay')
    .description('send messages again to one abonnement: those that failed, or all since a moment')
    .argument('<uuid>')
    .option('--failed', 'those that failed', false)
    .option('--from <moment>', 'all that were made at or after this moment (ISO 8601)')
    .option('--per-minute <number>', 'at most so many in a minute', String(PER_MINUTE))
    .option('--count', 'only say how many there are', false)
    .option('--stop', 'stop the one that goes on', false)
    .addHelpText('after', '\nExample:\n  zaakstroom abonnement replay 6f2c… --from 2026-03-02T08:00:00Z --count')
    .action(
      async (
        uuid: string,
        options: { failed: boolean; from?: string; perMinute: string; count: boolean; stop: boolean },
      ) => {
        if ([options.failed, options.from !== undefined, options.stop].filter(Boolean).length !== 1)
          throw new UsageError('give one of --failed, --from and --stop')
        if (options.stop)
          return change('abonnement replay', uuid, async (m) =>
            (await stopReplay(m, uuid)) ? 'Stopped.' : 'Nothing was being sent again.',
          )
        const from = options.from === undefined ? new Date(0) : readMoment(options.from, '--from')
        const perMinute = readNumber(options.perMinute, '--per-minute', 1, MAX_PER_MINUTE)
        const replay = options.failed
          ? ({ kind: 'failed', perMinute } as const)
          : ({ kind: 'since', since: from.toISOString(), perMinute } as const)
        return change('abonnement replay', uuid, async (m) => {
          const { count, more } = await countReplay(m.read, uuid, replay)
          const since = options.failed ? '' : ` made since ${from.toISOString()}`
          const text = `${more ? 'more than ' : ''}${count} messages${since}`
          m.unrecorded('counting changes nothing')
          if (options.count) return text
          await startReplay(m, uuid, replay)
          return `${text} will be sent again.`
        })
      },
    )
}

async function change(name: string, uuid: string, work: (m: Mutation) => Promise<string>): Promise<void> {
  if (!isUuid(uuid)) throw new UsageError('an abonnement is named by its uuid')
  try {
    console.log(await changeDatabase((database) => mutator(database)(systemActor(name), work)))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new UsageError(
      error.status === 404 ? `there is no abonnement ${uuid}` : (error.invalidParams?.[0]?.reason ?? error.detail),
    )
  }
}
