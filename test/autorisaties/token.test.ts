import { createHash, createHmac } from 'node:crypto'
import { CompactSign, exportJWK, exportSPKI, generateKeyPair } from 'jose'
import { sql } from 'kysely'
import t from 'tap'
import { saveIssuer, saveIssuerClients } from '../../src/autorisaties/issuers/issuer.ts'
import { systemActor } from '../../src/core/access.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { signal } from '../../src/database/listen.ts'
import { BASE, givenClient, SECRET, type TestApp, testApp } from '../app.ts'
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

async function send(
  { app }: TestApp,
  authorization: string | undefined,
  headers: Record<string, string> = {},
  remoteAddress = '127.0.0.1',
) {
  const response = await app.inject({
    method: 'GET',
    url: URL,
    remoteAddress,
    headers: { host: 'localhost', ...(authorization && { authorization }), ...headers },
  })
  return {
    status: response.statusCode,
    body: response.json(),
    type: response.headers['content-type'],
    challenge: response.headers['www-authenticate'],
  }
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
    ['user_id as a list', `Bearer ${token(claims({ user_id: ['u'] }))}`, 'jwt-decodeerror'],
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
    await signal(test.database.sql, 'zaakstroom_autorisaties')
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
      update applicatie_secret set sealed_secret = ${secretBox(test.config.secretKey!).seal(secret, 'vervangen')}
      where client_id = 'vervangen'`
      await signal(test.database.sql, 'zaakstroom_autorisaties')
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
    await signal(test.database.sql, 'zaakstroom_autorisaties')
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

t.test('forged tokens of an issuer', async (t) => {
  const test = await testApp(t)
  const issuer = 'https://login.example.nl/realms/gemeente'
  const audience = 'https://zaken.example.nl'
  const rsa = await generateKeyPair('RS256', { extractable: true })
  const ec = await generateKeyPair('ES256', { extractable: true })
  const own = await generateKeyPair('RS256', { extractable: true })
  const jwks = {
    keys: [
      { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256', use: 'sig' },
      { ...(await exportJWK(ec.publicKey)), kid: 'ec', use: 'sig' },
    ],
  }
  await test.app.mutate(systemActor('test', BASE), async (m) => {
    await saveIssuer(m, { label: 'Gemeente', issuer, audiences: [audience], jwks })
    await saveIssuer(m, {
      label: 'Ander',
      issuer: `${issuer}/ander`,
      audiences: [audience],
      jwks: { keys: [jwks.keys[1]!] },
    })
    const { rows } = await sql<{ uuid: string }>`select uuid from applicatie where label = 'Beheer'`.execute(m.trx)
    await saveIssuerClients(m, rows[0]!.uuid, [{ issuer, clientId: 'portaal' }])
  })
  type Given = { claims?: object; header?: object; key?: CryptoKey }
  const signed = async ({ claims: more = {}, header = {}, key = rsa.privateKey }: Given = {}) => {
    const said = { iss: issuer, aud: audience, azp: 'portaal', iat: now(), exp: now() + 300, ...more }
    const protectedHeader = { alg: 'RS256', kid: 'rsa', typ: 'JWT', ...header }
    return new CompactSign(new TextEncoder().encode(JSON.stringify(said)))
      .setProtectedHeader(protectedHeader)
      .sign(key, { crit: { x: true } })
  }
  const good = await signed()
  const [head, body, signature] = good.split('.') as [string, string, string]
  const withHeader = (header: object) => `${base64({ alg: 'RS256', kid: 'rsa', ...header })}.${body}.${signature}`
  const publicPem = (await exportSPKI(rsa.publicKey)) as string
  const hs = (secret: string, header: object) =>
    token(
      { iss: issuer, aud: audience, azp: 'portaal', client_id: 'portaal', iat: now(), exp: now() + 300 },
      { header, secret },
    )
  const ownKey = await exportJWK(own.publicKey)

  t.ok(await until('the issuer is known', async () => (await send(test, `Bearer ${good}`)).status === 200))
  t.equal(
    (await send(test, `Bearer ${await signed({ header: { alg: 'ES256', kid: 'ec' }, key: ec.privateKey })}`)).status,
    200,
  )
  t.equal((await send(test, `Bearer ${await signed({ header: { kid: undefined } })}`)).status, 200, 'without kid')

  const forged: [string, string, string][] = [
    ['alg none', `${base64({ alg: 'none', kid: 'rsa' })}.${body}.`, 'missing-client-identifier'],
    ['alg NONE', withHeader({ alg: 'NONE' }), 'missing-client-identifier'],
    ['HS256 with the public key as secret', hs(publicPem, { alg: 'HS256', kid: 'rsa' }), 'invalid-client-identifier'],
    ['HS256 with the secret of another client', hs(SECRET, { alg: 'HS256' }), 'invalid-client-identifier'],
    ['alg RS512 in the header', withHeader({ alg: 'RS512' }), 'jwt-invalidalgorithmerror'],
    ['alg PS256 for a key of RS256', withHeader({ alg: 'PS256' }), 'unknown-key'],
    ['ES256 named for the RSA key', withHeader({ alg: 'ES256' }), 'unknown-key'],
    ['a key of its own', await signed({ key: own.privateKey }), 'invalid-jwt-signature'],
    [
      'a key of its own, without kid',
      await signed({ key: own.privateKey, header: { kid: undefined } }),
      'invalid-jwt-signature',
    ],
    [
      'its key in the header (jwk)',
      await signed({ key: own.privateKey, header: { jwk: ownKey, kid: 'eigen' } }),
      'unknown-key',
    ],
    [
      'its key in the header under our kid',
      await signed({ key: own.privateKey, header: { jwk: ownKey } }),
      'invalid-jwt-signature',
    ],
    [
      'the address of its keys (jku)',
      await signed({ key: own.privateKey, header: { jku: 'https://kwaad.example.nl/' } }),
      'invalid-jwt-signature',
    ],
    [
      'its certificate (x5c)',
      await signed({ key: own.privateKey, header: { x5c: ['AAAA'] } }),
      'invalid-jwt-signature',
    ],
    ['kid as a path', withHeader({ kid: '../../../../dev/null' }), 'unknown-key'],
    ['kid as SQL', withHeader({ kid: "' union select 'x' --" }), 'unknown-key'],
    ['kid as an address', withHeader({ kid: 'https://kwaad.example.nl/keys' }), 'unknown-key'],
    ['kid as a list', withHeader({ kid: ['rsa'] }), 'unknown-key'],
    ['kid __proto__', withHeader({ kid: '__proto__' }), 'unknown-key'],
    [
      'a changed claim',
      `${head}.${base64({ iss: issuer, aud: audience, azp: 'beheer', iat: now(), exp: now() + 300 })}.${signature}`,
      'invalid-jwt-signature',
    ],
    ['a stripped signature', `${head}.${body}.`, 'invalid-jwt-signature'],
    ['two signatures', `${good}.${signature}`, 'jwt-decode-error'],
    ['two tokens', `${good}.${good}`, 'jwt-decode-error'],
    [
      'a signature in JSON',
      base64({ payload: body, signatures: [{ protected: head, signature }] }),
      'jwt-decode-error',
    ],
    ['crit', await signed({ header: { crit: ['x'], x: 1 } }), 'jwt-decode-error'],
    ['b64 false', withHeader({ b64: false, crit: ['b64'] }), 'invalid-jwt-signature'],
    ['the key of another issuer', await signed({ claims: { iss: `${issuer}/ander` } }), 'unknown-key'],
    [
      'a client of another issuer',
      await signed({ claims: { iss: `${issuer}/ander` }, header: { alg: 'ES256', kid: 'ec' }, key: ec.privateKey }),
      'invalid-client-identifier',
    ],
    ['an unknown issuer', await signed({ claims: { iss: 'https://kwaad.example.nl' } }), 'unknown-issuer'],
    ['an issuer with a slash more', await signed({ claims: { iss: `${issuer}/` } }), 'unknown-issuer'],
    ['another audience', await signed({ claims: { aud: 'account' } }), 'invalid-audience'],
    ['no audience', await signed({ claims: { aud: undefined } }), 'invalid-audience'],
    ['expired', await signed({ claims: { exp: now() - 31 } }), 'expired-token'],
    ['no exp', await signed({ claims: { exp: undefined } }), 'expired-token'],
    ['exp as text', await signed({ claims: { exp: 'morgen' } }), 'expired-token'],
    ['exp in a year', await signed({ claims: { exp: now() + 31_536_000 } }), 'token-lifetime'],
    ['nbf in the future', await signed({ claims: { nbf: now() + 60 } }), 'jwt-immaturesignatureerror'],
    ['iat in the future', await signed({ claims: { iat: now() + 60 } }), 'jwt-immaturesignatureerror'],
    ['an ID token of Keycloak', await signed({ claims: { typ: 'ID' } }), 'invalid-token-type'],
    ['an ID token by its hash', await signed({ claims: { at_hash: 'x' } }), 'invalid-token-type'],
    ['a logout token', await signed({ header: { typ: 'logout+jwt' } }), 'invalid-token-type'],
    ['a client with a secret', await signed({ claims: { azp: 'beheer' } }), 'invalid-client-identifier'],
    ['a client as a list', await signed({ claims: { azp: ['portaal'] } }), 'missing-client-identifier'],
    ['a client with a line break', await signed({ claims: { azp: 'portaal\n' } }), 'missing-client-identifier'],
    ['bound to a certificate', await signed({ claims: { cnf: { 'x5t#S256': 'x' } } }), 'invalid-certificate'],
    ['bound to a key (DPoP)', await signed({ claims: { cnf: { jkt: 'x' } } }), 'invalid-certificate'],
  ]
  for (const [what, text, code] of forged) {
    // Where all but the key fits, that may be new.
    const [status, challenge] =
      code === 'unknown-key' ? [503, undefined] : [403, 'Bearer realm="zaakstroom", error="invalid_token"']
    t.test(`${what}: ${status} ${code}`, async (t) => {
      const answer = await send(test, `Bearer ${text}`)
      t.match(answer, { status, body: { code }, challenge })
      t.notMatch(JSON.stringify(answer.body), signature, 'no part of the token comes back')
    })
  }

  t.test('a certificate counts when a proxy of ours tells of it, and from nobody else', async (t) => {
    const der = Buffer.from('the bytes of a certificate')
    const thumbprint = createHash('sha256').update(der).digest('base64url')
    const bound = await signed({ claims: { cnf: { 'x5t#S256': thumbprint } } })
    const shown = { 'client-cert': `:${der.toString('base64')}:` }
    const proxied = await testApp(t, {
      DATABASE_URL: test.databaseUrl,
      SECRET_KEY: test.config.secretKey!,
      TRUST_PROXY: '10.0.0.0/8',
    })
    t.equal((await send(proxied, `Bearer ${bound}`, shown, '10.1.1.1')).status, 200)
    t.equal((await send(proxied, `Bearer ${bound}`, {}, '10.1.1.1')).body.code, 'invalid-certificate')
    t.equal((await send(proxied, `Bearer ${bound}`, shown, '192.0.2.1')).body.code, 'invalid-certificate')
    const other = { 'client-cert': `:${Buffer.from('another').toString('base64')}:` }
    t.equal((await send(proxied, `Bearer ${bound}`, other, '10.1.1.1')).body.code, 'invalid-certificate')
  })
})
