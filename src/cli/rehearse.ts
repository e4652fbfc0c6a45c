// `overnemen oefenen`: the second round, the switch and the way back before the weekend, and a report of it for the project leader.
import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { type Database, readerOf } from '../database/database.ts'
import { openStores } from '../documenten/storage/choose.ts'
import { ownAddress } from '../http/links.ts'
import { makeDry, openJournal } from '../overnemen/playback/journal.ts'
import { play } from '../overnemen/playback/play.ts'
import { NEVER } from '../overnemen/playback/report.ts'
import { wayBackWarnings } from '../overnemen/playback/state.ts'
import { knownCases, meet, openTarget } from '../overnemen/playback/target.ts'
import { planSample, rehearseSwitch } from '../overnemen/rehearsal.ts'
import { beginRound, faultsOf, progressOf } from '../overnemen/round.ts'
import { nameOf, switchWarnings, type Takeover, takeoverOwner } from '../overnemen/takeover.ts'
import { openLog } from '../telemetry/log.ts'
import { changeDatabase, databaseBox } from './database.ts'
import { readNumber } from './options.ts'
import { stopSignal } from './signals.ts'
import { followRound } from './takeover-round.ts'
import { print, readSecret, refuseExisting } from './terminal.ts'
import { UsageError } from './usage.ts'

type Options = {
  to?: string
  client?: string
  secretStdin: boolean
  sample: string
  report?: string
  json: boolean
}
type Shared = {
  readUrl(value: string, protocols: string[], option: string): string
  requireTakeover(database: Database, source: string, trial: boolean): Promise<Takeover>
}
/** What became of the rehearsal; seconds are those of a clock on the wall. */
type Rehearsed = {
  source: string
  round: { round: number; seconds: number; read: number; written: number; refused: number; removed: number }
  refused: { kind: string; code: string; count: number; example: string }[]
  switch: { seconds: number; messagesThrownAway: number; warnings: string[] }
  wayBack?: { seconds: number; compared: number; states: Record<string, number>; never: string[] }
}

export function addRehearsal(overnemen: Command, shared: Shared): void {
  overnemen
    .command('oefenen')
    .description('rehearse the second round, the switch and the way back; at the source it only reads')
    .argument('<source>', 'the source, as `overnemen status` shows it')
    .option('--to <url>', 'address of its APIs before /zaken/api/v1, for the way back; without it that is left out')
    .option('--client <id>', 'with --to: client id there, with heeftAlleAutorisaties')
    .option('--secret-stdin', 'with --to: read the secret of that client from standard input', false)
    .option('--sample <n>', 'with --to: of how many objects of each kind both sides are compared', '100')
    .option('--report <file>', 'write the report (Dutch, Markdown) to this new file')
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      '\nExample:\n  zaakstroom overnemen oefenen https://oud.example.nl --to https://oud.example.nl --client overname --secret-stdin --report oefening.md < overname.secret',
    )
    .action((source: string, options: Options) => rehearse(source, options, shared))
}

async function rehearse(source: string, options: Options, shared: Shared): Promise<void> {
  const { to, client, secretStdin, report, json } = options
  const sample = readNumber(options.sample, '--sample', 1, 10_000)
  const url = to === undefined ? undefined : shared.readUrl(to, ['http:', 'https:'], '--to').replace(/\/+$/, '')
  if (url !== undefined && (client === undefined || !secretStdin))
    throw new UsageError('--to goes with --client and --secret-stdin')
  const secret = url === undefined ? '' : await readSecret()
  const stopped = stopSignal()
  await changeDatabase(async (database, config) => {
    const box = await databaseBox(database, config)
    const log = openLog(config.logLevel)
    const before = await shared.requireTakeover(database, source, false)
    if (before.status !== 'klaar')
      throw new UsageError(`its round is ${before.status}: what is rehearsed is the round after one that is complete`)
    const { eigenUrl: _, ...settings } = before.settings
    const opened = box.open(before.secret, takeoverOwner(before.uuid))
    const given = {
      ...{ kind: before.kind, url: before.kind === 'api' ? before.source : opened, secret: opened },
      ...{ trial: false, readOnly: before.read_only, settings },
    }
    const parts = { database, config, box }
    const begun = performance.now()
    const state = await followRound(
      { ...parts, store: openStores(config, log).store, log },
      () => beginRound(parts, given),
      { url: given.url, naast: settings.naast, stopped, isQuiet: json },
    )
    const seconds = (performance.now() - begun) / 1000
    if (state.status !== 'klaar') throw new UsageError(`the round is ${state.status}: the rehearsal ends here`)
    const steps = await progressOf(database, state)
    const sum = (name: 'seen' | 'written' | 'refused' | 'removed') => steps.reduce((all, step) => all + step[name], 0)
    const faults = await faultsOf(database, state)
    const switched = await rehearseSwitch(database, state)
    const rehearsed: Rehearsed = {
      source: nameOf(given.url),
      round: {
        ...{ round: state.round, seconds, read: sum('seen'), written: sum('written') },
        ...{ refused: sum('refused'), removed: sum('removed') },
      },
      refused: faults
        .filter(({ outcome }) => outcome === 'geweigerd')
        .map(({ kind, code, aantal, voorbeeld }) => ({ kind, code, count: aantal, example: voorbeeld })),
      switch: {
        seconds: switched?.seconds ?? 0,
        messagesThrownAway: switched?.removed ?? 0,
        warnings: [...(await switchWarnings(database.sql)), ...(await wayBackWarnings(database.sql))],
      },
      ...(url !== undefined && {
        wayBack: await comparedThere(database, state, {
          ...{ url, clientId: client ?? '', secret, sample, stopped },
          ...{ base: ownAddress(config), stores: openStores(config, openLog('silent')) },
        }),
      }),
    }
    const text = reportOf(rehearsed)
    if (report !== undefined) await writeFile(report, text, { flag: 'wx', mode: 0o600 }).catch(refuseExisting(report))
    print(options, rehearsed, report === undefined ? text : `The report is in ${report}.`)
    const isWell = Object.keys(rehearsed.wayBack?.states ?? {}).every((state) => state === 'equal')
    if (rehearsed.round.refused > 0 || !isWell) process.exitCode = 1
  }, 6)
}

