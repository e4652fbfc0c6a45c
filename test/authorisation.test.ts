// Who may do what: thousands of generated cases, held against a plain model of the rules that knows nothing of how they are
// kept. A component is a line in KINDS (what rights on its objects reach) and in GATES (which scope opens which route).
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { VERTROUWELIJKHEIDAANDUIDINGEN as LEVELS } from '../src/core/vertrouwelijkheidaanduiding.ts'
import {
  type Answer,
  givenBesluittype,
  givenCatalogus,
  givenClient,
  givenInformatieobjecttype,
  givenZaaktype,
  type TestApp,
  testApp,
  uuidOf,
} from './app.ts'

// ---- the model ----

type Level = (typeof LEVELS)[number]
type Type = { url: string; catalogus: string; naam: string; level: Level }
type Right = { component: string; scopes: string[]; max: Level | null } & (
  | { voor: 'versie'; type: Type }
  | { voor: 'type'; type: Type }
  | { voor: 'catalogus'; catalogus: string }
)
type Client = { id: string; alles: boolean; rights: Right[] }
type Thing = { url: string; type: Type; level: Level; parts: string[] }

const shared = (a: readonly string[], b: readonly string[]) => a.some((one) => b.includes(one))

/** Whether rights with one of the scopes reach a thing of this type and confidentiality. */
function may(client: Client, component: string, scopes: readonly string[], thing: { type: Type; level: Level | null }) {
  if (client.alles) return true
  return client.rights.some((right) => {
    if (right.component !== component || !shared(right.scopes, scopes)) return false
    if (right.voor === 'versie' && right.type.url !== thing.type.url) return false
    if (right.voor === 'type' && (right.type.catalogus !== thing.type.catalogus || right.type.naam !== thing.type.naam))
      return false
    if (right.voor === 'catalogus' && right.catalogus !== thing.type.catalogus) return false
    if (thing.level === null) return true
    return right.max !== null && LEVELS.indexOf(thing.level) <= LEVELS.indexOf(right.max)
  })
}

/** Whether there is any right with one of the scopes: without it a route does not open. */
function opens(client: Client, component: string, scopes: readonly string[]) {
  return client.alles || client.rights.some((right) => right.component === component && shared(right.scopes, scopes))
}

// ---- the components ----

type Kind = {
  component: 'zrc' | 'drc' | 'brc'
  path: string
  typeField: 'zaaktype' | 'informatieobjecttype' | 'besluittype'
  /** Confidentiality plays a part. */
  levels: boolean
  givenType(
    test: TestApp,
    values: { catalogus: string; naam: string; begin: string; einde?: string; level: Level },
  ): Promise<string>
  body(type: string): object
  headers: Record<string, string>
  scopes: string[]
  lezen: string[]
  aanmaken: string[]
  wijzigen: string[]
  verwijderen: string[]
  zoeken: boolean
  /** Other things that are done with one object, and leave it as it was. */
  acties: { method: string; path: string; scopes: string[]; body?: object; undo?: [string, string, object] }[]
  /** What can be changed needs this first; what it answers goes into the body. */
  slot: boolean
  /** Lists of what hangs on objects, with how one is made. */
  onderdelen: { path: string; body: (url: string) => object; expand?: string }[]
}

