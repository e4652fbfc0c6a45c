import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  base64url,
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose'
import t from 'tap'
import { saveClientKeys } from '../../src/autorisaties/token-endpoint/client-keys.ts'
import { rotateSigningKey, type SigningAlgorithm } from '../../src/autorisaties/token-endpoint/signing-keys.ts'
import { ConfigError, readConfig } from '../../src/config.ts'
import { systemActor } from '../../src/core/access.ts'
import { signal } from '../../src/database/listen.ts'
import { BASE, givenClient, type Json, SECRET, type TestApp, testApp } from '../app.ts'
import { until } from '../until.ts'

const LIST = '/catalogi/api/v1/catalogussen'
const ISSUER = 'http://localhost'
const ON = { TOKEN_ENDPOINT: 'EdDSA', PUBLIC_URL: ISSUER }
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

async function ask({ app }: TestApp, form: Record<string, string> | string, headers: Record<string, string> = {}) {
  const answer = await app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { host: 'localhost', 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  })
  const body: Json = answer.json()
  return { status: answer.statusCode, body, headers: answer.headers }
}

const GRANT = { grant_type: 'client_credentials' }
const post = (test: TestApp, id: string, secret: string) =>
  ask(test, { ...GRANT, client_id: id, client_secret: secret })
const asserted = (test: TestApp, assertion: string, more = {}) =>
  ask(test, { ...GRANT, client_assertion_type: ASSERTION_TYPE, client_assertion: assertion, ...more })

async function send({ app }: TestApp, token: string, url = LIST) {
  const answer = await app.inject({ url, headers: { host: 'localhost', authorization: `Bearer ${token}` } })
  return { status: answer.statusCode, code: answer.json().code as string | undefined }
}

const READS = [{ component: 'ztc', scopes: ['catalogi.lezen'] }]

async function keyPair(alg = 'ES256', kid = 'sleutel') {
  const pair = await generateKeyPair(alg, { extractable: true })
  return { privateKey: pair.privateKey, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg } as JWK, alg, kid }
}

type Claims = Record<string, unknown>
function assertion({ privateKey, alg, kid }: Awaited<ReturnType<typeof keyPair>>, id: string, claims: Claims = {}) {
  const now = Math.floor(Date.now() / 1000)
  const usual = { iss: id, sub: id, aud: `${ISSUER}/oauth/token`, iat: now, exp: now + 60, jti: randomUUID() }
  return new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg, kid }).sign(privateKey)
}

const giveKeys = ({ app }: TestApp, id: string, input: Parameters<typeof saveClientKeys>[2]) =>
  app.mutate(systemActor('test', BASE), (m) => saveClientKeys(m, id, input))
const rotate = ({ app, parts }: TestApp, options = {}, algorithm: SigningAlgorithm = 'EdDSA') =>
  app.mutate(systemActor('test', BASE), (m) => rotateSigningKey(m, parts.box, algorithm, options))

t.test('a client gets a token by basic, post and private_key_jwt, and has the rights of its applicatie', async (t) => {
  const test = await testApp(t, ON)
  await givenClient(test, 'portaal', READS)
  const pair = await keyPair()
  await giveKeys(test, 'portaal', { jwks: pair.jwk })
  const answers = {
    basic: await ask(test, GRANT, { authorization: basic('portaal', SECRET) }),
    post: await post(test, 'portaal', SECRET),
    private_key_jwt: await asserted(test, await assertion(pair, 'portaal')),
  }
  for (const [name, { status, body, headers }] of Object.entries(answers)) {
    t.equal(status, 200, name)
    t.match(body, { token_type: 'Bearer', expires_in: 900 })
    t.equal(headers['cache-control'], 'no-store')
    t.same(await send(test, body.access_token), { status: 200, code: undefined }, name)
    t.match(await send(test, body.access_token, '/zaken/api/v1/zaken'), { status: 403, code: 'permission_denied' })
    t.match(decodeProtectedHeader(body.access_token), { alg: 'EdDSA', typ: 'at+jwt' })
    const { iss, aud, sub, client_id, iat, exp } = decodeJwt(body.access_token)
    t.same({ iss, aud, sub, client_id }, { iss: ISSUER, aud: ISSUER, sub: 'portaal', client_id: 'portaal' })
    t.equal(exp! - iat!, 900)
  }
  const [row] = await test.database.sql`select last_signed_at from applicatie_secret where client_id = 'portaal'`
  t.equal(row!.last_signed_at, null, 'it is no token that the client made itself')

  t.test('until its rights, or the client, are gone', async (t) => {
    await test.database
      .sql`delete from applicatie where id = (select applicatie_id from applicatie_client where client_id = 'portaal')`
    await signal(test.database.sql, 'zaakstroom_autorisaties')
    const { access_token } = answers.basic.body
    t.ok(await until('a refusal', async () => (await send(test, access_token)).code === 'invalid-client-identifier'))
    t.equal((await post(test, 'portaal', SECRET)).body.error, 'invalid_client')
  })
})

