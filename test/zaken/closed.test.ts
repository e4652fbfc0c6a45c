// The gate of every write into a case: writers x states x rights. The writers are held against the routes, so that a new one is in it.
import { subscribe } from 'node:diagnostics_channel'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import {
  givenBesluittype,
  givenCatalogus,
  givenClient,
  givenInformatieobjecttype,
  givenZaaktype,
  type Json,
  testApp,
  uuidOf,
} from '../app.ts'
import { CRS, faultsOf, givenDocument, givenEigenschap, givenResultaattype, givenZaak, made, ZAKEN } from './given.ts'

const routes: string[] = []
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) routes.push(`${name} ${url}`)
  })
})

const test = await testApp(t)
const { call, database } = test
const { sql } = database
const catalogus = await givenCatalogus(test)
const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus })
const besluittype = await givenBesluittype(test, { catalogus })
const otherType = await givenZaaktype(test, { catalogus, identificatie: 'ANDERS' })
const zaaktype = await givenZaaktype(test, {
  catalogus,
  informatieobjecttypen: [informatieobjecttype],
  besluittypen: [besluittype],
  deelzaaktypen: [otherType],
  statustypen: ['Begin', 'Midden', 'Eind'],
  roltypen: [{ omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' }],
})
const { body: type } = await call('GET', zaaktype)
const roltype = type.roltypen[0]
const eigenschap = await givenEigenschap(test, zaaktype, 'kleur')
const resultaattype = await givenResultaattype(test, zaaktype, { afleidingswijze: 'afgehandeld' })
const statustypen: Json[] = []
for (const url of type.statustypen) statustypen.push((await call('GET', url)).body)
const statustype = (volgnummer: number) => statustypen.find((one) => one.volgnummer === volgnummer).url

type Request = [method: string, url: string, body?: object]
type Writer = {
  /** The route, without the root of its API. */
  route: string
  /** What is there before: made while the case is open. */
  part?: (zaak: Json) => Promise<string>
  request: (zaak: Json, part: string) => Request | Promise<Request>
  /** Its rights are those of its own component. */
  ownRights?: true
  /** Where another rule judges who may write into a closed case. */
  closed?: { own: number; forced: number }
  archived?: { own: number; forced: number }
}

const BESLUITEN = '/besluiten/api/v1'
const post = async (path: string, body: object) => made(await call('POST', path, body, CRS)).url as string
const rol = (zaak: Json) => ({
  zaak: zaak.url,
  betrokkene: 'https://example.com/1',
  betrokkeneType: 'medewerker',
  roltype,
})
const object = { objectType: 'pand', objectIdentificatie: { identificatie: '1' } }
const document = () => givenDocument(test, informatieobjecttype, { indicatieGebruiksrecht: false })
const note = (zaak: Json) => ({ gerelateerdAan: zaak.url, onderwerp: 'Bel', tekst: 'Terugbellen' })
const status = (zaak: Json, volgnummer: number) => ({
  ...{ zaak: zaak.url, statustype: statustype(volgnummer) },
  datumStatusGezet: new Date().toISOString(),
})
const besluit = (zaak: Json) => ({
  ...{ besluittype, zaak: zaak.url, verantwoordelijkeOrganisatie: '517439943' },
  ...{ datum: '2026-03-02', ingangsdatum: '2026-03-02' },
})
/** A row of what is made with another server only. */
const rowBelow = (table: string, field: string) => async (zaak: Json) => {
  const [row] = await sql`insert into ${sql(table)} (zaak_id, ${sql(field)})
    select id, 'https://example.com/1' from zaak where uuid = ${zaak.uuid} returning uuid`
  return `${ZAKEN}/${table === 'zaakverzoek' ? 'zaakverzoeken' : 'zaakcontactmomenten'}/${row!.uuid}`
}
const otherZaak = () => givenZaak(test, { zaaktype: otherType })
const patchOther = async (body: object): Promise<Request> => ['PATCH', (await otherZaak()).url, body]

const rolOf = (zaak: Json) => post(`${ZAKEN}/rollen`, rol(zaak))
const eigenschapOf = (zaak: Json) =>
  post(`${zaak.url}/zaakeigenschappen`, { zaak: zaak.url, eigenschap, waarde: 'rood' })
const zioOf = async (zaak: Json) =>
  post(`${ZAKEN}/zaakinformatieobjecten`, { zaak: zaak.url, informatieobject: await document() })
const objectOf = (zaak: Json) => post(`${ZAKEN}/zaakobjecten`, { zaak: zaak.url, ...object })
const resultaatOf = (zaak: Json) => post(`${ZAKEN}/resultaten`, { zaak: zaak.url, resultaattype })
const noteOf = (zaak: Json) => post(`${ZAKEN}/zaaknotities`, note(zaak))
const statusOf = (zaak: Json) => post(`${ZAKEN}/statussen`, status(zaak, 1))
const besluitOf = (zaak: Json) => post(`${BESLUITEN}/besluiten`, besluit(zaak))
const whole = async (url: string) => (await call('GET', url, undefined, CRS)).body

const WRITERS: Writer[] = [
  { route: 'POST /rollen', request: (zaak) => ['POST', `${ZAKEN}/rollen`, rol(zaak)] },
  { route: 'PUT /rollen/:uuid', part: rolOf, request: (zaak, url) => ['PUT', url, rol(zaak)] },
  { route: 'DELETE /rollen/:uuid', part: rolOf, request: (_, url) => ['DELETE', url] },
  {
    route: 'POST /zaken/:zaakUuid/zaakeigenschappen',
    request: ({ url }) => ['POST', `${url}/zaakeigenschappen`, { zaak: url, eigenschap, waarde: 'rood' }],
  },
  {
    route: 'PUT /zaken/:zaakUuid/zaakeigenschappen/:uuid',
    part: eigenschapOf,
    request: (zaak, url) => ['PUT', url, { zaak: zaak.url, eigenschap, waarde: 'groen' }],
  },
  {
    route: 'PATCH /zaken/:zaakUuid/zaakeigenschappen/:uuid',
    part: eigenschapOf,
    request: (_, url) => ['PATCH', url, { waarde: 'groen' }],
  },
  {
    route: 'DELETE /zaken/:zaakUuid/zaakeigenschappen/:uuid',
    part: eigenschapOf,
    request: (_, url) => ['DELETE', url],
  },
  {
    route: 'POST /zaakinformatieobjecten',
    request: async ({ url: zaak }) => [
      'POST',
      `${ZAKEN}/zaakinformatieobjecten`,
      { zaak, informatieobject: await document() },
    ],
  },
  {
    route: 'PUT /zaakinformatieobjecten/:uuid',
    part: zioOf,
    request: async (zaak, url) => [
      'PUT',
      url,
      { zaak: zaak.url, informatieobject: (await whole(url)).informatieobject, titel: 'x' },
    ],
  },
  { route: 'PATCH /zaakinformatieobjecten/:uuid', part: zioOf, request: (_, url) => ['PATCH', url, { titel: 'x' }] },
  { route: 'DELETE /zaakinformatieobjecten/:uuid', part: zioOf, request: (_, url) => ['DELETE', url] },
  { route: 'POST /zaakobjecten', request: ({ url }) => ['POST', `${ZAKEN}/zaakobjecten`, { zaak: url, ...object }] },
  {
    route: 'PUT /zaakobjecten/:uuid',
    part: objectOf,
    request: (zaak, url) => ['PUT', url, { zaak: zaak.url, ...object }],
  },
  {
    route: 'PATCH /zaakobjecten/:uuid',
    part: objectOf,
    request: (_, url) => ['PATCH', url, { relatieomschrijving: 'x' }],
  },
  { route: 'DELETE /zaakobjecten/:uuid', part: objectOf, request: (_, url) => ['DELETE', url] },
  { route: 'POST /resultaten', request: ({ url }) => ['POST', `${ZAKEN}/resultaten`, { zaak: url, resultaattype }] },
  {
    route: 'PUT /resultaten/:uuid',
    part: resultaatOf,
    request: (zaak, url) => ['PUT', url, { zaak: zaak.url, resultaattype }],
  },
  { route: 'PATCH /resultaten/:uuid', part: resultaatOf, request: (_, url) => ['PATCH', url, { toelichting: 'x' }] },
  { route: 'DELETE /resultaten/:uuid', part: resultaatOf, request: (_, url) => ['DELETE', url] },
  {
    route: 'POST /klantcontacten',
    request: ({ url }) => ['POST', `${ZAKEN}/klantcontacten`, { zaak: url, datumtijd: '2026-03-03T10:00:00Z' }],
  },
  { route: 'POST /zaaknotities', request: (zaak) => ['POST', `${ZAKEN}/zaaknotities`, note(zaak)] },
  { route: 'PUT /zaaknotities/:uuid', part: noteOf, request: (zaak, url) => ['PUT', url, note(zaak)] },
  { route: 'PATCH /zaaknotities/:uuid', part: noteOf, request: (_, url) => ['PATCH', url, { tekst: 'x' }] },
  // A note of a case that is open moves to this one.
  {
    route: 'PATCH /zaaknotities/:uuid',
    request: async (zaak) => ['PATCH', await noteOf(await otherZaak()), { gerelateerdAan: zaak.url }],
  },
  { route: 'DELETE /zaaknotities/:uuid', part: noteOf, request: (_, url) => ['DELETE', url] },
  {
    route: 'POST /statussen',
    request: (zaak) => ['POST', `${ZAKEN}/statussen`, status(zaak, 1)],
    closed: { own: 403, forced: 403 }, // opening again is a right of its own
  },
  {
    route: 'POST /substatussen',
    part: statusOf,
    request: ({ url: zaak }, url) => ['POST', `${ZAKEN}/substatussen`, { zaak, status: url, omschrijving: 'Wacht' }],
  },
  {
    route: 'DELETE /zaakcontactmomenten/:uuid',
    part: rowBelow('zaakcontactmoment', 'contactmoment'),
    request: (_, url) => ['DELETE', url],
  },
  {
    route: 'DELETE /zaakverzoeken/:uuid',
    part: rowBelow('zaakverzoek', 'verzoek'),
    request: (_, url) => ['DELETE', url],
  },
  {
    route: 'DELETE /zaken/:zaakUuid/besluiten/:uuid',
    part: async (zaak) => {
      const [row] = await sql`insert into zaakbesluit (zaak_id, besluit_url)
        select id, 'https://example.com/besluiten/1' from zaak where uuid = ${zaak.uuid} returning uuid`
      return `${zaak.url}/besluiten/${row!.uuid}`
    },
    request: (_, url) => ['DELETE', url],
  },
  {
    route: 'PUT /zaken/:uuid',
    request: async (zaak) => ['PUT', zaak.url, { ...(await whole(zaak.url)), toelichting: 'x' }],
    archived: { own: 403, forced: 200 },
  },
  {
    route: 'PATCH /zaken/:uuid',
    request: ({ url }) => ['PATCH', url, { toelichting: 'x' }],
    archived: { own: 403, forced: 200 },
  },
  // Through another case, of which the client has all rights.
  { route: 'PATCH /zaken/:uuid', request: ({ url }) => patchOther({ gerelateerdeZaken: [{ url }] }) },
  {
    route: 'PATCH /zaken/:uuid',
    part: async ({ url }) => {
      const { url: other } = await otherZaak()
      await call('PATCH', other, { gerelateerdeZaken: [{ url }] }, CRS)
      return other
    },
    request: (_, other) => ['PATCH', other, { gerelateerdeZaken: [] }],
  },
  { route: 'PATCH /zaken/:uuid', request: ({ url }) => patchOther({ hoofdzaak: url }) },
  {
    route: 'PATCH /zaken/:uuid',
    part: async ({ url: hoofdzaak }) => (await givenZaak(test, { zaaktype: otherType, hoofdzaak })).url,
    request: (_, part) => ['PATCH', part, { hoofdzaak: null }],
  },
  {
    route: 'POST /zaken',
    request: ({ url }) => [
      'POST',
      `${ZAKEN}/zaken`,
      {
        ...{ zaaktype: otherType, bronorganisatie: '517439943', verantwoordelijkeOrganisatie: '517439943' },
        ...{ startdatum: '2026-03-02', hoofdzaak: url },
      },
    ],
  },
  {
    route: 'DELETE /zaken/:uuid',
    request: ({ url }) => ['DELETE', url],
    closed: { own: 204, forced: 204 },
    archived: { own: 403, forced: 204 }, // it is to be kept
  },
  // With the hoofdzaak that it is a part of.
  {
    route: 'DELETE /zaken/:uuid',
    part: async (zaak) => {
      const { url, uuid } = await otherZaak()
      await sql`update zaak set hoofdzaak_id = (select id from zaak where uuid = ${uuid}) where uuid = ${zaak.uuid}`
      return url
    },
    request: (_, hoofdzaak) => ['DELETE', hoofdzaak],
    closed: { own: 204, forced: 204 },
    archived: { own: 403, forced: 204 },
  },
  {
    route: 'POST /besluiten',
    request: (zaak) => ['POST', `${BESLUITEN}/besluiten`, besluit(zaak)],
    ownRights: true,
  },
  {
    route: 'POST /besluit_verwerken',
    request: (zaak) => [
      'POST',
      `${BESLUITEN}/besluit_verwerken`,
      { besluit: besluit(zaak), besluitinformatieobjecten: [] },
    ],
    ownRights: true,
  },
  {
    route: 'PUT /besluiten/:uuid',
    part: besluitOf,
    request: (zaak, url) => ['PUT', url, besluit(zaak)],
    ownRights: true,
  },
  {
    route: 'PATCH /besluiten/:uuid',
    part: besluitOf,
    request: (_, url) => ['PATCH', url, { zaak: '' }],
    ownRights: true,
  },
  { route: 'DELETE /besluiten/:uuid', part: besluitOf, request: (_, url) => ['DELETE', url], ownRights: true },
]

/** Routes that write into a case and are tried elsewhere, or into none. */
const ELSEWHERE: Record<string, string> = {
  'POST /zaken/_zoek': 'reads',
  'POST /zaken/:zaakUuid/besluiten': 'asks another server; test/zaken/other.test.ts',
  'POST /zaakcontactmomenten': 'asks another server; test/zaken/customer-relations.test.ts',
  'POST /zaakverzoeken': 'asks another server; test/zaken/customer-relations.test.ts',
  'POST /zaak_registreren': 'test/composite-rights.test.ts',
  'POST /zaak_opschorten/:uuid': 'test/composite-rights.test.ts',
  'POST /zaak_verlengen/:uuid': 'test/composite-rights.test.ts',
  'POST /zaak_bijwerken/:uuid': 'test/composite-rights.test.ts',
  'POST /zaak_afsluiten/:uuid': 'test/composite-rights.test.ts',
  'POST /zaaknummer_reserveren': 'makes a number',
  'POST /reserveer_zaaknummer': 'makes a number',
}

t.test('every route that writes into a case is among the writers', async (t) => {
  const written = [...new Set(routes)].flatMap((route) => {
    const [method = '', path = ''] = route.split(' ')
    if (!['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) || path.endsWith('/_batch')) return []
    return path.startsWith(`${ZAKEN}/`) ? [`${method} ${path.slice(ZAKEN.length)}`] : []
  })
  t.ok(written.length > 40)
  const known = new Set([...WRITERS.map(({ route }) => route), ...Object.keys(ELSEWHERE)])
  t.same(
    written.filter((route) => !known.has(route)),
    [],
  )
  t.same(
    Object.keys(ELSEWHERE).filter((route) => !written.includes(route)),
    [],
    'and none is left out for nothing',
  )
})

t.test('whatever writes below a case passes the gate', async (t) => {
  const tables = (
    await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where column_name = 'zaak_id' and table_schema = current_schema()`
  ).map(({ name }) => name)
  const wrong: string[] = []
  for (const file of (await Array.fromAsync(glob('**/*.ts', { cwd: SRC }))).sort()) {
    const text = await readFile(join(SRC, file), 'utf8')
    const writes = tables.some((table) =>
      new RegExp(
        `(insert into|delete from|update) ${table}\\b|(insertInto|deleteFrom|updateTable)\\('${camel(table)}'\\)`,
      ).test(text),
    )
    if (writes && !/requireWritable\(|requireForcedWhenClosed\(/.test(text) && !(file in WITHOUT_GATE)) wrong.push(file)
  }
  t.same(wrong, [], 'each such file calls requireWritable, or says why not')
})
const SRC = join(import.meta.dirname, '../../src')
const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
/** Files that write below a case without the gate. */
const WITHOUT_GATE: Record<string, string> = {
  'overnemen/write.ts': 'a takeover, which keeps what the source had',
  'services/our-side.ts': 'takes back what another server refused, as it was before the gate was passed',
  'zaken/import-links.ts': 'a bulk import, whose rows are judged by the rights of the import',
  'zaken/zaak/archive-by-hand.ts': 'the judged case is changed by who calls it',
  'zaken/zaak/create.ts': 'lists of a case that is being made',
  'zaken/zaak/columns.ts': 'lists of a case that was judged',
  'zaken/zaak/relations.ts': 'beside.ts judges the other cases',
}

const ALL = ['lezen', 'aanmaken', 'bijwerken', 'verwijderen', 'statussen.toevoegen'].map((name) => `zaken.${name}`)
const FORCED = [...ALL, 'zaken.geforceerd-bijwerken']
const right = (url: string, scopes: string[], max = 'zeer_geheim') => ({
  ...{ component: 'zrc', scopes, typeUuid: uuidOf(url), typeUrl: url, max },
})
const brc = {
  ...{
    component: 'brc',
    scopes: ['besluiten.lezen', 'besluiten.aanmaken', 'besluiten.bijwerken', 'besluiten.verwijderen'],
  },
  ...{ typeUuid: uuidOf(besluittype), typeUrl: besluittype },
}
const elsewhere = [right(otherType, [...FORCED, 'zaken.heropenen']), brc]
const as = {
  own: await givenClient(test, 'own', [right(zaaktype, ALL), ...elsewhere]),
  forced: await givenClient(test, 'forced', [right(zaaktype, FORCED), ...elsewhere]),
  otherType: await givenClient(test, 'other-type', elsewhere),
  level: await givenClient(test, 'level', [right(zaaktype, FORCED, 'intern'), ...elsewhere]),
}
const STATES = {
  open: sql`einddatum = null`,
  closed: sql`einddatum = '2026-03-06'`,
  archived: sql`einddatum = '2026-03-06', archiefstatus = 'gearchiveerd', archiefnominatie = 'blijvend_bewaren'`,
}

for (const [state, columns] of Object.entries(STATES) as [keyof typeof STATES, (typeof STATES)['open']][])
  t.test(`writers into a case that is ${state}, by rights`, async (t) => {
    const wrong: string[] = []
    for (const { route, part, request, ownRights, closed, archived } of WRITERS) {
      const zaak = await givenZaak(test, { zaaktype, vertrouwelijkheidaanduiding: 'geheim' })
      const url = (await part?.(zaak)) ?? ''
      const [method, to, body] = await request(zaak, url)
      await sql`update zaak set ${columns} where uuid = ${zaak.uuid}`
      const judge = async (who: keyof typeof as, expected: number, code = '') => {
        const answer = await call(method, to, body, { ...CRS, as: as[who] })
        const is = answer.status >= 200 && answer.status < 300 ? 200 : answer.status
        const wanted = expected >= 200 && expected < 300 ? 200 : expected
        if (is !== wanted || (code !== '' && !faultsOf(answer).some((fault) => fault.endsWith(code))))
          wrong.push(`${route} ${to}: ${who} gets ${answer.text.slice(0, 300)}`)
      }
      if (!ownRights) for (const who of ['otherType', 'level'] as const) await judge(who, 403)
      const { own, forced } = {
        open: { own: 200, forced: 0 },
        closed: closed ?? { own: 403, forced: 200 },
        archived: archived ?? { own: 400, forced: 400 },
      }[state]
      await judge('own', own, own === 400 ? 'zaak-archiefstatus-invalid' : '')
      if (own !== 200 && own !== 204) await judge('forced', forced, forced === 400 ? 'zaak-archiefstatus-invalid' : '')
    }
    t.same(wrong, [])
  })

t.test('what changes beside a case gets a record and a moment of its own', async (t) => {
  const [one, two] = [await givenZaak(test, { zaaktype: otherType }), await givenZaak(test, { zaaktype })]
  const records = async (uuid: string) =>
    (await sql`select actie from audit where hoofd_object_uuid = ${uuid} and resource = 'zaak' order by id`).map(
      ({ actie }) => actie,
    )
  const before = (await whole(two.url)).laatstGemuteerd
  await call('PATCH', one.url, { gerelateerdeZaken: [{ url: two.url }] }, CRS)
  t.same(await records(two.uuid), ['create', 'partial_update'])
  t.not((await whole(two.url)).laatstGemuteerd, before)
  await call('PATCH', one.url, { gerelateerdeZaken: [{ url: two.url }] }, CRS)
  t.same(await records(two.uuid), ['create', 'partial_update'], 'what stays is no change')
  await call('PATCH', one.url, { gerelateerdeZaken: [], hoofdzaak: two.url }, CRS)
  t.same(await records(two.uuid), ['create', 'partial_update', 'partial_update'], 'once for both')
  const part = await givenZaak(test, { zaaktype: otherType, hoofdzaak: two.url })
  t.equal((await records(two.uuid)).length, 4)
  t.same((await whole(two.url)).deelzaken.sort(), [one.url, part.url].sort())
})

t.test('zrc-013: no case has parts and is one, in whatever order', async (t) => {
  const [one, two] = [await givenZaak(test, { zaaktype }), await givenZaak(test, { zaaktype })]
  await sql`update zaak set zaaktype_id = (select id from zaaktype where uuid = ${uuidOf(otherType)}) where uuid = ${two.uuid}`
  await givenZaak(test, { zaaktype: otherType, hoofdzaak: one.url })
  await sql`update zaak set hoofdzaak_id = (select id from zaak where uuid = ${two.uuid}) where uuid <> ${two.uuid}
    and hoofdzaak_id is not null and hoofdzaak_id = (select id from zaak where uuid = ${one.uuid})`
  t.same(faultsOf(await call('PATCH', two.url, { hoofdzaak: one.url }, CRS)), ['hoofdzaak: deelzaak-als-hoofdzaak'])
})

t.test('zrc-022: an archived case keeps what archiving needs', async (t) => {
  const zaak = await givenZaak(test, { zaaktype })
  const archive = { archiefnominatie: 'vernietigen', archiefactiedatum: '2099-01-01', archiefstatus: 'gearchiveerd' }
  t.equal((await call('PATCH', zaak.url, archive, CRS)).status, 200)
  const empty = { archiefnominatie: null, archiefactiedatum: null }
  t.same(faultsOf(await call('PATCH', zaak.url, empty, CRS)), [
    'archiefnominatie: archiefnominatie-not-set',
    'archiefactiedatum: archiefactiedatum-not-set',
  ])
  t.equal((await call('PATCH', zaak.url, { archiefactiedatum: '2100-01-01', toelichting: 'x' }, CRS)).status, 200)
})

t.test(
  'the status of a zaakinformatieobject, and the case of a zaakeigenschap, are not those of another case',
  async (t) => {
    const [one, two] = [await givenZaak(test, { zaaktype }), await givenZaak(test, { zaaktype })]
    const zio = await zioOf(one)
    const [own, foreign] = [await statusOf(one), await statusOf(two)]
    t.same(faultsOf(await call('PATCH', zio, { status: foreign })), ['nonFieldErrors: zaak-status-mismatch'])
    t.equal((await call('PATCH', zio, { status: own })).body.status, own)
    const body = { zaak: two.url, eigenschap, waarde: 'rood' }
    t.same(faultsOf(await call('POST', `${one.url}/zaakeigenschappen`, body)), ['zaak: zaak-mismatch'])
  },
)
