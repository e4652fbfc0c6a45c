import { createHash, createPublicKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { createAccount, invite, moveIssuer } from '../../src/beheer/accounts/accounts.ts'
import { roleOf } from '../../src/beheer/accounts/oidc.ts'
import { type TestApp, testApp } from '../app.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'

const SECRET = 'secret of the test at the provider'

type Provider = Awaited<ReturnType<typeof provider>>

/** A provider that checks what a real one does: client, redirect address, PKCE, and that a code is used once. */
async function provider(t: { teardown(work: () => unknown): unknown }) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const codes = new Map<string, { challenge: string; nonce: string; redirect: string }>()
  const state = {
    claims: { sub: 'persoon-1', preferred_username: 'j.jansen', name: 'Jan Jansen', roles: ['operator'] } as Record<
      string,
      unknown
    >,
    /** What it does wrong. */
    fault: undefined as undefined | 'nonce' | 'issuer' | 'audience' | 'expired' | 'key' | 'none' | 'denied' | 'broken',
    asked: [] as string[],
    /** What the last one who came was asked for. */
    query: {} as Record<string, string>,
    /** It can end its session. */
    endsSessions: false,
    /** Its every answer is this status. */
    down: 0,
  }
  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, issuer)
    state.asked.push(url.pathname)
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (state.down > 0) return json(state.down, { error: 'server_error' })
    if (url.pathname === '/realm/.well-known/openid-configuration')
      return json(200, {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
        ...(state.endsSessions && { end_session_endpoint: `${issuer}/logout?hint=on` }),
      })
    if (url.pathname === '/realm/keys')
      return json(200, {
        keys: [{ ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }],
      })
    if (url.pathname === '/realm/auth') {
      const query = Object.fromEntries(url.searchParams)
      state.query = query
      const back = new URL(query.redirect_uri!)
      back.searchParams.set('state', query.state!)
      if (query.client_id !== 'zaakstroom' || query.code_challenge_method !== 'S256' || query.response_type !== 'code')
        return json(400, query)
      if (state.fault === 'denied') back.searchParams.set('error', 'access_denied')
      else {
        const code = randomUUID()
        codes.set(code, { challenge: query.code_challenge!, nonce: query.nonce!, redirect: query.redirect_uri! })
        back.searchParams.set('code', code)
      }
      return response.writeHead(302, { location: back.href }).end()
    }
    if (url.pathname === '/realm/token') {
      const form = new URLSearchParams(await text(request))
      const known = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      if (!isOurClient(request, form)) return json(401, { error: 'invalid_client' })
      if (!known || known.challenge !== challenge || known.redirect !== form.get('redirect_uri'))
        return json(400, { error: 'invalid_grant' })
      if (state.fault === 'broken') return json(500, { error: 'server_error', secret_detail: 'canary' })
      return json(200, { access_token: 'x', token_type: 'Bearer', id_token: idToken(known.nonce) })
    }
    return json(404, {})
  })
  /** What it tells us of a session that ended there. */
  const logoutToken = (claims: object, key = privateKey) => {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const now = Math.floor(Date.now() / 1000)
    const body = part({
      ...{ iss: issuer, aud: 'zaakstroom', iat: now, exp: now + 120, jti: randomUUID() },
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      ...claims,
    })
    const head = part({ alg: 'RS256', kid: 'k1', typ: 'logout+jwt' })
    return `${head}.${body}.${sign('sha256', Buffer.from(`${head}.${body}`), key).toString('base64url')}`
  }
  const idToken = (nonce: string) => {
    const now = Math.floor(Date.now() / 1000)
    const { fault, claims } = state
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const head = part({ alg: fault === 'none' ? 'none' : 'RS256', kid: 'k1' })
    const body = part({
      iss: fault === 'issuer' ? 'https://elders.example' : issuer,
      aud: fault === 'audience' ? 'somebody else' : 'zaakstroom',
      exp: fault === 'expired' ? now - 3600 : now + 300,
      iat: fault === 'expired' ? now - 7200 : now,
      nonce: fault === 'nonce' ? 'another' : nonce,
      ...claims,
    })
    const signature = sign('sha256', Buffer.from(`${head}.${body}`), fault === 'key' ? other : privateKey)
    return `${head}.${body}.${fault === 'none' ? '' : signature.toString('base64url')}`
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realm`
  const stop = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  t.teardown(stop)
  return { issuer, state, stop, logoutToken, other }
}

function isOurClient(request: IncomingMessage, form: URLSearchParams): boolean {
  const basic = Buffer.from(String(request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
  const [id, secret] = basic
    ? basic.split(':').map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
    : [form.get('client_id'), form.get('client_secret')]
  return id === 'zaakstroom' && secret === SECRET
}

const settings = (issuer: string) => ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: 'zaakstroom',
  OIDC_CLIENT_SECRET: SECRET,
  OIDC_LABEL: 'Gemeentelogin',
})

/** From our page to the provider, and back with what it says. */
async function signInWithOidc({ app }: TestApp, browser = pagesClient(app), verder = '') {
  const away = await browser.get(`/beheer/inloggen/oidc${verder}`)
  if (away.statusCode !== 303) return { answer: away, browser, terug: '' }
  const { headers } = await fetch(away.headers.location!, { redirect: 'manual' })
  const terug = headers.get('location')!
  return { answer: await browser.get(terug), browser, terug }
}

/** What a browser keeps while it is at the provider. */
const onTheWay = ({ cookies }: ReturnType<typeof pagesClient>) =>
  [...cookies.keys()].find((name) => name.startsWith('zaakstroom-oidc-'))

t.test('signing in with OpenID Connect', async (t) => {
  const idp: Provider = await provider(t)
  const test = await testApp(t, settings(idp.issuer))
  const accounts = () => test.database.sql`
    select gebruikersnaam, naam, rol, oidc_subject, password_hash from beheer_account order by id`

  t.test('makes an account at the first time, with the role of the claim', async (t) => {
    t.same(idp.state.asked, [], 'nobody asked the provider before somebody wanted to sign in')
    const { answer, browser } = await signInWithOidc(test, undefined, '?verder=/beheer/imports')
    t.equal(answer.statusCode, 303)
    t.equal(answer.headers.location, '/beheer/imports')
    t.match((await browser.get('/beheer/')).body, 'Jan Jansen')
    t.match(await accounts(), [
      {
        gebruikersnaam: 'j.jansen',
        naam: 'Jan Jansen',
        rol: 'operator',
        oidc_subject: 'persoon-1',
        password_hash: null,
      },
    ])
    t.notOk(onTheWay(browser), 'what the browser kept on the way is gone')
    const audit = await test.database.sql<{ handeling: string }[]>`select handeling from beheer_audit order by id`
    t.same(
      audit.map(({ handeling }) => handeling),
      ['account-maken', 'inloggen'],
    )
    t.equal((await pagesClient(test.app).login('j.jansen', '')).statusCode, 400, 'it has no password')
    t.equal((await pagesClient(test.app).login('j.jansen', 'x'.repeat(12))).statusCode, 401)
  })

  t.test('updates the role at every time, in both directions, and knows the person by the subject', async (t) => {
    idp.state.claims = {
      ...idp.state.claims,
      preferred_username: 'jan.jansen-de-vries',
      roles: ['iets anders', 'administrator'],
    }
    t.equal((await signInWithOidc(test)).answer.statusCode, 303)
    t.match(await accounts(), [{ gebruikersnaam: 'j.jansen', rol: 'administrator' }])
    idp.state.claims.roles = 'viewer'
    const { browser } = await signInWithOidc(test)
    t.match(await accounts(), [{ rol: 'viewer' }])
    t.equal((await browser.get('/beheer/accounts')).statusCode, 403)
  })

  t.test('refuses who has no role, also one who had', async (t) => {
    for (const roles of [undefined, [], ['iets anders'], { viewer: true }, 7, ['VIEWER']]) {
      idp.state.claims.roles = roles
      const { answer, browser } = await signInWithOidc(test)
      t.equal(answer.statusCode, 403)
      t.match(answer.body, 'geen rol')
      t.equal((await browser.get('/beheer/')).statusCode, 303)
    }
    idp.state.claims.roles = ['viewer']
  })

  t.test('never takes an account that has a password, whatever name the provider gives', async (t) => {
    await createAccount(test.database.db, { gebruikersnaam: 'baas', rol: 'administrator', wachtwoord: WACHTWOORD })
    idp.state.claims = { sub: 'persoon-2', preferred_username: 'BAAS', roles: ['viewer'] }
    const { answer } = await signInWithOidc(test)
    t.equal(answer.statusCode, 403)
    t.match(answer.body, 'Er is hier al een account')
    t.match((await accounts())[1], { gebruikersnaam: 'baas', rol: 'administrator', oidc_subject: null })
  })

  t.test('an account that was made beforehand is bound by its invitation, once, and by no name', async (t) => {
    const { db } = test.database
    const { id } = await createAccount(db, { gebruikersnaam: 'p.pieters', naam: 'Piet', rol: 'viewer' })
    idp.state.claims = { sub: 'persoon-3', preferred_username: 'P.Pieters', roles: ['operator'] }
    t.match((await signInWithOidc(test)).answer, { statusCode: 403, body: /klaargezet.*uitnodiging/ })
    const [old, code] = [await invite(db, id), await invite(db, id)]
    const invited = (one: string) => signInWithOidc(test, undefined, `?uitnodiging=${one}`)
    t.match((await invited(old)).answer, { statusCode: 403, body: /gebruikt of verlopen/ }, 'a newer link replaces it')
    t.match(await pagesClient(test.app).get(`/beheer/inloggen/uitnodiging?code=${code}`), {
      statusCode: 200,
      body: new RegExp(`p\\.pieters.*uitnodiging=${code}`, 's'),
    })
    t.equal((await pagesClient(test.app).get(`/beheer/inloggen/uitnodiging?code=${old}`)).statusCode, 404)
    t.equal((await invited(code)).answer.statusCode, 303)
    t.equal((await invited(code)).answer.statusCode, 303, 'he whose it is by now is let in')
    idp.state.claims = { ...idp.state.claims, sub: 'persoon-4' }
    t.match((await invited(code)).answer, { statusCode: 403, body: /gebruikt of verlopen/ }, 'another is not')
    t.match((await signInWithOidc(test)).answer, { statusCode: 403, body: /ander kenmerk \(sub\)/ })
    t.match((await accounts()).at(-1), {
      gebruikersnaam: 'p.pieters',
      naam: 'Piet',
      rol: 'operator',
      oidc_subject: 'persoon-3',
    })
    await test.database.sql`update beheer_account set invitation = '\\x00', invited_until = now() - interval '1 s'
      where oidc_subject = 'persoon-3'`
    idp.state.claims = { ...idp.state.claims, sub: 'persoon-3' }
    await test.database.sql`update beheer_account set actief = false where oidc_subject = 'persoon-3'`
    t.match((await signInWithOidc(test)).answer, { statusCode: 403, body: /niet-actief/ })
  })

  t.test('a subject that is empty or too long is nobody, and names that become the same are two people', async (t) => {
    const before = (await accounts()).length
    for (const sub of [' ', 'x'.repeat(256), 'a\0b']) {
      idp.state.claims = { sub, preferred_username: 'lang', roles: ['viewer'] }
      const { answer } = await signInWithOidc(test)
      t.ok([401, 403].includes(answer.statusCode), JSON.stringify(sub))
      t.equal((await accounts()).length, before)
    }
    for (const [sub, name] of [
      ['a1', 'jâns'],
      ['a2', 'jëns'],
    ] as const) {
      idp.state.claims = { sub, preferred_username: name, roles: ['viewer'] }
      t.equal((await signInWithOidc(test)).answer.statusCode, 303, name)
    }
    t.match((await accounts()).slice(before), [{ gebruikersnaam: 'j_ns' }, { gebruikersnaam: 'j_ns-2' }])
  })

  t.test('a provider with another issuer knows the same people when that is said', async (t) => {
    const { db, sql } = test.database
    await sql`update beheer_account set oidc_issuer = 'https://old.example' where oidc_subject in ('a1', 'a2')`
    idp.state.claims = { sub: 'a1', preferred_username: 'j_ns', roles: ['viewer'] }
    t.match((await signInWithOidc(test)).answer, { statusCode: 403, body: /een andere aanbieder of een ander adres/ })
    t.equal(await moveIssuer(db, 'https://old.example', idp.issuer), 2)
    t.equal((await signInWithOidc(test)).answer.statusCode, 303)
  })

  t.test('a role that is lost ends what is open', async (t) => {
    const { browser } = await signInWithOidc(test)
    t.equal((await browser.get('/beheer/')).statusCode, 200)
    idp.state.claims = { ...idp.state.claims, roles: [] }
    t.equal((await signInWithOidc(test)).answer.statusCode, 403)
    t.equal((await browser.get('/beheer/')).statusCode, 303)
  })

  t.test('two tabs sign in at once, and each gets in', async (t) => {
    idp.state.claims = { sub: 'persoon-1', roles: ['viewer'] }
    const browser = pagesClient(test.app)
    const begin = async () => {
      const { headers } = await browser.get('/beheer/inloggen/oidc')
      return (await fetch(headers.location!, { redirect: 'manual' })).headers.get('location')!
    }
    const [first, second] = [await begin(), await begin()]
    t.equal((await browser.get(second)).statusCode, 303)
    t.equal((await browser.get(first)).statusCode, 303)
    for (let n = 0; n < 8; n++) await begin()
    t.ok([...browser.cookies.keys()].filter((name) => name.startsWith('zaakstroom-oidc-')).length <= 6, 'few are kept')
  })

  t.test('one who may not come in chooses another account there', async (t) => {
    idp.state.claims = { sub: 'persoon-zonder', roles: [] }
    const { answer } = await signInWithOidc(test)
    t.match(answer.body, 'href="/beheer/inloggen/oidc?kiezen=ja"')
    await signInWithOidc(test, undefined, '?kiezen=ja')
    t.equal(idp.state.query.prompt, 'select_account')
    await signInWithOidc(test)
    t.equal(idp.state.query.prompt, undefined)
  })

  t.test('an answer of a provider with a fault of its own is told as that', async (t) => {
    const browser = pagesClient(test.app)
    const away = await browser.get('/beheer/inloggen/oidc')
    const { headers } = await fetch(away.headers.location!, { redirect: 'manual' })
    idp.state.down = 502
    const answer = await browser.get(headers.get('location')!)
    t.match(answer, {
      statusCode: 503,
      headers: { 'retry-after': '30' },
      body: /antwoordt nu niet, of heeft een storing/,
    })
    idp.state.down = 0
    const state = new URL((await browser.get('/beheer/inloggen/oidc')).headers.location!).searchParams.get('state')
    const told = await browser.get(`/beheer/inloggen/oidc/terug?error=temporarily_unavailable&state=${state}`)
    t.match(told, { statusCode: 503, body: /antwoordt nu niet, of heeft een storing/ })
  })

  t.test('what changes how one signs in is confirmed at the provider, by the same person', async (t) => {
    idp.state.claims = { sub: 'persoon-bevestigt', preferred_username: 'bevestigt', roles: ['administrator'] }
    const { browser } = await signInWithOidc(test)
    const asked = await browser.get('/beheer/accounts/nieuw')
    t.equal(asked.headers.location, '/beheer/bevestigen?verder=%2Fbeheer%2Faccounts%2Fnieuw')
    t.match((await browser.get(asked.headers.location!)).body, 'bevestigen=ja')
    const before = browser.cookies.get('zaakstroom')
    const again = '?bevestigen=ja&verder=%2Fbeheer%2Faccounts%2Fnieuw'
    idp.state.claims.sub = 'een ander'
    t.match((await signInWithOidc(test, browser, again)).answer, { statusCode: 403, body: /als iemand anders/ })
    idp.state.claims.sub = 'persoon-bevestigt'
    idp.state.claims.auth_time = Math.floor(Date.now() / 1000) - 3600
    t.equal((await signInWithOidc(test, browser, again)).answer.statusCode, 403, 'that was an hour ago')
    t.equal((await browser.get('/beheer/accounts/nieuw')).statusCode, 303)
    idp.state.claims.auth_time = Math.floor(Date.now() / 1000)
    const { answer } = await signInWithOidc(test, browser, again)
    t.match(answer, { statusCode: 303, headers: { location: '/beheer/accounts/nieuw' } })
    t.match(idp.state.query, { prompt: 'login', max_age: '0' })
    t.not(browser.cookies.get('zaakstroom'), before)
    t.equal((await browser.get('/beheer/accounts/nieuw')).statusCode, 200)
  })

  t.test('a session that ends at the provider ends here, and nobody else ends one', async (t) => {
    const tell = (logout_token: string) =>
      test.app.inject({
        method: 'POST',
        url: '/beheer/inloggen/oidc/afmelden',
        headers: { host: 'localhost', 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ logout_token }).toString(),
      })
    const begin = async (sub: string, sid?: string) => {
      idp.state.claims = { sub, sid, preferred_username: sub, roles: ['viewer'] }
      return (await signInWithOidc(test)).browser
    }
    const isIn = async (browser: ReturnType<typeof pagesClient>) => (await browser.get('/beheer/')).statusCode === 200
    const [one, two, other] = [await begin('weg', 's1'), await begin('weg', 's2'), await begin('blijft', 's3')]
    const now = Math.floor(Date.now() / 1000)
    const refused = {
      'with another key': idp.logoutToken({ sub: 'weg' }, idp.other),
      'of another provider': idp.logoutToken({ sub: 'weg', iss: 'https://elders.example' }),
      'for another client': idp.logoutToken({ sub: 'weg', aud: 'een ander' }),
      'of an hour ago': idp.logoutToken({ sub: 'weg', iat: now - 3600, exp: now + 60 }),
      'that is no logout': idp.logoutToken({ sub: 'weg', events: {} }),
      'that is an ID token': idp.logoutToken({ sub: 'weg', nonce: 'x' }),
      'of nobody': idp.logoutToken({}),
      'that is none': 'x',
    }
    for (const [what, token] of Object.entries(refused)) t.equal((await tell(token)).statusCode, 400, what)
    t.ok((await isIn(one)) && (await isIn(two)))
    t.match(await tell(idp.logoutToken({ sub: 'weg', sid: 's1' })), {
      statusCode: 200,
      headers: { 'cache-control': 'no-store' },
    })
    t.same([await isIn(one), await isIn(two), await isIn(other)], [false, true, true], 'that session alone')
    t.equal((await tell(idp.logoutToken({ sub: 'weg' }))).statusCode, 200)
    t.same([await isIn(two), await isIn(other)], [false, true], 'a leaver is out everywhere at once')
    t.match(await test.database.sql`select gebruiker from beheer_audit where handeling = 'uitloggen-door-aanbieder'`, [
      { gebruiker: 'weg' },
      { gebruiker: 'weg' },
    ])
  })

  t.test('asks the one-time code of an account that has them', async (t) => {
    idp.state.claims = { sub: 'persoon-1', roles: ['viewer'] }
    await test.database.sql`update beheer_account set totp_since = now() where oidc_subject = 'persoon-1'`
    const { answer, browser } = await signInWithOidc(test, undefined, '?verder=/beheer/zaken')
    t.equal(answer.headers.location, '/beheer/inloggen/code?verder=%2Fbeheer%2Fzaken')
    t.equal((await browser.get('/beheer/')).statusCode, 303)
    await test.database.sql`update beheer_account set totp_since = null`
  })

  t.test('refuses an answer that does not hold, with a page that says so', async (t) => {
    idp.state.claims = { sub: 'persoon-1', roles: ['administrator'] }
    for (const fault of ['nonce', 'issuer', 'audience', 'expired', 'key', 'none', 'denied', 'broken'] as const) {
      idp.state.fault = fault
      const { answer, browser } = await signInWithOidc(test)
      t.equal(answer.statusCode, fault === 'broken' ? 503 : 401, fault)
      t.match(answer.body, 'Inloggen met Gemeentelogin is niet gelukt')
      t.equal(/antwoordt nu niet, of heeft een storing/.test(answer.body), fault === 'broken')
      t.notMatch(answer.body, 'canary')
      t.equal((await browser.get('/beheer/')).statusCode, 303, fault)
    }
    idp.state.fault = undefined
  })

  t.test('refuses an answer to another attempt, or one that comes twice', async (t) => {
    const { terug, browser } = await signInWithOidc(test)
    t.equal((await browser.get(terug)).statusCode, 400, 'the cookie of the way is gone')
    const victim = pagesClient(test.app)
    t.equal((await victim.get(terug)).statusCode, 400, 'a link that somebody else sends')
    const { headers } = await victim.get('/beheer/inloggen/oidc')
    t.equal((await victim.get(terug)).statusCode, 400, 'also while an own attempt is on the way')
    const own = (await fetch(headers.location!, { redirect: 'manual' })).headers.get('location')!
    const name = onTheWay(victim)!
    const cookie = victim.cookies.get(name)!
    t.notMatch(Buffer.from(cookie, 'base64url').toString('latin1'), 'verifier', 'the cookie cannot be read')
    victim.cookies.set(name, `${cookie.slice(0, -2)}AA`)
    t.equal((await victim.get(own)).statusCode, 400, 'nor made')
  })

  t.test('takes what Entra ID and ADFS send, by their documentation', async (t) => {
    const tokens = {
      // ID token of version 2.0 (ID token claims reference of the Microsoft identity platform), with an app role; instead of more than
      // 200 groups it says where they can be asked.
      'Entra ID': {
        ...{ ver: '2.0', tid: '9122040d-6c67-4c5b-b112-36a304b66dad', oid: '00000000-0000-0000-66f3-3332eca7ea81' },
        ...{
          sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
          uti: 'fqiBqXLPj0eQa82S-IYFAA',
          aio: 'Df2UVXL1ix!lMCWMSOJBcFatzcGfvFGhjKv8q5g0x732dR5MB5BisvGQO7YWByjd8iQDLq!eGbIDakyp5mnOrcdqHeYSnltepQmRp6AIZ8jY',
        },
        ...{
          name: 'Abe Lincoln',
          preferred_username: 'AbeLi@microsoft.com',
          roles: ['operator'],
          _claim_names: { groups: 'src1' },
        },
      },
      // [MS-OIDCE] 2.2.3.1: unique_name is always there, upn and email may be; one value of a claim is a text and no list.
      ADFS: {
        ...{
          sub: '4M3mOHQvXPyKFpbcOmFGa4m2rTVnPDvZxJZbGfwKFlA=',
          upn: 'jan@gemeente.nl',
          unique_name: 'GEMEENTE\\jan',
        },
        ...{ sid: 'S-1-5-21-3130851616-3130851617-3130851618-1105', auth_time: 1764300000, roles: 'operator' },
        ...{ pwd_exp: '1209600', pwd_url: 'https://adfs.example.nl/adfs/portal/updatepassword/' },
      },
    }
    for (const [what, claims] of Object.entries(tokens)) {
      idp.state.claims = claims
      const { answer, browser } = await signInWithOidc(test)
      t.equal(answer.statusCode, 303, what)
      t.equal((await browser.get('/beheer/fouten')).statusCode, 200, `${what}: with the role of its claim`)
      t.ok(
        (await accounts()).some((one) => one.oidc_subject === claims.sub),
        `${what}: known by its whole subject`,
      )
    }
  })

  t.test('goes back to no other place than a page of ours', async (t) => {
    for (const verder of ['https://evil.example', '//evil.example', '/\\evil.example', '/zaken']) {
      const { answer } = await signInWithOidc(test, undefined, `?verder=${encodeURIComponent(verder)}`)
      t.equal(answer.headers.location, '/beheer/')
    }
  })

  t.test('a provider that is away is a clear page; signing in with a password goes on', async (t) => {
    await idp.stop()
    const fresh = await testApp(t, settings(idp.issuer))
    await createAccount(fresh.database.db, { gebruikersnaam: 'jan', rol: 'viewer', wachtwoord: WACHTWOORD })
    const { answer } = await signInWithOidc(fresh)
    t.equal(answer.statusCode, 503)
    t.match(answer.body, 'Gemeentelogin antwoordt nu niet, of heeft een storing')
    t.notMatch(answer.body, 'data-ververs', 'an answer of a provider counts once')
    t.match((await pagesClient(fresh.app).get('/beheer/inloggen')).body, 'Inloggen met Gemeentelogin')
    t.equal((await pagesClient(fresh.app).login('jan', WACHTWOORD)).statusCode, 303)
  })
})

t.test('a role follows from the claim that the settings name', async (t) => {
  const oidc = {
    issuer: '',
    clientId: '',
    clientSecret: undefined,
    label: '',
    scopes: '',
    roleClaim: 'realm_access.roles',
    roles: { viewer: ['kijker', 'gast'], privacy: ['fg'], operator: ['behandelaar'], administrator: ['beheerder'] },
  }
  const rol = (claims: Record<string, unknown>, roleClaim = oidc.roleClaim) => roleOf(claims, { ...oidc, roleClaim })
  t.equal(rol({ realm_access: { roles: ['gast', 'behandelaar'] } }), 'operator')
  t.equal(rol({ realm_access: { roles: [] } }), undefined)
  t.equal(rol({ realm_access: null }), undefined)
  t.equal(rol({ roles: ['beheerder'] }), undefined)
  t.equal(rol({ 'https://gemeente.example/rol': 'beheerder' }, 'https://gemeente.example/rol'), 'administrator')
  t.equal(rol({}, 'constructor.name'), undefined)
})

t.test('signing out goes on to the provider, which ends its session too', async (t) => {
  const idp = await provider(t)
  idp.state.endsSessions = true
  const test = await testApp(t, settings(idp.issuer))
  const { browser } = await signInWithOidc(test)
  const out = await browser.post('/beheer/uitloggen', {}, '/beheer/mijn-account')
  t.match(out, { statusCode: 200, body: /en nog niet bij Gemeentelogin/ })
  t.match(out.body, `action="${idp.issuer}/logout"`)
  const fields = Object.fromEntries(
    out.body.matchAll(/type="hidden" name="([^"]+)" value="([^"]+)"/g).map(([, name, value]) => [name, value]),
  )
  t.match(fields, {
    hint: 'on',
    client_id: 'zaakstroom',
    id_token_hint: /^ey/,
    post_logout_redirect_uri: 'http://localhost/beheer/inloggen',
  })
  t.match(out.headers['content-security-policy'], `form-action 'self' ${new URL(idp.issuer).origin}`)
  t.equal((await browser.get('/beheer/')).statusCode, 303)
  t.notMatch(JSON.stringify(await test.database.sql`select oidc_id_token::text from beheer_session`), 'ey')
})

t.test('by hand, in a browser', await needsBrowser(), async (t) => {
  const idp = await provider(t)
  const test = await setUpPages(t, settings(idp.issuer))
  const context = await test.browser.newContext({ baseURL: test.adres, viewport: { width: 320, height: 800 } })
  const tab = await context.newPage()
  await tab.goto('/beheer/audit')
  t.same(await accessibilityFaults(tab), [])
  t.equal(await isTooWide(tab), false)
  await tab.click('text=Inloggen met Gemeentelogin')
  await tab.waitForURL('**/beheer/audit')
  t.match(await tab.textContent('.kop-account'), 'Jan Jansen')
  await tab.goto('/beheer/mijn-account')
  t.match(await tab.textContent('main'), 'Dit account heeft hier geen wachtwoord')
  await tab.click('text=Uitloggen')
  t.match(await tab.textContent('main'), 'en nog niet bij Gemeentelogin')
  t.same(await accessibilityFaults(tab), [])
  t.equal(await isTooWide(tab), false)
  await tab.click('text=Opnieuw inloggen')
  idp.state.claims.roles = []
  await tab.click('text=Inloggen met Gemeentelogin')
  t.match(await tab.textContent('h1'), 'is niet gelukt')
  t.same(await accessibilityFaults(tab), [])
  t.equal(await isTooWide(tab), false)
})

t.test('providers that are given in the pages', await needsBrowser(), async (t) => {
  const [own, given] = [await provider(t), await provider(t)]
  const test = await setUpPages(t, settings(own.issuer))
  const { sql } = test.database
  const { tab, klachten } = await asBeheerder(test, 'administrator', { javaScriptEnabled: false })
  const fill = async (values: Record<string, string>) => {
    for (const [name, value] of Object.entries(values)) await tab.fill(`[name=${name}]`, value)
  }
  const send = (button: string) => tab.click(`main button:text-is("${button}")`)

  await t.test('one is tried before it is saved: what is wrong stands beside its field', async (t) => {
    await tab.goto('/beheer/inlogaanbieders')
    t.match(await tab.textContent('table'), /Gemeentelogin.*omgeving.*Ligt vast/s)
    await tab.click('text=Nieuwe inlogaanbieder')
    await fill({ label: 'Regiologin', issuer: `${given.issuer}/elders`, clientId: 'zaakstroom', clientSecret: 'fout' })
    await send('Proberen en opslaan')
    t.match(await tab.textContent('#veld-administrator-fout'), 'anders mag niemand naar binnen')
    await fill({
      operator: 'zaakstroom-behandelaars\niets anders',
      administrator: 'zaakstroom-beheer',
      clientSecret: 'fout',
    })
    await send('Proberen en opslaan')
    t.match(await tab.textContent('#veld-issuer-fout'), 'geen geldig discovery-document')
    await fill({ issuer: given.issuer, clientSecret: 'fout' })
    await send('Proberen en opslaan')
    t.match(await tab.textContent('#veld-clientId-fout'), 'neemt dit client-ID met dit geheim niet aan')
    await fill({ issuer: own.issuer, clientSecret: SECRET })
    await send('Proberen en opslaan')
    t.match(await tab.textContent('#veld-issuer-fout'), 'Er is al een aanbieder')
    await fill({ issuer: given.issuer, clientSecret: SECRET })
    await send('Alleen proberen')
    t.match(await tab.textContent('[role=status]'), 'Er is nog niets opgeslagen')
    t.same(await sql`select from oidc_provider`, [])
    await fill({ clientSecret: SECRET })
    await send('Proberen en opslaan')
    t.match(await tab.textContent('.bericht'), 'U kunt nu inloggen met Regiologin')
    t.match(await tab.textContent('table'), /Regiologin.*actief.*zaakstroom-behandelaars, iets anders → operator/s)
    t.notMatch(JSON.stringify(await sql`select * from beheer_audit`), SECRET)
    t.notMatch(
      JSON.stringify(await sql`select sealed_secret::text from oidc_provider`),
      Buffer.from(SECRET).toString('hex'),
    )
    for (const path of ['/beheer/inlogaanbieders', '/beheer/inlogaanbieders/nieuw'])
      for (const width of [1280, 390]) {
        await tab.setViewportSize({ width, height: 800 })
        await tab.goto(path)
        t.equal(await isTooWide(tab), false)
        if (process.env.SHOTS)
          await tab.screenshot({
            path: `${process.env.SHOTS}${path.replaceAll('/', '-')}-${width}.png`,
            fullPage: true,
          })
      }
    t.same(klachten, [])
  })

  const [{ uuid }] = await sql<[{ uuid: string }]>`select uuid from oidc_provider`
  const signIn = async () => {
    const browser = pagesClient(test.app)
    const away = await browser.get(`/beheer/inloggen/oidc?aanbieder=${uuid}`)
    if (away.statusCode !== 303) return { answer: away, browser }
    const { headers } = await fetch(away.headers.location!, { redirect: 'manual' })
    return { answer: await browser.get(headers.get('location')!), browser }
  }
  given.state.claims = { sub: 'regio-1', preferred_username: 'r.regio', groups: ['x', 'zaakstroom-behandelaars'] }

  t.test('people sign in with it, with the role of their groups, beside that of the environment', async (t) => {
    const page = await pagesClient(test.app).get('/beheer/inloggen?verder=/beheer/imports')
    t.match(page.body, /Inloggen met Gemeentelogin.*Inloggen met Regiologin/s)
    const { answer, browser } = await signIn()
    t.equal(answer.statusCode, 303)
    t.equal((await browser.get('/beheer/')).statusCode, 200)
    t.match(await sql`select rol, oidc_issuer from beheer_account where gebruikersnaam = 'r.regio'`, [
      { rol: 'operator', oidc_issuer: given.issuer },
    ])
    given.state.claims = { ...given.state.claims, groups: ['operator', 'administrator'] }
    t.match(
      (await signIn()).answer,
      { statusCode: 403, body: /Regiologin heeft u geen rol/ },
      'names of roles are no groups',
    )
    given.state.claims = { ...given.state.claims, groups: ['zaakstroom-beheer'] }
    t.equal((await signIn()).answer.statusCode, 303)
    const { answer: first } = await signInWithOidc(test)
    t.equal(first.statusCode, 303, 'the one of the environment goes on')
  })

  t.test('an answer of one provider is no answer of another', async (t) => {
    const browser = pagesClient(test.app)
    const { headers } = await fetch((await browser.get(`/beheer/inloggen/oidc?aanbieder=${uuid}`)).headers.location!, {
      redirect: 'manual',
    })
    const back = headers.get('location')!
    t.match(back, `/beheer/inloggen/oidc/terug/${uuid}`, 'each has an address of its own')
    t.match(await browser.get(back.replace(`/${uuid}`, '')), { statusCode: 400, body: /hoort niet bij deze poging/ })
    t.equal((await pagesClient(test.app).get('/beheer/inloggen/oidc?aanbieder=x')).statusCode, 404)
  })

  t.test('its secret goes to no other issuer, and one that is switched off ends its sessions', async (t) => {
    await tab.goto(`/beheer/inlogaanbieders/${uuid}/wijzigen`)
    await fill({ issuer: `${given.issuer}-2` })
    await send('Proberen en opslaan')
    t.match(await tab.textContent('#veld-clientSecret-fout'), 'Vul het geheim opnieuw in')
    await fill({ issuer: given.issuer, label: 'Regio' })
    await send('Proberen en opslaan')
    t.match(await tab.textContent('.bericht'), 'De aanbieder Regio is opgeslagen', 'with the secret that was kept')
    const { browser } = await signIn()
    await given.stop()
    await tab.goto(`/beheer/inlogaanbieders/${uuid}/wijzigen`)
    await tab.uncheck('[name=isActive]')
    await send('Proberen en opslaan')
    t.match(await tab.textContent('#veld-issuer-fout'), 'niet te bereiken')
    await tab.check('[name=untried]')
    await send('Proberen en opslaan')
    t.match(await tab.textContent('table'), 'uitgezet')
    t.equal((await browser.get('/beheer/')).statusCode, 303, 'who signed in with it is signed out')
    t.equal((await signIn()).answer.statusCode, 404)
    await tab.click(`a[href$="${uuid}/verwijderen"]`)
    await send('Inlogaanbieder verwijderen')
    t.same(await sql`select from oidc_provider`, [])
    t.equal((await (await test.signedIn('operator'))('/beheer/inlogaanbieders')).statusCode, 403)
  })
})
