#!/usr/bin/env -S node --max-semi-space-size=8
// The program: picks the subcommand, and says what went wrong. Each subcommand is a file of src/cli/commands; only the one that
// is asked for is loaded.
import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { requireNode } from './cli/node-version.ts'
import { requirePatchedDriver } from './database/driver.ts'

const EXIT_USAGE = 64 // sysexits: what the caller asked is not possible

const COMMANDS: Record<string, () => Promise<{ addTo(program: Command): void }>> = {
  start: () => import('./cli/commands/start.ts'),
  api: () => import('./cli/commands/api.ts'),
  worker: () => import('./cli/commands/worker.ts'),
  migrate: () => import('./cli/commands/migrate.ts'),
  demo: () => import('./cli/commands/demo.ts'),
  client: () => import('./cli/commands/client.ts'),
  token: () => import('./cli/commands/token.ts'),
  notifications: () => import('./cli/commands/notifications.ts'),
  abonnement: () => import('./cli/commands/abonnement.ts'),
  setup: () => import('./cli/commands/setup.ts'),
  storage: () => import('./cli/commands/storage.ts'),
  account: () => import('./cli/commands/account.ts'),
  overnemen: () => import('./cli/commands/overnemen.ts'),
  catalogus: () => import('./cli/commands/catalogus.ts'),
  selectielijst: () => import('./cli/commands/selectielijst.ts'),
}

const program = new Command('zaakstroom')
  .description('Case and document service for the Dutch ZGW APIs.')
  .version(packageJson.version)
  .showHelpAfterError('(zaakstroom --help shows what there is)')
  .exitOverride()
  .hook('preAction', () => requirePatchedDriver())

try {
  requireNode()
  const asked = process.argv[2] ?? ''
  const command = COMMANDS[asked]
  if (command) (await command()).addTo(program)
  else if (asked !== '--version' && asked !== '-V') await addAll()
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE
  else await end(error)
}

/** What the help of the whole program shows. */
async function addAll(): Promise<void> {
  for (const load of Object.values(COMMANDS)) (await load()).addTo(program)
  const { describeSettings } = await import('./config/environment.ts')
  program.addHelpText(
    'after',
    `
Examples:
  zaakstroom start                                  everything in one process, with its own database in ./data
  zaakstroom client create --id portaal --all-rights
  curl -H "Authorization: Bearer $(zaakstroom token --id portaal)" \\
    http://127.0.0.1:8000/catalogi/api/v1/catalogussen
  DATABASE_URL=postgres://… SECRET_KEY=… zaakstroom api

Settings, from the environment:
${describeSettings()}

Exit codes: 0 done, 1 failed, 64 wrong usage, 69 database not available, 78 wrong configuration.`,
  )
}

async function end(error: unknown): Promise<never> {
  const { explain } = await import('./cli/explain.ts')
  const { message, code } = explain(error)
  console.error(`zaakstroom: ${message}`)
  process.exit(code)
}
