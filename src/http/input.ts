import { isIP } from 'node:net'
import type { FastifySchemaCompiler } from 'fastify'
import Type, { type Static, type TObject, type TOptional, type TSchema, type TUnsafe } from 'typebox'
import Format from 'typebox/format'
import { Compile, type Validator } from 'typebox/schema'
import { Settings } from 'typebox/system'
import { isDuration, isTerm, isZeroDuration, MAX_YEARS } from './duration.ts'
import { LIMITS } from './limits.ts'
import { type InvalidParam, invalid, invalidAll, notFound, Problem } from './problem.ts'
import { isUuid } from './uuid.ts'

Settings.Set({ maxErrors: 2 * LIMITS.faults }) // all faults are reported at once, as far as anyone reads them

// ---- kinds of values that the standard uses ----

/** A value that may be null, written so that it stays one plain JSON schema. */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const plain = JSON.parse(JSON.stringify(schema)) as { type?: string; enum?: unknown[] }
  return Type.Unsafe<Static<T> | null>({
    ...plain,
    type: [plain.type ?? 'string', 'null'],
    ...(plain.enum && { enum: [...plain.enum, null] }),
  })
}

/** Text with the limits of the standard. Optional text that is absent reads as `""`. */
export const Text = (maxLength?: number, options: { minLength?: number; description?: string } = {}) =>
  Type.String({ ...(maxLength !== undefined && { maxLength }), ...options })
/** Text that may be left out, which then counts as empty. */
export const OptionalText = (maxLength?: number, description?: string): TOptional<Type.TString> =>
  Type.Optional(
    Type.String({ ...(maxLength !== undefined && { maxLength }), default: '', ...(description && { description }) }),
  )
export const DateOnly = Type.String({ format: 'date' })
export const OptionalDate = Type.Optional(
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date', default: null }),
)
/** ISO 8601; without offset read as UTC, a date alone as midnight. */
export const Moment = Type.String({ format: 'date-time' })
export const Url = (maxLength = 1000) => Type.String({ format: 'uri', minLength: 1, maxLength })
/** A URL of a resource of the standard, ours or elsewhere: what is no URL at all is `bad-url`. */
export const Reference = (maxLength = 1000) => Type.String({ format: 'uri-reference-zgw', minLength: 1, maxLength })
export const Rsin = Type.String({ format: 'rsin', minLength: 9, maxLength: 9 })
export const Uuid = Type.String({ format: 'uuid' })
export const VERTROUWELIJKHEIDAANDUIDINGEN = [
  'openbaar',
  'beperkt_openbaar',
  'intern',
  'zaakvertrouwelijk',
  'vertrouwelijk',
  'confidentieel',
  'geheim',
  'zeer_geheim',
] as const
export type Vertrouwelijkheidaanduiding = (typeof VERTROUWELIJKHEIDAANDUIDINGEN)[number]
export const Vertrouwelijkheid = Type.Enum(VERTROUWELIJKHEIDAANDUIDINGEN)
/** A choice that may be left empty. */
export const OptionalChoice = <const V extends string>(values: readonly V[]) =>
  Type.Optional(Type.Enum([...values, ''] as (V | '')[], { default: '' as const }))

/** RSIN and BSN: weights 9…2 and -1 from the left. */
export function passesElfproef(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const weight = digits.length - place
    sum += Number(digits[place]) * (weight === 1 ? -1 : weight)
  }
  return sum % 11 === 0
}

/** Formats, with the code and reason of a value that fails them. */
const FORMATS: Record<
  string,
  { test: (text: string) => boolean; code: (text: string) => string; reason: string | ((text: string) => string) }
