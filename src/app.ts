import { setTimeout as sleep } from 'node:timers/promises'
import jwt from '@fastify/jwt'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { decorateParts, lateParts, type ManyParts, type Parts } from './app/parts.ts'
import { answerBrokenRequest, answerConnection, type BrokenRequest, commonHeaders } from './app/refusals.ts'
import { registerAccess } from './autorisaties/access-hook.ts'
import { autorisaties } from './autorisaties/index.ts'
import { tokenRoutes } from './autorisaties/token-endpoint/routes.ts'
import { beheer } from './beheer/index.ts'
import { besluitenApi } from './besluiten/index.ts'
import { catalogi } from './catalogi/index.ts'
import { loadResources } from './catalogi/loaders.ts'
import type { Config } from './config.ts'
import { LIMITS } from './core/limits.ts'
import { Problem, sendProblem } from './core/problem.ts'
import { logOptionsOf, openActs } from './core/verwerkingen.ts'
import { expected } from './database/rows.ts'
import { documenten } from './documenten/index.ts'
import { FEEDS } from './feed/kinds.ts'
import { feedRoutes } from './feed/routes.ts'
import { boundConnections, isArriving } from './http/connections.ts'
import { checkContent, takeWhole } from './http/content.ts'
import { allowOrigins } from './http/cors.ts'
import { tagChanges } from './http/etag.ts'
import { serveFaultPages } from './http/fault-pages.ts'
import { header } from './http/header.ts'
import { registerKeys, sendFailure } from './http/idempotency.ts'
import { validatorCompiler } from './http/input.ts'
import { jsonParser, validateInTurn } from './http/json.ts'
import { addressesFor, ownAddress, requestBase } from './http/links.ts'
import { collectOpenapi } from './http/openapi/index.ts'
import { serveOutcomes } from './http/outcomes.ts'
import { sharePlaces } from './http/places.ts'
import { namePlugins } from './http/plugin-names.ts'
import { countSmallRequests, inSlices } from './http/turns.ts'
import { droppedMembers, noteUnknownMembers } from './http/unknown-members.ts'
import { logReads } from './http/verwerkingen.ts'
import { kanalenPage } from './notificaties/kanalen.ts'
import { nrcApi } from './nrc/index.ts'
import { registerHealth, registryReadiness, rememberedReadiness } from './operations/health.ts'
import { type Failed, openErrorLog } from './operations/server-errors.ts'
import type { Served } from './organisations/serve.ts'
import { currentOrganisation, eachOfMany, eachOfOne, requireOrganisation } from './telemetry/current-organisation.ts'
import { currentOf, followRequests } from './telemetry/current-request.ts'
import { plainLog, withoutNumbers } from './telemetry/log.ts'
import { organisationRequests, requestDuration } from './telemetry/metrics.ts'
import { REQUEST_ID, requestIdOf } from './telemetry/request-id.ts'
import { traceRequests } from './telemetry/tracing.ts'
import { documentRegistreren } from './zaken/document-registreren.ts'
import { events } from './zaken/events.ts'
import { zakenApi } from './zaken/index.ts'

/** The version that each component announces (`API-version`). */
const VERSIONS: Record<string, string> = {
  zaken: '1.7.0',
  api: '1.7.0', // the Zaken API under its second address
  documenten: '1.7.1',
  catalogi: '1.4.0',
  besluiten: '1.1.0',
  autorisaties: '1.1.0',
  notificaties: '1.0.0',
}

/** The setting that says whether an API answers, by where it is. */
const SWITCHES = {
  zaken: 'zakenApi',
  api: 'zakenApi',
  documenten: 'documentenApi',
  catalogi: 'catalogiApi',
  besluiten: 'besluitenApi',
  autorisaties: 'autorisatiesApi',
} as const satisfies Record<string, keyof Config>

/** A database that is away does not hold up the end of a process. */
const CLOSE_MS = 1000

/** In the place of what Fastify would compile schemas with, and for which it loads ajv at every start. */
const unused = (): never => {
  throw new Error('schemas are compiled by src/http/input.ts')
}

