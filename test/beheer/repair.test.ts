// Repairs by hand: a role of its own, a reason, what changes first, and then the functions, rules, records and messages of the API.
import t from 'tap'
import { givenBesluittype, givenCatalogus, givenInformatieobjecttype, givenZaaktype, uuidOf } from '../app.ts'
import { form } from '../documenten/documenten.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'
import { givenDocument, givenZaak } from './given.ts'

const test = await setUpPages(t, { DOCUMENTEN_UPLOAD_CHUNK_SIZE: '4' }, (await needsBrowser()).skip === undefined)
const { sql } = test.database
const catalogus = await givenCatalogus(test)
const brief = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Brief' })
const foto = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Foto' })
const besluittype = await givenBesluittype(test, { catalogus })
const deeltype = await givenZaaktype(test, { catalogus, identificatie: 'DEEL', informatieobjecttypen: [brief] })
const zaaktype = await givenZaaktype(test, {
  catalogus,
  besluittypen: [besluittype],
  deelzaaktypen: [deeltype],
  statustypen: ['Ontvangen', 'Afgehandeld'],
  informatieobjecttypen: [brief],
})
await test.sessie('hersteller') // which makes the account
const hersteller = pagesClient(test.app)
await hersteller.login('hersteller', WACHTWOORD)
const reden = 'Verkeerd overgenomen uit de brief'

/** Sends a form and agrees to what it shows. */
async function agree(url: string, form: Record<string, string>, more: Record<string, string> = {}) {
  const shown = await hersteller.post(url, form)
  const [, gezien = ''] = /name="gezien" value="([^"]+)"/.exec(shown.body) ?? []
  if (!gezien) throw new Error(`no preview: ${shown.statusCode} ${textOf(shown.body)}`)
  return hersteller.post(url, { ...form, gezien, ...more })
}
const textOf = (body: string) => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

/** What records and messages say of changes of an object, since the last of them. */
async function recordsOf(uuid: string) {
  const trail = await sql<{ actie: string; resource: string; toelichting: string; wie: string }[]>`
    select actie, resource, toelichting, gebruikers_id as wie from audit where hoofd_object_uuid = ${uuid} and toelichting = ${reden} order by id`
  const messages = await sql<{ actie: string; resource: string }[]>`
    select actie, resource from notificatie where hoofd_object_uuid = ${uuid} and cloudevent is null order by id desc limit 1`
  const pages = await sql<{ handeling: string; gebruiker: string; nieuw: { reden: string } }[]>`
    select handeling, gebruiker, nieuw from beheer_audit where object_id = ${uuid} and handeling ~ '-(corrigeren|ontgrendelen|verplaatsen|verwijderen)$' order by id`
  return { trail: [...trail], message: messages[0], pages: [...pages] }
}
const BY_HAND = { toelichting: reden, wie: 'hersteller' }

async function zaakWithDocument(values: object = {}, type = zaaktype) {
  const zaak = await givenZaak(test, type, values)
  const document = await givenDocument(test, brief)
  const { status, text } = await test.call('POST', '/zaken/api/v1/zaakinformatieobjecten', {
    zaak: zaak.url,
    informatieobject: document.url,
    titel: 'Titel van de koppeling',
  })
  if (status !== 201) throw new Error(text)
  const { body } = await test.call('GET', document.url)
  return { zaak, document: { ...document, identificatie: body.identificatie as string } }
}
const crs = { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } }
const readZaak = async (uuid: string) => (await test.call('GET', `/zaken/api/v1/zaken/${uuid}`, undefined, crs)).body

