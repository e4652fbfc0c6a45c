// setup apply: services, settings of notifications and applications from a file (../setup.ts).
import type { Command } from 'commander'
import { changeDatabase, databaseBox } from '../database.ts'
import { applySetup, readSetup } from '../setup.ts'
import { fileMissing, print } from '../terminal.ts'

export function addTo(program: Command): void {
  program
    .command('setup')
    .description('services, settings of notifications and applications from a file')
    .command('apply')
    .description('bring them to what the file says, all of it or nothing; again: changes nothing')
    .argument('<file>', 'YAML or JSON; what it writes as $NAME in braces comes from the environment')
    .option('--json', 'print JSON')
    .action(async (file: string, options: { json?: boolean }) => {
      const setup = await readSetup(file, process.env).catch(fileMissing(file))
      const applied = await changeDatabase(async (database, config) =>
        applySetup(database, await databaseBox(database, config), config, setup),
      )
      const changed = [
        ...applied.services.map((slug) => `service ${slug}`),
        ...(applied.notifications ? ['notifications'] : []),
        ...applied.tokenIssuers.map((label) => `issuer ${label}`),
        ...applied.applicaties.map((label) => `applicatie ${label}`),
      ]
      print(options, applied, changed.length > 0 ? `Changed: ${changed.join(', ')}.` : 'Nothing to change.')
    })
}
