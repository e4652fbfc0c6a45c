// What hangs on a case that is closed or archived.
import t from 'tap'
import { givenClient, givenInformatieobjecttype, givenZaaktype, type Json, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, givenDocument, givenEigenschap, givenResultaattype, givenZaak, made, ZAKEN } from './given.ts'

t.test('parts of a closed case, and of an archived one', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const zaaktype = await givenZaaktype(test, {
    catalogus: (await call('GET', informatieobjecttype)).body.catalogus,
    informatieobjecttypen: [informatieobjecttype],
    roltypen: [{ omschrijving: 'Melder', omschrijvingGeneriek: 'initiator' }],
  })
  const roltype = (await call('GET', zaaktype)).body.roltypen[0]
  const eigenschap = await givenEigenschap(test, zaaktype, 'kleur')
  const resultaattype = await givenResultaattype(test, zaaktype, { afleidingswijze: 'afgehandeld' })
  const informatieobject = await givenDocument(test, informatieobjecttype, { indicatieGebruiksrecht: false })
  const full = await givenZaak(test, { zaaktype })
  const empty = await givenZaak(test, { zaaktype })

  // Each part with a body, and the changes that it has.
  const below = (path: string) => () => `${ZAKEN}/${path}`
  const parts: { naam: string; path: (zaak: Json) => string; body: object; verbs: string[]; archived?: boolean }[] = [
    {
      naam: 'rol',
      path: below('rollen'),
      body: { betrokkene: 'https://example.com/1', betrokkeneType: 'medewerker', roltype },
      verbs: ['PUT', 'DELETE'],
    },
    {
      naam: 'zaakeigenschap',
      path: ({ url }) => `${url}/zaakeigenschappen`,
      body: { eigenschap, waarde: 'rood' },
      verbs: ['PUT', 'PATCH', 'DELETE'],
    },
    {
      naam: 'zaakinformatieobject',
      path: below('zaakinformatieobjecten'),
      body: { informatieobject },
      verbs: ['PUT', 'PATCH', 'DELETE'],
    },
    {
      naam: 'zaakobject',
      path: below('zaakobjecten'),
      body: { objectType: 'pand', objectIdentificatie: { identificatie: '1' } },
      verbs: ['PUT', 'PATCH', 'DELETE'],
    },
    { naam: 'resultaat', path: below('resultaten'), body: { resultaattype }, verbs: ['PUT', 'PATCH', 'DELETE'] },
    {
      naam: 'klantcontact',
      path: below('klantcontacten'),
      body: { datumtijd: '2026-03-03T10:00:00Z' },
      verbs: [],
      archived: false,
    },
  ]
  const asked: { name: string; method: string; url: string; body: object | undefined; archived: boolean }[] = []
  for (const { naam, path, body, verbs, archived = true } of parts) {
    const { url } = made(await call('POST', path(full), { ...body, zaak: full.url }))
    asked.push({ name: `POST ${naam}`, method: 'POST', url: path(empty), body: { ...body, zaak: empty.url }, archived })
    for (const method of verbs) {
      const given = { PUT: { ...body, zaak: full.url }, PATCH: {} }[method]
      asked.push({ name: `${method} ${naam}`, method, url, body: given, archived: archived && method !== 'DELETE' })
    }
  }
  // At another server: nothing is asked of it to unlink it.
  const [zaakbesluit] = await database.sql`insert into zaakbesluit (zaak_id, besluit_url)
    select id, 'https://example.com/besluiten/1' from zaak where uuid = ${full.uuid} returning uuid`
  const url = `${full.url}/besluiten/${zaakbesluit!.uuid}`
  asked.push({ name: 'DELETE zaakbesluit', method: 'DELETE', url, body: undefined, archived: false })
  await database.sql`update zaak set einddatum = '2026-03-06' where uuid in (${full.uuid}, ${empty.uuid})`

  await t.test('zrc-007: every change of a part of a closed case asks for the forced scope', async (t) => {
    const scopes = ['zaken.aanmaken', 'zaken.bijwerken', 'zaken.verwijderen', 'zaken.lezen']
    const right = { component: 'zrc', scopes, typeUuid: uuidOf(zaaktype), typeUrl: zaaktype, max: 'zeer_geheim' }
    const as = await givenClient(test, 'gewoon', [right])
    for (const { name, method, url, body } of asked) {
      const answer = await call(method, url, body, { ...CRS, as })
      t.match(answer, { status: 403, body: { detail: /afgesloten/ } }, `${name}: ${answer.text}`)
    }
  })

  await t.test('every change of a part of an archived case is refused, whoever asks', async (t) => {
    await database.sql`update zaak set archiefstatus = 'gearchiveerd' where uuid in (${full.uuid}, ${empty.uuid})`
    for (const { name, method, url, body } of asked.filter(({ archived }) => archived))
      t.same(faultsOf(await call(method, url, body, CRS)), ['nonFieldErrors: zaak-archiefstatus-invalid'], name)
  })
})
