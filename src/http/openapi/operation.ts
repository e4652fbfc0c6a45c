// One operation of an API as its document speaks of it: its name, its parameters in the path, and what its route declared.
import type { FastifySchema, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import type { Access } from '../../core/access.ts'
import { PATHS, type Resource } from '../links.ts'

export type Json = Record<string, unknown>

/** What a route may add to its schema for its document, in the words of OpenAPI. */
export type Described = FastifySchema & {
  summary?: string
  description?: string
  /** Media types of a body that the schema does not describe, and of such an answer. */
  consumes?: string[]
  produces?: string[]
  hide?: boolean
}
export type Operation = { component: string; method: string; path: string; schema: Described; access: Access }

/** A route as the documents describe it. Without `access` it is public. */
export function toOperation(route: RouteOptions, component: string, method: string, path: string): Operation {
  return {
    component,
    method,
    path,
    schema: (route.schema ?? {}) as Described,
    access: route.config?.access ?? 'public',
  }
}

/** The schemas of the answers, by status. */
export const answers = (schema: Described) => (schema.response ?? {}) as Record<string, TSchema | Json>

/** Whether it answers a list, or a page of one. */
export function isList(schema: Described): boolean {
  const answer = answers(schema)['200'] as Json | undefined
  return answer?.type === 'array' || Object.hasOwn((answer?.properties as Json | undefined) ?? {}, 'count')
}

/** Where there are ETags: on details of everything but audit records, imports and parts of an upload. */
export function hasEtag({ path }: Operation): boolean {
  if (path.startsWith('/import/') || path.startsWith('/bestandsdelen/')) return false
  return /^\/[^/:]+\/:uuid$/.test(path) || /^\/zaken\/:\w+\/zaakeigenschappen\/:\w+$/.test(path)
}

export const isWrite = ({ method }: Operation): boolean => method !== 'GET' && method !== 'HEAD'

// ---- names ----

const SINGULAR = new Map(
  (Object.entries(PATHS) as [Resource, string][]).map(([resource, path]) => [path.split('/').at(-1) ?? path, resource]),
)
/** The name of one member of a collection, as the standard has it; a word that is no collection stays. */
export const singular = (plural: string): string => SINGULAR.get(plural) ?? plural

/** A slash at the end, or two after each other, makes no segment. */
export const segments = (path: string): string[] => path.split('/').filter((part) => part !== '')
/** In a path as Fastify writes it: `:uuid`. */
export const isParameter = (segment: string): boolean => segment.startsWith(':')
/** Operations are grouped by the first part of their path. */
export const tagOf = (path: string): string => segments(path)[0] ?? ''

/** Collections below an object, with the name that the standard gives one of their members. */
const NESTED: Record<string, string> = {
  audittrail: 'audittrail',
  besluiten: 'zaakbesluit',
  zaakeigenschappen: 'zaakeigenschap',
}

/** `/zaken/:uuid/audittrail` → `/zaken/{zaak_uuid}/audittrail`: parameters have the names of the standard. */
export function documentedPath(path: string): { path: string; parameters: string[] } {
  const parts = segments(path)
  const parameters: string[] = []
  const documented = parts.map((part, index) => {
    if (!isParameter(part)) return part
    const above = Object.hasOwn(NESTED, parts[index + 1] ?? '')
    const name = above ? `${singular(parts[index - 1] ?? '')}_uuid` : part === ':positie' ? 'positie' : 'uuid'
    parameters.push(name)
    return `{${name}}`
  })
  return { path: `/${documented.join('/')}`, parameters }
}

// The documents of the standard differ in these words.
const SHORT_WORDS = { one: 'read', remove: 'delete' }
const LONG_WORDS = { one: 'retrieve', remove: 'destroy' }
const WORDS: Record<string, typeof SHORT_WORDS> = {
  besluiten: SHORT_WORDS,
  autorisaties: SHORT_WORDS,
  zaaknotities: SHORT_WORDS,
  notificaties: SHORT_WORDS,
}

const SUBJECTS: Record<string, string> = { 'zaaktype-informatieobjecttypen': 'zaakinformatieobjecttype' }

/** `zaak_list`, `zaak_retrieve`, `audittrail_list`, `zaak__zoek`: where the standard has the operation, its name. */
export function operationId({ component, method, path, schema }: Operation): string {
  const parts = segments(path)
  const words = WORDS[component] ?? WORDS[parts[0] ?? ''] ?? LONG_WORDS
  const [first = '', ...rest] = parts.filter((part) => !isParameter(part))
  const [below = ''] = rest
  const nested = Object.hasOwn(NESTED, below) ? NESTED[below] : undefined
  const actions = (nested ? rest.slice(1) : rest).map((part) => part.replaceAll('-', '_'))
  const subject = nested ?? SUBJECTS[first] ?? singular(first)
  const name = [subject.replaceAll('-', '_'), ...actions].join('_')
  const isAction = actions.length > 0 || (!nested && !SINGULAR.has(first) && first !== 'import')
  switch (method) {
    case 'HEAD':
      return `${name}_headers`
    case 'PUT':
      return `${name}_update`
    case 'PATCH':
      return `${name}_partial_update`
    case 'DELETE':
      return actions.includes('delete') ? name : `${name}_${words.remove}`
    case 'POST':
      return isAction ? name : `${name}_create`
    default:
      if (isParameter(parts.at(-1) ?? '')) return `${name}_${words.one}`
      if (isList(schema)) return `${name}_list`
      return isAction ? name : `${name}_${words.one}`
  }
}
