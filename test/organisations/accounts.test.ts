// Accounts of the centre: one account, with a role in each of some organisations.
import t from 'tap'
import { hashNewPassword } from '../../src/beheer/accounts/accounts.ts'
import { openDatabase } from '../../src/database/database.ts'
import { withSchema } from '../../src/database/schema.ts'
import {
  type CentreAccount,
  deleteAccount,
  endSessionsEverywhere,
  giveRole,
  insertAccount,
  readAccounts,
  takeRole,
  updateAccount,
} from '../../src/organisations/accounts.ts'
import { changeOrganisations } from '../../src/organisations/registry.ts'
import { type PagesClient, pagesClient } from '../beheer/browser-client.ts'
import { givenAccount, quickHash } from '../beheer/quick-hash.ts'
import { frozenProxy } from '../database/frozen-proxy.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { keysOf, type Many, many, prepareOrganisation, ringOf } from './api-many.ts'

const [A, B, C] = ['zaken.a.nl', 'zaken.b.nl', 'zaken.c.nl'] as const
const PASSWORD = 'correct horse battery'
const MINE = '/beheer/mijn-account'
const RSIN = { [A]: '000000001', [B]: '000000002', [C]: '000000003' } as const
type Host = keyof typeof RSIN
const SCHEMA = { [A]: 'zaakstroom', [B]: 'gemeente_b', [C]: 'gemeente_c' } as const

// The schemas are made once; each test has an application, a registry and names of its own.
const { url } = await testDatabase(t)
const three = [A, B, C].map((host) => ({ host, schema: SCHEMA[host], databaseUrl: url }))
for (const [n, { schema }] of three.entries()) await prepareOrganisation(withSchema(url, schema), ringOf(keysOf(n)))
const given = (t: Parameters<typeof many>[0], registryUrl = url) =>
  many(t, three, { url: registryUrl, isPrepared: true })

const databaseOf = (t: { teardown(work: () => unknown): unknown }, host: Host) => {
  const database = openDatabase(withSchema(url, SCHEMA[host]), { max: 2, name: 'test' })
  t.teardown(database.close)
  return database
}
const browserAt = ({ app }: Many, host: string) => pagesClient(app, { origin: `https://${host}` })
const change = ({ control }: Many, work: Parameters<typeof changeOrganisations>[2]) =>
  changeOrganisations(control, { rsin: '', actor: 'test', action: 'account-set' }, work)

let seen = 0
/** An account with these roles, which every process knows of. */
async function givenMember(all: Many, roles: Partial<Record<Host, string>>, name?: string): Promise<CentreAccount> {
  const gebruikersnaam = name ?? `centrum${++seen}`
  const new_ = { gebruikersnaam, naam: 'Cent Rum', email: 'c@centrum.nl', seesCentre: false }
  await change(all, (trx) => insertAccount(trx, { ...new_, passwordHash: quickHash(PASSWORD) }))
  await all.control.sql`update beheer_account set password_given = false where gebruikersnaam = ${gebruikersnaam}`
  for (const [host, rol] of Object.entries(roles))
    await give(all, await accountOf(all, gebruikersnaam), host as Host, rol)
  await known(all)
  return accountOf(all, gebruikersnaam)
}
const give = (all: Many, account: CentreAccount, host: Host, rol: string) =>
  change(all, (trx) =>
    giveRole(trx, account, {
      ...{ rsin: RSIN[host], rol, mayRepair: false, stamp: crypto.randomUUID() },
      maxVertrouwelijkheidaanduiding: 'vertrouwelijk',
    }),
  )
const accountOf = async ({ control }: Many, name: string) =>
  (await readAccounts(control)).find(({ gebruikersnaam }) => gebruikersnaam === name)!
/** The process has heard of what the registry says now. */
const known = async ({ parts, control }: Many) => {
  const now = JSON.stringify(await readAccounts(control))
  await until('the process knows it', () => JSON.stringify(parts.registry.accounts()) === now)
}
const isSignedIn = async (browser: PagesClient) => (await browser.get('/beheer/mijn-account')).statusCode === 200