t.test(
  'a field of a case is corrected after a reason and a look at what changes, with record and message',
  async (t) => {
    const zaak = await givenZaak(test, zaaktype, { omschrijving: 'Oud' })
    const url = `/beheer/zaken/${zaak.uuid}/herstellen/omschrijving`
    t.match((await hersteller.get(`/beheer/zaken/${zaak.uuid}`)).body, `/beheer/zaken/${zaak.uuid}/herstellen`)
    const without = await hersteller.post(url, { omschrijving: 'Nieuw', reden: ' ' })
    t.equal(without.statusCode, 400)
    t.match(without.body, 'Schrijf waarom dit nodig is')
    const shown = await hersteller.post(url, { omschrijving: 'Nieuw', reden })
    t.equal(shown.statusCode, 200)
    t.match(textOf(shown.body), /Omschrijving Oud Nieuw/)
    t.equal((await readZaak(zaak.uuid)).omschrijving, 'Oud', 'nothing has changed yet')
    const done = await agree(url, { omschrijving: 'Nieuw', reden })
    t.equal(done.statusCode, 303)
    t.equal((await readZaak(zaak.uuid)).omschrijving, 'Nieuw')
    t.same(await recordsOf(zaak.uuid), {
      trail: [{ actie: 'partial_update', resource: 'zaak', ...BY_HAND }],
      message: { actie: 'partial_update', resource: 'zaak' },
      pages: [{ handeling: 'zaak-corrigeren', gebruiker: 'hersteller', nieuw: { veld: 'omschrijving', reden } }],
    })
    t.match((await hersteller.get(`/beheer/zaken/${zaak.uuid}`)).body, 'Omschrijving is gecorrigeerd.')
    t.match((await hersteller.get(`/beheer/zaken/${zaak.uuid}/geschiedenis`)).body, `Reden: ${reden}`)
  },
)

t.test('every field that is offered can be sent as it stands', async (t) => {
  const zaak = await givenZaak(test, zaaktype, {
    verlenging: { reden: 'Druk', duur: 'P7D' },
    opschorting: { indicatie: true, reden: 'Wacht' },
    kenmerken: [{ kenmerk: 'K-1', bron: 'Bron' }],
    zaakgeometrie: { type: 'Point', coordinates: [5.12, 52.09] },
    relevanteAndereZaken: [
      { url: (await givenZaak(test, zaaktype)).url, aardRelatie: 'overig', overigeRelatie: 'Buur', toelichting: '' },
    ],
    processobject: { datumkenmerk: 'd', identificatie: 'i', objecttype: 'o', registratie: 'r' },
  })
  const document = await givenDocument(test, brief, {
    ondertekening: { soort: 'digitaal', datum: '2026-11-04' },
    integriteit: { algoritme: 'md5', waarde: 'x', datum: '2026-11-04' },
    trefwoorden: ['Een', 'Twee'],
  })
  for (const [kind, uuid] of [
    ['zaken', zaak.uuid],
    ['documenten', document.uuid],
  ] as const) {
    const { body } = await hersteller.get(`/beheer/${kind}/${uuid}/herstellen`)
    const fields = [...body.matchAll(/herstellen\/(\w+)"/g)].map(([, name]) => name!)
    t.ok(fields.length > 20, `${fields.length} fields`)
    const before = await test.call('GET', kind === 'zaken' ? zaak.url : document.url, undefined, crs)
    for (const field of fields) {
      const url = `/beheer/${kind}/${uuid}/herstellen/${field}`
      const form = formOf((await hersteller.get(url)).body)
      const shown = await hersteller.post(url, [...form.filter(([name]) => name !== 'reden'), ['reden', reden]])
      t.equal(shown.statusCode, 200, `${kind} ${field}: ${textOf(shown.body).slice(0, 600)}`)
      const changed = [...shown.body.matchAll(/<th [^>]*scope="row"[^>]*>([^<]+)<\/th>/g)].map(([, name]) => name)
      t.same(changed, kind === 'zaken' ? [] : ['Versie'], `${kind} ${field} stays what it is`)
    }
    const after = await test.call('GET', kind === 'zaken' ? zaak.url : document.url, undefined, crs)
    t.same(after.body, before.body, 'what is shown first is taken back')
  }
})

/** What a browser would send of the form in a page. */
function formOf(body: string): [string, string][] {
  const main = body.slice(body.indexOf('<form method="post" novalidate>'))
  const plain = (text: string) =>
    text
      .replace(/&quot;/g, '"')
      .replace(/&#39;/g, "'")
      .replace(/&amp;/g, '&')
  return [...main.matchAll(/<(input|select|textarea)([^>]*)>(?:([\s\S]*?)<\/\1>)?/g)].flatMap(
    ([, tag, rest, inner]): [string, string][] => {
      const [, name = ''] = /name="([^"]+)"/.exec(rest!) ?? []
      const [, value = ''] = /value="([^"]*)"/.exec(rest!) ?? []
      if (!name || name === '_csrf') return []
      if (tag === 'textarea') return [[name, plain(inner!)]]
      if (tag === 'select') return [[name, plain(/value="([^"]*)"[^>]*selected/.exec(inner!)?.[1] ?? '')]]
      if (/type="checkbox"/.test(rest!) && !/ checked/.test(rest!)) return []
      return [[name, plain(value)]]
    },
  )
}

