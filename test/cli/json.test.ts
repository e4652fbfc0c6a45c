// In a process of its own: commands run in it, with its environment, directory and output.
//
// What commands print with `--json`: one value, alone on standard output, of the shape that test/cli/shapes.ts has for it. And `jobs`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Compile } from 'typebox/schema'
import { expected, one } from '../../src/database/rows.ts'
import { givenCatalogus, givenZaaktype } from '../app.ts'
import { builtIn, subscribe, uuidOf } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { until } from '../until.ts'
import { everyLeaf } from './every-leaf.ts'
import { runHere } from './in-process.ts'
import { SHAPES } from './shapes.ts'

const directory = mkdtempSync(join(tmpdir(), 'zaakstroom-json-'))
t.teardown(() => rmSync(directory, { recursive: true }))

/** They ask another server, installation or registry, and are run in the test of their subject. */
const ELSEWHERE =
  /^(organisation |anonymise|copy|history|account provider-moved|overnemen (open-|api|zaakstroom|terugspelen|oefenen)|notifications (test|register)|import (run|watch|delete)|selectielijst import)/

t.test('every command that has --json has a shape, and no other', async (t) => {
  const named = (await everyLeaf()).filter(({ hasJson }) => hasJson).map(({ name }) => name)
  t.strictSame(Object.keys(SHAPES).sort(), named.sort())
})