t.test(
  'it signs in at each organisation with the role that it has there, and at another as if it did not exist',
  async (t) => {
    const all = await given(t)
    const { gebruikersnaam, uuid } = await givenMember(all, { [A]: 'administrator', [B]: 'viewer' })
    const atA = browserAt(all, A)
    t.equal((await atA.login(gebruikersnaam.toUpperCase(), PASSWORD)).statusCode, 303)
    t.equal((await atA.get('/beheer/accounts')).statusCode, 200, 'administrator at A')
    const atB = browserAt(all, B)
    t.equal((await atB.login(gebruikersnaam, PASSWORD)).statusCode, 303)
    t.equal((await atB.get('/beheer/accounts')).statusCode, 403, 'viewer at B')
    const acts = await databaseOf(t, A).sql`
    select handeling, account_uuid, gebruiker from beheer_audit where gebruiker = ${gebruikersnaam} order by id`
    t.match(acts, [{ handeling: 'account-maken' }, { handeling: 'inloggen' }], 'the audit of A knows it by its name')
    await atA.post('/beheer/uitloggen', {}, '/beheer/mijn-account')
    await until('signing out at one signs out at all', async () => !(await isSignedIn(atB)))
    t.match(
      await databaseOf(t, A)
        .sql`select account_uuid from beheer_audit where handeling = 'uitloggen' order by id desc limit 1`,
      [{ account_uuid: uuid }],
    )

    const atC = browserAt(all, C)
    const plain = (body: string) => body.replace(/name="_csrf" value="[^"]+"/g, '').replace(/centrum\d+|niemand/g, '')
    const refused = await atC.login(gebruikersnaam, PASSWORD)
    const nobody = await browserAt(all, C).login('niemand', PASSWORD)
    t.equal(refused.statusCode, 401)
    t.equal(plain(refused.body), plain(nobody.body))
    t.same(
      await all.control.sql`select failed_attempts from beheer_account where gebruikersnaam = ${gebruikersnaam}`,
      [{ failed_attempts: 0 }],
      'the registry was not asked',
    )
    t.same(await databaseOf(t, C).sql`select from beheer_account where gebruikersnaam = ${gebruikersnaam}`, [])
  },
)

t.test('an account of the organisation with the same name and password is another one', async (t) => {
  const all = await given(t)
  const { gebruikersnaam } = await givenMember(all, { [A]: 'administrator' })
  await givenAccount({ database: databaseOf(t, C) }, { gebruikersnaam, rol: 'viewer', wachtwoord: PASSWORD })
  const atC = browserAt(all, C)
  t.equal((await atC.login(gebruikersnaam, PASSWORD)).statusCode, 303)
  t.equal((await atC.get('/beheer/accounts')).statusCode, 403, 'its own role')
  t.notMatch((await atC.get('/beheer/')).body, 'kop-wissel')
  const found = await accountOf(all, gebruikersnaam)
  await give(all, found, C, 'administrator') // as the command refuses to
  await known(all)
  t.equal((await atC.get('/beheer/accounts')).statusCode, 403, 'who is signed in gets nothing of it')
  t.equal((await browserAt(all, C).login(gebruikersnaam, PASSWORD)).statusCode, 401, 'nobody is taken for the other')
})

