// migrate: the schema of the database.
import type { Command } from 'commander'
import { readConfig } from '../../config.ts'
import { type BlankTexts, findBlankTexts } from '../../database/blank-texts.ts'
import { openDatabase } from '../../database/database.ts'
import { makeOrganisation } from '../../organisations/make.ts'
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
        const applied = await makeOrganisation(server.url, { hasFeed: config.feedDays > 0 })
        const database = openDatabase(server.url, { max: 1, name: 'migrate' })
        const blankTexts = await findBlankTexts(database.sql).finally(database.close)
        const said = applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`
        print(options, { applied, blankTexts }, [said, ...blankTexts.map(sayBlanks)].join('\n'))
      } finally {
        await server.stop()
      }
    })
}

const sayBlanks = ({ table, column, count, examples }: BlankTexts) =>
  `${count} rows of ${table} have blanks around their ${column}, which no request can name. They are left as they are: ${examples.join(', ')}${count > examples.length ? ', …' : ''}`
