// Slow: every page is read at each of eight levels.
// What somebody sees of what is above his level: nothing, on no page that he can come to.
import t from 'tap'
import { createAccount } from '../../src/beheer/accounts/accounts.ts'
import { ROLLEN } from '../../src/beheer/frame/session.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../../src/core/vertrouwelijkheidaanduiding.ts'
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

t.test('at every level somebody sees what is up to it, and nothing above', async (t) => {
  const test = await testApp(t, { NOTIFICATIES_MODE: 'ingebouwd' })
  const { db, sql } = test.database
  const type = await givenInformatieobjecttype(test)
  const zaaktype = await givenZaaktype(test)
  await givenFile(test, 'brief.txt')
  const markOf = (n: number) => `${MARK}${'abcdefgh'[n]}`
  const { uuid } = await runImport(
    test,
    csvText(
      VERTROUWELIJKHEIDAANDUIDINGEN.map((vertrouwelijkheidaanduiding, n) =>
        goodRow(type, 'brief.txt', { titel: markOf(n), vertrouwelijkheidaanduiding }),
      ),
    ),
  )
  const asked = ['', '/rijen', '/rapport'].map((page) => `/beheer/imports/${uuid}${page}`)
  for (const [n, vertrouwelijkheidaanduiding] of VERTROUWELIJKHEIDAANDUIDINGEN.entries()) {
    const zaak = await givenZaak(test, zaaktype, {
      vertrouwelijkheidaanduiding,
      omschrijving: markOf(n),
      identificatie: markOf(n),
    })
    await sql`insert into beheer_audit (gebruiker, handeling, object_kind, object_id, object_weergave)
      values ('x', 'zaak-corrigeren', 'zaak', ${zaak.uuid}, ${markOf(n)})`
    asked.push(`/beheer/zaken/${zaak.uuid}`, `/beheer/notificaties?object=${zaak.uuid}`)
  }
  for (const [n, maxVertrouwelijkheidaanduiding] of VERTROUWELIJKHEIDAANDUIDINGEN.entries()) {
    const rol = ROLLEN[n % ROLLEN.length]!
    await createAccount(db, { gebruikersnaam: `n${n}`, rol, wachtwoord: WACHTWOORD, maxVertrouwelijkheidaanduiding })
    const client = pagesClient(test.app)
    await client.login(`n${n}`, WACHTWOORD)
    const pages = await crawl(client, [
      ...asked,
      '/beheer/zaken',
      '/beheer/documenten',
      '/beheer/audit',
      '/beheer/notificaties',
    ])
    const told = new Set([...pages.values()].flatMap((body) => body.match(new RegExp(`${MARK}[a-h]`, 'g')) ?? []))
    const wanted = VERTROUWELIJKHEIDAANDUIDINGEN.slice(0, n + 1).map((_, place) => markOf(place))
    t.strictSame([...told].sort(), wanted, `${rol} up to ${maxVertrouwelijkheidaanduiding}, ${pages.size} pages`)
  }
})

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

  t.test('an administrator asks what somebody sees, and why, and is told nothing above his own level', async (t) => {
    await sql`update zaak set vertrouwelijkheidaanduiding = 'intern' where uuid = ${zaak.uuid}`
    await sql`insert into zaakinformatieobject (zaak_id, enkelvoudiginformatieobject_id)
      select z.id, d.id from zaak z, enkelvoudiginformatieobject d where z.uuid = ${zaak.uuid} and d.uuid = ${document.uuid}`
    const [viewer] = await sql<[{ uuid: string }]>`select uuid from beheer_account where gebruikersnaam = 'viewer'`
    const ask = async (who: PagesClient, what: string) =>
      (await who.get(`/beheer/accounts/${viewer.uuid}/ziet?wat=${encodeURIComponent(what)}`)).body.replace(/\s+/g, ' ')
    const row = (name: string, seen: number, all: number) =>
      new RegExp(`${name}</th> ?<td[^>]*>${seen}</td> ?<td[^>]*>${all}</td>`)
    t.match(
      await ask(client, `${MARK}-1`),
      /ziet deze persoon niet<\/span> Het niveau is intern, en dit account ziet niet verder dan openbaar/,
    )
    t.match(await ask(client, uuid), row('Inhoud van rijen', 1, 3))
    await sql`update beheer_account set max_vertrouwelijkheidaanduiding = 'intern' where uuid = ${viewer.uuid}`
    const seen = await ask(client, zaak.uuid)
    t.match(seen, /ziet deze persoon<\/span> Het niveau is intern, en dit account ziet tot en met intern/)
    t.match(seen, row('Documenten', 0, 1), 'a document of it has a level of its own')
    t.match(await ask(client, `${MARK}-2`), /ziet deze persoon niet/)
    await sql`update beheer_account set actief = false where uuid = ${viewer.uuid}`
    t.match(await ask(client, zaak.uuid), /ziet deze persoon niet<\/span> Het account is niet actief/)
    const low = pagesClient(test.app)
    await low.login('administrator', WACHTWOORD)
    t.match(await ask(low, `${MARK}-2`), /Dit is er niet, of het is vertrouwelijker dan u zelf mag zien/)
    const operator = pagesClient(test.app)
    await operator.login('operator', WACHTWOORD)
    t.equal((await operator.get(`/beheer/accounts/${viewer.uuid}/ziet`)).statusCode, 403)
  })

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
