// npm run bench <name> [-- options]: each file here but the helpers is a benchmark; `--help` tells its options. Without a name those of
// `ALL` run one after the other, each in a process of its own and shorter than by itself, in a quarter of an hour together. What they print,
// one table of their figures, how quiet the machine was and what Open Zaak publishes of itself go to bench/RESULTS.md, where other
// sections stay as they are. One that fails does not stop the others. `--only a,b` runs some and leaves what stands of the others, `--short`
// runs all as short as they go (to try it), `--to <file>` writes elsewhere.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, glob, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const RESULTS = join(import.meta.dirname, 'RESULTS.md')
const HELPERS = [
  'run.ts',
  'bare.ts',
  'receiver.ts',
  'service.ts',
  'stack.ts',
  'subscribers.ts',
  'callbacks.ts',
  'million.ts',
  'figures.ts',
]

/** What is run without a name: the options, those to try it, and how long it may take in minutes. */
const ALL: Record<string, { options: string; short: string; minutes: number }> = {
  notifications: { options: '--seconds 15', short: '--seconds 2', minutes: 6 },
  published: { options: '--zaken 300000 --seconds 10', short: '--zaken 5000 --seconds 1', minutes: 6 },
  lists: {
    options: '--zaken 300000 --documenten 150000',
    short: '--zaken 100000 --documenten 50000 --times 1 --only /zaken/api/v1/zaken',
    minutes: 7,
  },
  answers: { options: '', short: '', minutes: 4 },
  import: { options: '--rows 30000 --as start,worker', short: '--rows 1000 --as start', minutes: 4 },
  documenten: { options: '--documents 100000 --runs 30', short: '--documents 2000 --runs 2', minutes: 3 },
  catalogi: { options: '', short: '', minutes: 4 },
  beheer: { options: '--rows 50000 --runs 10', short: '--rows 2000 --runs 2', minutes: 3 },
}

/** Sections that are written anew, each in its place. */
const OWN = [...Object.keys(ALL), 'Quiet', 'Beside Open Zaak']

const LOOK_MS = 3_000
/** More than this of the processors in other hands makes a figure say little. */
const QUIET_PERCENT = 3

const names = (await readdir(import.meta.dirname))
  .filter((file) => file.endsWith('.ts') && !HELPERS.includes(file))
  .map((file) => file.slice(0, -3))
const [name, ...options] = process.argv.slice(2)
if (name === undefined || name.startsWith('--')) {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      only: { type: 'string', default: Object.keys(ALL).join(',') },
      short: { type: 'boolean', default: false },
      to: { type: 'string', default: RESULTS },
    },
  })
  await runAll(values.only.split(','), values.short, values.to)
} else if (names.includes(name)) {
  const { bench } = (await import(`./${name}.ts`)) as { bench: (argv: string[]) => Promise<void> }
  await bench(options)
} else {
  console.error(`Usage: npm run bench [${names.sort().join('|')}] [-- options]`)
  process.exit(64)
}

async function runAll(chosen: string[], isShort: boolean, to: string): Promise<void> {
  const earlier = await readFile(RESULTS, 'utf8').catch(() => '')
  const found: { one: string; what: string; value: string; aim: string }[] = []
  const quiet: string[] = []
  const loud: string[] = []
  const sections = new Map<string, string>()
  let hasFailed = false
  for (const one of chosen) {
    const { options, short, minutes } = ALL[one] ?? { options: '', short: '', minutes: 30 }
    const given = isShort ? short : options
    console.log(`\n== ${one} ${given}`)
    const load = loadavg()[0]!.toFixed(1)
    const before = await look()
    const began = await processors()
    const { outcome, seconds, output } = await runOne(one, given === '' ? [] : given.split(' '), minutes)
    const during = between(began, await processors())
    const after = await look()
    hasFailed ||= outcome !== 'done'
    const busy = [before, during, after].some(({ others, stolen }) => others > QUIET_PERCENT || stolen > QUIET_PERCENT)
    if (busy) loud.push(one)
    const told = [before, during, after].map(
      ({ others, stolen }) => `${others.toFixed(0)} % others, ${stolen.toFixed(0)} % stolen`,
    )
    quiet.push(`| ${[one, `${outcome} in ${seconds} s`, load, ...told].join(' | ')} |`)
    for (const [, what = '', value = '', aim = ''] of output.matchAll(/^= (.+?): (.+?)(?: \(aim (.+)\))?$/gm))
      found.push({ one, what, value, aim })
    const command = `npm run bench ${one}${given === '' ? '' : ` -- ${given}`}`
    sections.set(one, `## ${one}\n\n\`${command}\`\n\n\`\`\`\n${output.trim()}\n\`\`\`\n`)
  }
  const kept = figuresOf(earlier).filter(({ one }) => !chosen.includes(one))
  const figures = [...kept, ...found]
  const rows = figures.map(({ one, what, value, aim }) => `| ${one} | ${what} | ${value} | ${aim} |`)
  const quietness =
    loud.length === 0
      ? 'The machine was quiet: others used nothing, and the host took nothing.'
      : `The machine was not quiet at ${loud.join(', ')}: compare their ratios and their CPU, not their rates.`
  await writeFile(
    to,
    [
      `# Results\n\nWritten by \`npm run bench${isShort ? ' -- --short' : ''}\`. ${quietness}\n\n${whereAndWhen(kept.map(({ one }) => one))}`,
      `| Benchmark | What | Measured | Aim |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`,
      `## Quiet\n\nOf the processors: what other processes used, and what the host took, in the ${LOOK_MS / 1000} s before, during it and in the ${LOOK_MS / 1000} s after.\n`,
      `| Benchmark | Outcome | Load before | Before | During | After |\n| --- | --- | --- | --- | --- | --- |\n${quiet.join('\n')}\n`,
      await besideOpenZaak(figures),
      ...Object.keys(ALL).flatMap((one) => sections.get(one) ?? sectionsOf(earlier).get(one) ?? []),
      ...[...sectionsOf(earlier)].flatMap(([one, text]) => (OWN.includes(one) ? [] : [sections.get(one) ?? text])),
      ...[...sections].flatMap(([one, text]) => (one in ALL || sectionsOf(earlier).has(one) ? [] : [text])),
    ].join('\n'),
  )
  process.exitCode = hasFailed ? 1 : 0
}