t.test('another role counts from the next request on, and taking it away ends its sessions', async (t) => {
  const all = await given(t)
  const account = await givenMember(all, { [A]: 'administrator', [B]: 'viewer' })
  const [atA, atB] = [browserAt(all, A), browserAt(all, B)]
  await atA.login(account.gebruikersnaam, PASSWORD)
  await atB.login(account.gebruikersnaam, PASSWORD)
  await give(all, account, A, 'operator')
  await known(all)
  t.equal((await atA.get('/beheer/accounts')).statusCode, 403)
  t.equal((await atA.get('/beheer/fouten')).statusCode, 200)
  await change(all, (trx) => takeRole(trx, account.id, RSIN[A]))
  await until('the session has ended', async () => !(await isSignedIn(atA)))
  t.ok(await isSignedIn(atB), 'that at B goes on')
  t.equal((await browserAt(all, A).login(account.gebruikersnaam, PASSWORD)).statusCode, 401)
  await give(all, account, A, 'operator')
  await known(all)
  t.notOk(await isSignedIn(atA), 'a session of before does not come back with a new role')

  await change(all, (trx) => endSessionsEverywhere(trx, account.id))
  await until('and all end at once', async () => !(await isSignedIn(atB)))
  await atB.login(account.gebruikersnaam, PASSWORD)
  await change(all, (trx) => updateAccount(trx, account.id, { actief: false }))
  await until('inactive', async () => !(await isSignedIn(atB)))
  t.equal((await atB.login(account.gebruikersnaam, PASSWORD)).statusCode, 401)
  await change(all, (trx) => deleteAccount(trx, account.id))
  await known(all)
  t.equal((await atB.login(account.gebruikersnaam, PASSWORD)).statusCode, 401)
})

t.test('attempts count over all hosts', async (t) => {
  const all = await given(t)
  const { gebruikersnaam } = await givenMember(all, { [A]: 'viewer', [B]: 'viewer' })
  for (const host of [A, B, A, B, A])
    t.equal((await browserAt(all, host).login(gebruikersnaam, 'a wrong password')).statusCode, 401)
  for (const host of [A, B])
    t.match(await browserAt(all, host).login(gebruikersnaam, PASSWORD), {
      statusCode: 429,
      headers: { 'retry-after': /^\d+$/ },
    })
  t.match(await all.control.sql`select failed_attempts from beheer_account where gebruikersnaam = ${gebruikersnaam}`, [
    { failed_attempts: 5 },
  ])
  await all.control.sql`delete from beheer_sign_in_attempt`
  const browser = browserAt(all, B)
  t.equal((await browser.login(gebruikersnaam, PASSWORD)).statusCode, 303)
  t.match((await browser.get('/beheer/')).body, /5 keer geprobeerd/, 'who signs in is told')
  // A browser that signed in before has a count of its own.
  await browser.post('/beheer/uitloggen', {}, '/beheer/mijn-account')
  for (let times = 0; times < 6; times++) await browserAt(all, A).login(gebruikersnaam, 'a wrong password')
  t.equal((await browserAt(all, A).login(gebruikersnaam, PASSWORD)).statusCode, 429)
  t.equal((await browser.login(gebruikersnaam, PASSWORD)).statusCode, 303)
})

/** What the page with the code would send. */
async function chosen(browser: PagesClient, rsin: string) {
  const page = await browser.post('/beheer/wissel', { organisatie: rsin }, '/beheer/')
  const [, address = ''] = /action="([^"]+)\/beheer\/wissel\/verder"/.exec(page.body) ?? []
  const [, code = ''] = /name="code" value="([^"]+)"/.exec(page.body) ?? []
  return { page, address, code }
}
const send = (all: Many, host: string, origin: string, code: string) =>
  all.call(host, 'POST', '/beheer/wissel/verder', {
    form: { code },
    as: '',
    headers: { origin, 'sec-fetch-site': 'cross-site' },
  })

