// The same document in OpenAPI 3.0.3, for tools that do not know 3.1. Of 3.1 our documents use little; only that is turned
// back here. The library that does this for any document brings a compiler of TypeScript along.
import type { Json } from './operation.ts'

/** Keys whose values are data of ours, not schemas. */
const DATA = new Set(['default', 'enum', 'example', 'mapping'])

/** The version of these documents. */
export const OLDER = '3.0.3'

/** A document of 3.1 as 3.0.3: nullable, no const, nothing beside a $ref, no identifier of the licence. */
export function toOpenapi30(document: Json): Json {
  const { identifier: _, ...license } = (document.info as { license: Json }).license
  const turned = turn(document) as Json
  return { ...turned, openapi: OLDER, info: { ...(document.info as Json), license } }
}

function turn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turn)
  if (value === null || typeof value !== 'object') return value
  const given = value as Json
  const alternatives = given.anyOf as Json[] | undefined
  if (alternatives?.some(({ type }) => type === 'null')) {
    const { anyOf: _, ...rest } = given
    return {
      ...(turn(rest) as Json),
      nullable: true,
      allOf: alternatives.filter(({ type }) => type !== 'null').map(turn),
    }
  }
  if (typeof given.$ref === 'string' && Object.keys(given).length > 1) {
    const { $ref, ...rest } = given
    return { ...(turn(rest) as Json), allOf: [{ $ref }] }
  }
  const result: Json = {}
  for (const [key, one] of Object.entries(given)) {
    if (key === 'type' && Array.isArray(one)) {
      result.type = one.find((type) => type !== 'null')
      result.nullable = true
    } else if (key === 'additionalProperties' && one === true) {
      // It is the default, and the MicroProfile generator of Java gives a nullable object that says it an empty initialiser.
    } else if (key === 'const') result.enum = [one]
    else if (key === 'contentEncoding') result.format = one === 'base64' ? 'byte' : undefined
    else result[key] = DATA.has(key) ? one : turn(one)
  }
  return result
}
