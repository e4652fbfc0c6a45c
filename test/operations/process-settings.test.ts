// Processes of one installation that differ say so; and what stands in the database is not decided by the environment of one of them.
import t from 'tap'
import { SETTINGS } from '../../src/config/environment.ts'
import { readConfig } from '../../src/config.ts'
import { requireKeys } from '../../src/core/key-register.ts'
import { filesystemStore, prepareFilesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { claimStore } from '../../src/documenten/storage/owner.ts'
import { announceWriter } from '../../src/documenten/storage/writers.ts'
import { readiness } from '../../src/operations/health.ts'
import { announceSettings, fixedElsewhere, SHARED_SETTINGS } from '../../src/operations/process-settings.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { setUpPages } from '../beheer/browser.ts'

const log = openLog('silent')
const SECRET_KEY = 'the key of this database, long enough'

t.test('processes with other settings are told in the log, at /readyz and on the page', async (t) => {
  const test = await setUpPages(t, {}, false)
  const { database } = test
  const told: object[] = []
  const loud = { ...log, debug: log.debug.bind(log), warn: (about: object) => void told.push(about) } as typeof log
  const env = { SECRET_KEY, BOOTSTRAP_CLIENT_ID: 'a', BOOTSTRAP_CLIENT_SECRET: 'a secret of this client' }
  const api = await announceSettings(database, readConfig({ ...env, TIME_ZONE: 'Europe/Amsterdam' }), 'api', loud)
  const alike = await announceSettings(database, readConfig(env), 'start', loud)
  t.same([...api.differences(), ...alike.differences()], [], 'a default that is written out is the same')
  const worker = await announceSettings(
    database,
    readConfig({ SECRET_KEY, TIME_ZONE: 'UTC', FEED_DAYS: '0', JWT_EXPIRY: '60' }),
    'worker',
    loud,
  )
  t.match(worker.differences(), [
    { setting: 'FEED_DAYS', role: 'api' },
    { setting: 'FEED_DAYS', role: 'start' },
    { setting: 'TIME_ZONE', role: 'api' },
    { setting: 'TIME_ZONE', role: 'start' },
  ])
  t.equal(told.length, 1)
  const checks = await readiness({ ...test.parts, shared: worker })
  t.same(checks.settings, { status: 'degraded', detail: 'another process has another FEED_DAYS, TIME_ZONE' })
  t.same([...(await fixedElsewhere(database.sql)).keys()], ['JWT_EXPIRY'])
  const { body } = await (await test.signedIn('administrator'))('/beheer/configuratie')
  t.match(body, /<code>JWT_EXPIRY<\/code> staat in de omgeving van worker /)
  const rows = await database.sql`select settings from process_setting`
  t.notMatch(JSON.stringify(rows), 'a secret of this client')
  await worker.close()
  const other = { ...env, BOOTSTRAP_CLIENT_SECRET: 'another secret of this client' }
  const second = await announceSettings(database, readConfig(other), 'api', loud)
  t.match(second.differences(), [{ setting: 'BOOTSTRAP_CLIENT_SECRET' }, { setting: 'BOOTSTRAP_CLIENT_SECRET' }])
  const moved = await announceSettings(database, readConfig({ ...env, PUBLIC_URL: 'https://a.nl' }), 'api', loud)
  t.match((await readiness({ ...test.parts, shared: moved })).settings, { status: 'failed', detail: /PUBLIC_URL/ })
  const later = await announceSettings(database, readConfig({ ...env, PUBLIC_URL: 'https://a.nl' }), 'worker', loud)
  t.ok(later.differences().some(({ isSplit }) => isSplit))
  for (const one of [api, alike, second, moved, later]) await one.close()
  t.equal((await database.sql`select from process_setting`).length, 0)
  const names = new Set(SETTINGS.map(({ env: name }) => name))
  for (const name of SHARED_SETTINGS) t.ok(names.has(name), name)
})

t.test('a worker with FEED_DAYS=0 removes nothing of a feed that is on', async (t) => {
  const test = await setUpPages(t, { FEED_DAYS: '0' }, false)
  const { sql } = test.database
  await sql`select switch_feed(true)`
  await test.call('POST', '/catalogi/api/v1/catalogussen', {
    ...{ domein: 'FEED', rsin: '000000000', contactpersoonBeheerNaam: 'Beheerder' },
  })
  const count = async () => (await sql`select from change`).length
  t.ok((await count()) > 0)
  await sql`select add_job('retention', '{}')`
  await test.runJobs()
  t.ok((await count()) > 0)
})

t.test('a second store on a database without documents is refused while others write to the first', async (t) => {
  const test = await setUpPages(t, {}, false)
  const { database, parts } = test
  await requireKeys(database.sql, parts.box)
  const directory = t.testdir()
  const store = async (name: string) => {
    const root = `${directory}/${name}`
    await prepareFilesystemStore(root)
    return filesystemStore(root)
  }
  const [one, other] = [await store('een'), await store('twee')]
  await claimStore(database.sql, one)
  const writer = await announceWriter(database, one, log)
  await claimStore(database.sql, one)
  await t.rejects(claimStore(database.sql, other), { name: 'SecondStore' })
  t.equal(await other.owner(), undefined)
  await writer.close()
  await claimStore(database.sql, other)

  await database.sql`delete from store_writer`
  const [third, fourth] = [await store('drie'), await store('vier')]
  const claims = await Promise.allSettled([claimStore(database.sql, third), claimStore(database.sql, fourth)])
  t.same(claims.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'], 'of two at once one is first')
  const first = claims[0]?.status === 'fulfilled' ? third : fourth
  await (await announceWriter(database, first, log)).close()
  t.equal((await database.sql`select from store_writer`).length, 0, 'nothing is left of the claim')
})
