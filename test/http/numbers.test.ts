// Numbers of a body where a text is asked, or anything may stand: what was sent is what is kept, or the field is refused.
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { keepSources, sourcesIn } from '../../src/http/numbers.ts'
import { givenInformatieobjecttype, givenZaaktype, type Json, SECRET, testApp } from '../app.ts'
import { CRS, faultsOf, givenZaak, ZAKEN } from '../zaken/given.ts'

const test = await testApp(t)
const send = async (
  method: 'POST' | 'PATCH',
  url: string,
  payload: string,
): Promise<{ status: number; body: Json }> => {
  const answer = await test.app.inject({
    method,
    url: url.replace('http://localhost', ''),
    headers: {
      ...CRS.headers,
      host: 'localhost',
      authorization: `Bearer ${signToken('beheer', SECRET)}`,
      'content-type': 'application/json',
    },
    payload,
  })
  return { status: answer.statusCode, body: answer.json() }
}

t.test('a number where a text is asked is kept digit for digit', async (t) => {
  const zaak = await givenZaak(test)
  for (const number of ['12345678901234567890', '1e400', '1.50', '-0', '0.12345678901234567890', '42', '1E5']) {
    const { status, body } = await send('PATCH', zaak.url, `{"omschrijving": ${number}}`)
    t.equal(status, 200)
    t.equal(body.omschrijving, number)
  }
  const { body } = await send(
    'PATCH',
    zaak.url,
    '{"kenmerken": [{"kenmerk": 12345678901234567891, "bron": "b"}], "communicatiekanaal_naam": 12345678901234567892}',
  )
  t.same(body.kenmerken, [{ kenmerk: '12345678901234567891', bron: 'b' }])
  t.equal(body.communicatiekanaalNaam, '12345678901234567892', 'also by a name in snake_case')
})

t.test('a number in free JSON is kept, or refused by its place when it would be another', async (t) => {
  const zaak = await givenZaak(test)
  const object = (data: string) =>
    send(
      'POST',
      `${ZAKEN}/zaakobjecten`,
      `{"zaak": "${zaak.url}", "objectType": "overige", "objectTypeOverige": "ding", "objectIdentificatie": {"overigeData": ${data}}}`,
    )
  for (const wrong of ['9007199254740993', '12345678901234567890', '1e400', '0.12345678901234567891']) {
    for (const [data, place] of [
      [`{"id": ${wrong}}`, 'id'],
      [`{"list": [1, {"id":${wrong}}]}`, 'list.1.id'],
    ] as const) {
      const answer = await object(data)
      t.equal(answer.status, 400, data)
      t.strictSame(faultsOf(answer), [`objectIdentificatie.overigeData.${place}: invalid`])
    }
  }
  const good = await object('{"a": 1.50, "b": 1e3, "c": 9007199254740992, "d": 52.3702, "e": -12}')
  t.equal(good.status, 201, JSON.stringify(good.body))
  t.same(good.body.objectIdentificatie.overigeData, { a: 1.5, b: 1000, c: 9007199254740992, d: 52.3702, e: -12 })
})

t.test('of a composite each part keeps its numbers, or names its own', async (t) => {
  const zaaktype = await givenZaaktype(test, { statustypen: ['Begin', 'Eind'] })
  const [statustype] = (await test.call('GET', zaaktype)).body.statustypen
  const register = (omschrijving: string, id: string) =>
    send(
      'POST',
      `${ZAKEN}/zaak_registreren`,
      `{"zaak": {"zaaktype": "${zaaktype}", "bronorganisatie": "000000000", "verantwoordelijkeOrganisatie": "000000000",
        "startdatum": "2026-01-01", "omschrijving": ${omschrijving}}, "status": {"statustype": "${statustype}", "datumStatusGezet": "2026-01-01T10:00:00Z"}, "rollen": [], "zaakinformatieobjecten": [],
        "zaakobjecten": [{"objectType": "overige", "objectTypeOverige": "ding", "objectIdentificatie": {"overigeData": {"id": ${id}}}}]}`,
    )
  const good = await register('12345678901234567890', '12')
  t.equal(good.status, 201, JSON.stringify(good.body))
  t.equal(good.body.zaak.omschrijving, '12345678901234567890')
  t.strictSame(faultsOf(await register('1', '9007199254740993')), [
    'zaakobjecten.0.objectIdentificatie.overigeData.id: invalid',
  ])
})

