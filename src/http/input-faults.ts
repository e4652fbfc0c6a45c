// What is wrong with a value, by its schema, in the codes and words of the standard.

import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { Settings } from 'typebox/system'
import type { FieldCode } from '../core/codes.ts'
import { LIMITS } from '../core/limits.ts'
import type { InvalidParam } from '../core/problem.ts'
import { FORMATS } from './formats.ts'
import { isChanged, sourcesIn } from './numbers.ts'

Settings.Set({ maxErrors: 2 * LIMITS.faults }) // all faults are reported at once, as far as anyone reads them

/** A schema as it is written, of which TypeBox shows only the kind. */
export type Plain = {
  type?: string | string[]
  properties?: Record<string, Plain>
  required?: string[]
  'x-required'?: string[]
  /** What null stands for in a PUT, which fills in nothing that is absent. */
  'x-when-null'?: unknown
  /** A text whose blanks belong to it. */
  'x-verbatim'?: boolean
  /** What is read and judged later, by a schema of its own. */
  'x-later'?: boolean
  items?: Plain
  default?: unknown
  enum?: unknown[]
  format?: string
  maxLength?: number
  maxItems?: number
}

const validators = new WeakMap<object, Validator>()

/** All faults of a value that was normalised already, in the order of the schema; none: an empty list. */
export function findFaults(schema: TSchema, value: unknown): InvalidParam[] {
  let validator = validators.get(schema)
  if (!validator) {
    validator = Compile(bounded(schema as Plain) as TSchema)
    validators.set(schema, validator)
  }
  const faults = isPossible(value) ? [] : impossible(value, schema as Plain)
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
  const fault = (code: FieldCode, reason: string) => [{ name, code, reason }]
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
      if (Array.isArray(value) && hasTypeAt(schema, path, 'object'))
        return fault('invalid', 'Hier hoort een object ({}), geen lijst ([]).') // PHP writes an empty one so
      return hasTypeAt(schema, path, 'array')
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
      const why = typeof reason === 'string' ? reason : reason(text)
      return [code?.(text) ?? 'invalid'].flat().flatMap((one) => fault(one, why))
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
const hasTypeAt = (schema: Plain, path: string[], type: string) =>
  ([] as unknown[]).concat(schemaAt(schema, path)?.type ?? []).includes(type)

const isPossibleText = (text: string) => !text.includes('\0') && text.isWellFormed()

/**
 * Whether there is no text in it that PostgreSQL cannot hold and no number to look at closer: what nearly always holds is found
 * without a list.
 */
function isPossible(value: unknown): boolean {
  if (typeof value === 'string') return isPossibleText(value)
  if (value === null || typeof value !== 'object') return true
  if (sourcesIn(value)) return false
  return (Array.isArray(value) ? value : Object.values(value)).every(isPossible)
}

/**
 * Text that PostgreSQL cannot hold: NUL, and half a surrogate pair. And numbers that are no longer what was sent: objects and lists
 * still as they were sent are those of free JSON, of all others a copy was read.
 */
function impossible(value: unknown, schema: Plain): InvalidParam[] {
  const faults: InvalidParam[] = []
  const path: string[] = []
  const fault = (reason: string) => faults.push({ name: path.join('.') || 'nonFieldErrors', code: 'invalid', reason })
  const look = (part: unknown, schema: Plain | undefined) => {
    if (schema?.['x-later']) return
    if (typeof part === 'string') {
      if (!isPossibleText(part)) fault('Deze tekst bevat een teken dat niet is toegestaan.')
      return
    }
    if (part === null || typeof part !== 'object') return
    for (const [key, source] of sourcesIn(part) ?? []) {
      path.push(key)
      if (isChanged(source, path))
        fault('Dit getal kan niet bewaard worden zoals het gestuurd is: stuur het als tekst.')
      path.pop()
    }
    for (const key in part) {
      const member = (part as Record<string, unknown>)[key]
      if (typeof member !== 'string' && (member === null || typeof member !== 'object')) continue
      path.push(key)
      look(member, schema?.properties?.[key] ?? schema?.items)
      path.pop()
    }
  }
  look(value, schema)
  return faults
}
