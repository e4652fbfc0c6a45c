// Which organisations there are, and what each of them has of its own.
import t from 'tap'
import { secretBox } from '../../src/core/secret-box.ts'
import { migrateControl } from '../../src/database/migrate.ts'
import { schemasOf } from '../../src/database/schema.ts'
import { insertAccount } from '../../src/organisations/accounts.ts'
import { sharedSetting } from '../../src/organisations/apart.ts'
import { configOf, type Organisation } from '../../src/organisations/organisation.ts'
import { openOverview } from '../../src/organisations/overview.ts'
import {
  changeOrganisations,
  controlUrlOf,
  deleteOrganisation,
  insertOrganisation,
  openControl,
  openRegistry,
  readOrganisations,
  updateOrganisation,
} from '../../src/organisations/registry.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { emptyDatabase } from '../setup.ts'
import { until } from '../until.ts'

const { url } = await emptyDatabase(t)
await migrateControl(controlUrlOf(url))
const control = openControl(url)
t.teardown(control.close)
const box = secretBox('key of the installation, long enough')
const KEYS = `2026-11:${Buffer.alloc(32, 7).toString('base64')}`

const add = (rsin: string, name: string, hosts: string[], settings: Record<string, string> = {}) =>
  changeOrganisations(control, { rsin, actor: 'test', action: 'add' }, (trx) =>
    insertOrganisation(trx, box, {
      rsin,
      name,
      hosts,
      schema: `gemeente_${rsin}`,
      limits: {},
      databaseUrl: 'postgres://zaak:geheim@db.intern:5433/gemeenten',
      dataKeys: KEYS,
      settings,
    }),
  )

t.test('a process hears of organisations that come, change and go, by their hosts', async (t) => {
  const registry = await openRegistry(control, box, openLog('silent'))
  t.teardown(registry.close)
  t.strictSame(registry.all(), [])
  await add('000000012', 'Voorbeeldstad', ['zaken.voorbeeldstad.nl', 'oud.voorbeeldstad.nl'])
  await until('it is there', async () => registry.byHost('oud.voorbeeldstad.nl') !== undefined)
  const found = registry.byHost('zaken.voorbeeldstad.nl') as Organisation
  t.match(found, { rsin: '000000012', server: 'db.intern:5433/gemeenten', state: 'active', dataKeys: KEYS })
  t.equal(registry.byRsin('000000012'), found)
  await changeOrganisations(control, { rsin: found.rsin, actor: 'test', action: 'set', fields: ['hosts'] }, (trx) =>
    updateOrganisation(trx, box, found, { hosts: ['nieuw.voorbeeldstad.nl'] }),
  )
  await until('it has moved', async () => registry.byHost('nieuw.voorbeeldstad.nl') !== undefined)
  t.equal(registry.byHost('zaken.voorbeeldstad.nl'), undefined)
  t.equal(registry.byHost('nieuw.voorbeeldstad.nl')?.dataKeys, KEYS, 'what was not given has stayed')
  await changeOrganisations(control, { rsin: found.rsin, actor: 'test', action: 'remove' }, (trx) =>
    deleteOrganisation(trx, found.id),
  )
  await until('it has gone', async () => registry.all().length === 0)
  t.same(
    (await control.sql`select action from organisation_change order by id`).map(({ action }) => action),
    ['add', 'set', 'remove'],
  )
})

t.test('a host, an RSIN and a schema are those of one organisation', async (t) => {
  await add('000000024', 'Elders', ['zaken.elders.nl'])
  await t.rejects(add('000000036', 'Derde', ['zaken.elders.nl']), { code: '23505' })
  await t.rejects(add('000000024', 'Nog eens', ['anders.elders.nl']), { code: '23505' })
  t.equal((await readOrganisations(control, box)).length, 1, 'a change that fails writes nothing')
})

t.test('what opens an organisation is sealed', async (t) => {
  const [row] = await control.sql<{ all: string }[]>`
    select string_agg(o::text || encode(o.sealed, 'escape'), '') as all from organisation o`
  for (const secret of ['geheim', KEYS.split(':')[1]!]) t.notOk(row!.all.includes(secret), secret)
})

t.test('what a page knows of an organisation has nothing of what is sealed', async (t) => {
  const [organisation] = await readOrganisations(control, box)
  const move = { from: organisation!.databaseUrl, to: 'postgres://zaak:geheim@elders.intern/gemeenten' }
  const moving = { ...organisation!, secretKey: KEYS, settings: { SMTP_PASSWORD: 'geheim' }, move }
  const config = configOf({ CONTROL_DATABASE_URL: url, SECRET_KEY: 'x'.repeat(32) }, organisation!)
  const registry = { all: () => [moving], byRsin: () => moving }
  const overview = openOverview(control, registry, { requests: () => 0 }, config)
  for (const known of [overview.all()[0]!, overview.find(moving.rsin)!]) {
    t.match(known, { rsin: moving.rsin, settings: ['SMTP_PASSWORD'] })
    for (const secret of ['geheim', KEYS]) t.notOk(JSON.stringify(known).includes(secret))
  }
})

