// setup apply: services, settings of notifications and applications from a file (../setup.ts).
import type { Command } from 'commander'
import { databaseBox, planned } from '../database.ts'
import { DRY_RUN } from '../options.ts'
import { applySetup, readSetup } from '../setup.ts'
import { fileMissing, print } from '../terminal.ts'

export function addTo(program: Command): void {
  program
    .command('setup')
    .description('services, settings of notifications and applications from a file')
    .command('apply')
    .description('bring them to what the file says, all of it or nothing; again: changes nothing')
    .argument('<file>', 'YAML or JSON; what it writes as $NAME in braces comes from the environment')
    .option(...DRY_RUN)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom setup apply setup.yaml --dry-run')
    .action(async (file: string, options: { dryRun?: boolean; json?: boolean }) => {
      const setup = await readSetup(file, process.env).catch(fileMissing(file))
      const applied = await planned(options)(async (database, config) =>
        applySetup(database, await databaseBox(database, config), config, setup, options),
      )
      const changed = [
        ...applied.services.map((slug) => `service ${slug}`),
        ...(applied.notifications ? ['notifications'] : []),
        ...applied.tokenIssuers.map((label) => `issuer ${label}`),
        ...applied.applicaties.map((label) => `applicatie ${label}`),
      ]
      const done = options.dryRun ? 'Would change' : 'Changed'
      const text = changed.length > 0 ? `${done}: ${changed.join(', ')}.` : 'Nothing to change.'
      print(options, { dryRun: options.dryRun === true, ...applied }, text)
    })
}
