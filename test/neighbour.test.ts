// Slow: it plays each attack of a benchmark.
// The attacks of `npm run bench neighbour`, each once and much smaller, over real HTTP: what they are answered with, and that
// everything goes on. Times are for the benchmark.
import t from 'tap'
import { newTally, runAttack } from '../bench/attacks/attack.ts'
import { ATTACKS } from '../bench/attacks/index.ts'
import { signToken } from '../src/autorisaties/clients.ts'
import {
  givenCatalogus,
  givenClient,
  givenInformatieobjecttype,
  givenZaaktype,
  SECRET,
  testApp,
  uuidOf,
} from './app.ts'
import { until } from './until.ts'

const SCALE = 0.01
const MAX_BYTES = 17 * 1024 * 1024

t.test('an attack is answered within bounds, with a status that says what was wrong', async (t) => {
  const test = await testApp(t)
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const address = `http://127.0.0.1:${(test.app.server.address() as { port: number }).port}`
  const elsewhere = (url: string) => url.replace('http://localhost', address)
  const catalogus = await givenCatalogus(test)
  const zaaktype = await givenZaaktype(test, { catalogus })
  const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus })
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await test.call(method, path.replace(address, ''), body, {
      headers: { host: new URL(address).host, 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' },
    })
    if (answer.status >= 300) throw new Error(`${method} ${path} gave ${answer.status}: ${answer.text}`)
    return answer.body
  }
  const zaak = await call('POST', '/zaken/api/v1/zaken', {
    bronorganisatie: '517439943',
    verantwoordelijkeOrganisatie: '517439943',
    zaaktype: elsewhere(zaaktype),
    startdatum: '2026-03-02',
  })
  const world = {
    address,
    catalogus: elsewhere(catalogus),
    zaaktype: elsewhere(zaaktype),
    informatieobjecttype: elsewhere(informatieobjecttype),
    zaak: zaak.url,
  }
  const typeUuids: Record<string, string> = { zrc: uuidOf(zaaktype), drc: uuidOf(informatieobjecttype) }

  for (const [index, attack] of ATTACKS.entries()) {
    await t.test(attack.name, async (t) => {
      const client = `bad-${index}`
      const rights = attack.rights.map((right) => ({
        ...right,
        ...(typeUuids[right.component] && { typeUuid: typeUuids[right.component]!, max: 'zeer_geheim' }),
      }))
      if (rights.length > 0) await givenClient(test, client, rights)
      await attack.prepare?.(world, { sql: test.database.sql, call, scale: SCALE, client })
      const tally = newTally()
      const stop = new AbortController()
      // For those that go on for as long as they may; one that has to reach something ends by itself.
      const over = setTimeout(() => stop.abort(), attack.reaches === undefined ? 2000 : 60_000)
      const token = rights.length > 0 ? signToken(client, SECRET) : ''
      await runAttack(attack, { world, token, scale: SCALE, signal: stop.signal, tally, once: true })
      clearTimeout(over)
      for (const status of tally.statuses.keys()) t.ok(attack.answers.includes(status), `answered ${status}`)
      if (attack.reaches !== undefined) t.ok(tally.statuses.has(attack.reaches), `reaches ${attack.reaches}`)
      t.ok(tally.bytes < (attack.maxBytes ?? MAX_BYTES), 'within bytes')
      t.equal((await fetch(`${address}/livez`)).status, 200)
      await ready(address)
    })
  }
})

/** Soon: a check that got no answer while an attack went on is remembered for a second. */
async function ready(address: string): Promise<void> {
  await until('ready again', async () => (await fetch(`${address}/readyz`)).ok, 30_000)
}
