// Two hosts in DATABASE_URL. The standby is promoted, and the old primary comes back by itself and takes writes as well.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { signToken } from '../../src/autorisaties/clients.ts'
import { migrate } from '../../src/database/migrate.ts'
import { serverDirectory, startPrimary, startStandby } from '../database/servers.ts'
import { freePort } from '../free-port.ts'
import type { JudgeLike, StageLike } from '../stage.ts'
import { withPath } from '../with-path.ts'
import { isReady, START_MS, supervise, until } from '../zaken/processes.ts'
import { playAlone } from './alone.ts'

const SECRET = 'the secret of the first client, long enough'
const WRITES = 30

/**
 * Writes before, during and after a failover to one api, and after the old primary is back to a second one, which never saw it
 * alone. Every write that was acknowledged has to be at the new primary, and the old one has to be told of.
 */
export const playTwoPrimaries = (stage: StageLike, judge: JudgeLike): Promise<void> =>
  playAlone(stage, (own) => play(own, judge))

async function play(stage: StageLike, judge: JudgeLike): Promise<void> {
  const directory = await serverDirectory(stage)
  const [old, second] = await Promise.all([startPrimary(stage, join(directory, 'a')), freePort()])
  const at = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`
  await migrate(at(old.port))
  const standby = await startStandby(stage, old.port, join(directory, 'b'), second, { synchronous: false })
  const data = await mkdtemp(join(tmpdir(), 'zaakstroom-two-'))
  stage.teardown(() => rm(data, { recursive: true, force: true }))
  const env = {
    DATABASE_URL: `postgres://postgres@127.0.0.1:${old.port},127.0.0.1:${second}/postgres`,
    DATA_DIR: data,
    SECRET_KEY: 'the key of this database, long enough',
    BOOTSTRAP_CLIENT_ID: 'eerste',
    BOOTSTRAP_CLIENT_SECRET: SECRET,
    LOG_LEVEL: 'warn',
  }
  let log = ''
  const startApi = async () => {
    const [port, metrics] = [await freePort(), await freePort()]
    supervise(stage, 'api', { ...env, PORT: String(port), METRICS_PORT: String(metrics) }, (text) => {
      log += text
    })
    const address = `http://127.0.0.1:${port}`
    await until('the api', () => isReady(address), START_MS)
    return { address, metrics: `http://127.0.0.1:${metrics}/metrics` }
  }
  const acknowledged: string[] = []
  const write = async (address: string) => {
    const { status, body } = await call(address, 'POST', { domein: letters(acknowledged.length), rsin: '000000000' })
    if (status === 201) acknowledged.push(body.url.split('/').at(-1)!)
    return status
  }

  const first = await startApi()
  judge.equal(await write(first.address), 201, 'a write at the old primary')
  await until('the standby has it', async () => (await stored(at(second))).length === acknowledged.length)
  await old.kill()
  await standby.promote()
  await until('a write at the new primary', async () => (await write(first.address)) === 201)

  await old.start()
  const isTold = async ({ address }: { address: string }) =>
    ((await (await fetch(`${address}/readyz`)).json()) as { status: string }).status === 'degraded'
  await until('readyz tells of the old primary', () => isTold(first))
  const late = await startApi()
  await until('also at a process that starts now', () => isTold(late))
  const answers: number[] = []
  for (let n = 0; n < WRITES; n++) answers.push(await write((n % 2 ? first : late).address))
  judge.same([...new Set(answers)], [201], 'all writes go on')
  const seen = await Promise.all(
    acknowledged.map(async (uuid) => (await call(first.address, 'GET', undefined, `/${uuid}`)).status),
  )
  judge.same([...new Set(seen)], [200], 'and all are read')
  judge.same(await stored(at(second)), acknowledged.toSorted(), 'every acknowledged write is at the new primary')
  judge.equal((await stored(at(old.port))).length, 1, 'none after the failover is at the old one')
  judge.equal(log.includes('a host takes writes on an older timeline'), true, 'the log tells of it')
  const metrics = await (await fetch(late.metrics)).text()
  judge.equal(
    metrics.includes(`zaakstroom_database_host_refused{host="127.0.0.1:${old.port}"} 1`),
    true,
    'and so do metrics',
  )
}

async function call(address: string, method: string, body?: object, path = '') {
  const response = await fetch(`${address}/catalogi/api/v1/catalogussen${path}`, {
    method,
    // A connection for each: one that is closed while it is used again would say nothing of the database.
    headers: {
      authorization: `Bearer ${signToken('eerste', SECRET)}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    ...(body && { body: JSON.stringify({ ...body, contactpersoonBeheerNaam: 'Jan' }) }),
  })
  return { status: response.status, body: (await response.json()) as { url: string } }
}

/** The uuids of all catalogussen at a server. */
async function stored(url: string): Promise<string[]> {
  const sql = postgres(withPath(url), { max: 1, onnotice: () => {} })
  try {
    return (await sql<{ uuid: string }[]>`select uuid from catalogus order by uuid::text`).map(({ uuid }) => uuid)
  } finally {
    await sql.end()
  }
}

/** A domein of its own for each number below 676. */
const letters = (n: number) => `TW${String.fromCharCode(65 + Math.floor(n / 26), 65 + (n % 26))}`