t.test('what a rule of the API refuses is refused, and the page names the rule', async (t) => {
  const zaak = await givenZaak(test, zaaktype, { betalingsindicatie: 'nvt' })
  const refused = await hersteller.post(`/beheer/zaken/${zaak.uuid}/herstellen/laatsteBetaaldatum`, {
    laatsteBetaaldatum: '2026-01-01T00:00:00Z',
    reden,
  })
  t.equal(refused.statusCode, 400)
  t.match(refused.body, /regel zrc-014, code betaling-nvt/)
  const long = await hersteller.post(`/beheer/zaken/${zaak.uuid}/herstellen/bronorganisatie`, {
    bronorganisatie: '123',
    reden,
  })
  t.equal(long.statusCode, 400)
  t.equal((await hersteller.get(`/beheer/zaken/${zaak.uuid}/herstellen/identificatie`)).statusCode, 404)
  t.same((await recordsOf(zaak.uuid)).trail, [])
})

t.test('what changed in between is shown before anything is done', async (t) => {
  const zaak = await givenZaak(test, zaaktype, { omschrijving: 'Eerst' })
  const url = `/beheer/zaken/${zaak.uuid}/herstellen/omschrijving`
  const form = { omschrijving: 'Van mij', reden }
  const shown = await hersteller.post(url, form)
  const [, gezien = ''] = /name="gezien" value="([^"]+)"/.exec(shown.body)!
  await test.call('PATCH', zaak.url, { omschrijving: 'Van een ander' }, crs)
  const late = await hersteller.post(url, { ...form, gezien })
  t.match(late.body, 'Er is intussen iets gewijzigd.')
  t.match(textOf(late.body), /Omschrijving Van een ander Van mij/)
  t.equal((await readZaak(zaak.uuid)).omschrijving, 'Van een ander')
  t.equal((await agree(url, form)).statusCode, 303)
  t.equal((await readZaak(zaak.uuid)).omschrijving, 'Van mij')
})

t.test('only who has the role may repair, whatever his other role; and no form without its token', async (t) => {
  const { zaak, document } = await zaakWithDocument()
  const administrator = pagesClient(test.app)
  await administrator.login('administrator', WACHTWOORD)
  t.notMatch((await administrator.get(`/beheer/zaken/${zaak.uuid}`)).body, '/herstellen')
  const pages = [
    `/beheer/zaken/${zaak.uuid}/herstellen`,
    `/beheer/zaken/${zaak.uuid}/herstellen/omschrijving`,
    `/beheer/zaken/${zaak.uuid}/verwijderen`,
    `/beheer/documenten/${document.uuid}/herstellen/titel`,
    `/beheer/documenten/${document.uuid}/ontgrendelen`,
    `/beheer/documenten/${document.uuid}/verplaatsen`,
    `/beheer/documenten/${document.uuid}/verwijderen`,
    '/beheer/gereserveerde-nummers',
  ]
  for (const url of pages) {
    t.equal((await administrator.get(url)).statusCode, 403, url)
    if (/herstellen$|nummers$/.test(url)) continue
    const sent = await administrator.post(url, { reden }, '/beheer/')
    t.equal(sent.statusCode, 403, `${url}: a form`)
    t.match(sent.body, 'Hiervoor is de rol hersteller nodig.')
    const { statusCode } = await test.app.inject({
      method: 'POST',
      url,
      headers: {
        host: 'localhost',
        origin: 'http://localhost',
        'content-type': 'application/x-www-form-urlencoded',
        cookie: `zaakstroom=${await test.sessie('hersteller')}`,
      },
      payload: `reden=${encodeURIComponent(reden)}`,
    })
    t.equal(statusCode, 403, `${url}: without a token`)
  }
  const secret = await givenZaak(test, zaaktype, { vertrouwelijkheidaanduiding: 'zeer_geheim' })
  t.equal((await hersteller.get(`/beheer/zaken/${secret.uuid}/herstellen`)).statusCode, 404, 'above his level')
})