t.test('it goes on at another organisation with a code that works once, in time, there', async (t) => {
  const all = await given(t)
  const account = await givenMember(all, { [A]: 'administrator', [B]: 'viewer' })
  const atA = browserAt(all, A)
  await atA.login(account.gebruikersnaam, PASSWORD)
  const header = (await atA.get('/beheer/')).body
  t.match(header, new RegExp(`value="${RSIN[B]}"`))
  t.notMatch(header, RSIN[C], 'only where it has a role')
  const { page, address, code } = await chosen(atA, RSIN[B])
  t.equal(address, `https://${B}`, 'the address is that of the registry')
  t.match(page.headers['content-security-policy'], `form-action 'self' https://${B};`)
  t.equal(page.headers['referrer-policy'], 'strict-origin')
  t.equal(page.headers['cache-control'], 'no-store')
  t.match(await all.control.sql`select octet_length(key) as size from switch_code`, [{ size: 32 }], 'a hash is kept')

  const answer = await send(all, B, `https://${A}`, code)
  t.match(answer, { status: 303, headers: { location: '/beheer/' } })
  const cookies = [answer.headers['set-cookie']].flat().map(String)
  const [, value = ''] = /^__Host-zaakstroom=([^;]+)/.exec(
    cookies.find((one) => one.startsWith('__Host-zaakstroom='))!,
  )!
  const atB = pagesClient(all.app, { origin: `https://${B}`, cookies: new Map([['__Host-zaakstroom', value]]) })
  t.ok(await isSignedIn(atB))
  t.equal((await atB.get('/beheer/accounts')).statusCode, 403, 'with its role there')
  t.match((await atB.get('/beheer/')).body, new RegExp(`value="${RSIN[A]}"`), 'and it can go back')
  t.notOk(
    cookies.some((one) => one.includes('zaakstroom-browser')),
    'what the browser is known by stays',
  )
  t.equal((await send(all, B, `https://${A}`, code)).status, 403, 'once')
  t.match(
    await databaseOf(t, B)
      .sql`select nieuw from beheer_audit where handeling = 'inloggen' and gebruiker = ${account.gebruikersnaam}`,
    [{ nieuw: { vanaf: A } }],
  )

  const late = await chosen(atA, RSIN[B])
  await all.control.sql`update switch_code set expires_at = now()`
  t.equal((await send(all, B, `https://${A}`, late.code)).status, 403, 'not after half a minute')

  await give(all, account, C, 'viewer')
  await known(all)
  const elsewhere = await chosen(atA, RSIN[B])
  t.equal((await send(all, C, `https://${A}`, elsewhere.code)).status, 403, 'not at another host')
  t.equal((await send(all, B, `https://${A}`, elsewhere.code)).status, 403, 'and it is used up by that')

  const stolen = await chosen(atA, RSIN[B])
  for (const origin of ['https://kwaad.nl', 'null', `https://${A}.kwaad.nl`, `http://${A}`, `https://${A}:8443`])
    t.equal((await send(all, B, origin, stolen.code)).status, 403, origin)
  t.equal((await send(all, B, `https://${C}`, stolen.code)).status, 403, 'not from a page of a third organisation')

  const revoked = await chosen(atA, RSIN[B])
  await change(all, (trx) => takeRole(trx, account.id, RSIN[B]))
  t.equal((await send(all, B, `https://${A}`, revoked.code)).status, 403, 'not without a role any more')
  await known(all)
  t.equal((await chosen(atA, RSIN[B])).page.statusCode, 404)
  t.equal((await chosen(atA, '999999999')).page.statusCode, 404)
  t.equal((await all.call(A, 'POST', '/beheer/wissel', { form: { organisatie: RSIN[C] }, as: '' })).status, 403)
  const noToken = await all.call(A, 'POST', '/beheer/wissel', {
    form: { organisatie: RSIN[C] },
    as: '',
    headers: { origin: `https://${A}`, cookie: `__Host-zaakstroom=${atA.cookies.get('__Host-zaakstroom')}` },
  })
  t.equal(noToken.status, 403, 'the form needs its token')
})

