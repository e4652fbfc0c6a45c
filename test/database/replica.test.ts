// Lists from a streaming replica (DATABASE_READ_URL): never older than what anybody was told is written, and from the primary
// when the replica is behind or gone.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t from 'tap'
import { migrate } from '../../src/database/migrate.ts'
import { listReads } from '../../src/telemetry/metrics.ts'
import { BASE, givenInformatieobjecttype, type TestApp, testApp } from '../app.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'
import { noPrograms, serverDirectory, startPrimary, startStandby } from './servers.ts'

const DOCUMENTEN = '/documenten/api/v1/enkelvoudiginformatieobjecten'

t.test('lists come from the replica, and show all that was written', { skip: noPrograms }, async (t) => {
  const directory = await serverDirectory(t)
  const [primary, port] = await Promise.all([startPrimary(t, join(directory, 'a')), freePort()])
  const url = `postgres://postgres@127.0.0.1:${primary.port}/postgres`
  await migrate(url)
  const standby = await startStandby(t, primary.port, join(directory, 'b'), port, { synchronous: false })
  const readUrl = `postgres://postgres@127.0.0.1:${port}/postgres`
  const env = { DATABASE_URL: url, DATABASE_READ_URL: readUrl }
  const [first, second] = [await testApp(t, env), await testApp(t, env)]
  const type = await givenInformatieobjecttype(first)
  let written = 0
  const write = async ({ call }: TestApp) => {
    const { status, body, text } = await call('POST', DOCUMENTEN, {
      bronorganisatie: '000000000',
      creatiedatum: '2024-02-29',
      titel: `nummer ${++written}`,
      auteur: 'Auteur',
      taal: 'nld',
      informatieobjecttype: type,
    })
    if (status !== 201) throw new Error(text)
    return body.url as string
  }
  /** Whether the newest of a list is what was written last, and all are counted. */
  const shows = async ({ call }: TestApp, url: string) => {
    const { status, body } = await call('GET', `${DOCUMENTEN}?pageSize=1&page=last`)
    return status === 200 && body.count === written && body.results[0].url === url
  }
  const ready = async ({ call }: TestApp) => (await call('GET', `${BASE}/readyz`)).body.checks.replica
  const becomes = (status: string) => until(status, async () => (await ready(first))?.status === status)
  await becomes('ok')

  await t.test('also to another process, right after the write', async (t) => {
    const before = await reads()
    const wrong: number[] = []
    for (let n = 0; n < 40; n++) {
      const url = await write(n % 2 ? first : second)
      if (!(await shows(n % 4 < 2 ? second : first, url))) wrong.push(n)
    }
    t.strictSame(wrong, [])
    t.ok((await reads()).replica > before.replica, 'the replica answered')
    const many = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const url = await write(first)
        return (await second.call('GET', `${DOCUMENTEN}?pageSize=500`)).body.results.some(
          (one: { url: string }) => one.url === url,
        )
      }),
    )
    t.notOk(many.includes(false), 'many at once')
  })

  await t.test('and where a commit is not flushed before it is answered', async (t) => {
    const server = postgres(url, { max: 1 })
    t.teardown(() => server.end())
    const set = async (value: string) => {
      await server.unsafe(`alter system set synchronous_commit = ${value}`)
      await server`select pg_reload_conf()`
    }
    await set('off')
    t.teardown(() => set('on'))
    await until('it is off', async () => (await server`show synchronous_commit`)[0]?.synchronous_commit === 'off')
    const before = await reads()
    for (let n = 0; n < 20; n++) t.ok(await shows(second, await write(first)))
    const after = await reads()
    t.ok(after.replica - before.replica > 2 * (after.primary - before.primary), 'most are read at the replica')
    await set('on')
  })

  await t.test('and when it does not follow', async (t) => {
    const server = postgres(readUrl, { max: 1 })
    t.teardown(() => server.end())
    await server`select pg_wal_replay_pause()`
    const before = await reads()
    for (let n = 0; n < 3; n++) t.ok(await shows(second, await write(first)))
    t.equal((await reads()).replica, before.replica)
    await becomes('late')
    t.match(await ready(first), { status: 'late', detail: 'behind' })
    t.equal((await first.call('GET', `${BASE}/readyz`)).status, 200, 'the service goes on')
    await server`select pg_wal_replay_resume()`
    await becomes('ok')
    t.ok(await shows(first, await write(first)))
  })

  await t.test('and when its connections are cut while it reads, or it is gone', async (t) => {
    const server = postgres(readUrl, { max: 1 })
    let busy = true
    const cutting = (async () => {
      while (busy) {
        await server`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'zaakstroom read'`
        await sleep(5)
      }
      await server.end()
    })()
    const wrong: number[] = []
    for (let n = 0; n < 30; n++) if (!(await shows(first, await write(first)))) wrong.push(n)
    busy = false
    await cutting
    t.strictSame(wrong, [])
    await standby.stop()
    for (let n = 0; n < 3; n++) t.ok(await shows(second, await write(first)))
    await becomes('late')
    t.match(await ready(first), { detail: 'not reachable' })
    await standby.start()
    await becomes('ok')
    t.ok(await shows(first, await write(first)))
  })

  await t.test('and when it has become a primary of its own', async (t) => {
    await standby.promote()
    await becomes('late')
    t.match(await ready(first), { detail: 'not a replica of this database' })
    t.ok(await shows(first, await write(first)))
  })
})

/** List reads of this process so far, by server. */
async function reads(): Promise<{ replica: number; primary: number }> {
  const { values } = await listReads.get()
  const of = (server: string) => values.find(({ labels }) => labels.server === server)?.value ?? 0
  return { replica: of('replica'), primary: of('primary') }
}
