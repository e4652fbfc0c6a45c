// The subcommands that take over another installation. Jobs do the work: those of this process, and of every worker.

import type { Command } from 'commander'
import type { Logger } from 'pino'
import { readConfig } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import { openStores, prepareNewStore } from '../../documenten/storage/choose.ts'
import { prepareNrc } from '../../nrc/start.ts'
import { apiClient } from '../../overnemen/api/client.ts'
import { API_NAMES, type Roots } from '../../overnemen/api/roots.ts'
import { checkTakeover, type Difference } from '../../overnemen/check.ts'
import { NoContents, openContents } from '../../overnemen/contents.ts'
import {
  NotOpenNotificaties,
  readNotificationsApi,
  readNotificationsDatabase,
} from '../../overnemen/open-zaak/notifications.ts'
import { reasonOf } from '../../overnemen/patience.ts'
import { wayBackWarnings } from '../../overnemen/playback/state.ts'
import { beginRound, faultsOf, progressOf } from '../../overnemen/round.ts'
import { SourceUnavailable } from '../../overnemen/source.ts'
import { takeSubscribers } from '../../overnemen/subscribers.ts'
import {
  endDryRun,
  nameOf,
  stopTakeover,
  switchOver,
  switchWarnings,
  type Takeover,
  type TakeoverParts,
} from '../../overnemen/takeover.ts'
import { lossesOnWayBack } from '../../overnemen/way-back.ts'
import { logDestination, openLog } from '../../telemetry/log.ts'
import { changeDatabase, databaseBox, withDatabase } from '../database.ts'
import { formerly, readChoice, readNumber, YES } from '../options.ts'
import { ANOTHER_DATABASE, readDatabaseUrl } from '../other-database.ts'
import { openOwnAnswers } from '../own-answers.ts'
import { openOwnSource } from '../own-source.ts'
import { addPlayback } from '../play-back.ts'
import { addRehearsal } from '../rehearse.ts'
import { stopSignal } from '../signals.ts'
import {
  answersLine,
  comparedLine,
  faultLine,
  headline,
  progressLine,
  publicOf,
  tellCheck,
  typeLine,
} from '../takeover-lines.ts'
import { writeReport } from '../takeover-report.ts'
import { followRound, tellWaiting } from '../takeover-round.ts'
import { confirm, print, readSecret } from '../terminal.ts'
import { UsageError } from '../usage.ts'

type Options = {
  dryRun: boolean
  check: boolean
  sample: string
  answers: string
  oldUrl: string[]
  parallel: string
  rate?: string
  bytes: string
  rd?: string
  writable: boolean
  everything: boolean
  report?: string
  json: boolean
}

type OpenZaakOptions = Options & {
  database: string
  files?: string
  oldApi?: string
  client?: string
  secretStdin: boolean
}
type ApiOptions = Options & { client: string; apiAddress: string[]; tokenUrl?: string }
type MergeOptions = Options & { via?: string; clashes?: string; clients: string }
/** The APIs of the old installation, and a client of them. */
type OldApi = { url: string; clientId: string; secret: string; via?: string | undefined } & Apart
/** Of an installation whose APIs do not stand below one address. */
type Apart = { roots?: Roots | undefined; tokenUrl?: string | undefined }

