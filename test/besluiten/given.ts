// What tests of besluiten need: a published besluittype that fits a zaaktype and a documenttype, and besluiten of it.
import {
  type Answer,
  givenBesluittype,
  givenCatalogus,
  givenInformatieobjecttype,
  givenZaaktype,
  type TestApp,
} from '../app.ts'
import { givenDocument } from '../documenten/documenten.ts'
import { givenZaak } from '../zaken/given.ts'

export const BRC = '/besluiten/api/v1'
export const BESLUITEN = `${BRC}/besluiten`
export const BIO = `${BRC}/besluitinformatieobjecten`

/** The body of a create that is accepted. */
export const besluitBody = (besluittype: string, values: object = {}): Record<string, unknown> => ({
  verantwoordelijkeOrganisatie: '517439943',
  besluittype,
  datum: '2024-03-01',
  ingangsdatum: '2024-03-02',
  ...values,
})

/** The body of an answer that has to be a 201. */
export function made(answer: Answer) {
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
  return answer.body
}

/** A besluit; what the create answered. */
export async function givenBesluit(test: TestApp, values: { besluittype?: string; [field: string]: unknown } = {}) {
  const besluittype = values.besluittype ?? (await givenBesluittype(test))
  return made(await test.call('POST', BESLUITEN, besluitBody(besluittype, values)))
}

/** One catalogue with a zaaktype, a documenttype and a besluittype that belongs to both. */
export async function givenTypen(test: TestApp, zaaktypeValues: object = {}) {
  const catalogus = await givenCatalogus(test)
  const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus })
  const besluittype = await givenBesluittype(test, { catalogus, informatieobjecttypen: [informatieobjecttype] })
  const zaaktype = await givenZaaktype(test, { catalogus, besluittypen: [besluittype], ...zaaktypeValues })
  return {
    catalogus,
    informatieobjecttype,
    besluittype,
    zaaktype,
    zaak: () => givenZaak(test, { zaaktype }),
    document: () => givenDocument(test, { informatieobjecttype }),
    besluit: (values: object = {}) => givenBesluit(test, { besluittype, ...values }),
  }
}

/** `name: code` of every fault in an answer. */
export const faults = ({ body }: Answer): string[] =>
  (body?.invalidParams ?? []).map(({ name, code }: { name: string; code: string }) => `${name}: ${code}`)
