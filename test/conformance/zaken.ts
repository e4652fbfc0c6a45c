import { givenBesluittype, givenInformatieobjecttype, givenZaaktype, type TestApp, uuidOf } from '../app.ts'
import { givenBesluit } from '../besluiten/given.ts'
import { givenOtherServer } from '../other-server.ts'
import { CRS, givenDocument, givenEigenschap, givenResultaattype, givenZaak, ZAKEN, zaakBody } from '../zaken/given.ts'
import type { Line, Right } from './line.ts'

type Typen = Record<
  'zaaktype' | 'statustype' | 'resultaattype' | 'roltype' | 'documenttype' | 'eigenschap' | 'besluittype',
  string
>
const types = new WeakMap<TestApp, Promise<Typen>>()
let known: Typen

/** One zaaktype for all cases of these lines. */
async function theTypes(test: TestApp): Promise<Typen> {
  const made = types.get(test) ?? makeTypes(test)
  types.set(test, made)
  known = await made
  return known
}

async function makeTypes(test: TestApp): Promise<Typen> {
  const documenttype = await givenInformatieobjecttype(test, { omschrijving: 'Bij een zaak' })
  const { catalogus } = (await test.call('GET', documenttype)).body
  const besluittype = await givenBesluittype(test, { catalogus, omschrijving: 'In een zaak' })
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    besluittypen: [besluittype],
    statustypen: ['Begin', 'Eind'],
    roltypen: [{ omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' }],
    informatieobjecttypen: [documenttype],
  })
  const resultaattype = await givenResultaattype(test, zaaktype, { afleidingswijze: 'afgehandeld' })
  const eigenschap = await givenEigenschap(test, zaaktype, 'kleur')
  const { statustypen, roltypen } = (await test.call('GET', zaaktype)).body
  const found = await Promise.all(statustypen.map(async (url: string) => (await test.call('GET', url)).body))
  const statustype = found.find(({ isEindstatus }) => !isEindstatus).url
  return { zaaktype, statustype, resultaattype, roltype: roltypen[0], documenttype, eigenschap, besluittype }
}

const rights = (): Right[] => [
  {
    component: 'zrc',
    scopes: ['lezen', 'aanmaken', 'bijwerken', 'verwijderen', 'statussen.toevoegen'].map((name) => `zaken.${name}`),
    typeUuid: uuidOf(known.zaaktype),
    max: 'zeer_geheim',
  },
]

/** The body of something below a case, each time of a new case. */
const below =
  (values: (typen: Typen, test: TestApp, zaak: string) => object | Promise<object>): Line['given'] =>
  async (test) => {
    const typen = await theTypes(test)
    const zaak = await givenZaak(test, { zaaktype: typen.zaaktype })
    return { zaak: zaak.url, ...(await values(typen, test, zaak.url)) }
  }

const registers = new WeakMap<TestApp, ReturnType<typeof givenOtherServer>>()

/** A contactmoment, or as well a verzoek, in another register. */
async function givenKlantvraag(test: TestApp): Promise<string> {
  const question = { bronorganisatie: '517439943', tekst: 'Belt terug' }
  const made = registers.get(test) ?? givenOtherServer({ teardown: () => {} }, test, { '/kcm/vragen/1': question })
  registers.set(test, made)
  return `${(await made).root}/kcm/vragen/1`
}