export function addTo(program: Command): void {
  const overnemen = program
    .command('overnemen')
    .description('take over the data of another installation')
    .addHelpText(
      'after',
      `
Run it as often as needed: each round brings what changed since the one before and removes what is gone. A round that was
cut short goes on where it was. Exit code 0: the round is complete; 1: it is not; 64, 69: see zaakstroom --help.`,
    )

  common(
    overnemen
      .command('open-zaak')
      .description('from the database of Open Zaak (1.2x to 1.30) and its document store')
      .requiredOption('--database <url>', 'its database, with a role that may only read')
      .option('--files <place>', 'its document store: a directory, s3://bucket/prefix or azure://container/prefix')
      .option('--old-api <url>', 'with --check: its address before /zaken/api/v1, to compare the answers of both APIs')
      .option('--client <id>', 'with --old-api: client id there, with heeftAlleAutorisaties')
      .option('--secret-stdin', 'with --old-api: read the secret of that client from standard input', false)
      .addHelpText(
        'after',
        `\n${ANOTHER_DATABASE}\n\nExample:\n  zaakstroom overnemen open-zaak --database postgres://lezer@oud-db.example.nl/openzaak --files /mnt/oud --dry-run --report rapport.csv`,
      ),
    { '--bestanden': '--files', '--oude-api': '--old-api' },
  ).action(async (options: OpenZaakOptions) => {
    const url = await readDatabaseUrl('--database', options.database)
    const from = { kind: 'open-zaak' as const, url, secret: url, bestanden: options.files }
    await takeOver(options, from, await readOldApi(options))
  })

  common(
    overnemen
      .command('api')
      .description('from any service of the standard, through its APIs')
      .argument('<url>', 'its address, before /zaken/api/v1')
      .requiredOption('--client <id>', 'client id there, with heeftAlleAutorisaties')
      .requiredOption('--secret-stdin', 'read the secret of that client from standard input')
      .option(
        '--api-address <name=url>',
        'address of one API when they do not stand below one (zaken=https://zaken.example.nl/api/v1; again for each)',
        collect,
        [],
      )
      .option('--token-url <url>', 'where tokens come from, by client credentials; the client signs its own otherwise')
      .addHelpText(
        'after',
        '\nExample:\n  zaakstroom overnemen api https://oud.example.nl --client overname --secret-stdin --dry-run < overname.secret',
      ),
  ).action(async (address: string, options: ApiOptions) => {
    const url = readUrl(address, ['http:', 'https:'], 'the address')
    const roots = readRoots(options.apiAddress)
    const tokenUrl =
      options.tokenUrl === undefined ? undefined : readUrl(options.tokenUrl, ['http:', 'https:'], '--token-url')
    const there = { url, roots, tokenUrl, clientId: options.client, secret: await readSecret() }
    await takeOver(options, { kind: 'api', ...there }, there)
  })

  common(
    overnemen
      .command('zaakstroom')
      .description('from another organisation of this installation, which has to be served meanwhile')
      .argument('<rsin>', 'its RSIN; ORGANISATION is the one that takes over')
      .option('--via <url>', 'where this installation answers, when the public name of the other one cannot be reached')
      .option('--clashes <how>', 'refuse: what stands here stays, as the dry run told of each')
      .option(
        '--clients <how>',
        'a client id at both: apart (it keeps its rights of here) or together (it gets both)',
        'apart',
      )
      .addHelpText('after', '\nExample:\n  ORGANISATION=001234567 zaakstroom overnemen zaakstroom 007654321 --dry-run'),
    { '--botsingen': '--clashes' },
  ).action(async (rsin: string, options: MergeOptions) => {
    const { organisation } = readConfig(process.env)
    if (!organisation || organisation === rsin) throw new UsageError('ORGANISATION is the RSIN of the other one')
    const { clashes } = options
    if (clashes !== undefined) readChoice(clashes, '--clashes', ['refuse'], { weigeren: 'refuse' })
    const clients = readChoice(options.clients, '--clients', ['apart', 'together'], { samen: 'together' })
    const via = options.via === undefined ? undefined : readUrl(options.via, ['http:', 'https:'], '--via')
    const source = { ...(await openOwnSource(rsin, organisation)), via }
    const merge = {
      samenvoegen: true as const,
      clients: clients === 'apart' ? ('apart' as const) : ('samen' as const),
      via,
      isDecided: clashes !== undefined,
    }
    await takeOver(options, { kind: 'api', ...source, merge }, source)
  })

  const subscribers = overnemen
    .command('open-notificaties')
    .description(
      'kanalen and abonnementen of Open Notificaties (1.16), each callback tried out; run it again for changes',
    )
    .option('--database <url>', 'its database, with a role that may only read: abonnementen with their authorisation')
    .option('--api <url>', 'or its address, before /api/v1: the API does not show the authorisation')
    .option('--client <id>', 'with --api: client id there')
    .option('--secret-stdin', 'with --api: read the secret of that client from standard input', false)
    .option('--old-url <url>', 'address of the old installation in filters (again for more)', collect, [])
    .option('--dry-run', 'only judge and try the callbacks; nothing is kept', false)
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      `\n${ANOTHER_DATABASE}\n\nExample:\n  zaakstroom overnemen open-notificaties --database postgres://lezer@oud-db.example.nl/opennotificaties --dry-run`,
    )
    .action(takeOverSubscribers)
  formerly(subscribers, { '--proef': '--dry-run', '--oude-url': '--old-url' })

  overnemen
    .command('status')
    .description('how far the takeovers are')
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  zaakstroom overnemen status')
    .action(async (options: { json: boolean }) => {
      await withDatabase(async (database) => {
        const takeovers = await database.sql<Takeover[]>`select * from takeover order by id`
        const shown = []
        const lines: string[] = []
        for (const takeover of takeovers) {
          const steps = await progressOf(database, takeover)
          const faults = await faultsOf(database, takeover)
          shown.push({ ...publicOf(takeover), steps, faults })
          lines.push(headline(takeover), ...steps.map(progressLine), ...faults.map(faultLine))
        }
        print(options, shown, lines.join('\n') || 'There is no takeover.')
      })
    })

  overnemen
    .command('stop')
    .description(
      'stop the round that goes on: workers end the portion that they are at; `overnemen` goes on with it later',
    )
    .argument('<source>', 'the source, as `overnemen status` shows it')
    .option('--dry-run', 'the dry run of it, of which nothing is kept', false)
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  zaakstroom overnemen stop postgres://lezer@oud-db.example.nl/openzaak')
    .action(async (source: string, options: { dryRun: boolean; json: boolean }) => {
      await changeDatabase(async (database) => {
        const takeover = await requireTakeover(database, source, options.dryRun)
        if (takeover.status !== 'loopt') throw new UsageError(`nothing goes on: its round is ${takeover.status}`)
        if (takeover.trial) await endDryRun(database, takeover)
        else await stopTakeover(database, takeover)
        const text = `Round ${takeover.round} from ${takeover.source} is stopped. Give the same \`overnemen\` command to go on.`
        print(options, { uuid: takeover.uuid, stopped: true, round: takeover.round }, text)
      })
    })

  const rapport = overnemen
    .command('rapport')
    .description('write the report of a takeover as CSV: one row per object and remark')
    .argument('<source>', 'the source, as `overnemen status` shows it')
    .argument('<file>', 'CSV file to write')
    .option('--dry-run', 'of the dry run', false)
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  zaakstroom overnemen rapport https://oud.example.nl rapport.csv')
    .action(async (source: string, file: string, options: { dryRun: boolean; json: boolean }) => {
      await withDatabase(async (database) => {
        const takeover = await requireTakeover(database, source, options.dryRun)
        const rows = await writeReport(database, takeover, file)
        print(options, { file, rows }, `Wrote ${rows} rows to ${file}.`)
      })
    })

  formerly(rapport, { '--proef': '--dry-run' })

  overnemen
    .command('omschakelen')
    .description('the switch: what was taken over may be changed here from now on, and changes are announced')
    .argument('<source>', 'the source, as `overnemen status` shows it')
    .option(...YES)
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  zaakstroom overnemen omschakelen postgres://lezer@oud-db.example.nl/openzaak')
    .action(async (source: string, options: { yes?: boolean; json: boolean }) => {
      await changeDatabase(async (database) => {
        const takeover = await requireTakeover(database, source, false)
        if (isUnderWay(takeover)) throw new UsageError('its round is not complete: run `overnemen` to its end first')
        for (const warning of [...(await switchWarnings(database.sql)), ...(await wayBackWarnings(database.sql))])
          console.error(`warning: ${warning}`)
        await confirm(
          options,
          'This installation takes charge of what came from there: changes are announced, and nothing more is taken over.',
        )
        const removed = await database.sql.begin((sql) => switchOver(sql, takeover))
        if (removed === undefined) throw new UsageError('the switch was made already')
        console.log(
          options.json
            ? JSON.stringify({ switched: true, removed })
            : `Switched. ${removed} messages that waited were thrown away.`,
        )
      })
    })

  overnemen
    .command('terugweg')
    .description('what another product would lose when it takes over from here, through our APIs')
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  zaakstroom overnemen terugweg')
    .action(async (options: { json: boolean }) => {
      await withDatabase(async (database) => {
        const losses = await lossesOnWayBack(database)
        if (options.json) console.log(JSON.stringify(losses))
        else if (losses.length === 0) console.log('Nothing: all of it is in the APIs of the standard.')
        else for (const { wat, aantal, text } of losses) console.log(`${String(aantal).padStart(8)}  ${wat}. ${text}`)
      })
    })

  addPlayback(overnemen, { readUrl, stopSignal, waiting: tellWaiting })
  addRehearsal(overnemen, { readUrl, requireTakeover })

  function common(command: Command, more: Record<string, string> = {}): Command {
    command
      .option('--dry-run', 'dry run: only the report, nothing is kept', false)
      .option('--check', 'compare both sides instead of taking over; exit code 1 when they differ unlisted', false)
      .option('--sample <n>', 'with --check: of how many files the bytes are compared, or "all"', '1000')
      .option(
        '--answers <n>',
        'with --check: of how many objects of each kind the answers of both APIs are compared',
        '25',
      )
      .option('--old-url <url>', 'address by which the old one names itself in its data (again for more)', collect, [])
      .option('--parallel <n>', 'how much is done side by side', '2')
      .option('--rate <n>', 'ask the source for at most so many rows or requests a second')
      .option('--bytes <how>', 'copy (into our store) or leave (taken as they lie in it)', 'copy')
      .option(
        '--rd <how>',
        'convert: coordinates of the Dutch grid become degrees; such a geometry is left out otherwise',
      )
      .option('--writable', 'let what is taken over be changed here before the switch', false)
      .option('--everything', 'read everything again, and not only what changed since the round before', false)
      .option('--report <file>', 'write the report to this CSV file')
      .option('--json', 'print JSON', false)
    return formerly(command, { ...FORMER, ...more })
  }
}

