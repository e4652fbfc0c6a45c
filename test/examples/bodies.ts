// A body for each operation that takes JSON, made of the lines of the conformance test and tried. The pages at /docs, the OpenAPI
// documents and the collections in docs/collections show them (npm run examples).
import { glob } from 'node:fs/promises'
import { BASE, givenBesluittype, givenInformatieobjecttype, type TestApp, uuidOf } from '../app.ts'
import type { Line } from '../conformance/line.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { CRS, givenDocument, givenType, givenZaak, ZAKEN, zaakBody } from '../zaken/given.ts'

type Json = Record<string, unknown>
const DOCUMENTEN = '/documenten/api/v1'

/** By method and path with {parameters}, as `POST /zaken/api/v1/zaken`. @throws when one of them is not taken */
export async function makeBodies(t: Parameters<typeof subscriber>[0], test: TestApp): Promise<Record<string, Json>> {
  const bodies: Record<string, Json> = {}
  /** Sends it, and keeps it as the example of its operation. */
  const tried = async (method: string, url: string, body: Json, headers: Record<string, string> = {}) => {
    const answer = await test.call(method, url, body, { headers: { ...CRS.headers, ...headers } })
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.text}`)
    bodies[`${method} ${pattern(new URL(url, BASE).pathname)}`] = shown(body) as Json
    return answer.body
  }
  for (const line of await conformanceLines()) {
    const body = await line.given(test)
    const made = await tried('POST', line.at?.(body) ?? line.path, body, line.headers)
    if (line.one.includes('PUT'))
      await tried('PUT', made.url, ((await line.put?.(test, made, body)) ?? body) as Json, line.headers)
    if (line.one.includes('PATCH')) {
      const own = await line.patch?.(test, made)
      await tried('PATCH', made.url, (own ?? partOf(body)) as Json, line.headers)
    }
  }
  await tryActions(test, tried)
  await tryNotificaties(t, tried)
  return Object.fromEntries(Object.entries(bodies).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

// biome-ignore lint/suspicious/noExplicitAny: an answer can hold anything
type Tried = (method: string, url: string, body: Json) => Promise<Json & { [key: string]: any }>

/** What no line of the conformance test has: searches, and what does more than one thing. */
async function tryActions(test: TestApp, tried: Tried): Promise<void> {
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await test.call('GET', informatieobjecttype)).body
  const besluittype = await givenBesluittype(test, { catalogus })
  const { zaaktype, begin, eind, resultaattype } = await givenType(
    test,
    undefined,
    {},
    {
      catalogus,
      informatieobjecttypen: [informatieobjecttype],
      besluittypen: [besluittype],
      verlengingMogelijk: true,
      verlengingstermijn: 'P14D',
      opschortingEnAanhoudingMogelijk: true,
    },
  )
  const zaak = await givenZaak(test, { zaaktype })
  const at = (second: number) => `2026-03-05T10:00:${second}Z`
  const uuid = uuidOf(zaak.url)
  const document = {
    informatieobjecttype,
    bronorganisatie: '517439943',
    creatiedatum: '2026-03-02',
    titel: 'Brief',
    auteur: 'Jan',
    taal: 'dut',
    indicatieGebruiksrecht: false,
  }
  await tried('POST', `${ZAKEN}/zaken/_zoek`, { uuid__in: [uuid] })
  const batches = ['zaken', 'statussen', 'rollen', 'zaakinformatieobjecten'].map((name) => `${ZAKEN}/${name}`)
  for (const path of batches) {
    const filter = path.endsWith('/zaken') ? { zaaktype, einddatum__isnull: true } : { zaak: zaak.url }
    await tried('POST', `${path}/_batch`, { requests: [{ key: uuid }, { filter }] })
  }
  const parts = [
    'statustypen',
    'resultaattypen',
    'roltypen',
    'eigenschappen',
    'zaakobjecttypen',
    'zaaktype-informatieobjecttypen',
  ]
  for (const name of parts)
    await tried('POST', `/catalogi/api/v1/${name}/_batch`, { requests: [{ filter: { zaaktype } }] })
  for (const name of ['zaaktypen', 'informatieobjecttypen', 'besluittypen'])
    await tried('POST', `/catalogi/api/v1/${name}/_batch`, {
      context: { datumGeldigheid: '2026-03-02' },
      requests: [{ filter: { catalogus } }],
    })
  await tried('POST', `${ZAKEN}/zaaknummer_reserveren`, { bronorganisatie: '517439943' })
  await tried('POST', `${ZAKEN}/reserveer_zaaknummer`, { bronorganisatie: '517439943' })
  await tried('POST', `${ZAKEN}/zaak_registreren`, {
    zaak: zaakBody(zaaktype),
    status: { statustype: begin, datumStatusGezet: at(10) },
    rollen: [],
    zaakinformatieobjecten: [{ informatieobject: await givenDocument(test, informatieobjecttype) }],
    zaakobjecten: [{ objectType: 'pand', objectIdentificatie: { identificatie: '0344100000011708' } }],
  })
  await tried('POST', `${ZAKEN}/zaak_opschorten/${uuid}`, {
    zaak: { opschorting: { indicatie: true, reden: 'Wacht op de aanvrager' } },
    status: { statustype: begin, datumStatusGezet: at(11) },
  })
  await tried('POST', `${ZAKEN}/zaak_verlengen/${uuid}`, {
    zaak: { verlenging: { reden: 'Meer onderzoek', duur: 'P14D' } },
    status: { statustype: begin, datumStatusGezet: at(12) },
  })
  await tried('POST', `${ZAKEN}/zaak_bijwerken/${uuid}`, {
    zaak: { omschrijving: 'Kapvergunning eik' },
    status: { statustype: begin, datumStatusGezet: at(13) },
  })
  await tried('POST', `${ZAKEN}/zaak_afsluiten/${uuid}`, {
    zaak: {},
    resultaat: { resultaattype },
    status: { statustype: eind, datumStatusGezet: at(14) },
  })
  const other = await givenZaak(test, { zaaktype })
  await tried('POST', `${DOCUMENTEN}/document_registreren`, {
    enkelvoudiginformatieobject: document,
    zaakinformatieobject: { zaak: other.url },
  })
  await tried('POST', `${DOCUMENTEN}/documentnummer_reserveren`, { bronorganisatie: '517439943' })
  const one = await givenDocument(test, informatieobjecttype)
  await tried('POST', `${DOCUMENTEN}/enkelvoudiginformatieobjecten/_zoek`, { uuid__in: [uuidOf(one)] })
  await tried('POST', `${DOCUMENTEN}/enkelvoudiginformatieobjecten/_batch`, { requests: [{ key: uuidOf(one) }] })
  const { lock } = await tried('POST', `${one}/lock`, {})
  await tried('POST', `${one}/unlock`, { lock })
  await tried('POST', '/besluiten/api/v1/besluit_verwerken', {
    besluit: {
      besluittype,
      verantwoordelijkeOrganisatie: '517439943',
      datum: '2026-03-05',
      ingangsdatum: '2026-03-05',
      zaak: other.url,
    },
    besluitinformatieobjecten: [],
  })
}

async function tryNotificaties(t: Parameters<typeof subscriber>[0], tried: Tried): Promise<void> {
  const root = '/notificaties/api/v1'
  const kanaal = { naam: 'meldingen', documentatieLink: 'https://example.nl/meldingen', filters: ['soort'] }
  const { url } = await tried('POST', `${root}/kanaal`, kanaal)
  await tried('PUT', url, kanaal)
  await tried('PATCH', url, { documentatieLink: 'https://example.nl/meldingen/2' })
  const auth = 'Bearer a-secret-of-yours'
  const { url: callbackUrl } = await subscriber(t, { auth })
  const abonnement = { callbackUrl, auth, kanalen: [{ naam: 'zaken', filters: { bronorganisatie: '517439943' } }] }
  const made = await tried('POST', `${root}/abonnement`, abonnement)
  await tried('PUT', made.url, abonnement)
  await tried('PATCH', made.url, { kanalen: [{ naam: 'zaken', filters: {} }] })
  await tried('POST', `${root}/notificaties`, {
    kanaal: 'meldingen',
    hoofdObject: 'https://meldingen.example.nl/1',
    resource: 'melding',
    resourceUrl: 'https://meldingen.example.nl/1',
    actie: 'create',
    aanmaakdatum: '2026-01-05T10:00:00Z',
    kenmerken: { soort: 'lantaarn' },
  })
}

export async function conformanceLines(): Promise<Line[]> {
  const lines: Line[] = []
  const files = await Array.fromAsync(glob('*.ts', { cwd: new URL('../conformance', import.meta.url).pathname }))
  for (const file of files.sort()) {
    const found: Record<string, unknown> = await import(`../conformance/${file}`)
    for (const exported of Object.values(found)) if (Array.isArray(exported)) lines.push(...exported)
  }
  return lines
}

const TEXTS = ['omschrijving', 'toelichting', 'roltoelichting', 'titel', 'naam', 'onderwerp', 'label', 'tekst']
/** The first text of a body that people write: what a PATCH may well change. */
function partOf(body: Json): Json {
  const name = TEXTS.find((one) => typeof body[one] === 'string')
  return name ? { [name]: body[name] } : {}
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** `/zaken/api/v1/zaken/…` → `/zaken/api/v1/zaken/{}`. */
const pattern = (path: string) => path.replace(UUID, '{}')

/** As every run of it shows it: an address of an example, uuids and numbers that are always the same. */
export const EXAMPLE_UUID = '7c3f8a2e-5b1d-4e6f-9a0b-1c2d3e4f5a6b'
function shown(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => shown(one, name))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shown(one, key)]))
  if (typeof value !== 'string') return value
  if (name === 'lock') return '0123456789abcdef0123456789abcdef'
  if (name === 'clientIds') return 'portaal'
  return value
    .replaceAll(BASE, 'https://zaken.example.nl')
    .replace(/http:\/\/(127\.0\.0\.1|localhost):\d+/g, 'https://elders.example.nl')
    .replace(UUID, EXAMPLE_UUID)
}
