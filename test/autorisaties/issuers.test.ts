// It starts identity providers as processes of their own: real tokens, discovery, other keys, outages.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import t from 'tap'
import { deleteIssuer, type IssuerInput, saveIssuer, saveIssuerClients } from '../../src/autorisaties/issuers/issuer.ts'
import { systemActor } from '../../src/core/access.ts'
import { signal } from '../../src/database/listen.ts'
import { BASE, givenClient, type TestApp, testApp } from '../app.ts'
import { until } from '../until.ts'
import { AUDIENCE, providerKey, startProvider } from './provider.ts'

const URL_ = '/catalogi/api/v1/catalogussen'

/** Registers an issuer; its uuid. */
export async function givenIssuer({ app }: TestApp, input: Partial<IssuerInput> & { issuer: string }): Promise<string> {
  const { uuid } = await app.mutate(systemActor('test', BASE), (m) =>
    saveIssuer(m, { label: 'Provider', audiences: [AUDIENCE], ...input }),
  )
  return uuid
}

/** Lets a client of an issuer act as the applicatie of a client id. */
export async function givenIssuerClient(
  { app, database }: TestApp,
  issuer: string,
  clientId: string,
  as: string,
): Promise<void> {
  const [row] = await database.sql<{ uuid: string }[]>`
    select a.uuid from applicatie a join applicatie_client c on c.applicatie_id = a.id where c.client_id = ${as}`
  await app.mutate(systemActor('test', BASE), async (m) => {
    await saveIssuerClients(m, row!.uuid, [{ issuer, clientId }])
  })
}

async function send({ app }: TestApp, token: string, headers: Record<string, string> = {}, url = URL_) {
  const answer = await app.inject({ url, headers: { host: 'localhost', authorization: `Bearer ${token}`, ...headers } })
  return { status: answer.statusCode, code: answer.json().code as string, header: answer.headers['www-authenticate'] }
}

const keyRequests = ({ requests }: { requests: string[] }) => requests.filter((path) => path === '/jwks').length

t.test('a token of an issuer opens what the rights of its applicatie open', async (t) => {
  const test = await testApp(t)
  const provider = await startProvider(t)
  await givenClient(test, 'portaal-eigen', [{ component: 'ztc', scopes: ['catalogi.lezen'] }])
  await givenIssuer(test, { issuer: provider.issuer })
  await givenIssuerClient(test, provider.issuer, 'portaal', 'portaal-eigen')
  const token = await provider.token('portaal')
  t.match(decodeProtectedHeader(token), { alg: 'RS256', typ: 'at+jwt', kid: 'eerste' }, 'as RFC 9068 says')
  t.equal((await send(test, token)).status, 200)
  t.equal((await send(test, token)).status, 200, 'also when it is known')
  t.match(await send(test, token, {}, '/zaken/api/v1/zaken'), {
    status: 403,
    code: 'permission_denied',
    header: 'Bearer realm="zaakstroom", error="insufficient_scope"',
  })

  t.match(
    await send(test, await provider.token('zaaksysteem')),
    { status: 403, code: 'invalid-client-identifier' },
    'a client that no applicatie has',
  )

  t.test('an id of an issuer is never an id with a secret, nor the other way around', async (t) => {
    await givenClient(test, 'zaaksysteem', [{ component: 'ztc', scopes: ['catalogi.lezen'] }])
    t.equal((await test.call('GET', URL_, undefined, { as: 'zaaksysteem' })).status, 200)
    t.match(await send(test, await provider.token('zaaksysteem')), { status: 403, code: 'invalid-client-identifier' })
    t.equal((await test.call('GET', URL_, undefined, { as: 'portaal' })).body.code, 'invalid-client-identifier')
  })

  t.test('while moving over both are taken, and the last use of each is known', async (t) => {
    t.equal((await test.call('GET', URL_, undefined, { as: 'portaal-eigen' })).status, 200)
    t.equal((await send(test, token)).status, 200)
    await until('both uses', async () => {
      const [row] = await test.database.sql`
        select s.last_signed_at is not null and i.last_used_at is not null as noted
        from applicatie_secret s join applicatie_client c using (client_id) join applicatie_issuer_client i using (applicatie_id)
        where s.client_id = 'portaal-eigen'`
      return row!.noted
    })
  })

  t.test('an issuer that goes takes the access of its clients along', async (t) => {
    const [row] = await test.database.sql<{ uuid: string }[]>`select uuid from token_issuer`
    await test.app.mutate(systemActor('test', BASE), (m) => deleteIssuer(m, row!.uuid))
    const refused = await until('a refusal', async () => {
      const answer = await send(test, token)
      return answer.code === 'unknown-issuer' && answer
    })
    t.match(refused, { status: 403, header: /error="invalid_token"/ })
  })
})