> = {
  date: { test: isDate, code: () => 'invalid', reason: 'Dit is geen geldige datum (JJJJ-MM-DD).' },
  'date-time': { test: isMoment, code: () => 'invalid', reason: 'Dit is geen geldig moment (ISO 8601).' },
  uuid: {
    test: isUuid,
    code: () => 'invalid',
    reason: 'Dit is geen geldige UUID.',
  },
  // An empty text passes here: where it is not allowed, the minimum length says so (`blank`).
  uri: { test: orEmpty(isUrl), code: () => 'invalid', reason: 'Dit is geen geldige URL.' },
  'uri-reference-zgw': { test: orEmpty(isUrl), code: () => 'bad-url', reason: 'Dit is geen geldige URL.' },
  email: {
    test: orEmpty(isEmail),
    code: () => 'invalid',
    reason: 'Dit is geen geldig e-mailadres.',
  },
  // Nine digits. What is longer the maximum length of the schema refuses.
  rsin: {
    test: orEmpty((text) => /^[0-9]{9,}$/.test(text) && (text.length > 9 || passesElfproef(text))),
    code: (text) => (!/^[0-9]+$/.test(text) ? 'only-digits' : text.length < 9 ? 'min_length' : 'invalid'),
    reason: (text) =>
      /^[0-9]{0,8}$/.test(text)
        ? 'Dit nummer heeft negen cijfers.'
        : 'Dit is geen geldig nummer: alleen cijfers, en het voldoet aan de elfproef.',
  },
  duration: { test: isTerm, code: () => 'invalid', reason: noDuration(MAX_YEARS.term) },
  'duration-archiving': { test: isDuration, code: () => 'invalid', reason: noDuration(MAX_YEARS.archiving) },
}
// What is longer than any text may be is refused by its length: nobody reads all of it to find out what else is wrong.
for (const [name, { test }] of Object.entries(FORMATS))
  Format.Set(name, (text) => text.length > LIMITS.text || test(text))

function noDuration(years: number): string {
  return `Dit is geen geldige duur (ISO 8601, niet negatief, ten hoogste ${years} jaar).`
}

function orEmpty(test: (text: string) => boolean): (text: string) => boolean {
  return (text) => text === '' || test(text)
}