const KINDS: Kind[] = [
  {
    component: 'drc',
    path: '/documenten/api/v1/enkelvoudiginformatieobjecten',
    typeField: 'informatieobjecttype',
    levels: true,
    givenType: (test, { catalogus, naam, begin, einde, level }) =>
      givenInformatieobjecttype(test, {
        catalogus,
        omschrijving: naam,
        beginGeldigheid: begin,
        eindeGeldigheid: einde,
        vertrouwelijkheidaanduiding: level,
      }),
    body: (informatieobjecttype) => ({
      informatieobjecttype,
      bronorganisatie: '000000000',
      creatiedatum: '2025-03-01',
      titel: 't',
      auteur: 'a',
      taal: 'nld',
      inhoud: 'eA==',
    }),
    headers: {},
    scopes: ['lezen', 'aanmaken', 'bijwerken', 'verwijderen', 'lock', 'geforceerd-unlock', 'geforceerd-bijwerken'].map(
      (name) => `documenten.${name}`,
    ),
    lezen: ['documenten.lezen'],
    aanmaken: ['documenten.aanmaken'],
    wijzigen: ['documenten.bijwerken', 'documenten.geforceerd-bijwerken'],
    verwijderen: ['documenten.verwijderen'],
    zoeken: true,
    acties: [
      { method: 'GET', path: '/download', scopes: ['documenten.lezen'] },
      { method: 'POST', path: '/lock', scopes: ['documenten.lock'], undo: ['POST', '/unlock', {}] },
    ],
    slot: true,
    onderdelen: [
      {
        path: '/documenten/api/v1/gebruiksrechten',
        body: (informatieobject) => ({
          informatieobject,
          startdatum: '2025-01-01T00:00:00Z',
          omschrijvingVoorwaarden: 'v',
        }),
        expand: 'informatieobject',
      },
      {
        path: '/documenten/api/v1/verzendingen',
        body: (informatieobject) => ({
          informatieobject,
          betrokkene: 'https://example.com/b',
          aardRelatie: 'afzender',
          contactPersoon: 'https://example.com/c',
          correspondentiePostadres: {
            postBusOfAntwoordnummer: 1,
            postadresPostcode: '1000AA',
            postadresType: 'postbusnummer',
            woonplaatsnaam: 'w',
          },
        }),
        expand: 'informatieobject',
      },
    ],
  },
  {
    component: 'zrc',
    path: '/zaken/api/v1/zaken',
    typeField: 'zaaktype',
    levels: true,
    givenType: (test, { catalogus, naam, begin, einde, level }) =>
      givenZaaktype(test, {
        catalogus,
        identificatie: naam,
        beginGeldigheid: begin,
        eindeGeldigheid: einde,
        vertrouwelijkheidaanduiding: level,
      }),
    body: (zaaktype) => ({
      zaaktype,
      bronorganisatie: '517439943',
      verantwoordelijkeOrganisatie: '517439943',
      startdatum: '2026-03-02',
    }),
    headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' },
    scopes: [
      'lezen',
      'aanmaken',
      'bijwerken',
      'verwijderen',
      'geforceerd-bijwerken',
      'heropenen',
      'statussen.toevoegen',
    ].map((name) => `zaken.${name}`),
    lezen: ['zaken.lezen'],
    aanmaken: ['zaken.aanmaken'],
    wijzigen: ['zaken.bijwerken', 'zaken.geforceerd-bijwerken'],
    verwijderen: ['zaken.verwijderen'],
    zoeken: true,
    acties: [],
    slot: false,
    onderdelen: [],
  },
  {
    component: 'brc',
    path: '/besluiten/api/v1/besluiten',
    typeField: 'besluittype',
    levels: false,
    givenType: (test, { catalogus, naam, begin, einde }) =>
      givenBesluittype(test, { catalogus, omschrijving: naam, beginGeldigheid: begin, eindeGeldigheid: einde }),
    body: (besluittype) => ({
      besluittype,
      verantwoordelijkeOrganisatie: '517439943',
      datum: '2024-01-01',
      ingangsdatum: '2024-01-02',
    }),
    headers: {},
    scopes: ['lezen', 'aanmaken', 'bijwerken', 'verwijderen'].map((name) => `besluiten.${name}`),
    lezen: ['besluiten.lezen'],
    aanmaken: ['besluiten.aanmaken'],
    wijzigen: ['besluiten.bijwerken'],
    verwijderen: ['besluiten.verwijderen'],
    zoeken: false,
    acties: [],
    slot: false,
    onderdelen: [],
  },
]

// ---- what is generated ----

/** The same numbers at every run: a case that fails can be run again. */
function numbers(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    below: (limit: number) => Math.floor(next() * limit),
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!,
    some: <T>(list: readonly T[], chance: number): T[] => list.filter(() => next() < chance),
  }
}
type Numbers = ReturnType<typeof numbers>

