// What `npm test` runs: the test files, several at a time, all on one database server.
//
//   npm test                              every test/**/*.test.ts but the slow ones
//   npm run test:slow                     the slow ones; `npm test -- --all` for all of them
//   npm test -- test/config.test.ts       only these files, and those of folders: npm test -- test/anonymise
//   npm test -- --changed                 those that changed since main, and that import what changed (test/changed.ts)
//   NODE_V8_COVERAGE=<directory> npm test  and keep there what ran, for `npm run coverage`
//   npm test -- --strict                  without another try for what failed; --no-strict: with one, also for files that are named
//   TEST_DATABASE_URL=... npm test        on that server (a role that may create databases) instead of an embedded one
//
// The files that take longest go first. Most keep a core busy; a file that starts programs mostly waits for them. So there are
// two queues, and each has as many lanes as there are cores. The files of a lane share a process (test/lane.ts), but for those
// that measure their process or change it: each of these has one of its own. The files are run by node itself, not by tap's
// runner: that one rebuilds a part of itself inside node_modules at its first run, and puts module hooks of its own around ours.
// Only what the files print is TAP.
//
// A slow file says so on its first line, `// Slow: <why>`: it kills processes, plays outages or takes minutes by its nature.
//
// How long each file took is kept in test/seconds.json by each whole run that is green. The profile of a whole run is printed at its
// end (test/profile.ts).
//
// When at most RUN_AGAIN of all files failed, each of them is run once more with nothing beside it. What passes then is counted
// as passed, and told as flaky: a fault to be mended, which says nothing of the change that is tested.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type FinalResults, Parser } from 'tap-parser'
import { changedTests } from './changed.ts'
import type { Order } from './lane.ts'
import { emptyOutcome, inFull, judge, listen, type Outcome, timeTests } from './outcome.ts'
import { between, type Cpu, cpuOf, noCpu, profileOf, sumOf, type Took } from './profile.ts'
import { prepareServer, type TestServer, temporaryRoot } from './setup.ts'

const FILE_LIMIT = 15 * 60_000 // for a file that hangs so badly that tap's own limit does not work
const TAP_TIMEOUT = 600 // seconds, unless a test says otherwise
const LEAVE_LIMIT = 30_000 // for a process whose last file is done
const OWN_PROCESS = /^\/\/ In a process of its own/m
const STARTS_PROGRAMS = /^\/\/ It starts /m
const SLOW = /^\/\/ Slow: \S/
const LOOK_MS = 500 // for the CPU of a process that ends by itself
const RUN_AGAIN = 3
/** Tests make garbage that is young: with room for it a tenth of their CPU is saved. */
const LANE_OPTIONS = ['--max-semi-space-size=64'] // MB
const LANE = new URL('lane.ts', import.meta.url).pathname
const SECONDS = 'test/seconds.json'
const UNKNOWN_SECONDS = 10
// Packages that one test needs stand in folders of their own below test/, with tests of theirs.
const filesBelow = (folder: string) =>
  Array.fromAsync(glob(`${folder}/**/*.test.ts`, { exclude: ['**/node_modules/**'] }))

type File = { name: string; seconds: number; isAlone: boolean; isSlow: boolean; waits: boolean }

const { values: options, positionals: names } = parseArgs({
  options: {
    all: { type: 'boolean' },
    changed: { type: 'boolean' },
    slow: { type: 'boolean' },
    strict: { type: 'boolean' },
  },
  allowPositionals: true,
  allowNegative: true,
})
const running = new Set<ChildProcess>()
let interrupted: NodeJS.Signals | undefined

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    interrupted = signal
    for (const child of running) end(child)
  })
}

