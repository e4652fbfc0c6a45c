// Each route that may touch a case or a person is asked, and has to leave a line in the log of processing. The list is that of the
// routes as they are registered: a new one is asked here, by its line of the conformance test or below, or says why it touches nobody.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { type Answer, givenInformatieobjecttype, testApp, uuidOf } from '../app.ts'
import { givenTypen } from '../besluiten/given.ts'
import { besluiten } from '../conformance/besluiten.ts'
import { documenten } from '../conformance/documenten.ts'
import type { Line } from '../conformance/line.ts'
import { zaken } from '../conformance/zaken.ts'
import { base64, DRC, EIO, form, givenDocument, givenLock, newDocument } from '../documenten/documenten.ts'
import { csvText, givenFile, goodRow, API as IMPORT, runImport } from '../documenten/importing.ts'
import { until } from '../until.ts'
import { CRS, givenZaak, made, ZAKEN, zaakBody } from '../zaken/given.ts'

const API = /^\/(?:zaken|documenten|besluiten)\/api\/v1\//
/** Routes of these APIs that touch nobody, each with its reason. */
const NOBODY: Record<string, string> = {
  'POST /zaken/api/v1/zaaknummer_reserveren': 'a number, before there is a case',
  'POST /zaken/api/v1/reserveer_zaaknummer': 'the same',
  'POST /documenten/api/v1/documentnummer_reserveren': 'a number, before there is a document',
  'GET /documenten/api/v1/import': 'how an import goes; its batches have lines of their own',
  'POST /documenten/api/v1/import/create': 'the same',
  'POST /documenten/api/v1/import/:uuid/upload': 'the same',
  'GET /documenten/api/v1/import/:uuid': 'the same',
  'GET /documenten/api/v1/import/:uuid/status': 'the same',
  'POST /documenten/api/v1/import/:uuid/cancel': 'the same',
  'GET /documenten/api/v1/import/:uuid/bewijs': 'the same: how many, and a hash',
  'DELETE /documenten/api/v1/import/:uuid/delete': 'the same',
}
for (const list of [
  'zaken/api/v1/zaken',
  'documenten/api/v1/enkelvoudiginformatieobjecten',
  'besluiten/api/v1/besluiten',
])
  NOBODY[`GET /${list}/_snapshots`] = 'which snapshots there are'

/** Pages that show cases and persons, and the rest by what they are about. */
const SHOWING = ['zaken', 'documenten', 'besluiten', 'betrokkenen', 'audittrail', 'zoeken', 'persoon']
const OTHER_PAGES = new Set(
  `inloggen uitloggen bevestigen wissel taal bestanden overzicht notificaties abonnementen kanalen taken bewaartermijnen sleutels uitgaand diensten
  token-uitgevers applicaties accounts mijn-account filters catalogi auditlog configuratie imports overnemen handleiding audit groei meldingen inlogaanbieders fouten gereserveerde-nummers
  toegankelijkheid`
    .trim()
    .split(/\s+/),
)

const routes = new Set<string>()
const collect = (message: unknown) =>
  (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url, config }) => {
    for (const name of [method].flat())
      if (name !== 'HEAD' && name !== 'OPTIONS' && config?.access !== 'public') routes.add(`${name} ${url}`)
  })
subscribe('fastify.initialization', collect)
const test = await testApp(t, {
  LOGBOEK_DATAVERWERKINGEN: 'true',
  LOGBOEK_ACTIVITEIT: 'https://register.gemeente.nl/zaken',
  DOCUMENTEN_UPLOAD_CHUNK_SIZE: '1000',
})
unsubscribe('fastify.initialization', collect)

const patterns = [...routes]
  .filter((route) => API.test(route.split(' ')[1] ?? ''))
  .map((route) => ({ route, pattern: new RegExp(`^${route.replace(/:[^/]+/g, '[^/]+')}$`) }))
  .sort((one, other) => one.route.split(':').length - other.route.split(':').length)
