// where: what a command would work on with this environment, and where each of its settings comes from.
import type { Command } from 'commander'
import type { ListedSetting } from '../../config/environment.ts'
import { tellIgnored } from '../../config/ignored.ts'
import { type Located, locate } from '../database.ts'
import { describePlace } from '../place.ts'
import { print } from '../terminal.ts'

type Shown = { env: string; value: string | undefined; from: string }

export function addTo(program: Command): void {
  program
    .command('where')
    .description('which database and organisation commands work on, and where each setting comes from; changes nothing')
    .option('--all', 'also the settings that have their default')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom where')
    .action(async (options: { all?: boolean; json?: boolean }) => {
      const located = await locate()
      const settings = located.config.listed
        .map(
          (one): Shown => ({ env: one.env, value: one.secret ? '(secret)' : one.value, from: originOf(one, located) }),
        )
        .filter(({ from }) => options.all || from !== 'default')
      const lines = settings.map(({ env, value, from }) => `  ${env}=${value ?? ''}\t${from}`)
      const { place, fault } = located
      const first = place ? `Commands work on ${describePlace(place)}.` : 'Commands work on no database.'
      const ignored = tellIgnored(process.env)
      print(options, { ...place, settings, ignored }, [first, ...lines, ...ignored.map((one) => `! ${one}`)].join('\n'))
      if (fault !== undefined) throw fault
    })
}

function originOf({ env, from }: ListedSetting, { ownSettings }: Located): string {
  if (from === 'environment' && ownSettings.has(env)) return 'organisation'
  if (from === 'environment' && process.env[`${env}_FILE`]?.trim()) return `file ${process.env[`${env}_FILE`]?.trim()}`
  return from
}