/** What was taken over, held against what stands there as the way back would. */
async function comparedThere(
  database: Database,
  takeover: Takeover,
  given: {
    url: string
    clientId: string
    secret: string
    sample: number
    stopped: AbortSignal
    base: string
    stores: ReturnType<typeof openStores>
  },
): Promise<NonNullable<Rehearsed['wayBack']>> {
  const { url, base, stores, sample, stopped } = given
  const target = openTarget(given)
  const connection = await database.sql.reserve()
  const begun = performance.now()
  try {
    const status = await meet(target, await knownCases(connection, takeover.id))
    if (status !== 200) throw new UsageError(`there are no cases at --to: it answers with status ${status}`)
    await makeDry(connection)
    const journal = openJournal(connection, await planSample(connection, takeover, url, sample))
    await play({ reader: readerOf(database), stores, base, target, journal, dry: true }, stopped, () => {})
    const states: Record<string, number> = {}
    for (const { state, count } of await journal.counts()) states[state] = (states[state] ?? 0) + count
    const compared = Object.values(states).reduce((all, count) => all + count, 0)
    return {
      ...{ seconds: (performance.now() - begun) / 1000, compared, states },
      never: NEVER.map(({ wat, text }) => `${wat}: ${text}`),
    }
  } finally {
    await connection`discard temp`
    connection.release()
    await target.close()
  }
}

const told = (seconds: number) =>
  seconds < 90 ? `${seconds.toFixed(1).replace('.', ',')} seconden` : `${Math.ceil(seconds / 60)} minuten`

/** For the project leader, in Dutch. */
function reportOf({ source, round, refused, switch: switched, wayBack }: Rehearsed): string {
  return [
    `# Oefening van de omschakeling vanuit ${source}`,
    '',
    '| Stap | Duur | Uitkomst |',
    '| --- | --- | --- |',
    `| Ronde ${round.round} | ${told(round.seconds)} | ${round.read} gelezen, ${round.written} geschreven, ${round.removed} verwijderd, ${round.refused} geweigerd |`,
    `| Omschakelen (teruggedraaid) | ${told(switched.seconds)} | ${switched.messagesThrownAway} wachtende meldingen zouden vervallen |`,
    wayBack
      ? `| Terugweg (alleen gelezen) | ${told(wayBack.seconds)} | ${wayBack.compared} objecten vergeleken: ${statesOf(wayBack.states)} |`
      : '| Terugweg | | niet geoefend: geef --to |',
    '',
    ...(switched.warnings.length > 0
      ? ['## Voor de omschakeling', '', ...switched.warnings.map((one) => `- ${one}`), '']
      : []),
    ...(refused.length > 0
      ? [
          '## Wat niet is overgenomen',
          '',
          ...refused.map((one) => `- ${one.count} × ${one.kind} (${one.code}): ${one.example}`),
          '',
        ]
      : []),
    ...(wayBack ? ['## Wat nooit teruggaat', '', ...wayBack.never.map((one) => `- ${one}`), ''] : []),
  ].join('\n')
}

const STATES: Record<string, string> = { equal: 'gelijk', refused: 'niet te vergelijken', changed: 'anders' }
const statesOf = (states: Record<string, number>) =>
  Object.entries(states)
    .map(([state, count]) => `${count} ${STATES[state] ?? state}`)
    .join(', ')
