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
    .option('--prune', 'also remove what else there is of the kinds that the file names')
    .option(...DRY_RUN)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The keys of a file are in docs/setup.md, and docs/setup.schema.json is for editors. A kind is services, tokenIssuers or applicaties. One that
the file leaves out stays as it is, and so does what the environment makes. \`credentials\` are all secrets of an applicatie: what it does not
name is revoked.

Example:
  zaakstroom setup apply setup.yaml --prune --dry-run`,
    )
    .action(async (file: string, options: { dryRun?: boolean; prune?: boolean; json?: boolean }) => {
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
      const { kept, removed } = applied
      const lines = [
        ...(changed.length > 0 ? [`${done}: ${changed.join(', ')}.`] : []),
        ...(removed.length > 0 ? [`${options.dryRun ? 'Would remove' : 'Removed'}: ${removed.join(', ')}.`] : []),
        ...(changed.length + removed.length === 0 ? ['Nothing to change.'] : []),
        ...(kept.length > 0 ? [`Not in the file, and kept (--prune removes it): ${kept.join(', ')}.`] : []),
      ]
      print(options, { dryRun: options.dryRun === true, ...applied }, lines.join('\n'))
    })
}
