// Examples made in a catalogue, with the functions and the rules of the API.
import { sql } from 'kysely'
import type { Mutation } from '../../core/mutate.ts'
import { expected } from '../../database/rows.ts'
import { readInput } from '../../http/input.ts'
import { link, uuidOf } from '../../http/links.ts'
import { BesluittypeInput, createBesluittype, publishBesluittype } from '../besluittypen.ts'
import {
  createInformatieobjecttype,
  InformatieobjecttypeInput,
  publishInformatieobjecttype,
} from '../informatieobjecttypen.ts'
import { noKlasse, type Selectielijst } from '../selectielijst.ts'
import { ZaaktypeInput } from '../zaaktype/columns.ts'
import { createZaaktype } from '../zaaktype/create.ts'
import { createEigenschap, EigenschapInput } from '../zaaktype/eigenschappen.ts'
import { publishZaaktype } from '../zaaktype/publish.ts'
import { askSelectielijst, type Sources } from '../zaaktype/resultaattype-selectielijst.ts'
import { createResultaattype, ResultaattypeInput } from '../zaaktype/resultaattypen.ts'
import { createRoltype, RoltypeInput } from '../zaaktype/roltypen.ts'
import { createStatustype, StatustypeInput } from '../zaaktype/statustypen.ts'
import {
  createZaaktypeInformatieobjecttype,
  ZaaktypeInformatieobjecttypeInput,
} from '../zaaktype/zaaktype-informatieobjecttypen.ts'
import { type Example, type ExampleZaaktype, GENERIC, ROOT } from './definition.ts'
import { PERMIT } from './permit.ts'
import { SIMPLE_REQUEST } from './simple-request.ts'
import { SUBSIDY } from './subsidy.ts'

export const EXAMPLES: readonly Example[] = [SIMPLE_REQUEST, PERMIT, SUBSIDY]

/** What the selectielijst that is configured knows of an example. It is asked before the transaction begins. */
export type Verified = { procestypen: Set<string>; sources: Map<string, Sources & { klasseUrl: string }> }

/**
 * Asks the selectielijst what it knows: an address that it does not know is left open, so that somebody chooses it.
 * @param base our own address
 */
export async function verifyExample(selectielijst: Selectielijst, example: Example, base: string): Promise<Verified> {
  const verified: Verified = { procestypen: new Set(), sources: new Map() }
  for (const { procestype, resultaattypen } of example.zaaktypen) {
    const url = `${ROOT}procestypen/${procestype}`
    const known = (await selectielijst.find(url, 'ProcesType')).kind !== 'fault'
    if (known) verified.procestypen.add(procestype)
    for (const { generiek, klasse } of resultaattypen) {
      const klasseUrl = known && klasse ? `${ROOT}resultaten/${klasse}` : noKlasse(base)
      const asked = await askSelectielijst(selectielijst, {
        resultaattypeomschrijving: `${ROOT}resultaattypeomschrijvingen/${GENERIC[generiek]}`,
        selectielijstklasse: klasseUrl,
      })
      const open = asked.klasse.kind === 'fault' || klasse === undefined
      verified.sources.set(`${procestype} ${generiek} ${klasse}`, {
        // The generic name is that of the national list, whatever list is configured.
        omschrijving: { kind: 'ok', body: { omschrijving: generiek } },
        klasse: open ? { kind: 'unverified' } : asked.klasse,
        klasseUrl: open ? noKlasse(base) : klasseUrl,
      })
    }
  }
  return verified
}

/**
 * Makes the types of an example. Document types and types of decisions that the catalogue has already are used.
 * @param options.publish makes them usable at once
 * @returns the addresses of the zaaktypen
 */
