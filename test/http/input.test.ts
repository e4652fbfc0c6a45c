// What comes in beside JSON: headers, media types and parameters, as clients send them.
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { givenInformatieobjecttype, type Json, SECRET, testApp } from '../app.ts'
import { CRS, faultsOf, givenDocument, givenZaak, ZAKEN, zaakBody } from '../zaken/given.ts'

const test = await testApp(t)
const { call } = test
const zaak = await givenZaak(test)

t.test('a header that is kept is read as UTF-8, and as latin1 where it is none', async (t) => {
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as AddressInfo
  const body = '{"toelichting":"r"}'
  const patch = async (name: string, value: Buffer) => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    const head = [
      `PATCH ${new URL(zaak.url).pathname} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${signToken('beheer', SECRET)}`,
      'Content-Type: application/json',
      'Accept-Crs: EPSG:4326',
      'Content-Crs: EPSG:4326',
      `Content-Length: ${body.length}`,
      'Connection: close',
      `${name}: `,
    ].join('\r\n')
    socket.write(Buffer.concat([Buffer.from(head), value, Buffer.from(`\r\n\r\n${body}`)]))
    t.match(await text(socket), /^HTTP\/1.1 200/)
  }
  await patch('X-Audit-Toelichting', Buffer.from('wijziging één – €'))
  await patch('X-Audit-Toelichting', Buffer.from('wijziging één', 'latin1'))
  await patch('X-NLX-Logrecord-ID', Buffer.from('nummer één'))
  const rows = await test.database
    .sql`select toelichting, logrecord_id as logrecord from audit where actie = 'partial_update' order by id`
  t.same(
    rows.map(({ toelichting, logrecord }) => [toelichting, logrecord]),
    [
      ['wijziging één – €', ''],
      ['wijziging één', ''],
      ['', 'nummer één'],
    ],
  )
})

t.test('a body of another media type, or a compressed one, is 415 and changes nothing', async (t) => {
  const type = await givenInformatieobjecttype(test)
  const document = await givenDocument(test, type)
  const send = (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', url: string, headers: object, payload: Buffer | string) =>
    test.app.inject({
      method,
      url: url.replace('http://localhost', ''),
      headers: {
        ...CRS.headers,
        host: 'localhost',
        authorization: `Bearer ${signToken('beheer', SECRET)}`,
        ...headers,
      },
      payload,
    })
  const json = '{"omschrijving":"x"}'
  for (const [method, url] of [
    ['PATCH', zaak.url],
    ['POST', `${ZAKEN}/zaken`],
    ['POST', `${ZAKEN}/zaken/_zoek`],
    ['PATCH', document],
    ['POST', `${document}/lock`],
    ['POST', '/notificaties/api/v1/notificaties'],
  ] as const) {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/xml' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'application/json', 'content-encoding': 'br' },
    ]) {
      const answer = await send(method, url, headers, json)
      t.equal(answer.statusCode, 415, `${method} ${url} ${JSON.stringify(headers)} ${answer.body}`)
    }
  }
  const zipped = await send(
    'PATCH',
    zaak.url,
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    gzipSync(json),
  )
  t.equal(zipped.statusCode, 415)
  t.match(zipped.json(), { code: 'unsupported_media_type', detail: /Content-Encoding/ })
  t.equal(zipped.headers['accept-encoding'], 'identity')
  const plain = { 'content-type': 'application/json; charset=utf-8', 'content-encoding': 'identity' }
  t.equal((await send('PATCH', zaak.url, plain, json)).statusCode, 200)
})

t.test('of a list that is asked with its name repeated all counts, of another parameter the last', async (t) => {
  const read = async (query: string) => call('GET', `${zaak.url}?${query}`, undefined, CRS)
  const { body } = await read('expand=zaaktype&expand=&expand=zaaktype.catalogus,hoofdzaak')
  t.match(body._expand.zaaktype, { url: zaak.zaaktype, _expand: { catalogus: { url: String } } })
  t.same((await read('expand=zaaktype&expand=niets')).status, 400)
  const found = await call(
    'GET',
    `${ZAKEN}/zaken?bronorganisatie=000000000&bronorganisatie=${zaak.bronorganisatie}`,
    undefined,
    CRS,
  )
  t.equal(found.body.count, 1)
})