function someRight(random: Numbers, kind: Kind, types: Type[]): Right {
  const base = {
    component: random.below(12) === 0 ? random.pick(['zrc', 'drc', 'brc']) : kind.component,
    scopes: random.some(kind.scopes, 0.45),
    max: random.below(15) === 0 ? null : random.pick(LEVELS),
  }
  const type = random.pick(types)
  if (base.component !== kind.component) return { ...base, voor: 'versie', type } // of the wrong component for its type
  const voor = random.pick(['versie', 'versie', 'type', 'catalogus'] as const)
  return voor === 'catalogus' ? { ...base, voor, catalogus: type.catalogus } : { ...base, voor, type }
}

async function givenRights(test: TestApp, id: string, rights: Right[]): Promise<Client> {
  await givenClient(
    test,
    id,
    rights.flatMap((right) =>
      right.voor === 'versie'
        ? [{ ...right, typeUuid: uuidOf(right.type.url), typeUrl: right.type.url, max: right.max ?? undefined }]
        : [],
    ) as Parameters<typeof givenClient>[2],
  )
  for (const right of rights) {
    if (right.voor === 'versie') continue
    const catalogus = right.voor === 'type' ? right.type.catalogus : right.catalogus
    await test.database.sql`
      insert into catalogus_autorisatie (applicatie_id, component, catalogus_id, type, scopes, max_vertrouwelijkheidaanduiding)
      select a.applicatie_id, ${right.component}, c.id, ${right.voor === 'type' ? right.type.naam : ''}, ${right.scopes}, ${right.max}
      from applicatie_client a, catalogus c where a.client_id = ${id} and c.uuid = ${uuidOf(catalogus)}`
  }
  return { id, alles: false, rights }
}

/** Collects what differs from the model, so that thousands of cases are one line of output. */
function tally() {
  const wrong: string[] = []
  let cases = 0
  return {
    wrong,
    cases: () => cases,
    same(what: string, found: unknown, expected: unknown) {
      cases++
      const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
      if (a !== b && wrong.length < 20) wrong.push(`${what}: ${a?.slice(0, 300)}, expected ${b?.slice(0, 300)}`)
    },
    /** Refused is 403, or 404 where what one may not see is not there; anything below 500 else is not. */
    refused(what: string, { status, text }: Answer, expected: boolean) {
      if (status >= 500) this.same(`${what} ${text}`, status, '< 500')
      else this.same(what, status === 403 || status === 404, expected)
    },
  }
}

// Which lists have a `_batch`, and what each route asks.
const batches = new Set<string>()
const accesses = new Map<string, unknown>()
const collect = (message: unknown) =>
  (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url, config }) => {
    for (const name of [method].flat()) accesses.set(`${name} ${url}`, config?.access)
    if (url.endsWith('/_batch')) batches.add(url.slice(0, -'/_batch'.length))
  })
subscribe('fastify.initialization', collect)
const test = await testApp(t)
unsubscribe('fastify.initialization', collect)

