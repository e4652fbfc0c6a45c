// What another of our own addresses names is ours; answers have PUBLIC_URL.
import t from 'tap'
import { givenZaaktype, testApp } from '../app.ts'
import { CRS, faultsOf, ZAKEN, zaakBody } from '../zaken/given.ts'

t.test('a type by any of our own addresses is the same type, in bodies and filters', async (t) => {
  const PUBLIC = 'https://zaken.example.nl/zgw'
  const test = await testApp(t, { PUBLIC_URL: PUBLIC, OWN_URLS: 'http://intern:8080/oud/, https://tweede.example.nl' })
  const given = new URL(await givenZaaktype(test, { concept: true })).pathname.replace(/^\/zgw/, '')
  t.equal((await test.call('POST', `${given}/publish`)).status, 200)
  for (const own of [
    PUBLIC,
    'http://zaken.example.nl/zgw',
    'http://INTERN:8080/oud',
    'https://tweede.example.nl:443',
    'http://localhost',
  ]) {
    const { body, ...answer } = await test.call('POST', `${ZAKEN}/zaken`, zaakBody(`${own}${given}`), CRS)
    t.equal(answer.status, 201, `${own} ${answer.text}`)
    t.equal(body.zaaktype, `${PUBLIC}${given}`)
    const found = await test.call(
      'GET',
      `${ZAKEN}/zaken?zaaktype=${encodeURIComponent(`${own}${given}`)}`,
      undefined,
      CRS,
    )
    t.ok(found.body.count > 0, own)
  }
  const other = await test.call('POST', `${ZAKEN}/zaken`, zaakBody(`https://ander.example.nl${given}`), CRS)
  t.same(faultsOf(other), ['zaaktype: bad-url'])
})
