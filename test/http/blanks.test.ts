// Blanks around a text belong to no value: they are dropped before length, uniqueness and overlap are judged.
import t from 'tap'
import Type from 'typebox'
import { findBlankTexts } from '../../src/database/blank-texts.ts'
import { readInput, Text, Verbatim } from '../../src/http/input.ts'
import { givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { EIO, newDocument } from '../documenten/documenten.ts'
import { CRS, faultsOf, ZAKEN, zaakBody } from '../zaken/given.ts'

t.test(
  'blanks are dropped before the length is judged, also those of Unicode, and those of a secret are not',
  async (t) => {
    const Schema = Type.Object({ naam: Text(3), geheim: Verbatim({ maxLength: 5 }) })
    const blanks = '\t\n\u00a0\u2003\u202f\u3000\ufeff '
    t.strictSame(readInput(Schema, { naam: `${blanks}abc${blanks}`, geheim: ' abc ' }), {
      naam: 'abc',
      geheim: ' abc ',
    })
  },
)

t.test('two numbers that differ in blanks are one', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const zaaktype = await givenZaaktype(test)
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const postZaak = (values: object) => call('POST', `${ZAKEN}/zaken`, { ...zaakBody(zaaktype), ...values }, CRS)
  const postDocument = (values: object) => call('POST', EIO, newDocument(informatieobjecttype, values))

  await t.test('of a case and of a document', async (t) => {
    for (const post of [postZaak, postDocument]) {
      const first = await post({ identificatie: 'W' })
      t.equal(first.status, 201, first.text)
      for (const identificatie of ['W ', ' W', 'W\u00a0', '\tW\n'])
        t.match(
          faultsOf(await post({ identificatie })),
          ['identificatie: identificatie-niet-uniek'],
          JSON.stringify(identificatie),
        )
    }
  })

  await t.test('a filter drops them too', async (t) => {
    const { body } = await call('GET', `${ZAKEN}/zaken?identificatie=${encodeURIComponent('\u00a0W ')}`, undefined, CRS)
    t.equal(body.count, 1)
    const all = await call('GET', `${ZAKEN}/zaken?identificatie=%20`, undefined, CRS)
    t.equal(all.status, 200, 'one of blanks alone is no filter')
  })

  await t.test('a required text of blanks is blank', async (t) => {
    for (const [field, value] of [
      ['titel', '   '],
      ['auteur', '\t\n'],
      ['titel', '\u00a0'],
      ['taal', '   '],
    ] as const)
      t.match(
        faultsOf(await postDocument({ [field]: value })),
        [`${field}: blank`],
        `${field} ${JSON.stringify(value)}`,
      )
  })

  await t.test('what another way brought in is found, named and left as it is', async (t) => {
    t.strictSame(await findBlankTexts(database.sql), [])
    const [row] = await database.sql<{ uuid: string }[]>`
      update zaak set identificatie = ${'V\u00a0'} where identificatie = 'W' returning uuid`
    const found = await findBlankTexts(database.sql)
    t.strictSame(found, [{ table: 'zaak', column: 'identificatie', count: 1, examples: [row?.uuid] }])
    const after = await database.sql`select from zaak where identificatie = ${'V\u00a0'}`
    t.equal(after.length, 1)
  })
})
