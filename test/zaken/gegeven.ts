// What tests of cases need: a published zaaktype, and a case of it.
import { givenZaaktype, type TestApp } from '../app.ts'

export const ZAKEN = '/zaken/api/v1'
export const CRS = { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } }

export const zaakBody = (zaaktype: string, values: object = {}) => ({
  zaaktype,
  bronorganisatie: '517439943',
  verantwoordelijkeOrganisatie: '517439943',
  startdatum: '2026-03-02',
  ...values,
})

/** A case; the body of the answer. */
export async function givenZaak(test: TestApp, values: { zaaktype?: string; [field: string]: unknown } = {}) {
  const zaaktype = values.zaaktype ?? (await givenZaaktype(test))
  return made(await test.call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, values), CRS))
}

/** The body of an answer that has to be a 201. */
export function made(answer: { status: number; text: string; body: any }) {
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
  return answer.body
}

/** `name: code` of every fault in an answer. */
export const faultsOf = (answer: { body: any }): string[] =>
  (answer.body?.invalidParams ?? []).map(({ name, code }: { name: string; code: string }) => `${name}: ${code}`)
