// What `npm test` runs: each test file in a process of its own, two at a time, all on one database server.
//
//   npm test                              every test/**/*.test.ts
//   npm test -- test/config.test.ts       only these files
//   TEST_DATABASE_URL=... npm test        on that server (a role that may create databases) instead of an embedded one
//
// The files are run by node itself, not by tap's runner: that one rebuilds a part of itself inside node_modules at its first
// run, and puts module hooks of its own around ours. Only what the files print is TAP.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, glob, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { type FinalResults, Parser, type Result } from 'tap-parser'
import { prepareServer, type TestServer } from './setup.ts'

const AT_ONCE = 2
const FILE_LIMIT = 15 * 60_000 // for a file that hangs so badly that tap's own limit does not work
const TAP_TIMEOUT = '600'

type Outcome = { passed: number; skipped: number; failures: string[]; output: string }

const running = new Set<ChildProcess>()
let interrupted: NodeJS.Signals | undefined

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    interrupted = signal
    for (const child of running) end(child)
  })
}

const started = performance.now()
const total = { passed: 0, failed: 0, skipped: 0 }
const files = process.argv.length > 2 ? process.argv.slice(2) : await Array.fromAsync(glob('test/**/*.test.ts'))
// Whatever the tests leave in the directory for temporary files is removed with it.
const temporary = await mkdtemp(join(tmpdir(), 'zaakstroom-tests-'))
let server: TestServer | undefined
try {
  server = await prepareServer()
  await mkdir(join(temporary, 'tmp'))
  await chmod(temporary, 0o711) // root's servers run as another user
  const queue = files.sort().values()
  await Promise.all(Array.from({ length: AT_ONCE }, () => work(queue, server!)))
} catch (error) {
  total.failed++
  console.error(error)
} finally {
  await server?.stop().catch((error) => {
    total.failed++
    console.error(error)
  })
  await rm(temporary, { recursive: true, force: true, maxRetries: 5 })
}
if (interrupted) console.log(`\nstopped by ${interrupted}`)
console.log(`\n${files.length} files in ${seconds(started)}`)
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`)
process.exitCode = interrupted || total.failed > 0 || total.passed === 0 ? 1 : 0

async function work(queue: Iterator<string> & Iterable<string>, { url, template }: TestServer): Promise<void> {
  for (const file of queue) {
    if (interrupted) return
    const start = performance.now()
    const { passed, skipped, failures, output } = await runFile(file, {
      ...process.env,
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), // a `node` that a test starts is this one
      TMPDIR: join(temporary, 'tmp'),
      TEST_DATABASE_URL: url,
      TEST_TEMPLATE: template,
      TAP_TIMEOUT,
    })
    total.passed += passed
    total.skipped += skipped
    total.failed += failures.length
    const counts = [
      `${passed} passed`,
      failures.length > 0 && `${failures.length} failed`,
      skipped && `${skipped} skipped`,
    ]
    const summary = `${file}: ${counts.filter(Boolean).join(', ')} (${seconds(start)})`
    if (failures.length === 0) console.log(`ok      ${summary}`)
    else console.log([`FAILED  ${summary}`, ...failures, output && `printed:\n${output}`].filter(Boolean).join('\n\n'))
  }
}

async function runFile(file: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  // A process group of its own, so that everything it started can be ended with it.
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  running.add(child)
  let timedOut = false
  const limit = setTimeout(() => {
    timedOut = true
    end(child)
  }, FILE_LIMIT)

  const outcome: Outcome = { passed: 0, skipped: 0, failures: [], output: '' }
  const parser = new Parser()
  const count = () => outcome.skipped++
  parser.on('pass', () => outcome.passed++)
  parser.on('skip', count)
  parser.on('todo', count)
  parser.on('fail', (result: Result) => outcome.failures.push(describe(result)))
  parser.on('extra', (text: string) => {
    outcome.output += text
  })
  const complete = new Promise<FinalResults>((resolve) => parser.on('complete', resolve))
  child.stdout.pipe(parser)
  const [code, signal] = await once(child, 'close')
  const results = await complete
  clearTimeout(limit)
  running.delete(child)

  // A file may go wrong without a failing assertion: it stopped halfway, or had none.
  if (outcome.failures.length === 0) {
    const faults = results.failures.map((failure) => failure.tapError).filter(Boolean)
    if (timedOut) faults.push(`not done after ${FILE_LIMIT / 1000} s`)
    if (code !== 0) faults.push(`ended with ${signal ?? `code ${code}`}`)
    if (results.bailout) faults.push(`bailed out: ${results.bailout}`)
    if (outcome.passed + outcome.skipped === 0) faults.push('no test ran')
    else if (!results.ok && faults.length === 0) faults.push('not ok')
    if (faults.length > 0) outcome.failures.push(`  ${file}\n    ${faults.join('\n    ')}`)
  }
  return outcome
}

/** A failing assertion in full: the tests that it stands in, and what tap has to say about it. */
function describe({ fullname, name, diag }: Result): string {
  const { at, diff, stack, source, ...other } = (diag ?? {}) as Record<string, unknown>
  const place = at as { fileName?: string; lineNumber?: number; columnNumber?: number } | undefined
  const lines = [
    ...(place?.fileName && !stack ? [`at ${place.fileName}:${place.lineNumber}:${place.columnNumber}`] : []),
    ...Object.entries(other).map(
      ([key, value]) => `${key}: ${typeof value === 'string' ? value : inspect(value, { depth: 8 })}`,
    ),
    ...[diff, stack].filter((text) => text !== undefined).map(String),
  ]
  const indented = lines.join('\n').trimEnd().replaceAll('\n', '\n    ')
  return `  ${fullname || name}\n    ${indented}`
}

/** The file and all that it started; what does not listen is killed. */
function end(child: ChildProcess): void {
  kill(child, 'SIGTERM')
  setTimeout(() => kill(child, 'SIGKILL'), 10_000).unref()
}

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal)
  } catch {
    // already gone
  }
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
