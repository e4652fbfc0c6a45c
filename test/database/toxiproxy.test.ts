// Slow: a network goes silent, and terms have to pass.
// A network that forgets: what Toxiproxy calls `timeout`, between the database and an api, and between it and a worker.
// It starts processes.
import t from 'tap'
import { givenZaaktype, testApp } from '../app.ts'
import { freePort } from '../free-port.ts'
import { configure, givenReceiver } from '../notificaties/given.ts'
import { until } from '../until.ts'
import { ZAKEN, zaakBody } from '../zaken/given.ts'
import { isReady, openClient, processSettings, START_MS, supervise } from '../zaken/processes.ts'
import { findToxiproxy, startToxiproxy } from './toxiproxy.ts'

/** A statement has 30 seconds; its request ends within 10 of that. */
const ANSWER_MS = 40_000
/** A worker that lost its database for a while goes on after so long. */
const BACK_MS = 60_000

const program = findToxiproxy(t)

t.test(
  'an api and a worker whose network goes silent say so in time, and go on when it is back',
  { skip: !program && 'no toxiproxy here, and no Go to build it with: set TOXIPROXY to its path', timeout: 300_000 },
  async (t) => {
    const test = await testApp(t)
    const receiver = await givenReceiver(t)
    const zaaktype = await givenZaaktype(test)
    await configure(test, receiver.root, { backoff: 1, baseFactor: 1 })
    receiver.received.length = 0
    const toxiproxy = await startToxiproxy(t, program!)
    const behind = async (name: string) =>
      processSettings(test, { DATABASE_URL: await toxiproxy.proxy(name, test.databaseUrl) })
    const [port, health] = [await freePort(), await freePort()]
    const api = supervise(t, 'api', { ...(await behind('api')), PORT: String(port) })
    const worker = supervise(t, 'worker', { ...(await behind('worker')), WORKER_HEALTH_PORT: String(health) })
    const [apiAddress, workerAddress] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${health}`]
    const bothReady = async () => (await isReady(apiAddress)) && (await isReady(workerAddress))
    await until('both are ready', bothReady, START_MS)
    const clients = Array.from({ length: 3 }, () => openClient(apiAddress, ANSWER_MS))
    t.teardown(() => clients.map((client) => client.close()))
    const [reader, writer, asker] = clients as [(typeof clients)[0], (typeof clients)[0], (typeof clients)[0]]
    const delivered = (identificatie: string) =>
      receiver.received.some(({ body }) => JSON.stringify(body).includes(identificatie))
    const create = async (identificatie: string) => {
      const { status, body } = await writer.call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, { identificatie }))
      t.equal(status, 201, identificatie)
      return body.url
    }
    const before = await create('VOOR-DE-STILTE')
    await until('its message', () => delivered(before))

    await toxiproxy.silence('api', 'upstream')
    const asked = await Promise.all([
      reader.call('GET', `${ZAKEN}/zaken`),
      writer.call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, { identificatie: 'IN-DE-STILTE' })),
    ])
    for (const { status, headers, ms } of asked) {
      t.match({ status, headers }, { status: 503, headers: { 'retry-after': /\d/ } })
      t.comment(`answered after ${Math.round(ms)} ms`)
    }
    t.equal((await asker.call('GET', '/readyz')).status, 503, 'readiness judges by the same look')
    await toxiproxy.heal('api')
    await until('an api that is back', () => isReady(apiAddress), BACK_MS)
    t.equal((await reader.call('GET', `${ZAKEN}/zaken`)).status, 200)
    t.equal(
      (await test.database.sql`select from zaak where identificatie = 'IN-DE-STILTE'`).length,
      0,
      'what did not reach the database was not done',
    )

    await toxiproxy.silence('worker', 'downstream')
    const during = await create('TIJDENS-DE-STILTE')
    await until('a worker that says so', async () => !(await isReady(workerAddress)), ANSWER_MS)
    await toxiproxy.heal('worker')
    await until('its message after all', () => delivered(during), BACK_MS)
    await until('both are ready again', bothReady, BACK_MS)
    t.same([...api.faults, ...worker.faults], [], 'neither ended by itself')
  },
)
