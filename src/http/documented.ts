// What a document shows of a value whose shape is checked by hand, since another field chooses it.
import type { TSchema } from 'typebox'

type Json = Record<string, unknown>

/** The keyword under which a schema carries what its document shows instead. */
export const DOCUMENTED = 'x-documented'

/**
 * Shows `documentation` in the documents where `schema` only checks that there is an object.
 * @param documentation a JSON schema; `$id` gives it a name of its own
 */
export function documentedAs<T extends object>(schema: T, documentation: TSchema | Json): T {
  return { ...schema, [DOCUMENTED]: documentation }
}

/**
 * One schema for a value that has another shape for each kind of its owner: all fields of all kinds, none of them
 * required. A generated client can write and read every kind with it, which it cannot with oneOf of overlapping shapes.
 * @param shapes the fields by kind; a kind without fields is null
 */
export function merged(name: string, shapes: Record<string, TSchema | null>): Json {
  const properties: Record<string, Json> = {}
  const kinds: Record<string, string[]> = {}
  for (const [kind, shape] of Object.entries(shapes)) {
    const fields = (shape as { properties?: Record<string, Json> } | null)?.properties ?? {}
    for (const [field, schema] of Object.entries(fields)) {
      properties[field] = wider(properties[field], schema)
      kinds[field] = [...(kinds[field] ?? []), kind]
    }
  }
  for (const [field, schema] of Object.entries(properties))
    properties[field] = { ...schema, description: `Bij ${kinds[field]?.join(', ')}.` }
  return { $id: name, type: 'object', properties }
}

/** What both schemas allow. */
function wider(one: Json | undefined, other: Json): Json {
  if (!one || JSON.stringify(one) === JSON.stringify(other)) return other
  if (kindOf(one) !== kindOf(other)) return {} // text for one kind, an object for another: any value
  const { minLength: _, default: __, ...result } = { ...one, ...other }
  if (one.enum && other.enum) result.enum = [...new Set([...(one.enum as unknown[]), ...(other.enum as unknown[])])]
  else delete result.enum
  if (one.maxLength && other.maxLength) result.maxLength = Math.max(Number(one.maxLength), Number(other.maxLength))
  else delete result.maxLength
  if (one.properties && other.properties)
    result.properties = { ...(one.properties as Json), ...(other.properties as Json) }
  delete result.required
  return result
}

/** Instead of a choice between an object and a list of them, of which many generators make code that does not compile. */
export const OBJECT_OR_LIST: Json = { description: 'Een object, of bij een aantal boven 1 een lijst van objecten.' }

/** A second spelling of a parameter, which clients use and documents leave out: generated names would clash. */
export const alias = <T extends object>(schema: T): T => ({ ...schema, [DOCUMENTED]: false })

/** The same, or null. */
export const orNull = (documentation: TSchema | Json): Json => ({ anyOf: [documentation, { type: 'null' }] })

const kindOf = ({ type, enum: choices }: Json): string => JSON.stringify(type ?? (choices ? 'string' : null))