for (const [number, kind] of KINDS.entries()) {
  const root = kind.path.slice(0, kind.path.lastIndexOf('/'))
  if ((await test.call('GET', root)).status === 404) continue // this API is not there yet

  t.test(`rights on ${kind.path}`, async (t) => {
    const random = numbers(20_261_121 + number)
    const outcome = tally()
    const changes = tally()
    const call = (method: string, url: string, body?: unknown, as?: string) =>
      test.call(method, url, body, { headers: kind.headers, ...(as && { as }) })
    const levels = kind.levels ? LEVELS : ([null] as unknown as Level[])

    // Two versions of one type, another type beside them, and one in another catalogue.
    const [een, twee] = [await givenCatalogus(test), await givenCatalogus(test)]
    const types: Type[] = []
    for (const [catalogus, naam, begin, einde, level] of [
      [een, 'Aanvraag', '2023-01-01', '2024-01-01', 'openbaar'],
      [een, 'Aanvraag', '2024-01-02', undefined, 'vertrouwelijk'],
      [een, 'Bezwaar', '2023-01-01', undefined, 'intern'],
      [twee, 'Aanvraag', '2023-01-01', undefined, 'geheim'],
    ] as const) {
      const values = { catalogus, naam, begin, ...(einde && { einde }), level }
      types.push({ url: await kind.givenType(test, values), catalogus, naam, level })
    }
    const make = async (type: Type, level: Level): Promise<Thing> => {
      const body = { ...kind.body(type.url), ...(kind.levels && { vertrouwelijkheidaanduiding: level }) }
      const made = await call('POST', kind.path, body)
      if (made.status !== 201) throw new Error(made.text)
      return { url: made.body.url, type, level, parts: [] }
    }
    const things: Thing[] = []
    for (const type of types) {
      for (const level of levels) {
        const thing = await make(type, level)
        for (const { path, body } of kind.onderdelen) {
          const part = await call('POST', path, body(thing.url))
          if (part.status !== 201) throw new Error(part.text)
          thing.parts.push(part.body.url)
        }
        things.push(thing)
      }
    }

    const clients: Client[] = [{ id: 'beheer', alles: true, rights: [] }]
    clients.push(await givenRights(test, `${kind.component}-niets`, []))
    const all = { component: kind.component, scopes: kind.scopes, max: 'zeer_geheim' as const }
    clients.push(await givenRights(test, `${kind.component}-een`, [{ ...all, voor: 'catalogus', catalogus: een }]))
    for (let place = 0; place < 8; place++) {
      const rights = Array.from({ length: 1 + random.below(4) }, () => someRight(random, kind, types))
      clients.push(await givenRights(test, `${kind.component}-${place}`, rights))
    }

    for (const client of clients) {
      const { id } = client
      const readable = things.filter((thing) => may(client, kind.component, kind.lezen, thing))
      const urls = (list: { url: string }[]) => list.map(({ url }) => url).sort()

      // lists and search: exactly what may be read, also in the count and over pages
      const opened = opens(client, kind.component, kind.lezen)
      const list = await call('GET', `${kind.path}?pageSize=500`, undefined, id)
      outcome.refused(`${id} list`, list, !opened)
      if (opened) {
        outcome.same(`${id} list`, urls(list.body.results), urls(readable))
        outcome.same(`${id} count`, list.body.count, readable.length)
        const pages: { url: string }[] = []
        for (let next = `${kind.path}?pageSize=7`; next; ) {
          const page = await call('GET', next, undefined, id)
          outcome.same(`${id} count of a page`, page.body.count, readable.length)
          pages.push(...page.body.results)
          next = page.body.next
        }
        outcome.same(`${id} pages`, urls(pages), urls(readable))
        const byKey: { url: string }[] = []
        for (let next = `${kind.path}?limit=7`; next; ) {
          const page = await call('GET', next, undefined, id)
          byKey.push(...page.body.results)
          next = page.body.next
        }
        outcome.same(`${id} by cursor`, urls(byKey), urls(readable))
        for (const type of types) {
          const query = `${kind.path}?pageSize=500&${kind.typeField}=${encodeURIComponent(type.url)}`
          const found = await call('GET', query, undefined, id)
          const expected = readable.filter((thing) => thing.type === type)
          outcome.same(`${id} list of a type`, urls(found.body.results), urls(expected))
        }
      }
      if (kind.zoeken) {
        const search = { uuid__in: things.map(({ url }) => uuidOf(url)) }
        const found = await call('POST', `${kind.path}/_zoek?pageSize=500`, search, id)
        outcome.refused(`${id} search`, found, !opened)
        if (opened) outcome.same(`${id} search`, urls(found.body.results), urls(readable))
      }
      if (batches.has(kind.path)) {
        const requests = [
          ...things.map(({ url }) => ({ key: uuidOf(url) })),
          ...types.map(({ url }) => ({ filter: { [kind.typeField]: url } })),
        ]
        const found = await call('POST', `${kind.path}/_batch`, { requests }, id)
        outcome.refused(`${id} batch`, found, !opened)
        const shown = (found.body?.results ?? []) as ({ url: string; items: { url: string }[] } | null)[]
        for (const [place, thing] of opened ? things.entries() : [])
          outcome.same(`${id} batch ${place}`, shown[place]?.url, readable.includes(thing) ? thing.url : undefined)
        for (const [place, type] of opened ? types.entries() : []) {
          const expected = readable.filter((thing) => thing.type === type)
          outcome.same(`${id} batch of a type`, urls(shown[things.length + place]?.items ?? []), urls(expected))
        }
      }
      for (const [place, { path, expand }] of kind.onderdelen.entries()) {
        const found = await call('GET', `${path}${expand ? `?expand=${expand}` : ''}`, undefined, id)
        outcome.refused(`${id} ${path}`, found, !opened)
        if (!opened) continue
        const results: { url: string; _expand: Record<string, { url: string }> }[] = found.body.results ?? found.body
        outcome.same(`${id} ${path}`, urls(results), readable.map(({ parts }) => parts[place]!).sort())
        if (expand)
          outcome.same(`${id} expand`, results.map(({ _expand }) => _expand[expand]!.url).sort(), urls(readable))
      }

      // one object
      await Promise.all(
        things.map(async (thing) => {
          const what = `${id} ${thing.type.naam} ${thing.level}`
          const allowed = (scopes: string[]) => may(client, kind.component, scopes, thing)
          for (const method of ['GET', 'HEAD'])
            outcome.refused(`${what} ${method}`, await call(method, thing.url, undefined, id), !allowed(kind.lezen))
          for (const [place, part] of thing.parts.entries())
            outcome.refused(`${what} part ${place}`, await call('GET', part, undefined, id), !allowed(kind.lezen))
          for (const { method, path, scopes, body, undo } of kind.acties) {
            const answer = await call(method, `${thing.url}${path}`, body, id)
            outcome.refused(`${what} ${path}`, answer, !allowed(scopes))
            if (undo && answer.status < 300) await call(undo[0], `${thing.url}${undo[1]}`, undo[2])
          }
          if (!allowed(kind.wijzigen)) outcome.refused(`${what} PATCH`, await call('PATCH', thing.url, {}, id), true)
          if (!allowed(kind.verwijderen))
            outcome.refused(`${what} DELETE`, await call('DELETE', thing.url, undefined, id), true)
        }),
      )

      // create, with every confidentiality and with the one that the type gives
      const made: string[] = []
      const wanted = types.flatMap((type) =>
        (kind.levels ? [...LEVELS, undefined] : [undefined]).map((level) => ({ type, level })),
      )
      await Promise.all(
        wanted.map(async ({ type, level }) => {
          const body = { ...kind.body(type.url), ...(level && { vertrouwelijkheidaanduiding: level }) }
          const answer = await call('POST', kind.path, body, id)
          const thing = { type, level: kind.levels ? (level ?? type.level) : null }
          const expected = may(client, kind.component, kind.aanmaken, thing) ? 201 : 403
          outcome.same(`${id} create ${type.naam} ${level}`, answer.status, expected)
          if (answer.status === 201) made.push(answer.body.url)
        }),
      )

      // change: what comes of it has to be within reach as well as what was there
      for (const thing of things.filter((one) => may(client, kind.component, kind.wijzigen, one)).slice(0, 3)) {
        const lock = kind.slot ? { lock: (await call('POST', `${thing.url}/lock`)).body.lock } : {}
        for (const level of kind.levels ? LEVELS : []) {
          const answer = await call('PATCH', thing.url, { ...lock, vertrouwelijkheidaanduiding: level }, id)
          const reached = may(client, kind.component, kind.wijzigen, { type: thing.type, level })
          changes.same(`${id} ${thing.type.naam} ${thing.level} to ${level}`, answer.status, reached ? 200 : 403)
          const back = { ...lock, vertrouwelijkheidaanduiding: thing.level }
          if (answer.status === 200) changes.same('back', (await call('PATCH', thing.url, back)).status, 200)
        }
        if (kind.component === 'drc') {
          for (const type of types) {
            const answer = await call('PATCH', thing.url, { ...lock, informatieobjecttype: type.url }, id)
            const reached = may(client, kind.component, kind.wijzigen, { type, level: thing.level })
            changes.same(`${id} ${thing.type.naam} ${thing.level} to ${type.naam}`, answer.status, reached ? 200 : 403)
            const back = { ...lock, informatieobjecttype: thing.type.url }
            if (answer.status === 200) changes.same('back', (await call('PATCH', thing.url, back)).status, 200)
          }
        }
        if (kind.slot) await call('POST', `${thing.url}/unlock`, lock)
      }

      // delete, of what was made just now and of what another made
      await Promise.all(
        made.map(async (url) => {
          const { body } = await call('GET', url)
          const type = types.find((one) => one.url === body[kind.typeField])!
          const thing = { type, level: kind.levels ? body.vertrouwelijkheidaanduiding : null }
          const expected = may(client, kind.component, kind.verwijderen, thing) ? 204 : 403
          outcome.same(`${id} delete`, (await call('DELETE', url, undefined, id)).status, expected)
          if (expected === 403) await call('DELETE', url)
        }),
      )
    }
    t.strictSame(outcome.wrong, [])
    t.strictSame(changes.wrong, [], 'a change reaches no further than rights do')
    t.ok(outcome.cases() > (kind.levels ? 1500 : 150), `${outcome.cases() + changes.cases()} cases`)
  })
}

