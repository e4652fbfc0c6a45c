import { givenCatalogus, givenInformatieobjecttype, givenZaaktype, type TestApp, zaaktypeBody } from '../app.ts'
import type { Line } from './line.ts'

const API = '/catalogi/api/v1'
const rights = () => [{ component: 'ztc', scopes: ['catalogi.lezen', 'catalogi.schrijven'] }]
const list: Line['list'] = ['GET', 'POST']
const one: Line['one'] = ['GET', 'PUT', 'PATCH', 'DELETE']
const all = () => '?status=alles'
const concept = (test: TestApp) => givenZaaktype(test, { concept: true })
let counter = 0

export const catalogi: Line[] = [
  {
    resource: 'catalogus',
    path: `${API}/catalogussen`,
    given: async () => {
      const letter = (place: number) => String.fromCharCode(65 + (Math.floor(counter / 26 ** place) % 26))
      counter++
      return { domein: `C${letter(0)}${letter(1)}`, rsin: '296648875', contactpersoonBeheerNaam: 'Beheerder' }
    },
    rights,
    list,
    one,
    kanaal: null,
  },
  {
    resource: 'zaaktype',
    path: `${API}/zaaktypen`,
    given: async (test) => zaaktypeBody(await givenCatalogus(test)),
    rights,
    list,
    one,
    kanaal: 'zaaktypen',
    query: all,
  },
  {
    resource: 'informatieobjecttype',
    path: `${API}/informatieobjecttypen`,
    given: async (test) => ({
      catalogus: await givenCatalogus(test),
      omschrijving: 'Brief',
      vertrouwelijkheidaanduiding: 'openbaar',
      beginGeldigheid: '2024-01-01',
      informatieobjectcategorie: 'correspondentie',
    }),
    rights,
    list,
    one,
    kanaal: 'informatieobjecttypen',
    query: all,
  },
  {
    resource: 'besluittype',
    path: `${API}/besluittypen`,
    given: async (test) => ({
      catalogus: await givenCatalogus(test),
      omschrijving: 'Besluit',
      publicatieIndicatie: true,
      informatieobjecttypen: [],
      beginGeldigheid: '2024-01-01',
    }),
    rights,
    list,
    one,
    kanaal: 'besluittypen',
    query: all,
  },
  {
    resource: 'statustype',
    path: `${API}/statustypen`,
    given: async (test) => ({
      omschrijving: 'Ontvangen',
      zaaktype: await concept(test),
      volgnummer: 1,
      checklistitemStatustype: [{ itemnaam: 'Compleet', vraagstelling: 'Is alles er?' }],
    }),
    rights,
    list,
    one,
    kanaal: null,
    query: all,
  },
  {
    resource: 'resultaattype',
    path: `${API}/resultaattypen`,
    given: async (test) => ({
      zaaktype: await concept(test),
      omschrijving: 'Toegekend',
      resultaattypeomschrijving: 'https://selectielijst.example/api/v1/resultaattypeomschrijvingen/1',
      selectielijstklasse: 'https://selectielijst.example/api/v1/resultaten/1',
      archiefnominatie: 'vernietigen',
      archiefactietermijn: 'P5Y',
      brondatumArchiefprocedure: { afleidingswijze: 'afgehandeld' },
    }),
    rights,
    list,
    one,
    kanaal: null,
    query: all,
  },
  {
    resource: 'roltype',
    path: `${API}/roltypen`,
    given: async (test) => ({
      zaaktype: await concept(test),
      omschrijving: 'Aanvrager',
      omschrijvingGeneriek: 'initiator',
    }),
    rights,
    list,
    one,
    kanaal: null,
    query: all,
  },
  {
    resource: 'eigenschap',
    path: `${API}/eigenschappen`,
    given: async (test) => ({
      naam: 'kenteken',
      definitie: 'Het kenteken',
      zaaktype: await concept(test),
      specificatie: { formaat: 'tekst', lengte: '8', kardinaliteit: '1' },
    }),
    rights,
    list,
    one,
    kanaal: null,
    query: all,
  },
  {
    resource: 'zaaktypeinformatieobjecttype',
    path: `${API}/zaaktype-informatieobjecttypen`,
    given: async (test) => {
      const catalogus = await givenCatalogus(test)
      return {
        zaaktype: await givenZaaktype(test, { catalogus, concept: true }),
        informatieobjecttype: await givenInformatieobjecttype(test, { catalogus }),
        volgnummer: 1,
        richting: 'inkomend',
      }
    },
    rights,
    list,
    one,
    kanaal: null,
    query: all,
  },
  {
    resource: 'zaakobjecttype',
    path: `${API}/zaakobjecttypen`,
    given: async (test) => ({
      zaaktype: await concept(test),
      anderObjecttype: true,
      objecttype: 'https://objecttypen.example/boom',
      relatieOmschrijving: 'De boom',
    }),
    rights,
    list,
    one,
    kanaal: null,
    query: all,
  },
]