/** What the options were called. */
const FORMER = {
  '--proef': '--dry-run',
  '--controleer': '--check',
  '--steekproef': '--sample',
  '--antwoorden': '--answers',
  '--oude-url': '--old-url',
  '--naast': '--parallel',
  '--tempo': '--rate',
  '--schrijfbaar': '--writable',
  '--alles': '--everything',
  '--rapport': '--report',
}

type SubscriberOptions = {
  database?: string
  api?: string
  client?: string
  secretStdin: boolean
  oldUrl: string[]
  dryRun: boolean
  json: boolean
}

/** Ends with 1 when somebody has to look at one of them. */
async function takeOverSubscribers({
  database: from,
  api,
  client,
  secretStdin,
  oldUrl,
  dryRun,
  json,
}: SubscriberOptions) {
  if ((from === undefined) === (api === undefined)) throw new UsageError('give --database or --api')
  const old = oldUrl.map((url) => readUrl(url, ['http:', 'https:'], '--old-url'))
  const found = await (from ? readDatabaseUrl('--database', from).then(readNotificationsDatabase) : ofApi()).catch(
    (error) => {
      if (error instanceof SourceUnavailable) throw new UsageError(reasonOf(`SourceUnavailable ${error.code}`, 'en'))
      throw error instanceof NotOpenNotificaties ? new UsageError(error.message) : error
    },
  )
  await changeDatabase(async (database, config) => {
    const box = await databaseBox(database, config)
    if (!dryRun) await prepareNrc(database, config)
    const taken = await takeSubscribers({ config, database, box }, found, { old, trial: dryRun })
    if (json) console.log(JSON.stringify({ kanalen: found.kanalen.map(({ naam }) => naam), abonnementen: taken }))
    else {
      console.log(`${found.kanalen.length} kanalen, ${taken.length} abonnementen`)
      for (const { uuid, host, outcome, remarks } of taken)
        console.log([`  ${uuid}  ${outcome.padEnd(8)} ${host}`, ...remarks.map((remark) => `    ${remark}`)].join('\n'))
    }
    if (taken.some(({ remarks }) => remarks.length > 0)) process.exitCode = 1
  }, 4)

  async function ofApi() {
    const url = readUrl(api ?? '', ['http:', 'https:'], '--api')
    if (client === undefined || !secretStdin) throw new UsageError('--api goes with --client and --secret-stdin')
    const there = apiClient({
      url: `${url}${url.endsWith('/') ? '' : '/'}api/v1`,
      clientId: client,
      secret: await readSecret(),
      connections: 1,
    })
    return readNotificationsApi(there.get).finally(() => there.close())
  }
}

