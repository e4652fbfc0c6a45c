// The subcommands on the document storage.
import type { Command } from 'commander'
import { BACKENDS, type Backend } from '../../config/storage.ts'
import { type Config, ConfigError } from '../../config.ts'
import { one } from '../../database/rows.ts'
import { type CheckResult, checkStorage } from '../../documenten/storage/check.ts'
import { isBackend, openStores, prepareNewStore } from '../../documenten/storage/choose.ts'
import { moveBytes } from '../../documenten/storage/migrate.ts'
import { claimStore, requireOwnStore } from '../../documenten/storage/owner.ts'
import { otherWriters, releaseClaim, type Writer } from '../../documenten/storage/writers.ts'
import { changeDatabase, withDatabase } from '../database.ts'
import { DRY_RUN } from '../options.ts'
import { stopSignal } from '../signals.ts'
import { openListing, print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

export function addTo(program: Command): void {
  const storage = program.command('storage').description('where documents are kept')

  storage
    .command('migrate')
    .description('move all documents to one backend, also while the service runs')
    .requiredOption('--to <backend>', BACKENDS.join(', '))
    .option(...DRY_RUN)
    .option('--no-wait', 'end when all has moved, also while a process still writes to another store')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Set DOCUMENTEN_API_BACKEND to the new backend first, and keep the settings of the old one: new documents then go to the
new one, and those that have not moved are read from the old one. Processes may be replaced one by one, also during an
import: it ends when nothing is left in another store and no process writes there any more. The old bytes are removed
after an hour, by a worker. It may be stopped at any moment, and goes on when it is run again.

Example:
  zaakstroom storage migrate --to s3_storage`,
    )
    .action(async (options: { to: string; wait?: boolean; dryRun?: boolean; json?: boolean }) => {
      const { to } = options
      if (!isBackend(to)) throw new UsageError(`--to is one of ${BACKENDS.join(', ')}`)
      if (options.dryRun) return planMove(to, options)
      const interrupted = stopSignal(new Error('stopped; what is left moves when it is run again'))
      await changeDatabase(async (database, config) => {
        requireSettings(config, to)
        if (config.documentenBackend !== to)
          console.error(`Note: new documents still go to ${config.documentenBackend} (DOCUMENTEN_API_BACKEND).`)
        await prepareNewStore(config, database, to)
        const parts = { database, ...openStores(config, toStderr) }
        await parts.storeFor(to).check() // also when there is nothing to move: one that is not mounted is no place to be
        await claimStore(database.sql, parts.storeFor(to))
        await releaseClaim(database.sql, parts.storeFor(to).identity) // it writes nothing new
        const before = one(
          await database.sql<{ total: number }[]>`
          select count(*)::bigint as total from file where backend <> ${to}`,
        )
        const tell = progress()
        const faults = openListing('faults')
        const report: Parameters<typeof moveBytes>[2] = ({ moved, failed }, fault) => {
          if (fault && options.json) faults.add(fault)
          else if (fault) console.error(`${fault.backend} ${fault.key}: ${WORDS[fault.kind]}`)
          tell(`${moved + failed} of ${before.total} documents`)
        }
        const waits = told((writers: Writer[]) => {
          const who = writers.map(({ name, backend }) => `${name} (${backend})`).join(', ')
          const text = `All has moved, and these processes still write to another store: ${who}. Start them with DOCUMENTEN_API_BACKEND=${to}; what they write moves meanwhile.`
          console.error(options.json ? JSON.stringify({ waitsFor: writers }) : text)
        })
        const following = { signal: interrupted, ...(options.wait !== false && { waits }) }
        const { moved, bytes, failed } = await moveBytes(parts, to, report, following)
        const text = `Moved ${moved} documents (${bytes} bytes) to ${to}.${failed ? ` ${failed} could not be moved: see \`storage check --verify\`.` : ''}`
        if (options.json) faults.end({ dryRun: false, moved, bytes, failed })
        else console.log(text)
        if (failed > 0) process.exitCode = 1
      })
    })

  storage
    .command('check')
    .description(
      'find bytes without documents, and documents whose bytes are absent or changed; changes nothing by itself',
    )
    .option('--verify', 'read all bytes and compare checksums')
    .option('--repair', 'mend what can be mended, see below')
    .option('--remove-most', 'with --repair: remove bytes without a document also when they are most of what is stored')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
--repair
  removes bytes that are older than a day and have no document, and what interrupted writes left behind;
  lets a document whose bytes are gone or changed use a copy of them in another backend that is in use;
  notes which documents have no bytes, so that the pages warn, and that they are back when they are.
It never changes or deletes a document, never writes bytes, and removes none that belong to a document. Nothing is removed from
a store where most bytes have no document: that looks like the wrong database. Put bytes back by copying them, under their own
name, from a backup; then run it again.

Exit codes: 0 all is well (or was repaired), 1 something is wrong.

Example:
  zaakstroom storage check --verify`,
    )
    .action(async (options: { verify?: boolean; repair?: boolean; removeMost?: boolean; json?: boolean }) => {
      if (options.removeMost && !options.repair) throw new UsageError('--remove-most goes with --repair')
      const on = options.repair ? changeDatabase : withDatabase
      await on(async (database, config) => {
        const tell = progress()
        const findings = openListing('findings')
        const outcome = await checkStorage(
          { database, ...openStores(config, toStderr) },
          {
            ...options,
            report: (found) => {
              const line = `${found.backend} ${found.key}: ${WORDS[found.kind]}${found.repaired ? ', repaired' : ''}`
              if (options.json) findings.add(found)
              else console.log(line)
            },
            progress: ({ documents, stored }) => tell(`listed ${stored} files, checked ${documents} documents`),
          },
        )
        if (options.json) findings.end(outcome)
        else console.log(inWords(outcome, options.repair === true))
        if (outcome.found > outcome.repaired) process.exitCode = 1
      })
    })
}