t.test('going over and back leaves one session at each, which ends when the first one would have', async (t) => {
  const all = await given(t)
  const account = await givenMember(all, { [A]: 'viewer', [B]: 'viewer' })
  const elsewhere = browserAt(all, A)
  await elsewhere.login(account.gebruikersnaam, PASSWORD)
  let browser = browserAt(all, A)
  await browser.login(account.gebruikersnaam, PASSWORD)
  const soon = '2 hours 1 microsecond'
  await databaseOf(t, A).sql`
    update beheer_session set expires_at = now() + ${soon}::interval
    where id = (select max(id) from beheer_session)`
  for (const [from, to] of [
    [A, B],
    [B, A],
    [A, B],
    [B, A],
  ] as const) {
    const { code } = await chosen(browser, RSIN[to])
    const answer = await send(all, to, `https://${from}`, code)
    t.equal(answer.status, 303)
    const [, value = ''] = /__Host-zaakstroom=([^;]+)/.exec(String(answer.headers['set-cookie']))!
    browser = pagesClient(all.app, { origin: `https://${to}`, cookies: new Map([['__Host-zaakstroom', value]]) })
    t.ok(await isSignedIn(browser))
  }
  const sessions = (host: Host) => databaseOf(t, host).sql`
    select s.expires_at < now() + interval '3 hours' as "isSoon" from beheer_session s join beheer_account a on a.id = s.account_id
    where a.uuid = ${account.uuid} order by s.id`
  t.same(await sessions(A), [{ isSoon: false }, { isSoon: true }], 'that of another browser stays')
  t.same(await sessions(B), [{ isSoon: true }])
  t.ok(await isSignedIn(elsewhere))
})

t.test('a code ends with the session, the password and the role that it came from', async (t) => {
  const all = await given(t)
  const passwordHash = await hashNewPassword(PASSWORD)
  const account = await givenMember(all, { [A]: 'viewer', [B]: 'viewer' })
  await change(all, (trx) => trx`update beheer_account set password_hash = ${passwordHash} where id = ${account.id}`)
  const name = `lokaal${++seen}`
  await givenAccount(
    { database: databaseOf(t, A) },
    { gebruikersnaam: name, rol: 'administrator', wachtwoord: PASSWORD },
  )
  const administrator = browserAt(all, A)
  await administrator.login(name, PASSWORD)
  await administrator.confirm(PASSWORD)
  const [thief, owner] = [browserAt(all, A), browserAt(all, A)]
  const fresh = 'another long password'
  const path = `/beheer/accounts/${account.uuid}`
  const endings: Record<string, () => Promise<unknown>> = {
    'all sessions ended': () => change(all, (trx) => endSessionsEverywhere(trx, account.id)),
    'another password': () =>
      owner.post('/beheer/mijn-account/wachtwoord', { oud: PASSWORD, nieuw: fresh, herhaald: fresh }, MINE),
    'signed out': () => thief.post('/beheer/uitloggen', {}, MINE),
    'other sessions ended': () => owner.post('/beheer/mijn-account/sessies', {}, MINE),
    'sessions ended by an administrator': () => administrator.post(`${path}/sessies`),
    'made inactive there': () => administrator.post(path, {}),
    'active there again': () => administrator.post(path, { actief: 'true' }),
    'another role than before': async () => {
      await change(all, (trx) => takeRole(trx, account.id, RSIN[A]))
      await give(all, account, A, 'viewer')
    },
    'no role': () => change(all, (trx) => takeRole(trx, account.id, RSIN[A])),
  }
  let password = PASSWORD
  for (const [what, end] of Object.entries(endings)) {
    if (what === 'active there again') {
      await end()
      continue
    }
    await known(all)
    await thief.login(account.gebruikersnaam, password)
    await owner.login(account.gebruikersnaam, password)
    const { code } = await chosen(thief, RSIN[B])
    t.ok(code, `there is a code: ${what}`)
    await end()
    if (what === 'another password') password = fresh
    t.equal((await send(all, B, `https://${A}`, code)).status, 403, what)
  }
  t.equal((await browserAt(all, B).login(account.gebruikersnaam, password)).statusCode, 303, 'its role at B stays')
})

