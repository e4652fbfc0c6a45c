// signing-key: what our token endpoint signs with.
import type { Command } from 'commander'
import { rotateSigningKey } from '../../autorisaties/token-endpoint/signing-keys.ts'
import { systemActor } from '../../core/access.ts'
import { mutator } from '../../core/mutate.ts'
import { ownAddress } from '../../http/links.ts'
import { changeDatabase, databaseBox } from '../database.ts'
import { YES } from '../options.ts'
import { confirm, print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

export function addTo(program: Command): void {
  const signingKey = program.command('signing-key').description('what the token endpoint signs with')
  signingKey
    .command('rotate')
    .description('make a new key; tokens that older ones signed stay good until they end')
    .option('--at-once', 'remove all older keys now: tokens that they signed are refused within seconds', false)
    .option(...YES)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom signing-key rotate')
    .action(async (options: { atOnce: boolean; yes?: boolean; json?: boolean }) => {
      if (options.atOnce) await confirm(options, 'All tokens that the token endpoint gave are refused within seconds.')
      const kid = await changeDatabase(async (database, config) => {
        const { tokenEndpoint } = config
        if (tokenEndpoint === 'off') throw new UsageError('TOKEN_ENDPOINT is off')
        const box = await databaseBox(database, config)
        return mutator(database)(systemActor('signing-key rotate', ownAddress(config)), (m) =>
          rotateSigningKey(m, box, tokenEndpoint, options),
        )
      })
      print(options, { kid }, `The token endpoint has a new key: ${kid}`)
    })
}