/** Where the data is read. */
type From = {
  kind: Takeover['kind']
  url: string
  secret: string
  bestanden?: string | undefined
  clientId?: string
  /** Two organisations become one; `isDecided`: a person saw what clashes. */
  merge?: { samenvoegen: true; clients: 'apart' | 'samen'; via: string | undefined; isDecided: boolean }
} & Apart
/** What the options ask, checked. */
type Asked = ReturnType<typeof readOptions>
type OpenParts = TakeoverParts & { stores: ReturnType<typeof openStores>; log: Logger }

async function takeOver(options: Options, from: From, oldApi: OldApi | undefined): Promise<void> {
  const asked = readOptions(options)
  await changeDatabase(async (database, config) => {
    const box = await databaseBox(database, config)
    const log = openLog(config.logLevel, logDestination(2)) // standard output is for the outcome
    if (!options.dryRun) await prepareNewStore(config, database, config.documentenBackend)
    const parts = { database, config, box, log, stores: openStores(config, log) }
    try {
      if (from.bestanden && asked.bytes === 'kopieren') openContents(from.bestanden, config)
    } catch (error) {
      throw error instanceof NoContents ? new UsageError(error.message) : error
    }
    if (options.check) await compareBoth(parts, options, asked, from, oldApi)
    else await runRound(parts, options, asked, from)
  }, asked.naast + 4)
}