const held = new Set<string>()
let asked = 0

/** A request, of which the line has to come. */
async function touch(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const requestId = `route-${++asked}`
  const given = { headers: { ...CRS.headers, ...headers, 'x-request-id': requestId } }
  const answer = await test.call(method, url, body, given)
  const path = `${method} ${url.replace(/^https?:\/\/[^/]+/, '').split('?', 1)[0]}`
  const route = patterns.find(({ pattern }) => pattern.test(path))?.route ?? path
  if (answer.status >= 400) throw new Error(`${route}: ${answer.text}`)
  await until(
    `the line of ${route}`,
    async () => {
      await test.app.acts?.settle()
      const found = await test.database.sql`
      select 1 from verwerking where request_id = ${requestId} and (cardinality(zaken) > 0 or cardinality(objecten) > 0)`
      return found.length > 0
    },
    30_000,
  )
  held.add(route)
  return answer
}

/** All that its line of the conformance test knows of a resource. */
async function story(line: Line): Promise<void> {
  const { headers = {} } = line
  const body = await line.given(test)
  const path = line.at?.(body) ?? line.path
  const one = line.list.includes('POST') ? (await touch('POST', path, body, headers)).body : undefined
  if (!one) return
  if (line.list.includes('GET')) await touch('GET', `${path}${line.query?.(one) ?? ''}`, undefined, headers)
  await touch('GET', one.url, undefined, headers)
  if (routes.has(`POST ${line.path}/_batch`))
    for (const context of [{}, { fields: ['uuid'] }]) // also when the answer does not say what it is of
      await touch('POST', `${path}/_batch`, { context, requests: [{ key: uuidOf(one.url) }] }, headers)
  if (line.one.includes('PUT')) {
    const put = line.put ? await line.put(test, one, body) : body
    await touch('PUT', one.url, put, headers)
  }
  if (line.one.includes('PATCH')) await touch('PATCH', one.url, line.patch ? await line.patch(test, one) : {}, headers)
  if (line.one.includes('DELETE')) {
    await line.beforeDelete?.(test, one)
    await touch('DELETE', one.url, undefined, headers)
  }
}

