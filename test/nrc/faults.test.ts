// Slow: api and worker are killed while many subscribers are told.
// It starts api and worker, and kills them.
// From changes to many subscribers while api and worker are killed, one subscriber is dead and one is slow.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { SECRET, type TestApp } from '../app.ts'
import { freePort } from '../free-port.ts'
import { programEnv } from '../program-env.ts'
import { until } from '../until.ts'
import { builtIn, real, subscribe } from './given.ts'
import { type Received, subscriber } from './subscriber.ts'

t.setTimeout(580_000)

const OBJECTS = 12
const UPDATES = 10

t.test(
  'kills of api and worker: each gets all that fits at least once, in order, with stable ids, and nothing else',
  async (t) => {
    const test = await builtIn(t)
    const { sql } = test.database
    await test.call('POST', '/notificaties/api/v1/kanaal', { naam: 'objecten', filters: ['soort'] })
    const all = await subscriber(t, { auth: 'x' })
    const odd = await subscriber(t, { auth: 'x' })
    const flaky = await subscriber(t, { auth: 'x' })
    await subscribe(test, all.url, [{ naam: 'objecten' }])
    await subscribe(test, odd.url, [{ naam: 'objecten', filters: { soort: 'oneven' } }])
    await subscribe(test, flaky.url, [{ naam: 'objecten' }])
    await sql`update notificatie_settings set backoff = '0.1', backoff_max = 1`
    const slow = await givenSlow(t)
    const dead = await subscriber(t, { auth: 'x' })
    for (const url of [slow.url, dead.url]) await subscribe(test, url, [{ naam: 'objecten' }])
    dead.answer.status = 503

    const token = signToken('beheer', SECRET)
    let api = await start(t, test, 'api')
    let worker = await start(t, test, 'worker')
    /** Publishes until it is accepted: an answer that a kill took away makes it a second message. */
    const publish = async (object: number, update: number) => {
      const url = `https://objecten.example/${object}`
      const body = JSON.stringify({
        kanaal: 'objecten',
        hoofdObject: url,
        resource: 'object',
        resourceUrl: `${url}/versies/${update}`,
        actie: 'update',
        aanmaakdatum: '2024-05-01T10:00:00Z',
        kenmerken: { soort: object % 2 ? 'oneven' : 'even' },
      })
      for (;;) {
        const answer = await fetch(`${api.address}/notificaties/api/v1/notificaties`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body,
        }).catch(() => undefined)
        if (answer?.status === 201) return
        if (answer && answer.status < 500) throw new Error(await answer.text())
        await sleep(20)
      }
    }
    for (let update = 0; update < UPDATES; update++) {
      flaky.answer.status = update % 2 ? 500 : 204
      await Promise.all(Array.from({ length: OBJECTS }, (_, object) => publish(object, update)))
      if (update === 3 || update === 7) {
        await kill(worker.child)
        worker = await start(t, test, 'worker')
      }
      if (update === 5) {
        await kill(api.child)
        api = await start(t, test, 'api')
      }
    }
    flaky.answer.status = 204
    const left = async (url: string) => {
      const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from delivery l join abonnement a on a.id = l.abonnement_id where a.callback_url = ${url}`
      return row!.n
    }
    await until(
      'all delivered',
      async () => (await left(all.url)) + (await left(odd.url)) + (await left(flaky.url)) === 0,
    )
    t.ok((await left(dead.url)) > 0, 'the dead one still has what was for it')
    t.ok((await left(slow.url)) > 0, 'and the slow one is not done')

    const messages = await sql<{ uuid: string; url: string; object: string; soort: string }[]>`
    select uuid, resource_url as url, hoofd_object as object, kenmerken->>'soort' as soort from notificatie where kanaal = 'objecten' order by id`
    t.ok(messages.length >= OBJECTS * UPDATES)
    for (const [name, received, fits] of [
      ['all', all.received, () => true],
      ['odd', odd.received, (one: { soort: string }) => one.soort === 'oneven'],
      ['flaky', flaky.received, () => true],
    ] as const) {
      const meant = messages.filter(fits)
      const firsts = firstArrivals(received)
      t.strictSame(
        [...firsts.keys()].sort(),
        meant.map(({ uuid }) => uuid).sort(),
        `${name}: all that fits and nothing else`,
      )
      for (const [id, body] of firsts) t.equal(messages.find(({ uuid }) => uuid === id)!.url, body.resourceUrl)
      for (const object of new Set(meant.map((one) => one.object))) {
        const order = [...firsts].filter(([, body]) => body.hoofdObject === object).map(([id]) => id)
        t.strictSame(
          order,
          meant.filter((one) => one.object === object).map(({ uuid }) => uuid),
          `${name}: ${object} in order`,
        )
      }
    }

    // What was kept for the dead one arrives when it is back.
    const waiting = await left(dead.url)
    dead.answer.status = 204
    dead.received.length = 0
    await sql`update abonnement set not_before = null, failures = 0 where callback_url = ${dead.url}`
    await sql`update delivery set next_attempt_at = now() where next_attempt_at is not null`
    await sql`select add_job('send-notificaties')`
    await until('what waited', async () => (await left(dead.url)) === 0)
    t.equal(firstArrivals(dead.received).size, waiting)
  },
)

/** Per message the first time that it came, in the order in which they came. */
function firstArrivals(received: Received[]): Map<string, { hoofdObject: string; resourceUrl: string }> {
  const firsts = new Map<string, { hoofdObject: string; resourceUrl: string }>()
  for (const { headers, body } of real(received)) {
    const id = String(headers['webhook-id'])
    if (!firsts.has(id)) firsts.set(id, body)
  }
  return firsts
}

/** A subscriber that takes two seconds for each message. */
async function givenSlow(t: { teardown(work: () => unknown): unknown }): Promise<{ url: string }> {
  const server = createServer(async (request, response) => {
    const text = (await Array.fromAsync(request as AsyncIterable<Buffer>)).join('')
    const status = request.headers.authorization === 'x' ? 204 : 401
    const answer = () => response.writeHead(status).end()
    if (JSON.parse(text).kanaal === 'test') answer()
    else setTimeout(answer, 2_000)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

async function start(t: { teardown(work: () => unknown): unknown }, test: TestApp, command: 'api' | 'worker') {
  const port = command === 'api' ? await freePort() : 0
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/main.ts'), command], {
    env: programEnv({
      DATABASE_URL: test.databaseUrl,
      DATA_DIR: test.config.dataDir,
      SECRET_KEY: test.config.secretKey!,
      NOTIFICATIES_MODE: 'ingebouwd',
      HOST: '127.0.0.1',
      PORT: String(port),
      LOG_LEVEL: 'error',
    }),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  t.teardown(() => kill(child))
  const address = `http://127.0.0.1:${port}`
  if (command === 'api')
    await until('the api', async () => (await fetch(`${address}/readyz`).catch(() => undefined))?.ok)
  return { child, address }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
