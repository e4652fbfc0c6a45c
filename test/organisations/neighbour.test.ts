// Slow: it plays each attack of a benchmark.
// The attacks of `npm run bench neighbour -- --organisations`, each once and much smaller: from a client of one organisation, while another
// is asked in the same process. Times are for the benchmark.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type Attack, newTally, runAttack, type World } from '../../bench/attacks/attack.ts'
import { ATTACKS } from '../../bench/attacks/index.ts'
import { zaaktypeBody } from '../../bench/zaaktype.ts'
import { createClient, signToken } from '../../src/autorisaties/clients.ts'
import { openDatabase } from '../../src/database/database.ts'
import { withSchema } from '../../src/database/schema.ts'
import { inOrganisation, inTurnOfAll } from '../../src/telemetry/current-organisation.ts'
import { SECRET } from '../app.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'
import { keysOf, many, ringOf } from './api-many.ts'

t.setTimeout(600_000)

const SCALE = 0.01
const CRS = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' }
const ZAKEN = '/zaken/api/v1/zaken'

t.test('an attack upon one organisation is none upon another', async (t) => {
  const port = await freePort()
  const two = [
    { host: 'a.nl', schema: 'gemeente_a' },
    { host: 'localhost', schema: 'gemeente_b' },
  ]
  const { app, call, change, url } = await many(t, two, { env: { PUBLIC_URL: `http://127.0.0.1:${port}` } })
  await change('a.nl', { hosts: ['127.0.0.1', 'x'] }) // as those who write on a connection name it
  await app.listen({ port, host: '127.0.0.1' })
  const box = ringOf(keysOf(0))
  const database = openDatabase(withSchema(url, 'gemeente_a'), { max: 2, name: 'test' })
  t.teardown(database.close)
  await until('it is known', async () => (await call('127.0.0.1', 'GET', ZAKEN, { headers: CRS })).status === 200)

  const made = (host: string) => async (method: string, path: string, body?: unknown) => {
    const answer = await call(host, method, path, { body, headers: CRS })
    if (answer.status >= 300) throw new Error(`${method} ${path} gave ${answer.status}: ${answer.text}`)
    return answer.body ?? {}
  }
  const zaakBody = (zaaktype: string) => ({
    ...{ bronorganisatie: '517439943', verantwoordelijkeOrganisatie: '517439943', zaaktype, startdatum: '2026-03-02' },
  })
  async function givenWorld(host: string): Promise<World> {
    const make = made(host)
    const catalogus = (
      await make('POST', '/catalogi/api/v1/catalogussen', {
        ...{ domein: 'ABC', rsin: '000000000', contactpersoonBeheerNaam: 'x' },
      })
    ).url
    const type = (await make('POST', '/catalogi/api/v1/zaaktypen', zaaktypeBody(catalogus, 'BUREN'))).url
    const document = (
      await make('POST', '/catalogi/api/v1/informatieobjecttypen', {
        ...{ catalogus, omschrijving: 'Brief', vertrouwelijkheidaanduiding: 'openbaar' },
        ...{ beginGeldigheid: '2024-01-01', informatieobjectcategorie: 'x' },
      })
    ).url
    for (const one of [type, document]) await make('POST', `${one}/publish`)
    const { url: zaak } = await make('POST', ZAKEN, zaakBody(type))
    return { address: `http://${host}:${port}`, catalogus, zaaktype: type, informatieobjecttype: document, zaak }
  }
  const world = await givenWorld('127.0.0.1')
  const own = await givenWorld('localhost')

  async function givenBadClient(id: string, { rights }: Attack): Promise<void> {
    await createClient(database, box, { id, label: id, alleAutorisaties: false, secret: SECRET })
    const types: Record<string, string> = { zrc: world.zaaktype, drc: world.informatieobjecttype }
    for (const { component, scopes } of rights)
      await database.sql`
        insert into autorisatie (applicatie_id, component, scopes, type_url, type_uuid, max_vertrouwelijkheidaanduiding)
        select applicatie_id, ${component}, ${scopes}, '', ${types[component]?.split('/').at(-1) ?? null},
          ${component in types ? 'zeer_geheim' : null}
        from applicatie_client where client_id = ${id}`
  }

  /** Asks the other organisation until the attack is over. */
  async function ask(signal: AbortSignal): Promise<number[]> {
    const statuses: number[] = []
    const headers = { ...CRS, authorization: `Bearer ${signToken('beheer', SECRET)}` }
    while (!signal.aborted) {
      const asked = await fetch(own.zaak, { headers })
      await asked.text()
      const posted = await fetch(`${own.address}${ZAKEN}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(zaakBody(own.zaaktype)),
      })
      await posted.text()
      statuses.push(asked.status, posted.status)
      await sleep(50)
    }
    return statuses
  }

  for (const [index, attack] of ATTACKS.entries()) {
    await t.test(attack.name, async (t) => {
      const client = `bad-${index}`
      if (attack.rights.length > 0) await givenBadClient(client, attack)
      await attack.prepare?.(world, { sql: database.sql, call: made('127.0.0.1'), scale: SCALE, client })
      const tally = newTally()
      const stop = new AbortController()
      const over = setTimeout(() => stop.abort(), attack.reaches === undefined ? 1500 : 60_000)
      const token = attack.rights.length > 0 ? signToken(client, SECRET) : ''
      const isOver = new AbortController()
      const asked = ask(isOver.signal)
      await runAttack(attack, { world, token, scale: SCALE, signal: stop.signal, tally, once: true })
      isOver.abort()
      clearTimeout(over)
      for (const status of tally.statuses.keys()) t.ok(attack.answers.includes(status), `answered ${status}`)
      if (attack.reaches !== undefined) t.ok(tally.statuses.has(attack.reaches), `reaches ${attack.reaches}`)
      t.same(new Set(await asked), new Set([200, 201]), 'the other is answered')
    })
  }
})

t.test('what all share is done in turn, and one organisation has not all of it', async (t) => {
  const ends: (() => void)[] = []
  const turn = inTurnOfAll(2, 2, () => new Error('too many'))
  const begun: string[] = []
  const work = (rsin: string) =>
    inOrganisation({ rsin, endings: [] }, () =>
      turn(() => {
        begun.push(rsin)
        return new Promise<void>((resolve) => ends.push(resolve))
      }),
    )
  const all = [work('a'), work('a'), work('a')]
  await t.rejects(work('a'), { message: 'too many' })
  all.push(work('b'))
  await sleep(0)
  t.same(begun, ['a', 'b'], 'a place is left to the other')
  all.push(work('b'))
  for (let n = 0; n < 5; n++) {
    ends[n]?.()
    await sleep(0)
  }
  await Promise.all(all)
  t.same(begun, ['a', 'b', 'a', 'b', 'a'], 'they take turns')
})
