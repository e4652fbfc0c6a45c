// Cloud events of cases, documents and besluiten: what is sent after which change, where to, and in what shape.
import t from 'tap'
import { eventBody } from '../../src/notificaties/cloud-events.ts'
import { givenBesluittype, givenInformatieobjecttype, type TestApp, uuidOf } from '../app.ts'
import { builtIn, real, subscribe } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { CRS, givenDocument, givenType, givenZaak, made, ZAKEN, zaakBody } from '../zaken/given.ts'
import { givenNotificaties } from './given.ts'

const ON = {
  ENABLE_CLOUD_EVENTS: 'true',
  CLOUD_EVENTS_PROFILE: 'open-zaak',
  NOTIFICATIONS_SOURCE: 'urn:nld:oin:01823288444:zakensysteem',
}
const BY_PROFILE = {
  ENABLE_CLOUD_EVENTS: 'true',
  CLOUD_EVENTS_SOURCE: 'urn:nld:oin:00000001823288444000:systeem:zaken',
}
const status = (statustype: string, second = 10) => ({ statustype, datumStatusGezet: `2026-03-05T10:00:${second}Z` })

/** The types of the events that these requests made, without their common prefix. */
async function eventsOf({ database }: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  await database.sql`truncate notificatie, delivery`
  await work()
  const rows = await database.sql`select cloudevent from notificatie where cloudevent is not null order by id`
  return rows.map((row) => row.cloudevent.replace('nl.overheid.', ''))
}

