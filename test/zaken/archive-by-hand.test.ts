// zrc-021: where a field of archiving comes from. What somebody set stays; all else follows its source.
import t from 'tap'
import { type Json, testApp } from '../app.ts'
import { CRS, faultsOf, givenEigenschap, givenType, givenZaak, made, ZAKEN } from './given.ts'

const test = await testApp(t)
const { call, database } = test
const { sql } = database
const afgehandeld = await givenType(test)
const read = async ({ url }: { url: string }) => {
  const { archiefnominatie, archiefactiedatum, startdatumBewaartermijn } = (await call('GET', url, undefined, CRS)).body
  return [archiefnominatie, archiefactiedatum, startdatumBewaartermijn]
}
const patch = async ({ url }: { url: string }, body: object) => {
  const answer = await call('PATCH', url, body, CRS)
  t.equal(answer.status, 200, answer.text)
}
const close = async (zaak: Json, { resultaattype, eind }: Json, datumStatusGezet = '2026-03-05T10:00:00Z') => {
  const resultaat = made(await call('POST', `${ZAKEN}/resultaten`, { zaak: zaak.url, resultaattype }))
  made(await call('POST', `${ZAKEN}/statussen`, { zaak: zaak.url, statustype: eind, datumStatusGezet }))
  return resultaat
}
const status = async (zaak: Json, statustype: string, datumStatusGezet: string) =>
  made(await call('POST', `${ZAKEN}/statussen`, { zaak: zaak.url, statustype, datumStatusGezet }))

t.test('what somebody set of a closed case stays, whatever is mended there', async (t) => {
  const zaak = await givenZaak(test, afgehandeld)
  const resultaat = await close(zaak, afgehandeld)
  t.same(await read(zaak), ['vernietigen', '2036-03-05', '2026-03-05'])
  await patch(zaak, { archiefnominatie: 'blijvend_bewaren', archiefactiedatum: '2099-01-01' })
  const kept = ['blijvend_bewaren', '2099-01-01', '2026-03-05']
  await patch({ url: resultaat.url }, { toelichting: 'Een tikfout minder' })
  t.same(await read(zaak), kept, 'a toelichting is mended')
  await status(zaak, afgehandeld.eind, '2026-03-07T10:00:00Z')
  t.same(await read(zaak), ['blijvend_bewaren', '2099-01-01', '2026-03-07'], 'the day of the end is mended')
  t.equal((await call('DELETE', resultaat.url)).status, 204)
  t.same(await read(zaak), ['blijvend_bewaren', '2099-01-01', null], 'the resultaat goes')
  const [row] = await sql<{ by: string }[]>`select set_by as by from archive_by_hand where field = 'archiefactiedatum'
    and zaak_id = (select id from zaak where uuid = ${zaak.uuid})`
  t.equal(row?.by, 'Gebruiker Een')
  await patch(zaak, { archiefnominatie: null, archiefactiedatum: null })
  await close({ url: zaak.url }, afgehandeld, '2026-03-08T10:00:00Z')
  t.same(await read(zaak), ['vernietigen', '2036-03-08', '2026-03-08'], 'what is emptied is derived again')
  await status(zaak, afgehandeld.begin, '2026-03-09T10:00:00Z')
  t.same(await read(zaak), [null, null, null], 'zrc-008')
})

t.test('what stays as it was is no decision, and a corrected end is a new term', async (t) => {
  const zaak = await givenZaak(test, afgehandeld)
  await close(zaak, afgehandeld)
  await call('PUT', zaak.url, (await call('GET', zaak.url, undefined, CRS)).body, CRS)
  await status(zaak, afgehandeld.eind, '2026-04-01T10:00:00Z')
  t.same(await read(zaak), ['vernietigen', '2036-04-01', '2026-04-01'])
})

t.test('zrc-021: an archiefnominatie that the case has is not taken over from the resultaattype', async (t) => {
  for (const [given, archived] of [
    [{}, ['vernietigen', '2036-03-05', '2026-03-05']],
    [{ archiefnominatie: 'blijvend_bewaren' }, ['blijvend_bewaren', '2036-03-05', '2026-03-05']],
    [{ archiefactiedatum: '2050-01-01' }, ['vernietigen', '2036-03-05', '2026-03-05']],
    [
      { archiefnominatie: 'blijvend_bewaren', archiefactiedatum: '2050-01-01' },
      ['blijvend_bewaren', '2050-01-01', '2026-03-05'],
    ],
    [{ startdatumBewaartermijn: '2020-01-01' }, ['vernietigen', '2030-01-01', '2020-01-01']],
  ] as const) {
    const name = JSON.stringify(given)
    const made = await givenZaak(test, { ...afgehandeld, ...given })
    await close(made, afgehandeld)
    t.same(await read(made), archived, `made with ${name}`)
    const patched = await givenZaak(test, afgehandeld)
    await patch(patched, given)
    await close(patched, afgehandeld)
    t.same(await read(patched), archived, `changed with ${name}`)
  }
})

