// migrate: the schema of the database.
import type { Command } from 'commander'
import { readConfig } from '../../config.ts'
import { migrate } from '../../database/migrate.ts'
import { openLog } from '../../telemetry/log.ts'
import { openServer } from '../server.ts'
import { print } from '../terminal.ts'

export function addTo(program: Command): void {
  program
    .command('migrate')
    .description('bring the database to the schema of this version')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const config = readConfig(process.env)
      const server = await openServer(config, openLog(config.logLevel))
      try {
        const applied = await migrate(server.url)
        print(
          options,
          { applied },
          applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`,
        )
      } finally {
        await server.stop()
      }
    })
}
