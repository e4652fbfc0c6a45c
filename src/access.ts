import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CredentialStore } from './autorisaties/credentials.ts'
import { authenticate } from './autorisaties/token.ts'
import type { Config } from './config.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN, type Vertrouwelijkheidaanduiding } from './input.ts'
import { forbidden } from './problem.ts'

export type Component = 'ac' | 'nrc' | 'zrc' | 'ztc' | 'drc' | 'brc'

/** A right: scopes within a component, for one type (`typeId` when it is ours) and up to one confidentiality. */
export type Autorisatie = {
  component: Component
  scopes: ReadonlySet<string>
  typeUrl: string
  typeUuid: string | null
  typeId: number | null
  max: Vertrouwelijkheidaanduiding | null
}

/** Who acts, as audit records name him, and with which rights. */
export type Actor = {
  clientId: string
  userId: string
  userRepresentation: string
  applicatieUuid: string
  applicatieLabel: string
  alleAutorisaties: boolean
  alleenGereedVoorPublicatie: boolean
  autorisaties: readonly Autorisatie[]
  /** Our address as the caller knows it: links in answers, audit records and notifications begin with it. */
  base: string
  toelichting: string
  logrecordId: string
}

/** What a route asks of the caller: nothing, an application with all rights, or one of these scopes. */
export type Access =
  | 'public'
  | 'alle-autorisaties'
  | { component: Component; scopes: readonly string[]; and?: Access; or?: Access }

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
  interface FastifyRequest {
    actor: Actor
    base: string
  }
}

/**
 * Puts the first gate on every route: a valid token, and the scope on at least one right of the application. Whether
 * the right reaches the object at hand is asked later, when the object is known (`requireAllowed`, `reach`).
 * A route that declares no access stops the start.
 */
export function registerAccess(app: FastifyInstance, config: Config, credentials: CredentialStore): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.access === undefined)
      throw new Error(`route ${String(route.method)} ${route.url} declares no access`)
  })
  app.addHook('onRequest', async (request) => {
    const access = request.routeOptions.config.access
    if (access === undefined || access === 'public') return // undefined: no route at all, a 404
    request.actor = await authenticate(app, request, config, credentials)
    if (!passes(request.actor, access)) throw forbidden()
  })
}

function passes(actor: Actor, access: Access): boolean {
  if (access === 'public' || actor.alleAutorisaties) return true
  if (access === 'alle-autorisaties') return false
  const has = actor.autorisaties.some((right) => right.component === access.component && hasScope(right, access.scopes))
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
  if (actor.alleAutorisaties) return true
  return actor.autorisaties.some(
    (right) => right.component === component && reaches(right, subject) && hasScope(right, scopes),
  )
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
  const groups = new Map<Vertrouwelijkheidaanduiding | null, { typeIds: number[]; typeUrls: string[] }>()
  for (const right of actor.autorisaties) {
    if (right.component !== component || !hasScope(right, scopes)) continue
    const group = groups.get(right.max) ?? { typeIds: [], typeUrls: [] }
    groups.set(right.max, group)
    if (right.typeId !== null) group.typeIds.push(right.typeId)
    else if (right.typeUrl && !right.typeUuid) group.typeUrls.push(right.typeUrl)
  }
  return [...groups].map(([max, group]) => ({ max, ...group }))
}

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
  }
}

/** The text of a header, when it came once. */
export function header(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}
