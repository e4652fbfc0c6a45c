// anonymise: a copy of the database for testing, in which nobody can be recognised.
import type { Command } from 'commander'
import { type CopyReport, copyAnonymised } from '../../anonymise/copy.ts'
import { CopyRefused } from '../../anonymise/refused.ts'
import { requireKnownKeys } from '../../core/key-register.ts'
import { openDatabase } from '../../database/database.ts'
import { refusalOf } from '../../database/reach.ts'
import { isConnectionFault } from '../../jobs/pool.ts'
import { withDatabase } from '../database.ts'
import { ANOTHER_DATABASE, readDatabaseUrl } from '../other-database.ts'
import { findSecretBox } from '../server.ts'
import { print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

export function addTo(program: Command): void {
  program
    .command('anonymise')
    .description('copy the database for testing, with all that is about people replaced')
    .requiredOption('--to <database url>', 'the other database, which has to be empty')
    .option('--files <directory>', 'where files go that stand for the bytes of documents')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Numbers, names, addresses, e-mail, phone numbers, free texts, places and the bytes of documents are replaced: the same value by the
same everywhere, with a key that nobody keeps. Numbers, dates and relations of cases stay. Secrets, sessions, accounts, receivers
of messages, other services, imports and jobs are not in the copy. The report says what became of each column.

The source is read in one snapshot, and goes on. Nothing is written into it. A copy that was stopped has left its database
empty: remove the directory of its files and begin again.

${ANOTHER_DATABASE}

Example:
  zaakstroom anonymise --to postgres://tester@test-db/zaken --files /srv/test-documents
  DATABASE_URL=postgres://tester@test-db/zaken SECRET_KEY=… DOCUMENTEN_DIR=/srv/test-documents zaakstroom api`,
    )
    .action(async (options: { to: string; files?: string; json?: boolean }) => {
      const to = await readDatabaseUrl('--to', options.to)
      const report = await withDatabase(async ({ url, sql }, config) => {
        const box = await findSecretBox(config, false)
        await requireKnownKeys(sql, box)
        await requireReachable(to)
        return copyAnonymised({ url, numbers: box.numbers }, to, options.files, (table, rows) => {
          if (rows > 0 && !options.json) console.error(`${table}: ${rows}`)
        })
      }).catch((error: unknown) => {
        throw error instanceof CopyRefused ? new UsageError(error.message) : error
      })
      print(options, report, textOf(report))
    })
}

/** @throws UsageError when nobody answers there */
async function requireReachable(to: string): Promise<void> {
  const database = openDatabase(to, { max: 1, name: 'anonymise' })
  try {
    await database.sql`select`
  } catch (error) {
    const why = refusalOf(error) ?? (isConnectionFault(error) ? 'it cannot be reached' : undefined)
    throw why === undefined ? error : new UsageError(`the database of --to: ${why}`)
  } finally {
    await database.close()
  }
}

function textOf({ tables, leftOut, files }: CopyReport): string {
  const replaced = tables.flatMap(({ name, replaced }) =>
    Object.entries(replaced).map(([column, count]) => `  ${String(count).padStart(10)}  ${name}.${column}`),
  )
  const rows = tables.reduce((total, { rows }) => total + rows, 0)
  return [
    `Copied ${rows} rows, and made ${files} files. Replaced values by column:`,
    ...replaced,
    'Not in the copy:',
    ...Object.entries(leftOut).map(([name, reason]) => `  ${name}: ${reason}`),
  ].join('\n')
}
