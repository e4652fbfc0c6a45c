// What the fuzzer knows of the service: the operations of its own OpenAPI documents, and resources that were made before, so that
// operations are reached and not only 404s. What answers name is added while it runs.
import { glob } from 'node:fs/promises'
import { BASE, type TestApp } from '../app.ts'
import type { Line } from '../conformance/line.ts'

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document can hold anything
export type Json = Record<string, any>

export type Operation = {
  component: string
  /** Such as `get /zaken/api/v1/zaken/{uuid}`. */
  name: string
  method: string
  /** From the root of the server, with {parameters}. */
  path: string
  query: { name: string; schema: Json }[]
  /** Schema of a JSON body; undefined when it takes none. */
  body: Json | undefined
  /** Media types that it takes. */
  types: string[]
  /** By status: where the schema of its JSON stands in the document, null for an answer without. */
  answers: Map<number, string | null>
}

/** A resource that is there, or was. */
export type Known = {
  /** Without the root of the server. */
  path: string
  /** What the POST that made it took. */
  body?: Json
  lock?: string
}

export type World = {
  test: TestApp
  documents: Map<string, Json>
  operations: Operation[]
  /** By the path with {} in place of each parameter. */
  known: Map<string, Known[]>
  lines: Line[]
}

const COMPONENTS = ['zaken', 'documenten', 'catalogi', 'besluiten', 'autorisaties', 'notificaties']
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete']
const KEPT = 40 // of each kind

/** Reads the documents of the service and makes one resource of each kind. */
export async function makeWorld(test: TestApp): Promise<World> {
  const world: World = { test, documents: new Map(), operations: [], known: new Map(), lines: await conformanceLines() }
  for (const component of COMPONENTS) {
    const { body } = await test.call('GET', `/${component}/api/v1/openapi.json`)
    world.documents.set(component, body)
    world.operations.push(...operationsOf(component, body))
  }
  for (const line of world.lines) await makeOne(world, line)
  return world
}

async function conformanceLines(): Promise<Line[]> {
  const lines: Line[] = []
  const files = await Array.fromAsync(glob('*.ts', { cwd: new URL('../conformance', import.meta.url).pathname }))
  for (const file of files.sort()) {
    const found: Record<string, unknown> = await import(`../conformance/${file}`)
    for (const exported of Object.values(found)) if (Array.isArray(exported)) lines.push(...exported)
  }
  return lines
}

/** Makes a resource as the conformance test does, with all that it refers to. */
export async function makeOne(world: World, line: Line): Promise<Json & { url: string }> {
  const body = await line.given(world.test)
  const { headers } = line
  const answer = await world.test.call('POST', line.at?.(body) ?? line.path, body, { ...(headers && { headers }) })
  if (answer.status !== 201) throw new Error(`${line.path}: ${answer.status} ${answer.text}`)
  learn(world, answer.body, body)
  return answer.body
}

/** Remembers the resources that an answer names. `body` is what made the first of them. */
export function learn(world: World, answer: unknown, body?: Json): void {
  const isOwn = (path: string) => path.startsWith('/autorisaties/') && body === undefined // the rights of the fuzzer itself
  const visit = (value: unknown, depth: number) => {
    if (depth > 4 || value === null || typeof value !== 'object') {
      if (typeof value !== 'string' || !value.startsWith(`${BASE}/`)) return
      const path = value.slice(BASE.length).split('?', 1)[0]!
      if (!isOwn(path)) remember(world, { path })
      return
    }
    const { url, lock } = value as Json
    if (typeof url === 'string' && url.startsWith(`${BASE}/`) && typeof lock === 'string')
      remember(world, { path: url.slice(BASE.length).split('?', 1)[0]!, lock })
    for (const member of Object.values(value).slice(0, 60)) visit(member, depth + 1)
  }
  const { url } = (answer ?? {}) as Json
  if (body && typeof url === 'string' && url.startsWith(BASE)) remember(world, { path: url.slice(BASE.length), body })
  visit(answer, 0)
}

function remember(world: World, known: Known): void {
  if (!/^[\w/.-]+$/.test(known.path)) return
  const kind = kindOf(known.path)
  const all = world.known.get(kind) ?? []
  world.known.set(kind, all)
  const before = all.find(({ path }) => path === known.path)
  if (before) Object.assign(before, known)
  else if (all.push(known) > KEPT) all.splice(1 + (all.length % 3), 1) // the newest, and some that are old
}

/** Forgets what was deleted, but for now and then: a resource that is gone is worth a question too. */
export function forget(world: World, path: string): void {
  const all = world.known.get(kindOf(path))
  const at = all?.findIndex((known) => known.path === path) ?? -1
  if (all && at >= 0 && all.length % 8 !== 0) all.splice(at, 1)
}

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi
export const kindOf = (path: string): string => path.replace(UUID, '{}')

/** Resources that this field or parameter may name, by what it is called: `zaaktype`, `informatieobject`. */
export function knownAs(world: World, name: string): Known[] {
  const bare = name.toLowerCase().replace(/__.*$/, '')
  const word = ALIASES[bare] ?? bare
  for (const [kind, all] of world.known) {
    const list = kind
      .replace(/\/\{\}$/, '')
      .split('/')
      .at(-1)!
    if (kind.endsWith('/{}') && all.length > 0 && isPluralOf(word, list)) return all
  }
  return []
}

const ALIASES: Record<string, string> = {
  informatieobject: 'enkelvoudiginformatieobject',
  hoofdzaak: 'zaak',
  gerelateerdaan: 'zaak',
  object: 'zaak',
  statustoelichting: 'status',
}
const isPluralOf = (word: string, list: string) =>
  list === word ||
  list === `${word}en` ||
  list === `${word}s` ||
  list === `${word.replace(/aak$/, 'ak').replace(/ol$/, 'oll')}en`

function* operationsOf(component: string, document: Json): Generator<Operation> {
  for (const [path, item] of Object.entries<Json>(document.paths))
    for (const method of METHODS) {
      const operation: Json | undefined = item[method]
      if (!operation) continue
      const full = `/${component}/api/v1${path}`
      const parameters: Json[] = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((one) =>
        resolve(document, one),
      )
      const content: Json = operation.requestBody ? resolve(document, operation.requestBody).content : {}
      const answers = new Map<number, string | null>()
      for (const [status, answer] of Object.entries<Json>(operation.responses)) {
        const hasJson = resolve(document, answer).content?.['application/json']
        const at = ['paths', path, method, 'responses', status, 'content', 'application/json', 'schema']
        answers.set(Number(status), hasJson && !answer.$ref ? at.map(pointerPart).join('/') : null)
      }
      yield {
        component,
        name: `${method} ${full}`,
        method: method.toUpperCase(),
        path: full,
        query: parameters.filter((one) => one.in === 'query').map(({ name, schema }) => ({ name, schema })),
        body: content['application/json']?.schema,
        types: Object.keys(content),
        answers,
      }
    }
}

const pointerPart = (text: string) => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))

/** Follows `$ref`, as long as there is one. */
export function resolve(document: Json, value: Json): Json {
  if (!value.$ref) return value
  let at: Json | undefined = document
  for (const part of value.$ref.slice(2).split('/')) at = at?.[part]
  if (!at) throw new Error(`${value.$ref} leads nowhere`)
  return resolve(document, at)
}
