import t from 'tap'
import { givenBesluittype, givenClient, givenZaaktype, type TestApp, testApp, uuidOf } from '../app.ts'
import { CRS, givenResultaattype, givenZaak, ZAKEN } from '../zaken/given.ts'
import { BESLUITEN, BIO, besluitBody, faults, givenBesluit, givenTypen, made } from './given.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const SCOPES = ['lezen', 'aanmaken', 'bijwerken', 'verwijderen'].map((name) => `besluiten.${name}`)
const test = await testApp(t)
const post = (body: object, as?: string) => test.call('POST', BESLUITEN, body, as ? { as } : {})
const patch = (url: string, body: object, as?: string) => test.call('PATCH', url, body, as ? { as } : {})

/** Closed without a status: what counts here is only that it is closed. */
const close = ({ database }: TestApp, zaak: string) =>
  database.sql`update zaak set einddatum = '2026-05-01' where uuid = ${uuidOf(zaak)}`

const zaakbesluiten = (zaak: string) => test.database.sql<
  { ingangsdatum: string; vervaldatum: string | null; uuid: string }[]
>`
  select s.besluit_uuid as uuid, s.ingangsdatum, s.vervaldatum from zaakbesluit s join zaak z on z.id = s.zaak_id
  where z.uuid = ${uuidOf(zaak)} order by s.id`

t.test('a besluit needs little, and answers with all its fields', async (t) => {
  const besluittype = await givenBesluittype(test)
  const { url, identificatie, ...rest } = made(await post(besluitBody(besluittype)))
  t.match(url, /^http:\/\/localhost\/besluiten\/api\/v1\/besluiten\/[0-9a-f-]{36}$/)
  t.match(identificatie, /^BESLUIT-2024-\d{10}$/)
  t.same(rest, {
    verantwoordelijkeOrganisatie: '517439943',
    besluittype,
    zaak: '',
    datum: '2024-03-01',
    toelichting: '',
    bestuursorgaan: '',
    ingangsdatum: '2024-03-02',
    vervaldatum: null,
    vervalreden: '',
    vervalredenWeergave: '',
    publicatiedatum: null,
    verzenddatum: null,
    uiterlijkeReactiedatum: null,
  })
  const values = {
    identificatie: 'B/1 ë',
    toelichting: 'Waarom',
    bestuursorgaan: 'College',
    vervaldatum: '2020-01-01',
    vervalreden: 'ingetrokken_belanghebbende',
    publicatiedatum: '2024-03-03',
    verzenddatum: '2024-03-04',
    uiterlijkeReactiedatum: '2024-04-04',
    ingangsdatum: '2999-01-01',
  }
  const full = await post(besluitBody(besluittype, values))
  t.match(full.body, { ...values, vervalredenWeergave: 'Besluit ingetrokken o.v.v. belanghebbende' })
  t.same((await test.call('GET', full.body.url)).body, full.body)
})

t.test('null in optional fields counts as absent, and unlinks the case in a PATCH', async (t) => {
  const { besluittype, zaak } = await givenTypen(test)
  const none = { zaak: null, toelichting: null, vervalreden: null, bestuursorgaan: null, identificatie: null }
  t.match(made(await post(besluitBody(besluittype, none))), { zaak: '', toelichting: '', vervalreden: '' })
  const { url } = made(await post(besluitBody(besluittype, { zaak: (await zaak()).url })))
  t.match(await patch(url, { zaak: null }), { status: 200, body: { zaak: '' } })
})