function readOptions(options: Options) {
  const naast = readNumber(options.parallel, '--parallel', 1, 32)
  const tempo = options.rate === undefined ? undefined : readNumber(options.rate, '--rate', 1, 1_000_000)
  const bytes = readBytes(options.bytes)
  const files = ['all', 'alle'].includes(options.sample) ? MANY : readNumber(options.sample, '--sample', 0, MANY)
  const perKind = readNumber(options.answers, '--answers', 0, 100_000)
  const oudeUrls = options.oldUrl.map((url) => readUrl(url, ['http:', 'https:'], '--old-url'))
  const rd =
    options.rd === undefined ? undefined : readChoice(options.rd, '--rd', ['convert'], { omrekenen: 'convert' })
  return { naast, tempo, bytes, files, perKind, oudeUrls, rd: rd && ('omrekenen' as const) }
}

/** @throws UsageError for a name that is none of an API, or what is no address */
function readRoots(given: string[]): Roots | undefined {
  if (given.length === 0) return undefined
  const roots: Roots = {}
  for (const one of given) {
    const [name = '', url = ''] = one.split(/=(.*)/s)
    readChoice(name, '--api-address begins with one of these and =: it', API_NAMES)
    roots[name] = readUrl(url, ['http:', 'https:'], '--api-address').replace(/\/+$/, '')
  }
  return roots
}

function readBytes(bytes: string): 'kopieren' | 'laten' {
  const how = readChoice(bytes, '--bytes', ['copy', 'leave'], { kopieren: 'copy', laten: 'leave' })
  return how === 'copy' ? 'kopieren' : 'laten'
}

/** Holds both sides against each other, and ends with 1 when they differ in what was not listed before. */
async function compareBoth(
  { stores, log, ...parts }: OpenParts,
  { report, json }: Options,
  { files, perKind, tempo }: Asked,
  from: From,
  oldApi: OldApi | undefined,
): Promise<void> {
  const { database, config, box } = parts
  const takeover = await requireTakeover(database, from.url, false)
  if (isUnderWay(takeover)) throw new UsageError('its round is not complete: run it to its end first')
  const there = oldApi && perKind > 0 ? apiClient({ ...oldApi, connections: 4, tempo }) : undefined
  const here = there && (await openOwnAnswers(config, database, box, stores, log))
  const stopped = stopSignal()
  const told: Difference[] = []
  const proof = await checkTakeover({ ...parts, store: stores.store }, takeover, {
    files,
    ...(oldApi &&
      there &&
      here && { answers: { there: there.get, thereUrl: oldApi.url, here: here.answers, perKind } }),
    report: (difference) => {
      if (json) told.push(difference)
      else
        console.log(
          `${difference.code.padEnd(10)} ${difference.kind} ${difference.key} ${difference.field}: ${difference.text}`,
        )
    },
    ...(!json && { progress: tellCheck }),
    waiting: tellWaiting,
    signal: stopped,
  }).finally(async () => {
    // What was found is told, whatever ended it.
    if (report) await writeReport(database, takeover, report)
    await there?.close()
    await here?.close()
  })
  if (json) console.log(JSON.stringify({ ...proof, found: told.slice(0, MOST_TOLD) }))
  else
    console.log(
      [
        ...proof.compared.map(comparedLine),
        ...proof.types.map(typeLine),
        ...proof.answers.map(answersLine),
        ...(there ? [] : ['The answers of the APIs were not compared: give --old-api and --client.']),
        `${proof.differences} differences that were not listed before.`,
      ].join('\n'),
    )
  if (proof.differences > 0) process.exitCode = 1
}

