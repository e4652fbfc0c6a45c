// One request, drawn from a seed and from what the world holds: valid as a whole or wrong in a few places.
import * as fc from 'fast-check'
import { signToken } from '../../src/autorisaties/clients.ts'
import { BASE, SECRET } from '../app.ts'
import { anyString, anyValue, HEADERS, PATHS } from './values.ts'
import { type Json, type Known, knownAs, type Operation, resolve, type World } from './world.ts'

export type Ask = {
  operation: Operation
  method: string
  path: string
  headers: Record<string, string>
  body: string | Buffer | undefined
  /** What was sent as JSON, when it was. */
  json?: Json
  /** Something in it must be refused, whatever else it says. */
  refused: boolean
}

type Draw = ReturnType<typeof drawer>

/** A request to this operation. @param g from `fc.gen()` */
export function drawAsk(world: World, operation: Operation, g: fc.GeneratorValue): Ask {
  const draw = drawer(g)
  const known = pickKnown(world, operation, draw)
  let path = fillPath(world, operation, known, draw)
  let { method } = operation
  const headers: Record<string, string> = {
    host: 'localhost',
    authorization: `Bearer ${signToken('beheer', SECRET, { id: 'fuzz', name: 'Fuzz' })}`,
    'accept-crs': 'EPSG:4326',
    'content-crs': 'EPSG:4326',
  }
  let refused = false
  if (draw.chance(3)) path = draw.one(PATHS)(path)
  const { text: query, unknown } = drawQuery(world, operation, draw)
  refused ||= unknown
  let { body, json, type, broken } = drawBody(world, operation, known, draw)
  refused ||= broken
  if (type) headers['content-type'] = type
  if (draw.chance(6)) Object.assign(headers, draw.one(HEADERS))
  if (draw.chance(3)) {
    headers.authorization = drawToken(draw)
    refused = true
  }
  if (draw.chance(2)) {
    method = draw.one(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND'])
    if (method === 'GET' || method === 'HEAD' || method === 'TRACE') body = undefined
    refused = false
  }
  return {
    operation,
    method,
    path: query ? `${path}?${query}` : path,
    headers,
    body,
    ...(json && { json }),
    refused: refused && method === operation.method && method !== 'OPTIONS',
  }
}

/** Choices by the generator of fast-check, so that a seed repeats them. */
function drawer(g: fc.GeneratorValue) {
  const below = (count: number) => g(fc.nat, { max: count - 1 })
  return {
    below,
    one: <T>(items: readonly T[]): T => items[below(items.length)]!,
    chance: (percent: number) => below(100) < percent,
    text: () => g(() => anyString),
    value: () => g(() => anyValue),
  }
}

// ---- where it goes ----

function pickKnown(world: World, { path }: Operation, draw: Draw): Known | undefined {
  const kind = path.replace(/\{[^}]+\}/g, '{}')
  const own = world.known.get(kind) ?? world.known.get(`${kind}/{}`)
  if (own?.length) return draw.one(own)
  // What hangs below a resource, as its audit trail or `publish`.
  for (let parent = kind; parent.includes('/{}'); parent = parent.slice(0, parent.lastIndexOf('/'))) {
    const all = world.known.get(parent)
    if (all?.length) return draw.one(all)
  }
  return undefined
}

function fillPath(world: World, { path }: Operation, known: Known | undefined, draw: Draw): string {
  const parts = known ? known.path.split('/') : []
  const filled = path.split('/').map((part, at) => (part.startsWith('{') ? (parts[at] ?? crypto.randomUUID()) : part))
  if (!draw.chance(4)) return filled.join('/')
  // A uuid of something else, or what is no uuid.
  const at = filled.findIndex((_, n) => path.split('/')[n]!.startsWith('{'))
  if (at < 0) return filled.join('/')
  const others = draw.one([...world.known.values()])
  const other = others.length > 0 ? draw.one(others).path.split('/').at(-1)! : 'x'
  filled[at] = draw.chance(50) ? other : encodeURIComponent(draw.text().toWellFormed()) || 'x'
  return filled.join('/')
}

// ---- the query ----

/** Where the standard does not refuse what it does not know. */
const IGNORES_UNKNOWN = /\/enkelvoudiginformatieobjecten\/\{uuid\}\/download$/

