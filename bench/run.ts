// npm run bench <name> [-- options]: each file here but the helpers is a benchmark; `--help` tells its options. Without a name
// all run one after the other, each in a process of its own and shorter than by itself, in less than half an hour together; what
// they print and one table of their figures go to bench/RESULTS.md, where other sections stay as they are. One that fails does not
// stop the others. The table says of each how busy the machine was before it, and what the host took away meanwhile.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'

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

/** What is run without a name: the options, and how long it may take in minutes. */
const ALL: Record<string, { options: string[]; minutes: number }> = {
  notifications: { options: ['--seconds', '15'], minutes: 6 },
  lists: { options: ['--zaken', '300000', '--documenten', '150000'], minutes: 7 },
  answers: { options: [], minutes: 2 },
  import: { options: ['--rows', '30000', '--as', 'start,worker'], minutes: 4 },
  documenten: { options: ['--documents', '100000', '--runs', '30'], minutes: 3 },
  catalogi: { options: [], minutes: 2 },
  beheer: { options: ['--rows', '50000', '--runs', '10'], minutes: 3 },
}

const names = (await readdir(import.meta.dirname))
  .filter((file) => file.endsWith('.ts') && !HELPERS.includes(file))
  .map((file) => file.slice(0, -3))
const [name, ...options] = process.argv.slice(2)
if (name === undefined) await runAll()
else if (names.includes(name)) {
  const { bench } = (await import(`./${name}.ts`)) as { bench: (argv: string[]) => Promise<void> }
  await bench(options)
} else {
  console.error(`Usage: npm run bench [${names.sort().join('|')}] [-- options]`)
  process.exit(64)
}

async function runAll(): Promise<void> {
  const rows: string[] = []
  const outputs: string[] = []
  let hasFailed = false
  for (const [one, { options, minutes }] of Object.entries(ALL)) {
    console.log(`\n== ${one} ${options.join(' ')}`)
    const load = loadavg()[0]?.toFixed(1)
    const before = await processors()
    const { outcome, seconds, output } = await runOne(one, options, minutes)
    const after = await processors()
    const steal = (100 * (after.steal - before.steal)) / Math.max(1, after.all - before.all)
    hasFailed ||= outcome !== 'done'
    rows.push(
      `| ${one} | ${outcome} in ${seconds} s | load ${load} before it, ${steal.toFixed(0)} % stolen by the host | load below 0.5, 0 % |`,
    )
    for (const [, what, value, aim = ''] of output.matchAll(/^= (.+?): (.+?)(?: \(aim (.+)\))?$/gm))
      rows.push(`| ${one} | ${what} | ${value} | ${aim} |`)
    outputs.push(`## ${one}\n\n\`npm run bench ${one} -- ${options.join(' ')}\`\n\n\`\`\`\n${output.trim()}\n\`\`\`\n`)
  }
  const [cpu] = cpus()
  const machine = `${availableParallelism()} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}`
  const head = `# Results\n\nWritten by \`npm run bench\`.\n\n- Date: ${new Date().toISOString().slice(0, 10)}\n- Machine: ${machine}\n`
  const table = `| Benchmark | What | Measured | Aim |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`
  await writeFile(RESULTS, [head, table, ...outputs, ...(await otherSections())].join('\n'))
  process.exitCode = hasFailed ? 1 : 0
}

/** What the processors did so far, and what the host took from them; nothing where there is no /proc. */
async function processors(): Promise<{ all: number; steal: number }> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8').catch(() => '')).split('\n', 1)
  const ticks = line.split(/\s+/).slice(1, 9).map(Number)
  return { all: ticks.reduce((sum, one) => sum + one, 0), steal: ticks[7] ?? 0 }
}

/** What stands in the results of what takes longer than all of these, such as a soak. */
async function otherSections(): Promise<string[]> {
  const sections = (await readFile(RESULTS, 'utf8')).split(/^(?=## )/m).slice(1)
  return sections.filter((section) => !Object.hasOwn(ALL, section.slice(3, section.indexOf('\n'))))
}

/** Runs a benchmark as a group of processes, which is ended as a whole when its time is over. */
async function runOne(one: string, options: string[], minutes: number) {
  const begin = performance.now()
  const child = spawn(process.execPath, [import.meta.filename, one, ...options], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
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
  const outcome = isLate ? 'out of time' : code === 0 ? 'done' : 'failed'
  return { outcome, seconds: Math.round((performance.now() - begin) / 1000), output }
}