t.test('administrators see it, may keep it out, and cannot change it', async (t) => {
  const all = await given(t)
  const database = databaseOf(t, A)
  const account = await givenMember(all, { [A]: 'viewer', [B]: 'viewer' })
  const member = browserAt(all, A)
  await member.login(account.gebruikersnaam, PASSWORD)
  const name = `lokaal${++seen}`
  await givenAccount({ database }, { gebruikersnaam: name, rol: 'administrator', wachtwoord: PASSWORD })
  const administrator = browserAt(all, A)
  await administrator.login(name, PASSWORD)
  await administrator.confirm(PASSWORD)
  const list = (await administrator.get('/beheer/accounts')).body
  t.match(list, /Cent Rum <span class="staat">van het centrum/)
  const path = `/beheer/accounts/${account.uuid}`
  const page = (await administrator.get(path)).body
  t.match(page, /met een rol bij deze organisatie/)
  t.notMatch(page, /Nieuw wachtwoord|name="rol"|verwijderen/)
  for (const way of ['wachtwoord', 'codes', 'verwijderen', 'wachttijd']) {
    t.equal((await administrator.get(`${path}/${way}`)).statusCode, 403, way)
    const form = { wijze: 'typen', wachtwoord: 'a password of another' }
    t.equal((await administrator.post(`${path}/${way}`, form, '/beheer/accounts/nieuw')).statusCode, 403, way)
  }
  const tried = { rol: 'administrator', mayRepair: 'true', actief: 'true', maxVertrouwelijkheidaanduiding: 'geheim' }
  await administrator.post(path, tried)
  t.match(await database.sql`select rol, may_repair, password_hash from beheer_account where uuid = ${account.uuid}`, [
    { rol: 'viewer', may_repair: false, password_hash: null },
  ])
  await t.rejects(
    database.sql`update beheer_account set password_hash = ${quickHash(PASSWORD)} where uuid = ${account.uuid}`,
    /beheer_account_centre_keeps_secrets/,
  )
  t.equal((await administrator.post(path, {})).statusCode, 303, 'made inactive')
  t.notOk(await isSignedIn(member))
  t.equal((await member.login(account.gebruikersnaam, PASSWORD)).statusCode, 401)
  t.equal((await browserAt(all, B).login(account.gebruikersnaam, PASSWORD)).statusCode, 303, 'only there')
  await change(all, (trx) => takeRole(trx, account.id, RSIN[A]))
  await known(all)
  t.match((await administrator.get(path)).body, /zonder rol bij deze organisatie/)
  t.equal((await administrator.post(`${path}/verwijderen`, {})).statusCode, 303, 'what is left over can go')
})

t.test('its password and its codes are its own, and the same everywhere', async (t) => {
  const all = await given(t)
  const account = await givenMember(all, { [A]: 'viewer', [B]: 'viewer' })
  const passwordHash = await hashNewPassword(PASSWORD)
  await change(
    all,
    (trx) =>
      trx`update beheer_account set password_given = true, password_hash = ${passwordHash} where id = ${account.id}`,
  )
  await known(all)
  const [atA, atB] = [browserAt(all, A), browserAt(all, B)]
  await atA.login(account.gebruikersnaam, PASSWORD)
  await atB.login(account.gebruikersnaam, PASSWORD)
  t.equal((await atA.get('/beheer/')).headers.location, '/beheer/mijn-account/wachtwoord', 'a given one is replaced')
  const fresh = 'another long password'
  const changed = await atA.post('/beheer/mijn-account/wachtwoord', { oud: PASSWORD, nieuw: fresh, herhaald: fresh })
  t.equal(changed.statusCode, 303, changed.body)
  t.ok(await isSignedIn(atA), 'who changed it stays')
  await until('that at B ends', async () => !(await isSignedIn(atB)))
  t.equal((await browserAt(all, B).login(account.gebruikersnaam, PASSWORD)).statusCode, 401)
  t.equal((await atB.login(account.gebruikersnaam, fresh)).statusCode, 303)
  t.match(await all.control.sql`select action, account from organisation_change where action = 'account-password'`, [
    { account: account.gebruikersnaam },
  ])

  const { Secret, TOTP } = await import('otpauth')
  await atA.post('/beheer/mijn-account/codes/nieuw', {}, '/beheer/mijn-account/codes')
  const page = (await atA.get('/beheer/mijn-account/codes')).body
  const secret = /<code[^>]*>([A-Z2-7 ]{30,})<\/code>/.exec(page)![1]!.replaceAll(' ', '')
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const set = await atA.post(
    '/beheer/mijn-account/codes/bevestigen',
    { code: totp.generate() },
    '/beheer/mijn-account/codes',
  )
  t.equal(set.statusCode, 303)
  t.ok(await isSignedIn(atA))
  await until('that at B ends', async () => !(await isSignedIn(atB)))
  const again = await atB.login(account.gebruikersnaam, fresh)
  t.match(again.headers.location, '/beheer/inloggen/code', 'the code is asked at B as well')
  const next = totp.generate({ timestamp: Date.now() + 30_000 })
  t.equal((await atB.post('/beheer/inloggen/code', { code: next })).statusCode, 303)
  t.ok(await isSignedIn(atB))
})