t.test('a PUT has what is required, and keeps what it does not name, as a PATCH does', async (t) => {
  const besluittype = await givenBesluittype(test)
  const values = { toelichting: 'Oud', vervaldatum: '2025-01-01', vervalreden: 'tijdelijk' }
  const { url, identificatie } = await givenBesluit(test, { besluittype, ...values })
  const patched = await patch(url, { bestuursorgaan: 'Raad' })
  t.match(patched, { status: 200, body: { ...values, identificatie, bestuursorgaan: 'Raad', datum: '2024-03-01' } })
  const put = await test.call('PUT', url, besluitBody(besluittype, { toelichting: 'Nieuw' }))
  t.match(put, { status: 200, body: { ...values, identificatie, toelichting: 'Nieuw', bestuursorgaan: 'Raad' } })
  t.same((await test.call('GET', url)).body, put.body)
})

t.test('the shape of every field is checked, and all faults are told at once', async (t) => {
  const answer = await post({
    identificatie: 'x'.repeat(51),
    verantwoordelijkeOrganisatie: '12345678a',
    besluittype: 'geen url',
    zaak: 'ook niet',
    datum: '2024-02-30',
    bestuursorgaan: 'x'.repeat(51),
    vervalreden: 'zomaar',
    publicatiedatum: 'gisteren',
  })
  t.equal(answer.status, 400)
  for (const fault of [
    'identificatie: max_length',
    'verantwoordelijkeOrganisatie: only-digits',
    'besluittype: bad-url',
    'zaak: bad-url',
    'datum: invalid',
    'bestuursorgaan: max_length',
    'ingangsdatum: required',
    'vervalreden: invalid_choice',
    'publicatiedatum: invalid',
  ])
    t.ok(faults(answer).includes(fault), fault)
  const type = await givenBesluittype(test)
  t.same(faults(await post(besluitBody(type, { verantwoordelijkeOrganisatie: '123456789' }))), [
    'verantwoordelijkeOrganisatie: invalid',
  ])
  t.same(faults(await post(besluitBody(`${type}${'a'.repeat(200)}`))), ['besluittype: max_length'])
  const later = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10) // also when it is almost midnight
  t.same(faults(await post(besluitBody(type, { datum: later }))), ['datum: future_not_allowed'])
  const { url } = await givenBesluit(test)
  t.same(faults(await patch(url, { datum: later })), ['datum: future_not_allowed'])
  t.same(faults(await patch(url, { datum: null, ingangsdatum: null })), ['datum: null', 'ingangsdatum: null'])
})

t.test('rules that are broken together are told together, in the order of the fields', async (t) => {
  const typen = await givenTypen(test)
  await typen.besluit({ identificatie: 'SAMEN' })
  const broken = { identificatie: 'SAMEN', zaak: typen.zaaktype, datum: '2999-01-01' }
  t.same(faults(await post(besluitBody(typen.besluittype, broken))), [
    'identificatie: identificatie-niet-uniek',
    'zaak: invalid-resource',
    'datum: future_not_allowed',
  ])
  const concept = await givenBesluittype(test, { concept: true })
  const strange = (await typen.zaak()).url
  t.same(faults(await post(besluitBody(concept, { zaak: strange }))), [
    'besluittype: not-published',
    'nonFieldErrors: zaaktype-mismatch',
  ])
})

t.test('brc-001: the besluittype exists, is published, and stays', async (t) => {
  const { besluittype, zaaktype } = await givenTypen(test)
  const concept = await givenBesluittype(test, { concept: true })
  const other = await givenBesluittype(test)
  const unknown = besluittype.replace(uuidOf(besluittype), UNKNOWN)
  t.same(faults(await post(besluitBody(unknown))), ['besluittype: bad-url'])
  t.same(faults(await post(besluitBody('https://nergens.example/besluittypen/1'))), ['besluittype: bad-url'])
  t.same(faults(await post(besluitBody(zaaktype))), ['besluittype: invalid-resource'])
  t.same(faults(await post(besluitBody(concept))), ['besluittype: not-published'])
  const { url } = await givenBesluit(test, { besluittype })
  t.same(faults(await patch(url, { besluittype: other })), ['besluittype: wijzigen-niet-toegelaten'])
  t.same(faults(await patch(url, { besluittype: unknown })), ['besluittype: bad-url'])
  t.same(faults(await test.call('PUT', url, besluitBody(concept))), [
    'besluittype: not-published',
    'besluittype: wijzigen-niet-toegelaten',
  ])
  t.equal((await patch(url, { besluittype })).status, 200)
  t.equal((await test.call('DELETE', besluittype)).status, 409, 'and is not deleted')
})