/** One `@`, and a dot within what comes behind it. Written out: as one expression it would try every dot against every rest. */
function isEmail(text: string): boolean {
  const at = text.indexOf('@')
  const dot = text.lastIndexOf('.', text.length - 2)
  return at > 0 && dot > at + 1 && !/\s/.test(text) && text.indexOf('@', at + 1) === -1
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** A moment that lies ahead of the clock. `leeway` in seconds. */
export const isFuture = (moment: string, leeway: number): boolean => Date.parse(moment) > Date.now() + leeway * 1000

function isMoment(text: string): boolean {
  const parts = /^(\d{4}-\d{2}-\d{2})([T ](\d{2}):(\d{2})(:(\d{2})(\.\d{1,9})?)?(Z|[+-](\d{2}):?(\d{2}))?)?$/i.exec(
    text,
  )
  if (!parts?.[1] || !isDate(parts[1])) return false
  return (
    Number(parts[3] ?? 0) < 24 &&
    Number(parts[4] ?? 0) < 60 &&
    Number(parts[6] ?? 0) < 60 &&
    Number(parts[9] ?? 0) < 15 &&
    Number(parts[10] ?? 0) < 60
  )
}

/** A moment as the client wrote it, with an offset where it had none: what the database then stores is what was meant. */
function momentInUtc(text: string): string {
  const moment = text.length === 10 ? `${text}T00:00:00` : text.replace(' ', 'T')
  return /(Z|[+-]\d{2}:?\d{2})$/i.test(moment) ? moment : `${moment}Z`
}

// Hosts without a dot are taken: inside a container network our own address is often one.
function isUrl(text: string): boolean {
  if (!/^(https?|ftps?):\/\/[^\s<>"\\^`{|}]+$/i.test(text)) return false
  const hostname = URL.parse(text)?.hostname ?? ''
  return hostname !== '' && (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || /^[^.].*$/.test(hostname))
}

/**
 * The body of a PATCH: nothing has to be there, but what a resource cannot do without cannot be set to null either. Check
 * what comes of it with `readInput` on the whole.
 */
export function Patch<T extends TObject>(schema: T) {
  return Type.Partial(schema, { 'x-required': (schema as Plain).required ?? [] })
}

// ---- reading ----

type Plain = {
  type?: string | string[]
  properties?: Record<string, Plain>
  required?: string[]
  'x-required'?: string[]
  items?: Plain
  default?: unknown
  enum?: unknown[]
  format?: string
  maxLength?: number
  maxItems?: number
}
const validators = new WeakMap<object, Validator>()
const readers = new WeakMap<object, Reader>()

/**
 * Reads a value by its schema as existing clients send it, and checks it: names in snake_case are taken as camelCase,
 * numbers as text and text as numbers, null for what is optional as absent, a duration of no length as null where null
 * is allowed; unknown and read-only names are left out.
 * @param options.defaults fill in what is absent (not for PATCH)
 * @returns a new value with only what the schema names
 * @throws Problem 400 with all faults, in the order of the fields in the schema
 */
export function readInput<T extends TSchema>(
  schema: T,
  input: unknown,
  options: { defaults?: boolean } = {},
): Static<T> {
  const value = readerOf(schema as Plain)(input, options.defaults ?? true)
  const faults = findFaults(schema, value)
  if (faults.length > 0) throw invalidAll(faults)
  return value as Static<T>
}

/** All faults of a value that was normalised already, in the order of the schema; none: an empty list. */
export function findFaults(schema: TSchema, value: unknown): InvalidParam[] {
  let validator = validators.get(schema)
  if (!validator) {
    validator = Compile(bounded(schema as Plain) as TSchema)
    validators.set(schema, validator)
  }
  const faults = isPossible(value) ? [] : impossibleText(value, [])
  if (!validator.Check(value)) {
    for (const error of validator.Errors(value)[1])
      for (const fault of describe(schema as Plain, value, error))
        if (!faults.some(({ name, code }) => name === fault.name && code === fault.code)) faults.push(fault)
  }
  if (faults.length < 2) return faults
  const order = Object.keys((schema as Plain).properties ?? {})
  const place = ({ name }: InvalidParam) => order.indexOf(name.split('.')[0] ?? name)
  return faults.sort((a, b) => place(a) - place(b))
}

/** The schema with a bound on every list and every text: where it says none, the general one holds. */
function bounded(schema: Plain): Plain {
  const types = ([] as string[]).concat(schema.type ?? [])
  const { properties, items } = schema
  return {
    ...schema,
    ...(types.includes('string') && !schema.enum && { maxLength: schema.maxLength ?? LIMITS.text }),
    ...(types.includes('array') && { maxItems: schema.maxItems ?? LIMITS.items }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, bounded(one)])),
    }),
    ...(items && { items: bounded(items) }),
  }
}

/** Makes of a value what its schema means by it. Made once for each schema: every request passes here. */
type Reader = (value: unknown, defaults: boolean) => unknown

function readerOf(schema: Plain): Reader {
  let reader = readers.get(schema)
  if (!reader) {
    reader = makeReader(schema)
    readers.set(schema, reader)
  }
  return reader
}

function makeReader(schema: Plain): Reader {
  const types = ([] as string[]).concat(schema.type ?? [])
  const readObject = types.includes('object') && schema.properties ? makeObjectReader(schema) : undefined
  const readItem = types.includes('array') && schema.items ? readerOf(schema.items) : undefined
  const most = schema.maxItems ?? LIMITS.items
  const isText = types.includes('string') || schema.enum !== undefined
  const isNumber = types.includes('integer') || types.includes('number')
  const nullable = types.includes('null')
  const readText = (format: string | undefined, value: string) => {
    if (format === 'date-time' && isMoment(value)) return momentInUtc(value)
    if (format?.startsWith('duration') && nullable && isZeroDuration(value)) return null // a term of no length is no term
    return value
  }
  return (value, defaults) => {
    if (value === null) return value
    switch (typeof value) {
      case 'object':
        // Of a list that is too long one more than is allowed is read, for the fault.
        if (Array.isArray(value))
          return readItem ? value.slice(0, most + 1).map((item) => readItem(item, defaults)) : value
        return readObject ? readObject(value as Record<string, unknown>, defaults) : value
      case 'string':
        if (isText) return readText(schema.format, value)
        if (isNumber && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value)) return Number(value)
        if (types.includes('boolean')) return TRUE.has(value) ? true : FALSE.has(value) ? false : value
        return value
      case 'number':
      case 'boolean':
        return types.includes('string') ? String(value) : value
      default:
        return value
    }
  }
}

