// It starts programs: migrating all organisations.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import packageJson from '../../package.json' with { type: 'json' }
import { migrateAll } from '../../src/organisations/migrate-all.ts'
import { configOf } from '../../src/organisations/organisation.ts'
import {
  alone,
  changeOrganisations,
  openControl,
  readOrganisations,
  updateOrganisation,
} from '../../src/organisations/registry.ts'
import { programEnv } from '../program-env.ts'
import { givenMany, KEY, type Many } from './many.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')

const run = (many: Many, args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const env = programEnv({ CONTROL_DATABASE_URL: many.url, SECRET_KEY: KEY, DATA_DIR: many.directory })
    execFile(process.execPath, [MAIN, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
const stateOf = async ({ control, box }: Many, rsin: string) => {
  const { state, reason, version } = (await readOrganisations(control, box)).find((one) => one.rsin === rsin)!
  return { state, reason, version }
}
const change = async ({ control, box }: Many, rsin: string, changed: Parameters<typeof updateOrganisation>[3]) => {
  const found = (await readOrganisations(control, box)).find((one) => one.rsin === rsin)!
  await changeOrganisations(control, { rsin, actor: 'test', action: 'set' }, (trx) =>
    updateOrganisation(trx, box, found, changed),
  )
}
const [FIRST, BROKEN, CLOSED, MOVING] = ['000000012', '000000024', '000000036', '000000048'] as const

t.test(
  'organisations are migrated one after the other; one that fails is read-only, and the others go on',
  async (t) => {
    const many = await givenMany(t)
    const { control, url } = many
    for (const rsin of [FIRST, BROKEN, CLOSED, MOVING]) await many.add(rsin, { isBare: true })
    await change(many, CLOSED, { state: 'suspended', reason: 'it did not pay' })
    await change(many, MOVING, { state: 'moving' })
    await control.sql`create schema org_000000024`
    await control.sql`create table org_000000024.zaak (mine text)`
    const { version } = packageJson

    const first = await run(many, ['migrate', '--all'])
    t.equal(first.code, 1, first.stderr)
    t.match(first.stdout, new RegExp(`^${FIRST} ${FIRST}: Applied 0001-audit.sql`, 'm'))
    t.match(first.stdout, new RegExp(`^${BROKEN} ${BROKEN}: .*zaak`, 'm'), 'it says which, and why')
    t.match(first.stdout, new RegExp(`Not migrated: ${BROKEN}, ${MOVING}\\.`))
    t.same(await stateOf(many, FIRST), { state: 'active', reason: '', version })
    t.match(await stateOf(many, BROKEN), { state: 'read-only', reason: /^migrate: .*zaak/, version: '' })
    t.same(
      await stateOf(many, CLOSED),
      { state: 'suspended', reason: 'it did not pay', version },
      'its tables came along',
    )
    t.same(await stateOf(many, MOVING), { state: 'moving', reason: '', version: '' })
    t.notOk(first.stdout.includes(new URL(url).password || 'no password'), 'no secret is printed')

    await control.sql`drop table org_000000024.zaak`
    await change(many, MOVING, { state: 'read-only', reason: 'somebody looks at it' })
    const second = await run(many, ['migrate', '--all', '--json'])
    t.equal(second.code, 0, second.stderr)
    const { organisations } = JSON.parse(second.stdout)
    t.match(organisations, [
      { rsin: FIRST, applied: [] },
      { rsin: BROKEN },
      { rsin: CLOSED, applied: [] },
      { rsin: MOVING },
    ])
    t.same(await stateOf(many, BROKEN), { state: 'active', reason: '', version }, 'it is well again')
    t.match(await stateOf(many, MOVING), { state: 'read-only', reason: 'somebody looks at it' }, 'not for this')
    t.same(
      await control.sql`select rsin, fields from organisation_change where action = 'migrate' and rsin = ${BROKEN} order by id`,
      [
        { rsin: BROKEN, fields: ['state', 'reason'] },
        { rsin: BROKEN, fields: ['state', 'reason', 'version'] },
      ],
    )
  },
)

t.test('without --all the registry comes along alone', async (t) => {
  const many = await givenMany(t)
  await many.add(FIRST, { isBare: true })
  await many.control.sql`drop table migration`
  await many.control.sql`
    drop table organisation_host, organisation, organisation_change, organisation_figures, beheer_account, beheer_sign_in_attempt,
      membership, switch_code`
  const { code, stdout } = await run(many, ['migrate'])
  t.equal(code, 0)
  t.match(stdout, /^Registry: Applied 0001-organisations\.sql\./)
  t.same(await many.control.sql`select from organisation`, [])
})

t.test('one that is being moved, or that another command is at work for, is left out', async (t) => {
  const many = await givenMany(t)
  const { control, box, url } = many
  for (const rsin of [FIRST, MOVING, CLOSED]) await many.add(rsin, { isBare: true })
  const all = await readOrganisations(control, box)
  await change(many, MOVING, { move: { from: url, to: url } }) // after all were read
  const other = openControl(url)
  t.teardown(other.close)
  const migrated = await alone(other, CLOSED, () =>
    Array.fromAsync(
      migrateAll({
        ...{ control, box, all },
        configOf: (organisation) => configOf({ CONTROL_DATABASE_URL: url }, organisation),
        explain: (error) => (error as Error).message,
      }),
    ),
  )
  t.match(migrated, [
    { rsin: FIRST, fault: undefined },
    { rsin: CLOSED, applied: [], fault: /another command is at work/ },
    { rsin: MOVING, applied: [], fault: /moving it has not ended/ },
  ])
  for (const rsin of [CLOSED, MOVING]) {
    t.same(await stateOf(many, rsin), { state: 'active', reason: '', version: '' })
    t.same(await control.sql`select from pg_namespace where nspname = ${`org_${rsin}`}`, [], 'nothing was made')
  }
})

t.test('one whose server is away or refuses is as it was: that is no failed migration', async (t) => {
  const many = await givenMany(t)
  const { control, box, url } = many
  for (const rsin of [FIRST, BROKEN]) await many.add(rsin, { isBare: true })
  const away = new URL(url)
  away.port = '1'
  const refusing = new URL(url)
  refusing.pathname = '/no_such_database'
  await change(many, FIRST, { databaseUrl: away.href })
  await change(many, BROKEN, { databaseUrl: refusing.href })
  const migrated = await Array.fromAsync(
    migrateAll({
      ...{ control, box, all: await readOrganisations(control, box) },
      configOf: (organisation) => configOf({ CONTROL_DATABASE_URL: url }, organisation),
      explain: (error) => (error as Error).message,
    }),
  )
  t.match(migrated, [
    { rsin: FIRST, fault: /.+/ },
    { rsin: BROKEN, fault: /.+/ },
  ])
  for (const rsin of [FIRST, BROKEN]) t.match(await stateOf(many, rsin), { state: 'active', reason: '' })
})
