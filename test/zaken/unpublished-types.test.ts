// ALLOW_UNPUBLISHED_TYPES: types that are still a concept may be used, in every way that something is made.
import t from 'tap'
import { givenBesluittype, givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { givenBesluit } from '../besluiten/given.ts'
import { givenDocument } from '../documenten/documenten.ts'
import { csvText, givenFile, goodRow, runImport } from '../documenten/importing.ts'
import { CRS, faultsOf, givenZaak } from './given.ts'

t.test('with the setting a concept is used for cases, documents, besluiten and rows of an import', async (t) => {
  const test = await testApp(t, { ALLOW_UNPUBLISHED_TYPES: 'true' })
  const concept = { concept: true }
  const zaaktype = await givenZaaktype(test, concept)
  const zaak = await givenZaak(test, { zaaktype })
  t.equal(zaak.zaaktype, zaaktype)
  const other = await givenZaaktype(test, concept)
  const moved = await test.call('PATCH', zaak.url, { zaaktype: other }, CRS)
  t.same(faultsOf(moved), ['zaaktype: wijzigen-niet-toegelaten'], 'no other rule is lifted')

  const informatieobjecttype = await givenInformatieobjecttype(test, concept)
  const document = await givenDocument(test, { informatieobjecttype })
  t.equal(document.informatieobjecttype, informatieobjecttype)
  await givenFile(test, 'brief.txt', 'de inhoud')
  const { rows } = await runImport(test, csvText([goodRow(informatieobjecttype, 'brief.txt')]))
  t.match(rows[0], { opmerking: '', resultaat: 'Geïmporteerd' })

  const besluittype = await givenBesluittype(test, concept)
  t.match(await givenBesluit(test, { besluittype }), { besluittype })
})
