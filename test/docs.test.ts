// What the documents name is there: files, scripts of npm and commands of the program.
import { execFile } from 'node:child_process'
import { access, glob, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Command, type CommanderError } from 'commander'
import t from 'tap'
import { withBounds } from './generate-bounds.ts'
import { FILE as ERRORS_PAGE, errorsPage } from './generate-errors.ts'
import { FILE as SETTINGS_PAGE, settingsPage } from './generate-settings.ts'

const ROOT = join(import.meta.dirname, '..')
const names = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...(await Array.fromAsync(glob('docs/{,handleiding/}*.md', { cwd: ROOT }))),
]
const documents = await Promise.all(
  names.sort().map(async (name) => ({ name, text: await readFile(join(ROOT, name), 'utf8') })),
)

/** What the pattern finds in code of the documents (between backquotes, or in a block), with where it stands. */
function found(pattern: RegExp): Map<string, string> {
  const all = new Map<string, string>()
  for (const { name, text } of documents)
    for (const [code] of text.matchAll(/```[\s\S]*?```|`[^`\n]+`/g))
      for (const [whole, part] of code.matchAll(pattern)) all.set(part ?? whole, name)
  return all
}

t.test('no file holds the marks of a merge that was not finished', async (t) => {
  // Made of pieces: this file would be found otherwise.
  const marks = `^(${'<'.repeat(7)}|${'>'.repeat(7)})( |$)`
  const git = promisify(execFile)('git', ['grep', '-IlE', marks], { cwd: ROOT })
  // git grep ends with 1 when nothing was found.
  t.equal(await git.then(({ stdout }) => stdout).catch(({ code, stderr }) => (code === 1 ? '' : stderr)), '')
})

t.test('every file that a document names is there', async (t) => {
  const files = found(/(?<![\w./*<-])(?:src|test|tasks|sql|bench|docs|patches|deploy)\/[\w./-]*\w/g)
  t.ok(files.size > 10)
  for (const [file, name] of files) {
    // A name without its ending, as `src/http`, is a folder or a file of ours.
    const there = await Promise.all(
      ['', '.ts'].map((ending) =>
        access(join(ROOT, file + ending)).then(
          () => true,
          () => false,
        ),
      ),
    )
    t.ok(there.includes(true), `${file} in ${name}`)
  }
  for (const { name, text } of documents)
    for (const [, link] of text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g))
      await t.resolves(access(join(ROOT, name, '..', link!)), `${link} in ${name}`)
})

t.test('every test that the checklist of security names is there', async (t) => {
  const text = documents.find(({ name }) => name === 'docs/security.md')!.text
  const rows = [...text.matchAll(/^\| .+? \| `(test\/[\w/-]+\.test\.ts)` \| (.+) \|$/gm)]
  t.ok(rows.length > 30)
  for (const [, file, name] of rows)
    t.ok((await readFile(join(ROOT, file!), 'utf8')).includes(`'${name}'`), `${file}: ${name}`)
})

t.test('docs/security.md has the bounds of the code', (t) => {
  const { text, now } = withBounds()
  t.equal(text, now, 'npm run bounds')
  t.ok(now.split('\n').filter((line) => line.startsWith('| `')).length > 30)
  t.end()
})

t.test('each pair of capabilities has its line in crossings.md, and the tests that it names are there', async (t) => {
  const text = documents.find(({ name }) => name === 'docs/crossings.md')!.text
  const rows = [...text.matchAll(/^\| ([\w ]+) \| ([\w ]+) \| (.+) \|$/gm)].slice(1) // without the header
  const capabilities = [...new Set(rows.flatMap(([, one, other]) => [one!, other!]))]
  t.ok(capabilities.length > 10)
  const pairs = capabilities.flatMap((one, at) => capabilities.slice(at + 1).map((other) => `${one} × ${other}`))
  t.same(
    rows.map(([, one, other]) => `${one} × ${other}`),
    pairs,
  )
  for (const [, one, other, cell] of rows) {
    const [, file, name] = /^`(test\/[\w/-]+\.test\.ts)`: (.+)$/.exec(cell!) ?? []
    const isTested = file !== undefined && (await readFile(join(ROOT, file), 'utf8')).includes(`'${name}'`)
    t.ok(isTested || cell === 'open' || /^nothing: \w/.test(cell!), `${one} × ${other}: ${cell}`)
  }
})

t.test('the manual names all of its pages and pictures, and its pictures are small', async (t) => {
  const folder = join(ROOT, 'docs/handleiding')
  const pages = documents.filter(({ name }) => name.startsWith('docs/handleiding/'))
  t.ok(pages.length > 10)
  const text = pages.map((page) => page.text).join('\n')
  for (const { name } of pages.filter((page) => !page.name.endsWith('README.md')))
    t.match(pages.find((page) => page.name.endsWith('README.md'))!.text, `](${name.split('/').at(-1)})`)
  for (const picture of await Array.fromAsync(glob('beelden/*', { cwd: folder }))) {
    t.ok(text.includes(`](${picture})`), `${picture} is shown somewhere`)
    t.ok((await stat(join(folder, picture))).size < 80_000, `${picture} is small`)
  }
})