// ---- which scope opens which route ----

const CRUD = (path: string, lezen: string, aanmaken: string, bijwerken: string, verwijderen: string) => [
  `GET ${path} ${lezen}`,
  `POST ${path} ${aanmaken}`,
  `GET ${path}/- ${lezen}`,
  `HEAD ${path}/- ${lezen}`,
  `PUT ${path}/- ${bijwerken}`,
  `PATCH ${path}/- ${bijwerken}`,
  `DELETE ${path}/- ${verwijderen}`,
]
const without = (lines: string[], ...methods: string[]) =>
  lines.filter((line) => !methods.some((method) => line.startsWith(`${method} `)))
const L = 'ztc:catalogi.lezen|zrc:zaken.lezen|drc:documenten.lezen'
const S = 'ztc:catalogi.schrijven'
const F = `${S}|ztc:catalogi.geforceerd-schrijven`
const D = `${S}|ztc:catalogi.geforceerd-verwijderen`
const drc = (...names: string[]) => names.map((name) => `drc:documenten.${name}`).join('|')
const zrc = (...names: string[]) => names.map((name) => `zrc:zaken.${name}`).join('|')
const brc = (...names: string[]) => names.map((name) => `brc:besluiten.${name}`).join('|')
const B = 'ac:autorisaties.bijwerken'
const EIO = '/documenten/api/v1/enkelvoudiginformatieobjecten'

