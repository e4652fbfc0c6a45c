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
  }
  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, issuer)
    state.asked.push(url.pathname)
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
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
      })
    if (url.pathname === '/realm/keys')
      return json(200, {
        keys: [{ ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }],
      })
    if (url.pathname === '/realm/auth') {
      const query = Object.fromEntries(url.searchParams)
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
  return { issuer, state, stop }
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
      t.equal(answer.statusCode, 401, fault)
      t.match(answer.body, 'Inloggen met Gemeentelogin is niet gelukt')
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
    t.match(answer.body, 'Gemeentelogin is nu niet bereikbaar')
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
