// Upgrades that roll: what the migrations of a release may do to the program of the release before, and what that program does then.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import packageJson from '../../package.json' with { type: 'json' }
import { isBefore, migrate } from '../../src/database/migrate.ts'
import { testApp } from '../app.ts'
import { until } from '../until.ts'
import sums from './released.json' with { type: 'json' }
import { contractFaults, takenAway } from './releases.ts'

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = "select kleur, naam from zaak; db.selectFrom('zaak').select('oudeNaam')"
const faults = (text: string) => contractFaults([{ name: '0100-next.sql', text }], '1.1.0', SOURCES)

t.test('a migration that takes away what the release before uses is refused', async (t) => {
  for (const statement of [
    'alter table zaak drop column kleur;',
    'alter table zaak drop column if exists oude_naam;',
    'drop table zaak;',
    'alter table zaak rename to zaken;',
    'alter table zaak rename column naam to titel;',
    'alter table zaak alter column kleur type integer using 1;',
    'alter table zaak alter column kleur set not null;',
  ]) {
    t.match(faults(`-- works-from: 1.1.0\n${statement}`), [/which 1\.1\.0 uses: expand first/], statement)
    t.match(faults(statement), [/does not say from which version/], statement)
  }
})

t.test(
  'what the release before does not use may go, in a file that says so; what only adds says nothing',
  async (t) => {
    t.same(faults('-- works-from: 1.1.0\nalter table zaak drop column vorm;'), [])
    t.same(faults('-- no-transaction, works-from: 1.0.0\ndrop index concurrently if exists zaak_vorm;'), [])
    t.same(faults("-- A colour.\nalter table zaak add column vorm text not null default '';"), [])
    t.same(faults('-- drop column kleur is for later\nalter table zaak drop constraint zaak_kleur_check;'), [])
    t.match(faults('-- works-from: 1.2.0\nalter table zaak drop column vorm;'), [
      /1\.1\.0, the release before, would stop/,
    ])
    t.same(takenAway({ name: '', text: 'drop function if exists een(); alter table a rename b to c;' }), ['een', 'b'])
  },
)

t.test('versions are compared by their numbers', async (t) => {
  t.same(
    [
      ['1.9.0', '1.10.0'],
      ['0.1.0', '1.0.0'],
      ['1.0.0', '1.0.0'],
      ['1.0.1', '1.0.0'],
      ['2.0.0', '1.9.9'],
    ].map(([one, other]) => isBefore(one!, other!)),
    [true, true, false, false, false],
  )
})

t.test('the files of a release stay as they were', async (t) => {
  for (const [name, sum] of Object.entries(sums)) {
    const text = await readFile(join(ROOT, 'sql', name))
    t.equal(
      createHash('sha256').update(text).digest('hex'),
      sum,
      `${name}: a change is a new file with the next number`,
    )
  }
})

t.test('the migrations of this release leave the release before alone', async (t) => {
  const git = async (...words: string[]) =>
    (await promisify(execFile)('git', words, { cwd: ROOT, maxBuffer: 2 ** 28 })).stdout
  const tags = await git('tag', '--list', 'v[0-9]*.[0-9]*.[0-9]*').catch(() => '')
  const released = tags
    .split('\n')
    .map((tag) => tag.trim().slice(1))
    .filter((version) => /^[1-9]\d*\.\d+\.\d+$/.test(version) && isBefore(version, packageJson.version))
    .sort((a, b) => (isBefore(a, b) ? -1 : 1))
  const before = released.at(-1)
  if (!before) return void t.pass('no release before this one')
  const known = new Set((await git('ls-tree', '--name-only', `v${before}`, 'sql/')).split('\n'))
  const names = (await Array.fromAsync(glob('sql/*.sql', { cwd: ROOT }))).filter((name) => /^sql\/\d{4}-/.test(name))
  const files = await Promise.all(
    names
      .filter((name) => !known.has(name))
      .sort()
      .map(async (name) => ({ name, text: await readFile(join(ROOT, name), 'utf8') })),
  )
  const sources = await git('grep', '-h', '', `v${before}`, '--', 'src/*.ts', 'tasks/*.ts', 'sql/0*.sql')
  t.same(contractFaults(files, before, sources), [])
})

t.test(
  'a rehearsal: an api goes on while the next version migrates, until one comes that it is too old for',
  async (t) => {
    const { app, database, databaseUrl } = await testApp(t)
    const { version } = packageJson
    const own = Object.fromEntries(
      await Promise.all(
        (await Array.fromAsync(glob('sql/[0-9]*.sql', { cwd: ROOT }))).map(async (name) => [
          name.slice(4),
          await readFile(join(ROOT, name), 'utf8'),
        ]),
      ),
    )
    const next = {
      ...own,
      '9001-expand.sql': `alter table zaak add column proef text not null default '';
comment on column zaak.proef is 'Of the rehearsal.';`,
      '9002-contract.sql': `-- works-from: ${version}\nalter table zaak drop column proef;`,
    }
    const state = async () => {
      const ready = await app.inject('/readyz')
      return { status: ready.statusCode, schema: ready.json().checks.schema.status }
    }
    t.same(await migrate(databaseUrl, { directory: t.testdir(next), version: '99.0.0' }), [
      '9001-expand.sql',
      '9002-contract.sql',
    ])
    await until('it has looked at the schema again', async () =>
      (await app.inject('/readyz')).body.includes('9002-contract.sql'),
    )
    t.same(await state(), { status: 200, schema: 'ok' }, 'what it does without may go')
    const over = t.testdir({ ...next, '9003-over.sql': '-- works-from: 99.0.0\nselect 1;' })
    await migrate(databaseUrl, { directory: over, version: '99.0.0' })
    await until('it is out of service', async () => (await state()).status === 503)
    t.equal(
      (await database.sql`select works_from from migration where name = '9003-over.sql'`)[0]!.works_from,
      '99.0.0',
    )
  },
)