t.test('one that does not open keeps what was known of it, and holds up nothing else', async (t) => {
  const registry = await openRegistry(control, box, openLog('silent'))
  t.teardown(registry.close)
  const [before] = registry.all()
  const [row] = await control.sql<{ sealed: Buffer }[]>`select sealed from organisation`
  const owner = `organisation:${before!.rsin}`
  const sealed = secretBox('a key that this process does not have').seal(box.open(row!.sealed, owner), owner)
  await control.sql`update organisation set sealed = ${sealed}, state = 'suspended'`
  await changeOrganisations(control, { rsin: '', actor: 'test', action: 'account-create', account: 'ivo' }, (trx) =>
    insertAccount(trx, { gebruikersnaam: 'ivo', naam: 'Ivo', email: '', seesCentre: false, passwordHash: 'x' }),
  )
  await until('the account is known', () => registry.accounts().some(({ gebruikersnaam }) => gebruikersnaam === 'ivo'))
  await registry.refresh()
  t.same(registry.all(), [{ ...before, state: 'suspended' }], 'what is not sealed counts at once')
  await t.rejects(openRegistry(control, box, openLog('silent')), /is not the key/, 'at the start it is told')
  await control.sql`update organisation set sealed = ${row!.sealed}, state = 'active'`
})

t.test('the settings of an organisation are those of the installation, with its own laid over them', async (t) => {
  const [organisation] = await readOrganisations(control, box)
  const env = {
    CONTROL_DATABASE_URL: url,
    SECRET_KEY: 'key of the installation, long enough',
    DATA_DIR: '/srv/zaakstroom',
    PUBLIC_URL: 'https://centrum.nl:8443',
    IMPORT_RETENTION_DAYS: '9',
    SMTP_HOST: 'mail.centrum.nl',
    S3_ENDPOINT_URL: 'https://s3.centrum.nl',
    BOOTSTRAP_CLIENT_ID: 'centrum',
    BOOTSTRAP_CLIENT_SECRET: 'that of the centre',
  }
  const config = configOf(env, { ...organisation!, settings: { SMTP_HOST: 'mail.elders.nl' } })
  t.same(schemasOf(config.databaseUrl!).own, 'gemeente_000000024')
  t.match(config, {
    publicUrl: 'https://zaken.elders.nl:8443',
    dataDir: '/srv/zaakstroom/000000024',
    documentenDir: '/srv/zaakstroom/documenten/000000024',
    importRetentionDays: 9,
    s3: { location: 'documenten/000000024' },
  })
  t.equal(config.listed.find(({ env }) => env === 'SMTP_HOST')?.value, 'mail.elders.nl')
  t.equal(config.bootstrapClient, undefined, 'clients of the centre are none of its own')
  t.same(
    config.dataKeys.map(({ id }) => id),
    ['2026-11'],
    'the ring is its own alone',
  )
  t.throws(() => configOf(env, { ...organisation!, settings: { PORT: '80' } }), /PORT is no setting of an organisation/)
})

t.test('organisations have no place of bytes, and no address, together', async (t) => {
  const [organisation] = await readOrganisations(control, box)
  const env = { CONTROL_DATABASE_URL: url, SECRET_KEY: 'key of the installation, long enough', DATA_DIR: '/srv' }
  const of = (rsin: string, settings: Record<string, string>) =>
    configOf(env, { ...organisation!, rsin, hosts: [`${rsin}.nl`], settings })
  const A = '000000012'
  const B = '000000024'
  const S3 = { S3_STORAGE_BUCKET_NAME: 'een', S3_ACCESS_KEY_ID: 'x', S3_SECRET_ACCESS_KEY: 'y' }
  const AZURE = { AZURE_ACCOUNT_NAME: 'een' }
  for (const [one, other, shared] of [
    [{}, {}, undefined],
    [S3, S3, undefined],
    [AZURE, AZURE, undefined],
    [{ DOCUMENTEN_DIR: '/elders' }, { DOCUMENTEN_DIR: '/elders/' }, 'DOCUMENTEN_DIR'],
    [{ DOCUMENTEN_DIR: '/elders' }, { DOCUMENTEN_DIR: '/elders2' }, undefined],
    [{ DOCUMENTEN_DIR: `/srv/documenten/${B}` }, {}, 'DOCUMENTEN_DIR'],
    [{}, { DOCUMENTEN_DIR: `/srv/x/../documenten/${A}/in` }, 'DOCUMENTEN_DIR'],
    [{ IMPORT_DOCUMENTEN_BASE_DIR: '/srv/documenten' }, {}, 'IMPORT_DOCUMENTEN_BASE_DIR'],
    [{ IMPORT_DOCUMENTEN_BASE_DIR: '/' }, {}, 'IMPORT_DOCUMENTEN_BASE_DIR'],
    [{ ...S3, S3_LOCATION: `documenten/${B}` }, S3, 'S3_LOCATION'],
    [{ ...S3, S3_LOCATION: 'documenten' }, S3, 'S3_LOCATION'],
    [{ ...S3, S3_STORAGE_BUCKET_NAME: 'twee', S3_LOCATION: 'documenten' }, S3, undefined],
    [{ ...AZURE, AZURE_LOCATION: `documenten/${B}` }, AZURE, 'AZURE_LOCATION'],
    [{ PUBLIC_URL: `https://${B}.nl` }, {}, 'PUBLIC_URL'],
  ] as [Record<string, string>, Record<string, string>, string | undefined][])
    t.equal(sharedSetting(of(A, one), of(B, other)), shared, JSON.stringify([one, other]))
})
