// The subcommands that take over another installation. Jobs do the work: those of this process, and of every worker.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { takeoverStep } from '../../../tasks/takeover-step.ts'
import { readConfig } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import { openStores, prepareNewStore } from '../../documenten/storage/choose.ts'
import { startWorker } from '../../jobs/worker.ts'
import { prepareNrc } from '../../nrc/start.ts'
import { apiClient } from '../../overnemen/api/client.ts'
import { TooFewRights } from '../../overnemen/api/source.ts'
import { checkTakeover } from '../../overnemen/check.ts'
import { NoContents, openContents } from '../../overnemen/contents.ts'
import {
  NotOpenNotificaties,
  readNotificationsApi,
  readNotificationsDatabase,
} from '../../overnemen/open-zaak/notifications.ts'
import { NotOpenZaak } from '../../overnemen/open-zaak/source.ts'
import { reasonOf, untilThere } from '../../overnemen/patience.ts'
import { wayBackWarnings } from '../../overnemen/playback/state.ts'
import { portionRunner } from '../../overnemen/portions.ts'
import { beginRound, faultsOf, forecastOf, progressOf } from '../../overnemen/round.ts'
import { SourceUnavailable } from '../../overnemen/source.ts'
import { takeSubscribers } from '../../overnemen/subscribers.ts'
import {
  nameOf,
  SwitchedAlready,
  switchOver,
  switchWarnings,
  type Takeover,
  type TakeoverParts,
} from '../../overnemen/takeover.ts'
import { lossesOnWayBack } from '../../overnemen/way-back.ts'
import { openLog } from '../../telemetry/log.ts'
import { changeDatabase, databaseBox, withDatabase } from '../database.ts'
import { readNumber } from '../options.ts'
import { openOwnAnswers } from '../own-answers.ts'
import { openOwnSource } from '../own-source.ts'
import { addPlayback } from '../play-back.ts'
import {
  answersLine,
  comparedLine,
  faultLine,
  forecastLine,
  headline,
  progressLine,
  publicOf,
  tell,
  tellCheck,
  typeLine,
  waitLine,
} from '../takeover-lines.ts'
import { writeReport } from '../takeover-report.ts'
import { readSecret } from '../terminal.ts'
import { UsageError } from '../usage.ts'

type Options = {
  proef: boolean
  controleer: boolean
  steekproef: string
  antwoorden: string
  oudeUrl: string[]
  naast: string
  tempo?: string
  bytes: string
  schrijfbaar: boolean
  alles: boolean
  rapport?: string
  json: boolean
}