t.test('of a token its user, organisation and issuer are in the audit record and the log line', async (t) => {
  const lines: string[] = []
  const test = await testApp(t, {}, (line) => void lines.push(line))
  const claims = { preferred_username: 'j.jansen', name: 'Jan Jansen', rsin: '000000000' }
  const provider = await startProvider(t, { claims })
  await givenIssuer(test, {
    issuer: provider.issuer,
    userClaims: ['oid', 'preferred_username'],
    userNameClaims: ['name'],
    organisationClaim: 'rsin',
  })
  await givenIssuerClient(test, provider.issuer, 'portaal', 'beheer')
  const token = await provider.token('portaal')
  const made = await test.app.inject({
    method: 'POST',
    url: URL_,
    headers: { host: 'localhost', authorization: `Bearer ${token}` },
    payload: { domein: 'AUDIT', rsin: '000000000', contactpersoonBeheerNaam: 'x' },
  })
  t.equal(made.statusCode, 201)
  const [row] = await test.database.sql`
    select gebruikers_id, gebruikers_weergave, applicatie_weergave, origin from audit where resource = 'catalogus'`
  t.strictSame(
    { ...row },
    {
      gebruikers_id: 'j.jansen',
      gebruikers_weergave: 'Jan Jansen',
      applicatie_weergave: 'Beheer',
      origin: { issuer: provider.issuer, organisation: '000000000' },
    },
  )
  const line = await until('the log line', () =>
    lines.map((each) => JSON.parse(each)).find(({ event, method }) => event === 'request' && method === 'POST'),
  )
  t.match(line, { client_id: 'portaal', issuer: provider.issuer, organisation: '000000000' })
  t.notOk(
    lines.some((line) => line.includes(token.split('.')[2]!)),
    'no line has the token',
  )
})

t.test('keys of every kind are taken, of several issuers at once', async (t) => {
  const test = await testApp(t)
  const providers = await Promise.all(
    ['RS256', 'PS256', 'ES256', 'EdDSA'].map(async (algorithm) => {
      const keys = [await providerKey('een', algorithm)]
      if (!algorithm.startsWith('RS')) keys.push(await providerKey('rs'))
      return { algorithm, provider: await startProvider(t, { keys, algorithm }) }
    }),
  )
  for (const { algorithm, provider } of providers) {
    const { issuer } = provider
    await givenIssuer(test, { issuer, label: algorithm, algorithms: [algorithm as 'RS256'] })
  }
  for (const { algorithm, provider } of providers) {
    t.test(algorithm, async (t) => {
      await givenClient(test, `als-${algorithm}`, [{ component: 'ztc', scopes: ['catalogi.lezen'] }])
      await givenIssuerClient(test, provider.issuer, 'portaal', `als-${algorithm}`)
      const token = await provider.token('portaal')
      t.equal(decodeProtectedHeader(token).alg, algorithm)
      t.equal((await send(test, token)).status, 200)
    })
  }
})

