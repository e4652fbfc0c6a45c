// selectielijst: the selectielijst in the database, out of files with answers of its public API.

import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Command } from 'commander'
import {
  deleteSelectielijst,
  readItems,
  SelectielijstRefused,
  type Summary,
  saveSelectielijst,
  summarise,
} from '../../catalogi/selectielijst-import.ts'
import { systemActor } from '../../core/access.ts'
import { mutator } from '../../core/mutate.ts'
import { lastOf } from '../../database/rows.ts'
import { ownAddress } from '../../http/links.ts'
import { dayOf } from '../../lib/day.ts'
import { changeDatabase, withDatabase } from '../database.ts'
import { formerly } from '../options.ts'
import { fileMissing, print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

const MAX_BYTES = 64 * 1024 * 1024

export function addTo(program: Command): void {
  const selectielijst = program
    .command('selectielijst')
    .description('the selectielijst, by which resultaattypen know how long files are kept')

  const read = selectielijst
    .command('import')
    .description(
      'read files with procestypen, resultaten and resultaattypeomschrijvingen, instead of what was imported before',
    )
    .argument('<file...>', 'JSON files with answers of the API: lists, pages of them or single resources')
    .option('--date <day>', 'the day of the files (default: when they were last changed)')
    .option('--dry-run', 'only say what is in them', false)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
All files together are the selectielijst: what is not in them is not in it any more. A file that holds anything else is refused,
with the reason, and changes nothing. Every process uses it at once.

Example:
  for kind in procestypen resultaten resultaattypeomschrijvingen; do
    curl https://selectielijst.openzaak.nl/api/v1/$kind > $kind.json
  done
  zaakstroom selectielijst import procestypen.json resultaten.json resultaattypeomschrijvingen.json`,
    )
    .action(async (files: string[], options: { date?: string; dryRun: boolean; json?: boolean }) => {
      if (options.date !== undefined && !isDay(options.date)) throw new UsageError('--date is a day such as 2026-03-02')
      const read = await Promise.all(files.map(readSource))
      const datum = options.date ?? lastOf(read.map(({ day }) => day).sort())
      const items = itemsOf(read)
      const summary = { datum, ...summarise(items) }
      if (!options.dryRun)
        await changeDatabase((database, config) =>
          mutator(database)(systemActor('selectielijst import', ownAddress(config)), (m) =>
            saveSelectielijst(m, items, { day: datum, files: files.map((file) => basename(file)) }),
          ),
        )
      print(
        options,
        { dryRun: options.dryRun, ...summary },
        [options.dryRun ? 'Read, not stored:' : 'Imported:', ...linesOf(summary)].join('\n'),
      )
    })

  formerly(read, { '--check': '--dry-run' })

  selectielijst
    .command('show')
    .description('what was imported, and of which day')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom selectielijst show')
    .action(async (options: { json?: boolean }) => {
      const [imported, items] = await withDatabase(async ({ db }) => [
        await db.selectFrom('selectielijstImport').selectAll().executeTakeFirst(),
        await db.selectFrom('selectielijstItem').selectAll().execute(),
      ])
      if (!imported) return print(options, null, 'No selectielijst was imported.')
      const { day: datum, files: bestanden, importedAt: ingelezen } = imported
      const summary = { datum, bestanden, ingelezen, ...summarise(items as Parameters<typeof summarise>[0]) }
      print(options, summary, [`From ${bestanden.join(', ')}:`, ...linesOf(summary)].join('\n'))
    })

  selectielijst
    .command('remove')
    .description('remove what was imported')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom selectielijst remove')
    .action(async (options: { json?: boolean }) => {
      const removed = await changeDatabase((database, config) =>
        mutator(database)(systemActor('selectielijst remove', ownAddress(config)), deleteSelectielijst),
      )
      print(options, { removed }, `Removed ${removed} resources.`)
    })
}

const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))

async function readSource(file: string) {
  const { size, mtime } = await stat(file).catch(fileMissing(file))
  if (size > MAX_BYTES) throw new UsageError(`${file} is larger than ${MAX_BYTES / 1024 / 1024} MB`)
  return { name: basename(file), text: await readFile(file, 'utf8'), day: dayOf(mtime) }
}

function itemsOf(read: { name: string; text: string }[]) {
  try {
    return readItems(read)
  } catch (error) {
    if (error instanceof SelectielijstRefused) throw new UsageError(`nothing was imported\n${error.message}`)
    throw error
  }
}

function linesOf(found: Summary & { datum: string }): string[] {
  const count = (n: number, what: string) => `${String(n).padStart(6)} ${what}`
  return [
    count(found.procestypen, `procestypen${found.jaren.length ? ` (${found.jaren.join(', ')})` : ''}`),
    count(found.resultaten, `resultaten: ${found.vernietigen} vernietigen, ${found.blijvendBewaren} blijvend bewaren`),
    count(found.resultaattypeomschrijvingen, 'resultaattypeomschrijvingen'),
    ...(found.kortsteTermijn ? [`  terms from ${found.kortsteTermijn} to ${found.langsteTermijn}`] : []),
    ...(found.zonderTermijn
      ? [`  ${found.zonderTermijn} to be destroyed have no term: their resultaattypen say it themselves`]
      : []),
    ...(found.onbekendProcestype
      ? [`  ${found.onbekendProcestype} resultaten are of a procestype that is not there`]
      : []),
    `  of ${found.datum}`,
  ]
}