t.test('every route of the APIs that touches a case or a person leaves a line', async (t) => {
  for (const line of [...zaken, ...documenten, ...besluiten]) await story(line)

  const document = await givenDocument(test)
  await touch('GET', `${document.url}/download`)
  const { body } = await touch('POST', `${document.url}/lock`)
  await touch('POST', `${document.url}/unlock`, body)
  await touch('POST', `${EIO}/_zoek`, { uuid__in: [uuidOf(document.url)] })
  const type = await givenInformatieobjecttype(test)
  const upload = made(await test.call('POST', EIO, newDocument(type, { bestandsomvang: 1000, inhoud: null })))
  const part = form({ lock: upload.lock }, Buffer.alloc(1000))
  await touch('PUT', upload.bestandsdelen[0].url, part.body, part.headers)
  await givenLock(test, (await givenDocument(test)).url)
  const imported = await runImport(test, csvText([goodRow(type, await givenFile(test, 'logboek.txt'))]))
  t.match(imported.status, { processedSuccessfully: 1 })
  await touch('GET', `${IMPORT}/${imported.uuid}/report`)

  const typen = await givenTypen(test)
  const besluit = await typen.besluit()
  for (const { url } of [document, besluit, await typen.zaak()]) {
    const trail = await touch('GET', `${url}/audittrail`)
    await touch('GET', `${url}/audittrail/${trail.body[0].uuid}`)
  }
  await touch('POST', '/besluiten/api/v1/besluit_verwerken', {
    besluit: {
      besluittype: typen.besluittype,
      verantwoordelijkeOrganisatie: '517439943',
      datum: '2026-01-01',
      ingangsdatum: '2026-01-01',
    },
    besluitinformatieobjecten: [],
  })

  const { zaaktype, statustype, eind, resultaattype, informatieobjecttype } = await givenComposite()
  const status = (url: string) => ({ statustype: url, datumStatusGezet: '2026-03-05T10:00:00Z' })
  const registered = await touch('POST', `${ZAKEN}/zaak_registreren`, {
    zaak: zaakBody(zaaktype),
    rollen: [],
    zaakinformatieobjecten: [],
    zaakobjecten: [],
    status: status(statustype),
  })
  t.match(registered.body.zaak.uuid, /./)
  await touch('POST', `${ZAKEN}/zaken/_zoek`, { uuid__in: [registered.body.zaak.uuid] })
  await touch('POST', `${DRC}/document_registreren`, {
    enkelvoudiginformatieobject: newDocument(informatieobjecttype, { inhoud: base64('x') }),
    zaakinformatieobject: { zaak: registered.body.zaak.url },
  })
  const open = async () => (await givenZaak(test, { zaaktype })).uuid
  const later = (n: number) => ({ statustype, datumStatusGezet: `2026-03-05T1${n}:00:00Z` })
  await touch('POST', `${ZAKEN}/zaak_opschorten/${await open()}`, {
    zaak: { opschorting: { indicatie: true, reden: 'wacht' } },
    status: later(1),
  })
  await touch('POST', `${ZAKEN}/zaak_verlengen/${await open()}`, {
    zaak: { verlenging: { reden: 'druk', duur: 'P5D' } },
    status: later(2),
  })
  await touch('POST', `${ZAKEN}/zaak_bijwerken/${await open()}`, { zaak: { omschrijving: 'x' }, status: later(3) })
  await touch('POST', `${ZAKEN}/zaak_afsluiten/${await open()}`, {
    zaak: {},
    resultaat: { resultaattype },
    status: { statustype: eind, datumStatusGezet: '2026-03-05T18:00:00Z' },
  })

  for (const path of [`${ZAKEN}/zaken`, EIO, '/besluiten/api/v1/besluiten']) {
    await touch('GET', `${path}/_deltas`)
    const ready = await until('a snapshot', async () => {
      const { body: found } = await test.call('GET', `${path}/_snapshots`)
      if (found.items.length > 0) return found
      await test.runJobs()
    })
    await touch('GET', ready.items[0].href)
  }

  const open_ = patterns.map(({ route }) => route).filter((route) => !held.has(route) && !Object.hasOwn(NOBODY, route))
  t.strictSame(open_, [], 'each route is asked, or says why it touches nobody')
  t.strictSame(
    Object.keys(NOBODY).filter((route) => !routes.has(route)),
    [],
    'and each of these is there',
  )
})

async function givenComposite() {
  const line = zaken.find(({ path }) => path === `${ZAKEN}/resultaten`)
  const { resultaattype, zaak } = ((await line?.given(test)) ?? {}) as Record<string, string>
  const { zaaktype } = (await test.call('GET', zaak ?? '', undefined, CRS)).body
  const { statustypen, informatieobjecttypen } = (await test.call('GET', zaaktype)).body
  const found = await Promise.all(statustypen.map(async (url: string) => (await test.call('GET', url)).body))
  const of = (isEind: boolean) => found.find(({ isEindstatus }) => isEindstatus === isEind).url as string
  return {
    zaaktype,
    statustype: of(false),
    eind: of(true),
    resultaattype,
    informatieobjecttype: informatieobjecttypen[0],
  }
}

t.test('every page is known as one that shows cases or persons, or as one that does not', (t) => {
  const pages = [...routes].filter((route) => / \/beheer\/./.test(route))
  t.ok(pages.length > 100)
  const unknown = pages.filter((route) => {
    const [, first = ''] = / \/beheer\/([^/]+)/.exec(route) ?? []
    return !SHOWING.includes(first) && !OTHER_PAGES.has(first)
  })
  t.strictSame(unknown, [])
  t.end()
})