t.test('keys', async (t) => {
  const test = await testApp(t)
  const provider = await startProvider(t)
  await givenIssuer(test, { issuer: provider.issuer })
  await givenIssuerClient(test, provider.issuer, 'portaal', 'beheer')
  const fetched = () =>
    until('the keys', async () => {
      const [row] = await test.database.sql`select keys, failure from token_issuer_keys where answered_at >= asked_at`
      return row
    })

  t.test('are fetched as soon as an issuer is there, without any request', async (t) => {
    t.match(await fetched(), { keys: { keys: [{ kid: 'eerste', kty: 'RSA' }] }, failure: '' })
    t.same(provider.requests, ['/.well-known/openid-configuration', '/jwks'])
  })

  t.test('are fetched once for ten thousand tokens with a made-up kid', async (t) => {
    const [, payload, signature] = (await provider.token('portaal')).split('.')
    const madeUp = () => {
      const header = Buffer.from(JSON.stringify({ alg: 'RS256', typ: 'at+jwt', kid: randomUUID() })).toString(
        'base64url',
      )
      return `${header}.${payload}.${signature}`
    }
    await test.database.sql`update token_issuer_keys set asked_at = asked_at - interval '31 seconds'`
    const other = await testApp(t, { DATABASE_URL: test.databaseUrl, SECRET_KEY: test.config.secretKey! })
    const before = keyRequests(provider)
    const addresses = (n: number) => `10.${n >> 8}.${n & 255}.1` // none is slowed down
    const codes = new Set<string>()
    for (let n = 0; n < 10_000; n += 200) {
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          ((n + i) % 2 ? test : other).app.inject({
            url: URL_,
            remoteAddress: addresses(n + i),
            headers: { host: 'localhost', authorization: `Bearer ${madeUp()}` },
          }),
        ),
      )
      for (const answer of answers) codes.add(answer.json().code)
    }
    t.strictSame([...codes], ['unknown-key'])
    t.equal(keyRequests(provider) - before, 1, 'by two processes together')
  })

  t.test('that are new are taken with the first token that names them, and those that are gone no more', async (t) => {
    const old = await provider.token('portaal')
    t.equal((await send(test, old)).status, 200)
    await provider.restart({ keys: [await providerKey('tweede')] })
    const token = await provider.token('portaal')
    t.match(await send(test, token), { status: 503, code: 'unknown-key' }, 'within 30 seconds of the last time')
    const later = await testApp(t, { DATABASE_URL: test.databaseUrl, SECRET_KEY: test.config.secretKey! })
    await test.database.sql`update token_issuer_keys set asked_at = asked_at - interval '31 seconds'`
    t.equal((await send(later, token)).status, 200)
    await until('the other process to know it', async () => (await send(test, token)).status === 200)
    t.match(await send(test, old), { status: 503, code: 'unknown-key' })
  })

  t.test(
    'go on to count while the provider is down, also after a restart, for as long as the setting says',
    async (t) => {
      const token = await provider.token('portaal')
      await provider.stop()
      await test.database.sql`
      update token_issuer_keys set fetched_at = fetched_at - interval '23 hours', refresh_at = now(), asked_at = now() - interval '31 seconds'`
      const later = await testApp(t, { DATABASE_URL: test.databaseUrl, SECRET_KEY: test.config.secretKey! })
      t.equal((await send(later, token)).status, 200)
      await until('the failure to be noted', async () => {
        const [row] = await test.database.sql`select failure from token_issuer_keys`
        return row!.failure !== ''
      })
      t.equal((await send(later, token)).status, 200)
      await test.database
        .sql`update token_issuer_keys set fetched_at = now() - interval '25 hours', answered_at = now()`
      await signal(test.database.sql, 'zaakstroom_token_issuers')
      await until('503', async () => (await send(later, token)).status === 503)
      await provider.restart()
      await test.database.sql`update token_issuer_keys set asked_at = now() - interval '31 seconds'`
      const again = await testApp(t, { DATABASE_URL: test.databaseUrl, SECRET_KEY: test.config.secretKey! })
      t.equal((await send(again, token)).status, 200)
    },
  )
})

