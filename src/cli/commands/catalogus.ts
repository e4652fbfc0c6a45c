// catalogus: catalogues and zaaktypen as ZIP files.
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { exportCatalogus, exportZaaktype } from '../../catalogi/package/export.ts'
import { importPackage } from '../../catalogi/package/import.ts'
import { readPackage } from '../../catalogi/package/read.ts'
import { openSelectielijst } from '../../catalogi/selectielijst.ts'
import { systemActor } from '../../core/access.ts'
import { mutator } from '../../core/mutate.ts'
import type { ReadDb } from '../../database/database.ts'
import { ownAddress } from '../../http/links.ts'
import { isUuid } from '../../lib/uuid.ts'
import { openServices } from '../../services/services.ts'
import { openLog } from '../../telemetry/log.ts'
import { databaseBox, planned, withDatabase } from '../database.ts'
import { DRY_RUN } from '../options.ts'
import { planning } from '../plan.ts'
import { fileMissing, print, writeNew } from '../terminal.ts'
import { UsageError } from '../usage.ts'

const MOST_BYTES = 512 * 1024 * 1024 // a command bothers nobody else

export function addTo(program: Command): void {
  const catalogus = program.command('catalogus').description('catalogues and zaaktypen as ZIP files')
  catalogus
    .command('export')
    .description('write a catalogue, or one version of a zaaktype with what belongs to it, to a ZIP file')
    .argument('<file>', 'ZIP file to write, which is not there yet; - is standard output')
    .option('--catalogus <uuid>', 'uuid of the catalogue')
    .option('--zaaktype <uuid>', 'uuid of the zaaktype')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  zaakstroom catalogus export typen.zip --catalogus 7c0f3a52-4d6e-4c6f-9a39-0b6f5a4f5f0e',
    )
    .action(async (file: string, options: { catalogus?: string; zaaktype?: string; json?: boolean }) => {
      const uuid = options.catalogus ?? options.zaaktype ?? ''
      if ((options.catalogus === undefined) === (options.zaaktype === undefined))
        throw new UsageError('give either --catalogus or --zaaktype')
      if (!isUuid(uuid)) throw new UsageError('a uuid looks like 7c0f3a52-4d6e-4c6f-9a39-0b6f5a4f5f0e')
      if (file === '-' && options.json)
        throw new UsageError('with - standard output holds the ZIP file: leave out --json')
      const bytes = await withDatabase(async (database, config) => {
        const db = database.db as unknown as ReadDb
        const zip = await (options.catalogus ? exportCatalogus : exportZaaktype)(
          db,
          ownAddress(config),
          uuid.toLowerCase(),
        )
        return zip && buffer(zip)
      })
      if (!bytes) throw new UsageError(`there is no ${options.catalogus ? 'catalogue' : 'zaaktype'} ${uuid}`)
      if (file === '-') return void (await pipeline([bytes], process.stdout, { end: false }))
      await writeNew(file, bytes)
      print(options, { file, bytes: bytes.length }, `Wrote ${bytes.length} bytes to ${file}.`)
    })
  catalogus
    .command('import')
    .description('take the types in a ZIP file over, as concepts: all of it or nothing')
    .argument('<file>', 'ZIP file of this or another service')
    .option('--catalogus <uuid>', 'catalogue that takes the types of the file; unset: that of the file is made')
    .option('--domein <code>', 'with --rsin: domein of the catalogue that is made, instead of that of the file')
    .option('--rsin <number>', 'with --domein: RSIN of the catalogue that is made')
    .option('--keep-uuids', 'keep the uuids of the file instead of making new ones', false)
    .option('--new-types', 'make informatieobjecttypen and besluittypen also where the catalogue has them', false)
    .option('--prefix <text>', 'put before the identificatie of every zaaktype, with an underscore')
    .option(...DRY_RUN)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom catalogus import typen.zip --dry-run')
    .action(
      async (
        file: string,
        options: {
          catalogus?: string
          domein?: string
          rsin?: string
          keepUuids: boolean
          newTypes: boolean
          prefix?: string
          dryRun?: boolean
          json?: boolean
        },
      ) => {
        const { domein, rsin } = options
        if ((domein === undefined) !== (rsin === undefined)) throw new UsageError('give --domein and --rsin together')
        if (options.catalogus !== undefined && domein !== undefined)
          throw new UsageError('give either --catalogus or --domein and --rsin')
        if (options.catalogus !== undefined && !isUuid(options.catalogus))
          throw new UsageError('a uuid looks like 7c0f3a52-4d6e-4c6f-9a39-0b6f5a4f5f0e')
        const pack = await readPackage(await readFile(file).catch(fileMissing(file)), MOST_BYTES)
        const imported = await planned(options)(async (database, config) => {
          const log = openLog('silent')
          const services = openServices(database, await databaseBox(database, config), config, log)
          try {
            const selectielijst = await openSelectielijst(config, services, database.db as unknown as ReadDb)
            const actor = systemActor('catalogus import', ownAddress(config))
            return await importPackage(planning(options, mutator(database)), actor, selectielijst, pack, {
              keepUuids: options.keepUuids,
              newTypes: options.newTypes,
              ...(options.catalogus && { catalogusUuid: options.catalogus.toLowerCase() }),
              ...(domein !== undefined && rsin !== undefined && { catalogusAs: { domein, rsin } }),
              ...(options.prefix && { identificatiePrefix: options.prefix }),
            })
          } finally {
            await services.close()
          }
        })
        const lines = Object.entries(imported.made).map(
          ([resource, count]) => `${String(count).padStart(6)} ${resource}`,
        )
        const short = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
        if (imported.changes.length > 0) lines.push('Changed or left out:')
        for (const { resource, label, field, given, taken } of imported.changes)
          lines.push(
            `  ${resource} ${label}: ${field} ${short(given)} -> ${taken === null ? 'left out' : short(taken)}`,
          )
        const done = options.dryRun ? 'Would be made, as concepts:' : 'Made, as concepts:'
        print(options, { dryRun: options.dryRun === true, ...imported }, [done, ...lines].join('\n'))
      },
    )
}
