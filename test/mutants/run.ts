// What `npm run mutants` runs: each deliberate break of list.ts is put into a copy of the project, and the test files that are
// concerned have to notice it. A break that they do not notice survived: then a test is missing.
//
//   npm run mutants                        all of them
//   npm run mutants -- --part 3            those of one tenth (0 to 9)
//   npm run mutants -- --part today        the tenths take turns, and each begins somewhere else every time: what --minutes
//                                          leaves out one time is run another time
//   npm run mutants -- --minutes 2         begin no more of them after this time
//   npm run mutants -- --check             only say which breaks no longer fit the code, and which constraint has none
//   npm run mutants -- drc-009             those with this in their name or file
//
// A break whose text is not found, or found twice, is a failure: the code has moved and the break has to follow it.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { prepareServer, temporaryRoot } from '../setup.ts'
import { MUTANTS } from './list.ts'
import type { Mutant } from './mutant.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const DAY = 24 * 3600 * 1000
const LIMIT = 5 * 60_000 // for the tests of one break

const { values: options, positionals: names } = parseArgs({
  options: { part: { type: 'string' }, minutes: { type: 'string' }, check: { type: 'boolean' } },
  allowPositionals: true,
})
const day = Math.floor(Date.now() / DAY)
const today = options.part === 'today'
const part = today ? day % 10 : options.part && Number(options.part)
const selected = MUTANTS.filter(
  ({ what, file }, place) =>
    (part === undefined || place % 10 === part) &&
    (names.length === 0 || names.some((name) => what.includes(name) || file.includes(name))),
)
// Steps of the golden ratio spread evenly over however many there are, and come past each of them.
const begin = today ? Math.floor(((Math.floor(day / 10) * 0.618034) % 1) * selected.length) : 0
const chosen = [...selected.slice(begin), ...selected.slice(0, begin)]

const lost: string[] = []
const fitting: { mutant: Mutant; text: string }[] = []
for (const mutant of chosen) {
  const text = await readFile(join(ROOT, mutant.file), 'utf8').catch(() => '')
  const times = text.split(mutant.search).length - 1
  if (times === 1) fitting.push({ mutant, text })
  else lost.push(`${mutant.file}: "${mutant.search}" is there ${times} times (${mutant.what})`)
}
if (names.length === 0 && part === undefined) lost.push(...(await constraintsWithoutBreak()))
const survived: string[] = []
let noticed = 0
if (!options.check) await run()
for (const line of lost) console.log(`to mend        ${line}`)
console.log(`\n${noticed} noticed, ${survived.length} survived, ${lost.length} to mend, of ${chosen.length} chosen`)
process.exitCode = survived.length + lost.length > 0 ? 1 : 0

/** Each constraint that is answered with a rule has a break that takes its line away. */
async function constraintsWithoutBreak(): Promise<string[]> {
  const file = 'src/core/problem.ts'
  const [, lines = ''] = /\nconst CONSTRAINTS[^\n]*\n(.*?)\n}\n/s.exec(await readFile(join(ROOT, file), 'utf8')) ?? []
  const constraints = [...lines.matchAll(/^ {2}(\w+): /gm)].map(([, name = '']) => name)
  if (constraints.length === 0) return [`${file}: no CONSTRAINTS found`]
  const broken = new Set(MUTANTS.filter((one) => one.file === file).map(({ search }) => search.trim()))
  return constraints.filter((name) => !broken.has(`${name}:`)).map((name) => `${file}: ${name} has no break`)
}

async function run(): Promise<void> {
  const until = options.minutes ? performance.now() + Number(options.minutes) * 60_000 : Number.POSITIVE_INFINITY
  const copy = await mkdtemp(join(tmpdir(), 'zaakstroom-mutants-'))
  const server = await prepareServer(await temporaryRoot())
  try {
    await chmod(copy, 0o711)
    await copyProject(copy)
    for (const { mutant, text } of fitting) {
      if (performance.now() > until) {
        console.log('the time is over: the rest is left for another run')
        break
      }
      const file = join(copy, mutant.file)
      await writeFile(
        file,
        text.replace(mutant.search, () => mutant.replace),
      )
      const start = performance.now()
      const killed = await fails(copy, mutant.tests, server.url)
      await writeFile(file, text)
      if (killed) noticed++
      else survived.push(mutant.what)
      console.log(
        `${killed ? 'noticed       ' : 'SURVIVED      '} ${mutant.what} (${mutant.file}, ${((performance.now() - start) / 1000).toFixed(0)} s)`,
      )
    }
  } finally {
    await server.stop()
    await rm(copy, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function copyProject(copy: string): Promise<void> {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT })
  for (const name of stdout.split('\0').filter((name) => name !== '')) {
    await mkdir(dirname(join(copy, name)), { recursive: true })
    await cp(join(ROOT, name), join(copy, name)).catch(() => {}) // removed, and not yet committed
  }
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
}

/** Whether an assertion of these files fails in the copy, or they do not come to an end. */
async function fails(copy: string, tests: string[], url: string): Promise<boolean> {
  const child = spawn(process.execPath, ['test/run.ts', ...tests], {
    cwd: copy,
    // One failure is enough: the rest of the file need not run.
    env: { ...process.env, TEST_DATABASE_URL: url, TEST_TEMPLATE: '', TAP_BAIL: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  let late = false
  const limit = setTimeout(() => {
    late = true
    child.kill('SIGTERM')
  }, LIMIT)
  await once(child, 'close')
  clearTimeout(limit)
  if (late) return true
  const [, failed] = /(\d+) failed[^\n]*\s*$/.exec(output) ?? []
  if (failed === undefined) throw new Error(`the tests told nothing:\n${output}`)
  return failed !== '0'
}
