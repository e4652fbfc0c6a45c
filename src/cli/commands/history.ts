// history: clients that read and write at once, and a judgement of what a server told them. It asks any server of the ZGW standard.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { signToken } from '../../autorisaties/clients.ts'
import type { Target } from '../../history/ask.ts'
import { cutDown, toScript } from '../../history/cut-down.ts'
import { findTypes } from '../../history/find-types.ts'
import { ANOMALIES, type Anomaly, judge } from '../../history/judge.ts'
import { fromLines, type Operation, toLines } from '../../history/operation.ts'
import { CannotPlay, play } from '../../history/play.ts'
import { readNumber } from '../options.ts'
import { fileMissing, print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

type Options = {
  against?: string
  judge?: string
  clientId?: string
  seconds: string
  clients: string
  seed?: string
  keys?: boolean
  zaaktype?: string
  informatieobjecttype?: string
  organisation?: string
  out?: string
  json?: boolean
}
const TOLD = 20

export function addTo(program: Command): void {
  program
    .command('history')
    .description(
      'let clients read and write at once at a server, and judge what they were told; ends with 1 when it is not so',
    )
    .option('--against <url>', 'a server of the ZGW standard for tests: cases and documents are made there, and stay')
    .option('--judge <file>', 'judge this history in place of a new one')
    .option('--client-id <id>', 'client id; its secret is in HISTORY_SECRET, or a token in HISTORY_TOKEN')
    .option('--seconds <number>', 'for so long operations are begun', '30')
    .option('--clients <number>', 'so many at once', '8')
    .option('--seed <number>', 'what is asked in which order; unset: by chance, and told')
    .option('--keys', 'send an Idempotency-Key with each change, and ask again with it when no answer came')
    .option('--zaaktype <url>', 'of the cases; unset: the first that is published and valid')
    .option('--informatieobjecttype <url>', 'of the documents; unset: the first that is published')
    .option('--organisation <rsin>', 'of cases and documents; unset: that of the catalogue')
    .option('--out <directory>', 'write the history there, and of each anomaly a script')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  HISTORY_SECRET=… zaakstroom history --against https://zaken.test.example.nl --client-id proef --out ./history',
    )
    .action(async (options: Options) => {
      if ((options.against === undefined) === (options.judge === undefined))
        throw new UsageError('give either --against or --judge')
      const history = options.judge
        ? fromLines(await readFile(options.judge, 'utf8').catch(fileMissing(options.judge)))
        : await playAgainst(options.against!, options)
      const anomalies = judge(history)
      if (options.out !== undefined) await writeOut(options.out, history, anomalies)
      const counts = Object.fromEntries(
        (['ok', 'fail', 'info'] as const).map((type) => [type, history.filter((one) => one.type === type).length]),
      )
      print(options, { operations: history.length, ...counts, anomalies }, inWords(history, counts, anomalies))
      if (anomalies.length > 0) process.exitCode = 1
    })
}

async function playAgainst(url: string, options: Options): Promise<Operation[]> {
  const target = targetOf(url, options)
  const seed = readNumber(options.seed ?? String(Math.floor(Math.random() * 2 ** 31)), '--seed', 0, 2 ** 31)
  const seconds = readNumber(options.seconds, '--seconds', 1, 86_400)
  const clients = readNumber(options.clients, '--clients', 1, 200)
  const types = await findTypes(target, options)
  if (typeof types === 'string') throw new UsageError(types)
  console.error(`seed ${seed}`)
  return play([target], { seed, seconds, clients, ...types }).catch((error: unknown) => {
    throw error instanceof CannotPlay ? new UsageError(error.message) : error
  })
}

function targetOf(url: string, { clientId, keys = false }: Options): Target {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new UsageError('the address begins with https:// or http://')
  const { HISTORY_TOKEN, HISTORY_SECRET } = process.env
  if (!HISTORY_TOKEN && !(clientId && HISTORY_SECRET))
    throw new UsageError('give --client-id with its secret in HISTORY_SECRET, or a token in HISTORY_TOKEN')
  return {
    url: parsed.href.replace(/\/$/, ''),
    token: () => HISTORY_TOKEN ?? signToken(clientId ?? '', HISTORY_SECRET ?? '', { id: 'history', name: 'history' }),
    usesKeys: keys,
  }
}

async function writeOut(directory: string, history: Operation[], anomalies: Anomaly[]): Promise<void> {
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'history.jsonl'), toLines(history))
  for (const [index, anomaly] of anomalies.slice(0, TOLD).entries())
    await writeFile(join(directory, `anomaly-${index + 1}.mjs`), toScript(history, cutDown(history, anomaly), anomaly))
}

function inWords(history: Operation[], { ok, fail, info }: Record<string, number>, anomalies: Anomaly[]): string {
  const counted = `${history.length} operations: ${ok} ok, ${fail} fail, ${info} info`
  if (anomalies.length === 0) return `${counted}. No anomaly.`
  return [
    `${counted}. ${anomalies.length} anomalies:`,
    ...anomalies
      .slice(0, TOLD)
      .map(({ anomaly, object, what }) => `  ${anomaly} (${ANOMALIES[anomaly]})\n    ${object}: ${what}`),
    ...(anomalies.length > TOLD ? [`  and ${anomalies.length - TOLD} more`] : []),
  ].join('\n')
}