const started = performance.now()
let count = 0
const total = { passed: 0, failed: 0, skipped: 0 }
/** How the files that failed did so. */
const failed = new Map<string, Outcome>()
const flaky: string[] = []
const took: Took[] = []
const tests: { name: string; seconds: number }[] = []
const seconds: Record<string, number> = JSON.parse(await readFile(SECONDS, 'utf8').catch(() => '{}'))
const isWhole = names.length === 0 && !options.changed
const files = await chooseFiles()
// Whatever the tests leave in the directory for temporary files is removed with it.
const root = await temporaryRoot()
const temporary = await mkdtemp(join(root, 'zaakstroom-tests-'))
const noteFile = join(temporary, 'notes')
let server: TestServer | undefined
let profile = ''
try {
  server = await prepareServer(root)
  await mkdir(join(temporary, 'tmp'))
  await chmod(temporary, 0o711) // root's servers run as another user
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), // a `node` that a test starts is this one
    TMPDIR: join(temporary, 'tmp'),
    TEST_DATABASE_URL: server.url,
    TEST_TEMPLATE: server.template,
    TEST_PROFILE: noteFile,
    TAP_TIMEOUT: String(TAP_TIMEOUT),
    NODE_COMPILE_CACHE: new URL('../node_modules/.cache/compiled', import.meta.url).pathname,
  }
  const lanes = Array.from({ length: availableParallelism() })
  await Promise.all([true, false].flatMap((waits) => lanes.map(() => work(files, waits, env))))
  if (!(options.strict ?? !isWhole)) await runAgain(env)
  if (isWhole && !interrupted) profile = await profileOf(took, tests, (await cpuOf(process.pid)).postgres, noteFile)
  if (isWhole && !interrupted && total.failed === 0) await record(await filesBelow('test'))
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
if (profile) console.log(`\n${profile}`)
if (interrupted) console.log(`\nstopped by ${interrupted}`)
console.log(`\n${count} files in ${since(started)}`)
if (flaky.length > 0) console.log(`flaky: ${flaky.join(', ')}`)
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`)
process.exitCode = interrupted || total.failed > 0 || total.passed === 0 ? 1 : 0

/** The files that are asked for, the longest first. Those that are named are run though they are slow. */
async function chooseFiles(): Promise<File[]> {
  if (options.changed) return describeFiles(await changedTests())
  if (names.length === 0) {
    const all = await describeFiles(await filesBelow('test'))
    return options.all ? all : all.filter(({ isSlow }) => isSlow === (options.slow ?? false))
  }
  const named = await Promise.all(names.map(async (name) => (name.endsWith('.ts') ? [name] : filesBelow(name))))
  return describeFiles([...new Set(named.flat())])
}

/** The files, the longest first. */
async function describeFiles(names: string[]): Promise<File[]> {
  const described = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(name, 'utf8')
      const isAlone = OWN_PROCESS.test(text)
      const waits = isAlone || STARTS_PROGRAMS.test(text)
      return { name, seconds: seconds[name] ?? UNKNOWN_SECONDS, isAlone, isSlow: SLOW.test(text), waits }
    }),
  )
  return described.sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1))
}

/** Takes files of one queue until there are none, and then those of the other. */
async function work(files: File[], waits: boolean, env: NodeJS.ProcessEnv): Promise<void> {
  let shared: SharedProcess | undefined
  for (let file = take(files, waits); file; file = take(files, waits)) {
    const start = performance.now()
    if (!file.isAlone) shared ??= openShared(env)
    const { outcome, cpu } = await (file.isAlone ? runAlone(file.name, env) : shared!.run(file.name))
    took.push({ name: file.name, wall: (performance.now() - start) / 1000, cpu })
    report(file.name, outcome, start)
    if (shared?.ended()) shared = undefined
  }
  await shared?.leave()
}

/** Runs the files that failed once more, when they are few. The sums are of the last run. */
async function runAgain(env: NodeJS.ProcessEnv): Promise<void> {
  if (failed.size > RUN_AGAIN) return
  for (const [name, first] of failed) {
    if (interrupted) return
    const start = performance.now()
    const { outcome } = await runAlone(name, env)
    add(first, -1)
    add(outcome, 1)
    if (outcome.failures.length > 0) console.log(tell(name, outcome, start))
    else {
      flaky.push(name)
      console.log(`FLAKY   ${name}: passed when it ran again, alone (${since(start)}). At first:\n\n${inFull(first)}`)
    }
  }
}

function take(files: File[], waits: boolean): File | undefined {
  if (interrupted || files.length === 0) return undefined
  const place = files.findIndex((file) => file.waits === waits)
  return files.splice(Math.max(place, 0), 1)[0]
}

/** What these files took, now or before; what is no longer there is forgotten. */
async function record(names: string[]): Promise<void> {
  const known = names.sort().flatMap((name) => (name in seconds ? [[name, seconds[name]]] : []))
  await writeFile(SECONDS, `${JSON.stringify(Object.fromEntries(known), undefined, 2)}\n`)
}

function report(name: string, outcome: Outcome, start: number): void {
  count++
  add(outcome, 1)
  seconds[name] = Math.round((performance.now() - start) / 1000)
  if (outcome.failures.length > 0) failed.set(name, outcome)
  console.log(tell(name, outcome, start))
}

/** @param times -1: it does not count any more */
function add({ passed, skipped, failures }: Outcome, times: 1 | -1): void {
  total.passed += times * passed
  total.skipped += times * skipped
  total.failed += times * failures.length
}

function tell(name: string, outcome: Outcome, start: number): string {
  const { passed, skipped, failures, output } = outcome
  const counts = [
    `${passed} passed`,
    failures.length > 0 && `${failures.length} failed`,
    skipped && `${skipped} skipped`,
  ]
  const summary = `${name}: ${counts.filter(Boolean).join(', ')} (${since(start)})`
  if (failures.length > 0) return `FAILED  ${summary}\n\n${inFull(outcome)}`
  return skipped > 0 ? `ok      ${summary}\n${output.trimEnd()}` : `ok      ${summary}`
}

type Run = { outcome: Outcome; cpu: Cpu }

async function runAlone(file: string, env: NodeJS.ProcessEnv): Promise<Run> {
  // A process group of its own, so that everything it started can be ended with it.
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  running.add(child)
  const parser = new Parser()
  const outcome = emptyOutcome()
  listen(parser, () => outcome)
  timeTests(parser, file, (test) => tests.push(test))
  let cpu = noCpu()
  const look = setInterval(async () => {
    const now = await cpuOf(child.pid!)
    if (sumOf(now) > sumOf(cpu)) cpu = now
  }, LOOK_MS)
  const complete = new Promise<FinalResults>((resolve) => parser.on('complete', resolve))
  const limit = limitOf(child, FILE_LIMIT)
  child.stdout.pipe(parser)
  const [code, signal] = await once(child, 'close')
  const results = await complete
  clearTimeout(limit.timer)
  clearInterval(look)
  running.delete(child)
  judge(file, outcome, results, [
    ...(limit.passed() ? [`not done after ${FILE_LIMIT / 1000} s`] : []),
    ...(code === 0 ? [] : [`ended with ${signal ?? `code ${code}`}`]),
  ])
  return { outcome, cpu }
}

type SharedProcess = { run(file: string): Promise<Run>; ended(): boolean; leave(): Promise<void> }

/** A process of test/lane.ts. One that ends before its time costs the file that it was at; the next file gets another. */
function openShared(env: NodeJS.ProcessEnv): SharedProcess {
  const child = spawn(process.execPath, [...LANE_OPTIONS, LANE], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  child.stdin.on('error', () => {}) // it is gone, which `close` tells
  running.add(child)
  const closed: Promise<[number | null, NodeJS.Signals | null]> = once(child, 'close') as never
  let ended = false
  let failed = false // then the process ends with code 1, which says nothing new
  let outcome = emptyOutcome()
  let results: FinalResults | undefined
  let done = () => {}
  const fileDone = (final: FinalResults) => {
    results = final
    done()
  }
  const parser = new Parser()
  listen(parser, () => outcome)
  parser.on('child', (lane: Parser) => {
    lane.on('child', (test: Parser) => {
      test.on('complete', fileDone)
      timeTests(test, test.name, (one) => tests.push(one))
    })
  })
  child.stdout.pipe(parser)
  const close = closed.then(([code, signal]) => {
    ended = true
    running.delete(child)
    return code === 0 || (code === 1 && failed) ? [] : [`its process ended with ${signal ?? `code ${code}`}`]
  })
  return {
    ended: () => ended,
    run: async (name) => {
      outcome = emptyOutcome()
      results = undefined
      const before = await cpuOf(child.pid!)
      const tested = new Promise<string[]>((resolve) => (done = () => resolve([])))
      const limit = limitOf(child, FILE_LIMIT)
      const order: Order = { file: name, timeout: TAP_TIMEOUT * 1000 }
      child.stdin.write(`${JSON.stringify(order)}\n`)
      const faults = await Promise.race([tested, close])
      clearTimeout(limit.timer)
      judge(name, outcome, results, [...(limit.passed() ? [`not done after ${FILE_LIMIT / 1000} s`] : []), ...faults])
      failed ||= outcome.failures.length > 0
      return { outcome, cpu: between(before, await cpuOf(child.pid!)) }
    },
    leave: async () => {
      outcome = emptyOutcome()
      const limit = limitOf(child, LEAVE_LIMIT)
      child.stdin.end()
      const faults = await close
      clearTimeout(limit.timer)
      if (limit.passed()) faults.push('something that a file left open kept it from ending')
      outcome.failures.push(...faults.map((fault) => `  ${fault}`))
      if (outcome.failures.length === 0) return
      add(outcome, 1)
      console.log(tell('a process of several files', outcome, performance.now()))
    },
  }
}

function limitOf(child: ChildProcess, milliseconds: number): { timer: NodeJS.Timeout; passed(): boolean } {
  let passed = false
  const timer = setTimeout(() => {
    passed = true
    end(child)
  }, milliseconds)
  return { timer, passed: () => passed }
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

function since(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`
}
