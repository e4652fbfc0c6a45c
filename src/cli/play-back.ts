// `overnemen terugspelen`: what changed here since the switch is played to the APIs of the old installation.
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { type Database, readerOf } from '../database/database.ts'
import { openStores } from '../documenten/storage/choose.ts'
import { ownAddress } from '../http/links.ts'
import { reasonOf, untilThere, type Waiting } from '../overnemen/patience.ts'
import { makeDry, NoWayBack, openJournal, planPlayback } from '../overnemen/playback/journal.ts'
import { play } from '../overnemen/playback/play.ts'
import { NEVER, playbackCsv } from '../overnemen/playback/report.ts'
import { knownCases, meet, openTarget } from '../overnemen/playback/target.ts'
import { SourceUnavailable } from '../overnemen/source.ts'
import { nameOf } from '../overnemen/takeover.ts'
import { openLog } from '../telemetry/log.ts'
import { changeDatabase, databaseBox } from './database.ts'
import { formerly, readMoment, readNumber } from './options.ts'
import { readSecret } from './terminal.ts'
import { UsageError } from './usage.ts'

type Options = {
  to: string
  since: string
  source?: string
  client: string
  rate?: string
  dryRun: boolean
  report?: string
  json: boolean
}
type Switched = { id: number; source: string; switched_at: string | null; switch_snapshot: string | null }

/** What the commands of takeovers share. */
export type Shared = {
  readUrl(value: string, protocols: string[], option: string): string
  stopSignal(): AbortSignal
  waiting: Waiting
}

export function addPlayback(overnemen: Command, shared: Shared): void {
  const back = overnemen
    .command('terugspelen')
    .description(
      'the way back: plays what changed here since the switch to the APIs of the old installation; run it again to go on',
    )
    .requiredOption('--to <url>', 'its address, before /zaken/api/v1')
    .option('--since <moment>', 'switch, or a moment (2026-01-31T12:00:00Z)', 'switch')
    .option(
      '--source <source>',
      'which takeover, as `overnemen status` shows it; without it the only one that was switched',
    )
    .requiredOption('--client <id>', 'client id there, with heeftAlleAutorisaties')
    .requiredOption('--secret-stdin', 'read the secret of that client from standard input')
    .option('--rate <n>', 'at most so many requests a second')
    .option('--dry-run', 'dry run: nothing is changed there, and nothing is kept here', false)
    .option('--report <file>', 'write what did not go back, and what stands elsewhere there, to this CSV file')
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      '\nExample:\n  zaakstroom overnemen terugspelen --to https://oud.example.nl --client terug --secret-stdin --dry-run < terug.secret',
    )
    .action((options: Options) => playBack(options, shared))
  formerly(back, {
    ...{ '--naar': '--to', '--vanaf': '--since', '--bron': '--source' },
    ...{ '--tempo': '--rate', '--proef': '--dry-run', '--rapport': '--report' },
  })
}

