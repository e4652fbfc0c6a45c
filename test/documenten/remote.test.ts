// Documents of which the type stands in another catalogue.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { testApp } from '../app.ts'
import { givenOtherServer } from '../other-server.ts'
import { EIO, givenDocument, givenLock } from './documenten.ts'

t.test('every notification of a document names the catalogue of a type elsewhere', async (t) => {
  const test = await testApp(t)
  const server = createServer((_request, response) => {
    response.end(
      JSON.stringify({
        catalogus: `${root}catalogussen/1`,
        omschrijving: 'Brief',
        concept: false,
        vertrouwelijkheidaanduiding: 'openbaar',
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalogi/api/v1/`
  await test.database.sql`insert into service (label, slug, kind, api_root) values ('Elders', 'elders', 'ztc', ${root})`
  const informatieobjecttype = `${root}informatieobjecttypen/1`
  const { url } = await givenDocument(test, { informatieobjecttype })
  const lock = await givenLock(test, url)
  t.equal((await test.call('PATCH', url, { lock, titel: 'Anders' })).status, 200)
  await test.call('POST', `${url}/unlock`, { lock })
  t.equal((await test.call('DELETE', url)).status, 204)
  const sent = await test.database.sql`select actie, kenmerken from notificatie where kanaal = 'documenten' order by id`
  t.match(
    sent.map(({ actie, kenmerken }) => [
      actie,
      kenmerken.informatieobjecttype,
      kenmerken['informatieobjecttype.catalogus'],
    ]),
    ['create', 'partial_update', 'destroy'].map((actie) => [actie, informatieobjecttype, `${root}catalogussen/1`]),
  )
  t.equal((await test.call('GET', EIO)).body.count, 0)
})

t.test('so does every notification of what hangs on it', async (t) => {
  const test = await testApp(t)
  const elders = await givenOtherServer(t, test, {
    '/ztc/typen/1': {
      catalogus: 'https://elders.example/catalogussen/1',
      omschrijving: 'Brief',
      concept: false,
      vertrouwelijkheidaanduiding: 'openbaar',
    },
  })
  const { url: informatieobject } = await givenDocument(test, { informatieobjecttype: `${elders.root}/ztc/typen/1` })
  const gebruiksrecht = { informatieobject, startdatum: '2024-01-01T00:00:00Z', omschrijvingVoorwaarden: 'Geen' }
  const verzending = {
    informatieobject,
    betrokkene: 'https://elders.example/personen/1',
    contactPersoon: 'https://elders.example/personen/2',
    aardRelatie: 'afzender',
    emailadres: 'a@example.nl',
  }
  for (const [resource, path, body] of [
    ['gebruiksrechten', 'gebruiksrechten', gebruiksrecht],
    ['verzending', 'verzendingen', verzending],
  ] as const) {
    const { url } = (await test.call('POST', `/documenten/api/v1/${path}`, body)).body
    t.equal((await test.call('PUT', url, body)).status, 200)
    t.equal((await test.call('PATCH', url, {})).status, 200)
    t.equal((await test.call('DELETE', url)).status, 204)
    const sent = await test.database.sql`
      select actie, kenmerken->>'informatieobjecttype.catalogus' as catalogus from notificatie
      where resource = ${resource} order by id`
    t.strictSame(
      sent.map(({ actie, catalogus }) => [actie, catalogus]),
      ['create', 'update', 'partial_update', 'destroy'].map((actie) => [
        actie,
        'https://elders.example/catalogussen/1',
      ]),
      resource,
    )
  }
})