t.test('a cloud event goes to the external service as it is there, after the notification', async (t) => {
  const test = await givenNotificaties(t, {}, ON)
  const zaak = await givenZaak(test)
  await test.runJobs()
  t.notOk(
    test.receiver.received.some(({ path }) => path.endsWith('/cloudevents')),
    'not for a new case',
  )
  test.receiver.received.length = 0
  await test.call('PATCH', zaak.url, { omschrijving: 'Anders' }, CRS)
  await test.runJobs()
  t.same(
    test.receiver.received.map(({ path }) => path),
    ['/api/v1/notificaties', '/api/v1/cloudevents'],
  )
  const { body, headers } = test.receiver.received[1]!
  const { catalogus } = (await test.call('GET', zaak.zaaktype)).body
  t.equal(headers['content-type'], 'application/cloudevents+json')
  t.match(headers.authorization, /^Bearer /)
  t.match(body.id, /^[0-9a-f-]{36}$/)
  t.match(body.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.same(
    { ...body, id: '', time: '' },
    {
      specversion: '1.0',
      id: '',
      source: ON.NOTIFICATIONS_SOURCE,
      type: 'nl.overheid.zaken.zaak-gemuteerd',
      subject: zaak.uuid,
      time: '',
      dataref: `/zaken/api/v1/zaken/${zaak.uuid}`,
      datacontenttype: 'application/json',
      data: {
        bronorganisatie: '517439943',
        zaaktype: zaak.zaaktype,
        'zaaktype.catalogus': catalogus,
        vertrouwelijkheidaanduiding: 'openbaar',
      },
    },
  )
})

t.test('off, no cloud event is recorded and /events is not there', async (t) => {
  const test = await givenNotificaties(t)
  const zaak = await givenZaak(test)
  const events = await eventsOf(test, () => test.call('PATCH', zaak.url, { omschrijving: 'Anders' }, CRS))
  t.same(events, [])
  t.equal((await test.call('POST', '/events', {})).status, 404)
})

t.test('which changes are announced, once for each case', async (t) => {
  const test = await givenNotificaties(t, {}, ON)
  const { call } = test
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await call('GET', informatieobjecttype)).body
  const afgehandeld = { afleidingswijze: 'afgehandeld' }
  const besluittype = await givenBesluittype(test, { catalogus })
  const types = { catalogus, informatieobjecttypen: [informatieobjecttype], besluittypen: [besluittype] }
  const { zaaktype, begin, eind, resultaattype } = await givenType(test, afgehandeld, {}, types)
  const zaak = await givenZaak(test, { zaaktype })
  const events = (work: () => Promise<unknown>) => eventsOf(test, work)
  const post = async (path: string, body: object) => made(await call('POST', `${ZAKEN}/${path}`, body, CRS))
  const change = 'zaken.zaak-gemuteerd'

  t.same(await events(() => givenZaak(test, { zaaktype })), [], 'a new case')
  t.same(await events(() => call('PATCH', zaak.url, { laatstGeopend: '2026-03-05T10:00:00Z' }, CRS)), [
    'zaken.zaak-geopend',
  ])
  t.same(
    await events(() => call('PATCH', zaak.url, { laatstGeopend: '2026-03-05T10:00:00Z', omschrijving: 'x' }, CRS)),
    [change],
  )
  t.same(await events(() => post('statussen', { zaak: zaak.url, ...status(begin) })), [change])
  let object!: { url: string }
  const pand = { objectType: 'pand', objectIdentificatie: { identificatie: '1' } }
  t.same(
    await events(async () => {
      object = await post('zaakobjecten', { zaak: zaak.url, ...pand })
    }),
    [change],
  )
  t.same(await events(() => call('PATCH', object.url, { relatieomschrijving: 'x' })), [change])
  t.same(await events(() => call('DELETE', object.url)), [change])
  const informatieobject = await givenDocument(test, informatieobjecttype)
  let zio!: { url: string }
  t.same(
    await events(async () => {
      zio = await post('zaakinformatieobjecten', { zaak: zaak.url, informatieobject })
    }),
    [change],
  )
  t.same(await events(() => call('DELETE', zio.url)), [change], 'which the standard does not announce')
  t.same(await events(() => post('resultaten', { zaak: zaak.url, resultaattype })), [change])
  let besluit!: { url: string }
  const body = {
    besluittype,
    verantwoordelijkeOrganisatie: '517439943',
    datum: '2026-03-05',
    ingangsdatum: '2026-03-05',
    zaak: zaak.url,
  }
  t.same(
    await events(async () => {
      besluit = made(await call('POST', '/besluiten/api/v1/besluiten', body))
    }),
    [change],
  )
  t.same(await events(() => call('PATCH', besluit.url, { toelichting: 'x' })), [change])
  t.same(await events(() => call('DELETE', besluit.url)), [change])
  const deel = await givenZaak(test, { zaaktype })
  await test.database
    .sql`update zaak set hoofdzaak_id = (select id from zaak where uuid = ${zaak.uuid}) where uuid = ${deel.uuid}`
  const gone = ['zaken.zaak-verwijderd', 'zaken.zaak-verwijderd']
  t.same(await events(() => call('DELETE', zaak.url)), gone, 'a part goes with its case')

  const registreren = { zaak: zaakBody(zaaktype), rollen: [], zaakinformatieobjecten: [], zaakobjecten: [pand] }
  let made2!: { zaak: { url: string; uuid: string } }
  t.same(
    await events(async () => {
      made2 = await post('zaak_registreren', { ...registreren, status: status(begin) })
    }),
    [change, 'zaken.zaak-geregistreerd'],
  )
  const [row] = await test.database.sql`select kenmerken from notificatie where cloudevent like '%geregistreerd'`
  t.equal(row!.kenmerken.verantwoordelijkeOrganisatie, '517439943')
  t.same(
    await events(() =>
      call('POST', `${ZAKEN}/zaak_bijwerken/${made2.zaak.uuid}`, { zaak: {}, status: status(begin, 20) }, CRS),
    ),
    [change, 'zaken.zaak-bijgewerkt'],
  )
  t.same(
    await events(() =>
      call(
        'POST',
        `${ZAKEN}/zaak_afsluiten/${made2.zaak.uuid}`,
        { zaak: {}, resultaat: { resultaattype }, status: status(eind, 30) },
        CRS,
      ),
    ),
    [change, 'zaken.zaak-afgesloten'],
  )
  const other = await givenZaak(test, { zaaktype })
  const registration = {
    enkelvoudiginformatieobject: {
      bronorganisatie: '517439943',
      creatiedatum: '2026-03-02',
      titel: 'Brief',
      auteur: 'Iemand',
      taal: 'dut',
      informatieobjecttype,
    },
    zaakinformatieobject: { zaak: other.url },
  }
  t.same((await events(() => call('POST', '/documenten/api/v1/document_registreren', registration))).sort(), [
    'documenten.document-geregistreerd',
    change,
  ])
  const verwerken = { besluit: { ...body, zaak: other.url }, besluitinformatieobjecten: [] }
  t.same((await events(() => call('POST', '/besluiten/api/v1/besluit_verwerken', verwerken))).sort(), [
    'besluiten.besluit-verwerkt',
    change,
  ])
  const [processed] = await test.database.sql`select kenmerken from notificatie where cloudevent like '%verwerkt'`
  t.match(processed!.kenmerken, { besluittype, 'zaak.zaaktype': zaaktype, 'informatieobjecten.iotype': [] })
})

t.test('an event of a change that is refused is not recorded', async (t) => {
  const test = await givenNotificaties(t, {}, ON)
  const zaak = await givenZaak(test)
  t.same(await eventsOf(test, () => test.call('PATCH', zaak.url, { startdatum: 'x' }, CRS)), [])
})