t.test('an administrator gives the role with the account, and the log has it', async (t) => {
  const administrator = pagesClient(test.app)
  await administrator.login('administrator', WACHTWOORD)
  await administrator.confirm(WACHTWOORD)
  const [account] = await sql<[{ uuid: string }]>`select uuid from beheer_account where gebruikersnaam = 'operator'`
  const url = `/beheer/accounts/${account.uuid}`
  const fields = { rol: 'operator', maxVertrouwelijkheidaanduiding: 'vertrouwelijk', actief: 'true' }
  const mayRepair = async () =>
    (await sql`select may_repair from beheer_account where uuid = ${account.uuid}`)[0]!.may_repair
  t.equal((await administrator.post(url, { ...fields, mayRepair: 'true' })).statusCode, 303)
  t.equal(await mayRepair(), true)
  t.match((await administrator.get('/beheer/accounts')).body, 'operator, hersteller')
  const [record] =
    await sql`select oud, nieuw from beheer_audit where object_id = ${account.uuid} order by id desc limit 1`
  t.match(record, { oud: { mayRepair: false }, nieuw: { mayRepair: true } })
  t.equal((await administrator.post(url, fields)).statusCode, 303)
  t.equal(await mayRepair(), false)
})

t.test('drc-009: a document is corrected in a new version, but not while somebody has locked it', async (t) => {
  const document = await givenDocument(test, brief)
  const url = `/beheer/documenten/${document.uuid}/herstellen/titel`
  const { body } = await test.call('POST', `${document.url}/lock`)
  const refused = await hersteller.post(url, { titel: 'Beter', reden })
  t.equal(refused.statusCode, 400)
  t.match(refused.body, 'regel drc-009, code existing-lock')
  await test.call('POST', `${document.url}/unlock`, { lock: body.lock })
  t.equal((await agree(url, { titel: 'Beter', reden })).statusCode, 303)
  const after = (await test.call('GET', document.url)).body
  t.match(after, { titel: 'Beter', versie: 2, locked: false, bestandsomvang: 5 })
  t.match(await recordsOf(document.uuid), {
    trail: [{ actie: 'partial_update', resource: 'enkelvoudiginformatieobject', ...BY_HAND }],
    message: { actie: 'partial_update', resource: 'enkelvoudiginformatieobject' },
    pages: [{ handeling: 'document-corrigeren', nieuw: { veld: 'titel', reden } }],
  })
})

t.test('a document that a client left locked is unlocked, with record and message', async (t) => {
  const document = await givenDocument(test, brief)
  const url = `/beheer/documenten/${document.uuid}/ontgrendelen`
  const free = await hersteller.post(url, { reden })
  t.equal(free.statusCode, 400)
  t.match(free.body, 'Het document is niet vergrendeld.')
  await test.call('POST', `${document.url}/lock`)
  t.match((await hersteller.get(`/beheer/documenten/${document.uuid}/herstellen`)).body, url)
  t.equal((await agree(url, { reden })).statusCode, 303)
  t.equal((await test.call('GET', document.url)).body.locked, false)
  t.match(await recordsOf(document.uuid), {
    trail: [{ actie: 'partial_update', resource: 'enkelvoudiginformatieobject', ...BY_HAND }],
    message: { actie: 'partial_update', resource: 'enkelvoudiginformatieobject' },
    pages: [{ handeling: 'document-ontgrendelen', nieuw: { reden } }],
  })
  t.match((await hersteller.get(`/beheer/documenten/${document.uuid}`)).body, 'Document ontgrendeld')
})