function drawQuery(world: World, { path, query, method }: Operation, draw: Draw): { text: string; unknown: boolean } {
  const parts: string[] = []
  let unknown = false
  const encode = (value: unknown) => encodeURIComponent(String(value).toWellFormed())
  if (query.length > 0)
    for (let left = draw.one([0, 0, 1, 1, 2, 4]); left > 0; left--) {
      const { name, schema } = draw.one(query)
      parts.push(`${encode(name)}=${encode(draw.chance(55) ? plausible(world, name, schema, draw) : draw.text())}`)
      if (draw.chance(4)) parts.push(parts.at(-1)!)
    }
  if (draw.chance(4)) {
    parts.push(`${draw.one(['onbekend', 'a[b]', 'page[]', '__proto__', 'constructor', 'x%00'])}=${encode(draw.text())}`)
    unknown = method === 'GET' && !IGNORES_UNKNOWN.test(path)
  }
  if (draw.chance(1))
    parts.push(draw.one(['%', '%zz=1', '=', '&&&', '?', 'a=%ff', 'page=%', `${'x=1&'.repeat(500)}y=1`]))
  return { text: parts.join('&'), unknown }
}

function plausible(world: World, name: string, schema: Json, draw: Draw): unknown {
  const known = knownAs(world, name)
  if (known.length > 0 && draw.chance(80)) {
    const { path } = draw.one(known)
    return schema.format === 'uuid' || name.endsWith('uuid') ? path.split('/').at(-1) : `${BASE}${path}`
  }
  if (name === 'expand')
    return draw.one([
      'zaaktype',
      'status,resultaat',
      'rollen,rollen.roltype',
      'hoofdzaak.hoofdzaak.hoofdzaak',
      'deelzaken.deelzaken',
      'x',
    ])
  if (schema.enum) return draw.one(schema.enum as unknown[])
  const type = [schema.type].flat()[0]
  if (type === 'boolean') return draw.one(['true', 'false'])
  if (type === 'integer' || type === 'number') return draw.one([0, 1, 2, 3, 100, 500, 501, -1, 1e9, 2 ** 31])
  if (schema.format === 'date' || /datum|date/i.test(name)) return draw.one(['2026-03-02', '2024-01-01', '9999-12-31'])
  return draw.text()
}

// ---- the body ----

type Body = { body: string | Buffer | undefined; json?: Json; type?: string; broken: boolean }

function drawBody(world: World, operation: Operation, known: Known | undefined, draw: Draw): Body {
  const { method, types } = operation
  if (method === 'GET' || method === 'HEAD') return { body: undefined, broken: false }
  if (types.includes('text/csv')) return { body: drawCsv(draw), type: 'text/csv', broken: false }
  if (types.includes('multipart/form-data')) return drawForm(known, draw)
  if (!operation.body) return draw.chance(90) ? { body: undefined, broken: false } : asJson({ x: draw.value() })
  let json = drawJson(world, operation, known, draw)
  for (let left = draw.one([0, 0, 0, 1, 1, 2, 4]); left > 0; left--) json = alter(world, json, draw)
  const text = JSON.stringify(json)
  if (!draw.chance(4)) return { ...asJson(json), json }
  // Not JSON any more, or not what one object is.
  const cut = draw.below(Math.max(1, text.length))
  const body = draw.one<string | Buffer>([
    text.slice(0, cut),
    `${text}}`,
    `${text.slice(0, -1)},}`,
    text.replace(/:"/, ':NaN,"x":"'),
    `\ufeff${text}`,
    text.replace(/}$/, ',"__proto__":{"a":1}}'),
    `{"a":${'['.repeat(100_000)}`,
    `${'['.repeat(5000)}${']'.repeat(5000)}`,
    `[${text}]`,
    'null',
    '"x"',
    '1e400',
    '',
    Buffer.concat([Buffer.from(text.slice(0, cut)), Buffer.from([0xff, 0xc0, 0x80])]),
    Buffer.from(text, 'utf16le'),
    text.replace('{', `{"titel":"${'x'.repeat(1_100_000)}",`),
  ])
  return { body, type: 'application/json', broken: !isJson(body) }
}

function isJson(body: string | Buffer): boolean {
  try {
    // A mark of the byte order at the beginning is no fault (RFC 8259, 8.1).
    JSON.parse(
      typeof body === 'string' ? body.replace(/^\ufeff/, '') : new TextDecoder('utf8', { fatal: true }).decode(body),
    )
    return true
  } catch {
    return body.length === 0 // which may say nothing at all
  }
}

