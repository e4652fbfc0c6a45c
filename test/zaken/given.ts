// What tests of cases need: a published zaaktype, and a case of it.
import { givenZaaktype, type Json, type TestApp } from '../app.ts'

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
export function made(answer: { status: number; text: string; body: Json }) {
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
  return answer.body
}

/** `name: code` of every fault in an answer. */
export const faultsOf = (answer: { body: Json }): string[] =>
  (answer.body?.invalidParams ?? []).map(({ name, code }: { name: string; code: string }) => `${name}: ${code}`)

/** Notes the statements that change a table. @returns takes what was noted: INSERT, UPDATE, DELETE */
export async function noteStatements({ database: { sql } }: TestApp, table: string): Promise<() => Promise<string[]>> {
  await sql.unsafe(`create table ${table}_statement (id bigint generated always as identity, soort text not null);
    create function note_${table}() returns trigger language plpgsql as $$
      begin insert into ${table}_statement (soort) values (tg_op); return null; end $$;
    create trigger noteer after insert or update or delete on ${table} execute function note_${table}()`)
  return async () => {
    const rows = await sql<
      { id: number; soort: string }[]
    >`delete from ${sql(`${table}_statement`)} returning id, soort`
    return rows.sort((a, b) => a.id - b.id).map(({ soort }) => soort)
  }
}

const ZTC = '/catalogi/api/v1'

/** A part of a zaaktype; its URL. */
export async function givenPart(test: TestApp, path: string, body: object): Promise<string> {
  return made(await test.call('POST', `${ZTC}/${path}`, body)).url
}

/** A resultaattype that counts in this way; its URL. */
export function givenResultaattype(test: TestApp, zaaktype: string, afleiding: object, more: object = {}) {
  return givenPart(test, 'resultaattypen', {
    zaaktype,
    omschrijving: `R${Math.random()}`.slice(0, 30),
    resultaattypeomschrijving: 'https://selectielijst.example/api/v1/resultaattypeomschrijvingen/1',
    selectielijstklasse: 'https://selectielijst.example/api/v1/resultaten/1',
    archiefnominatie: 'vernietigen',
    archiefactietermijn: 'P10Y',
    brondatumArchiefprocedure: afleiding,
    ...more,
  })
}

export function givenEigenschap(test: TestApp, zaaktype: string, naam: string) {
  return givenPart(test, 'eigenschappen', {
    zaaktype,
    naam,
    definitie: naam,
    specificatie: { formaat: 'tekst', lengte: '14', kardinaliteit: '1', waardenverzameling: [] },
  })
}

/** A document of this type; its URL. */
export async function givenDocument(test: TestApp, informatieobjecttype: string, values: object = {}): Promise<string> {
  const answer = await test.call('POST', '/documenten/api/v1/enkelvoudiginformatieobjecten', {
    bronorganisatie: '517439943',
    creatiedatum: '2026-03-02',
    titel: 'Brief',
    auteur: 'Iemand',
    taal: 'dut',
    informatieobjecttype,
    ...values,
  })
  return made(answer).url
}

/** A zaaktype with a begin and an end, and a resultaattype. */
export async function givenType(
  test: TestApp,
  afleiding: object = { afleidingswijze: 'afgehandeld' },
  more: object = {},
  values: object = {},
) {
  const zaaktype = await givenZaaktype(test, { statustypen: ['Begin', 'Eind'], ...values })
  const { body } = await test.call('GET', zaaktype)
  const typen = await Promise.all(body.statustypen.map(async (url: string) => (await test.call('GET', url)).body))
  const find = (eind: boolean) => typen.find(({ isEindstatus }) => isEindstatus === eind).url as string
  const resultaattype = await givenResultaattype(test, zaaktype, afleiding, more)
  return { zaaktype, begin: find(false), eind: find(true), resultaattype }
}
