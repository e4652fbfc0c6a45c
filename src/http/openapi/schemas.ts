// The schemas of routes, as a document shows them: plain enough for the generators of clients, each one named once.
import { DOCUMENTED } from '../documented.ts'
import { answers, isParameter, type Json, type Operation, segments, singular } from './operation.ts'

/** Formats that only our own check knows. */
const OWN_FORMATS: Record<string, string | undefined> = {
  'uri-reference-zgw': 'uri',
  'duration-archiving': 'duration',
  rsin: undefined,
}

/** Java and others read an integer without a format into 32 bits. */
const LARGEST_INT32 = 2 ** 31 - 1

const BODY = { POST: 'Invoer', PUT: 'Vervanging', PATCH: 'Wijziging' } as const

export type Schemas = {
  /** A schema as a document shows it: a reference where it has a name. */
  of(schema: unknown): Json
  /** The named schemas. */
  described(): Record<string, Json>
}

/**
 * Gives what routes take and answer a name, so that it stands in the document once; what is equal has one name. A schema
 * with `$id` keeps that as its name.
 */
export function nameSchemas(operations: Operation[]): Schemas {
  const names = new Map<string, string>()
  const texts = new Map<string, unknown>()
  const add = (schema: unknown, wish: string) => {
    const { type, properties } = (schema ?? {}) as Json
    if (type !== 'object' || !properties) return
    const text = JSON.stringify(schema)
    if (names.has(text)) return
    let name = wish
    for (let number = 2; texts.has(name); number++) name = `${wish}${number}`
    names.set(text, name)
    texts.set(name, JSON.parse(text))
  }
  const pascal = (path: string) => {
    const [first = '', ...rest] = segments(path).filter((part) => !isParameter(part))
    return [singular(first), ...rest].map((word) => word.split(/[-_]/).map(capital).join('')).join('')
  }
  const answersFirst = operations.toSorted((a, b) => rank(a) - rank(b))
  for (const { path, schema } of answersFirst) {
    for (const answer of Object.values(answers(schema)) as Json[]) {
      const properties = (answer.properties ?? {}) as Json
      const item = answer.type === 'array' ? answer.items : properties.count && properties.results
      const one = answer.type === 'array' ? item : item ? (item as Json).items : answer
      add(one, names.has(JSON.stringify(one)) || !texts.has(pascal(path)) ? pascal(path) : `${pascal(path)}Gemaakt`)
      if (item && answer.type !== 'array') add(answer, `${pascal(path)}Pagina`)
    }
  }
  for (const method of ['POST', 'PUT', 'PATCH'] as const) {
    for (const { path, schema } of answersFirst.filter((one) => one.method === method))
      add(schema.body, `${pascal(path)}${BODY[method]}`)
  }

  const shared = new Map<string, Json>() // schemas that brought their own name
  const show = (schema: unknown, root = false): unknown => {
    if (Array.isArray(schema)) return schema.map((one) => show(one))
    if (schema === null || typeof schema !== 'object') return schema
    const given = schema as Json
    if (given[DOCUMENTED]) return show(given[DOCUMENTED])
    if (typeof given.$id === 'string' && !root) {
      if (!shared.has(given.$id)) {
        shared.set(given.$id, {}) // it may hold itself
        shared.set(given.$id, show(given, true) as Json)
      }
      return { $ref: `#/components/schemas/${given.$id}` }
    }
    const name = root ? undefined : names.get(JSON.stringify(schema))
    if (name) return { $ref: `#/components/schemas/${name}` }
    return plain(given, show)
  }
  return {
    of: (schema) => show(JSON.parse(JSON.stringify(schema))) as Json,
    described: () => {
      const named = [...texts].map(([name, schema]) => [name, show(schema, true)] as [string, Json])
      return Object.fromEntries([...named, ...shared])
    },
  }
}

// What generators stumble over is not written: a choice or a format without a type, anyOf for what may be empty, and a default. Clients
// made of a document send the defaults of a body that they were not given, so that a PATCH of one field emptied all others.
function plain(schema: Json, show: (schema: unknown) => unknown): Json {
  const result: Json = {}
  for (const [key, value] of Object.entries(schema)) {
    if (
      key === 'x-required' ||
      key === 'x-verbatim' ||
      key === 'x-later' ||
      key === 'x-when-null' ||
      key === '$id' ||
      key === 'default'
    )
      continue
    if (key === 'format') {
      const format = Object.hasOwn(OWN_FORMATS, String(value)) ? OWN_FORMATS[String(value)] : value
      if (format !== undefined && !mayBeEmpty(schema)) result.format = format
    } else if (key === 'properties') {
      result.properties = Object.fromEntries(Object.entries(value as Json).map(([field, one]) => [field, show(one)]))
    } else if (key === 'enum' || key === 'const' || key === 'example' || key === 'discriminator') {
      result[key] = value
    } else result[key] = show(value)
  }
  if (Number(schema.maximum ?? 0) > LARGEST_INT32) result.format = 'int64'
  if (saysMuch(schema.default)) {
    const standard = `Bij aanmaken standaard ${String(schema.default)}.`
    result.description = [schema.description, standard].filter(Boolean).join(' ')
  }
  if (Array.isArray(schema.enum)) Object.assign(result, namesOfChoices(schema.enum))
  if (schema.enum && !schema.type) return { type: typeof (schema.enum as unknown[])[0], ...result }
  return result
}

/**
 * Names of the choices, for generators that make a constant of each: of an empty text they make none (Kotlin), and two of one where
 * choices differ in `-` and `_`. Empty for others, whose names are those that the generator makes.
 */
export function namesOfChoices(choices: unknown[]): Json {
  const texts = choices.filter((one) => one !== null).map(String)
  const bare = new Set(texts.map((one) => one.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase()))
  if (!texts.includes('') && bare.size === texts.length) return {}
  const names: string[] = []
  for (const one of texts) {
    const name = one.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase() || 'EMPTY'
    let own = name
    for (let number = 2; names.includes(own); number++) own = `${name}_${number}`
    names.push(own)
  }
  return { 'x-enum-varnames': names }
}

/** A default other than nothing: an absent text is empty, an absent list too, and an absent date is none. */
const saysMuch = (absent: unknown): boolean =>
  absent !== undefined && absent !== null && absent !== '' && typeof absent !== 'object'

/** An empty text is no URI and no e-mail address: where it is answered, the format is not promised. */
const mayBeEmpty = ({ type, format, minLength, default: absent }: Json): boolean =>
  absent === '' || (type === 'string' && format === 'uri' && minLength === undefined)

// Details name a resource; lists and actions come after them.
const rank = ({ method, path }: Operation) => (path.includes('/:uuid') ? 0 : 2) + (method === 'GET' ? 0 : 1)
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
