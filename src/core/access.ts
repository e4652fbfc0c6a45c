import type { Actor, Autorisatie, Component } from './actor.ts'
import { forbidden } from './problem.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN, type Vertrouwelijkheidaanduiding } from './vertrouwelijkheidaanduiding.ts'

/** What a route asks of the caller: nothing, a session, an application with all rights, or one of these scopes. */
export type Access =
  | 'public'
  | 'beheer' // the administration pages, which have sessions of their own
  | 'client' // whoever has a token of an application
  | 'alle-autorisaties'
  | { component: Component; scopes: readonly string[]; and?: Access; or?: Access }

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
  interface FastifyRequest {
    actor: Actor
    /** The same token judged again, for an answer that goes on. @throws Problem 403 when it is not good any more */
    actorNow(): Promise<Actor>
    base: string
  }
}

/** Whether any right of the actor is what a route asks. */
export function passes(actor: Actor, access: Access): boolean {
  if (access === 'public' || access === 'client' || actor.alleAutorisaties) return true
  if (access === 'alle-autorisaties' || access === 'beheer') return false
  const scopes = indexOf(actor.autorisaties).scopes.get(access.component)
  const has = scopes !== undefined && access.scopes.some((scope) => scopes.has(scope))
  if (has && (!access.and || passes(actor, access.and))) return true
  return access.or !== undefined && passes(actor, access.or)
}

/** Whether any right of the actor in this component holds one of the scopes, for whatever object. */
export function isAllowedSomewhere(actor: Actor, component: Component, scopes: readonly string[]): boolean {
  return passes(actor, { component, scopes })
}

/** What rights are compared with: the type and confidentiality of the (main) object. */
export type Subject = {
  type: { uuid: string } | { url: string }
  vertrouwelijkheidaanduiding?: Vertrouwelijkheidaanduiding
}

/** Whether the rights of the actor that reach this object hold one of the scopes together (zrc-006). */
export function isAllowed(actor: Actor, component: Component, scopes: readonly string[], subject: Subject): boolean {
  if (actor.alleAutorisaties) {
    const { vertrouwelijkheidaanduiding: asked } = subject
    return actor.upTo === undefined || asked === undefined || level(asked) <= level(actor.upTo)
  }
  const { type } = subject
  const rights = indexOf(actor.autorisaties).byType.get(typeKey(component, 'uuid' in type ? type.uuid : type.url))
  return rights?.some((right) => reaches(right, subject) && hasScope(right, scopes)) ?? false
}

/** @throws Problem 403 when `isAllowed` says no */
export function requireAllowed(actor: Actor, component: Component, scopes: readonly string[], subject: Subject): void {
  if (!isAllowed(actor, component, scopes, subject)) throw forbidden()
}

/**
 * Which objects a list may show: all, or per highest confidentiality the types up to it. `max` is null where the
 * component knows no confidentiality.
 */
export type Reach = 'alles' | { max: Vertrouwelijkheidaanduiding | null; typeIds: number[]; typeUrls: string[] }[]

/** The reach of an actor's rights with one of these scopes; each right is judged on its own. */
export function reach(actor: Actor, component: Component, scopes: readonly string[]): Reach {
  if (actor.alleAutorisaties) return 'alles'
  const { reaches } = indexOf(actor.autorisaties)
  const key = `${component} ${scopes.join(' ')}`
  const found = reaches.get(key) ?? findReach(actor.autorisaties, component, scopes)
  reaches.set(key, found)
  return found
}

function findReach(rights: readonly Autorisatie[], component: Component, scopes: readonly string[]): Reach {
  const groups = new Map<Vertrouwelijkheidaanduiding | null, { typeIds: Set<number>; typeUrls: Set<string> }>()
  for (const right of rights) {
    if (right.component !== component || !hasScope(right, scopes)) continue
    const group = groups.get(right.max) ?? { typeIds: new Set(), typeUrls: new Set() }
    groups.set(right.max, group)
    if (right.typeId !== null) group.typeIds.add(right.typeId)
    else if (right.typeUrl && !right.typeUuid) group.typeUrls.add(right.typeUrl)
  }
  return [...groups].map(([max, { typeIds, typeUrls }]) => ({ max, typeIds: [...typeIds], typeUrls: [...typeUrls] }))
}

/**
 * Rights as questions about them come: an application may have thousands, and one request asks often. Made once for the
 * list that the credential store keeps, and gone with it.
 */
type RightsIndex = {
  scopes: Map<Component, Set<string>>
  byType: Map<string, Autorisatie[]>
  reaches: Map<string, Reach>
}
const indexes = new WeakMap<readonly Autorisatie[], RightsIndex>()

function indexOf(rights: readonly Autorisatie[]): RightsIndex {
  const known = indexes.get(rights)
  if (known) return known
  const index: RightsIndex = { scopes: new Map(), byType: new Map(), reaches: new Map() }
  for (const right of rights) {
    const scopes = index.scopes.get(right.component) ?? new Set()
    index.scopes.set(right.component, scopes)
    for (const scope of right.scopes) scopes.add(scope)
    const type = right.typeUuid ?? right.typeUrl
    if (type === '') continue
    const key = typeKey(right.component, type)
    const same = index.byType.get(key) ?? []
    index.byType.set(key, same)
    same.push(right)
  }
  indexes.set(rights, index)
  return index
}

const typeKey = (component: Component, type: string) => `${component} ${type}`

function hasScope(right: Autorisatie, scopes: readonly string[]): boolean {
  return scopes.some((scope) => right.scopes.has(scope))
}

function reaches(right: Autorisatie, { type, vertrouwelijkheidaanduiding }: Subject): boolean {
  const sameType = 'uuid' in type ? right.typeUuid === type.uuid : right.typeUuid === null && right.typeUrl === type.url
  if (!sameType) return false
  if (vertrouwelijkheidaanduiding === undefined) return true
  return right.max !== null && level(vertrouwelijkheidaanduiding) <= level(right.max)
}

const level = (value: Vertrouwelijkheidaanduiding) => VERTROUWELIJKHEIDAANDUIDINGEN.indexOf(value)

/** The actor behind what the program does by itself: tasks and commands. */
export function systemActor(name: string, base = ''): Actor {
  return {
    clientId: '',
    userId: '',
    userRepresentation: name,
    applicatieUuid: '',
    applicatieLabel: 'systeem',
    alleAutorisaties: true,
    alleenGereedVoorPublicatie: false,
    autorisaties: [],
    base,
    toelichting: '',
    logrecordId: '',
    origin: null,
  }
}