/** Puts the application together: plugins in order. It never listens, so that tests can inject requests. */
export async function buildApp(given: Parts | ManyParts): Promise<FastifyInstance> {
  const many = 'organisations' in given ? given : undefined
  /** Those of the organisation of this moment. */
  const partsNow = many ? () => (requireOrganisation() as Served<Parts>).parts : () => given as Parts
  const parts = many ? lateParts(many, partsNow) : (given as Parts)
  const own = given.config
  const baseOf = (request: FastifyRequest): string => {
    if (!many) return requestBase(request, own)
    const organisation = many.organisations.find(request.host)
    return organisation ? many.baseOf(organisation) : (own.publicUrl ?? '')
  }
  let stopping = false
  // Thousands of requests may be too late at the same moment.
  const refused = { base: many ? (own.publicUrl ?? '') : ownAddress(own), log: given.log, origins: own.corsOrigins }
  const brokenRequest = inSlices<BrokenRequest>(({ error, socket }) => answerBrokenRequest(error, socket, refused))
  const app = Fastify({
    loggerInstance: given.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }), // `logRequest` says it in one line
    bodyLimit: LIMITS.bodyBytes,
    genReqId: ({ headers }) => requestIdOf(headers[REQUEST_ID]),
    rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?#]*(?=\/)/i, ''), // RFC 9112: the absolute form means the same
    connectionTimeout: 120_000, // of silence; a long upload is no silence
    requestTimeout: 0, // `boundConnections` does it, by route
    http: {
      headersTimeout: own.httpHeadersTimeout * 1000,
      connectionsCheckingInterval: 1000,
      requireHostHeader: false, // `boundConnections` answers that in our words
    },
    pluginTimeout: 60_000, // of starting, on a machine that is busy
    trustProxy: own.trustProxy.length > 0 ? own.trustProxy : false,
    return503OnClosing: false, // who still comes in while we drain is served; readyz has told the others
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 200 },
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    frameworkErrors: (error, request, reply) => {
      request.base = baseOf(request)
      const isUnknown = many !== undefined && !many.organisations.find(request.host)
      sendProblem(request, reply.headers(commonHeaders(request.id, request.base)), isUnknown ? new Problem(404) : error)
    },
    clientErrorHandler: (error, socket) => afterAnswers(socket, () => brokenRequest({ error, socket })),
  }).withTypeProvider<TypeBoxTypeProvider>()

  namePlugins(app)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(() => JSON.stringify) // the response schemas document; a test holds them against the answers
  app.decorate('hasMany', many !== undefined)
  app.decorate('each', many ? eachOfMany : eachOfOne(app))
  app.decorate('process', own)
  app.decorate('loadTypes', loadResources)
  decorateParts(app, partsNow, many)
  app.decorate('announceStop', () => {
    stopping = true
  })
  app.decorateRequest('actor')
  app.decorateRequest('actorNow')
  app.decorateRequest('base', '')
  app.decorateRequest('failure')
  app.addHook('onRequest', async (request, reply) => {
    request.base = baseOf(request)
    reply.headers(commonHeaders(request.id, request.base))
  })
  const { afterAnswers } = boundConnections(app, own, (socket, problem, request) =>
    answerConnection(socket, problem, refused, request),
  )
  countSmallRequests(app)

  followRequests(app, many && ((request, reply) => enter(many, request, reply, () => health(request, reply))))
  traceRequests(app)
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.isOn?.(parts.config) === false) throw new Problem(404)
    currentOf(request).own = addressesFor(request, request.base, parts.config)
    const root = request.url.split('/', 2)[1] ?? ''
    const version = Object.hasOwn(VERSIONS, root) ? VERSIONS[root] : undefined
    if (version) reply.header('api-version', version)
    if (Object.hasOwn(SWITCHES, root) && !parts.config[SWITCHES[root as keyof typeof SWITCHES]])
      throw new Problem(404, { code: 'api-disabled', detail: 'Deze API staat uit.' })
  })
  // Before the first route, which is the one of CORS: a route keeps the handler of the moment that it is made.
  app.setErrorHandler((error, request, reply) => sendFailure(parts.database, request, reply, error))
  await allowOrigins(app, parts.config)
  const requestLog = plainLog(given.log)
  const errorLog = app.each(
    () => openErrorLog(partsNow().database, partsNow().log),
    (errorLog) => Promise.race([errorLog.flush(), sleep(CLOSE_MS, undefined, { ref: false })]),
  )
  app.addHook('onResponse', async (request, reply) => {
    logRequest(requestLog, request, reply)
    const labels = { method: request.method, route: request.routeOptions.url ?? 'unknown', status: reply.statusCode }
    requestDuration.observe(labels, reply.elapsedTime / 1000)
    const organisation = currentOrganisation()?.rsin
    if (organisation) {
      const outcome = `${Math.floor(reply.statusCode / 100)}xx`
      organisationRequests.observe({ organisation, outcome }, reply.elapsedTime / 1000)
    }
    if (request.failure && (!many || organisation)) errorLog().write(failedOf(request, reply, request.failure))
  })
  acceptJson(app)
  const routes = collectRoutes(app)
  const noRoute = (request: FastifyRequest, match?: 'exact') => {
    const methods = routes.methodsAt(request.url.split('?', 1)[0] ?? '', match)
    if (methods.length === 0) return new Problem(404)
    const detail = `De methode ${request.method} is hier niet toegestaan.`
    return new Problem(405, { detail, headers: { allow: methods.join(', ') } })
  }
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, noRoute(request)))
  // The handler of what is not found comes after the body, which nobody needs to wait for.
  app.addHook('onRequest', async (request) => {
    if (request.is404 && isArriving(request.raw)) throw noRoute(request)
    // `_zoek` is no uuid of a resource, though it stands in the place of one.
    if (!request.is404 && routes.isTaken(request)) throw noRoute(request, 'exact')
  })

  // Each check names a secret of the client (src/autorisaties/token.ts). One that does not is refused whatever the token is.
  await app.register(jwt, {
    secret: async () => {
      throw new Error('a check of a token has to name the secret')
    },
    decode: { complete: true },
  })
  const openapi = collectOpenapi(app, VERSIONS, own.apiContact)
  registerAccess(app, own.trustProxy)
  logReads(app, () => {
    const { config, database, log } = partsNow()
    return logOptionsOf(config) ? openActs(database, config, log) : undefined
  })
  registerKeys(app, parts.config)
  tagChanges(app)
  checkContent(app, (request) => request.actor?.key !== undefined)
  sharePlaces(app, () => app.parts.config.databasePoolSize)
  validateInTurn(app)
  noteUnknownMembers(app)
  const ready = many ? () => registryReadiness(many.control) : rememberedReadiness(parts)
  const health = registerHealth(app, { ready, stopping: () => stopping })
  serveFaultPages(app)
  // Whoever types the bare address is a person.
  app.get('/', { config: { access: 'public' } }, async (request, reply) =>
    reply.redirect(`${request.base}/beheer/`, 303),
  )
  await app.register(kanalenPage)
  await app.register(catalogi, { prefix: '/catalogi/api/v1' })
  await app.register(documenten, { prefix: '/documenten/api/v1' })
  await app.register(documentRegistreren, { prefix: '/documenten/api/v1' }) // it knows cases, which stand above documents
  await app.register(zakenApi, { prefix: '/zaken/api/v1' })
  await app.register(zakenApi, { prefix: '/api/v1' })
  await app.register(besluitenApi, { prefix: '/besluiten/api/v1' })
  for (const [api, feed] of Object.entries(FEEDS)) await app.register(feedRoutes(feed), { prefix: `/${api}/api/v1` })
  await app.register(autorisaties, { prefix: '/autorisaties/api/v1' })
  // With many it is asked at each request whether an organisation has them.
  if (many || parts.tokenEndpoint)
    await app.register(tokenRoutes, { endpoint: () => expected(app.parts.tokenEndpoint) })
  await app.register(nrcApi, { prefix: '/notificaties/api/v1' })
  if (many || parts.config.enableCloudEvents) await app.register(events)
  serveOutcomes(app, partsNow)
  await app.register(beheer, { prefix: '/beheer', parts: partsNow, many })
  await openapi.serve()
  return app
}