const asJson = (json: unknown): Body => ({ body: JSON.stringify(json), type: 'application/json', broken: false })

function drawJson(world: World, operation: Operation, known: Known | undefined, draw: Draw): Json {
  const before = operation.method === 'POST' ? sampleFor(world, operation, draw) : known?.body
  const locked: Json = known?.lock && draw.chance(80) ? { lock: known.lock } : {}
  if (before && draw.chance(75)) {
    const copy = structuredClone(before)
    if (operation.method !== 'PATCH') return { ...copy, ...locked }
    const names = Object.keys(copy)
    return { ...Object.fromEntries(names.filter(() => draw.chance(30)).map((name) => [name, copy[name]])), ...locked }
  }
  const document = world.documents.get(operation.component)!
  const made = fromSchema(world, document, operation.body!, 'body', draw, 0)
  return { ...(typeof made === 'object' && made !== null ? (made as Json) : {}), ...locked }
}

/** What made one of these before; a number that has to be unique is another one each time. */
function sampleFor(world: World, { path }: Operation, draw: Draw): Json | undefined {
  const all = (world.known.get(`${path.replace(/\{[^}]+\}/g, '{}')}/{}`) ?? []).filter(({ body }) => body)
  if (all.length === 0) return undefined
  const body = structuredClone(draw.chance(50) ? all.at(-1)!.body! : draw.one(all).body!)
  if ('volgnummer' in body) body.volgnummer = 1 + draw.below(9000)
  if ('naam' in body && draw.chance(70)) body.naam = `naam ${draw.below(1e6)}`
  if ('omschrijving' in body && draw.chance(50)) body.omschrijving = `soort ${draw.below(1e6)}`
  if ('datumStatusGezet' in body) body.datumStatusGezet = `2026-03-02T10:00:${10 + draw.below(49)}Z`
  if ('domein' in body) body.domein = `F${draw.below(9000)}`
  if ('clientIds' in body) body.clientIds = [`fuzz-${draw.below(1e6)}`]
  return body
}

/** A value that the schema takes, more or less: what it does not say is drawn. */
function fromSchema(world: World, document: Json, given: Json, name: string, draw: Draw, depth: number): unknown {
  const schema = resolve(document, given)
  const choice: Json[] | undefined = schema.anyOf ?? schema.oneOf
  if (choice) return fromSchema(world, document, draw.one(choice), name, draw, depth)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return draw.one(schema.enum as unknown[])
  const types = [schema.type ?? 'string'].flat() as string[]
  const type = types.includes('null') && draw.chance(15) ? 'null' : types.find((one) => one !== 'null')
  if (type === 'null') return null
  if (type === 'boolean') return draw.chance(50)
  if (type === 'integer' || type === 'number') return draw.one([schema.minimum ?? 0, schema.maximum ?? 10, 1, 2])
  if (type === 'array')
    return depth > 5
      ? []
      : Array.from({ length: draw.below(3) }, () =>
          fromSchema(world, document, schema.items ?? {}, name, draw, depth + 1),
        )
  if (type === 'object') {
    const required: string[] = schema.required ?? []
    const members = Object.entries<Json>(schema.properties ?? {}).filter(
      ([key]) => required.includes(key) || (depth < 5 && draw.chance(20)),
    )
    return Object.fromEntries(
      members.map(([key, member]) => [key, fromSchema(world, document, member, key, draw, depth + 1)]),
    )
  }
  const known = knownAs(world, name.replace(/en$/, '')).concat(knownAs(world, name))
  if (schema.format === 'uri' && known.length > 0) return `${BASE}${draw.one(known).path}`
  if (schema.format === 'date') return '2026-03-02'
  if (schema.format === 'date-time') return '2026-03-02T10:00:00Z'
  if (schema.format === 'uuid') return crypto.randomUUID()
  if (schema.format === 'duration') return 'P30D'
  if (draw.chance(30)) return draw.text()
  const { minLength = 0, maxLength = 100 } = schema
  if (minLength === 9 && maxLength === 9) return '517439943'
  return 'tekst'.padEnd(minLength, 'x').slice(0, maxLength)
}