async function playBack(options: Options, { readUrl, stopSignal, waiting }: Shared): Promise<void> {
  const { since, dryRun: dry, client, report, json } = options
  const url = readUrl(options.to, ['http:', 'https:'], '--to').replace(/\/+$/, '')
  const tempo = options.rate === undefined ? undefined : readNumber(options.rate, '--rate', 1, 1_000_000)
  const moment = ['switch', 'omschakeling'].includes(since) ? undefined : readMoment(since, '--since').toISOString()
  const secret = await readSecret()
  const stopped = stopSignal()
  await changeDatabase(async (database, config) => {
    await databaseBox(database, config)
    const base = ownAddress(config)
    if (url === base) throw new UsageError('--to is the address of this installation itself')
    const takeover = await findSwitched(database, options.source)
    const target = openTarget({ url, clientId: client, secret, tempo })
    const connection = await database.sql.reserve()
    try {
      const [lock] = await connection<
        { free: boolean }[]
      >`select pg_try_advisory_lock(hashtext(current_schema() || ' terugspelen')) as free`
      if (!lock?.free) throw new UsageError('another command plays back at this moment')
      await requireThere(target, await knownCases(connection, takeover.id))
      if (dry) await makeDry(connection)
      const sql = dry ? connection : database.sql
      const journal = openJournal(sql, await planPlayback(sql, takeover, nameOf(url), { moment }))
      const playback = {
        ...{ reader: readerOf(database), stores: openStores(config, openLog('silent')), base, target, journal, dry },
      }
      try {
        await untilThere(() => play(playback, stopped, json ? () => {} : tellEach()), waiting, stopped)
      } catch (error) {
        if (!stopped.aborted) throw error
        process.exitCode = 1
      } finally {
        if (report) await pipeline(playbackCsv(journal), createWriteStream(report, { mode: 0o600 }))
      }
      const counts = await journal.counts()
      if (json) console.log(JSON.stringify({ since: moment ?? 'switch', counts, never: NEVER }))
      else
        console.log(
          [
            ...(moment ? [`Changed since ${moment}:`] : []),
            ...linesOf(counts),
            ...NEVER.map(({ wat, text }) => `  ${wat.padEnd(16)}${text}`),
          ].join('\n'),
        )
      if (counts.some(({ state }) => !['created', 'changed', 'deleted', 'equal'].includes(state))) process.exitCode = 1
    } catch (error) {
      throw error instanceof NoWayBack ? new UsageError(error.message) : error
    } finally {
      await connection`discard temp`
      connection.release()
      await target.close()
    }
  }, 4)
}

/** @throws UsageError when it does not answer as a service of the standard, or does not know the client */
async function requireThere(target: ReturnType<typeof openTarget>, known: string[]): Promise<void> {
  const status = await meet(target, known).catch((error) => {
    if (!(error instanceof SourceUnavailable)) throw error
    throw new UsageError(reasonOf(`SourceUnavailable ${error.code}`, 'en'))
  })
  if (status === 403) throw new UsageError('the client may not read cases there: give it heeftAlleAutorisaties')
  if (status !== 200) throw new UsageError(`there are no cases at --to: it answers with status ${status}`)
}

async function findSwitched({ sql }: Pick<Database, 'sql'>, source: string | undefined): Promise<Switched> {
  const name = source !== undefined && URL.canParse(source) ? nameOf(source) : source
  const found = await sql<Switched[]>`
    select id, source, switched_at, switch_snapshot from takeover
    where status = 'omgeschakeld' and not trial and (${name ?? null}::text is null or source = ${name ?? ''} or uuid::text = ${name ?? ''})
    order by id desc limit 2`
  if (found.length > 1) throw new UsageError('more than one takeover was switched: name one with --source')
  const [switched] = found
  if (!switched) throw new UsageError('no takeover was switched: until then nothing has to go back')
  return switched
}

type Counts = Awaited<ReturnType<ReturnType<typeof openJournal>['counts']>>
function linesOf(counts: Counts): string[] {
  const kinds = [...Map.groupBy(counts, ({ resource }) => resource)]
  const lines = kinds.map(([resource, rows]) => {
    const remarks = rows.reduce((sum, row) => sum + row.remarks, 0)
    const states = rows.map(({ state, count }) => `${count} ${state === 'refused' ? 'REFUSED' : state}`)
    return `  ${resource.padEnd(30)}${[...states, ...(remarks > 0 ? [`${remarks} remarks`] : [])].join(', ')}`
  })
  return lines.length > 0 ? lines : ['Nothing changed since the switch.']
}

/** How many were done, on stderr, at most every two seconds. */
function tellEach(): () => void {
  let [count, last] = [0, performance.now()]
  return () => {
    count++
    if (performance.now() - last < 2000) return
    last = performance.now()
    console.error(`${count} looked at`)
  }
}