t.test('brc-002: number and organisation are unique together, and stay', async (t) => {
  const besluittype = await givenBesluittype(test)
  const { url } = await givenBesluit(test, { besluittype, identificatie: 'UNIEK-1' })
  const again = besluitBody(besluittype, { identificatie: 'UNIEK-1' })
  t.same(faults(await post(again)), ['identificatie: identificatie-niet-uniek'])
  made(await post({ ...again, verantwoordelijkeOrganisatie: '296648875' }))
  t.same(faults(await patch(url, { identificatie: 'UNIEK-2', verantwoordelijkeOrganisatie: '296648875' })), [
    'identificatie: wijzigen-niet-toegelaten',
    'verantwoordelijkeOrganisatie: wijzigen-niet-toegelaten',
  ])
  t.equal((await test.call('PUT', url, again)).status, 200)
})

t.test('brc-002: of requests with one number at the same moment, one is taken', async (t) => {
  const besluittype = await givenBesluittype(test)
  const body = besluitBody(besluittype, { identificatie: 'TEGELIJK' })
  const answers = await Promise.all(Array.from({ length: 6 }, () => post(body)))
  t.same(answers.map(({ status }) => status).sort(), [201, 400, 400, 400, 400, 400])
  for (const answer of answers.filter(({ status }) => status === 400))
    t.same(faults(answer), ['identificatie: identificatie-niet-uniek'])
})

t.test('brc-002: generated numbers pass over those that are taken, and never come twice', async (t) => {
  const besluittype = await givenBesluittype(test)
  const [first, ...rest] = await Promise.all(
    Array.from({ length: 5 }, () => givenBesluit(test, { besluittype, datum: '2023-01-01' })),
  )
  t.equal(new Set([first, ...rest].map(({ identificatie }) => identificatie)).size, 5)
  const [{ last_value }] = (await test.database.sql`select last_value from besluit_nummer`) as never as [
    { last_value: number },
  ]
  const taken = `BESLUIT-2023-${String(last_value + 3).padStart(10, '0')}`
  for (const ahead of [1, 2, 3]) {
    const identificatie = `BESLUIT-2023-${String(last_value + ahead).padStart(10, '0')}`
    await givenBesluit(test, { besluittype, identificatie })
  }
  const { identificatie } = await givenBesluit(test, { besluittype, datum: '2023-01-01' })
  t.ok(identificatie > taken, `${identificatie} comes after ${taken}`)
})

t.test('brc-006: a besluit shows at its case, moves with it, and takes its dates along', async (t) => {
  const typen = await givenTypen(test)
  const [een, twee] = [(await typen.zaak()).url, (await typen.zaak()).url]
  await test.database.sql`update zaak set laatst_gemuteerd = '2020-01-01'`
  const { url } = await typen.besluit({ zaak: een })
  t.match([...(await zaakbesluiten(een))], [{ uuid: uuidOf(url), ingangsdatum: '2024-03-02', vervaldatum: null }])
  const touched = await test.database.sql`select uuid from zaak where laatst_gemuteerd > '2021-01-01'`
  t.same(
    touched.map(({ uuid }) => uuid),
    [uuidOf(een)],
  )
  await patch(url, { vervaldatum: '2030-01-01' })
  t.match([...(await zaakbesluiten(een))], [{ vervaldatum: '2030-01-01' }])
  t.match(await patch(url, { zaak: twee }), { status: 200, body: { zaak: twee } })
  t.same([...(await zaakbesluiten(een))], [])
  t.match([...(await zaakbesluiten(twee))], [{ uuid: uuidOf(url), vervaldatum: '2030-01-01' }])
  const refused = await test.call('DELETE', twee, undefined, CRS)
  t.same(faults(refused), ['nonFieldErrors: related-besluiten'], 'a case with a besluit is not deleted')
  t.match(await patch(url, { zaak: '' }), { status: 200, body: { zaak: '' } })
  t.same([...(await zaakbesluiten(twee))], [])
  await patch(url, { zaak: een })
  await test.call('DELETE', url)
  t.same([...(await zaakbesluiten(een))], [])
  t.equal((await test.call('DELETE', een, undefined, CRS)).status, 204)
})

