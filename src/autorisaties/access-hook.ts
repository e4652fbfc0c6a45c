import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { passes } from '../core/access.ts'
import { LIMITS } from '../core/limits.ts'
import { forbidden } from '../core/problem.ts'
import { preconditionOf } from '../http/etag.ts'
import { blockList, isListed, networkOf } from '../http/network.ts'
import { countAttempts } from './attempts.ts'
import { openFsc } from './fsc.ts'
import { authenticate, rememberTokens } from './token.ts'

/**
 * Puts the first gate on every route: a valid token, and the scope on at least one right of the application. Whether
 * the right reaches the object at hand is asked later, when the object is known (`requireAllowed`, `reach`).
 * A route that declares no access stops the start.
 */
export function registerAccess(app: FastifyInstance, trustProxy: string[]): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.access === undefined)
      throw new Error(`route ${String(route.method)} ${route.url} declares no access`)
    // A read of the APIs that declares no parameters takes none: unknown ones are refused there too.
    const isRead = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD')
    if (isRead && route.config.access !== 'public' && route.config.access !== 'beheer' && !route.schema?.querystring)
      route.schema = { ...route.schema, querystring: Type.Object({}) }
  })
  const proxies = blockList(trustProxy)
  const judges = app.each(() => {
    const { config, credentials, issuers, tokenEndpoint } = app.parts
    return {
      refused: countAttempts(),
      fsc: config.fsc && openFsc(config.fsc),
      judging: {
        config,
        credentials,
        issuers,
        tokenEndpoint,
        attempts: countAttempts(),
        verified: rememberTokens(),
        proxies,
      },
    }
  })
  app.addHook('onRequest', async (request) => {
    const access = request.routeOptions.config.access
    if (access === undefined || access === 'public' || access === 'beheer') return // undefined: no route at all, a 404
    const { refused, fsc, judging } = judges()
    try {
      request.actor = await authenticate(app, request, judging)
      request.actorNow = () => authenticate(app, request, judging)
    } catch (error) {
      // Whoever sends the next as soon as this one is refused is slowed down: there success of others changes nothing.
      const address = networkOf(request.ip)
      refused.failed(address)
      if (refused.refusal(address)) await sleep(LIMITS.refusalMs)
      throw error
    }
    const through = fsc && isListed(proxies, request.raw.socket.remoteAddress) ? await fsc.originOf(request) : undefined
    if (through) request.actor.origin = { ...request.actor.origin, fsc: through }
    if (!passes(request.actor, access)) throw forbidden()
    const { changeArchivedZaken: archived, versionsShareDay: sharedDay } = judging.config
    if (archived || sharedDay) request.actor.lenient = { archived, sharedDay }
    const precondition = preconditionOf(request)
    if (precondition) request.actor.precondition = precondition
  })
}
