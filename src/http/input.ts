// Input: the kinds of values that the standard uses, and how a value is read by its schema. What is wrong with one is found in
// `input-faults.ts`.

import type { FastifySchemaCompiler } from 'fastify'
import Type, { type Static, type TObject, type TOptional, type TPartial, type TSchema, type TUnsafe } from 'typebox'
import { LIMITS } from '../core/limits.ts'
import { invalid, invalidAll, notFound, Problem } from '../core/problem.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../core/vertrouwelijkheidaanduiding.ts'
import { isZeroDuration } from './duration.ts'
import { isMoment, momentInUtc } from './formats.ts'
import { findFaults, type Plain } from './input-faults.ts'
import { inOwnForm } from './links.ts'
import { sourcesIn } from './numbers.ts'

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
/** Text as it was sent, with the blanks around it: passwords, secrets, and parts of a text that a filter looks for. */
export const Verbatim = (options: { minLength?: number; maxLength?: number } = {}) =>
  Type.String({ ...options, 'x-verbatim': true })
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
export const Vertrouwelijkheid = Type.Enum(VERTROUWELIJKHEIDAANDUIDINGEN)
/** A choice that may be left empty. */
export const OptionalChoice = <const V extends string>(values: readonly V[]) =>
  Type.Optional(Type.Enum([...values, ''] as (V | '')[], { default: '' as const }))

/**
 * The body of a PATCH: nothing has to be there, but what a resource cannot do without cannot be set to null either. Check
 * what comes of it with `readInput` on the whole.
 */
export function Patch<T extends TObject>(schema: T): TPartial<T> {
  return Type.Partial(schema, { 'x-required': (schema as Plain).required ?? [] })
}

/**
 * The body of a PUT of which what is absent keeps its value, as servers in use do: a form that shows less than a resource has
 * loses none of it. What is required has to be there.
 */
export function Put<T extends TObject>(schema: T): T {
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const { default: empty, ...others } = property as TSchema & { default?: unknown }
    const rest = empty === undefined ? others : { ...others, 'x-when-null': empty }
    return [name, (schema.required as string[] | undefined)?.includes(name) ? rest : Type.Optional(rest as TSchema)]
  })
  return Type.Object(Object.fromEntries(properties)) as unknown as T
}

// ---- reading ----

const readers = new WeakMap<object, Reader>()

/**
 * Reads a value by its schema as existing clients send it, and checks it: names in snake_case are taken as camelCase,
 * numbers as text and text as numbers, null for what is optional as absent, a duration of no length as null where null
 * is allowed; blanks around a text are dropped, also those of Unicode; unknown and read-only names are left out.
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

/**
 * Makes of a value what its schema means by it. Made once for each schema: every request passes here. `source` is how a number
 * was sent, where that is another text than JavaScript makes of it.
 */
type Reader = (value: unknown, defaults: boolean, source?: string) => unknown

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
    if (format === 'uri-reference-zgw' || format === 'uri') return inOwnForm(value)
    if (format === 'date-time' && isMoment(value)) return momentInUtc(value)
    if (format?.startsWith('duration') && nullable && isZeroDuration(value)) return null // a term of no length is no term
    return value
  }
  const readItems = (items: unknown[], read: Reader, defaults: boolean) => {
    const sources = sourcesIn(items)
    return items.slice(0, most + 1).map((item, index) => read(item, defaults, sources?.get(String(index))))
  }
  return (value, defaults, source) => {
    if (value === null) return value
    switch (typeof value) {
      case 'object':
        // Of a list that is too long one more than is allowed is read, for the fault.
        if (Array.isArray(value)) return readItem ? readItems(value, readItem, defaults) : value
        return readObject ? readObject(value as Record<string, unknown>, defaults) : value
      case 'string':
        if (isText) return readText(schema.format, schema['x-verbatim'] ? value : value.trim())
        if (isNumber && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value)) return Number(value)
        if (types.includes('boolean')) return TRUE.has(value) ? true : FALSE.has(value) ? false : value
        return value
      case 'number':
      case 'boolean':
        return types.includes('string') ? (source ?? String(value)) : value
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
      whenNull: property['x-when-null'],
    }
  })
  return (input: Record<string, unknown>, defaults: boolean): Record<string, unknown> => {
    const result: Record<string, unknown> = {}
    const sources = sourcesIn(input)
    for (const property of properties) {
      const { name, snake } = property
      let sent = name
      let value = Object.hasOwn(input, name) ? input[name] : undefined
      if (value === undefined && snake !== undefined && Object.hasOwn(input, snake)) {
        sent = snake
        value = input[snake]
      }
      if (value === null && property.nullIsAbsent)
        value = property.whenNull ?? (defaults ? undefined : property.default)
      if (value === undefined && defaults) value = copy(property.default)
      if (value !== undefined) result[name] = property.read(value, defaults, sources?.get(sent))
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

/**
 * Reads a query string: unknown names are refused, an empty value is no filter. Of a name that is repeated the last value counts,
 * and where a list is asked all of them.
 */
export function readQuery<T extends TSchema>(schema: T, query: Record<string, unknown>): Static<T> {
  const { properties = {} } = schema as Plain
  const unknown = Object.keys(query).filter((name) => !Object.hasOwn(properties, name))
  if (unknown.length > 0) {
    throw invalid('nonFieldErrors', 'unknown-parameters', `Onbekende parameters: ${unknown.join(', ').slice(0, 200)}.`)
  }
  const values: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(query)) {
    const given = [value ?? ''].flat().map(String)
    if (properties[name]?.type === 'array') {
      const items = given.flatMap((text) => text.split(',')).filter((text) => text.trim() !== '') // a comma too many is no item
      if (items.length > 0) values[name] = items
      continue
    }
    const text = given.at(-1) ?? ''
    if (text.trim() !== '') values[name] = properties[name]?.format === 'date-time' ? withPlus(text) : text
  }
  return readInput(schema, values)
}

/** In a query a bare + means a blank. Behind a time that can only be the + of its offset. */
const withPlus = (moment: string) => moment.replace(/(?<=:\d{2}(?:\.\d{1,9})?) (?=\d{2}:?\d{2}$)/, '+')

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
