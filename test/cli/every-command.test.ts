// Slow: it starts the program twice for each of some sixty commands.
//
// Every command of the program's own tree, in situations in which it cannot do its work: it says so, ends with the exit code for
// it, and has made nothing.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import t, { type Test } from 'tap'
import { addCommands } from '../../src/cli/program.ts'
import { openDatabase } from '../../src/database/database.ts'
import { programEnv } from '../program-env.ts'
import { emptyDatabase } from '../setup.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const KEY = 'the key of this database, long enough'

/** What an argument or option is given, by the name that its help has for it. */
const GIVEN: Record<string, string> = {
  uuid: '5e2f0c2c-4b50-4b7c-9b4e-7ab9c3d6b3a1',
  rsin: '001234567',
  role: 'viewer',
  moment: '2026-03-02T08:00:00Z',
  backend: 'filesystem',
  'database url': 'postgres://u:p@127.0.0.1:1/x',
  url: 'http://127.0.0.1:1/',
  number: '1',
  hours: '1',
  file: new URL('every-command.test.ts', import.meta.url).pathname,
  files: new URL('every-command.test.ts', import.meta.url).pathname,
}
/** Beside what is required. */
const ALSO: Record<string, string[]> = {
  'client key': ['--remove'],
  'abonnement replay': ['--failed'],
  'overnemen open-notificaties': ['--database', 'postgres://u:p@127.0.0.1:1/x'],
  'notifications resend': ['--from', '2026-03-02T08:00:00Z'],
  'organisation set': ['--name', 'x'],
  'organisation remove': ['--confirm', '001234567'],
}
/** They run until they are stopped, or have a database of their own, or ask a server or a source before it. */
const OTHER = new Set([
  'start',
  'api',
  'worker',
  'demo',
  'copy',
  'history',
  'import prepare',
  'import run',
  'catalogus export',
  'migrate',
  'overnemen open-notificaties',
  'overnemen rapport',
  'overnemen zaakstroom',
])

type Leaf = { name: string; args: string[] }

/** All commands that do something, with what each requires. */
function leavesOf(command: Command, path: string[] = []): Leaf[] {
  if (command.commands.length > 0) return command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]))
  const name = path.join(' ')
  const given = (what: string) => GIVEN[what.replace(/^[<[]|(\.\.\.)?[>\]]$/g, '')] ?? 'x'
  const args = command.registeredArguments.filter(({ required }) => required).map((one) => given(one.name()))
  const options = command.options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long, flags }) => [
      long ?? '',
      ...(flags.match(/<.+>/) ?? []).map((what) => given(long === '--database' ? 'database url' : what)),
    ])
  return [{ name, args: [...path, ...args, ...options, ...(ALSO[name] ?? [])] }]
}

function run(args: string[], cwd: string, env: Record<string, string>) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const options = { env: programEnv(env), cwd, timeout: 60_000 }
    const child = execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    )
    child.stdin?.end('a secret that is long enough to be one\n')
  })
}

/** Runs each command in a directory of its own, two at a time, and looks at what it made there. */
async function each(
  t: Test,
  env: Record<string, string>,
  judge: (leaf: Leaf, outcome: Awaited<ReturnType<typeof run>>) => void,
) {
  const program = new Command('zaakstroom')
  await addCommands(program)
  const leaves = leavesOf(program).filter(({ name }) => !OTHER.has(name))
  t.ok(leaves.length > 50, `${leaves.length} commands`)
  const take = async () => {
    for (let leaf = leaves.pop(); leaf; leaf = leaves.pop()) {
      const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-every-'))
      judge(leaf, await run(leaf.args, directory, env))
      t.strictSame(await readdir(directory), [], `${leaf.name} made nothing`)
      await rm(directory, { recursive: true })
    }
  }
  await Promise.all([take(), take()])
}

t.setTimeout(0)
t.test('without a database every command ends with 78 and makes none', async (t) => {
  await each(t, { SECRET_KEY: KEY }, ({ name }, { code, stdout, stderr }) => {
    // These read their file, or a choice, before they look for a database.
    const isFirst = ['setup apply', 'catalogus import', 'selectielijst import'].includes(name)
    t.match({ code, stdout }, isFirst ? {} : name === 'where' ? { code: 78 } : { code: 78, stdout: '' }, name)
    t.match(stderr, isFirst ? /./ : /is required/, name)
  })
})

t.test('on a foreign database every command ends with 78, names `migrate`, and makes no table', async (t) => {
  const { url } = await emptyDatabase(t)
  const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(close)
  await each(t, { DATABASE_URL: url, SECRET_KEY: KEY }, ({ name }, { code, stderr }) => {
    if (['setup apply', 'catalogus import', 'selectielijst import'].includes(name)) return
    t.equal(code, 78, name)
    t.match(stderr, /run `zaakstroom migrate`|is required/, name)
    t.notMatch(stderr, /relation .* does not exist/, name)
  })
  t.strictSame([...(await sql`select from pg_namespace where nspname like 'zaakstroom%'`)], [])
})
