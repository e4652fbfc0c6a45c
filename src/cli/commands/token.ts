// token: a token of a client, to try things with.
import type { Command } from 'commander'
import { tokenFor } from '../../autorisaties/clients.ts'
import { databaseBox, withDatabase } from '../database.ts'
import { print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

export function addTo(program: Command): void {
  program
    .command('token')
    .description('print a token of a client, for use with curl')
    .requiredOption('--id <id>', 'client id')
    .option('--user-id <id>', 'claim user_id', '')
    .option('--user-name <name>', 'claim user_representation', '')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  curl -H "Authorization: Bearer $(zaakstroom token --id portaal)" http://127.0.0.1:8000/zaken/api/v1/zaken',
    )
    .action(async (options: { id: string; userId: string; userName: string; json?: boolean }) => {
      const token = await withDatabase(async (database, config) =>
        tokenFor(database, await databaseBox(database, config), options.id, {
          id: options.userId,
          name: options.userName,
        }),
      )
      if (!token) throw new UsageError(`there is no client ${options.id} with a secret`)
      print(options, { token }, token)
    })
}