export const zaken: Line[] = [
  {
    resource: 'zaak',
    path: `${ZAKEN}/zaken`,
    given: async (test) => zaakBody((await theTypes(test)).zaaktype, { kenmerken: [{ kenmerk: 'k', bron: 'b' }] }),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: 'zaken',
    headers: CRS.headers,
  },
  {
    resource: 'status',
    path: `${ZAKEN}/statussen`,
    given: below(({ statustype }) => ({ statustype, datumStatusGezet: '2026-03-02T10:00:00Z' })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET'],
    kanaal: 'zaken',
  },
  {
    resource: 'resultaat',
    path: `${ZAKEN}/resultaten`,
    given: below(({ resultaattype }) => ({ resultaattype })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: 'zaken',
  },
  {
    resource: 'rol',
    path: `${ZAKEN}/rollen`,
    given: below(({ roltype }) => ({
      roltype,
      betrokkeneType: 'natuurlijk_persoon',
      betrokkeneIdentificatie: { inpBsn: '111222333', inpA_nummer: '' },
      contactpersoonRol: { naam: 'Iemand' },
    })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'DELETE'],
    kanaal: 'zaken',
  },
  {
    resource: 'zaakobject',
    path: `${ZAKEN}/zaakobjecten`,
    given: below(() => ({ objectType: 'pand', objectIdentificatie: { identificatie: '1' } })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: 'zaken',
  },
  {
    resource: 'zaakinformatieobject',
    path: `${ZAKEN}/zaakinformatieobjecten`,
    given: below(async ({ documenttype }, test) => ({
      informatieobject: await givenDocument(test, documenttype),
    })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: 'zaken',
    onlyCreateAnnounced: true,
    bare: true,
  },
  {
    resource: 'substatus',
    path: `${ZAKEN}/substatussen`,
    given: below(({ statustype }, test, zaak) => givenStatus(test, zaak, statustype)),
    rights,
    list: ['GET', 'POST'],
    one: ['GET'],
    kanaal: 'zaken',
  },
  {
    resource: 'klantcontact',
    path: `${ZAKEN}/klantcontacten`,
    given: below(() => ({ datumtijd: '2026-03-02T10:00:00Z' })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET'],
    kanaal: 'zaken',
  },
  {
    resource: 'zaakeigenschap',
    path: `${ZAKEN}/zaken/:zaakUuid/zaakeigenschappen`,
    at: ({ zaak }) => `${ZAKEN}/zaken/${uuidOf(String(zaak))}/zaakeigenschappen`,
    given: below(({ eigenschap }) => ({ eigenschap, waarde: 'rood' })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: 'zaken',
    bare: true,
  },
  {
    resource: 'zaakbesluit',
    path: `${ZAKEN}/zaken/:zaakUuid/besluiten`,
    at: ({ zaak }) => `${ZAKEN}/zaken/${uuidOf(String(zaak))}/besluiten`,
    given: below(async ({ besluittype }, test, zaak) => ({
      besluit: (await givenBesluit(test, { besluittype, zaak })).url,
    })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'DELETE'],
    kanaal: 'zaken',
    onlyCreateAnnounced: true,
    bare: true,
    // The besluit says that it belongs to the case; a POST asks whether it does.
    records: 0,
    messages: 0,
    // A besluit of ours takes the relation with it. What is deleted here is one with a besluit elsewhere.
    beforeDelete: async ({ database: { sql } }, { url }) => {
      await sql`update zaakbesluit set besluit_uuid = null, besluit_url = 'https://elders.example/besluiten/1'
        where uuid = ${uuidOf(String(url))}`
    },
  },
  {
    resource: 'zaakcontactmoment',
    path: `${ZAKEN}/zaakcontactmomenten`,
    given: below(async (_, test) => ({ contactmoment: await givenKlantvraag(test) })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'DELETE'],
    kanaal: 'zaken',
    onlyCreateAnnounced: true,
    bare: true,
  },
  {
    resource: 'zaakverzoek',
    path: `${ZAKEN}/zaakverzoeken`,
    given: below(async (_, test) => ({ verzoek: await givenKlantvraag(test) })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'DELETE'],
    kanaal: 'zaken',
    onlyCreateAnnounced: true,
    bare: true,
  },
  {
    resource: 'zaaknotitie',
    path: `${ZAKEN}/zaaknotities`,
    given: below((_, __, zaak) => ({ onderwerp: 'Gebeld', tekst: 'Belt terug', gerelateerdAan: zaak })),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: null,
    unrecorded: true,
  },
]

async function givenStatus(test: TestApp, zaak: string, statustype: string): Promise<object> {
  const datumStatusGezet = '2026-03-02T10:00:00Z'
  await test.call('POST', `${ZAKEN}/statussen`, { zaak, statustype, datumStatusGezet })
  return { omschrijving: 'Een stap', tijdstip: datumStatusGezet }
}
