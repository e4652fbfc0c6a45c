// The page of the centre: all organisations, for those accounts that may see it, from figures that workers keep.
import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { secretBox } from '../../src/core/secret-box.ts'
import { openDatabase } from '../../src/database/database.ts'
import { withSchema } from '../../src/database/schema.ts'
import type { Figures } from '../../src/organisations/figures.ts'
import { keepFigures, readKept } from '../../src/organisations/keep-figures.ts'
import { openOverview } from '../../src/organisations/overview.ts'
import { type Registry, readOrganisations } from '../../src/organisations/registry.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { givenInformatieobjecttype, givenZaaktype, type TestApp } from '../app.ts'
import { accessibilityFaults, isTooWide, needsBrowser, openBrowser } from '../beheer/browser.ts'
import { givenDocument, givenZaak } from '../beheer/given.ts'
import { freePort } from '../free-port.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { keysOf, many, prepareOrganisation, ringOf } from './api-many.ts'

t.setTimeout(240_000)

const HOST = 'localhost'
const PASSWORD = 'wachtwoord-van-de-database'
const SETTING = 'waarde-van-een-instelling'
const ROLLEN = ['viewer', 'privacy', 'operator', 'administrator']
const { url } = await testDatabase(t)
await prepareOrganisation(withSchema(url, 'zaakstroom'), ringOf(keysOf(0)))
const own = openDatabase(withSchema(url, 'zaakstroom'), { max: 2, name: 'test' })
t.teardown(own.close)
const test = await many(t, [{ host: HOST, schema: 'zaakstroom' }], {
  url,
  isPrepared: true,
  env: { PUBLIC_URL: 'http://localhost', NOTIFICATIONS_DISABLED: 'true' },
})
const { app, control, parts } = test
const box = secretBox('key of the installation, long enough')
const closed = `postgres://zaak:${PASSWORD}@127.0.0.1:${await freePort()}/weg`
await test.add({
  ...{ rsin: '000000024', host: 'zaken.weg.nl', schema: 'org_weg', databaseUrl: closed },
  ...{ limits: { abonnementen: 5 }, settings: { LOGBOEK_DATAVERWERKINGEN_URL: `https://${SETTING}.nl` } },
})

/** What the cookie of a session of this account holds. */
async function signIn(gebruikersnaam: string): Promise<string> {
  const value = randomBytes(32).toString('base64url')
  await own.sql`
    insert into beheer_session (key, account_id, expires_at)
    select ${createHash('sha256').update(value).digest()}, id, now() + interval '1 hour' from beheer_account
    where gebruikersnaam = ${gebruikersnaam}`
  return value
}
const get = async (cookie: string, path: string) => {
  const began = performance.now()
  const answer = await app.inject({ url: `/beheer${path}`, headers: { host: HOST, cookie: `zaakstroom=${cookie}` } })
  return { status: answer.statusCode, text: answer.body, ms: performance.now() - began }
}

/** An account of the centre that works at this host. */
async function givenCentre(gebruikersnaam: string, seesCentre: boolean): Promise<string> {
  const rows = await control.sql<{ uuid: string; stamp: string }[]>`
    with a as (insert into beheer_account (gebruikersnaam, naam, sees_centre)
      values (${gebruikersnaam}, ${gebruikersnaam}, ${seesCentre}) returning id, uuid),
    m as (insert into membership (account_id, organisation_id, rol, max_vertrouwelijkheidaanduiding)
      select a.id, o.id, 'administrator', 'zeer_geheim' from a, organisation o where o.rsin = '000000001' returning stamp)
    select a.uuid, m.stamp from a, m`
  const { uuid, stamp } = rows[0]!
  await own.sql`
    insert into beheer_account (uuid, gebruikersnaam, naam, rol, centre_stamp)
    values (${uuid}, ${gebruikersnaam}, ${gebruikersnaam}, 'administrator', ${stamp})`
  return signIn(gebruikersnaam)
}

/** What a worker does once a minute. */
async function readNow(): Promise<void> {
  await control.sql`update organisation_figures set asked_at = '-infinity'`
  const began = Date.now()
  const registry: Pick<Registry, 'all'> = { all: () => all }
  const all = await readOrganisations(control, box)
  const kept = keepFigures({ control, registry, runners: { look: () => undefined }, log: openLog('silent') })
  await until('all were tried', async () =>
    (await readKept(control)).every(
      ({ readAt, faultSince }) => faultSince !== null || (readAt !== null && Date.parse(readAt) >= began),
    ),
  )
  await kept.stop()
}

const centre = await givenCentre('centrum', true)