t.test(
  'unlocking ends an upload in parts: complete parts become the content, others are given up after typing the number',
  async (t) => {
    const two = async () => {
      const made = await test.call('POST', '/documenten/api/v1/enkelvoudiginformatieobjecten', {
        informatieobjecttype: brief,
        bronorganisatie: '000000000',
        creatiedatum: '2026-11-20',
        titel: 'In delen',
        auteur: 'A. Schrijver',
        taal: 'nld',
        bestandsomvang: 8,
      })
      return made.body as {
        url: string
        identificatie: string
        lock: string
        bestandsdelen: { url: string; omvang: number }[]
      }
    }
    const put = async ({ bestandsdelen, lock }: Awaited<ReturnType<typeof two>>, place: number) => {
      const { url, omvang } = bestandsdelen[place]!
      const { body, headers } = form({ lock }, Buffer.alloc(omvang, 'x'))
      const answer = await test.call('PUT', url, body, { headers })
      if (answer.status !== 200) throw new Error(answer.text)
    }
    const incomplete = await two()
    await put(incomplete, 0)
    const url = `/beheer/documenten/${uuidOf(incomplete.url)}/ontgrendelen`
    t.match((await hersteller.post(url, { reden })).body, 'Ontvangen zijn 1 van de 2 bestandsdelen.')
    t.equal((await agree(url, { reden }, { getypt: 'iets anders' })).statusCode, 400)
    t.equal((await agree(url, { reden }, { getypt: incomplete.identificatie })).statusCode, 303)
    t.match((await test.call('GET', incomplete.url)).body, { locked: false, bestandsomvang: null, bestandsdelen: [] })

    const complete = await two()
    await put(complete, 0)
    await put(complete, 1)
    t.equal((await agree(`/beheer/documenten/${uuidOf(complete.url)}/ontgrendelen`, { reden })).statusCode, 303)
    const { body } = await test.call('GET', complete.url)
    t.match(body, { locked: false, bestandsomvang: 8, bestandsdelen: [] })
    t.equal((await test.call('GET', body.inhoud)).text, 'xxxxxxxx')
  },
)

t.test('a document moves to another case, by the rules of that case (zrc-017)', async (t) => {
  const { zaak, document } = await zaakWithDocument()
  const url = `/beheer/documenten/${document.uuid}/verplaatsen`
  const elsewhere = await givenZaak(
    test,
    await givenZaaktype(test, { catalogus, identificatie: 'FOTO', informatieobjecttypen: [foto] }),
  )
  const form = { van: zaak.uuid, naar: elsewhere.identificatie, reden }
  const refused = await hersteller.post(url, form)
  t.equal(refused.statusCode, 400)
  t.match(refused.body, 'regel zrc-017, code missing-zaaktype-informatieobjecttype-relation')
  const none = await hersteller.post(url, { ...form, naar: 'ZAAK-BESTAAT-NIET' })
  t.match(none.body, 'Deze zaak is er niet')
  const other = await givenZaak(test, zaaktype)
  t.equal((await agree(url, { ...form, naar: other.identificatie })).statusCode, 303)
  const zios = await test.call(
    'GET',
    `/zaken/api/v1/zaakinformatieobjecten?informatieobject=${encodeURIComponent(document.url)}`,
  )
  t.match(zios.body, [{ zaak: other.url, titel: 'Titel van de koppeling' }])
  t.equal(zios.body.length, 1)
  const oios = await test.call(
    'GET',
    `/documenten/api/v1/objectinformatieobjecten?informatieobject=${encodeURIComponent(document.url)}`,
  )
  t.match(oios.body, [{ object: other.url }])
  t.equal(oios.body.length, 1)
  t.match((await recordsOf(zaak.uuid)).trail, [{ actie: 'destroy', resource: 'zaakinformatieobject', ...BY_HAND }])
  t.match(await recordsOf(other.uuid), {
    trail: [{ actie: 'create', resource: 'zaakinformatieobject', ...BY_HAND }],
    message: { actie: 'create', resource: 'zaakinformatieobject' },
  })
  t.match((await recordsOf(document.uuid)).pages, [{ handeling: 'document-verplaatsen', nieuw: { reden } }])
})

