// Zaaktypen that are kept in memory: what another process changes of them counts at once.
import t from 'tap'
import { givenZaaktype, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, ZAKEN, zaakBody } from './given.ts'

t.test('a new case follows its type as it is, whoever changed that', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const zaaktype = await givenZaaktype(test)
  const uuid = uuidOf(zaaktype)
  const post = (values: object = {}) => test.call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, values), CRS)
  t.equal((await post()).body.vertrouwelijkheidaanduiding, 'openbaar')

  // In SQL, as another process: nothing here hears of it.
  await sql`update zaaktype set vertrouwelijkheidaanduiding = 'geheim', doorlooptijd = 'P1M' where uuid = ${uuid}`
  t.match((await post()).body, { vertrouwelijkheidaanduiding: 'geheim', uiterlijkeEinddatumAfdoening: '2026-04-02' })

  const product = 'https://producten.example/1'
  t.same(faultsOf(await post({ productenOfDiensten: [product] })), ['productenOfDiensten: invalid-products-services'])
  await sql`update zaaktype set producten_of_diensten = ${[product]} where uuid = ${uuid}`
  t.equal((await post({ productenOfDiensten: [product] })).status, 201, 'nothing is refused by what is kept')

  await sql`update zaaktype set concept = true where uuid = ${uuid}`
  t.same(faultsOf(await post()), ['zaaktype: not-published'])
  await sql`update zaaktype set concept = false where uuid = ${uuid}`
  t.equal((await post()).status, 201)
})

t.test('a type that is gone makes no case', async (t) => {
  const test = await testApp(t)
  const zaaktype = await givenZaaktype(test)
  const post = () => test.call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype), CRS)
  t.equal((await post()).status, 201)
  await test.database.sql`truncate zaak cascade`
  await test.database.sql`delete from zaaktype where uuid = ${uuidOf(zaaktype)}`
  t.same(faultsOf(await post()), ['zaaktype: bad-url'])
})