t.test('brc-006: the case of a besluit exists and is a case', async (t) => {
  const typen = await givenTypen(test)
  const { url } = await typen.besluit()
  for (const [zaak, fault] of [
    [`http://localhost${ZAKEN}/zaken/${UNKNOWN}`, 'zaak: bad-url'],
    [`https://elders.example${ZAKEN}/zaken/${UNKNOWN}`, 'zaak: bad-url'],
    [typen.zaaktype, 'zaak: invalid-resource'],
  ] as const) {
    t.same(faults(await post(besluitBody(typen.besluittype, { zaak }))), [fault])
    t.same(faults(await patch(url, { zaak })), [fault])
  }
})

t.test('brc-007: the besluittype belongs to the zaaktype of the case', async (t) => {
  const typen = await givenTypen(test)
  const strange = (await givenZaak(test, { zaaktype: await givenZaaktype(test) })).url
  t.same(faults(await post(besluitBody(typen.besluittype, { zaak: strange }))), ['nonFieldErrors: zaaktype-mismatch'])
  const { url } = await typen.besluit({ zaak: (await typen.zaak()).url })
  t.same(faults(await patch(url, { zaak: strange })), ['nonFieldErrors: zaaktype-mismatch'])
  t.same(faults(await test.call('PUT', url, besluitBody(typen.besluittype, { zaak: strange }))), [
    'nonFieldErrors: zaaktype-mismatch',
  ])
  t.same([...(await zaakbesluiten(strange))], [])
})

t.test('a besluit of a closed case is written only with zaken.geforceerd-bijwerken', async (t) => {
  const typen = await givenTypen(test)
  const [closed, open] = [(await typen.zaak()).url, (await typen.zaak()).url]
  const { url } = await typen.besluit({ zaak: closed })
  const los = (await typen.besluit()).url
  await close(test, closed)
  const brc = { component: 'brc', scopes: SCOPES, typeUuid: uuidOf(typen.besluittype) }
  const zrc = { component: 'zrc', typeUuid: uuidOf(typen.zaaktype), max: 'zeer_geheim' }
  const as = await givenClient(test, 'gewoon', [brc, { ...zrc, scopes: ['zaken.lezen', 'zaken.bijwerken'] }])
  const mayForce = await givenClient(test, 'dwingend', [brc, { ...zrc, scopes: ['zaken.geforceerd-bijwerken'] }])
  for (const change of [
    (as: string) => post(besluitBody(typen.besluittype, { zaak: closed }), as),
    (as: string) => patch(url, { toelichting: 'x' }, as),
    (as: string) => patch(url, { zaak: open }, as),
    (as: string) => patch(los, { zaak: closed }, as),
    (as: string) => test.call('PUT', url, besluitBody(typen.besluittype, { zaak: closed }), { as }),
    (as: string) => test.call('DELETE', url, undefined, { as }),
  ]) {
    const refused = await change(as)
    t.match(refused, { status: 403, body: { code: 'permission_denied' } })
    t.notOk(refused.body.invalidParams)
  }
  t.equal((await post(besluitBody(typen.besluittype, { zaak: closed }), mayForce)).status, 201)
  t.equal((await patch(url, { toelichting: 'x' }, mayForce)).status, 200)
  t.equal((await test.call('DELETE', url, undefined, { as: mayForce })).status, 204)
})

