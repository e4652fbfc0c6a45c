// Clients in use, request by request: what each asks (facts.ts) is answered, and what it reads is there as its parser wants it.
import t, { type Test } from 'tap'
import { prepareNrc } from '../../src/nrc/start.ts'
import { type Json, testApp } from '../app.ts'
import { form } from '../documenten/documenten.ts'
import { CRS, givenDocument, givenZaak, made, ZAKEN } from '../zaken/given.ts'
import { CLIENTS, KINDS, type Reads, type Request, type Rule } from './facts.ts'
import { givenWorld, post } from './world.ts'

const lines: string[] = []
const test = await testApp(t, {}, (line) => lines.push(line))
const { call } = test
await test.database.sql`update notificatie_settings set mode = 'ingebouwd'`
await prepareNrc(test.database, test.config)
const world = await givenWorld(test)

for (const { name, requests } of CLIENTS)
  t.test(`${name} gets what it asks, and can read it`, async (t) => {
    const names: Record<string, string> = { ...world, run: name.toLowerCase().replace(/\W/g, '') }
    for (const request of requests) await play(t, request, names)
  })

async function play(t: Test, request: Request, names: Record<string, string>): Promise<void> {
  const { does, reads, finds, keep = {}, part } = request
  const [method = '', path = ''] = filled(request.ask, names).split(' ')
  const query = request.query ? `?${new URLSearchParams(filled(request.query, names))}` : ''
  const sent = part && form({ lock: filled(part.lock, names) }, Buffer.from(part.bytes))
  const headers = { ...request.headers, ...sent?.headers }
  const answer = await call(method, path + query, sent?.body ?? filled(request.body, names), { headers })
  const expected = request.status ?? { POST: 201, DELETE: 204 }[method] ?? 200
  t.equal(answer.status, expected, `${does}: ${method} ${path}${query}: ${answer.text.slice(0, 500)}`)
  const { body } = answer
  const found: Json[] = Array.isArray(body) ? body : (body?.results ?? [body])
  if (finds !== undefined) t.ok(found.length >= finds, `${does}: finds ${found.length}`)
  if (reads) for (const one of found) t.same(unread(one, reads), [], `${does}: reads what it gets`)
  for (const [name, at] of Object.entries(keep)) names[name] = memberOf(found[0], at) as string
}

/** The same with the values that `{names}` stand for. */
function filled<T>(value: T, names: Record<string, string>): T {
  if (typeof value === 'string')
    return value.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? `{${name}}`) as T
  if (Array.isArray(value)) return value.map((item) => filled(item, names)) as T
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filled(member, names)])) as T
  return value
}

const memberOf = (value: Json, path: string): unknown => path.split('.').reduce((at, name) => at?.[name], value)

/** The members that a client cannot read, with what it got. */
const unread = (value: Json, reads: Reads): string[] =>
  Object.entries(reads)
    .filter(([path, rule]) => !canRead(memberOf(value, path), rule))
    .map(([path, rule]) => `${path} by ${rule}: ${JSON.stringify(memberOf(value, path))}`)

function canRead(value: unknown, rule: Rule): boolean {
  if (rule.startsWith('of:')) return rule.slice(3).split(',').includes(String(value))
  const kind = KINDS[rule.replace(/[?~]$/, '') as keyof typeof KINDS]
  if (value === null || value === undefined) return /[?~]$/.test(rule)
  if (value === '' && rule.endsWith('~')) return true
  if (kind instanceof RegExp) return typeof value === 'string' && kind.test(value)
  switch (kind) {
    case 'integer':
      return Number.isInteger(value)
    case 'int32':
      return Number.isInteger(value) && Math.abs(value as number) < 2 ** 31
    case 'boolean':
      return typeof value === 'boolean'
    case 'object':
      return typeof value === 'object' && !Array.isArray(value)
    case 'list':
      return Array.isArray(value)
    case 'uris':
      return Array.isArray(value) && value.every((item) => KINDS.uri.test(item))
  }
}

t.test('a message has six digits in its moment, as ZAC reads it, and is fetched as it is sent', async (t) => {
  const abonnement = made(
    await call('POST', '/notificaties/api/v1/abonnement', { callbackUrl: '', kanalen: [{ naam: 'zaken' }] }),
  )
  await givenZaak(test, { zaaktype: world.zaaktype! })
  await test.runJobs()
  const { body } = await call('GET', `${abonnement.url}/berichten?limit=10`)
  const reads: Reads = {
    kanaal: 'filled',
    hoofdObject: 'uri',
    resource: 'filled',
    resourceUrl: 'uri',
    actie: 'filled',
    aanmaakdatum: 'moment6',
    kenmerken: 'object',
  }
  t.ok(body.items.length > 0, 'there are messages')
  for (const { bericht } of body.items) t.same(unread(bericht, reads), [])
})

// ---- PUT of who reads less than there is ----