t.test('every script of npm that a document names is there', async (t) => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const named = found(/npm run (?:--silent |-s )?([a-z]+)/g)
  t.ok(named.size > 5)
  for (const [script, name] of named) t.ok(scripts[script], `npm run ${script} in ${name}`)
})

t.test('every command of the program that a document names runs, and has its options', async (t) => {
  const commands = new Map<string, Set<string>>()
  for (const line of found(
    /(?:(?:^|[`\n(]|&& )zaakstroom|npm run (?:--silent )?cli --) ([a-z][a-z-]*(?: [a-z][a-z-]*)*(?:[^`\n|&#]*))/g,
  ).keys()) {
    const [words] = /^[a-z][a-z-]*(?: [a-z][a-z-]*)?/.exec(line)!
    const options = commands.get(words!) ?? new Set()
    commands.set(words!, options)
    for (const [option] of line.matchAll(/--[a-z][a-z-]*/g)) options.add(option)
  }
  t.ok(commands.size > 5)
  for (const [words, options] of commands) {
    const help = await helpOf(words.split(' '))
    t.match(help, `zaakstroom ${words.split(' ')[0]}`, words)
    for (const option of options) t.ok(help.includes(option), `zaakstroom ${words} ${option}`)
  }
})

/** What the program answers to `--help` after these words: of the file of the subcommand, as src/main.ts loads it. */
async function helpOf(words: string[]): Promise<string> {
  let said = ''
  const program = new Command('zaakstroom')
    .exitOverride()
    .configureOutput({ writeOut: (text) => (said += text), writeErr: (text) => (said += text) })
  const { addTo } = await import(`../src/cli/commands/${words[0]}.ts`)
  addTo(program)
  await program.parseAsync([...words, '--help'], { from: 'user' }).catch((error: CommanderError) => {
    if (error.code !== 'commander.helpDisplayed') throw error
  })
  return said
}

t.test('every migration that a document names is there', async (t) => {
  const files = await Array.fromAsync(glob('sql/*.sql', { cwd: ROOT }))
  const named = documents.flatMap(({ name, text }) => [...text.matchAll(/\bsql\/\d{4}/g)].map(([file]) => [file, name]))
  t.ok(named.length > 0)
  for (const [file, name] of named)
    t.ok(
      files.some((one) => one.startsWith(`${file}-`)),
      `${file} in ${name}`,
    )
})

t.test('every table, view, index, function and column that docs/database.md names is there', async (t) => {
  const { text } = documents.find(({ name }) => name === 'docs/database.md')!
  const files = ['sql/schema.sql', 'sql/control/0001-organisations.sql']
  const texts = await Promise.all(files.map((file) => readFile(join(ROOT, file), 'utf8')))
  const schema = texts.join('\n').replaceAll(/--.*/g, '')
  const tables = [...schema.matchAll(/^create (?:unlogged )?(?:table|view) (\w+)/gm)].map(([, table]) => table!)
  const [overview] = text.match(/^\| Table \|(?:.+\n)+/m)!
  const codes = [...text.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map(([code]) => code)
  const named = {
    tables: [
      ...[...overview.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell]) => cell!.match(/\w+…?(?=`)/g) ?? []),
      ...codes.flatMap((code) => code.match(/(?<=\bfrom )\w+/g) ?? []),
    ],
    // What has a single underscore stands for something in the database.
    others: codes.flatMap((code) => code.match(/(?<![\w.])[a-z]+(?:_[a-z]+)+…?|…_[a-z]+/g) ?? []),
  }
  t.ok(named.tables.length > 40 && named.others.length > 40)
  // `import_draft…` is the beginning of a name, `…_count` the end.
  const requireThere = (name: string, all: string[]) =>
    t.ok(new RegExp(`^${name.replace('…', '\\w+')}$`, 'm').test(all.join('\n')), name)
  for (const name of named.tables) requireThere(name, tables)
  const channels = ['zaakstroom_autorisaties', 'zaakstroom_token_issuers', 'zaakstroom_settings']
  const known = [
    ...schema.match(/\w+/g)!,
    ...channels,
    'reschedule_jobs',
    'zaakstroom_queue',
    'zaakstroom_control',
    'search_path',
  ] // of graphile-worker, and of the session
  for (const name of named.others) requireThere(name, known)
})

t.test('the page of the settings is what their schema says', async (t) => {
  t.equal(await readFile(SETTINGS_PAGE, 'utf8'), settingsPage(), 'run npm run settings')
})

t.test('the page of the codes of faults is what their table says', async (t) => {
  t.equal(await readFile(ERRORS_PAGE, 'utf8'), errorsPage(), 'run npm run errors')
})

t.test('the command that the documents write is there: in the image, and by npx', async (t) => {
  const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8')
  t.match(dockerfile, /^COPY bin\/zaakstroom\.js bin\/$/m)
  t.match(dockerfile, 'ln -s /app/bin/zaakstroom.js /usr/local/bin/zaakstroom')
  t.match(documents.find(({ name }) => name === 'README.md')?.text, '`npx zaakstroom`')
  const { stdout } = await promisify(execFile)('npx', ['--no', 'zaakstroom', '--version'], { cwd: ROOT })
  t.match(stdout, /^\d+\.\d+\.\d+/)
})
