import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { isAllowedSomewhere } from '../core/access.ts'
import type { Component } from '../core/actor.ts'
import { LIMITS } from '../core/limits.ts'
import { fault, forbidden, invalid, Problem } from '../core/problem.ts'
import { expected } from '../database/rows.ts'
import { askEach } from '../services/services.ts'
import { resolveLink } from './links.ts'
import { noteResource } from './verwerkingen.ts'

/** The parameter `expand`: a comma-separated list of dotted paths. */
export const ExpandQuery = {
  expand: Type.Optional(Type.Array(Type.String(), { description: "Op te nemen relaties, gescheiden door komma's." })),
}

type Resource = Record<string, unknown>

/** What can be expanded under a field that holds a URL, a list of URLs, or null. */
export type Expansion = {
  /** Scope that the caller needs on the component that owns what is expanded. */
  component: Component
  scopes: readonly string[]
  /** The resources behind these URLs, by URL, in one query. What the caller may not read is left out, and so not shown. */
  load(urls: string[], request: FastifyRequest): Promise<Map<string, Resource>>
  /** Where the field holds a list of objects: the member with their URL, `url` when left out. */
  member?: string
  /** What can be expanded within them. A function, since relations go round in circles. */
  within?: () => ExpandTree
}
export type ExpandTree = { [field: string]: Expansion }

/**
 * The same for fields that may point to another server: asked with our credentials there, a few at once, and shown as that
 * server says it. What is not there in time is left out.
 */
export function alsoElsewhere(own: Expansion): Expansion {
  return {
    ...own,
    load: async (urls, request) => {
      const elsewhere = urls.filter((url) => resolveLink(url, request.base).kind === 'elsewhere')
      const [found, fetched] = await Promise.all([own.load(urls, request), fetchInTime(elsewhere, request)])
      return new Map([...found, ...fetched])
    },
  }
}

const TERM_MS = 5000

/** However many there are, and however slow their servers: an answer does not wait longer for them than this. */
async function fetchInTime(urls: string[], request: FastifyRequest): Promise<Map<string, Resource>> {
  const found = new Map<string, Resource>()
  if (urls.length === 0) return found
  let timer: NodeJS.Timeout | undefined
  let late = false
  const term = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      late = true
      resolve()
    }, TERM_MS)
  })
  const asked = askEach(urls, async (url) => {
    const fetched = late ? undefined : await request.server.parts.services.fetchJson(url)
    const body = fetched?.kind === 'ok' ? fetched.body : undefined
    if (!late && body !== null && typeof body === 'object' && !Array.isArray(body)) found.set(url, body as Resource)
  })
  await Promise.race([asked, term]).finally(() => clearTimeout(timer))
  return found
}

const MAX_DEPTH = 3

/**
 * Adds `_expand` to resources of one kind: to each its own object, empty when nothing was asked. A path expands every
 * level that it passes. Per relation and level there is one query, however many resources.
 * @param paths dotted paths, such as `status.statustype`
 * @throws Problem 400 on `expand` for an unknown path or more than three levels, 403 without the scope on what is expanded
 */
export async function expand<R extends object>(
  request: FastifyRequest,
  resources: R[],
  paths: readonly string[],
  tree: ExpandTree,
): Promise<(R & { _expand: Resource })[]> {
  if (paths.length === 0) return unexpanded(resources)
  const wanted = readPaths(paths, tree)
  requireScopes(request, wanted)
  return (await expandLevel(request, resources as Resource[], wanted)) as (R & { _expand: Resource })[]
}

/** A resource of which others can be expanded, as its GET answers it without expansion. */
export const detail = <R extends object>(resource: R): R & { _expand: object } => ({ ...resource, _expand: {} })

/**
 * The same for the rows of a list, a few at a time: so many that no more than `LIMITS.expandedAtOnce` relations of theirs are
 * read together.
 */
export function expandEach<R extends object>(
  request: FastifyRequest,
  resources: R[],
  paths: readonly string[],
  tree: ExpandTree,
): Iterable<R & { _expand: Resource }> | AsyncIterable<R & { _expand: Resource }> {
  if (paths.length === 0) return unexpanded(resources)
  const wanted = readPaths(paths, tree)
  requireScopes(request, wanted)
  return expandGroups(request, resources as Resource[], wanted) as AsyncGenerator<R & { _expand: Resource }>
}

/** In place: a copy of each resource is a tenth of what a list costs, and nobody else has them. */
function unexpanded<R extends object>(resources: R[]): (R & { _expand: Resource })[] {
  return resources.map((resource) => Object.assign(resource, { _expand: {} }))
}

/** What is too much for some together may be allowed for each of them. */
async function* expandGroups(request: FastifyRequest, resources: Resource[], wanted: Wanted): AsyncGenerator<Resource> {
  for (const few of inGroups(resources, wanted)) {
    const expanded = await expandLevel(request, few, wanted).catch((error: unknown) => {
      if (few.length > 1 && error instanceof TooMuchExpanded) return undefined
      throw error
    })
    if (expanded) yield* expanded
    else for (const one of few) yield* await expandLevel(request, [one], wanted)
  }
}