t.test('others can check its tokens by discovery, with ES256 too', async (t) => {
  const test = await testApp(t, { ...ON, TOKEN_ENDPOINT: 'ES256' })
  const { body } = await post(test, 'beheer', SECRET)
  for (const name of ['openid-configuration', 'oauth-authorization-server']) {
    const { body: found } = await test.call('GET', `/.well-known/${name}`)
    t.match(found, { issuer: ISSUER, token_endpoint: `${ISSUER}/oauth/token`, jwks_uri: `${ISSUER}/oauth/jwks` })
  }
  const jwks = await test.call('GET', '/oauth/jwks')
  t.equal(jwks.headers['cache-control'], 'public, max-age=300')
  t.notOk(
    jwks.body.keys.some((key: JWK) => key.d !== undefined),
    'no private key is published',
  )
  const server = createServer((_request, response) => response.end(jwks.text)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  const keys = createRemoteJWKSet(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  t.match(await jwtVerify(body.access_token, keys, { issuer: ISSUER, audience: ISSUER, algorithms: ['ES256'] }), {
    payload: { client_id: 'beheer' },
  })
  t.equal((await send(test, body.access_token)).status, 200)
})

t.test('a new key is published before it signs, and tokens of the old one stay good until it goes', async (t) => {
  const test = await testApp(t, { ...ON, TOKEN_KEY_DAYS: '30' })
  const { sql } = test.database
  const old = (await post(test, 'beheer', SECRET)).body.access_token
  const [row] = await sql<{ sealed: string }[]>`select encode(private_key, 'escape') as sealed from oauth_signing_key`
  t.notMatch(row!.sealed, /"d"/, 'private keys are encrypted')
  await test.runJobs()
  const runTask = async () => {
    await sql`select add_job('rotate-signing-keys')`
    await test.runJobs()
  }
  await runTask()
  t.equal((await sql`select from oauth_signing_key`).length, 1, 'a young key stays')
  await sql`update oauth_signing_key set created_at = now() - interval '31 days'`
  await runTask()
  await runTask()
  const kids = (await sql<{ kid: string }[]>`select kid from oauth_signing_key order by signs_from`).map(
    ({ kid }) => kid,
  )
  t.equal(kids.length, 2, 'an old one gets a successor, once')
  t.equal(decodeProtectedHeader(old).kid, kids[0])
  await until('both keys', async () => (await test.call('GET', '/oauth/jwks')).body.keys.length === 2)
  t.equal(decodeProtectedHeader((await post(test, 'beheer', SECRET)).body.access_token).kid, kids[0], 'not yet')

  await sql`update oauth_signing_key set signs_from = now() where kid = ${kids[1]!}`
  const made = await until('the new key to sign', async () => {
    const { body } = await post(test, 'beheer', SECRET)
    return decodeProtectedHeader(body.access_token).kid === kids[1] && (body.access_token as string)
  })
  t.equal((await send(test, old)).status, 200, 'a token of the old key')
  t.equal((await send(test, made)).status, 200)

  await sql`update oauth_signing_key set remove_at = now() where remove_at is not null`
  await runTask()
  t.ok(await until('a refusal', async () => (await send(test, old)).code === 'invalid-jwt-signature'))
  t.equal((await send(test, made)).status, 200)

  t.test('at once: after a leak nothing of the older keys counts', async (t) => {
    const kid = await rotate(test, { atOnce: true })
    t.ok(await until('a refusal', async () => (await send(test, made)).code === 'invalid-jwt-signature'))
    const { body } = await post(test, 'beheer', SECRET)
    t.equal(decodeProtectedHeader(body.access_token).kid, kid)
    t.equal((await send(test, body.access_token)).status, 200)
  })
})

t.test('refusals are those of RFC 6749', async (t) => {
  const test = await testApp(t, ON)
  const refused = (status: number, error: string) => ({
    status,
    body: { error },
    headers: { 'cache-control': 'no-store' },
  })
  t.match(await post(test, 'beheer', 'wrong'), refused(400, 'invalid_client'))
  t.match(await post(test, 'niemand', SECRET), refused(400, 'invalid_client'))
  t.match(await post(test, 'x\u0000y', SECRET), refused(400, 'invalid_client'))
  t.match(await ask(test, GRANT), refused(400, 'invalid_client'))
  t.match(await ask(test, GRANT, { authorization: basic('beheer', 'wrong') }), {
    ...refused(401, 'invalid_client'),
    headers: { 'www-authenticate': 'Basic realm="zaakstroom"' },
  })
  for (const authorization of ['Basic', 'Basic %', `Basic ${btoa('beheer')}`, `Basic ${btoa('%:x')}`, 'Bearer x'])
    t.match(await ask(test, GRANT, { authorization }), refused(401, 'invalid_client'), authorization)
  t.match(await ask(test, {}), refused(400, 'invalid_request'))
  t.match(await ask(test, { grant_type: 'password' }), refused(400, 'unsupported_grant_type'))
  t.match(await ask(test, 'grant_type=client_credentials&client_id=a&client_id=b'), refused(400, 'invalid_request'))
  t.match(
    await ask(
      test,
      { ...GRANT, client_id: 'beheer', client_secret: SECRET },
      { authorization: basic('beheer', SECRET) },
    ),
    refused(400, 'invalid_request'),
    'two ways at once',
  )
  t.match(await ask(test, `grant_type=${'x'.repeat(17_000)}`), refused(413, 'invalid_request'))
  t.match(await ask(test, '{}', { 'content-type': 'application/json' }), refused(415, 'invalid_request'))
  t.equal((await test.call('GET', '/oauth/token')).status, 405)
})

t.test('an assertion has to be of the client, for us, short and new', async (t) => {
  const test = await testApp(t, ON)
  await givenClient(test, 'portaal', READS)
  const pair = await keyPair()
  await giveKeys(test, 'portaal', { jwks: { keys: [pair.jwk] } })
  const now = Math.floor(Date.now() / 1000)
  const twice = await assertion(pair, 'portaal', { aud: ISSUER })
  t.equal((await asserted(test, twice, { client_id: 'portaal' })).status, 200, 'the issuer is an audience too')
  const [header, payload, signature] = twice.split('.') as [string, string, string]
  const hmac = await new SignJWT({ iss: 'portaal', sub: 'portaal', aud: ISSUER, exp: now + 60, jti: 'h' })
    .setProtectedHeader({ alg: 'HS256', kid: 'sleutel' })
    .sign(new TextEncoder().encode(JSON.stringify(pair.jwk)))
  const shapes: Record<string, string> = {
    'used before': twice,
    'another audience': await assertion(pair, 'portaal', { aud: 'https://elders.example.nl' }),
    'without audience': await assertion(pair, 'portaal', { aud: undefined }),
    'another issuer': await assertion(pair, 'portaal', { iss: 'beheer' }),
    'a client without keys': await assertion(pair, 'beheer'),
    nobody: await assertion(pair, 'niemand'),
    expired: await assertion(pair, 'portaal', { exp: now - 60 }),
    'without exp': await assertion(pair, 'portaal', { exp: undefined }),
    'exp beyond numbers': await assertion(pair, 'portaal', { exp: 1e300 }),
    'two days long': await assertion(pair, 'portaal', { exp: now + 172_800 }),
    'without jti': await assertion(pair, 'portaal', { jti: undefined }),
    'jti that is a number': await assertion(pair, 'portaal', { jti: 1 }),
    'long jti': await assertion(pair, 'portaal', { jti: 'x'.repeat(256) }),
    'another key': await assertion(await keyPair(), 'portaal'),
    'HS256 with the public key': hmac,
    none: `${base64url.encode(JSON.stringify({ alg: 'none' }))}.${payload}.`,
    'other claims': `${header}.${base64url.encode(JSON.stringify({ iss: 'beheer', sub: 'beheer' }))}.${signature}`,
    'no token': 'x',
    'only points': '..',
  }
  for (const [name, one] of Object.entries(shapes)) {
    await test.database.sql`delete from beheer_sign_in_attempt`
    const { status, body } = await asserted(test, one)
    t.match({ status, error: body.error }, { status: 400, error: 'invalid_client' }, name)
  }
  t.match((await asserted(test, await assertion(pair, 'portaal'), { client_id: 'beheer' })).body, {
    error: 'invalid_client',
  })
  t.match((await asserted(test, twice, { client_assertion_type: 'x' })).body, { error: 'invalid_request' })
  await giveKeys(test, 'portaal', undefined)
  t.match((await asserted(test, await assertion(pair, 'portaal'))).body, { error: 'invalid_client' }, 'keys that went')
  await t.rejects(giveKeys(test, 'portaal', { jwks: { kty: 'oct', k: 'AAAA' } }), { message: 'Ongeldige invoer.' })
  await t.rejects(giveKeys(test, 'portaal', { jwksUrl: 'http://elders.example.nl/jwks' }), {
    message: 'Ongeldige invoer.',
  })
  await t.rejects(giveKeys(test, 'niemand', undefined), { message: 'there is no client niemand' })
})

t.test('keys of a client are fetched from its address, for made-up keys once in 30 seconds', async (t) => {
  const test = await testApp(t, ON)
  const pair = await keyPair('EdDSA')
  let asked = 0
  let keys = [pair.jwk]
  const server = createServer((_request, response) => {
    asked++
    response.end(JSON.stringify({ keys }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  await giveKeys(test, 'beheer', { jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks` })
  t.equal((await asserted(test, await assertion(pair, 'beheer'))).status, 200)
  t.equal((await asserted(test, await assertion(pair, 'beheer'))).status, 200)
  t.equal(asked, 1)
  keys = []
  for (const kid of ['a', 'b', 'c'])
    t.equal((await asserted(test, await assertion({ ...pair, kid }, 'beheer'))).body.error, 'invalid_client')
  t.equal(asked, 1)
  server.closeAllConnections()
})

t.test('trying secrets has to wait, from one address for all of it', async (t) => {
  const test = await testApp(t, ON)
  const statuses = await Promise.all(Array.from({ length: 40 }, () => post(test, 'beheer', 'wrong')))
  const counted = statuses.filter(({ status }) => status === 400).length
  t.equal(counted, 20, 'twenty are looked at, however many come at once')
  const refused = statuses.find(({ status }) => status === 429)!
  t.match(refused.body, { error: 'temporarily_unavailable' })
  t.ok(Number(refused.headers['retry-after']) >= 1)
  t.equal((await post(test, 'beheer', SECRET)).status, 200, 'nobody shuts out a client with a long secret')
  await test.database.sql`update beheer_sign_in_attempt set open_at = now()`

  t.test('what is made up waits too, and makes no rows', async (t) => {
    const before = (await test.database.sql`select from beheer_sign_in_attempt`).length
    const made = await Promise.all(Array.from({ length: 25 }, () => post(test, 'niemand', 'wrong')))
    t.equal(made.filter(({ status }) => status === 429).length, 6)
    t.ok(Number(made.find(({ status }) => status === 429)!.headers['retry-after']) >= 1)
    t.equal((await post(test, 'nog-niemand', 'wrong')).status, 400)
    t.equal((await test.database.sql`select from beheer_sign_in_attempt`).length, before)
  })

  t.test('assertions that somebody else makes up shut nobody out', async (t) => {
    const pair = await keyPair()
    await giveKeys(test, 'beheer', { jwks: { keys: [pair.jwk] } })
    const other = await keyPair()
    for (let n = 0; n < 25; n++) t.equal((await asserted(test, await assertion(other, 'beheer'))).status, 400)
    t.equal((await asserted(test, await assertion(pair, 'beheer'))).status, 200)
  })

  t.test('the name of a scheme in any case, and a secret with + and % in both ways', async (t) => {
    const secret = 'a+b%41c '.repeat(5)
    await test.database.sql`
      update applicatie_secret set sealed_secret = ${test.parts.box.seal(secret, 'beheer')} where client_id = 'beheer'`
    await signal(test.database.sql, 'zaakstroom_autorisaties')
    const form = 'grant_type=client_credentials'
    const basic = (scheme: string, shown: string) =>
      test.call('POST', '/oauth/token', form, {
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `${scheme} ${Buffer.from(`beheer:${shown}`).toString('base64')}`,
        },
      })
    await until('the secret', async () => (await basic('Basic', secret)).status === 200)
    t.equal((await basic('bAsIc', encodeURIComponent(secret))).status, 200)
    const { body } = await basic('BASIC', new URLSearchParams({ secret }).toString().slice('secret='.length))
    t.ok(body.access_token)
    const headers = { authorization: `bearer ${body.access_token}` }
    t.equal((await test.call('GET', '/autorisaties/api/v1/applicaties', undefined, { headers })).status, 200)
  })

  t.test('a secret that can be guessed also counts for all addresses together', async (t) => {
    await test.database.sql`
      update applicatie_secret set sealed_secret = ${test.parts.box.seal('kort', 'beheer')} where client_id = 'beheer'`
    await signal(test.database.sql, 'zaakstroom_autorisaties')
    await until('the short secret', async () => (await post(test, 'beheer', 'kort')).status === 200)
    await post(test, 'beheer', 'wrong')
    t.equal((await test.database.sql`select from beheer_sign_in_attempt`).length, 2)
  })
})

t.test('forged tokens of ours are refused', async (t) => {
  const test = await testApp(t, ON)
  const good = (await post(test, 'beheer', SECRET)).body.access_token as string
  const { kid } = decodeProtectedHeader(good)
  const claims = decodeJwt(good)
  const pair = await keyPair('EdDSA')
  const signed = (header: object) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', ...header }).sign(pair.privateKey)
  t.match(await send(test, await signed({ kid })), { status: 403, code: 'invalid-jwt-signature' })
  t.match(await send(test, await signed({ kid: 'other' })), { status: 403, code: 'invalid-jwt-signature' })
  t.match(await send(test, await signed({ kid, jwk: pair.jwk })), { status: 403, code: 'invalid-jwt-signature' })
  const { body } = await test.call('GET', '/oauth/jwks')
  const hmac = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', kid })
    .sign(new TextEncoder().encode(JSON.stringify(body.keys[0])))
  t.match(await send(test, hmac), { status: 403, code: 'invalid-jwt-signature' })
})

t.test('it is off unless it is asked for, and needs an address of its own', async (t) => {
  const test = await testApp(t)
  for (const url of ['/oauth/jwks', '/.well-known/openid-configuration'])
    t.equal((await test.call('GET', url)).status, 404)
  t.equal((await ask(test, GRANT)).status, 404)
  const env = { DATABASE_URL: 'postgres://localhost/x', SECRET_KEY: 'x'.repeat(32), TOKEN_ENDPOINT: 'EdDSA' }
  t.throws(
    () => readConfig(env),
    new ConfigError(['TOKEN_ENDPOINT needs PUBLIC_URL: that is the issuer of its tokens']),
  )
})