function whereAndWhen(kept: string[]): string {
  const git = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: import.meta.dirname, encoding: 'utf8' })
  const [cpu] = cpus()
  const of = kept.length === 0 ? '' : `; of ${[...new Set(kept)].join(', ')} what stood here before`
  return [
    `- Date: ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC${of}`,
    `- Machine: ${availableParallelism()} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}`,
    `- Version: ${git.status === 0 ? git.stdout.trim() : 'without git'}`,
    '',
  ].join('\n')
}

type Figures = { one: string; what: string; value: string; aim: string }[]

/** What Open Zaak publishes of itself, and what was measured here. */
async function besideOpenZaak(figures: Figures): Promise<string> {
  const { PUBLISHED } = await import('./published.ts')
  const measured = (name: string) =>
    figures.find(({ one, what }) => `${one}: ${what}` === name)?.value ?? 'not measured'
  const sources = [...new Set(PUBLISHED.map(({ source }) => source))]
  const rows = PUBLISHED.map(
    ({ what, theirs, source, ours }) =>
      `| ${what} | ${theirs} [${sources.indexOf(source) + 1}] | ${ours.map(measured).join('; ')} |`,
  )
  const notes = sources.map((source, place) => `${place + 1}. ${source}`)
  return `## Beside Open Zaak\n\nWhat Open Zaak publishes was measured on other machines than this one, with clients that wait for nothing in both.\n\n| What | Open Zaak publishes | Measured here |\n| --- | --- | --- |\n${rows.join('\n')}\n\n${notes.join('\n')}\n`
}

/** The rows of the first table. */
function figuresOf(text: string): Figures {
  const [head = ''] = text.split(/^## /m)
  return [...head.matchAll(/^\| (\w+) \| (.+?) \| (.*?) \|(?: (.*?))? ?\|$/gm)].flatMap(
    ([, one = '', what = '', value = '', aim = '']) =>
      one === 'Benchmark' || value === '' ? [] : [{ one, what, value, aim }],
  )
}

function sectionsOf(text: string): Map<string, string> {
  const sections = text.split(/^(?=## )/m).slice(1)
  return new Map(sections.map((section) => [section.slice(3, section.indexOf('\n')), `${section.trim()}\n`]))
}

type Processors = { all: number; idle: number; stolen: number; own: number }

/** What the processors did so far, in ticks, and this process with all that ended below it; nothing where there is no /proc. */
async function processors(): Promise<Processors> {
  const numbersOf = async (file: string) => (await readFile(file, 'utf8').catch(() => '')).split('\n', 1)[0]!
  const ticks = (await numbersOf('/proc/stat')).split(/\s+/).slice(1, 9).map(Number)
  const self = (await numbersOf('/proc/self/stat'))
    .replace(/^.*\) /, '')
    .split(' ')
    .slice(11, 15)
    .map(Number)
  const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)
  return { all: sum(ticks), idle: (ticks[3] ?? 0) + (ticks[4] ?? 0), stolen: ticks[7] ?? 0, own: sum(self) }
}

/** In per cent of all processors: what others used, and what the host took. */
function between(from: Processors, to: Processors): { others: number; stolen: number } {
  const [all, idle, stolen, own] = (['all', 'idle', 'stolen', 'own'] as const).map((name) => to[name] - from[name]) as [
    number,
    number,
    number,
    number,
  ]
  const percent = (ticks: number) => Math.max(0, (100 * ticks) / Math.max(1, all))
  return { others: percent(all - idle - stolen - own), stolen: percent(stolen) }
}

async function look(): Promise<{ others: number; stolen: number }> {
  const before = await processors()
  await sleep(LOOK_MS)
  return between(before, await processors())
}

/** Runs a benchmark as a group of processes, which is ended as a whole when its time is over; its files and servers with it. */
async function runOne(one: string, options: string[], minutes: number) {
  const begin = performance.now()
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  await chmod(directory, 0o711) // for the user that PostgreSQL runs as
  const child = spawn(process.execPath, [import.meta.filename, one, ...options], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: directory },
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    process.stdout.write(text)
  })
  let isLate = false
  const stop = (signal: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, signal)
    } catch {} // it has ended
  }
  const timer = setTimeout(() => {
    isLate = true
    stop('SIGTERM')
    setTimeout(stop, 20_000, 'SIGKILL').unref()
  }, minutes * 60_000)
  const interrupt = () => stop('SIGTERM')
  process.once('SIGINT', interrupt)
  const [code] = await once(child, 'close')
  process.off('SIGINT', interrupt)
  clearTimeout(timer)
  for await (const file of glob('**/postmaster.pid', { cwd: directory })) {
    const [pid] = (await readFile(join(directory, file), 'utf8')).split('\n', 1)
    try {
      process.kill(Number(pid), 'SIGQUIT') // it outlives the program that was to stop it
    } catch {}
  }
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 })
  const outcome = isLate ? 'out of time' : code === 0 ? 'done' : 'failed'
  return { outcome, seconds: Math.round((performance.now() - begin) / 1000), output }
}