/** `method path component:scope|…`; `-` in a path is a uuid that does not exist, `*` all rights only. */
const GATES: string[] = [
  ...['zaaktypen', 'informatieobjecttypen', 'besluittypen'].flatMap((name) => [
    ...CRUD(`/catalogi/api/v1/${name}`, L, S, F, D),
    `POST /catalogi/api/v1/${name}/-/publish ${S}`,
  ]),
  ...CRUD('/catalogi/api/v1/catalogussen', L, S, F, D),
  ...[
    'statustypen',
    'resultaattypen',
    'roltypen',
    'eigenschappen',
    'zaakobjecttypen',
    'zaaktype-informatieobjecttypen',
  ].flatMap((name) => CRUD(`/catalogi/api/v1/${name}`, L, F, F, D)),
  ...CRUD('/autorisaties/api/v1/applicaties', 'ac:autorisaties.lezen', B, B, B),
  'GET /autorisaties/api/v1/applicaties/consumer?clientId=x ac:autorisaties.lezen',
  ...CRUD(EIO, drc('lezen'), drc('aanmaken'), drc('bijwerken', 'geforceerd-bijwerken'), drc('verwijderen')),
  `POST ${EIO}/_zoek ${drc('lezen')}`,
  `POST ${EIO}/_batch ${drc('lezen')}`,
  `GET ${EIO}/-/download ${drc('lezen')}`,
  `POST ${EIO}/-/lock ${drc('lock')}`,
  `POST ${EIO}/-/unlock ${drc('lock', 'geforceerd-unlock')}`,
  `GET ${EIO}/-/audittrail drc:audittrails.lezen`,
  `GET ${EIO}/-/audittrail/- drc:audittrails.lezen`,
  ...['gebruiksrechten', 'verzendingen'].flatMap((name) =>
    CRUD(`/documenten/api/v1/${name}`, drc('lezen'), drc('aanmaken'), drc('bijwerken'), drc('verwijderen')),
  ),
  ...without(
    CRUD('/documenten/api/v1/objectinformatieobjecten', drc('lezen'), drc('aanmaken'), '', drc('verwijderen')),
    'PUT',
    'PATCH',
  ),
  `PUT /documenten/api/v1/bestandsdelen/- ${drc('bijwerken')}`,
  `POST /documenten/api/v1/documentnummer_reserveren ${drc('aanmaken')}`,
  'GET /documenten/api/v1/import *',
  'POST /documenten/api/v1/import/create *',
  'GET /documenten/api/v1/import/-/status *',
  'GET /documenten/api/v1/import/-/report *',
  'DELETE /documenten/api/v1/import/-/delete *',
  ...CRUD(
    '/zaken/api/v1/zaken',
    zrc('lezen'),
    zrc('aanmaken'),
    zrc('bijwerken', 'geforceerd-bijwerken'),
    zrc('verwijderen'),
  ),
  `POST /zaken/api/v1/zaken/_zoek ${zrc('lezen')}`,
  ...['zaken', 'statussen', 'rollen', 'zaakinformatieobjecten'].map(
    (name) => `POST /zaken/api/v1/${name}/_batch ${zrc('lezen')}`,
  ),
  'GET /zaken/api/v1/zaken/-/audittrail zrc:audittrails.lezen',
  ...CRUD('/besluiten/api/v1/besluiten', brc('lezen'), brc('aanmaken'), brc('bijwerken'), brc('verwijderen')),
  ...without(
    CRUD('/besluiten/api/v1/besluitinformatieobjecten', brc('lezen'), brc('aanmaken'), '', brc('verwijderen')),
    'PUT',
    'PATCH',
  ),
]

