// Reads in the log of processing: what an answer shows is noted as its text goes out, whatever route made it, and becomes a line when
// the answer is through. Cases, rollen, documents and besluiten are known by their own addresses in it, and by the address of the case
// that each part of a case names.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../core/problem.ts'
import { type Acts, ALL_ZAKEN, type Concerned } from '../core/verwerkingen.ts'
import { type Numbers, SEARCHED, type Searched } from '../lib/numbers.ts'
import { UUID_PATTERN } from '../lib/uuid.ts'
import { currentOf, knownOf, type Shown } from '../telemetry/current-request.ts'
import { traceOf } from '../telemetry/request-id.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined while the log of processing is off. */
    acts: Acts | undefined
  }
}

/** What may show a case or a person. */
const TOUCHING = /^\/(?:(?:zaken|documenten|besluiten)\/api\/v1|api\/v1|beheer)\//
/** Of the pages, those that are for looking cases up; the others may be needed to repair what is wrong. */
const REFUSED =
  /^\/(?:(?:zaken|documenten|besluiten)\/api\/v1|api\/v1|beheer\/(?:zaken|documenten|besluiten|betrokkenen|audittrail|zoeken|persoon))(?:\/|$)/
const SNAPSHOT = /\/_snapshots\/:positie$/
const ONE_UUID = new RegExp(`^${UUID_PATTERN}$`)

/** Writes a line for each read of the APIs and the pages that shows a case or a person. To be registered after the access of routes. */
export function logReads(app: FastifyInstance, open: () => Acts | undefined): void {
  const actsNow = app.each(open, (acts) => acts?.close())
  app.decorate('acts', { getter: actsNow })
  if (!app.hasMany && !actsNow()) return
  app.addHook('onRequest', (request, _reply, done) => {
    const { url = '', config: route } = request.routeOptions // made anew each time that it is asked for
    if (route.access === undefined || route.access === 'public' || !placeOf(url).isTouching) return done()
    const acts = actsNow()
    if (!acts) return done()
    if (acts.isFull && REFUSED.test(url)) {
      const detail = 'Er wachten te veel regels op het logboek van verwerkingen: zonder regel wordt niets verwerkt.'
      return done(new Problem(503, { detail, headers: { 'retry-after': '60' } }))
    }
    currentOf(request).shown = nothingShown(url)
    const room = acts.room()
    if (room) void room.then(() => done(), done)
    else done()
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (typeof payload === 'string') noteText(request, payload)
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const shown = knownOf(request)?.shown
    const acts = shown && actsNow()
    if (acts && !shown.isChange && (reply.statusCode < 300 || reply.statusCode === 304)) {
      notePlaces(request, shown)
      noteAsked(request, shown, app.reader.numbers)
      writeLine(request, acts, shown)
    }
    done()
  })
}

const nothingShown = (url: string): Shown => ({
  url,
  zaken: new Set(),
  objecten: new Set(),
  rollen: new Set(),
  persons: [],
  isChange: false,
})

/** An answer that goes on for long has a line now for what it showed until now. */
export function logSoFar(request: FastifyRequest): void {
  const current = currentOf(request)
  const acts = current.shown && request.server.acts
  if (!current.shown || !acts) return
  writeLine(request, acts, current.shown)
  current.shown = nothingShown(current.shown.url)
}

function writeLine(request: FastifyRequest, acts: Acts, { url, zaken, objecten, rollen, persons }: Shown): void {
  if (zaken.size + objecten.size + rollen.size + persons.length === 0) return
  const current = currentOf(request)
  const { actor, beheerder } = request as FastifyRequest & {
    beheerder?: { gebruikersnaam: string; naam: string } | undefined
  }
  const ended = performance.now()
  acts.add({
    began: current.began,
    ended,
    handeling: `${request.method} ${url}`,
    actor: actor ?? {
      clientId: '',
      applicatieLabel: 'Beheer',
      userId: beheerder?.gebruikersnaam ?? '',
      userRepresentation: beheerder?.naam ?? '',
    },
    zaken: [...zaken],
    objecten: [...objecten],
    rollen: [...rollen],
    persons: persons as Concerned[],
    trace: traceOf(current),
    requestId: request.id,
  })
}

/** As many are noted before an answer that goes on has a line for them. */
const MOST_NOTED = 2000

/** Notes what a part of an answer shows. What is no whole text may be cut between resources only. */
export function noteText(request: FastifyRequest, text: string): void {
  const { server } = request
  if (!server.hasMany && !server.acts) return
  const shown = knownOf(request)?.shown
  if (!shown || shown.isChange) return
  noteAddresses(text, shown)
  if (shown.zaken.size + shown.objecten.size + shown.rollen.size > MOST_NOTED) logSoFar(request)
}

/** What of a resource says what it is, or is of. */
const NAMING = ['url', 'zaak', 'gerelateerdAan', 'object', 'informatieobject', 'enkelvoudiginformatieobject', 'besluit']

/** Notes a resource that was read, with what was included in it: of an answer with some of its fields the text need not tell. */
export function noteResource(request: FastifyRequest, resource: Record<string, unknown>): void {
  const { server } = request
  if (!server.hasMany && !server.acts) return
  const named = NAMING.flatMap((name) => (typeof resource[name] === 'string' ? [[name, resource[name]]] : []))
  noteText(request, JSON.stringify(Object.fromEntries(named)))
  for (const included of Object.values(resource._expand ?? {}))
    for (const one of [included].flat())
      if (typeof one === 'object' && one !== null) noteResource(request, one as Record<string, unknown>)
}

