// The program: picks the subcommand, and says what went wrong. Each subcommand is a file of src/cli/commands; only the one that
// is asked for is loaded.
import { homedir } from 'node:os'
import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { requirePatchedDriver } from '../database/driver.ts'

const EXIT_USAGE = 64 // sysexits: what the caller asked is not possible

const COMMANDS: Record<string, () => Promise<{ addTo(program: Command): void }>> = {
  start: () => import('./commands/start.ts'),
  api: () => import('./commands/api.ts'),
  worker: () => import('./commands/worker.ts'),
  organisation: () => import('./commands/organisation.ts'),
  where: () => import('./commands/where.ts'),
  migrate: () => import('./commands/migrate.ts'),
  anonymise: () => import('./commands/anonymise.ts'),
  demo: () => import('./commands/demo.ts'),
  client: () => import('./commands/client.ts'),
  token: () => import('./commands/token.ts'),
  'signing-key': () => import('./commands/signing-key.ts'),
  notifications: () => import('./commands/notifications.ts'),
  abonnement: () => import('./commands/abonnement.ts'),
  setup: () => import('./commands/setup.ts'),
  storage: () => import('./commands/storage.ts'),
  keys: () => import('./commands/keys.ts'),
  account: () => import('./commands/account.ts'),
  overnemen: () => import('./commands/overnemen.ts'),
  catalogus: () => import('./commands/catalogus.ts'),
  import: () => import('./commands/import.ts'),
  jobs: () => import('./commands/jobs.ts'),
  copy: () => import('./commands/copy.ts'),
  history: () => import('./commands/history.ts'),
  selectielijst: () => import('./commands/selectielijst.ts'),
  completion: () => import('./commands/completion.ts'),
}

/** What a command ends with. */
export const EXIT_CODES = `Exit codes: 0 done, 1 failed or not complete, 64 wrong usage, 65 the service refuses what it was sent, 69 the database, the service or
the store is not available, 74 what was made could not be written, 75 busy with another: try later, 77 the client may not do it, 78 wrong
configuration, 130 and 143 ended by a signal.`

/** Does what the command line of this process asks. What went wrong is told and becomes the exit code. */
export async function runProgram(): Promise<void> {
  const program = new Command('zaakstroom')
    .description('Case and document service for the Dutch ZGW APIs.')
    .version(packageJson.version)
    .showHelpAfterError('(zaakstroom --help shows what there is)')
    .exitOverride()
    .hook('preAction', () => requirePatchedDriver())
  requireHome()
  try {
    const asked = process.argv[2] ?? ''
    const command = COMMANDS[asked]
    if (command && asked !== 'completion') (await command()).addTo(program)
    else if (asked !== '--version' && asked !== '-V') await addAll(program)
    await program.parseAsync()
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE
    else await end(error)
  }
}

/** How the help groups them. */
const GROUPS: Record<string, readonly string[]> = {
  'To serve:': ['start', 'api', 'worker', 'demo'],
  'The installation:': ['organisation', 'where', 'migrate', 'anonymise', 'setup', 'storage', 'keys'],
  'Clients, accounts and receivers:': ['client', 'token', 'signing-key', 'account', 'notifications', 'abonnement'],
  'Data from and to elsewhere:': ['overnemen', 'catalogus', 'import', 'copy', 'history', 'selectielijst'],
}

/** Adds the whole tree of subcommands. */
export async function addCommands(program: Command): Promise<void> {
  for (const load of Object.values(COMMANDS)) (await load()).addTo(program)
  for (const [heading, names] of Object.entries(GROUPS))
    for (const command of program.commands) if (names.includes(command.name())) command.helpGroup(heading)
}

/** Libraries ask for a home, and a uid without an entry in passwd has none when `HOME` is not set. */
function requireHome(): void {
  try {
    homedir()
  } catch {
    process.env.HOME = '/'
  }
}

/** What the help of the whole program shows. */
async function addAll(program: Command): Promise<void> {
  await addCommands(program)
  const { describeSettings } = await import('../config/environment.ts')
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

${EXIT_CODES}`,
  )
}

async function end(error: unknown): Promise<never> {
  const { explain } = await import('./explain.ts')
  const { message, code } = explain(error)
  console.error(`zaakstroom: ${message}`)
  process.exit(code)
}