t.test('abonnementen get it when they asked for cloud events, and by their filters', async (t) => {
  const test = await builtIn(t, { ...ON, NOTIFICATIES_HTTP_HOSTS: '*' })
  const plain = await subscriber(t, { auth: 'plain' })
  const events = await subscriber(t, { auth: 'events' })
  const opened = await subscriber(t, { auth: 'opened' })
  const zaken = (filters: object = {}) => [{ naam: 'zaken', filters }]
  await subscribe(test, plain.url, zaken(), { auth: 'plain' })
  await subscribe(test, events.url, zaken(), { auth: 'events' })
  await subscribe(test, opened.url, zaken(), { auth: 'opened' })
  await test.database.sql`update abonnement set cloudevents = true where callback_url <> ${plain.url}`
  await test.database.sql`update abonnement_kanaal set filters = '{"#actie": "geopend"}'
    where abonnement_id = (select id from abonnement where callback_url = ${opened.url})`
  const zaak = await givenZaak(test)
  await test.call('PATCH', zaak.url, { laatstGeopend: '2026-03-05T10:00:00Z' }, CRS)
  await test.runJobs()
  t.same(
    real(plain.received).map(({ body }) => body.actie),
    ['create', 'partial_update'],
  )
  t.same(
    real(events.received).flatMap(({ body }) => body.type ?? []),
    ['nl.overheid.zaken.zaak.create', 'nl.overheid.zaken.zaak.partial_update', 'nl.overheid.zaken.zaak-geopend'],
  )
  t.same(
    real(opened.received).flatMap(({ body }) => body.type ?? []),
    ['nl.overheid.zaken.zaak-geopend'],
  )
  t.equal(real(opened.received).at(-1)!.body.subject, uuidOf(zaak.url))
})

t.test('by the NL GOV profile an event has the URN of its system, and its place in the sequence', async (t) => {
  const test = await givenNotificaties(t, {}, { ...BY_PROFILE, NOTIFICATIONS_SOURCE: 'elders' })
  const { zaaktype, begin } = await givenType(
    test,
    { afleidingswijze: 'afgehandeld' },
    {},
    { publicatieIndicatie: true },
  )
  const zaak = await givenZaak(test, { zaaktype })
  for (const second of [10, 20])
    made(await test.call('POST', `${ZAKEN}/statussen`, { zaak: zaak.url, ...status(begin, second) }, CRS))
  await test.runJobs()
  const events = test.receiver.received.flatMap(({ path, body }) => (path.endsWith('/cloudevents') ? [body] : []))
  t.equal(events.length, 2)
  for (const body of events)
    t.match(body, {
      specversion: '1.0',
      source: BY_PROFILE.CLOUD_EVENTS_SOURCE,
      type: 'nl.overheid.zaken.zaak-gemuteerd',
      subject: zaak.uuid,
      dataref: zaak.url,
      sequence: /^\d{19}$/,
    })
  t.ok(String(events[0]!.sequence) < String(events[1]!.sequence))
  t.notOk('sequencetype' in events[0]!, 'places have gaps')
})

t.test('the sequence is of the message, at every attempt, and sorts as text', async (t) => {
  const config = { ...(await givenNotificaties(t, {}, BY_PROFILE)).parts.config, publicUrl: 'https://zaken.example' }
  const message = {
    uuid: '1',
    kanaal: 'zaken',
    bron: '',
    hoofdObject: 'https://zaken.example/zaken/1',
    resource: 'zaak',
    resourceUrl: 'https://zaken.example/zaken/1',
    actie: 'create',
    aanmaakdatum: '2026-01-05T10:00:00.000Z',
    kenmerken: {},
    cloudevent: null,
  } as never
  const sequences = [9, 10, 2 ** 31].map((number) => eventBody(config, message, number).sequence)
  t.same(sequences, ['0000000000000000009', '0000000000000000010', '0000000002147483648'])
})

t.test('by the profile only published cases are told of, from their first status on', async (t) => {
  const test = await givenNotificaties(t, {}, BY_PROFILE)
  const afgehandeld = { afleidingswijze: 'afgehandeld' }
  const shown = await givenType(test, afgehandeld, {}, { publicatieIndicatie: true })
  const hidden = await givenType(test, afgehandeld, {}, { publicatieIndicatie: false })
  const change = 'zaken.zaak-gemuteerd'
  for (const [{ zaaktype, begin }, told] of [
    [shown, (...names: string[]) => names],
    [hidden, () => []],
  ] as const) {
    const zaak = await givenZaak(test, { zaaktype })
    const patch = (body: object) => eventsOf(test, () => test.call('PATCH', zaak.url, body, CRS))
    t.same(await patch({ omschrijving: 'Zonder status' }), [], 'not complete yet')
    const first = () => test.call('POST', `${ZAKEN}/statussen`, { zaak: zaak.url, ...status(begin) }, CRS)
    t.same(await eventsOf(test, first), told(change))
    t.same(await patch({ omschrijving: 'Met status' }), told(change))
    t.same(await patch({ laatstGeopend: '2026-03-05T10:00:00Z' }), told('zaken.zaak-geopend'))
    t.same(await eventsOf(test, () => test.call('DELETE', zaak.url)), told('zaken.zaak-verwijderd'))
    const registreren = { zaak: zaakBody(zaaktype), rollen: [], zaakinformatieobjecten: [], zaakobjecten: [] }
    t.same(
      await eventsOf(test, () =>
        test.call('POST', `${ZAKEN}/zaak_registreren`, { ...registreren, status: status(begin) }, CRS),
      ),
      [...told(change), 'zaken.zaak-geregistreerd'],
      'applications are told of every combined operation',
    )
  }
})