t.test('zrc-023: a case is deleted with what hangs on it, after its number was typed', async (t) => {
  const { zaak, document } = await zaakWithDocument()
  const { zaak: deelzaak } = await zaakWithDocument({ hoofdzaak: zaak.url }, deeltype)
  const url = `/beheer/zaken/${zaak.uuid}/verwijderen`
  const shown = textOf((await hersteller.post(url, { reden })).body)
  t.match(shown, `Deelzaak ${deelzaak.identificatie} gaat mee.`)
  t.match(shown, `Document ${document.identificatie} blijft, en hoort daarna nergens meer bij.`)
  const untyped = await agree(url, { reden }, { getypt: 'ZAAK' })
  t.equal(untyped.statusCode, 400)
  t.match(untyped.body, 'dit kan niet ongedaan worden gemaakt')
  t.equal((await agree(url, { reden }, { getypt: zaak.identificatie })).statusCode, 303)
  for (const one of [zaak, deelzaak]) t.equal((await test.call('GET', one.url, undefined, crs)).status, 404)
  t.equal((await test.call('GET', document.url)).status, 200, 'documents stay')
  t.match(await recordsOf(zaak.uuid), {
    trail: [],
    message: { actie: 'destroy', resource: 'zaak' },
    pages: [{ handeling: 'zaak-verwijderen', gebruiker: 'hersteller', nieuw: { reden } }],
  })
})

t.test('besluiten keep a case, unless they go along; and documents that hang on nothing else may', async (t) => {
  const { zaak, document } = await zaakWithDocument()
  const shared = await zaakWithDocument()
  await test.call('POST', '/zaken/api/v1/zaakinformatieobjecten', {
    zaak: zaak.url,
    informatieobject: shared.document.url,
  })
  const besluit = await test.call('POST', '/besluiten/api/v1/besluiten', {
    besluittype,
    zaak: zaak.url,
    verantwoordelijkeOrganisatie: '000000000',
    datum: '2026-11-01',
    ingangsdatum: '2026-11-02',
  })
  t.equal(besluit.status, 201, besluit.text)
  const url = `/beheer/zaken/${zaak.uuid}/verwijderen`
  const refused = await hersteller.post(url, { reden })
  t.equal(refused.statusCode, 400)
  t.match(refused.body, 'regel zrc-023, code related-besluiten')
  const form = { besluiten: 'true', documenten: 'true', reden }
  const shown = textOf((await hersteller.post(url, form)).body)
  t.match(shown, `Besluit ${besluit.body.identificatie} wordt verwijderd.`)
  t.match(shown, `Document ${document.identificatie} hoort bij niets anders en wordt verwijderd`)
  t.match(shown, 'Aantal andere documenten dat blijft: 1.')
  t.equal((await agree(url, form, { getypt: zaak.identificatie })).statusCode, 303)
  t.equal((await test.call('GET', besluit.body.url)).status, 404)
  t.equal((await test.call('GET', document.url)).status, 404)
  t.equal((await test.call('GET', shared.document.url)).status, 200)
  t.match((await recordsOf(document.uuid)).message, { actie: 'destroy' })
  t.match((await recordsOf(uuidOf(besluit.body.url))).message, { actie: 'destroy' })
})

t.test('drc-008: a document is deleted when it belongs to nothing', async (t) => {
  const { document } = await zaakWithDocument()
  const refused = await hersteller.post(`/beheer/documenten/${document.uuid}/verwijderen`, { reden })
  t.equal(refused.statusCode, 400)
  t.match(refused.body, 'code pending-relations')
  const loose = await givenDocument(test, brief)
  const { identificatie } = (await test.call('GET', loose.url)).body
  const url = `/beheer/documenten/${loose.uuid}/verwijderen`
  t.equal((await agree(url, { reden }, { getypt: identificatie })).statusCode, 303)
  t.equal((await test.call('GET', loose.url)).status, 404)
  t.match(await recordsOf(loose.uuid), {
    message: { actie: 'destroy' },
    pages: [{ handeling: 'document-verwijderen' }],
  })
})