/** Resources with all that clients know of; `knows`: what one of them sends back. */
async function givenWhole(): Promise<{ does: string; url: string; headers?: object; knows: object }[]> {
  const zaak = await givenZaak(test, {
    zaaktype: world.zaaktype!,
    omschrijving: 'Melding',
    toelichting: 'Blijft',
    communicatiekanaalNaam: 'Balie',
    kenmerken: [{ kenmerk: 'k', bron: 'b' }],
    opschorting: { indicatie: true, reden: 'Wacht' },
    zaakgeometrie: { type: 'Point', coordinates: [4.9, 52.37] },
    productenOfDiensten: [],
    betalingsindicatie: 'nvt',
  })
  const inZaak = { zaak: zaak.url }
  const document = await givenDocument(test, world.informatieobjecttype!)
  const required = { zaaktype: zaak.zaaktype, bronorganisatie: '517439943', startdatum: '2026-03-02' }
  const note = { onderwerp: 'Gebeld', tekst: 'Belt', gerelateerdAan: zaak.url }
  const overige = { ...inZaak, objectType: 'overige', objectTypeOverige: 'taak' }
  const besluit = {
    verantwoordelijkeOrganisatie: '517439943',
    besluittype: world.besluittype,
    datum: '2026-03-02',
    ingangsdatum: '2026-03-03',
  }
  const rights = { informatieobject: document, startdatum: '2026-03-02T00:00:00Z', omschrijvingVoorwaarden: 'geen' }
  const sending = {
    informatieobject: document,
    betrokkene: 'https://klanten.example/1',
    aardRelatie: 'geadresseerde',
    contactPersoon: 'https://klanten.example/2',
  }
  return [
    {
      does: 'ZaakBrug, a case',
      url: zaak.url,
      ...CRS,
      knows: { ...required, verantwoordelijkeOrganisatie: '517439943', omschrijving: 'Anders' },
    },
    {
      does: 'GZAC, a note',
      url: await post(test, `${ZAKEN}/zaaknotities`, { ...note, aangemaaktDoor: 'Jan', notitieType: 'extern' }),
      knows: { ...note, tekst: 'Anders' },
    },
    {
      does: 'ZAC, a result',
      url: await post(test, `${ZAKEN}/resultaten`, {
        ...inZaak,
        resultaattype: world.resultaattype,
        toelichting: 'Ja',
      }),
      knows: { ...inZaak, resultaattype: world.resultaattype },
    },
    {
      does: 'ZaakBrug, an object',
      url: await post(test, `${ZAKEN}/zaakobjecten`, {
        ...overige,
        relatieomschrijving: 'Betreft',
        objectIdentificatie: { overigeData: { a: 1 } },
      }),
      knows: overige,
    },
    {
      does: 'a document in a case',
      url: await post(test, `${ZAKEN}/zaakinformatieobjecten`, {
        ...inZaak,
        informatieobject: document,
        titel: 'Brief',
        beschrijving: 'Van wie',
      }),
      knows: { ...inZaak, informatieobject: document },
    },
    {
      does: 'a besluit',
      url: await post(test, '/besluiten/api/v1/besluiten', {
        ...besluit,
        ...inZaak,
        toelichting: 'Blijft',
        bestuursorgaan: 'Raad',
        vervaldatum: '2030-01-01',
        vervalreden: 'tijdelijk',
      }),
      knows: { ...besluit, ingangsdatum: '2026-03-04' },
    },
    {
      does: 'terms of use',
      url: await post(test, '/documenten/api/v1/gebruiksrechten', { ...rights, einddatum: '2030-01-01T00:00:00Z' }),
      knows: { ...rights, omschrijvingVoorwaarden: 'weinig' },
    },
    {
      does: 'a sending',
      url: await post(test, '/documenten/api/v1/verzendingen', {
        ...sending,
        toelichting: 'Blijft',
        verzenddatum: '2026-03-02',
        emailadres: 'jan@example.nl',
        mijnOverheid: false,
      }),
      knows: { ...sending, contactpersoonnaam: 'Jan' },
    },
  ]
}

t.test('who sends by PUT only what it knows loses nothing else', async (t) => {
  for (const { does, url, headers, knows } of await givenWhole()) {
    const options = { headers: { ...CRS.headers, ...headers } }
    const before = (await call('GET', url, undefined, options)).body
    const answer = await call('PUT', url, { ...knows, onbekend: 1, kenmerk: { x: 1 } }, options)
    t.equal(answer.status, 200, `${does}: ${answer.text.slice(0, 300)}`)
    const given = new Set([...Object.keys(knows), 'laatstGemuteerd', 'wijzigingsdatum', 'registratiedatum'])
    const rest = (body: Json) => Object.fromEntries(Object.entries(body).filter(([name]) => !given.has(name)))
    t.same(rest((await call('GET', url, undefined, options)).body), rest(before), `${does} keeps the rest`)
    const line = JSON.parse(lines.findLast((text) => text.includes('"method":"PUT"')) ?? '{}')
    t.same(line.dropped, ['onbekend', 'kenmerk'], `${does}: the log names what was left out, and no value of it`)
  }
})

t.test('what a client sends back of an answer is nothing unknown', async (t) => {
  const { body } = await call('GET', world.full!, undefined, CRS)
  t.equal((await call('PUT', world.full!, body, CRS)).status, 200)
  t.notMatch(
    lines.findLast((text) => text.includes('"method":"PUT"')),
    /"dropped"/,
  )
})

t.test('null in a PUT empties a text that may be empty', async (t) => {
  const zaak = await givenZaak(test, { zaaktype: world.zaaktype!, toelichting: 'Weg' })
  const { body } = await call('PUT', zaak.url, { ...zaak, toelichting: null }, CRS)
  t.equal(body.toelichting, '')
})
