import { type Answer, givenClient, type TestApp, uuidOf, zaaktypeBody } from '../app.ts'

export const ZTC = '/catalogi/api/v1'

/** What is wrong with a request: `name code` of each fault. */
export function faults({ body }: Answer): string[] {
  return (body?.invalidParams ?? []).map(({ name, code }: { name: string; code: string }) => `${name} ${code}`)
}

/** Clients that may read and write, and the same with the forced scopes. */
export async function givenWriters(test: TestApp): Promise<void> {
  const scopes = ['catalogi.lezen', 'catalogi.schrijven']
  await givenClient(test, 'schrijver', [{ component: 'ztc', scopes }])
  const forced = [...scopes, 'catalogi.geforceerd-schrijven', 'catalogi.geforceerd-verwijderen']
  await givenClient(test, 'corrector', [{ component: 'ztc', scopes: forced }])
}

/** Posts, expects a 201, and answers the URL. */
export async function post(test: TestApp, path: string, body: object): Promise<string> {
  const answer = await test.call('POST', `${ZTC}/${path}`, body)
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.body.url
}

export const publish = (test: TestApp, url: string, as = 'beheer') =>
  test.call('POST', `${url}/publish`, undefined, { as })

export const iotBody = (catalogus: string, omschrijving = 'Brief') => ({
  catalogus,
  omschrijving,
  vertrouwelijkheidaanduiding: 'openbaar',
  beginGeldigheid: '2024-01-01',
  informatieobjectcategorie: 'correspondentie',
})
export const besluittypeBody = (catalogus: string, omschrijving = 'Besluit') => ({
  catalogus,
  omschrijving,
  publicatieIndicatie: false,
  informatieobjecttypen: [] as string[],
  beginGeldigheid: '2024-01-01',
})
export const eigenschapBody = (zaaktype: string, naam = 'kenteken') => ({
  zaaktype,
  naam,
  definitie: 'd',
  specificatie: { formaat: 'tekst', lengte: '8', kardinaliteit: '1' },
})
export const resultaattypeBody = (zaaktype: string) => ({
  zaaktype,
  omschrijving: 'Toegekend',
  resultaattypeomschrijving: 'https://selectielijst.example/api/v1/resultaattypeomschrijvingen/1',
  selectielijstklasse: 'https://selectielijst.example/api/v1/resultaten/1',
  archiefnominatie: 'vernietigen',
  archiefactietermijn: 'P5Y',
  brondatumArchiefprocedure: { afleidingswijze: 'afgehandeld' } as object | null,
})
export const ziotBody = (zaaktype: string, informatieobjecttype: string) => ({
  zaaktype,
  informatieobjecttype,
  volgnummer: 1,
  richting: 'inkomend',
})
export { uuidOf, zaaktypeBody }