/** Begins a round, or goes on with one, and waits for its end or a signal. Ends with 1 when it is not complete. */
async function runRound(
  { stores: { store }, log, ...parts }: OpenParts,
  { dryRun, writable, everything, report, json }: Options,
  { naast, tempo, bytes, oudeUrls, rd }: Asked,
  from: From,
): Promise<void> {
  const { database } = parts
  const { merge, roots, tokenUrl, ...source } = from
  if (merge && !dryRun) await requirePlan(database, from.url, merge.isDecided)
  const stopped = stopSignal()
  const { samenvoegen, clients, via } = merge ?? {}
  const begin = () =>
    beginRound(parts, {
      ...source,
      trial: dryRun,
      readOnly: !writable,
      settings: {
        ...{ clientId: from.clientId, oudeUrls, bestanden: from.bestanden, bytes, naast, tempo, rd, roots, tokenUrl },
        wijzigingen: !everything,
        ...(merge && { samenvoegen, clients, via }),
      },
    })
  const state = await followRound({ ...parts, store, log }, begin, { url: from.url, naast, stopped, isQuiet: json })
  if (report) await writeReport(database, state, report)
  if (stopped.aborted && state.status === 'loopt') {
    if (dryRun) {
      await endDryRun(database, state)
      console.error('The dry run is ended, and nothing of it is kept.')
    } else
      console.error(
        `The round goes on: every worker of this installation works on it. Follow it with \`overnemen status\`, stop it with \`overnemen stop ${state.uuid}\`, or give the same command again.`,
      )
  }
  const steps = await progressOf(database, state)
  const faults = await faultsOf(database, state)
  if (json) console.log(JSON.stringify({ ...publicOf(state), steps, faults }))
  else console.log([headline(state), ...steps.map(progressLine), ...faults.map(faultLine)].join('\n'))
  if (state.status !== 'klaar') process.exitCode = 1
}

/** Before a row is written a person knows what clashes. @throws UsageError until then */
async function requirePlan({ sql }: Database, url: string, isDecided: boolean): Promise<void> {
  const source = nameOf(url)
  const [begun] = await sql`select from takeover where source = ${source} and not trial limit 1`
  if (begun) return
  const plans = await sql<{ clashes: number }[]>`
    select count(r.code) as clashes from takeover t
    left join takeover_remark r on r.takeover_id = t.id and r.code like 'botst-%'
    where t.source = ${source} and t.trial and t.status = 'klaar' group by t.id`
  const [plan] = plans
  if (!plan) throw new UsageError('look first what clashes with what is here: give --dry-run, and read its report')
  if (plan.clashes > 0 && !isDecided)
    throw new UsageError(
      `${plan.clashes} objects clash with what is here (botst-… in the report of --dry-run): mend them, or give --clashes refuse`,
    )
}

/** Differences that `--json` names one by one; the report has all. */
const MOST_TOLD = 10_000
const MANY = 1_000_000_000
const isUnderWay = ({ status }: Takeover) => status === 'loopt' || status === 'gestopt'

async function readOldApi({ oldApi, client, secretStdin }: OpenZaakOptions): Promise<OldApi | undefined> {
  if (oldApi === undefined) return undefined
  const url = readUrl(oldApi, ['http:', 'https:'], '--old-api')
  if (client === undefined || !secretStdin) throw new UsageError('--old-api goes with --client and --secret-stdin')
  return { url, clientId: client, secret: await readSecret() }
}

const collect = (value: string, all: string[]) => [...all, value]

function readUrl(value: string, protocols: string[], option: string): string {
  const url = URL.parse(value)
  if (!url || !protocols.includes(url.protocol))
    throw new UsageError(`${option} is a URL (${protocols.join(' or ')}//…)`)
  return value
}

async function requireTakeover(database: Database, source: string, trial: boolean): Promise<Takeover> {
  const name = URL.canParse(source) ? nameOf(source) : source
  const [takeover] = await database.sql<Takeover[]>`
    select * from takeover where (source = ${name} or uuid::text = ${source}) and trial = ${trial}
    order by (status <> 'omgeschakeld') desc, id desc limit 1`
  if (!takeover) throw new UsageError(`there is no takeover from ${source}`)
  return takeover
}