t.test('clocks that differ are forgiven up to the leeway', async (t) => {
  const test = await testApp(t)
  const provider = await startProvider(t, { clockShiftSeconds: 20 })
  await givenIssuer(test, { issuer: provider.issuer, leewaySeconds: 30 })
  await givenIssuerClient(test, provider.issuer, 'portaal', 'beheer')
  t.equal((await send(test, await provider.token('portaal'))).status, 200, '20 seconds ahead')
  await provider.restart({ clockShiftSeconds: 90 })
  t.match(await send(test, await provider.token('portaal')), { status: 403, code: 'jwt-immaturesignatureerror' })
  await provider.restart({ clockShiftSeconds: -20, seconds: 10 })
  t.equal((await send(test, await provider.token('portaal'))).status, 200, 'expired for 10 seconds')
  await provider.restart({ clockShiftSeconds: -90, seconds: 10 })
  t.match(await send(test, await provider.token('portaal')), { status: 403, code: 'expired-token' })
})

t.test('a token is refused as soon as it has expired, also one that was taken before', async (t) => {
  const test = await testApp(t)
  const provider = await startProvider(t, { seconds: 2 })
  await givenIssuer(test, { issuer: provider.issuer, leewaySeconds: 0 })
  await givenIssuerClient(test, provider.issuer, 'portaal', 'beheer')
  const token = await provider.token('portaal')
  t.equal((await send(test, token)).status, 200)
  const refused = await until('a refusal', async () => {
    const answer = await send(test, token)
    return answer.status !== 200 && answer
  })
  t.match(refused, { status: 403, code: 'expired-token' })
  t.ok(decodeJwt(token).exp! <= Date.now() / 1000)
})

t.test('an issuer decides about audience, scope, claims, lifetime and algorithm', async (t) => {
  const test = await testApp(t)
  const provider = await startProvider(t, { seconds: 7200, claims: { rol: 'x' } })
  const { issuer } = provider
  const uuid = await givenIssuer(test, { issuer })
  await givenIssuerClient(test, issuer, 'portaal', 'beheer')
  const plain = await provider.token('portaal')
  const scoped = await provider.token('portaal', { scope: 'zgw.access' })
  t.equal((await send(test, plain)).status, 200)
  const cases: [string, Partial<IssuerInput>, string, number, string][] = [
    ['another audience', { audiences: ['https://elders.example.nl'] }, plain, 403, 'invalid-audience'],
    ['one of several audiences', { audiences: ['https://elders.example.nl', AUDIENCE] }, plain, 200, ''],
    ['a scope that lacks', { requiredScopes: ['zgw.access', 'beheer'] }, plain, 403, 'insufficient-scope'],
    ['a scope that is there', { requiredScopes: ['zgw.access', 'beheer'] }, scoped, 200, ''],
    ['a longer life than allowed', { maxLifetimeSeconds: 3600 }, plain, 403, 'token-lifetime'],
    ['another algorithm', { algorithms: ['ES256'] }, plain, 403, 'jwt-invalidalgorithmerror'],
    ['no claim with a client', { clientClaims: ['appid'] }, plain, 403, 'missing-client-identifier'],
    ['another claim with the client', { clientClaims: ['rol'] }, plain, 403, 'invalid-client-identifier'],
    ['no certificate', { requiresCertificate: true }, plain, 403, 'invalid-certificate'],
  ]
  for (const [what, changed, token, status, code] of cases) {
    t.test(`${what}: ${status} ${code}`, async (t) => {
      await test.app.mutate(systemActor('test', BASE), (m) =>
        saveIssuer(m, { label: 'Provider', issuer, audiences: [AUDIENCE], ...changed }, uuid),
      )
      await until(`${status} ${code}`, async () => {
        const answer = await send(test, token)
        return answer.status === status && (status === 200 || answer.code === code)
      })
      t.pass()
    })
  }
})

