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
import { formerly, readMoment, readNumber } from '../options.ts'
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
    .addHelpText('after', '\nExample:\n  zaakstroom abonnement list')
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
    .argument('<uuid>', 'of the abonnement')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom abonnement pause 5e2f0c2c-4b50-4b7c-9b4e-7ab9c3d6b3a1')
    .action((uuid: string, options: Shown) =>
      change('abonnement pause', uuid, options, async (m) => {
        await pauseAbonnement(m, uuid, 'Gepauzeerd met de opdracht abonnement pause.')
        return { text: 'Paused.', value: { paused: true } }
      }),
    )
  abonnement
    .command('resume')
    .description('send again to one that is paused, blocked or unsubscribed, also what it missed')
    .argument('<uuid>', 'of the abonnement')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom abonnement resume 5e2f0c2c-4b50-4b7c-9b4e-7ab9c3d6b3a1')
    .action((uuid: string, options: Shown) =>
      change('abonnement resume', uuid, options, async (m) => {
        const missed = await resumeAbonnement(m, uuid)
        return {
          text: missed ? 'Resumed; what it missed is being planned.' : 'Resumed.',
          value: { resumed: true, missed },
        }
      }),
    )
  const replay = abonnement
    .command('replay')
    .description('send messages again to one abonnement: those that failed, or all since a moment')
    .argument('<uuid>', 'of the abonnement')
    .option('--failed', 'those that failed', false)
    .option('--from <moment>', 'all that were made at or after this moment (ISO 8601)')
    .option('--per-minute <number>', 'at most so many in a minute', String(PER_MINUTE))
    .option('--dry-run', 'only say how many there are', false)
    .option('--stop', 'stop the one that goes on', false)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  zaakstroom abonnement replay 5e2f0c2c-4b50-4b7c-9b4e-7ab9c3d6b3a1 --from 2026-03-02T08:00:00Z --dry-run',
    )
    .action(
      async (
        uuid: string,
        options: Shown & { failed: boolean; from?: string; perMinute: string; dryRun: boolean; stop: boolean },
      ) => {
        if ([options.failed, options.from !== undefined, options.stop].filter(Boolean).length !== 1)
          throw new UsageError('give one of --failed, --from and --stop')
        if (options.stop)
          return change('abonnement replay', uuid, options, async (m) => {
            const stopped = await stopReplay(m, uuid)
            return { text: stopped ? 'Stopped.' : 'Nothing was being sent again.', value: { stopped } }
          })
        const from = options.from === undefined ? new Date(0) : readMoment(options.from, '--from')
        const perMinute = readNumber(options.perMinute, '--per-minute', 1, MAX_PER_MINUTE)
        const replay = options.failed
          ? ({ kind: 'failed', perMinute } as const)
          : ({ kind: 'since', since: from.toISOString(), perMinute } as const)
        return change('abonnement replay', uuid, options, async (m) => {
          const { count, more } = await countReplay(m.read, uuid, replay)
          const since = options.failed ? '' : ` made since ${from.toISOString()}`
          const text = `${more ? 'more than ' : ''}${count} messages${since}`
          m.unrecorded('counting changes nothing')
          const value = {
            messages: count,
            more,
            since: options.failed ? null : from.toISOString(),
            dryRun: options.dryRun,
          }
          if (options.dryRun) return { text, value }
          await startReplay(m, uuid, replay)
          return { text: `${text} will be sent again.`, value }
        })
      },
    )
  formerly(replay, { '--count': '--dry-run' })
}

type Shown = { json?: boolean }

async function change(
  name: string,
  uuid: string,
  options: Shown,
  work: (m: Mutation) => Promise<{ text: string; value: object }>,
): Promise<void> {
  if (!isUuid(uuid)) throw new UsageError('an abonnement is named by its uuid')
  try {
    const { text, value } = await changeDatabase((database) => mutator(database)(systemActor(name), work))
    print(options, { uuid, ...value }, text)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new UsageError(
      error.status === 404 ? `there is no abonnement ${uuid}` : (error.invalidParams?.[0]?.reason ?? error.detail),
    )
  }
}