const SCOPES = [
  ...new Set(GATES.flatMap((line) => line.split(' ')[2]!.split('|')).filter((scope) => scope !== '*')),
  'zrc:zaken.heropenen',
  'zrc:documenten.lezen', // a scope within the wrong component
  'drc:zaken.lezen',
  'nrc:notificaties.consumeren',
  'nrc:notificaties.publiceren',
]

t.test('a route opens to the scopes of the standard, and to no others', async (t) => {
  const outcome = tally()
  const uuid = '00000000-0000-4000-8000-000000000000'
  const clients = new Map<string, string>()
  for (const scope of SCOPES) {
    const [component = '', name = ''] = scope.split(':')
    // Without a type, since the trail asks for that; no object is looked at here.
    clients.set(scope, await givenClient(test, `poort-${clients.size}`, [{ component, scopes: [name] }]))
  }
  const tokenless = await test.call('GET', '/catalogi/api/v1/zaaktypen', undefined, { headers: { authorization: '' } })
  outcome.refused('without a token', tokenless, true)
  for (const line of GATES) {
    const [method = '', path = '', needs = ''] = line.split(' ')
    const url = path.replace(/(?<=\/)-(?=\/|$)/g, uuid)
    if ((await test.call('GET', url.split('/').slice(0, 4).join('/'))).status === 404) continue
    for (const [scope, as] of clients) {
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined
      const headers = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' }
      const { status, text } = await test.call(method, url, body, { as, headers })
      if (status === 405 || status >= 500) outcome.same(`${line} ${text}`, status, 'a route')
      outcome.same(`${scope}: ${method} ${path}`, status === 403, !needs.split('|').includes(scope))
    }
  }
  t.strictSame(outcome.wrong, [])
  t.ok(outcome.cases() > 3000, `${outcome.cases()} cases`)
})

t.test('a _batch opens to whom its list opens', async (t) => {
  t.ok(batches.size >= 14)
  for (const path of batches) t.strictSame(accesses.get(`POST ${path}/_batch`), accesses.get(`GET ${path}`), path)
})

t.test('an application without any right opens nothing', async (t) => {
  const id = await givenClient(test, 'half', [])
  for (const line of GATES) {
    const [method = '', path = ''] = line.split(' ')
    if ((await test.call('GET', path.split('/').slice(0, 4).join('/'))).status === 404) continue
    const headers = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' }
    const { status } = await test.call(
      method,
      path.replace(/\/-/g, '/00000000-0000-4000-8000-000000000000'),
      undefined,
      {
        as: id,
        headers,
      },
    )
    t.equal(status, 403, `${method} ${path}`)
  }
})