t.test('a + of an offset that was not encoded is read, in every moment of a query', async (t) => {
  const document = await givenDocument(test, await givenInformatieobjecttype(test))
  const later = new Date(Date.now() + 7200_000).toISOString().slice(0, 19)
  for (const moment of [
    `${later}+01:00`,
    `${later}.123+0100`,
    `${later.slice(0, 16)}+01:00`,
    later,
    later.slice(0, 10),
  ]) {
    const answer = await call('GET', `${document}?registratieOp=${moment}`)
    t.equal(answer.status, moment === later.slice(0, 10) ? answer.status : 200, answer.text)
    t.not(answer.status, 400)
  }
  for (const url of [
    `${ZAKEN}/zaaknotities?aanmaakdatum__lte=`,
    '/documenten/api/v1/gebruiksrechten?startdatum__lte=',
    '/documenten/api/v1/gebruiksrechten?einddatum__gt=',
  ])
    t.equal((await call('GET', `${url}2026-01-01T11:00:00+01:00`, undefined, CRS)).status, 200, url)
  t.equal((await call('GET', `${document}?registratieOp=2026-01-01T11:00:00 x01:00`)).status, 400)
})

t.test('coordinates that are no degrees are refused', async (t) => {
  const point = (...coordinates: number[]) => ({ type: 'Point', coordinates })
  const post = (zaakgeometrie: object) =>
    call('POST', `${ZAKEN}/zaken`, zaakBody(zaak.zaaktype as string, { zaakgeometrie }), CRS)
  for (const geometry of [
    point(155000, 463000),
    point(4.9, 90.1),
    point(-180.5, 0),
    {
      type: 'LineString',
      coordinates: [
        [4, 52],
        [155000, 463000],
      ],
    },
    { type: 'GeometryCollection', geometries: [point(4, 52), point(0, -91)] },
  ]) {
    const answer = await post(geometry)
    t.strictSame([answer.status, faultsOf(answer)], [400, ['zaakgeometrie: invalid']])
    t.match((answer.body as Json).invalidParams[0].reason, /EPSG:4326: lengtegraden van -180 tot 180/)
  }
  t.equal((await post(point(180, -90, 463000))).status, 201, 'a height is no degree')
  const search = { zaakgeometrie: { within: point(155000, 463000) } }
  t.same(faultsOf(await call('POST', `${ZAKEN}/zaken/_zoek`, search, CRS)), ['zaakgeometrie.within: invalid'])
})

t.test('a search takes one value in a list, and a list with a comma too many', async (t) => {
  const search = async (body: object, query = '') => {
    const answer = await call('POST', `${ZAKEN}/zaken/_zoek${query}`, { uuid__in: [zaak.uuid], ...body }, CRS)
    return answer.status === 200 ? answer.body.count : faultsOf(answer)
  }
  for (const [body, count] of [
    [{ identificatie: [zaak.identificatie], startdatum__gte: ['2000-01-01'], einddatum__isnull: [true] }, 1],
    [{ identificatie: ['x', zaak.identificatie] }, 1], // of more the last, as of a parameter that is repeated
    [{ identificatie: [zaak.identificatie, 'x'] }, 0],
    [{ archiefstatus: ['nog_te_archiveren'], rol__betrokkeneType: ['medewerker'] }, 0],
    [{ identificatie: [] }, 1],
    [{ ordering: '-startdatum,', archiefstatus__in: ['nog_te_archiveren', ''], expand: 'zaaktype,' }, 1],
    [{ ordering: ['-startdatum'], expand: [''] }, 1],
    [{ archiefstatus: ['x'] }, ['archiefstatus: invalid_choice']],
    [{ startdatum: [['2020-01-01']] }, ['startdatum: invalid']],
    [{ zaakgeometrie: [] }, ['zaakgeometrie: invalid']],
  ] as const)
    t.same(await search(body), count, JSON.stringify(body))
  const list = `${ZAKEN}/zaken?ordering=-startdatum,&archiefstatus__in=nog_te_archiveren,&expand=zaaktype,`
  const { status, body } = await call('GET', list, undefined, CRS)
  t.same([status, Object.keys(body.results?.[0]?._expand ?? {})], [200, ['zaaktype']])
  const document = await givenDocument(test, await givenInformatieobjecttype(test))
  const documents = await call('POST', '/documenten/api/v1/enkelvoudiginformatieobjecten/_zoek', {
    uuid__in: [document.split('/').at(-1)],
    bronorganisatie: ['517439943'],
  })
  t.match(documents.body, { count: 1 }, documents.text)
})

t.test('what PHP writes for an empty object is told what it should be', async (t) => {
  const answer = await call('PATCH', zaak.url, { verlenging: [], opschorting: [] }, CRS)
  for (const { reason } of answer.body.invalidParams) t.equal(reason, 'Hier hoort een object ({}), geen lijst ([]).')
})
