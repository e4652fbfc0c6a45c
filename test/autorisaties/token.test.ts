import { createHmac } from 'node:crypto'
import t from 'tap'
import { secretBox } from '../../src/core/secret-box.ts'
import { givenClient, SECRET, type TestApp, testApp } from '../app.ts'
import { until } from '../until.ts'

const URL = '/catalogi/api/v1/catalogussen'
const now = () => Math.floor(Date.now() / 1000)
const base64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A token made by hand, so that every part of it can be wrong. */
function token(
  payload: unknown,
  { header = { typ: 'JWT', alg: 'HS256' } as unknown, secret = SECRET, hash = 'sha256' } = {},
): string {
  const input = `${base64(header)}.${base64(payload)}`
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
}
const claims = (more: object = {}) => ({
  iss: 'beheer',
  client_id: 'beheer',
  iat: now(),
  user_id: 'u',
  user_representation: 'U',
  ...more,
})

async function send({ app }: TestApp, authorization: string | undefined) {
  const response = await app.inject({
    method: 'GET',
    url: URL,
    headers: { host: 'localhost', ...(authorization && { authorization }) },
  })
  return { status: response.statusCode, body: response.json(), type: response.headers['content-type'] }
}

t.test('authentication', async (t) => {
  const test = await testApp(t)

  t.test('a good token is taken, up to the second before its hour is over', async (t) => {
    t.equal((await send(test, `Bearer ${token(claims())}`)).status, 200)
    t.equal((await send(test, `Bearer ${token(claims({ iat: now() - 3595 }))}`)).status, 200)
    t.equal(
      (await send(test, `Bearer ${token(claims({ iat: now() + 295 }))}`)).status,
      200,
      'a clock that is ahead is forgiven',
    )
    t.equal((await send(test, `Bearer ${token(claims({ iat: String(now()) }))}`)).status, 200, 'iat as text')
    t.equal((await send(test, `Bearer ${token(claims({ exp: now() + 60, nbf: now() - 60 }))}`)).status, 200)
  })

  t.test('a client that nobody knows costs the signature check of one that is known', async (t) => {
    const checks = t.capture(test.app.jwt, 'verify', test.app.jwt.verify)
    const costs = () => checks().map(({ args: [, options] }) => ({ ...(options as object), key: 'a key' }))
    await send(test, `Bearer ${token(claims(), { secret: 'x'.repeat(SECRET.length) })}`)
    const known = costs()
    await send(test, `Bearer ${token(claims({ client_id: 'niemand' }))}`)
    t.equal(known.length, 1)
    t.strictSame(costs(), known)
  })

  const signed = token(claims())
  const [head, body, signature] = signed.split('.') as [string, string, string]
  const refused: [string, string | undefined, string][] = [
    ['no header', undefined, 'permission_denied'],
    ['another scheme', `Basic ${signed}`, 'permission_denied'],
    ['a lower-case scheme', `bearer ${signed}`, 'permission_denied'],
    ['two spaces', `Bearer  ${signed}`, 'permission_denied'],
    ['trailing text', `Bearer ${signed} x`, 'permission_denied'],
    ['two parts', `Bearer ${head}.${body}`, 'jwt-decode-error'],
    ['five parts', `Bearer a.b.c.d.e`, 'jwt-decode-error'],
    ['no JSON', `Bearer ${base64('x')}.${base64('y')}.z`, 'jwt-decode-error'],
    ['a payload that is a list', `Bearer ${token([1])}`, 'jwt-decode-error'],
    ['a payload that is null', `Bearer ${token(null)}`, 'jwt-decode-error'],
    ['no client_id', `Bearer ${token({ iat: now() })}`, 'missing-client-identifier'],
    ['an unknown client_id', `Bearer ${token(claims({ client_id: 'niemand' }))}`, 'invalid-client-identifier'],
    ['client_id as a list', `Bearer ${token(claims({ client_id: ['beheer'] }))}`, 'invalid-client-identifier'],
    ['client_id as an object', `Bearer ${token(claims({ client_id: { a: 1 } }))}`, 'invalid-client-identifier'],
    ['client_id with NUL', `Bearer ${token(claims({ client_id: 'beheer\0' }))}`, 'invalid-client-identifier'],
    ['client_id of 10 kB', `Bearer ${token(claims({ client_id: 'x'.repeat(10_000) }))}`, 'invalid-client-identifier'],
    ['alg none', `Bearer ${base64({ alg: 'none' })}.${body}.`, 'jwt-invalidalgorithmerror'],
    [
      'alg HS384',
      `Bearer ${token(claims(), { header: { alg: 'HS384' }, hash: 'sha384' })}`,
      'jwt-invalidalgorithmerror',
    ],
    [
      'alg HS512',
      `Bearer ${token(claims(), { header: { alg: 'HS512' }, hash: 'sha512' })}`,
      'jwt-invalidalgorithmerror',
    ],
    [
      'alg RS256 signed with the secret',
      `Bearer ${token(claims(), { header: { alg: 'RS256' } })}`,
      'jwt-invalidalgorithmerror',
    ],
    ['no alg', `Bearer ${token(claims(), { header: { typ: 'JWT' } })}`, 'jwt-invalidalgorithmerror'],
    ['another secret', `Bearer ${token(claims(), { secret: 'another secret' })}`, 'invalid-jwt-signature'],
    ['a stripped signature', `Bearer ${head}.${body}.`, 'invalid-jwt-signature'],
    [
      'a changed payload',
      `Bearer ${head}.${base64(claims({ user_id: 'other' }))}.${signature}`,
      'invalid-jwt-signature',
    ],
    ['crit', `Bearer ${token(claims(), { header: { alg: 'HS256', crit: ['x'], x: 1 } })}`, 'jwt-decode-error'],
    ['no iat', `Bearer ${token({ client_id: 'beheer' })}`, 'jwt-missing-iat-claim'],
    ['iat null', `Bearer ${token(claims({ iat: null }))}`, 'jwt-missing-iat-claim'],
    ['iat a list', `Bearer ${token(claims({ iat: [now()] }))}`, 'permission_denied'],
    ['iat text', `Bearer ${token(claims({ iat: 'gisteren' }))}`, 'permission_denied'],
    ['iat infinite', `Bearer ${token(`{"client_id":"beheer","iat":1e400}`)}`, 'permission_denied'],
    ['an hour old', `Bearer ${token(claims({ iat: now() - 3601 }))}`, 'jwt-expired'],
    [
      'a day old with exp in the future',
      `Bearer ${token(claims({ iat: now() - 86_400, exp: now() + 60 }))}`,
      'jwt-expired',
    ],
    ['exp in the past', `Bearer ${token(claims({ exp: now() - 1 }))}`, 'jwt-expiredsignatureerror'],
    ['exp text', `Bearer ${token(claims({ exp: 'x' }))}`, 'jwt-decodeerror'],
    ['iat beyond the skew', `Bearer ${token(claims({ iat: now() + 310 }))}`, 'jwt-immaturesignatureerror'],
    ['iat in a hundred years', `Bearer ${token(claims({ iat: now() + 3e9 }))}`, 'jwt-immaturesignatureerror'],
    ['nbf in the future', `Bearer ${token(claims({ nbf: now() + 60 }))}`, 'jwt-immaturesignatureerror'],
    ['nbf text', `Bearer ${token(claims({ nbf: 'x' }))}`, 'jwt-decodeerror'],
    ['an audience', `Bearer ${token(claims({ aud: 'iemand' }))}`, 'jwt-invalidaudienceerror'],
    ['sub a number', `Bearer ${token(claims({ sub: 1 }))}`, 'jwt-invalidsubjecterror'],
    ['jti a number', `Bearer ${token(claims({ jti: 1 }))}`, 'jwt-invalidjtierror'],
  ]
  for (const [what, authorization, code] of refused) {
    t.test(`${what}: 403 ${code}`, async (t) => {
      const answer = await send(test, authorization)
      t.match(answer, { status: 403, type: /^application\/problem\+json/, body: { status: 403, code } })
      t.notMatch(JSON.stringify(answer.body), signature, 'no part of the token comes back')
    })
  }

  t.test('a signature with any one bit changed is refused', async (t) => {
    const bytes = Buffer.from(signature, 'base64url')
    for (let place = 0; place < bytes.length; place++) {
      const changed = Buffer.from(bytes)
      changed[place]! ^= 1 << (place % 8)
      t.equal(
        (await send(test, `Bearer ${head}.${body}.${changed.toString('base64url')}`)).body.code,
        'invalid-jwt-signature',
      )
    }
  })

  t.test('a changed secret counts at once: the old token is refused without a restart', async (t) => {
    await givenClient(test, 'wisselt', [{ component: 'ztc', scopes: ['catalogi.lezen'] }])
    const old = `Bearer ${token(claims({ client_id: 'wisselt' }))}`
    t.equal((await send(test, old)).status, 200)
    await test.database.sql`delete from applicatie_secret where client_id = 'wisselt'`
    await until('a refusal', async () => (await send(test, old)).status === 403)
    t.equal((await send(test, old)).body.code, 'invalid-client-identifier')
  })

  t.test(
    'a replaced secret counts at once: a token that was taken before is refused, one with the new secret taken',
    async (t) => {
      await givenClient(test, 'vervangen', [{ component: 'ztc', scopes: ['catalogi.lezen'] }])
      const old = `Bearer ${token(claims({ client_id: 'vervangen' }))}`
      t.equal((await send(test, old)).status, 200)
      const secret = 'een ander geheim, dat lang genoeg is'
      await test.database.sql`
      update applicatie_secret set geheim = ${secretBox(test.config.secretKey!).seal(secret, 'vervangen')}
      where client_id = 'vervangen'`
      await until('a refusal', async () => (await send(test, old)).status === 403)
      t.equal((await send(test, old)).body.code, 'invalid-jwt-signature')
      t.equal((await send(test, `Bearer ${token(claims({ client_id: 'vervangen' }), { secret })}`)).status, 200)
    },
  )

  t.test('an application loses its access with its row', async (t) => {
    await givenClient(test, 'weg', [{ component: 'ztc', scopes: ['catalogi.lezen'] }])
    const authorization = `Bearer ${token(claims({ client_id: 'weg' }))}`
    t.equal((await send(test, authorization)).status, 200)
    await test.database.sql`delete from applicatie where label = 'weg'`
    await until('a refusal', async () => (await send(test, authorization)).status === 403)
  })

  t.test('a client without the scope is refused, with it taken', async (t) => {
    await givenClient(test, 'zonder', [{ component: 'ztc', scopes: ['catalogi.schrijven'] }])
    await givenClient(test, 'elders', [{ component: 'drc', scopes: ['catalogi.lezen'] }])
    for (const id of ['zonder', 'elders']) {
      t.match(await send(test, `Bearer ${token(claims({ client_id: id }))}`), {
        status: 403,
        body: { code: 'permission_denied' },
      })
    }
  })

  t.test('user_id and user_representation are kept in the audit record', async (t) => {
    await test.call(
      'POST',
      URL,
      { domein: 'AUDIT', rsin: '000000000', contactpersoonBeheerNaam: 'x' },
      { headers: { 'x-audit-toelichting': 'waarom' } },
    )
    const [row] = await test.database
      .sql`select gebruikers_id, gebruikers_weergave, toelichting, applicatie_weergave from audit where resource = 'catalogus'`
    t.same(
      { ...row },
      {
        gebruikers_id: 'gebruiker-1',
        gebruikers_weergave: 'Gebruiker Een',
        toelichting: 'waarom',
        applicatie_weergave: 'Beheer',
      },
    )
  })
})

