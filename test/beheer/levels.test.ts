// What somebody sees of what is above his level: nothing, on no page that he can come to.
import t from 'tap'
import { createAccount } from '../../src/beheer/accounts/accounts.ts'
import { ROLLEN } from '../../src/beheer/frame/session.ts'
import { givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { csvText, givenFile, goodRow, runImport } from '../documenten/importing.ts'
import { WACHTWOORD } from './browser.ts'
import { type PagesClient, pagesClient } from './browser-client.ts'
import { givenDocument, givenZaak } from './given.ts'
import './quick-hash.ts'

/** In every text of what is secret. */
const MARK = 'Merk'
const MOST = 1500

/** All that can be reached from the first page by links, and what is asked by address beside. */
async function crawl(client: PagesClient, more: string[]): Promise<Map<string, string>> {
  const seen = new Map<string, string>()
  const kinds = new Map<string, number>()
  const queue = ['/beheer/', ...more]
  for (let path = queue.shift(); path !== undefined && seen.size < MOST; path = queue.shift()) {
    // Of addresses that differ in numbers alone a few are enough.
    const kind = path.replace(/[0-9a-f-]{36}|\d+|=[^&]*/g, '*')
    const count = (kinds.get(kind) ?? 0) + 1
    kinds.set(kind, count)
    if (seen.has(path) || count > 4 || /stroom$|uitloggen|\/handleiding|taal=/.test(path)) continue
    const { body, headers } = await client.get(path)
    seen.set(path, body)
    if (!String(headers['content-type']).startsWith('text/html')) continue
    for (const [, href = ''] of body.matchAll(/href="([^"#]*)/g)) {
      const url = new URL(href.replaceAll('&amp;', '&'), `http://localhost${path}`)
      if (url.host === 'localhost' && url.pathname.startsWith('/beheer/')) queue.push(url.pathname + url.search)
    }
  }
  return seen
}

t.test('no role shows what is above the level of the account, wherever its links lead', async (t) => {
  const test = await testApp(t, { NOTIFICATIES_MODE: 'ingebouwd' })
  const { db, sql } = test.database
  const secret = { vertrouwelijkheidaanduiding: 'zeer_geheim' }
  const type = await givenInformatieobjecttype(test)
  await givenFile(test, 'brief.txt')
  const row = (values: object) => goodRow(type, 'brief.txt', { ...values, vertrouwelijkheidaanduiding: 'zeer_geheim' })
  const rows = [
    row({ titel: `${MARK} een` }),
    row({ titel: `${MARK} twee`, auteur: '' }),
    goodRow(type, 'brief.txt', { titel: 'Gewoon', vertrouwelijkheidaanduiding: 'openbaar' }),
  ]
  const { uuid } = await runImport(test, csvText(rows))
  const zaak = await givenZaak(test, await givenZaaktype(test), {
    ...secret,
    omschrijving: `${MARK} zaak`,
    identificatie: `${MARK}-1`,
  })
  const document = await givenDocument(test, type, { ...secret, titel: `${MARK} document`, identificatie: `${MARK}-2` })
  await sql`insert into beheer_audit (gebruiker, handeling, object_kind, object_id, object_weergave, nieuw)
    values ('x', 'zaak-corrigeren', 'zaak', ${zaak.uuid}, ${`${MARK}-1`}, ${sql.json({ veld: MARK })})`
  const messages = await sql<{ uuid: string }[]>`
    select uuid from notificatie where hoofd_object_uuid in (${zaak.uuid}, ${document.uuid})`
  const [audit] = await sql<[{ id: number }]>`select max(id) as id from beheer_audit`
  const asked = [
    ...['', '/rijen', '/rijen?resultaat=mislukt', '/rapport', '/niet-geimporteerd'].map(
      (page) => `/beheer/imports/${uuid}${page}`,
    ),
    ...messages.map((one) => `/beheer/notificaties/${one.uuid}`),
    ...[`/beheer/zaken/${zaak.uuid}`, `/beheer/documenten/${document.uuid}`, `/beheer/audit/${audit.id}`],
    ...[
      '/beheer/audit',
      '/beheer/audit/export.csv',
      `/beheer/notificaties?object=${zaak.uuid}`,
      `/beheer/zoeken?zoek=${MARK}`,
    ],
  ]
  const secrets = [MARK, zaak.uuid, document.uuid]
  const told = (pages: Map<string, string>) =>
    [...pages]
      // Its own address, which he typed, a page may repeat.
      .filter(([path, body]) =>
        secrets.some((text) => !path.includes(text) && body.replaceAll(path, '').includes(text)),
      )
      .map(([path]) => path)

  for (const rol of ROLLEN) {
    const account = { rol, wachtwoord: WACHTWOORD }
    await createAccount(db, { ...account, gebruikersnaam: rol, maxVertrouwelijkheidaanduiding: 'openbaar' })
    const client = pagesClient(test.app)
    t.equal((await client.login(rol, WACHTWOORD)).statusCode, 303)
    const pages = await crawl(client, asked)
    t.ok(pages.size > 60, `${rol}: ${pages.size} pages`)
    t.strictSame(told(pages), [], `${rol}, up to openbaar`)
    t.match(pages.get(`/beheer/imports/${uuid}/rapport`), /Gewoon/, 'what he may see is there')
  }
  await createAccount(db, {
    gebruikersnaam: 'alles',
    rol: 'administrator',
    wachtwoord: WACHTWOORD,
    maxVertrouwelijkheidaanduiding: 'zeer_geheim',
  })
  const client = pagesClient(test.app)
  await client.login('alles', WACHTWOORD)
  const pages = await crawl(client, asked)
  t.equal(messages.length, 2)
  for (const path of asked.slice(1))
    t.ok(
      secrets.some((text) => pages.get(path)?.includes(text)),
      `${path} tells somebody up to zeer_geheim`,
    )

  t.test('somebody makes no draft of rows that he may not see, and sees the rows of a file of his own', async (t) => {
    const operator = pagesClient(test.app)
    await operator.login('operator', WACHTWOORD)
    const again = () => operator.post(`/beheer/imports/${uuid}/opnieuw`, {}, `/beheer/imports/${uuid}`)
    t.match(await again(), { statusCode: 403, body: /vertrouwelijker zijn dan u mag zien/ })
    await sql`update import set started_by = 'operator'`
    t.match((await operator.get(`/beheer/imports/${uuid}/rijen`)).body, `${MARK} een`)
    t.equal((await again()).statusCode, 303)
  })
})