t.test('a source that goes takes its date along; one that says no day is refused', async (t) => {
  const byEigenschap = await givenType(test, { afleidingswijze: 'eigenschap', datumkenmerk: 'einde' })
  const eigenschap = await givenEigenschap(test, byEigenschap.zaaktype, 'einde')
  const zaak = await givenZaak(test, byEigenschap)
  const body = { zaak: zaak.url, eigenschap, waarde: '20300131' }
  const { url } = made(await call('POST', `${zaak.url}/zaakeigenschappen`, body))
  await close(zaak, byEigenschap)
  t.same(await read(zaak), ['vernietigen', '2040-01-31', '2030-01-31'])
  t.same(faultsOf(await call('PATCH', url, { waarde: 'binnenkort' })), ['nonFieldErrors: archiefactiedatum-error'])
  await patch({ url }, { waarde: '20310131' })
  t.same(await read(zaak), ['vernietigen', '2041-01-31', '2031-01-31'])
  t.equal((await call('DELETE', url)).status, 204)
  t.same(await read(zaak), ['vernietigen', null, null])

  const byObject = await givenType(test, {
    afleidingswijze: 'zaakobject',
    datumkenmerk: 'datum',
    objecttype: 'overige',
  })
  const other = await givenZaak(test, byObject)
  const object = (datum: string) =>
    call('POST', `${ZAKEN}/zaakobjecten`, {
      ...{ zaak: other.url, objectType: 'overige', objectTypeOverige: 'ding' },
      objectIdentificatie: { overigeData: { datum } },
    })
  const [, second] = [made(await object('2031-02-03')), made(await object('2033-02-03'))]
  await close(other, byObject)
  t.same(await read(other), ['vernietigen', '2043-02-03', '2033-02-03'])
  t.equal((await call('DELETE', second.url)).status, 204)
  t.same(await read(other), ['vernietigen', '2041-02-03', '2031-02-03'], 'the one that is left counts')
  t.same(faultsOf(await object('morgen')), ['nonFieldErrors: archiefactiedatum-error'])

  const part = await givenType(test, { afleidingswijze: 'hoofdzaak' }, {}, { identificatie: 'DEEL' })
  const whole = await givenType(test, undefined, {}, { identificatie: 'HOOFD' })
  const hoofdzaak = await givenZaak(test, whole)
  const deelzaak = await givenZaak(test, part)
  await sql`update zaak set hoofdzaak_id = (select id from zaak where uuid = ${hoofdzaak.uuid}) where uuid = ${deelzaak.uuid}`
  await close(deelzaak, part)
  await close(hoofdzaak, whole)
  t.same(await read(deelzaak), ['vernietigen', '2036-03-05', '2026-03-05'])
  await patch(deelzaak, { hoofdzaak: null })
  t.same(await read(deelzaak), ['vernietigen', null, null], 'it is a part of nothing')
})

t.test('a day that was set by hand stays when a source changes', async (t) => {
  const byEigenschap = await givenType(test, { afleidingswijze: 'eigenschap', datumkenmerk: 'einde' })
  const eigenschap = await givenEigenschap(test, byEigenschap.zaaktype, 'einde')
  const zaak = await givenZaak(test, byEigenschap)
  await close(zaak, byEigenschap)
  await patch(zaak, { archiefactiedatum: '2077-01-01' })
  made(await call('POST', `${zaak.url}/zaakeigenschappen`, { zaak: zaak.url, eigenschap, waarde: '20300131' }))
  t.same(await read(zaak), ['vernietigen', '2077-01-01', '2030-01-31'])
})

t.test('what was decided before it was kept where a field comes from, is a decision', async (t) => {
  const zaak = await givenZaak(test, afgehandeld)
  const resultaat = await close(zaak, afgehandeld)
  await sql`update zaak set archiefnominatie = 'blijvend_bewaren', archiefactiedatum = '2099-01-01' where uuid = ${zaak.uuid}`
  await sql`select keep_decided_archiving(null, 'overgenomen')`
  await patch({ url: resultaat.url }, { toelichting: 'x' })
  t.same(await read(zaak), ['blijvend_bewaren', '2099-01-01', '2026-03-05'])
})