t.test('of what answers for a provider nothing is believed that does not fit', async (t) => {
  const test = await testApp(t)
  const { d: _, p: __, q: ___, dp: ____, dq: _____, qi: ______, ...publicKey } = await providerKey('een')
  let answer = { discovery: {} as object, keys: '' }
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    const isKeys = request.url === '/keys'
    if (request.url === '/elders') return void response.writeHead(302, { location: '/keys' }).end()
    response.writeHead(200).end(isKeys ? answer.keys : JSON.stringify(answer.discovery))
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const good = JSON.stringify({ keys: [publicKey] })
  const cases: [string, { discovery: object; keys: string }, string | RegExp][] = [
    [
      'another issuer',
      { discovery: { issuer: `${issuer}/x`, jwks_uri: `${issuer}/keys` }, keys: good },
      /andere issuer/,
    ],
    ['no address of keys', { discovery: { issuer }, keys: good }, /geen jwks_uri/],
    [
      'keys over http elsewhere',
      { discovery: { issuer, jwks_uri: 'http://sleutels.example.nl/' }, keys: good },
      /https/,
    ],
    ['a redirect', { discovery: { issuer, jwks_uri: `${issuer}/elders` }, keys: good }, /was 302/],
    [
      'keys of 5 MB',
      { discovery: { issuer, jwks_uri: `${issuer}/keys` }, keys: `${' '.repeat(5_000_000)}${good}` },
      /te groot/,
    ],
    ['no JSON', { discovery: { issuer, jwks_uri: `${issuer}/keys` }, keys: '<html>' }, /geen JSON/],
    [
      'a symmetric key alone',
      {
        discovery: { issuer, jwks_uri: `${issuer}/keys` },
        keys: JSON.stringify({ keys: [{ kty: 'oct', k: 'AAAA' }] }),
      },
      /geen openbare sleutels/,
    ],
    [
      'keys for encryption alone',
      {
        discovery: { issuer, jwks_uri: `${issuer}/keys` },
        keys: JSON.stringify({ keys: [{ ...publicKey, use: 'enc' }] }),
      },
      /geen openbare/,
    ],
    ['what fits', { discovery: { issuer, jwks_uri: `${issuer}/keys` }, keys: good }, ''],
    [
      'an issuer of access tokens apart, as ADFS',
      { discovery: { issuer: `${issuer}/adfs`, access_token_issuer: issuer, jwks_uri: `${issuer}/keys` }, keys: good },
      '',
    ],
  ]
  for (const [what, given, failure] of cases) {
    t.test(what, async (t) => {
      answer = given
      const uuid = await givenIssuer(test, { issuer })
      const row = await until('an answer', async () => {
        const [found] = await test.database
          .sql`select failure, keys from token_issuer_keys where answered_at is not null`
        return found
      })
      t.match(row, { failure })
      t.equal(row.keys !== null, failure === '')
      await test.app.mutate(systemActor('test', BASE), (m) => deleteIssuer(m, uuid))
      await until('it to be gone', async () => (await test.parts.issuers.find(issuer)) === undefined)
    })
  }

  t.test('an address that may not be called is not', async (t) => {
    await t.rejects(givenIssuer(test, { issuer: 'http://keycloak.example.nl/realms/x' }), {
      message: 'Ongeldige invoer.',
    })
    await t.rejects(givenIssuer(test, { issuer: 'https://a.example.nl', jwksUrl: 'http://a.example.nl/keys' }), {
      message: 'Ongeldige invoer.',
    })
    await givenIssuer(test, { issuer: 'https://169.254.169.254/latest' })
    const row = await until('an answer', async () => {
      const [found] = await test.database.sql`select failure from token_issuer_keys where answered_at is not null`
      return found
    })
    t.match(row.failure, /mag niet worden aangeroepen/)
  })
})