type OpenZaakOptions = Options & {
  database: string
  bestanden?: string
  oudeApi?: string
  client?: string
  secretStdin: boolean
}
type MergeOptions = Options & { via?: string; botsingen?: string; clients: string }
/** The APIs of the old installation, and a client of them. */
type OldApi = { url: string; clientId: string; secret: string; via?: string | undefined }

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
      .option('--bestanden <place>', 'its document store: a directory, s3://bucket/prefix or azure://container/prefix')
      .option(
        '--oude-api <url>',
        'with --controleer: its address before /zaken/api/v1, to compare the answers of both APIs',
      )
      .option('--client <id>', 'with --oude-api: client id there, with heeftAlleAutorisaties')
      .option('--secret-stdin', 'with --oude-api: read the secret of that client from standard input', false),
  ).action(async (options: OpenZaakOptions) => {
    const url = readUrl(options.database, ['postgres:', 'postgresql:'], '--database')
    const from = { kind: 'open-zaak' as const, url, secret: options.database, bestanden: options.bestanden }
    await takeOver(options, from, await readOldApi(options))
  })

  common(
    overnemen
      .command('api')
      .description('from any service of the standard, through its APIs')
      .argument('<url>', 'its address, before /zaken/api/v1')
      .requiredOption('--client <id>', 'client id there, with heeftAlleAutorisaties')
      .requiredOption('--secret-stdin', 'read the secret of that client from standard input'),
  ).action(async (address: string, options: Options & { client: string }) => {
    const url = readUrl(address, ['http:', 'https:'], 'the address')
    const secret = await readSecret()
    await takeOver(
      options,
      { kind: 'api', url, secret, clientId: options.client },
      { url, clientId: options.client, secret },
    )
  })

  common(
    overnemen
      .command('zaakstroom')
      .description('from another organisation of this installation, which has to be served meanwhile')
      .argument('<rsin>', 'its RSIN; ORGANISATION is the one that takes over')
      .option('--via <url>', 'where this installation answers, when the public name of the other one cannot be reached')
      .option('--botsingen <how>', 'weigeren: what stands here stays, as the dry run told of each')
      .option(
        '--clients <how>',
        'a client id at both: apart (it keeps its rights of here) or samen (it gets both)',
        'apart',
      ),
  ).action(async (rsin: string, options: MergeOptions) => {
    const { organisation } = readConfig(process.env)
    if (!organisation || organisation === rsin) throw new UsageError('ORGANISATION is the RSIN of the other one')
    const { botsingen, clients } = options
    if (botsingen !== undefined && botsingen !== 'weigeren') throw new UsageError('--botsingen is weigeren')
    if (clients !== 'apart' && clients !== 'samen') throw new UsageError('--clients is apart or samen')
    const via = options.via === undefined ? undefined : readUrl(options.via, ['http:', 'https:'], '--via')
    const source = { ...(await openOwnSource(rsin, organisation)), via }
    const merge = {
      samenvoegen: true as const,
      clients: clients as 'apart' | 'samen',
      via,
      isDecided: botsingen === 'weigeren',
    }
    await takeOver(options, { kind: 'api', ...source, merge }, source)
  })

  overnemen
    .command('open-notificaties')
    .description(
      'kanalen and abonnementen of Open Notificaties (1.16), each callback tried out; run it again for changes',
    )
    .option('--database <url>', 'its database, with a role that may only read: abonnementen with their authorisation')
    .option('--api <url>', 'or its address, before /api/v1: the API does not show the authorisation')
    .option('--client <id>', 'with --api: client id there')
    .option('--secret-stdin', 'with --api: read the secret of that client from standard input', false)
    .option('--oude-url <url>', 'address of the old installation in filters (again for more)', collect, [])
    .option('--proef', 'only judge and try the callbacks; nothing is kept', false)
    .option('--json', 'print JSON', false)
    .action(takeOverSubscribers)

  overnemen
    .command('status')
    .description('how far the takeovers are')
    .option('--json', 'print JSON', false)
    .action(async (options: { json: boolean }) => {
      await withDatabase(async (database) => {
        const takeovers = await database.sql<Takeover[]>`select * from takeover order by id`
        for (const takeover of takeovers) {
          const steps = await progressOf(database, takeover)
          const faults = await faultsOf(database, takeover)
          if (options.json) console.log(JSON.stringify({ ...publicOf(takeover), steps, faults }))
          else console.log([headline(takeover), ...steps.map(progressLine), ...faults.map(faultLine)].join('\n'))
        }
        if (takeovers.length === 0 && !options.json) console.log('There is no takeover.')
      })
    })

  overnemen
    .command('rapport')
    .description('write the report of a takeover as CSV: one row per object and remark')
    .argument('<bron>', 'the source, as `overnemen status` shows it')
    .argument('<file>', 'CSV file to write')
    .option('--proef', 'of the dry run', false)
    .action(async (source: string, file: string, options: { proef: boolean }) => {
      await withDatabase(async (database) => {
        const takeover = await requireTakeover(database, source, options.proef)
        console.log(`Wrote ${await writeReport(database, takeover, file)} rows to ${file}.`)
      })
    })

  overnemen
    .command('omschakelen')
    .description('the switch: what was taken over may be changed here from now on, and changes are announced')
    .argument('<bron>', 'the source, as `overnemen status` shows it')
    .option('--json', 'print JSON', false)
    .action(async (source: string, options: { json: boolean }) => {
      await changeDatabase(async (database) => {
        const takeover = await requireTakeover(database, source, false)
        if (isUnderWay(takeover)) throw new UsageError('its round is not complete: run `overnemen` to its end first')
        for (const warning of [...(await switchWarnings(database.sql)), ...(await wayBackWarnings(database.sql))])
          console.error(`warning: ${warning}`)
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
    .action(async (options: { json: boolean }) => {
      await withDatabase(async (database) => {
        const losses = await lossesOnWayBack(database)
        if (options.json) console.log(JSON.stringify(losses))
        else if (losses.length === 0) console.log('Nothing: all of it is in the APIs of the standard.')
        else for (const { wat, aantal, text } of losses) console.log(`${String(aantal).padStart(8)}  ${wat}. ${text}`)
      })
    })

  addPlayback(overnemen, { readUrl, stopSignal, waiting: tellWaiting })

  function common(command: Command): Command {
    return command
      .option('--proef', 'dry run: only the report, nothing is kept', false)
      .option('--controleer', 'compare both sides instead of taking over; exit code 1 when they differ unlisted', false)
      .option('--steekproef <n>', 'with --controleer: of how many files the bytes are compared, or "alle"', '1000')
      .option(
        '--antwoorden <n>',
        'with --controleer: of how many objects of each kind the answers of both APIs are compared',
        '25',
      )
      .option('--oude-url <url>', 'address by which the old one names itself in its data (again for more)', collect, [])
      .option('--naast <n>', 'how much is done side by side', '2')
      .option('--tempo <n>', 'ask the source for at most so many rows or requests a second')
      .option('--bytes <how>', 'kopieren (into our store) or laten (taken as they lie in it)', 'kopieren')
      .option('--schrijfbaar', 'let what is taken over be changed here before the switch', false)
      .option('--alles', 'read everything again, and not only what changed since the round before', false)
      .option('--rapport <file>', 'write the report to this CSV file')
      .option('--json', 'print JSON', false)
  }
}

type SubscriberOptions = {
  database?: string
  api?: string
  client?: string
  secretStdin: boolean
  oudeUrl: string[]
  proef: boolean
  json: boolean
}

/** Ends with 1 when somebody has to look at one of them. */
async function takeOverSubscribers({
  database: from,
  api,
  client,
  secretStdin,
  oudeUrl,
  proef,
  json,
}: SubscriberOptions) {
  if ((from === undefined) === (api === undefined)) throw new UsageError('give --database or --api')
  const old = oudeUrl.map((url) => readUrl(url, ['http:', 'https:'], '--oude-url'))
  const found = await (from
    ? readNotificationsDatabase(readUrl(from, ['postgres:', 'postgresql:'], '--database'))
    : ofApi()
  ).catch((error) => {
    if (error instanceof SourceUnavailable) throw new UsageError(reasonOf(`SourceUnavailable ${error.code}`, 'en'))
    throw error instanceof NotOpenNotificaties ? new UsageError(error.message) : error
  })
  await changeDatabase(async (database, config) => {
    const box = await databaseBox(database, config)
    await prepareNrc(database, config)
    const taken = await takeSubscribers({ config, database, box }, found, { old, trial: proef })
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
}
/** What the options ask, checked. */
type Asked = ReturnType<typeof readOptions>
type OpenParts = TakeoverParts & { stores: ReturnType<typeof openStores>; log: Logger }

async function takeOver(options: Options, from: From, oldApi: OldApi | undefined): Promise<void> {
  const asked = readOptions(options)
  await changeDatabase(async (database, config) => {
    const box = await databaseBox(database, config)
    const log = openLog(config.logLevel)
    await prepareNewStore(config, database, config.documentenBackend)
    const parts = { database, config, box, log, stores: openStores(config, log) }
    try {
      if (from.bestanden && asked.bytes === 'kopieren') openContents(from.bestanden, config)
    } catch (error) {
      throw error instanceof NoContents ? new UsageError(error.message) : error
    }
    if (options.controleer) await compareBoth(parts, options, asked, from, oldApi)
    else await runRound(parts, options, asked, from)
  }, asked.naast + 4)
}

function readOptions(options: Options) {
  const naast = readNumber(options.naast, '--naast', 1, 32)
  const tempo = options.tempo === undefined ? undefined : readNumber(options.tempo, '--tempo', 1, 1_000_000)
  const bytes = readBytes(options.bytes)
  const files = options.steekproef === 'alle' ? MANY : readNumber(options.steekproef, '--steekproef', 0, MANY)
  const perKind = readNumber(options.antwoorden, '--antwoorden', 0, 100_000)
  const oudeUrls = options.oudeUrl.map((url) => readUrl(url, ['http:', 'https:'], '--oude-url'))
  return { naast, tempo, bytes, files, perKind, oudeUrls }
}

function readBytes(bytes: string): 'kopieren' | 'laten' {
  if (bytes !== 'kopieren' && bytes !== 'laten') throw new UsageError('--bytes is kopieren or laten')
  return bytes
}

/** Holds both sides against each other, and ends with 1 when they differ in what was not listed before. */
async function compareBoth(
  { stores, log, ...parts }: OpenParts,
  { rapport, json }: Options,
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
  const proof = await checkTakeover({ ...parts, store: stores.store }, takeover, {
    files,
    ...(oldApi &&
      there &&
      here && { answers: { there: there.get, thereUrl: oldApi.url, here: here.answers, perKind } }),
    report: (difference) => {
      if (json) console.log(JSON.stringify(difference))
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
    if (rapport) await writeReport(database, takeover, rapport)
    await there?.close()
    await here?.close()
  })
  if (json) console.log(JSON.stringify(proof))
  else
    console.log(
      [
        ...proof.compared.map(comparedLine),
        ...proof.types.map(typeLine),
        ...proof.answers.map(answersLine),
        ...(there ? [] : ['The answers of the APIs were not compared: give --oude-api and --client.']),
        `${proof.differences} differences that were not listed before.`,
      ].join('\n'),
    )
  if (proof.differences > 0) process.exitCode = 1
}

/** Begins a round, or goes on with one, and waits for its end or a signal. Ends with 1 when it is not complete. */
async function runRound(
  { stores: { store }, log, ...parts }: OpenParts,
  { proef, schrijfbaar, alles, rapport, json }: Options,
  { naast, tempo, bytes, oudeUrls }: Asked,
  from: From,
): Promise<void> {
  const { database } = parts
  const { merge, ...source } = from
  if (merge && !proef) await requirePlan(database, from.url, merge.isDecided)
  const stopped = stopSignal()
  const { samenvoegen, clients, via } = merge ?? {}
  const begin = () =>
    beginRound(parts, {
      ...source,
      trial: proef,
      readOnly: !schrijfbaar,
      settings: {
        ...{ clientId: from.clientId, oudeUrls, bestanden: from.bestanden, bytes, naast, tempo },
        wijzigingen: !alles,
        ...(merge && { samenvoegen, clients, via }),
      },
    })
  // A source that was there before is waited for; one that never was may have a wrong address.
  const [known] = await database.sql`
    select from takeover_step s join takeover o on o.id = s.takeover_id where o.source = ${nameOf(from.url)} limit 1`
  const round = await (known ? untilThere(begin, tellWaiting, stopped) : begin()).catch((error) => {
    if (error instanceof SourceUnavailable) throw new UsageError(reasonOf(`SourceUnavailable ${error.code}`, 'en'))
    throw [NotOpenZaak, SwitchedAlready, TooFewRights].some((kind) => error instanceof kind)
      ? new UsageError(error.message)
      : error
  })
  if (!json)
    console.error(
      `${round.resumed ? 'Going on with round' : 'Round'} ${round.takeover.round}${proef ? ' (dry run)' : ''} from ${round.takeover.source}`,
    )
  if (!json) console.error(forecastLine(await forecastOf(database, round.takeover), from.kind))
  const runner = portionRunner({ ...parts, store, log })
  const worker = await startWorker({
    databaseUrl: database.url,
    name: 'overnemen',
    taskList: { 'takeover-step': takeoverStep({ database, runner }) },
    concurrency: naast,
    log,
  })
  let state = round.takeover
  try {
    while (!stopped.aborted) {
      await sleep(500, undefined, { signal: stopped }).catch(() => {})
      state = await round.state()
      if (!json) tell(await progressOf(database, state))
      if (state.status !== 'loopt') break
    }
  } finally {
    await worker.stop()
    await runner.close()
    await round.release()
    if (rapport) await writeReport(database, state, rapport)
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
  if (!plan) throw new UsageError('look first what clashes with what is here: give --proef, and read its report')
  if (plan.clashes > 0 && !isDecided)
    throw new UsageError(
      `${plan.clashes} objects clash with what is here (botst-… in the report of --proef): mend them, or give --botsingen weigeren`,
    )
}

/** Aborted when this process is asked to stop. */
function stopSignal(): AbortSignal {
  const stopped = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopped.abort())
  return stopped.signal
}

/** Why nothing moves, on stderr: once for every attempt. */
const tellWaiting = (reason: string, until: Date) =>
  console.error(`waiting: ${waitLine(`SourceUnavailable ${reason}`, until)}`)

const MANY = 1_000_000_000
const isUnderWay = ({ status }: Takeover) => status === 'loopt' || status === 'gestopt'

async function readOldApi({ oudeApi, client, secretStdin }: OpenZaakOptions): Promise<OldApi | undefined> {
  if (oudeApi === undefined) return undefined
  const url = readUrl(oudeApi, ['http:', 'https:'], '--oude-api')
  if (client === undefined || !secretStdin) throw new UsageError('--oude-api goes with --client and --secret-stdin')
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
