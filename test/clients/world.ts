// What clients find at a service: one type of everything, cases with what hangs on them.
import {
  givenBesluittype,
  givenCatalogus,
  givenInformatieobjecttype,
  givenZaaktype,
  type Json,
  type TestApp,
} from '../app.ts'
import { givenDocument, givenEigenschap, givenResultaattype, givenZaak, made, ZAKEN } from '../zaken/given.ts'

const CONTENT = { inhoud: 'QmVzdGU=', bestandsomvang: 5, bestandsnaam: 'brief.txt', formaat: 'text/plain' }

/** A case with one of everything that clients look for, a closed one, and another. */
export async function givenWorld(test: TestApp): Promise<Record<string, string>> {
  const { call } = test
  const catalogus = await givenCatalogus(test)
  const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Bijlage' })
  const besluittype = await givenBesluittype(test, { catalogus })
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    concept: true,
    besluittypen: [besluittype],
    statustypen: ['Ontvangen', 'Klaar'],
    roltypen: [
      { omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' },
      { omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' },
    ],
    informatieobjecttypen: [informatieobjecttype],
  })
  const resultaattype = await givenResultaattype(test, zaaktype, { afleidingswijze: 'afgehandeld' })
  const eigenschap = await givenEigenschap(test, zaaktype, 'kleur')
  await call('PATCH', zaaktype, { deelzaaktypen: [zaaktype] })
  await call('POST', `${zaaktype}/publish`)
  const { body } = await call('GET', zaaktype)
  const [statustype, eindstatus] = await inOrder(test, body.statustypen)
  const roltypen: Json[] = await Promise.all(body.roltypen.map(async (url: string) => (await call('GET', url)).body))
  const roltypeOf = (generiek: string) => roltypen.find((one) => one.omschrijvingGeneriek === generiek)!.url as string
  const types = { statustype, eindstatus, resultaattype, roltype: roltypeOf('behandelaar') } as Record<string, string>
  const full = await givenFullZaak(test, zaaktype, informatieobjecttype, types)
  const closed = await givenFullZaak(test, zaaktype, informatieobjecttype, types)
  await post(test, `${ZAKEN}/resultaten`, { zaak: closed.url, resultaattype })
  const datumStatusGezet = '2026-03-20T10:00:00Z'
  await post(test, `${ZAKEN}/statussen`, { zaak: closed.url, statustype: eindstatus, datumStatusGezet })
  return {
    ...types,
    catalogus,
    informatieobjecttype,
    besluittype,
    zaaktype,
    eigenschap,
    initiator: roltypeOf('initiator'),
    zaaktypeIdentificatie: body.identificatie,
    documenttypeOmschrijving: 'Bijlage',
    full: full.url,
    fullIdentificatie: full.identificatie,
    closed: closed.url,
    other: (await givenZaak(test, { zaaktype })).url,
  }
}

export async function post({ call }: TestApp, path: string, body: object): Promise<string> {
  return made(await call('POST', path, body)).url
}

async function inOrder({ call }: TestApp, urls: string[]): Promise<string[]> {
  const found: Json[] = await Promise.all(urls.map(async (url) => (await call('GET', url)).body))
  return found.sort((a, b) => a.volgnummer - b.volgnummer).map(({ url }) => url)
}

async function givenFullZaak(
  test: TestApp,
  zaaktype: string,
  documenttype: string,
  types: Record<string, string>,
): Promise<Json> {
  const zaak = await givenZaak(test, { zaaktype, vertrouwelijkheidaanduiding: 'openbaar', omschrijving: 'Melding' })
  const inZaak = { zaak: zaak.url }
  const person = { betrokkeneType: 'natuurlijk_persoon', betrokkeneIdentificatie: { inpBsn: '111222333' } }
  await post(test, `${ZAKEN}/rollen`, { ...inZaak, roltype: types.roltype, roltoelichting: 'Melder', ...person })
  const datumStatusGezet = '2026-03-02T10:00:00Z'
  await post(test, `${ZAKEN}/statussen`, { ...inZaak, statustype: types.statustype, datumStatusGezet })
  const overige = { objectType: 'overige', objectTypeOverige: 'taak', objectIdentificatie: { overigeData: {} } }
  await post(test, `${ZAKEN}/zaakobjecten`, { ...inZaak, ...overige })
  await post(test, `${ZAKEN}/zaakinformatieobjecten`, {
    ...inZaak,
    informatieobject: await givenDocument(test, documenttype, { ...CONTENT, indicatieGebruiksrecht: false }),
  })
  return zaak
}