function makeObjectReader(schema: Plain) {
  const required = schema['x-required'] ?? schema.required
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const snake = snakeCase(name)
    const types = ([] as string[]).concat(property.type ?? [])
    const nullable = types.includes('null') || (types.length === 0 && !property.enum) // a plain choice knows no null
    return {
      name,
      snake: snake === name ? undefined : snake,
      read: readerOf(property),
      nullIsAbsent: !nullable && !required?.includes(name),
      default: property.default,
    }
  })
  return (input: Record<string, unknown>, defaults: boolean): Record<string, unknown> => {
    const result: Record<string, unknown> = {}
    for (const property of properties) {
      const { name, snake } = property
      let value = Object.hasOwn(input, name) ? input[name] : undefined
      if (value === undefined && snake !== undefined && Object.hasOwn(input, snake)) value = input[snake]
      if (value === null && property.nullIsAbsent) value = defaults ? undefined : property.default
      if (value === undefined && defaults) value = copy(property.default)
      if (value !== undefined) result[name] = property.read(value, defaults)
    }
    return result
  }
}

/** Of a default, so that no two values share it. Nearly all are no objects, or lists that are empty. */
function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? value.map(copy) : structuredClone(value)
}

const TRUE = new Set(['true', 'True', 'TRUE', '1'])
const FALSE = new Set(['false', 'False', 'FALSE', '0'])

/** `aardRelatie` as `aard_relatie`: the spelling that some clients send. */
export function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

type SchemaError = { keyword: string; instancePath: string; params: object }

function describe(schema: Plain, root: unknown, error: SchemaError): InvalidParam[] {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const name = path.join('.') || 'nonFieldErrors'
  const params = error.params as {
    limit?: number
    format?: string
    requiredProperties?: string[]
    allowedValues?: unknown[]
  }
  let value: unknown = root
  for (const part of path) value = (value as Record<string, unknown> | undefined)?.[part]
  const fault = (code: string, reason: string) => [{ name, code, reason }]
  switch (error.keyword) {
    case 'required':
      return (params.requiredProperties ?? []).map((property) => ({
        name: [...path, property].join('.'),
        code: 'required',
        reason: 'Dit veld is verplicht.',
      }))
    case 'type':
      if (value === null) return fault('null', 'Dit veld mag niet null zijn.')
      if (enumAt(schema, path)) return [] // the choice says it better
      return isArrayAt(schema, path)
        ? fault('not_a_list', 'Hier hoort een lijst.')
        : fault('invalid', 'Deze waarde is niet van het juiste soort.')
    case 'enum':
      if (value === null) return fault('null', 'Dit veld mag niet null zijn.')
      return fault(
        'invalid_choice',
        `Deze keuze bestaat niet. Mogelijk: ${params.allowedValues?.filter((choice) => choice !== null && choice !== '').join(', ')}.`,
      )
    case 'minLength':
      if (value === '') return fault('blank', 'Dit veld mag niet leeg zijn.')
      return fault('min_length', `Dit veld heeft ten minste ${params.limit} tekens.`)
    case 'maxLength':
      return fault('max_length', `Dit veld heeft ten hoogste ${params.limit} tekens.`)
    case 'minimum':
    case 'exclusiveMinimum':
      return fault('min_value', `Deze waarde is ten minste ${params.limit}.`)
    case 'maximum':
    case 'exclusiveMaximum':
      return fault('max_value', `Deze waarde is ten hoogste ${params.limit}.`)
    case 'maxItems':
      return fault('max_length', `Deze lijst heeft ten hoogste ${params.limit} onderdelen.`)
    case 'minItems':
      return fault('empty', 'Deze lijst mag niet leeg zijn.')
    case 'format': {
      const { code, reason = 'Deze waarde is ongeldig.' } = FORMATS[params.format ?? ''] ?? {}
      const text = String(value)
      return fault(code?.(text) ?? 'invalid', typeof reason === 'string' ? reason : reason(text))
    }
    default:
      return fault('invalid', 'Deze waarde is ongeldig.')
  }
}