t.test('a reserved number is ended once', async (t) => {
  const zaaknummer = (await test.call('POST', '/zaken/api/v1/zaaknummer_reserveren', { bronorganisatie: '517439943' }))
    .body.zaaknummer
  const documentnummer = (
    await test.call('POST', '/documenten/api/v1/documentnummer_reserveren', { bronorganisatie: '517439943' })
  ).body.identificatie
  for (const [soort, nummer] of [
    ['zaak', zaaknummer],
    ['document', documentnummer],
  ] as const) {
    t.match(
      (await hersteller.get(`/beheer/gereserveerde-nummers?soort=${soort}&zoek=${nummer.slice(0, 9)}`)).body,
      nummer,
    )
    const url = `/beheer/gereserveerde-nummers/beeindigen?soort=${soort}&nummer=${nummer}&bronorganisatie=517439943`
    t.equal((await hersteller.post(url, {})).statusCode, 400, 'a reason is asked')
    t.equal((await agree(url, { reden }, { getypt: 'nee' })).statusCode, 400)
    t.equal((await agree(url, { reden }, { getypt: nummer })).statusCode, 303)
    t.equal((await hersteller.get(url)).statusCode, 404)
    const [record] =
      await sql`select oud, nieuw from beheer_audit where handeling = 'nummer-beeindigen' and object_weergave = ${nummer}`
    t.match(record, { oud: { identificatie: nummer, bronorganisatie: '517439943' }, nieuw: { reden } })
  }
})

t.test('the pages of repairs', await needsBrowser(), async (t) => {
  const { zaak, document } = await zaakWithDocument({ omschrijving: 'Aanvraag', toelichting: 'Met een toelichting' })
  await test.call('POST', `${document.url}/lock`)
  await test.call('POST', '/zaken/api/v1/zaaknummer_reserveren', { bronorganisatie: '517439943', aantal: 2 })
  await t.test('are accessible, and fit at 1280 and 320 pixels', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'hersteller')
    const look = async (name: string) => {
      for (const width of [1280, 320]) {
        await tab.setViewportSize({ width, height: 800 })
        t.same(await accessibilityFaults(tab), [], `${name} at ${width}`)
        t.equal(await isTooWide(tab), false, `${name} fits in ${width}`)
      }
    }
    for (const path of [
      `/zaken/${zaak.uuid}/herstellen`,
      `/zaken/${zaak.uuid}/herstellen/verlenging`,
      `/zaken/${zaak.uuid}/verwijderen`,
      `/documenten/${document.uuid}/herstellen`,
      `/documenten/${document.uuid}/verplaatsen`,
      '/gereserveerde-nummers',
    ]) {
      t.equal((await tab.goto(`/beheer${path}`))?.status(), 200, path)
      await look(path)
    }
    await tab.goto(`/beheer/zaken/${zaak.uuid}/verwijderen`)
    await tab.fill('#veld-reden', reden)
    await tab.click('text=Bekijk wat er verandert')
    await look('what changes')
    await tab.click('text=Zaak verwijderen')
    await look('what has to be typed')
    t.match(await tab.textContent('main'), `Typ precies ${zaak.identificatie}`)
    t.same(klachten, [])
  })

  await t.test('work without script and by keyboard, also on the way back', async (t) => {
    const { tab } = await asBeheerder(test, 'hersteller', { javaScriptEnabled: false })
    await tab.goto(`/beheer/zaken/${zaak.uuid}/herstellen/omschrijving`)
    await tab.fill('#veld-omschrijving', 'Zonder script')
    await tab.press('#veld-omschrijving', 'Tab')
    await tab.keyboard.type(reden)
    await tab.press('#veld-reden', 'Tab')
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('text=Wat er verandert')
    await tab.click('text=Terug en aanpassen')
    t.equal(await tab.inputValue('#veld-omschrijving'), 'Zonder script')
    t.equal(await tab.inputValue('#veld-reden'), reden)
    await tab.click('text=Bekijk wat er verandert')
    await tab.click('main button.knop')
    await tab.waitForSelector('text=Omschrijving is gecorrigeerd.')
    t.equal((await readZaak(zaak.uuid)).omschrijving, 'Zonder script')
  })
})