t.test('archiving of a closed case follows the dates of its besluiten', async (t) => {
  for (const [afleidingswijze, name] of [
    ['ingangsdatum_besluit', 'ingangsdatum'],
    ['vervaldatum_besluit', 'vervaldatum'],
  ] as const) {
    const typen = await givenTypen(test, { statustypen: ['Begin', 'Eind'] })
    const zaak = (await typen.zaak()).url
    const archiving = async () => {
      const { archiefactiedatum, startdatumBewaartermijn } = (await test.call('GET', zaak, undefined, CRS)).body
      return [startdatumBewaartermijn, archiefactiedatum]
    }
    const { url } = await typen.besluit({ zaak, [name]: '2024-05-01' })
    const resultaattype = await givenResultaattype(test, typen.zaaktype, { afleidingswijze })
    made(await test.call('POST', `${ZAKEN}/resultaten`, { zaak, resultaattype }))
    const { statustypen } = (await test.call('GET', typen.zaaktype)).body
    for (const [index, statustype] of (await inOrder(statustypen)).entries())
      made(
        await test.call('POST', `${ZAKEN}/statussen`, { zaak, statustype, datumStatusGezet: `2026-04-0${index + 1}` }),
      )
    t.same(await archiving(), ['2024-05-01', '2034-05-01'], `${afleidingswijze} when it closes`)
    t.equal((await patch(url, { [name]: '2025-06-01' })).status, 200)
    t.same(await archiving(), ['2025-06-01', '2035-06-01'], 'when the date changes')
    await test.call('PATCH', zaak, { archiefactiedatum: '2040-01-01' }, CRS)
    t.equal((await patch(url, { toelichting: 'Iets anders' })).status, 200)
    t.same(await archiving(), ['2025-06-01', '2040-01-01'], 'not when something else changes')
    const later = await typen.besluit({ zaak, [name]: '2026-01-01' })
    t.same(await archiving(), ['2026-01-01', '2040-01-01'], 'what somebody set stays')
    await test.call('PATCH', zaak, { archiefactiedatum: null }, CRS)
    t.equal((await patch(later.url, { [name]: '2026-01-02' })).status, 200)
    t.equal((await patch(later.url, { [name]: '2026-01-01' })).status, 200)
    t.same(await archiving(), ['2026-01-01', '2036-01-01'], 'with another besluit the latest counts')
    t.equal((await test.call('DELETE', later.url)).status, 204)
    t.same(await archiving(), ['2025-06-01', '2035-06-01'], 'and no longer when it is gone')
    t.equal((await patch(url, { zaak: '' })).status, 200)
    t.same(await archiving(), [null, null], 'without besluit there is no date')
  }

  async function inOrder(urls: string[]): Promise<string[]> {
    const typen = await Promise.all(urls.map(async (url) => (await test.call('GET', url)).body))
    return typen.sort((one, other) => one.volgnummer - other.volgnummer).map(({ url }) => url)
  }
})

t.test('brc-009: a besluit goes with its documents, their other side and its audit trail', async (t) => {
  const typen = await givenTypen(test)
  const [besluit, document] = [await typen.besluit(), await typen.document()]
  const bio = made(await test.call('POST', BIO, { besluit: besluit.url, informatieobject: document.url }))
  t.equal((await test.call('GET', `${besluit.url}/audittrail`)).body.length, 2)
  const [{ n: before }] = (await test.database.sql`select count(*)::int as n from notificatie`) as never as [
    { n: number },
  ]
  t.equal((await test.call('DELETE', besluit.url)).status, 204)
  const sent = await test.database.sql`select resource, actie from notificatie order by id desc limit 1`
  const [{ n: after }] = (await test.database.sql`select count(*)::int as n from notificatie`) as never as [
    { n: number },
  ]
  t.same([after - before, { ...sent[0] }], [1, { resource: 'besluit', actie: 'destroy' }], 'and only it is announced')
  for (const url of [besluit.url, bio.url, `${besluit.url}/audittrail`])
    t.equal((await test.call('GET', url)).status, 404)
  const oio = await test.call(
    'GET',
    `/documenten/api/v1/objectinformatieobjecten?informatieobject=${encodeURIComponent(document.url)}`,
  )
  t.same(oio.body, [])
  t.equal((await test.call('DELETE', document.url)).status, 204, 'the document stays, and can be deleted')
})