t.test(
  'with --json one value is alone on standard output, of the shape of its command',
  { timeout: 300_000 },
  async (t) => {
    const test = await builtIn(t)
    const { sql } = test.database
    await test.app.listen({ host: '127.0.0.1', port: 0 })
    const address = `http://127.0.0.1:${(expected(test.app.server.address()) as AddressInfo).port}`
    const env = {
      ...{ DATABASE_URL: test.databaseUrl, SECRET_KEY: expected(test.config.secretKey) },
      ...{ DOCUMENTEN_DIR: test.config.documentenDir, PUBLIC_URL: 'https://zaken.example.nl', TOKEN_ENDPOINT: 'ES256' },
      IMPORT_DOCUMENTEN_BASE_DIR: directory,
    }
    const catalogus = await givenCatalogus(test)
    await givenZaaktype(test, { catalogus })
    const abonnement = uuidOf(await subscribe(test, (await subscriber(t, { auth: 'x' })).url))
    const importing = one(
      await sql<{ uuid: string }[]>`insert into import (status) values ('active') returning uuid`,
    ).uuid
    const source = 'https://oud.example.nl'
    const takeover = async (status: string) =>
      one(
        await sql<{ uuid: string }[]>`
        insert into takeover (kind, source, secret, status) values ('api', ${source}, '', ${status}) returning uuid`,
      ).uuid
    mkdirSync(join(directory, 'archief'))
    writeFileSync(join(directory, 'archief/a.txt'), 'a')
    const setup = join(directory, 'setup.yaml')
    writeFileSync(setup, '{}\n')
    const zip = join(directory, 'types.zip')
    const service = ['--id', 'a', '--api', address]
    const ran = new Set<string>()
    const run = async (name: string, more: string[] = [], input = '') => {
      const { code, stdout, stderr } = await runHere([...name.split(' '), ...more, '--json'], env, input)
      ran.add(name)
      t.ok([0, 1].includes(code), `${name}: ${code} ${stderr}`)
      t.match(stdout, /\n$/, name)
      try {
        const value = JSON.parse(stdout)
        const check = Compile(expected(SHAPES[name]))
        t.ok(check.Check(value), `${name}: ${stdout} ${JSON.stringify(check.Errors(value))}`)
        return value
      } catch (error) {
        t.fail(`${name} printed ${stdout} (${(error as Error).message})`)
      }
    }

    await run('where')
    await run('migrate')
    await run('migrate', ['--dry-run'])
    await run('client create', ['--id', 'a', '--all-rights'])
    await run('client rotate', ['--id', 'a'])
    await run('client create', ['--id', 'b', '--secret-stdin'], 'a secret that is long enough to be one\n')
    await run('client key', ['--id', 'b', '--remove'])
    await run('client revoke', ['--id', 'b', '--yes'])
    await run('client list')
    await run('token', ['--id', 'a'])
    await run('signing-key rotate')
    await run('notifications resend', ['--from', '2026-03-02T08:00:00Z'])
    await run('notifications pause')
    await run('notifications resume')
    await run('abonnement list')
    await run('abonnement pause', [abonnement])
    await run('abonnement resume', [abonnement])
    await run('abonnement replay', [abonnement, '--from', '2026-03-02T08:00:00Z', '--dry-run'])
    await run('abonnement replay', [abonnement, '--stop'])
    await run('setup apply', [setup])
    await run('storage migrate', ['--to', 'filesystem', '--dry-run'])
    await run('storage migrate', ['--to', 'filesystem', '--no-wait'])
    await run('storage check')
    await run('keys list')
    await run('keys add', ['2027-01'])
    await run('keys reseal', ['--dry-run'])
    await run('account create', ['--username', 'j.jansen'])
    await run('account reset-password', ['--username', 'j.jansen'])
    await run('account unlock', ['--username', 'j.jansen'])
    await run('account invite', ['--username', 'p.pieters'])
    await run('account list')
    await run('catalogus export', [zip, '--catalogus', uuidOf(catalogus)])
    await run('catalogus import', [zip, '--domein', 'KOPIE', '--rsin', '517439943', '--dry-run'])
    await run('import prepare', [join(directory, 'archief'), '--type', 'x', '--out', join(directory, 'uit.csv')])
    await run('import list', service)
    await run('selectielijst show')
    await run('selectielijst remove')
    await run('overnemen terugweg')

    // What goes on is listed, and stopped as far as it can be.
    await sql`insert into reseal (place, key) values ('rol', '2027-01')`
    const first = await takeover('loopt')
    await sql`
    insert into resend (abonnement_id, kind, per_minute, started_by)
    select id, 'failed', 600, 'beheerder' from abonnement where uuid = ${abonnement}`
    t.match(await run('jobs list'), [
      { kind: 'import', id: importing, state: 'runs', done: 0, total: 0 },
      { kind: 'takeover', id: first, what: source, startedBy: null },
      { kind: 'resend', id: abonnement, startedBy: 'beheerder' },
      { kind: 'reseal', id: 'reseal', done: 0, total: 1, unit: 'tables' },
    ])
    t.match(await runHere(['jobs'], env), { code: 0, stdout: `${importing}  import ` }, 'the list is what jobs does')
    const followed = run('jobs follow', [first])
    await until('it has looked', async () => {
      const looked = await sql`
        select from pg_stat_activity where datname = current_database() and application_name like '%command%'
          and state = 'idle' and query like '%"startedBy"%'`
      return looked.length > 0
    })
    await sql`update takeover set status = 'klaar' where uuid = ${first}`
    t.match(await followed, { id: first })
    await sql`update takeover set status = 'loopt' where uuid = ${first}`
    await run('jobs stop', [first])
    await run('jobs stop', [importing])
    await run('jobs stop', [abonnement])
    t.match(await runHere(['jobs', 'stop', 'reseal'], env), { code: 64, stdout: '', stderr: /cannot be stopped/ })
    t.match(await run('jobs list'), [{ kind: 'reseal' }])
    t.match(
      [...(await sql`select status from takeover`), ...(await sql`select status, reason from import`)],
      [{ status: 'gestopt' }, { status: 'error', reason: 'Geannuleerd.' }],
    )
    await sql`update import set status = 'active', reason = null`
    await run('import cancel', [importing, ...service])
    await run('overnemen status')
    await run('overnemen rapport', [source, join(directory, 'rapport.csv')])
    await sql`update takeover set status = 'loopt'`
    await run('overnemen stop', [source])
    await sql`update takeover set status = 'klaar'`
    await run('overnemen omschakelen', [source, '--yes'])
    for (const name of Object.keys(SHAPES))
      if (!ELSEWHERE.test(name)) t.ok(ran.has(name) || name === 'keys retire', `${name} was run`)
  },
)