function schemaAt(schema: Plain, path: string[]): Plain | undefined {
  let at: Plain | undefined = schema
  for (const part of path) at = at?.properties?.[part] ?? at?.items
  return at
}
const enumAt = (schema: Plain, path: string[]) => schemaAt(schema, path)?.enum !== undefined
const isArrayAt = (schema: Plain, path: string[]) =>
  ([] as unknown[]).concat(schemaAt(schema, path)?.type ?? []).includes('array')

const isPossibleText = (text: string) => !text.includes('\0') && text.isWellFormed()

/** Whether there is no text in it that PostgreSQL cannot hold: what nearly always holds is found without a list. */
function isPossible(value: unknown): boolean {
  if (typeof value === 'string') return isPossibleText(value)
  if (value === null || typeof value !== 'object') return true
  return (Array.isArray(value) ? value : Object.values(value)).every(isPossible)
}

/** Text that PostgreSQL cannot hold: NUL, and half a surrogate pair. */
function impossibleText(value: unknown, path: string[]): InvalidParam[] {
  if (typeof value === 'string') {
    if (isPossibleText(value)) return []
    return [
      {
        name: path.join('.') || 'nonFieldErrors',
        code: 'invalid',
        reason: 'Deze tekst bevat een teken dat niet is toegestaan.',
      },
    ]
  }
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, part]) => impossibleText(part, [...path, key]))
}

/** Reads a query string: unknown names are refused, an empty value is no filter, of a repeated one the last counts. */
function readQuery<T extends TSchema>(schema: T, query: Record<string, unknown>): Static<T> {
  const { properties = {} } = schema as Plain
  const unknown = Object.keys(query).filter((name) => !Object.hasOwn(properties, name))
  if (unknown.length > 0) {
    throw invalid('nonFieldErrors', 'unknown-parameters', `Onbekende parameters: ${unknown.join(', ').slice(0, 200)}.`)
  }
  const values: Record<string, unknown> = {}
  for (const [name, given] of Object.entries(query)) {
    const text = String(Array.isArray(given) ? (given.at(-1) ?? '') : (given ?? ''))
    if (text !== '') values[name] = properties[name]?.type === 'array' ? text.split(',') : text
  }
  return readInput(schema, values)
}

/** How Fastify checks what a route declares: through the functions above, so that every fault has the standard's shape. */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart, method }) => {
  return (data: unknown) => {
    try {
      if (httpPart === 'querystring') return { value: readQuery(schema, (data ?? {}) as Record<string, unknown>) }
      if (httpPart === 'params') {
        if (findFaults(schema, data).length > 0) return { error: notFound() }
        return { value: data }
      }
      if (httpPart === 'headers') return { value: data }
      if (data === null || typeof data !== 'object' || Array.isArray(data)) {
        return { error: invalid('nonFieldErrors', 'invalid', 'De inhoud is geen JSON-object.') }
      }
      return { value: readInput(schema, data, { defaults: method !== 'PATCH' }) }
    } catch (error) {
      if (error instanceof Problem) return { error }
      throw error
    }
  }
}