t.test('lists filter on number, organisation, type and case', async (t) => {
  const typen = await givenTypen(test)
  const zaak = (await typen.zaak()).url
  const een = await typen.besluit({ identificatie: 'FILTER-1', zaak })
  const twee = await typen.besluit({ verantwoordelijkeOrganisatie: '111222333' })
  const list = async (query: string) => {
    const { status, body } = await test.call('GET', `http://localhost${BESLUITEN}?${query}`)
    return status === 200 ? body.results.map(({ url }: { url: string }) => url) : status
  }
  t.same(await list('identificatie=FILTER-1'), [een.url])
  t.same(await list('verantwoordelijkeOrganisatie=111222333'), [twee.url])
  t.same(await list(`besluittype=${typen.besluittype}`), [twee.url, een.url], 'newest first')
  t.same(await list(`zaak=${zaak}`), [een.url])
  t.same(await list(`besluittype=${typen.besluittype}&identificatie=FILTER-2`), [])
  t.same(await list(`besluittype=https://elders.example/besluittypen/1`), [])
  t.same(await list(`zaak=${typen.zaaktype}`), [])
  t.same(await list(`zaak=`).then((found) => Array.isArray(found)), true, 'an empty value is no filter')
  for (const name of ['besluittype', 'zaak'])
    t.same(faults(await test.call('GET', `${BESLUITEN}?${name}=geen-url`)), [`${name}: invalid`])
  const page = await test.call('GET', `http://localhost${BESLUITEN}?besluittype=${typen.besluittype}&pageSize=1&page=2`)
  t.match(page.body, { count: 2, results: [{ url: een.url }], next: null, previous: /pageSize=1/ })
})

t.test('the audit trail tells every change, oldest first', async (t) => {
  const { url, identificatie } = await givenBesluit(test)
  await test.call('PATCH', url, { toelichting: 'Anders' }, { headers: { 'x-audit-toelichting': 'Tikfout' } })
  await test.call('PUT', url, (await test.call('GET', url)).body)
  const { body } = await test.call('GET', `${url}/audittrail`)
  t.match(body, [
    { actie: 'create', resultaat: 201, wijzigingen: { oud: null, nieuw: { toelichting: '' } } },
    {
      actie: 'partial_update',
      toelichting: 'Tikfout',
      wijzigingen: { oud: { toelichting: '' }, nieuw: { toelichting: 'Anders' } },
    },
    { actie: 'update', resultaat: 200 },
  ])
  for (const line of body)
    t.match(line, {
      bron: 'BRC',
      hoofdObject: url,
      resource: 'besluit',
      resourceUrl: url,
      resourceWeergave: identificatie,
    })
  t.match((await test.call('GET', `${url}/audittrail/${body[1].uuid}`)).body, { actie: 'partial_update' })
})

t.test('notifications name organisation, type and catalogue', async (t) => {
  const { besluittype, catalogus, besluit } = await givenTypen(test)
  const { url } = await besluit()
  const [sent] = await test.database
    .sql`select kanaal, hoofd_object, resource, resource_url, actie, kenmerken from notificatie order by id desc limit 1`
  t.same(
    { ...sent },
    {
      kanaal: 'besluiten',
      hoofd_object: url,
      resource: 'besluit',
      resource_url: url,
      actie: 'create',
      kenmerken: { verantwoordelijkeOrganisatie: '517439943', besluittype, 'besluittype.catalogus': catalogus },
    },
  )
})