function* inGroups(resources: Resource[], wanted: Wanted): Generator<Resource[]> {
  let group: Resource[] = []
  let relations = 0
  for (const resource of resources) {
    let own = 0
    for (const [field, { expansion }] of wanted) own += urlsIn(resource[field], expansion.member).length
    if (group.length > 0 && relations + own > LIMITS.expandedAtOnce) {
      yield group
      group = []
      relations = 0
    }
    group.push(resource)
    relations += own
  }
  yield group
}

/**
 * Answers the fields of each resource that `fields` names, and no others (zrc-029): names of fields, and objects that name
 * what is wanted within a relation, which is expanded for it, or within a group. `*` is every field. A name that says
 * nothing here is left out, as unknown keys are elsewhere; capitals do not matter, as in the example of the standard.
 * @throws Problem 400 on `fields` for another shape or more than three levels, 403 without the scope on what is expanded
 */
export async function* selectFields<R extends object>(
  request: FastifyRequest,
  resources: R[],
  fields: unknown,
  tree: ExpandTree,
): AsyncGenerator<R> {
  const choice = readFields(fields, tree, 1)
  const wanted = wantedBy(choice)
  requireScopes(request, wanted)
  for await (const resource of expandGroups(request, resources as Resource[], wanted)) {
    noteResource(request, resource)
    yield pick(resource, choice) as R
  }
}

/** What is wanted of a resource; names in small letters. Relations are those of the tree, groups all others. */
type Choice = {
  alles: boolean
  namen: Set<string>
  relaties: Map<string, { expansion: Expansion; keuze: Choice }>
  groepen: Map<string, Choice>
}

function readFields(fields: unknown, tree: ExpandTree, depth: number): Choice {
  const wrong = (reason: string) => invalid('fields', 'invalid', reason)
  if (!Array.isArray(fields)) throw wrong('Geef een lijst van velden.')
  if (depth > MAX_DEPTH + 1) throw wrong(`Ten hoogste ${MAX_DEPTH} niveaus.`)
  const choice: Choice = { alles: false, namen: new Set(), relaties: new Map(), groepen: new Map() }
  const names = new Map(Object.keys(tree).map((name) => [name.toLowerCase(), name]))
  for (const field of fields) {
    if (field === '*') choice.alles = true
    else if (typeof field === 'string') choice.namen.add(field.toLowerCase())
    else if (field === null || typeof field !== 'object' || Array.isArray(field))
      throw wrong('Een veld is een naam, of een object met namen.')
    else
      for (const [given, within] of Object.entries(field)) {
        const name = names.get(given.toLowerCase())
        const expansion = name === undefined ? undefined : tree[name]
        if (name !== undefined && expansion) {
          choice.relaties.set(name, { expansion, keuze: readFields(within, expansion.within?.() ?? {}, depth + 1) })
        } else choice.groepen.set(given.toLowerCase(), readFields(within, {}, depth + 1))
      }
  }
  return choice
}

const wantedBy = ({ relaties }: Choice): Wanted =>
  new Map([...relaties].map(([name, { expansion, keuze }]) => [name, { expansion, within: wantedBy(keuze) }]))

function pick(resource: Resource, { alles, namen, relaties, groepen }: Choice): Resource {
  const picked: Resource = {}
  for (const [name, value] of Object.entries(resource)) {
    const group = groepen.get(name.toLowerCase())
    if (name === '_expand') continue
    if (alles || namen.has(name.toLowerCase())) picked[name] = value
    else if (group) picked[name] = each(value, (one) => pick(one, group))
  }
  if (relaties.size === 0) return picked
  const expanded: Resource = {}
  for (const [name, value] of Object.entries(resource._expand ?? {}))
    expanded[name] = each(value, (one) => pick(one, expected(relaties.get(name)).keuze))
  return { ...picked, _expand: expanded }
}

function each(value: unknown, work: (one: Resource) => Resource): unknown {
  if (Array.isArray(value)) return value.map((one) => each(one, work))
  return value !== null && typeof value === 'object' ? work(value as Resource) : value
}

type Wanted = Map<string, { expansion: Expansion; within: Wanted }>

function readPaths(paths: readonly string[], tree: ExpandTree): Wanted {
  const wanted: Wanted = new Map()
  for (const path of paths) {
    const fields = path.trim().split('.')
    if (fields.length > MAX_DEPTH)
      throw invalid('expand', 'invalid_choice', `Ten hoogste ${MAX_DEPTH} niveaus: ${path.slice(0, 100)}.`)
    let level = wanted
    let choices: ExpandTree | undefined = tree
    for (const field of fields) {
      const expansion: Expansion | undefined = choices && Object.hasOwn(choices, field) ? choices[field] : undefined
      if (!expansion) throw invalid('expand', 'invalid_choice', `Dit kan niet worden opgenomen: ${path.slice(0, 100)}.`)
      const next = level.get(field) ?? { expansion, within: new Map() }
      level.set(field, next)
      level = next.within
      choices = expansion.within?.()
    }
  }
  return wanted
}

