// Slow: a primary is lost and its standby promoted.
// Two hosts in DATABASE_URL, a primary and its standby: what happens when the primary is lost and the standby promoted.
import { join } from 'node:path'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { runApi } from '../../src/cli/run-api.ts'
import { runWorker } from '../../src/cli/run-worker.ts'
import { readConfig } from '../../src/config.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { hostUrls } from '../../src/database/address.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { playTwoPrimaries } from '../faults/two-primaries.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'
import { letters } from './letters.ts'
import { noPrograms, serverDirectory, startPrimary, startStandby } from './servers.ts'

const SECRET = 'the secret of the first client, long enough'
const KEY = 'the key of this database, long enough'

t.test('an address with several hosts is one address per host', async (t) => {
  t.same(hostUrls('postgres://u:p%2C@a:1/n?x=y'), ['postgres://u:p%2C@a:1/n?x=y'])
  t.same(hostUrls('postgres://u:p,q@a:1,b:2,c/n?x=1,2'), [
    'postgres://u:p,q@a:1/n?x=1,2',
    'postgres://u:p,q@b:2/n?x=1,2',
    'postgres://u:p,q@c/n?x=1,2',
  ])
  t.same(hostUrls('postgresql://a,b/n'), ['postgresql://a/n', 'postgresql://b/n'])
})

t.test('after a failover writes go on at the promoted standby, and so do jobs', { skip: noPrograms }, async (t) => {
  const directory = await serverDirectory(t)
  const began = performance.now()
  const [first, second] = await Promise.all([startPrimary(t, join(directory, 'a')), freePort()])
  const url = `postgres://postgres@127.0.0.1:${second},127.0.0.1:${first.port}/postgres`
  await migrate(url) // the first of the two is not there yet
  const standby = await startStandby(t, first.port, join(directory, 'b'), second)

  const config = readConfig({
    DATABASE_URL: url,
    DATA_DIR: join(directory, 'data'),
    SECRET_KEY: KEY,
    PORT: '0',
    BOOTSTRAP_CLIENT_ID: 'eerste',
    BOOTSTRAP_CLIENT_SECRET: SECRET,
    NOTIFICATIONS_DISABLED: 'true',
    LOG_LEVEL: 'silent',
  })
  t.comment(`both servers were there after ${Math.round(performance.now() - began)} ms`)
  const log = openLog('silent')
  const api = await runApi(config, url, secretBox(KEY), log)
  t.teardown(() => api.stop())
  const worker = await runWorker(config, url, log)
  t.teardown(() => worker.stop())
  // A connection for each request: on a busy machine starting and stopping servers takes longer than an idle one is kept, and
  // one that the api closes while it is used again would fail a request that says nothing of the database.
  const headers = {
    authorization: `Bearer ${signToken('eerste', SECRET)}`,
    'content-type': 'application/json',
    connection: 'close',
  }
  let written = 0
  const write = async () => {
    const domein = `F${letters(written)}`
    const { status } = await fetch(`${api.address}/catalogi/api/v1/catalogussen`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ domein, rsin: '000000000', contactpersoonBeheerNaam: 'Jan' }),
    })
    if (status === 201) written++
    return status
  }
  for (let n = 0; n < 10; n++) t.equal(await write(), 201, 'a standby that stands first in the address is passed over')
  t.ok(worker.healthy())

  await first.kill()
  for (let n = 0; n < 3; n++) t.equal(await write(), 503, 'without a primary it says so, and does not wait for one')
  await standby.promote()
  const since = performance.now()
  await until('a write', async () => (await write()) === 201)
  t.comment(`writes went on ${Math.round(performance.now() - since)} ms after the promotion`)
  const list = await fetch(`${api.address}/catalogi/api/v1/catalogussen`, { headers })
  t.equal(
    ((await list.json()) as { count: number }).count,
    written,
    'every write that was acknowledged is there, and no other',
  )
  await until('a healthy worker', () => worker.healthy())
  const ready = await fetch(`${api.address}/readyz`, { headers: { connection: 'close' } })
  t.equal(ready.status, 200)
})

t.test('the old primary that comes back by itself gets no write', { skip: noPrograms }, (t) => playTwoPrimaries(t, t))
