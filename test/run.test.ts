// The runner itself, on a directory with a few small files.
// It starts the runner.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

const RUN = fileURLToPath(new URL('run.ts', import.meta.url))
const PASSES = "import t from 'tap'\nt.ok(true, 'well')\n"
const FAILS = "import t from 'tap'\nt.ok(false, 'never well')\n"
const FAILS_ONCE = `import { existsSync, writeFileSync } from 'node:fs'
import t from 'tap'
const again = existsSync('ran')
writeFileSync('ran', '')
t.ok(again, 'well at the second time')
`

t.test('a few files that fail are run once more, and what passes then is told as flaky', async (t) => {
  const told = await run(t, { good: PASSES, once: FAILS_ONCE, bad: FAILS })
  t.match(told, /^FLAKY {3}test\/once\.test\.ts: .*\n\n {2}test\/once\.test\.ts > well at the second time\n/m)
  t.equal(told.match(/^FAILED {2}test\/bad\.test\.ts/gm)?.length, 2)
  t.match(told, /\n3 files in .*\nflaky: test\/once\.test\.ts\n2 passed, 1 failed\n$/)
})

t.test('what fails stays so when files are named, when that is asked for, and when many fail', async (t) => {
  const named = await run(t, { once: FAILS_ONCE }, 'test/once.test.ts')
  t.match(named, /\n0 passed, 1 failed\n$/)
  t.match(await run(t, { once: FAILS_ONCE }, '--no-strict', 'test/once.test.ts'), /\n1 passed, 0 failed\n$/)
  const strict = await run(t, { good: PASSES, once: FAILS_ONCE }, '--strict')
  t.match(strict, /\n1 passed, 1 failed\n$/)
  const many = await run(t, { once: FAILS_ONCE, a: FAILS, b: FAILS, c: FAILS })
  t.match(many, /\n0 passed, 4 failed\n$/)
  t.notMatch(named + strict + many, /flaky/i)
})

t.test(
  'slow files are left out, unless they are asked for or named, and the files of a folder are those below it',
  async (t) => {
    const slow = `// Slow: it takes minutes.\n${PASSES}`
    t.match(await run(t, { good: PASSES, slow }), /\n1 files in .*\n1 passed, 0 failed\n$/)
    t.match(await run(t, { good: PASSES, slow }, '--slow'), /^ok {6}test\/slow\.test\.ts/m)
    t.match(await run(t, { good: PASSES, slow }, '--all'), /\n2 passed, 0 failed\n$/)
    t.match(await run(t, { good: PASSES, slow }, 'test'), /\n2 passed, 0 failed\n$/)
  },
)

t.test('a whole run ends with its profile', async (t) => {
  const told = await run(t, { good: PASSES })
  t.match(told, /^ +\d+ +\d+ +\d+ {2}test\/good\.test\.ts$/m)
  t.match(told, /^ {2}CPU \d+ s: tests \d+, programs that they started \d+, Chromium \d+, PostgreSQL \d+$/m)
})

/** What the runner prints about these files. */
async function run(t: Test, files: Record<string, string>, ...args: string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-run-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await mkdir(join(directory, 'test'))
  await symlink(fileURLToPath(new URL('../node_modules', import.meta.url)), join(directory, 'node_modules'))
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, `test/${name}.test.ts`), text)
  // It ends with 1 when something failed.
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, ...args], { cwd: directory }).catch(
    (error: { stdout: string }) => error,
  )
  return stdout
}