export async function loadExample(
  m: Mutation,
  catalogusUuid: string,
  example: Example,
  verified: Verified,
  { beginGeldigheid, publish = false }: { beginGeldigheid: string; publish?: boolean },
): Promise<{ url: string; omschrijving: string }[]> {
  const { base } = m.actor
  const shared = { catalogus: link(base, 'catalogus', catalogusUuid), beginGeldigheid }
  for (const body of example.documenttypen) {
    if (await exists(m, 'informatieobjecttype', catalogusUuid, body.omschrijving)) continue
    const made = await createInformatieobjecttype(m, readInput(InformatieobjecttypeInput, { ...body, ...shared }))
    if (publish) await publishInformatieobjecttype(m, uuidOf(made.url))
  }
  for (const body of example.besluittypen) {
    if (await exists(m, 'besluittype', catalogusUuid, body.omschrijving)) continue
    const made = await createBesluittype(m, readInput(BesluittypeInput, { ...body, ...shared }))
    if (publish) await publishBesluittype(m, uuidOf(made.url))
  }
  const made: { url: string; omschrijving: string }[] = []
  for (const one of example.zaaktypen) {
    if (await exists(m, 'zaaktype', catalogusUuid, one.zaaktype.identificatie)) continue
    const zaaktype = await makeZaaktype(m, one, shared, verified)
    if (publish) await publishZaaktype(m, uuidOf(zaaktype.url))
    made.push(zaaktype)
  }
  return made
}

async function makeZaaktype(
  m: Mutation,
  example: ExampleZaaktype,
  shared: { catalogus: string; beginGeldigheid: string },
  { procestypen, sources }: Verified,
): Promise<{ url: string; omschrijving: string }> {
  const { url: zaaktype, omschrijving } = await createZaaktype(
    m,
    readInput(ZaaktypeInput, {
      ...example.zaaktype,
      ...shared,
      versiedatum: shared.beginGeldigheid,
      selectielijstProcestype: procestypen.has(example.procestype) ? `${ROOT}procestypen/${example.procestype}` : '',
      besluittypen: example.besluittypen,
      gerelateerdeZaaktypen: example.vervolg.map((identificatie) => ({
        zaaktype: identificatie,
        aardRelatie: 'vervolg',
      })),
    }),
  )
  const statussen = new Map<string | undefined, string>()
  for (const [place, body] of example.statustypen.entries()) {
    const { url } = await createStatustype(m, readInput(StatustypeInput, { ...body, zaaktype, volgnummer: place + 1 }))
    statussen.set(body.omschrijving, url)
  }
  const statustype = (name: string | undefined) => statussen.get(name) ?? null
  for (const body of example.roltypen) await createRoltype(m, readInput(RoltypeInput, { ...body, zaaktype }))
  for (const { status, ...body } of example.eigenschappen)
    await createEigenschap(m, readInput(EigenschapInput, { ...body, zaaktype, statustype: statustype(status) }))
  for (const [place, { naam, richting, status }] of example.documenten.entries())
    await createZaaktypeInformatieobjecttype(
      m,
      readInput(ZaaktypeInformatieobjecttypeInput, {
        zaaktype,
        informatieobjecttype: naam,
        volgnummer: place + 1,
        richting,
        statustype: statustype(status),
      }),
    )
  for (const { generiek, klasse, ...body } of example.resultaattypen) {
    const { klasseUrl, ...found } = expected(sources.get(`${example.procestype} ${generiek} ${klasse}`))
    const input = readInput(ResultaattypeInput, {
      ...body,
      zaaktype,
      resultaattypeomschrijving: `${ROOT}resultaattypeomschrijvingen/${GENERIC[generiek]}`,
      selectielijstklasse: klasseUrl,
      brondatumArchiefprocedure: { afleidingswijze: 'afgehandeld' },
    })
    await createResultaattype(m, input, found)
  }
  return { url: zaaktype, omschrijving }
}

async function exists(
  m: Mutation,
  type: 'zaaktype' | 'informatieobjecttype' | 'besluittype',
  catalogus: string,
  name: string,
) {
  const key = sql.raw(type === 'zaaktype' ? 'identificatie' : 'omschrijving')
  const { rows } = await sql`
    select 1 from ${sql.table(type)} t join catalogus c on c.id = t.catalogus_id
    where c.uuid = ${catalogus} and t.${key} = ${name} limit 1`.execute(m.trx)
  return rows.length > 0
}