/** One place in the body becomes something else. */
function alter(world: World, json: Json, draw: Draw): Json {
  const places: { holder: Json; key: string }[] = []
  const visit = (holder: Json) => {
    for (const key of Object.keys(holder)) {
      places.push({ holder, key })
      if (holder[key] !== null && typeof holder[key] === 'object') visit(holder[key])
    }
  }
  const copy = structuredClone(json)
  visit(copy)
  if (places.length === 0 || draw.chance(5)) return { ...copy, [draw.text() || 'x']: draw.value() }
  const { holder, key } = draw.one(places)
  const kinds = draw.below(10)
  if (kinds === 0) delete holder[key]
  else if (kinds === 1) holder[key] = [holder[key]]
  else if (kinds === 2) holder[key] = urlOf(world, draw)
  else if (kinds === 3 && typeof holder[key] === 'string') holder[key] += draw.text()
  else if (kinds <= 6) holder[key] = draw.text()
  else holder[key] = draw.value()
  return copy
}

function urlOf(world: World, draw: Draw): string {
  const all = draw.one([...world.known.values()])
  return all.length > 0 ? `${BASE}${draw.one(all).path}` : BASE
}

function drawForm(known: Known | undefined, draw: Draw): Body {
  const border = draw.one(['grens', 'x', 'a'.repeat(70)])
  const part = (name: string, value: string, more = '') =>
    `--${border}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
  const parts = [
    part(
      'inhoud',
      draw.one(['0123456789', 'x', '', draw.text()]),
      draw.one(['; filename="f"', '', '; filename="../x"', '; filename*=x']),
    ),
    part('lock', draw.chance(80) && known?.lock ? known.lock : draw.text()),
    draw.chance(15) ? part(draw.text(), draw.text()) : '',
    draw.chance(5) ? part('lock', 'x'.repeat(2_000_000)) : '',
    draw.chance(90) ? `--${border}--\r\n` : '',
  ]
  const type = `multipart/form-data; boundary=${draw.chance(95) ? border : draw.one(['anders', '', '"'])}`
  return { body: parts.join(''), type, broken: false }
}

function drawCsv(draw: Draw): string | Buffer {
  const header = 'uuid,identificatie,bronorganisatie,creatiedatum,titel,auteur,taal,informatieobjecttype,bestandspad'
  const row = () =>
    Array.from({ length: draw.one([1, 8, 9, 9, 9, 10]) }, () => `"${draw.text().replaceAll('"', '""')}"`).join(',')
  return draw.one<() => string | Buffer>([
    () => '',
    () => header,
    () => [header, row(), row()].join('\n'),
    () => [header, `"${draw.text()}`].join('\r\n'),
    () => Buffer.from([header, row()].join('\n'), 'utf16le'),
    () => draw.text(),
  ])()
}

// ---- the token ----

function drawToken(draw: Draw): string {
  const now = Math.floor(Date.now() / 1000)
  const part = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
  const good = signToken('beheer', SECRET, { id: 'fuzz', name: 'Fuzz' })
  const [head = '', claims = '', signature = ''] = good.split('.')
  const stranger = part({ client_id: `vreemde-${draw.below(1e6)}`, iat: now })
  return draw.one([
    '',
    'Bearer',
    'Bearer ',
    `Bearer${good}`,
    `Bearer  ${good}`,
    `Basic ${good}`,
    `Bearer ${good}, Bearer ${good}`,
    'Bearer a.b.c',
    'Bearer ..',
    `Bearer ${head}.${claims}`,
    `Bearer ${head}.${claims}.`,
    `Bearer ${good}.x`,
    `Bearer ${head}.${stranger}.${signature}`,
    ...['none', 'None', 'HS384', 'HS512', 'RS256', 'ES256'].map(
      (alg) => `Bearer ${part({ alg, typ: 'JWT' })}.${stranger}.${signature}`,
    ),
    `Bearer ${part({ alg: 'HS256', crit: ['x'], jku: 'http://evil.example', kid: '../../dev/null' })}.${stranger}.${signature}`,
    ...[null, 1, [], {}, 'x'.repeat(10_000), 'a\u0000b', ['beheer'], { $ne: 1 }].map(
      (client_id) => `Bearer ${head}.${part({ client_id, iat: now })}.${signature}`,
    ),
    `Bearer ${head}.${part('not json')}.${signature}`,
    `Bearer ${part('[]')}.${claims}.${signature}`,
  ])
}