/** What a move would move, to where it could. */
async function planMove(to: Backend, options: { json?: boolean }): Promise<void> {
  await withDatabase(async (database, config) => {
    requireSettings(config, to)
    const { storeFor } = openStores(config, toStderr)
    const [known] = await database.sql`select from file where backend = ${to} limit 1`
    if (known || to !== 'filesystem') {
      await storeFor(to).check() // a directory without documents is made first
      await requireOwnStore(database.sql, storeFor(to))
    }
    const rows = await database.sql<{ backend: string; documents: number; bytes: number }[]>`
      select backend, count(*)::bigint as documents, sum(size)::bigint as bytes from file
      where backend <> ${to} group by 1 order by 1`
    const lines = rows.map(
      ({ backend, documents, bytes }) => `  ${documents} documents (${bytes} bytes) from ${backend}`,
    )
    const writers = await otherWriters(database.sql, to)
    for (const { name, backend } of writers) lines.push(`  ${name} still writes to ${backend}`)
    const text = rows.length > 0 ? `Would move to ${to}:` : `All documents are in ${to}.`
    print(options, { dryRun: true, to, from: [...rows], writers: [...writers] }, [text, ...lines].join('\n'))
  })
}

/** What was found and done, for people. */
function inWords(outcome: CheckResult, repair: boolean): string {
  const { documents, stored, found, repaired, recent, refused, unfinished, removed, relinked, noted, back } = outcome
  const lines = [`${documents} documents, ${stored} files in storage: ${found} wrong, ${repaired} of these repaired.`]
  if (recent > 0)
    lines.push(`${recent} files without a document were not noted a day ago, or an import runs: they were left.`)
  if (repair) {
    const done = [
      removed > 0 && `removed ${removed} files without a document`,
      unfinished > 0 && `removed ${unfinished} unfinished writes`,
      relinked > 0 && `${relinked} documents use their copy in another backend`,
      noted > 0 && `noted that ${noted} more documents lack their bytes`,
      back > 0 && `noted that the bytes of ${back} documents are back`,
    ].filter((text) => text !== false)
    lines.push(done.length > 0 ? `Done: ${done.join('; ')}.` : 'Nothing was changed.')
  }
  for (const backend of refused)
    lines.push(
      `Removed nothing from ${backend}: most of what it holds has no document. Is this the right database? See --remove-most.`,
    )
  return lines.join('\n')
}

const WORDS = {
  orphan: 'bytes without a document',
  missing: 'a document without bytes',
  size: 'not the size of the document',
  damaged: 'not the bytes that were stored',
}

function requireSettings(config: Config, backend: string): void {
  if (backend === 's3_storage' && !config.s3) throw new ConfigError(['the settings of S3 (S3_…) are required'])
  if (backend === 'azure_blob_storage' && !config.azure)
    throw new ConfigError(['AZURE_ACCOUNT_NAME or AZURE_CONNECTION_STRING is required'])
}

const toStderr = {
  error: (fields: object, text?: string) => console.error(`zaakstroom: ${text} (${Object.values(fields).join(' ')})`),
}

/** A line on stderr, at most every two seconds. */
function progress(): (text: string) => void {
  let toldAt = performance.now()
  return (text) => {
    if (performance.now() - toldAt < 2000) return
    toldAt = performance.now()
    console.error(text)
  }
}

/** Tells something at once, and again every half minute as long as it is so. */
function told<T>(tell: (what: T) => void): (what: T) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  return (what) => {
    if (performance.now() - toldAt < 30_000) return
    toldAt = performance.now()
    tell(what)
  }
}