t.test('a kenmerk of a message and a filter that are numbers are kept as texts', async (t) => {
  const NRC = '/notificaties/api/v1'
  await send('POST', `${NRC}/kanaal`, '{"naam": "nummers", "filters": ["nummer"]}')
  const publish = (nummer: string) =>
    send(
      'POST',
      `${NRC}/notificaties`,
      `{"kanaal": "nummers", "hoofdObject": "http://zaken.example/1", "resource": "zaak", "resourceUrl": "http://zaken.example/1",
        "actie": "create", "aanmaakdatum": "2026-01-01T00:00:00Z", "kenmerken": {"nummer": ${nummer}}}`,
    )
  const { status, body } = await publish('1.50')
  t.equal(status, 201, JSON.stringify(body))
  t.same(body.kenmerken, { nummer: '1.50' })
  t.strictSame(faultsOf(await publish('12345678901234567890')), ['kenmerken.nummer: invalid'])
  const subscribed = await send(
    'POST',
    `${NRC}/abonnement`,
    '{"callbackUrl": "http://127.0.0.1:9/x", "auth": "x", "kanalen": [{"naam": "nummers", "filters": {"nummer": 1.50}}]}',
  )
  t.equal(subscribed.status, 201, JSON.stringify(subscribed.body))
  t.same(subscribed.body.kanalen[0].filters, { nummer: '1.50' })
})

t.test('coordinates may have more digits than a double', async (t) => {
  const zaak = await givenZaak(test)
  const { status, body } = await send(
    'PATCH',
    zaak.url,
    '{"zaakgeometrie": {"type": "Point", "coordinates": [4.123456789012345678901, 52.50]}}',
  )
  t.equal(status, 200, JSON.stringify(body))
  t.same(body.zaakgeometrie.coordinates, [4.123456789012345, 52.5])
})

t.test('a document keeps the digits of its texts, beside content that is read as it comes', async (t) => {
  const type = await givenInformatieobjecttype(test)
  const { status, body } = await send(
    'POST',
    '/documenten/api/v1/enkelvoudiginformatieobjecten',
    `{"informatieobjecttype": "${type}", "bronorganisatie": "000000000", "creatiedatum": "2026-01-01", "titel": 12345678901234567890,
      "auteur": "a", "taal": "nld", "inhoud": "aGFsbG8=", "bestandsomvang": 5}`,
  )
  t.equal(status, 201, JSON.stringify(body))
  t.equal(body.titel, '12345678901234567890')
})

t.test('numbers of a large body are read in slices, and found between texts with quotes and backslashes', async (t) => {
  const part = String.raw`{"2": 1.50, "1": "a \" 1.50, \\", "b\\\"": [0.30000000000000004, -0, "1e3", 1e3], "n": 42}`
  const json = `[${Array(10_000).fill(part).join(', ')}]`
  let turns = 0
  const kept = (await keepSources(json, JSON.parse(json), async () => {
    turns++
  })) as Record<string, object>[]
  t.strictSame(kept, JSON.parse(json))
  t.ok(turns > 2, 'others went first in between')
  for (const one of [kept[0]!, kept.at(-1)!]) {
    t.strictSame([...(sourcesIn(one) ?? [])], [['2', '1.50']])
    t.strictSame(
      [...(sourcesIn(one['b\\"']!) ?? [])],
      [
        ['1', '-0'],
        ['3', '1e3'],
      ],
    )
  }
  const plain = JSON.parse('[0.30000000000000004]')
  t.equal(
    await keepSources('[0.30000000000000004]', plain),
    plain,
    'what is written as JavaScript writes it stays as it was parsed',
  )
})