/**
 * Finds whose request it is by its host, and opens what that has. What is no organisation's is answered here: how the process is, a host
 * of nobody (404, as for any path that is not there), and one that cannot be entered now (503 as `Organisations.enter`).
 * @returns undefined when it was answered
 */
async function enter(
  { organisations }: ManyParts,
  request: FastifyRequest,
  reply: FastifyReply,
  health: () => Promise<FastifyReply>,
): Promise<Served<Parts> | undefined> {
  if (request.routeOptions.config.isOfProcess) {
    await health()
    return undefined
  }
  const organisation = organisations.find(request.host)
  try {
    if (!organisation) throw new Problem(404)
    request.log = reply.log = request.log.child({ organisation: organisation.rsin })
    return await organisations.enter(organisation, { isChange: isChange(request), raw: reply.raw })
  } catch (error) {
    sendProblem(request, reply.header('vary', 'Origin'), error)
    return undefined
  }
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
const isChange = ({ method, routeOptions }: FastifyRequest) =>
  !SAFE.has(method) && !(method === 'POST' && /\/_(zoek|batch)$/.test(routeOptions.url ?? ''))

/**
 * Existing clients say `application/json` also where there is nothing to send, as to `publish`: that is no body at all. What is
 * of another media type, or compressed, is 415.
 */
function acceptJson(app: FastifyInstance): void {
  const parse = jsonParser(app)
  app.removeContentTypeParser('text/plain') // Fastify has one from the start
  app.addHook('preParsing', async (request) => {
    const coding = header(request, 'content-encoding').trim().toLowerCase()
    if (coding === '' || coding === 'identity' || request.is404) return
    const detail = 'Een samengeperste inhoud wordt niet aangenomen: stuur hem zonder Content-Encoding.'
    throw new Problem(415, { detail, headers: { 'accept-encoding': 'identity' } })
  })
  takeWhole(app, 'application/json', async (request, body) => {
    const mayBeEmpty = request.method === 'DELETE' || !request.routeOptions.schema?.body
    return body.byteLength === 0 && mayBeEmpty ? undefined : parse(request, body)
  })
}

/** The routes by path, to tell an unknown path (404) from a known one with another method (405 with Allow). */
function collectRoutes(app: FastifyInstance) {
  const known = new Map<string, { pattern?: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const entry = known.get(url) ?? { methods: new Set() }
    known.set(url, entry)
    for (const name of [method].flat()) entry.methods.add(name)
  })
  return {
    /** Whether another route has exactly this path, for other methods, and a parameter was taken for the end of it. */
    isTaken: ({ url, routeOptions }: FastifyRequest) => {
      const path = url.split('?', 1)[0] ?? ''
      return /\/_[a-z]+$/.test(path) && routeOptions.url !== path && known.has(path)
    },
    /** @param match only what is written out like this */
    methodsAt: (path: string, match?: 'exact') => {
      if (match) return [...(known.get(path)?.methods ?? [])].sort()
      const found = new Set<string>()
      for (const [url, route] of known) {
        route.pattern ??= patternOf(url) // at the first question: making five hundred takes a tenth of the start
        if (route.pattern.test(path)) for (const name of route.methods) found.add(name)
      }
      return [...found].sort()
    },
  }
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')}$`)
}

// What was asked, of what, by whom, from where, when and with which result (BIO 8.15.01). The path is without its parameters, and
// without numbers that may be a BSN: clients put one in the wrong place too.
function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  if (request.routeOptions.logLevel === 'warn' || !log.isLevelEnabled('info')) return
  const organisation = currentOrganisation()?.rsin
  log.info(
    {
      reqId: request.id,
      method: request.method,
      path: withoutNumbers((request.url.split('?', 1)[0] ?? '').slice(0, 500)),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      address: request.ip,
      ...(organisation !== undefined && { organisation }),
      ...(request.actor && { client_id: request.actor.clientId, user_id: withoutNumbers(request.actor.userId) }),
      ...(request.actor?.origin ?? {}),
      dropped: droppedMembers(request),
    },
    'request',
  )
}

const failedOf = (
  { id, method, routeOptions, actor }: FastifyRequest,
  { statusCode }: FastifyReply,
  failure: NonNullable<FastifyRequest['failure']>,
): Failed => ({
  ...failure,
  requestId: id,
  method,
  route: routeOptions.url ?? '',
  status: statusCode,
  clientId: actor?.clientId ?? '',
})
