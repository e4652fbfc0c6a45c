// import: many documents at once. One command makes the CSV from a directory, the other hands it to the API and follows it.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { tokenFor } from '../../autorisaties/clients.ts'
import { readConfig } from '../../config.ts'
import { type Database, readerOf } from '../../database/database.ts'
import { ownAddress } from '../../http/links.ts'
import { isConnectionFault } from '../../jobs/pool.ts'
import { changeDatabase, databaseBox, withDatabase } from '../database.ts'
import { LEFT_BEHIND, type Preparing, prepareFile as writePrepared } from '../import-file.ts'
import { ServiceAway, serviceFault } from '../service-answers.ts'
import { onSignal } from '../signals.ts'
import { fileMissing, print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

const LOOK_MS = 500
const MOST_REASONS = 20

type PrepareOptions = {
  type: string
  out: string
  base?: string
  bronorganisatie?: string
  auteur?: string
  taal?: string
  exclude?: string[]
  sidecars?: string
  json?: boolean
}
type RunOptions = {
  id: string
  api?: string
  charset?: string
  rest?: string
  wait?: boolean
  watch?: boolean
  json?: boolean
}

export function addTo(program: Command): void {
  const command = program.command('import').description('import many documents at once')
  command
    .command('prepare')
    .description('make the file of an import from the files in a directory, for you to complete')
    .argument('<directory>', 'looked through with all directories below it; links are not followed')
    .requiredOption('--type <type>', 'informatieobjecttype: its omschrijving, such as "Brief (ALG)", or its URL')
    .requiredOption(
      '--out <file>',
      'the workbook (.xlsx) or CSV to write; one that is there is not written over, one that was broken off goes on',
    )
    .option('--base <directory>', 'the import directory of the service (default: IMPORT_DOCUMENTEN_BASE_DIR)')
    .option('--bronorganisatie <rsin>', 'RSIN for every row')
    .option('--auteur <name>', 'auteur for every row')
    .option('--taal <code>', 'taal for every row (default: nld)')
    .option(
      '--exclude <patterns...>',
      'names or paths to leave out, such as "*.tmp"; Thumbs.db and the like always are',
    )
    .option(
      '--sidecars <kind>',
      'mdto: read the MDTO or ToPX (TMLO) beside the files; a Dossier is the case with its identificatie',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  zaakstroom import prepare /data/import/2024 --type "Brief (ALG)" --bronorganisatie 517439943 --auteur Archief --out brieven.csv',
    )
    .action(prepareFile)
  command
    .command('run')
    .description('create an import, upload the file, and follow it')
    .argument('[file]', 'CSV, or NDJSON by the name .ndjson or .jsonl')
    .requiredOption('--id <id>', 'client id with all rights')
    .option('--api <url>', 'address of the service (default: PUBLIC_URL, or HOST and PORT)')
    .option(
      '--rest <uuid>',
      'the import of which this is the rest: what became a document there is passed over. Without a file its rows that did not are tried again',
    )
    .option('--charset <charset>', 'what the file is written in, when it is not UTF-8')
    .option('--wait', 'when another import is open, wait for its end instead of being refused')
    .option('--watch', 'show progress, and wait until it has ended')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom import run brieven.csv --id archief --watch')
    .action(run)

  const onService = (name: string, argument?: string) => {
    const made = command
      .command(name)
      .addHelpText(
        'after',
        `\nExample:\n  zaakstroom import ${name}${argument ? ' 5e2f0c2c-4b50-4b7c-9b4e-7ab9c3d6b3a1' : ''} --id archief`,
      )
      .requiredOption('--id <id>', 'client id with all rights')
      .option('--api <url>', 'address of the service (default: PUBLIC_URL, or HOST and PORT)')
    if (name !== 'report') made.option('--json', 'print JSON') // that is a CSV
    return argument ? made.argument(argument, 'its uuid') : made
  }
  onService('list')
    .description('the newest imports')
    .action(async (options: ServiceOptions) =>
      onApi(options, async ({ call }) => {
        const { results } = (await (await call('GET', `${IMPORTS}?pageSize=20`)).json()) as { results: Status[] }
        print(options, results, results.map(lineOf).join('\n') || 'There are no imports.')
      }),
    )
  onService('watch', '<import>')
    .description('show progress, and wait until it has ended')
    .action(async (uuid: string, options: ServiceOptions) =>
      onApi(options, async ({ call, pathOf }) => watch(call, await statusOf(call, uuid), pathOf, options)),
    )
  onService('cancel', '<import>')
    .description('stop it after the batch that it is at; what was imported stays')
    .action(async (uuid: string, options: ServiceOptions) =>
      onApi(
        options,
        async ({ call }) => {
          const status = (await (await call('POST', `${IMPORTS}/${uuid}/cancel`)).json()) as Status
          print(options, status, lineOf(status))
        },
        CHANGES,
      ),
    )
  onService('delete', '<import>')
    .description('remove its rows and its report; its documents stay')
    .action(async (uuid: string, options: ServiceOptions) =>
      onApi(
        options,
        async ({ call }) => {
          await call('DELETE', `${IMPORTS}/${uuid}/delete`)
          print(options, { deleted: uuid }, `Deleted ${uuid}: its documents stay.`)
        },
        CHANGES,
      ),
    )
  onService('report', '<import>')
    .description('write its report to standard output')
    .option('--rows <rows>', 'mislukt: what was refused; rest: also what was not tried')
    .action(async (uuid: string, options: ServiceOptions & { rows?: string }) =>
      onApi(options, async ({ call }) => {
        const query = options.rows === undefined ? '' : `?${new URLSearchParams({ rijen: options.rows })}`
        const report = await call('GET', `${IMPORTS}/${uuid}/report${query}`)
        await pipeline(Readable.fromWeb(report.body as never), process.stdout, { end: false })
      }),
    )
}

type ServiceOptions = Pick<RunOptions, 'id' | 'api' | 'json'>

async function prepareFile(directory: string, options: PrepareOptions): Promise<void> {
  const root = resolve(directory)
  const found = await stat(root).catch(fileMissing(directory))
  if (!found.isDirectory()) throw new UsageError(`${directory} is no directory`)
  const base = resolve(options.base ?? readConfig(process.env).importBaseDir)
  const below = relative(base, root)
  if (below.startsWith('..') || isAbsolute(below))
    throw new UsageError(
      `${directory} is not in the import directory: put the files there, or name another with --base`,
    )
  const out = resolve(options.out)
  if (await stat(out).catch(() => undefined))
    throw new UsageError(`${options.out} is there already: it is not written over, somebody may have filled it in`)
  if (options.sidecars !== undefined && options.sidecars !== 'mdto')
    throw new UsageError(`--sidecars takes mdto (also ToPX), not ${options.sidecars}`)
  const { type, bronorganisatie = '', auteur = '', taal = '' } = options
  const work = async (caseOf: Preparing['caseOf']) => {
    const prepared = await writePrepared({
      root,
      base,
      below: below.split(sep).join('/'),
      out,
      given: { informatieobjecttype: type, bronorganisatie, auteur, taal },
      exclude: [...LEFT_BEHIND, ...(options.exclude ?? [])],
      sidecars: options.sidecars !== undefined,
      caseOf,
      counted: options.json ? () => {} : showCounted(),
    })
    const toComplete = [!bronorganisatie && 'bronorganisatie', !auteur && !options.sidecars && 'auteur'].filter(Boolean)
    const { files, bytes, takenOver, leftOut, refused, list, dossiers } = prepared
    const lines = [
      `${files} files, ${bytes} bytes: ${options.out}`,
      takenOver > 0 && `${takenOver} of them were read before.`,
      list && `${leftOut} were left out, and ${refused} the import would refuse: ${list}`,
      dossiers && `Dossiers without a case, to be made first: ${dossiers}`,
      toComplete.length > 0 && `Complete in every row: ${toComplete.join(', ')}.`,
      bronorganisatie.startsWith('0') &&
        !out.endsWith('.xlsx') &&
        'A spreadsheet takes the nought off an RSIN in a CSV: open it as text, or make a workbook (--out name.xlsx).',
    ]
    print(options, { file: options.out, ...prepared, toComplete }, lines.filter(Boolean).join('\n'))
  }
  if (options.sidecars === undefined) return work(async () => undefined)
  await withDatabase(async ({ sql }) =>
    work(async ({ identificatie }) => {
      const found = await sql<{ uuid: string }[]>`select uuid from zaak where identificatie = ${identificatie} limit 2`
      return found.length === 1 ? found[0]?.uuid : undefined
    }),
  )
}

/** Tells on a terminal how far it is. */
function showCounted(): Preparing['counted'] {
  if (!process.stderr.isTTY) return () => {}
  let said = 0
  return ({ files, bytes, leftOut, refused }) => {
    if (performance.now() - said < LOOK_MS) return
    said = performance.now()
    process.stderr.write(`\r${files} files, ${Math.round(bytes / 1e6)} MB, ${leftOut + refused} not taken   `)
  }
}

type Status = {
  url: string
  statusUrl: string
  uploadUrl: string
  reportUrl: string
  status: string
  total: number
  processed: number
  processedSuccessfully: number
  processedInvalid: number
  emptyRows: number
  alreadyImported: number
  queuePosition: number | null
  reason: string | null
}

async function run(file: string | undefined, options: RunOptions): Promise<void> {
  if (file === undefined && options.rest === undefined) throw new UsageError('name a file, or an import with --rest')
  if (file !== undefined) await stat(file).catch(fileMissing(file))
  await onApi(
    options,
    async ({ call, pathOf, database }) => {
      if (file !== undefined && options.rest === undefined) await tellOfSameFile(database, file)
      const { body, type } = file === undefined ? await restOf(call, options.rest ?? '') : contentOf(file, options)
      const query = new URLSearchParams({ wachten: String(options.wait === true) })
      if (options.rest !== undefined) query.set('rest_van', options.rest)
      const made = (await (await call('POST', `${IMPORTS}/create?${query}`)).json()) as Status
      const path = pathOf(made.url)
      const stop = onInterrupt(`The upload broke off: nothing was imported, and ${made.url} is deleted.`, async () => {
        await call('DELETE', `${path}/delete`).catch(() => {})
      })
      try {
        await call('POST', `${path}/upload`, { body, duplex: 'half', headers: { 'content-type': type } } as RequestInit)
      } catch (error) {
        await call('DELETE', `${path}/delete`).catch(() => {}) // it would be in the way of the next
        throw error
      } finally {
        stop()
      }
      const status = (await (await call('GET', `${path}/status`)).json()) as Status
      if (options.watch) return watch(call, status, pathOf, options)
      const place = status.queuePosition
      print(
        options,
        status,
        `${place ? `The import waits at place ${place}` : 'The import has begun'}: ${made.statusUrl}`,
      )
    },
    CHANGES,
  )
}

/** Says that a file was imported before: what it made is made again. */
async function tellOfSameFile(database: Database, file: string): Promise<void> {
  const { sameFileBefore } = await import('../../documenten/import/draft.ts') // here: other commands do without
  const hash = createHash('sha256')
  for await (const part of createReadStream(file)) hash.update(part as Buffer)
  const before = await sameFileBefore(readerOf(database).db, { sha256: hash.digest() })
  if (before)
    console.error(
      `The same file again: import ${before.uuid} made ${before.succeeded} documents of it, and they are made a second time. With --rest ${before.uuid} they are passed over.`,
    )
}

/** Follows an import to its end, and tells what came of it. Who interrupts it is told that the import goes on. */
async function watch(call: Call, { url }: Status, pathOf: Api['pathOf'], options: ServiceOptions): Promise<void> {
  const path = pathOf(url)
  const look = async () => (await (await call('GET', `${path}/status`)).json()) as Status
  const uuid = url.split('/').at(-1)
  const stop = onInterrupt(
    `The import goes on at the service: ${url}/status. Follow it with \`import watch ${uuid}\`, stop it with \`import cancel ${uuid}\`.`,
  )
  try {
    const status = await follow(look, options.json ? () => {} : showProgress)
    const reasons = status.processedInvalid > 0 ? await reasonsOf(await call('GET', `${path}/report`)) : []
    print(options, { ...status, reasons }, summaryOf(status, reasons))
    if (status.status !== 'finished' || status.processedInvalid > 0) process.exitCode = 1
  } finally {
    stop()
  }
}

/** Says something when the command is interrupted, and ends it after `work`. @returns what takes that back */
function onInterrupt(text: string, work: () => Promise<void> = async () => {}): () => void {
  return onSignal(['SIGINT'], () => {
    console.error(`\n${text}`)
    void work().finally(() => process.exit(130))
  })
}

type Api = {
  call: Call /** The path of an address of the service, below where it is. */
  pathOf(url: string): string
  database: Database
}

/** Asks the service as a client of it. */
async function onApi(
  options: ServiceOptions,
  work: (api: Api) => Promise<void>,
  { changes = false }: { changes?: boolean } = {},
): Promise<void> {
  await (changes ? changeDatabase : withDatabase)(async (database, config) => {
    const box = await databaseBox(database, config)
    const token = () => tokenFor(database, box, options.id, { id: '', name: '' })
    if (!(await token())) throw new UsageError(`there is no client ${options.id} with a secret`)
    const base = (options.api ?? ownAddress(config)).replace(/\/$/, '')
    const call: Call = async (method, path, init = {}) => {
      // A token does not last as long as a large import.
      const headers = { ...init.headers, authorization: `Bearer ${await token()}` }
      const response = await fetch(base + path, { ...init, method, headers }).catch((error) => {
        if (init.body !== undefined && !isConnectionFault(error.cause)) throw error // the file, and not the service
        throw new ServiceAway(`the service at ${base} cannot be reached (${error.cause?.code ?? error.message})`)
      })
      if (!response.ok) throw await refusalOf(response)
      return response
    }
    const pathOf = (url: string) => new URL(url).pathname.replace(new URL(base).pathname.replace(/\/$/, ''), '')
    await work({ call, pathOf, database })
  })
}

const statusOf = async (call: Call, uuid: string): Promise<Status> =>
  (await (await call('GET', `${IMPORTS}/${uuid}`)).json()) as Status

/** An import on one line. */
function lineOf({ url, status, total, processed, processedInvalid, queuePosition, reason }: Status): string {
  const place = queuePosition === null ? '' : `, waits at place ${queuePosition}`
  const failed = processedInvalid > 0 ? `, ${processedInvalid} refused` : ''
  return `${url.split('/').at(-1)}  ${status.padEnd(8)}  ${processed}/${total}${failed}${place}${reason ? `: ${reason}` : ''}`
}

const CHANGES = { changes: true }
const IMPORTS = '/documenten/api/v1/import'
const NDJSON = 'application/x-ndjson'

type Content = { body: ReadableStream; type: string }
type Call = (method: string, path: string, init?: RequestInit) => Promise<Response>

function contentOf(file: string, { charset }: RunOptions): Content {
  const type = /\.(ndjson|jsonl)$/i.test(file) ? NDJSON : 'text/csv'
  const body = Readable.toWeb(createReadStream(file)) as unknown as ReadableStream
  return { body, type: `${type}${charset ? `; charset=${charset}` : ''}` }
}

/** The rows of an import that did not become a document, as the service has them. */
async function restOf(call: Call, uuid: string): Promise<Content> {
  const report = await call('GET', `${IMPORTS}/${uuid}/report?rijen=rest`)
  return { body: report.body as ReadableStream, type: report.headers.get('content-type') ?? 'text/csv' }
}

async function refusalOf(response: Response): Promise<Error> {
  const problem = (await response.json().catch(() => ({}))) as {
    detail?: string
    code?: string
    invalidParams?: { reason: string; code: string }[]
  }
  const reasons = problem.invalidParams?.map(({ reason }) => reason).join(' ')
  const message = reasons || problem.detail || `the service answered ${response.status}`
  return serviceFault(response.status, message, problem.invalidParams?.[0]?.code ?? problem.code)
}

async function follow(look: () => Promise<Status>, show: (status: Status, seconds: number) => void): Promise<Status> {
  let began = performance.now()
  for (;;) {
    const status = await look()
    if (status.queuePosition !== null) began = performance.now() // its rate counts from its turn
    show(status, (performance.now() - began) / 1000)
    if (status.status === 'finished' || status.status === 'error') return status
    await sleep(LOOK_MS)
  }
}

const WIDTH = 30

function showProgress({ processed, total, processedInvalid, queuePosition }: Status, seconds: number): void {
  if (!process.stderr.isTTY) return
  if (queuePosition !== null) return void process.stderr.write(`\rwaits at place ${queuePosition}`.padEnd(80))
  const share = total > 0 ? processed / total : 1
  const bar = '#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '.')
  const rate = seconds > 0 ? processed / seconds : 0
  const left = rate > 0 ? `${Math.ceil((total - processed) / rate)} s left` : ''
  process.stderr.write(
    `\r[${bar}] ${processed}/${total}, ${Math.round(rate)} a second, ${processedInvalid} refused, ${left}   `,
  )
  if (processed === total) process.stderr.write('\n')
}

type Reason = { reason: string; rows: number }

/** How many rows were refused for each reason, the most first. */
async function reasonsOf(report: Response): Promise<Reason[]> {
  const isLines = report.headers.get('content-type')?.startsWith(NDJSON)
  const counts = new Map<string, number>()
  const count = (resultaat: string | undefined, remark: string | undefined) => {
    if (resultaat === 'Geïmporteerd') return
    const reason = (remark ?? '').replace(/^Rij \d+: /, '')
    if (counts.has(reason) || counts.size < 1000) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  const body = Readable.fromWeb(report.body as never)
  if (isLines) {
    const { createInterface } = await import('node:readline')
    for await (const line of createInterface({ input: body })) {
      const { resultaat, opmerking } = JSON.parse(line) as { resultaat: string; opmerking: string }
      count(resultaat, opmerking)
    }
  } else {
    const { readImportCsv } = await import('../../documenten/import/csv.ts')
    const { header, regels } = await readImportCsv(body, { maxRecordBytes: 2 * 1024 * 1024 })
    const [remark, resultaat] = [header.lastIndexOf('opmerking'), header.lastIndexOf('resultaat')]
    for await (const cells of regels) count(cells[resultaat], cells[remark])
  }
  return [...counts].map(([reason, rows]) => ({ reason, rows })).sort((a, b) => b.rows - a.rows)
}

function summaryOf(status: Status, reasons: Reason[]): string {
  const lines = [
    `Import ${status.status}${status.reason ? `: ${status.reason}` : ''}`,
    `${status.processedSuccessfully} documents made, ${status.processedInvalid} rows refused, ${status.emptyRows} empty rows passed over.`,
    ...(status.alreadyImported > 0 ? [`${status.alreadyImported} rows were imported before, and passed over.`] : []),
    ...reasons.slice(0, MOST_REASONS).map(({ reason, rows }) => `${String(rows).padStart(8)}  ${reason}`),
  ]
  if (reasons.length > MOST_REASONS) lines.push(`          and ${reasons.length - MOST_REASONS} more reasons`)
  lines.push(`Report: ${status.reportUrl}`)
  return lines.join('\n')
}
