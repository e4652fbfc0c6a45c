// zaakcontactmomenten and zaakverzoeken, with the other register for real.
import t, { type Test } from 'tap'
import { givenClient, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { givenOtherServer, runLater } from '../other-server.ts'
import { CRS, faultsOf, givenZaak, made, ZAKEN } from './given.ts'

const KINDS = [
  { naam: 'zaakcontactmoment', veld: 'contactmoment', pad: 'zaakcontactmomenten', lijst: '/kcm/objectcontactmomenten' },
  { naam: 'zaakverzoek', veld: 'verzoek', pad: 'zaakverzoeken', lijst: '/kcm/objectverzoeken' },
]

async function givenRegister(t: Test) {
  const test = await testApp(t)
  const zaaktype = await givenZaaktype(test, { statustypen: ['Begin', 'Eind'] })
  const zaak = (await givenZaak(test, { zaaktype })).url
  const elders = await givenOtherServer(t, test, {
    '/kcm/iets/1': { bronorganisatie: '517439943', tekst: 'Belt terug' },
    '/kcm/iets/anders': { bronorganisatie: '517439943' },
  })
  return { test, zaaktype, zaak, elders, url: `${elders.root}/kcm/iets/1` }
}

for (const { naam, veld, pad, lijst } of KINDS) {
  const at = `${ZAKEN}/${pad}`

  t.test(`a ${naam} comes and goes on both sides`, async (t) => {
    const { test, zaak, elders, url } = await givenRegister(t)
    const relatie = made(await test.call('POST', at, { zaak, [veld]: url }))
    t.match(relatie, { zaak, [veld]: url, uuid: uuidOf(relatie.url) })
    t.match(elders.staat(lijst), [{ [veld]: url, object: zaak, objectType: 'zaak' }])
    t.same(faultsOf(await test.call('POST', at, { zaak, [veld]: url })), ['nonFieldErrors: unique'])
    t.equal(elders.staat(lijst).length, 1)
    const filter = (name: string, value: string) =>
      test.call('GET', `${at}?${name}=${encodeURIComponent(value)}`).then(({ body }) => body.length)
    t.same(
      [await filter('zaak', zaak), await filter(veld, url), await filter(veld, `${url}0`), await filter('zaak', url)],
      [1, 1, 0, 0],
    )
    t.same((await test.call('GET', relatie.url)).body, relatie)
    t.equal((await test.call('DELETE', relatie.url)).status, 204)
    t.same(elders.staat(lijst), [])
    const lines = await test.database.sql`select actie from audit where resource = ${naam} order by id`
    t.same(lines.map(({ actie }) => actie).sort(), ['create', 'destroy'])
    const sent = await test.database.sql`select actie, kanaal from notificatie where resource = ${naam}`
    t.strictSame([...sent], [{ actie: 'create', kanaal: 'zaken' }], 'that it went is not announced')
  })

  t.test(`a ${veld} that is not there, or is something else, is refused and made nowhere`, async (t) => {
    const { test, zaak, elders } = await givenRegister(t)
    const post = (url: string) => test.call('POST', at, { zaak, [veld]: url })
    t.same(faultsOf(await post(`${elders.root}/kcm/iets/weg`)), [`${veld}: bad-url`])
    t.same(faultsOf(await post('https://niet-bekend.example/1')), [`${veld}: bad-url`])
    t.same(faultsOf(await post('geen url')), [`${veld}: bad-url`])
    t.same(faultsOf(await post(`${elders.root}/kcm/iets/anders`)), [`${veld}: invalid-resource`])
    t.same(faultsOf(await post(zaak)), [`${veld}: invalid-resource`])
    t.same(elders.calls, [])
  })

  t.test(`a ${naam} that the other register does not take is not there`, async (t) => {
    const { test, zaak, elders, url } = await givenRegister(t)
    for (const answer of [403, 'weg', 'doet en valt weg'] as const) {
      elders.state.antwoord = answer
      t.same(faultsOf(await test.call('POST', at, { zaak, [veld]: url })), [`${veld}: pending-relations`])
      t.same((await test.call('GET', at)).body, [])
    }
    elders.state.antwoord = undefined
    await runLater(test)
    t.same(elders.staat(lijst), [], 'nor is what was made there without our hearing it')
    const relatie = made(await test.call('POST', at, { zaak, [veld]: url }))
    elders.state.antwoord = 403
    t.same(faultsOf(await test.call('DELETE', relatie.url)), [`${veld}: pending-relations`])
    t.same((await test.call('GET', relatie.url)).body, relatie, 'it is back')
  })

  t.test(`a ${naam} is of a case within reach, and of none that is archived`, async (t) => {
    const { test, zaak, zaaktype, elders, url } = await givenRegister(t)
    const right = (scopes: string[]) => [{ component: 'zrc', scopes, typeUuid: uuidOf(zaaktype), max: 'zeer_geheim' }]
    const reader = await givenClient(test, 'lezer', right(['zaken.lezen', 'zaken.geforceerd-bijwerken']))
    t.equal((await test.call('POST', at, { zaak, [veld]: url }, { as: reader })).status, 403)
    const writer = await givenClient(test, 'schrijver', right(['zaken.bijwerken']))
    await test.database.sql`update zaak set einddatum = '2026-03-03'`
    const closed = await test.call('POST', at, { zaak, [veld]: url }, { as: writer })
    t.match(closed, { status: 403, body: { detail: /afgesloten/ } }, 'zrc-007')
    const forced = await givenClient(test, 'forceerder', right(['zaken.bijwerken', 'zaken.geforceerd-bijwerken']))
    const relatie = made(await test.call('POST', at, { zaak, [veld]: url }, { as: forced }))
    t.same((await test.call('GET', at, undefined, { as: reader })).body, [relatie])
    t.equal((await test.call('DELETE', relatie.url, undefined, { as: reader })).status, 403)
    await test.database.sql`update zaak set archiefstatus = 'overgedragen'`
    t.same(faultsOf(await test.call('POST', at, { zaak, [veld]: `${elders.root}/kcm/iets/1?` })), [
      'nonFieldErrors: zaak-archiefstatus-invalid',
    ])
    t.same(faultsOf(await test.call('DELETE', relatie.url, undefined, { as: forced })), [
      'nonFieldErrors: zaak-archiefstatus-invalid',
    ])
  })

  t.test(`zrc-023: a ${naam} goes with its case, at the other side afterwards`, async (t) => {
    const { test, zaak, elders, url } = await givenRegister(t)
    made(await test.call('POST', at, { zaak, [veld]: url }))
    t.equal((await test.call('DELETE', zaak, undefined, CRS)).status, 204)
    t.equal(elders.staat(lijst).length, 1)
    await runLater(test)
    t.same(elders.staat(lijst), [])
  })
}
