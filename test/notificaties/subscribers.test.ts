// Deliveries to the abonnementen of the notifications service that is built in.
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { secretBox } from '../../src/core/secret-box.ts'
import { claim, openSenderDatabase, record } from '../../src/notificaties/claims.ts'
import { subscriberOwner } from '../../src/notificaties/deliver.ts'
import { openSender } from '../../src/notificaties/sender.ts'
import { type TestApp, testApp } from '../app.ts'
import { until } from '../until.ts'
import { elapse, forgetMessages, givenChange, givenReceiver, type TestLike } from './given.ts'

/** Two names of one kenmerk. */
const sameName = (a: string, b: string) => fold(a) === fold(b)
const fold = (name: string) => name.replaceAll('_', '').toLowerCase()

t.test('every abonnement that fits gets the message once, signed, with an id that stays', async (t) => {
  const test = await givenBuiltIn(t)
  const receiver = await givenReceiver(t)
  const secrets = [randomBytes(24), randomBytes(24)]
  const one = await givenAbonnement(test, receiver.root, {
    filters: [{}, { bronorganisatie: '517439943' }],
    signedWith: secrets.map((secret) => `whsec_${secret.toString('base64')}`),
  })
  await givenAbonnement(test, `${receiver.root}other`, { filters: [{ bronorganisatie: '000000000' }] })
  receiver.answer = (response) => response.writeHead(500).end()
  const uuid = await givenChange(test)
  await test.runJobs()
  receiver.answer = (response) => response.writeHead(204).end()
  await elapse(test, 100)
  await test.runJobs()
  t.equal(receiver.received.length, 2, 'one receiver, two attempts, however many filters fit')
  for (const [index, { headers, body, path }] of receiver.received.entries()) {
    t.match(headers, { authorization: 'geheim', 'webhook-id': uuid, 'x-attempt': String(index + 1) })
    t.equal(path, '/api/v1/')
    const signed = `${uuid}.${headers['webhook-timestamp']}.${JSON.stringify(body)}`
    t.equal(
      headers['webhook-signature'],
      secrets.map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`).join(' '),
    )
  }
  t.equal((await test.database.sql`select from delivery`).length, 0)
  t.match(await stateOf(test, one), { failures: 0, failingSince: null })
})

t.test(
  'filters: all keys, any group, absent kenmerken, *, names and hosts as they come, #resource and #actie',
  async (t) => {
    const { database } = await givenBuiltIn(t)
    const object = randomUUID()
    const message = {
      bronorganisatie: '1',
      'zaaktype.catalogus': `http://a.nl/catalogi/api/v1/catalogussen/${object}`,
      verantwoordelijkeOrganisatie: '2',
    }
    const cases: [object, string, boolean][] = [
      [{}, 'create', true],
      [{ bronorganisatie: '1' }, 'create', true],
      [{ bronorganisatie: '1', verantwoordelijkeOrganisatie: '3' }, 'create', false],
      [{ verantwoordelijke_organisatie: '2' }, 'create', true],
      [{ bronorganisatie: '*' }, 'create', true],
      [{ zaaktype: 'x' }, 'create', true],
      [{ 'zaaktype.catalogus': `https://b.nl/prefix/catalogussen/${object}` }, 'create', true],
      [{ 'zaaktype.catalogus': `https://b.nl/catalogussen/${randomUUID()}` }, 'create', false],
      [{ 'zaaktype.catalogus': `/catalogussen/${object}` }, 'create', true],
      [{ 'zaaktype.catalogus': `https://b.nl/zaaktypen/${object}` }, 'create', false],
      [{ '#resource': 'status,zaak' }, 'create', true],
      [{ '#resource': 'status' }, 'create', false],
      [{ '#actie': 'update' }, 'partial_update', true],
      [{ '#actie': 'partial_update' }, 'update', false],
      [{ '#actie': '*', '#resource': '' }, 'create', false],
      [{ verantwoordelijkeOrganisatie: '2', verantwoordelijke_organisatie: '3' }, 'create', false],
    ]
    for (const [filters, actie, expected] of cases) {
      const [row] = await database.sql`
      select filters_fit(${database.sql.json(filters as never)}, ${database.sql.json(message)}, 'zaak', ${actie}) as fits`
      t.equal(row!.fits, expected, JSON.stringify(filters))
    }
  },
)

t.test(
  'a message fits when each filter on a kenmerk that it has is that value, however both are written',
  async (t) => {
    const { database } = await givenBuiltIn(t)
    const value = fc.oneof(
      fc.constantFrom('', '*', 'x', 'y', `${'x'.repeat(70)}1`, `${'x'.repeat(70)}2`, 'RESOURCE'),
      fc
        .tuple(
          fc.constantFrom('http://a', 'https://b/prefix', ''),
          fc.constantFrom('zaken', 'rollen'),
          fc.constantFrom('1', '2'),
        )
        .map(([root, kind, last]) => `${root}/${kind}/11111111-1111-4111-8111-11111111111${last}`),
    )
    const object = fc.dictionary(fc.constantFrom('a_b', 'aB', 'AB', 'c', 'RESOURCE', 'constructor'), value)
    const ofUrl = (text: string) => /^https?:\/\/[^?#]*(\/[^/?#]+\/[0-9a-f-]{36})$/.exec(text)?.[1] ?? text
    const fits = (filters: Record<string, string>, message: Record<string, string>) =>
      Object.entries(filters).every(
        ([name, wanted]) =>
          wanted === '*' ||
          Object.entries(message).every(([other, given]) => !sameName(other, name) || ofUrl(given) === ofUrl(wanted)),
      )
    const pairs = fc.sample(fc.tuple(object, object), { numRuns: 2000, seed: 10 })
    const rows = await database.sql<{ fits: boolean }[]>`
    select filters_fit(p -> 0, p -> 1, 'zaak', 'create') as fits
    from jsonb_array_elements(${database.sql.json(pairs as never)}) with ordinality x(p, n) order by n`
    t.strictSame(
      pairs.filter(([filters, message], index) => rows[index]!.fits !== fits(filters, message)),
      [],
    )
    t.ok(rows.filter((row) => row.fits).length > 100)
    t.ok(rows.filter((row) => !row.fits).length > 100)
  },
)

t.test('of each abonnement a change costs one comparison, however many filters it has', async (t) => {
  const { database } = await givenBuiltIn(t)
  const plan = await database.sql<{ 'QUERY PLAN': string }[]>`
    explain (verbose) select comparable_fits(comparable, '{"a": "1"}', 'zaak', 'create') from abonnement_kanaal`
  const text = plan.map((row) => row['QUERY PLAN']).join(' ')
  t.match(text, '@> comparable')
  t.notMatch(text, /_past|_toets|kenmerk_/, 'no function is called for a row')
})

t.test('a dead and a slow abonnement cost the good one nothing', async (t) => {
  const test = await givenBuiltIn(t)
  const good = await givenReceiver(t)
  const slow = await givenReceiver(t)
  slow.answer = (response) => void setTimeout(() => response.writeHead(204).end(), 3_000)
  const dead = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => dead.once('listening', resolve))
  const { port } = dead.address() as AddressInfo
  await new Promise((resolve) => dead.close(resolve))
  await givenAbonnement(test, good.root)
  await givenAbonnement(test, slow.root)
  const off = await givenAbonnement(test, `http://127.0.0.1:${port}/`)
  for (let n = 0; n < 100; n++) await givenChange(test)
  const running = await startSender(t, test)
  await until('all at the good one', () => good.received.length >= 100)
  t.equal(good.received.length, 100)
  t.ok(slow.received.length < 50, 'while the slow one is at its first messages')
  t.ok(Number((await stateOf(test, off)).failures) >= 5)
  const [tried] = await test.database.sql`
    select count(*)::int as n from delivery_attempt where abonnement_id = ${off} and outcome = 'refused'`
  t.ok(tried!.n < 15, `the dead one is probed: ${tried!.n} attempts`)
  const [waiting] = await test.database.sql`
    select count(*)::int as n from delivery where abonnement_id = ${off} and attempt = 0`
  t.equal(waiting!.n, 100 - tried!.n, 'and what waits for it keeps its attempts')
  await running.stop()
})

t.test(
  'from the fifth failure in a row one message at a time is sent, after 5, 10, 20 … and at most 300 seconds',
  async (t) => {
    const test = await givenBuiltIn(t)
    const { sql } = test.database
    const id = await givenAbonnement(test, 'https://ontvanger.example/', { more: { concurrency: 3 } })
    for (let n = 0; n < 4; n++) await givenChange(test)
    const claimOne = async () => {
      await sql`update abonnement set not_before = null where id = ${id}`
      await sql`update delivery set claimed_by = null, next_attempt_at = now(), status = 'gepland'`
      const { claimed } = await claim(test.database, { worker: 0, external: 0, total: 10, busy: [], open: [] })
      return claimed
    }
    const waits: (number | null)[] = []
    const atOnce: number[] = []
    for (let failures = 1; failures <= 14; failures++) {
      const [first, ...others] = await claimOne()
      atOnce.push(1 + others.length)
      const { notificatieId, abonnementId, attempt } = first!
      await record(test.database, [
        { notificatieId, abonnementId, attempt, outcome: 'http', httpStatus: 500, answer: '', ms: 1, wait: 1 },
      ])
      const [row] = await sql<{ seconds: number | null }[]>`
      select round(extract(epoch from not_before - last_fault_at))::int as seconds from abonnement where id = ${id}`
      waits.push(row!.seconds)
    }
    t.same(atOnce, [3, 3, 3, 3, 3, ...Array(9).fill(1)])
    t.same(waits, [null, null, null, null, 5, 10, 20, 40, 80, 160, 300, 300, 300, 300])
    const [row] = await claimOne()
    await record(test.database, [{ ...row!, outcome: 'delivered', httpStatus: 204, answer: null, ms: 1, wait: null }])
    t.equal((await claimOne()).length, 3, 'until it accepts one')
  },
)

t.test('an abonnement that answers again gets everything that waited, in order per main object', async (t) => {
  const test = await givenBuiltIn(t)
  const receiver = await givenReceiver(t)
  receiver.answer = (response) => response.writeHead(500).end()
  const id = await givenAbonnement(test, receiver.root)
  const object = randomUUID()
  const uuids = [await givenChange(test, object)]
  for (let n = 0; n < 10; n++) uuids.push(await givenChange(test, object, 'update'))
  for (let n = 0; n < 6; n++) await givenChange(test)
  await test.runJobs()
  t.ok(Number((await stateOf(test, id)).failures) >= 5)
  receiver.received.length = 0
  receiver.answer = (response) => response.writeHead(204).end()
  await elapse(test, 1000)
  await test.runJobs()
  t.equal(receiver.received.length, 0, 'not before the next probe')
  await test.database.sql`update abonnement set not_before = now()`
  await test.runJobs()
  t.equal(receiver.received.length, 17)
  t.same(
    receiver.received.map(({ headers }) => headers['webhook-id']).filter((uuid) => uuids.includes(String(uuid))),
    uuids,
  )
  t.match(await stateOf(test, id), { failures: 0, failingSince: null })
})

t.test('410 ends it with what waits kept, Retry-After leaves it alone, 401 is tried again and known', async (t) => {
  const test = await givenBuiltIn(t)
  const receiver = await givenReceiver(t)
  const id = await givenAbonnement(test, receiver.root)
  receiver.answer = (response) => response.writeHead(429, { 'retry-after': '120' }).end()
  await givenChange(test)
  await test.runJobs()
  await givenChange(test)
  await test.runJobs()
  t.equal(receiver.received.length, 1, 'nothing else goes there meanwhile')
  const [rest] = await test.database.sql`
    select extract(epoch from not_before - now())::float8 as s, (select extract(epoch from max(next_attempt_at) - now())::float8 from delivery) as due
    from abonnement where id = ${id}`
  t.ok(rest!.s > 110 && rest!.s <= 120)
  t.ok(rest!.due > 110 && rest!.due <= 120)
  receiver.answer = (response) => response.writeHead(401).end()
  await test.database.sql`update abonnement set not_before = null`
  await test.runJobs()
  t.match(await stateOf(test, id), { status: 'actief', lastOutcome: 'http', lastHttpStatus: 401 })
  receiver.answer = (response) => response.writeHead(410).end()
  await elapse(test, 1000)
  await test.runJobs()
  t.match(await stateOf(test, id), { status: 'opgezegd', reason: /410/ })
  t.equal((await test.database.sql`select from delivery where status = 'gepland'`).length, 2)
  await givenChange(test)
  t.equal((await test.database.sql`select from delivery`).length, 2, 'and it gets no new ones')
})

t.test('a secret goes to no other server than it was given for, whoever changes the address', async (t) => {
  const test = await givenBuiltIn(t)
  const { sql } = test.database
  const receiver = await givenReceiver(t)
  const elsewhere = receiver.root.replace('127.0.0.1', 'localhost')
  for (const authenticatie of ['header', 'jwt']) {
    const uuid = randomUUID()
    const { box } = test.parts
    const auth = box.sealFor('geheim', subscriberOwner(uuid), [receiver.root, ''])
    const id = await givenAbonnement(test, receiver.root, { more: { uuid, auth, authenticatie } })
    await givenChange(test)
    await test.runJobs()
    t.equal(receiver.received.length, 1, authenticatie)
    await sql`update abonnement set callback_url = ${elsewhere} where id = ${id}`
    await givenChange(test)
    await test.runJobs()
    t.equal(receiver.received.length, 1, 'nothing was sent at all')
    t.match(await stateOf(test, id), { failures: 1, lastOutcome: 'unknown' })
    await sql`delete from delivery`
    await sql`delete from abonnement`
    receiver.received.length = 0
  }
})

t.test('a client that authenticates by JWT or OAuth2, and one that wants cloud events', async (t) => {
  const test = await givenBuiltIn(t)
  const receiver = await givenReceiver(t)
  let asked = 0
  receiver.answer = (response, { path }) => {
    if (path !== '/api/v1/token') return void response.writeHead(204).end()
    asked++
    response.writeHead(200).end(JSON.stringify({ access_token: 'van-oauth', expires_in: 3600 }))
  }
  await givenAbonnement(test, `${receiver.root}jwt`, { more: { authenticatie: 'jwt', outgoing_client_id: 'wij' } })
  await givenAbonnement(test, `${receiver.root}oauth`, {
    more: { authenticatie: 'oauth2', outgoing_client_id: 'wij', token_url: `${receiver.root}token` },
  })
  await givenAbonnement(test, `${receiver.root}events`, { more: { cloudevents: true } })
  const uuid = await givenChange(test)
  await givenChange(test)
  await test.runJobs()
  const of = (name: string) => receiver.received.filter(({ path }) => path === `/api/v1/${name}`)
  t.match(of('jwt')[0]!.headers.authorization, /^Bearer ey/)
  t.match(of('oauth')[1]!.headers.authorization, 'Bearer van-oauth')
  t.equal(asked, 1, 'a token is used as long as it holds')
  t.match(of('events')[0], {
    headers: { 'content-type': 'application/cloudevents+json' },
    body: { specversion: '1.0', id: uuid, type: 'nl.overheid.documenten.enkelvoudiginformatieobject.create' },
  })
})

/** An application whose messages go to its own abonnementen. */
async function givenBuiltIn(t: TestLike): Promise<TestApp> {
  const test = await testApp(t)
  await forgetMessages(test)
  await test.database.sql`update notificatie_settings set mode = 'ingebouwd', backoff = '3'`
  await test.database.sql`insert into kanaal (naam) values ('documenten')`
  return test
}

async function givenAbonnement(
  { database, config }: TestApp,
  callbackUrl: string,
  { filters = [{}], signedWith = [], more = {} }: { filters?: object[]; signedWith?: string[]; more?: object } = {},
): Promise<number> {
  const box = secretBox(config.secretKey!)
  const uuid = randomUUID()
  const seal = (secret: string) => box.seal(secret, subscriberOwner(uuid))
  const values = { uuid, callback_url: callbackUrl, auth: seal('geheim'), ...more }
  const [row] = await database.sql`insert into abonnement ${database.sql(values as never)} returning id`
  for (const secret of signedWith)
    await database.sql`update abonnement set ondertekening = ondertekening || ${seal(secret)}::bytea where id = ${row!.id}`
  for (const filter of filters)
    await database.sql`insert into abonnement_kanaal (abonnement_id, kanaal_id, filters)
      select ${row!.id}, id, ${database.sql.json(filter as never)} from kanaal`
  return row!.id
}

async function stateOf({ database }: TestApp, id: number): Promise<Record<string, unknown>> {
  const [row] = await database.sql`
    select status, reason, failures, failing_since as "failingSince", last_outcome as "lastOutcome",
      last_http_status as "lastHttpStatus" from abonnement where id = ${id}`
  return row!
}

async function startSender(t: TestLike, test: TestApp): Promise<{ stop(): Promise<void> }> {
  const pool = randomUUID()
  await test.database.sql`insert into worker (name, version, host, pid, pool_id) values ('x', '1', 'h', 1, ${pool})`
  const sender = openSender({ ...test.parts, open: () => openSenderDatabase(test.databaseUrl) })
  const running = sender.run(pool)
  const stop = async () => {
    sender.stop()
    await running
  }
  t.teardown(async () => {
    await stop()
    await sender.close()
  })
  return { stop }
}
