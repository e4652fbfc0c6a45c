import t from 'tap'
import { givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { csvText, givenFile, goodRow, runImport } from '../documenten/importing.ts'
import { CRS, givenZaak, ZAKEN } from './given.ts'

t.test('an import links documents to their cases, by the rules of the API', async (t) => {
  const test = await testApp(t)
  const type = await givenInformatieobjecttype(test)
  const { catalogus } = (await test.call('GET', type)).body
  const zaaktype = await givenZaaktype(test, { catalogus, informatieobjecttypen: [type] })
  const zaak = await givenZaak(test, { zaaktype })
  const others = await givenZaak(test)
  const archived = await givenZaak(test, { zaaktype, archiefnominatie: 'vernietigen', archiefactiedatum: '2030-01-01' })
  await test.call('PATCH', archived.url, { archiefstatus: 'gearchiveerd' }, CRS)
  await givenFile(test, 'a.txt')
  const row = (zaakUuid: string) => goodRow(type, 'a.txt', { zaakUuid })
  const { rows } = await runImport(
    test,
    csvText([row(zaak.uuid), row(zaak.uuid), row(others.uuid), row(archived.uuid), row(zaaktype.slice(-36)), row('')]),
  )
  const remarks = rows.map((one) => one.opmerking ?? one.comment ?? JSON.stringify(one))
  t.equal(rows.length, 6)
  t.match(remarks[2], /hoort niet bij het zaaktype/)
  t.match(remarks[3], /gearchiveerd/)
  t.match(remarks[4], /bestaat niet/)
  const links = await test.call('GET', `${ZAKEN}/zaakinformatieobjecten?zaak=${encodeURIComponent(zaak.url)}`)
  t.equal(links.body.length, 2)
  const mirrors = await test.database.sql`select 1 from objectinformatieobject where object_uuid = ${zaak.uuid}`
  t.equal(mirrors.length, 2)
  const [made] = await test.database.sql`select count(*)::int as n from enkelvoudiginformatieobject`
  t.equal(made!.n, 3)
})
