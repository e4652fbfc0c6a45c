// notifications: the service that changes are told to, and messages that failed.
import type { Command } from 'commander'
import { systemActor } from '../../core/access.ts'
import { mutator } from '../../core/mutate.ts'
import { isUuid } from '../../lib/uuid.ts'
import { KANALEN, registerKanalen, testNotificatie } from '../../notificaties/kanalen.ts'
import { resendFailed } from '../../notificaties/resend.ts'
import { readPauses, setPaused, WAITING_TO } from '../../notificaties/settings.ts'
import { changeDatabase, databaseBox } from '../database.ts'
import { readMoment } from '../options.ts'
import { print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

export function addTo(program: Command): void {
  const notifications = program
    .command('notifications')
    .description('the notifications service that changes are told to')
  notifications
    .command('register-channels')
    .description('make or update our channels at the notifications service')
    .argument('[names...]', 'only these channels')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom notifications register-channels zaken')
    .action(async (names: string[], options: { json?: boolean }) => {
      const unknown = names.filter((name) => !KANALEN.some(({ naam }) => naam === name))
      if (unknown.length > 0) throw new UsageError(`there is no channel ${unknown.join(', ')}`)
      const results = await changeDatabase(async (database, config) =>
        registerKanalen(
          { database, config, box: await databaseBox(database, config) },
          names.length > 0 ? names : undefined,
        ),
      )
      const lines = results.map(({ naam, gelukt, reden }) =>
        `${gelukt ? 'ok      ' : 'FAILED  '}${naam}  ${reden}`.trimEnd(),
      )
      print(options, results, lines.join('\n'))
      if (results.some(({ gelukt }) => !gelukt)) process.exitCode = 1
    })
  notifications
    .command('test')
    .description('send a test message, and say at which stage it fails if it does')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom notifications test')
    .action(async (options: { json?: boolean }) => {
      const stages = await changeDatabase(async (database, config) =>
        testNotificatie({ database, config, box: await databaseBox(database, config) }),
      )
      const lines = stages.map(({ stage, outcome, detail }) =>
        `${stage.padEnd(7)}${outcome.padEnd(8)}${detail}`.trimEnd(),
      )
      print(options, stages, lines.join('\n'))
      if (stages.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
    })
  notifications
    .command('resend')
    .description('give failed messages all their attempts anew: those named, or all within a window of time')
    .argument('[ids...]', 'ids of messages')
    .option('--from <moment>', 'made at or after this moment (ISO 8601)')
    .option('--to <moment>', 'made before this moment (default: now)')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom notifications resend --from 2026-03-02T08:00:00Z')
    .action(async (ids: string[], options: { from?: string; to?: string; json?: boolean }) => {
      if (ids.length > 0 === (options.from !== undefined)) throw new UsageError('give either ids or --from')
      const from = options.from === undefined ? new Date(0) : readMoment(options.from, '--from')
      const until = options.to === undefined ? undefined : readMoment(options.to, '--to')
      if (ids.some((id) => !isUuid(id))) throw new UsageError('an id is a uuid')
      const selection =
        ids.length > 0 ? { uuids: ids } : { van: from.toISOString(), tot: until?.toISOString() ?? 'now' }
      const { messages, deliveries } = await changeDatabase((database) =>
        mutator(database)(systemActor('notifications resend'), (m) => resendFailed(m, selection)),
      )
      const window = ids.length > 0 ? undefined : { from: from.toISOString(), to: until?.toISOString() ?? 'now' }
      const made = window ? `, made from ${window.from} to ${window.to},` : ''
      const text = `${messages} messages${made} will be sent again, in ${deliveries} deliveries.`
      print(options, { resent: messages, deliveries, ...window }, text)
    })
  for (const pausing of [true, false])
    notifications
      .command(pausing ? 'pause' : 'resume')
      .description(
        pausing
          ? 'send nothing to any receiver until it is resumed; everything is kept'
          : 'send again; what waits goes at once',
      )
      .option('--external', 'the notifications service alone, and not the abonnementen')
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  zaakstroom notifications ${pausing ? 'pause' : 'resume'}`)
      .action(async ({ external = false, json = false }: { external?: boolean; json?: boolean }) => {
        const receiver = external ? 'external' : 'all'
        const name = pausing ? 'notifications pause' : 'notifications resume'
        const pauses = await changeDatabase((database) =>
          mutator(database)(systemActor(name), async (m) => {
            await setPaused(m, pausing, receiver)
            return readPauses(m.read)
          }),
        )
        const waiting = pauses.waiting > WAITING_TO ? `more than ${WAITING_TO}` : String(pauses.waiting)
        const still = [
          pauses.all !== null && 'all receivers',
          pauses.external !== null && 'the notifications service',
          pauses.subscribers > 0 && `${pauses.subscribers} abonnementen`,
        ].filter((part) => part !== false)
        const said =
          still.length === 0 ? 'Nothing is paused.' : `Paused: ${still.join(', ')}. ${waiting} deliveries wait.`
        print({ json }, pauses, said)
      })
}