function requireScopes(request: FastifyRequest, wanted: Wanted): void {
  for (const { expansion, within } of wanted.values()) {
    if (!isAllowedSomewhere(request.actor, expansion.component, expansion.scopes)) throw forbidden()
    requireScopes(request, within)
  }
}

/** What has been asked so far for some resources together: judged before each query, so that what is too much costs nothing. */
type Asked = { count: number; most: number }

/**
 * @param times how often each of the resources stands in the answer; once when left out
 * @throws TooMuchExpanded before anything is read of which there is more than all of them may hold
 */
async function expandLevel(
  request: FastifyRequest,
  resources: Resource[],
  wanted: Wanted,
  asked: Asked = { count: 0, most: resources.length * LIMITS.expanded },
  times: readonly number[] = [],
): Promise<Resource[]> {
  const found = new Map<string, { loaded: Map<string, Resource>; member: Expansion['member'] }>()
  const urlsOf = new Map<string, Map<string, number>>()
  for (const [field, { expansion }] of wanted) {
    const urls = new Map<string, number>()
    for (const [index, resource] of resources.entries()) {
      const often = times[index] ?? 1
      for (const url of urlsIn(resource[field], expansion.member)) {
        urls.set(url, (urls.get(url) ?? 0) + often)
        asked.count += often
      }
      if (asked.count > asked.most) throw new TooMuchExpanded(field)
    }
    if (urls.size > LIMITS.expanded + LIMITS.expandedAtOnce) throw new TooMuchExpanded(field)
    urlsOf.set(field, urls)
  }
  for (const [field, { expansion, within }] of wanted) {
    const urls = expected(urlsOf.get(field))
    let loaded = urls.size === 0 ? new Map<string, Resource>() : await expansion.load([...urls.keys()], request)
    if (within.size > 0) {
      const often = [...loaded.keys()].map((url) => urls.get(url) ?? 1)
      const deeper = await expandLevel(request, [...loaded.values()], within, asked, often)
      loaded = new Map([...loaded.keys()].map((url, index) => [url, expected(deeper[index])]))
    }
    found.set(field, { loaded, member: expansion.member })
  }
  return resources.map((resource) => {
    const _expand: Resource = {}
    let size: Size = { resources: 0, bytes: 0 }
    const count = (field: string, found: Resource) => {
      size = sum(size, sizeOf(found))
      if (size.resources > LIMITS.expanded || size.bytes > LIMITS.expandedBytes) throw new TooMuchExpanded(field)
      return found
    }
    for (const [field, { loaded, member }] of found) {
      const value = resource[field]
      if (Array.isArray(value)) {
        _expand[field] = urlsIn(value, member).flatMap((url) => {
          const one = loaded.get(url)
          return one ? count(field, one) : []
        })
      } else if (typeof value === 'string') {
        const one = loaded.get(value)
        if (one) _expand[field] = count(field, one)
      }
    }
    const answer = { ...resource, _expand }
    sizes.set(answer, sum(size, { resources: 1, bytes: weigh(resource) }))
    return answer
  })
}

type Size = { resources: number; bytes: number }

/** What an expanded resource is with all that stands within it. A few that refer to each other multiply with every level. */
const sizes = new WeakMap<Resource, Size>()

/** About how many bytes of memory a resource takes with all that was expanded within it; 0 for one that was not expanded. */
export const weightOf = (resource: object): number => sizes.get(resource as Resource)?.bytes ?? 0

function sizeOf(found: Resource): Size {
  const known = sizes.get(found) ?? { resources: 1, bytes: weigh(found) }
  sizes.set(found, known)
  return known
}

const sum = (one: Size, other: Size): Size => ({
  resources: one.resources + other.resources,
  bytes: one.bytes + other.bytes,
})

/** About how many bytes of memory a value takes. */
export function weigh(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length
  if (value === null || typeof value !== 'object') return 8
  let bytes = 40
  if (Array.isArray(value)) for (const member of value) bytes += 8 + weigh(member)
  else for (const name in value) bytes += 8 + weigh((value as Resource)[name])
  return bytes
}

/** What is expanded within one resource, or what is read for some of them together, is more than an answer holds. */
export class TooMuchExpanded extends Problem {
  /** @param part the relation at which it was */
  constructor(part?: string) {
    const advice = part === undefined ? 'Vraag er minder.' : `Vraag ${part} apart, in delen.`
    const reason = `Er worden ten hoogste ${LIMITS.expanded} relaties per object opgenomen, samen ${LIMITS.expandedBytes / 1024 / 1024} MB. ${advice}`
    super(400, { invalidParams: [fault('expand', 'max_items', reason)] })
  }
}

// A list holds URLs, or objects with one, as relevanteAndereZaken and gerelateerdeZaaktypen do.
function urlsIn(value: unknown, member = 'url'): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (!Array.isArray(value)) return []
  return value.flatMap((item) =>
    typeof item === 'string' ? item : ((item as Record<string, string> | null)?.[member] ?? []),
  )
}