t.test('a check of a token that names no secret accepts none', async (t) => {
  const { app } = await testApp(t)
  for (const secret of [SECRET, '', 'every client has its own, given at each check'])
    await t.rejects(async () => app.jwt.verify(token(claims(), { secret })))
})

t.test('JWT_EXPIRY and JWT_LEEWAY move the border', async (t) => {
  const test = await testApp(t, { JWT_EXPIRY: '60', JWT_LEEWAY: '10' })
  t.equal((await send(test, `Bearer ${token(claims({ iat: now() - 65 }))}`)).status, 200)
  t.equal((await send(test, `Bearer ${token(claims({ iat: now() - 71 }))}`)).body.code, 'jwt-expired')
  t.equal((await send(test, `Bearer ${token(claims({ exp: now() - 5 }))}`)).status, 200)
  t.equal((await send(test, `Bearer ${token(claims({ nbf: now() + 5 }))}`)).status, 200)
})

t.test('a token that was taken before is refused as soon as it has expired', async (t) => {
  const test = await testApp(t, { JWT_LEEWAY: '10' })
  const authorization = `Bearer ${token(claims({ exp: now() - 8 }))}`
  t.equal((await send(test, authorization)).status, 200)
  const refused = await until('a refusal', async () => {
    const answer = await send(test, authorization)
    return answer.status !== 200 && answer
  })
  t.equal(refused.body.code, 'jwt-expiredsignatureerror')
})
