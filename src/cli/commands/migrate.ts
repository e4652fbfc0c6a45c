// migrate: the schema of the database.
import type { Command } from 'commander'
import { type Config, ConfigError, readConfig } from '../../config.ts'
import { type BlankTexts, findBlankTexts } from '../../database/blank-texts.ts'
import { openDatabase } from '../../database/database.ts'
import { migrateControl, missingControlMigrations, missingMigrations } from '../../database/migrate.ts'
import { expected } from '../../database/rows.ts'
import { makeOrganisation } from '../../organisations/make.ts'
import { type Migrated, migrateAll } from '../../organisations/migrate-all.ts'
import { configOf } from '../../organisations/organisation.ts'
import { controlUrlOf, openControl, readOrganisations } from '../../organisations/registry.ts'
import { openLog } from '../../telemetry/log.ts'
import { DRY_RUN } from '../options.ts'
import { describePlace, placeOf } from '../place.ts'
import { findSecretBox, openServer } from '../server.ts'
import { print } from '../terminal.ts'

type Options = { all?: boolean; dryRun?: boolean; json?: boolean }

export function addTo(program: Command): void {
  program
    .command('migrate')
    .description('bring the database to the schema of this version')
    .option('--all', 'those of all organisations, one after the other (needs CONTROL_DATABASE_URL)')
    .option(...DRY_RUN)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom migrate --dry-run')
    .action(async (options: Options) => {
      const config = readConfig(process.env)
      const { controlDatabaseUrl } = config
      if (controlDatabaseUrl) return (options.dryRun ? planMany : migrateMany)(config, controlDatabaseUrl, options)
      if (options.all) throw new ConfigError(['CONTROL_DATABASE_URL is required'])
      const server = await openServer(config, openLog(config.logLevel))
      if (options.dryRun) return plan(server, options).finally(server.stop)
      console.error(`zaakstroom: changes ${describePlace(placeOf(config, server.url))}`)
      try {
        const { applied, feed } = await makeOrganisation(server.url, { hasFeed: config.feedDays > 0 })
        const database = openDatabase(server.url, { max: 1, name: 'migrate' })
        const blankTexts = await findBlankTexts(database.sql).finally(database.close)
        const texts = [sayApplied(applied), ...(applied.length === 0 && feed !== 'as it was' ? [sayFeed(feed)] : [])]
        print(
          options,
          { dryRun: false, applied, ...(feed !== 'as it was' && { feed }), blankTexts },
          [...texts, ...blankTexts.map(sayBlanks)].join('\n'),
        )
      } finally {
        await server.stop()
      }
    })
}

/** What would be applied to one database. */
async function plan({ url }: { url: string }, options: Options): Promise<void> {
  const pending = await missingAt(url)
  print(options, { dryRun: true, pending }, sayPending(pending))
}

async function missingAt(url: string, find = missingMigrations): Promise<string[]> {
  const database = openDatabase(url, { max: 1, name: 'migrate' })
  return find(database.sql).finally(database.close)
}

/** What would be applied to the registry, and with `all` to every organisation in it. */
async function planMany(config: Config, url: string, options: Options): Promise<void> {
  const { explain } = await import('../explain.ts')
  const pending = await missingAt(controlUrlOf(url), missingControlMigrations)
  const organisations: { rsin: string; name: string; pending: string[]; fault?: string }[] = []
  if (options.all && pending.length === 0) {
    const control = openControl(url)
    try {
      for (const one of await readOrganisations(control, await findSecretBox(config, false))) {
        const { rsin, name } = one
        const found = await missingAt(expected(configOf(process.env, one).databaseUrl)).then(
          (pending) => ({ pending }),
          (error) => ({ pending: [], fault: explain(error).message }),
        )
        organisations.push({ rsin, name, ...found })
      }
    } finally {
      await control.close()
    }
  }
  const lines = organisations.map((one) => `${one.rsin} ${one.name}: ${one.fault ?? sayPending(one.pending)}`)
  print(options, { dryRun: true, pending, organisations }, [`Registry: ${sayPending(pending)}`, ...lines].join('\n'))
  if (organisations.some(({ fault }) => fault !== undefined)) process.exitCode = 1
}

/** The registry, and with `all` every organisation in it. The exit code is 1 when one failed. */
async function migrateMany(config: Config, url: string, options: Options): Promise<void> {
  const { explain } = await import('../explain.ts') // it brings much along
  const applied = await migrateControl(controlUrlOf(url))
  if (!options.json) console.log(`Registry: ${sayApplied(applied)}`)
  const organisations: Migrated[] = []
  if (options.all) {
    const control = openControl(url)
    try {
      const box = await findSecretBox(config, false)
      const all = await readOrganisations(control, box)
      for await (const migrated of migrateAll({
        control,
        box,
        all,
        configOf: (organisation) => configOf(process.env, organisation),
        explain: (error) => explain(error).message,
      })) {
        organisations.push(migrated)
        if (!options.json)
          console.log(`${migrated.rsin} ${migrated.name}: ${migrated.fault ?? sayApplied(migrated.applied)}`)
      }
    } finally {
      await control.close()
    }
  }
  const failed = organisations.filter(({ fault }) => fault !== undefined)
  const rsins = failed.map(({ rsin }) => rsin).join(', ')
  if (failed.length > 0) process.exitCode = 1
  const said = failed.length > 0 ? `Not migrated: ${rsins}.` : `Migrated ${organisations.length} organisations.`
  if (options.json || options.all) print(options, { dryRun: false, applied, organisations }, said)
}

const sayPending = (pending: string[]) =>
  pending.length === 0 ? 'The schema is up to date.' : `Would apply ${pending.join(', ')}.`

const sayFeed = (feed: 'on' | 'off') =>
  feed === 'on'
    ? 'The feed of changes was switched on: who copies begins with a snapshot.'
    : 'The feed of changes was switched off (FEED_DAYS=0), and what it held is removed: who copies begins anew when it is on again.'

const sayApplied = (applied: string[]) =>
  applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`

const sayBlanks = ({ table, column, count, examples }: BlankTexts) =>
  `${count} rows of ${table} have blanks around their ${column}, which no request can name. They are left as they are: ${examples.join(', ')}${count > examples.length ? ', …' : ''}`