t.test(
  'nobody else knows that there is a page: each role, an account of the centre without the right, and who is not signed in',
  async (t) => {
    const others = [await givenCentre('helpdesk', false), '']
    for (const rol of ROLLEN) {
      await own.sql`insert into beheer_account (gebruikersnaam, naam, rol, may_repair) values (${rol}, 'Iemand', ${rol}, true)`
      others.push(await signIn(rol))
    }
    const plain = (text: string, path: string) =>
      text.replaceAll(path, '/x').replace(/<code>[\da-f]{16}<\/code>|_csrf" value="[^"]*"/g, '')
    for (const cookie of others)
      for (const path of ['/organisaties', '/organisaties/000000001', '/organisaties/9']) {
        const [here, nowhere] = [await get(cookie, path), await get(cookie, '/bestaat-niet')]
        t.equal(here.status, 404)
        t.equal(plain(here.text, path), plain(nowhere.text, '/bestaat-niet'), path)
        t.notMatch(here.text, 'href="/beheer/organisaties"')
      }
    t.match((await get(centre, '/')).text, 'href="/beheer/organisaties"', 'who may see it has it in the menu')
  },
)

t.test('figures are those of a case and a document that were made just now', async (t) => {
  const before = await figuresNow()
  t.match(before, { zaken: 0, documenten: 0 })
  const pages = {
    call: (method: string, path: string, body: unknown, options: { headers?: Record<string, string> } = {}) =>
      test.call(HOST, method, path, { body, ...options }),
  } as unknown as TestApp
  await givenZaak(pages, await givenZaaktype(pages, {}))
  await givenDocument(pages, await givenInformatieobjecttype(pages))
  t.match(await figuresNow(), { zaken: 1, documenten: 1, contentBytes: 5, sizedAt: before.sizedAt, schema: /^\d{4}-/ })
  t.match((await get(centre, '/organisaties')).text, /1 zaken<br>1 doc\./)

  async function figuresNow(): Promise<Figures> {
    await readNow()
    return (await readKept(control)).find(({ rsin }) => rsin === '000000001')!.figures!
  }
})

t.test('a database that is away is told with its moment, first of all, and no page waits for it', async (t) => {
  const since = async () => (await readKept(control)).find(({ rsin }) => rsin === '000000024')!.faultSince
  await readNow()
  const before = await since()
  await readNow()
  t.equal(await since(), before, 'it has been away for as long as that')
  const { text, ms, status } = await get(centre, '/organisaties')
  t.equal(status, 200)
  t.ok(ms < 300, `${ms} ms`)
  t.match(text, /Database weg<\/span> <span class="zacht">sinds /)
  t.ok(text.indexOf('zaken.weg.nl') < text.indexOf('>localhost'), 'it stands before one that is well')
  const one = await get(centre, '/organisaties/000000024')
  t.match(one.text, /Database weg sinds/)
  t.ok(one.ms < 300, `${one.ms} ms`)
})

t.test('no secret, password or value of a setting is in a page; names of settings are', async (t) => {
  const pages = await Promise.all(
    ['/organisaties', '/organisaties/000000024', '/organisaties/000000001'].map((path) => get(centre, path)),
  )
  const all = pages.map(({ text }) => text).join('')
  const secrets = (await readOrganisations(control, box)).flatMap(({ dataKeys, databaseUrl }) => [
    dataKeys,
    databaseUrl,
  ])
  for (const secret of [PASSWORD, SETTING, ...secrets]) t.notOk(all.includes(secret))
  t.match(all, 'LOGBOEK_DATAVERWERKINGEN_URL')
})

t.test('of one that is not whole only removing it is offered', async (t) => {
  await test.add({ rsin: '000000036', host: 'half.nl', schema: 'org_half', state: 'adding' })
  await until('the process knows it', () => parts.registry.byRsin('000000036')?.state === 'adding')
  const { text } = await get(centre, '/organisaties/000000036')
  const commands = [...text.matchAll(/id="opdracht-\d+">([^<]+)</g)].map(([, command]) => command)
  t.strictSame(commands, ['zaakstroom organisation remove 000000036 --confirm 000000036'])
  await control.sql`delete from organisation where rsin = '000000036'`
})

t.test(
  'a registry that does not answer holds up no page: what was read last is there, and said to be so',
  async (t) => {
    const overview = (sql: unknown) =>
      openOverview({ sql } as never, { all: () => [], byRsin: () => undefined }, { requests: () => 0 }, parts.config)
    const never = overview(() => new Promise(() => {}))
    const began = performance.now()
    t.strictSame(await never.kept(), { all: undefined, isLate: true })
    t.equal(await never.changes('000000001', 50, {}), undefined)
    t.ok(performance.now() - began < 600)
    let isAway = false
    const kept = overview((...given: Parameters<typeof control.sql>) =>
      isAway ? Promise.reject(new Error('away')) : control.sql(...given),
    )
    const { all } = await kept.kept()
    isAway = true
    t.strictSame(await kept.kept(), { all, isLate: true })
  },
)

t.test(
  'a hundred organisations come within the bound, with what asks for attention first, and can be filtered',
  async (t) => {
    await control.sql`
    with o as (insert into organisation (rsin, name, server, schema, sealed, state, reason)
      select lpad((500 + n)::text, 9, '0'), 'Gemeente ' || n, 'db', 'org_' || n, sealed,
        case n when 7 then 'suspended' when 9 then 'read-only' else 'active' end, case n when 9 then 'migrate: x' else '' end
      from generate_series(1, 100) n, (select sealed from organisation where rsin = '000000001') s returning id, rsin)
    insert into organisation_figures (organisation_id, asked_at, read_at, figures)
    select o.id, now(), now(), f.figures || case o.rsin when '000000511' then '{"jobs": 90, "late": 4000}'::jsonb
        when '000000513' then '{"schema": "0000-x.sql"}' else '{}' end
    from o, organisation_figures f where f.organisation_id = (select id from organisation where rsin = '000000001')`
    const all = (
      await control.sql<{ rsin: string; name: string; state: string; reason: string }[]>`
    select rsin, name, state, reason from organisation`
    ).map((row) => ({ ...row, hosts: [`h${row.rsin}.nl`], limits: {}, settings: {}, server: '', version: '' }))
    const known = parts.overview.all
    t.teardown(() => Object.assign(parts.overview, { all: known }))
    Object.assign(parts.overview, { all: () => all.map((one) => ({ ...one, settings: [], requests: 0 })) })
    const times: number[] = []
    let text = ''
    for (let n = 0; n < 5; n++) {
      const answer = await get(centre, '/organisaties')
      times.push(answer.ms)
      text = answer.text
    }
    t.ok(Math.min(...times) < 300, `${times.map(Math.round)} ms`)
    const order = [...text.matchAll(/organisaties\/(\d{9})"/g)].map(([, rsin]) => rsin)
    t.equal(order.length, 102)
    t.strictSame(order.slice(0, 5), ['000000024', '000000509', '000000507', '000000513', '000000511'])
    t.match(text, /Vraagt aandacht: 5/)
    const rows = async (query: string) =>
      [...(await get(centre, `/organisaties?${query}`)).text.matchAll(/organisaties\/(\d{9})"/g)].map(
        ([, rsin]) => rsin,
      )
    t.strictSame(await rows('staat=suspended'), ['000000507'])
    t.strictSame(await rows('staat=late'), ['000000511'])
    t.strictSame(await rows('zoek=000000513'), ['000000513'])
    t.strictSame(await rows('zoek=h000000509'), ['000000509'])
    t.strictSame(await rows('zoek=gemeente+42'), ['000000542'])
  },
)

t.test('a role that was given or taken away is told in words, with whose it is', async (t) => {
  await control.sql`
    insert into organisation_change (rsin, actor, action, account)
    values ('000000001', 'test', 'account-give', 'cent'), ('000000001', 'test', 'account-take', 'cent')`
  t.match((await get(centre, '/organisaties')).text, 'rol afgenomen')
  const { text } = await get(centre, '/organisaties/000000001')
  t.match(text, 'rol gegeven: cent')
  t.match(text, 'rol afgenomen: cent')
})

t.test('changes of one are listed by fifty, the newest first', async (t) => {
  await control.sql`
    insert into organisation_change (rsin, actor, action, fields) select '000000024', 'proef ' || n, 'set', '{limits}' from generate_series(1, 60) n`
  const first = await get(centre, '/organisaties/000000024')
  const actors = (text: string) => [...text.matchAll(/proef (\d+)/g)].map(([, n]) => Number(n))
  t.strictSame(
    actors(first.text),
    Array.from({ length: 50 }, (_, n) => 60 - n),
  )
  const [, next = ''] = /href="\/beheer([^"]+)" rel="next"/.exec(first.text) ?? []
  t.strictSame(
    actors((await get(centre, next)).text),
    Array.from({ length: 10 }, (_, n) => 10 - n),
  )
  t.equal((await get(centre, '/organisaties/000000024?na=x')).status, 200)
  t.equal((await get(centre, '/organisaties/123')).status, 404)
})

t.test('the pages are accessible, and fit a phone and a window at 200 %', await needsBrowser(), async (t) => {
  const address = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const at = `http://localhost:${address.port}`
  const browser = await openBrowser(t)
  for (const width of [1280, 640, 390]) {
    const context = await browser.newContext({ viewport: { width, height: 800 }, baseURL: at })
    await context.addCookies([{ name: 'zaakstroom', value: centre, url: at, httpOnly: true, sameSite: 'Lax' }])
    const tab = await context.newPage()
    for (const path of ['/organisaties', '/organisaties/000000024', '/organisaties?taal=en']) {
      await tab.goto(`/beheer${path}`)
      t.strictSame(await accessibilityFaults(tab), [], `${path} at ${width}`)
      t.equal(await isTooWide(tab), false, `${path} at ${width}`)
    }
    await context.close()
  }
})