/** Notes a document that is shown without its address. */
export function noteDocument(request: FastifyRequest, uuid: string): void {
  const shown = knownOf(request)?.shown
  if (!shown || shown.isChange) return
  note(shown.objecten, uuid)
  if (shown.objecten.size > MOST_NOTED) logSoFar(request)
}

/** Notes somebody who was asked for, or shown, by one of his numbers. */
export function notePerson(request: FastifyRequest, member: Searched, value: string): void {
  const { shown } = currentOf(request)
  if (shown) shown.persons.push(personOf(request.server.parts.box.numbers, member, value))
}

const personOf = (numbers: Numbers, member: Searched, value: string) => ({
  lookup: numbers.lookup(member, value).toString('hex'),
  person: { [member]: value },
})

const UUID_LENGTH = 36
const API = '/api/v1/'
type Where = 'zaken' | 'objecten' | 'rollen'
type Kind = { kind: string; where: Where; members: readonly string[] }
/** By the first letter of the kind in an address: where it is noted, and the members whose value means that it is shown. */
const KINDS = new Map<number, Kind>(
  (
    [
      ['zaken/', 'zaken', ['"url":', '"zaak":', '"gerelateerdAan":', '"object":']],
      ['rollen/', 'rollen', ['"url":']],
      [
        'enkelvoudiginformatieobjecten/',
        'objecten',
        ['"url":', '"informatieobject":', '"enkelvoudiginformatieobject":'],
      ],
      ['besluiten/', 'objecten', ['"url":', '"besluit":', '"object":']],
    ] as const
  ).map(([kind, where, members]) => [kind.charCodeAt(0), { kind, where, members }]),
)
const PAGES = '/beheer/'
const PAGE_KINDS: readonly [kind: string, where: 'zaken' | 'objecten'][] = [
  ['zaken/', 'zaken'],
  ['documenten/', 'objecten'],
  ['besluiten/', 'objecten'],
]

/** Finds the addresses in a text by hand: an expression over each answer takes ten times as long. */
function noteAddresses(text: string, shown: Shown): void {
  for (let at = text.indexOf(API); at >= 0; at = text.indexOf(API, at + API.length)) {
    const from = at + API.length
    const found = KINDS.get(text.charCodeAt(from))
    if (!found || !text.startsWith(found.kind, from)) continue
    const uuid = text.slice(from + found.kind.length, from + found.kind.length + UUID_LENGTH)
    const noted = shown[found.where]
    if (noted.has(uuid)) continue
    const quote = text.lastIndexOf('"', at)
    if (found.members.some((member) => text.startsWith(member, quote - member.length))) note(noted, uuid)
  }
  if (text[0] !== '<') return
  for (let at = text.indexOf(PAGES); at >= 0; at = text.indexOf(PAGES, at + PAGES.length))
    for (const [kind, where] of PAGE_KINDS)
      if (text.startsWith(kind, at + PAGES.length))
        note(shown[where], text.slice(at + PAGES.length + kind.length, at + PAGES.length + kind.length + UUID_LENGTH))
}

function note(noted: Set<string>, uuid: string): void {
  if (!noted.has(uuid) && ONE_UUID.test(uuid)) noted.add(uuid)
}

const OBJECTS = new Set(['enkelvoudiginformatieobjecten', 'documenten', 'besluiten', 'objectinformatieobjecten'])

/** What the address of a route tells, found out once: its parameters, with what stands before them. */
type Place = { isTouching: boolean; isSnapshot: boolean; named: { kind: string; name: string }[] }
const PLACES = new Map<string, Place>()
function placeOf(url: string): Place {
  let place = PLACES.get(url)
  if (!place) {
    const named = [...url.matchAll(/\/([a-z]+)\/:(\w+)/g)].map(([, kind = '', name = '']) => ({ kind, name }))
    place = { isTouching: TOUCHING.test(url), isSnapshot: SNAPSHOT.test(url), named }
    PLACES.set(url, place)
  }
  return place
}

/** What the address of the request itself names: of bytes, and of what the client has already, there is no text. */
function notePlaces(request: FastifyRequest, shown: Shown): void {
  const { isSnapshot, named } = placeOf(shown.url)
  if (isSnapshot) shown.zaken.add(ALL_ZAKEN)
  for (const { kind, name } of named) {
    const uuid = String((request.params as Record<string, unknown>)[name] ?? '').toLowerCase()
    if (kind === 'zaken') note(shown.zaken, uuid)
    else if (kind === 'rollen') note(shown.rollen, uuid)
    else if (OBJECTS.has(kind)) note(shown.objecten, uuid)
  }
}

/** Persons whose numbers the request asks for: also when nothing is found, somebody was looked for. */
function noteAsked(request: FastifyRequest, shown: Shown, numbers: Numbers): void {
  const look = (value: unknown, depth: number): void => {
    if (value === null || typeof value !== 'object' || depth > 4) return
    for (const [name, one] of Object.entries(value)) {
      const member = SEARCHED.find((known) => name === known || name.endsWith(`__${known}`))
      if (member && typeof one === 'string' && one !== '') shown.persons.push(personOf(numbers, member, one))
      else look(one, depth + 1)
    }
  }
  look(request.query, 0) // the address itself may spell a name with escapes
  if (request.method === 'POST') look(request.body, 0)
}
