// migrate: the schema of the database.
import type { Command } from 'commander'
import { type Config, ConfigError, readConfig } from '../../config.ts'
import { type BlankTexts, findBlankTexts } from '../../database/blank-texts.ts'
import { openDatabase } from '../../database/database.ts'
import { migrateControl } from '../../database/migrate.ts'
import { makeOrganisation } from '../../organisations/make.ts'
import { type Migrated, migrateAll } from '../../organisations/migrate-all.ts'
import { configOf } from '../../organisations/organisation.ts'
import { controlUrlOf, openControl, readOrganisations } from '../../organisations/registry.ts'
import { openLog } from '../../telemetry/log.ts'
import { describePlace, placeOf } from '../place.ts'
import { findSecretBox, openServer } from '../server.ts'
import { print } from '../terminal.ts'

export function addTo(program: Command): void {
  program
    .command('migrate')
    .description('bring the database to the schema of this version')
    .option('--all', 'those of all organisations, one after the other (needs CONTROL_DATABASE_URL)')
    .option('--json', 'print JSON')
    .action(async (options: { all?: boolean; json?: boolean }) => {
      const config = readConfig(process.env)
      const { controlDatabaseUrl } = config
      if (controlDatabaseUrl) return migrateMany(config, controlDatabaseUrl, options)
      if (options.all) throw new ConfigError(['CONTROL_DATABASE_URL is required'])
      const server = await openServer(config, openLog(config.logLevel))
      console.error(`zaakstroom: changes ${describePlace(placeOf(config, server.url))}`)
      try {
        const applied = await makeOrganisation(server.url, { hasFeed: config.feedDays > 0 })
        const database = openDatabase(server.url, { max: 1, name: 'migrate' })
        const blankTexts = await findBlankTexts(database.sql).finally(database.close)
        print(options, { applied, blankTexts }, [sayApplied(applied), ...blankTexts.map(sayBlanks)].join('\n'))
      } finally {
        await server.stop()
      }
    })
}

/** The registry, and with `all` every organisation in it. The exit code is 1 when one failed. */
async function migrateMany(config: Config, url: string, options: { all?: boolean; json?: boolean }): Promise<void> {
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
  if (options.json || options.all) print(options, { applied, organisations }, said)
}

const sayApplied = (applied: string[]) =>
  applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`

const sayBlanks = ({ table, column, count, examples }: BlankTexts) =>
  `${count} rows of ${table} have blanks around their ${column}, which no request can name. They are left as they are: ${examples.join(', ')}${count > examples.length ? ', …' : ''}`