t.test(
  'codes are asked from the moment that they are set up, also by a process that has not heard of it',
  async (t) => {
    const all = await given(t)
    const { id, gebruikersnaam } = await givenMember(all, { [A]: 'viewer' })
    await all.control.sql`update beheer_account set totp_secret = 'x', totp_since = now() where id = ${id}`
    t.match((await browserAt(all, A).login(gebruikersnaam, PASSWORD)).headers.location, '/beheer/inloggen/code')
  },
)

t.test('a suspended organisation is not among those to go on at', async (t) => {
  const all = await given(t)
  const account = await givenMember(all, { [A]: 'viewer', [B]: 'viewer' })
  const [atA, atB] = [browserAt(all, A), browserAt(all, B)]
  await atA.login(account.gebruikersnaam, PASSWORD)
  const { code } = await chosen(atA, RSIN[B])
  await all.change(B, { state: 'suspended' })
  await until('suspended', () => all.parts.registry.byHost(B)?.state === 'suspended')
  t.equal((await send(all, B, `https://${A}`, code)).status, 503)
  t.equal((await atB.get('/beheer/inloggen')).statusCode, 503)
  t.notMatch((await atA.get('/beheer/')).body, 'kop-wissel', 'there is nowhere to go')
  t.equal((await chosen(atA, RSIN[B])).page.statusCode, 404)
})

t.test(
  'without the registry accounts of the organisation sign in, and those of the centre are told why not',
  async (t) => {
    const proxy = await frozenProxy(t, url)
    const all = await given(t, proxy.url)
    const account = await givenMember(all, { [A]: 'viewer', [B]: 'viewer' })
    const name = `lokaal${++seen}`
    await givenAccount({ database: databaseOf(t, A) }, { gebruikersnaam: name, rol: 'viewer', wachtwoord: PASSWORD })
    const member = browserAt(all, A)
    await member.login(account.gebruikersnaam, PASSWORD)
    proxy.freeze()
    const local = browserAt(all, A)
    t.equal((await local.login(name, PASSWORD)).statusCode, 303)
    t.ok(await isSignedIn(member), 'who is signed in goes on')
    const refused = await browserAt(all, A).login(account.gebruikersnaam, PASSWORD)
    t.equal(refused.statusCode, 503)
    t.match(refused.body, /register van organisaties antwoordt niet/)
    const { page } = await chosen(member, RSIN[B])
    t.equal(page.statusCode, 503)
    proxy.thaw()
    await until(
      'it is back',
      async () => (await browserAt(all, A).login(account.gebruikersnaam, PASSWORD)).statusCode === 303,
    )
  },
)
