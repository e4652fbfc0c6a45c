// Cases and documents for the tests of the pages, made as a client makes them.
import { type TestApp, uuidOf } from '../app.ts'

export async function givenZaak(test: TestApp, zaaktype: string, values: object = {}) {
  const answer = await test.call(
    'POST',
    '/zaken/api/v1/zaken',
    {
      zaaktype,
      bronorganisatie: '000000000',
      verantwoordelijkeOrganisatie: '000000000',
      startdatum: '2026-11-01',
      ...values,
    },
    { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } },
  )
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body as { uuid: string; url: string; identificatie: string }
}

export async function givenDocument(test: TestApp, informatieobjecttype: string, values: object = {}) {
  const answer = await test.call('POST', '/documenten/api/v1/enkelvoudiginformatieobjecten', {
    informatieobjecttype,
    bronorganisatie: '000000000',
    creatiedatum: '2026-11-20',
    titel: 'Een brief',
    auteur: 'A. Schrijver',
    taal: 'nld',
    bestandsnaam: 'brief.txt',
    bestandsomvang: 5,
    inhoud: Buffer.from('hallo').toString('base64'),
    ...values,
  })
  if (answer.status !== 201) throw new Error(answer.text)
  return { url: answer.body.url as string, uuid: uuidOf(answer.body.url) }
}
