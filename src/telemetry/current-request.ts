// What is known of the request that is being answered wherever its work leads, and how often it may ask others.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { EventEmitter } from 'node:events'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OwnAddresses } from '../lib/own-addresses.ts'
import { inOrganisation, type OpenOrganisation } from './current-organisation.ts'

export type CurrentRequest = {
  id: string
  /** When it came, by `performance.now()`. */
  began: number
  /** Whose it is, where there are many. */
  organisation?: OpenOrganisation
  /** Its trace context, when it is traced. */
  traceparent?: string
  /** That of the caller, when he sent one. */
  incoming?: string | undefined
  /** What its answer shows, while that is noted (`src/http/verwerkingen.ts`). */
  shown?: Shown
  /** Questions to other services so far, and when the last may be asked. */
  questions: number
  until: number | undefined
  /** Our addresses as they count for it, and the others than that of answers that it used. */
  own?: OwnAddresses
  addresses: Set<string>
  /** What its client has to know though it succeeded: the header `X-Warning` of its answer. */
  warnings: Set<string>
  /** Does what waits for others: meanwhile the request does not take the place of another request of its client. */
  away<T>(work: () => Promise<T>): Promise<T>
}

/** uuids of what an answer shows, and persons that were asked for. */
export type Shown = {
  /** The address of the route. */
  url: string
  zaken: Set<string>
  objecten: Set<string>
  rollen: Set<string>
  persons: { lookup: string; person: object }[]
  /** What the request does is written with its change. */
  isChange: boolean
}

/** The request that is being answered; jobs and commands are none. */
export const currentRequest = new AsyncLocalStorage<CurrentRequest>()

const requests = new WeakMap<object, CurrentRequest>()

/** What is kept of a request while it is answered; undefined of one that was refused before `followRequests` has seen it. */
export const knownOf = ({ raw }: FastifyRequest): CurrentRequest | undefined => requests.get(raw)

/** Has the answer of the request that is being answered say this, when it succeeds. Jobs and commands have nobody to tell. */
export const warn = (text: string): unknown => currentRequest.getStore()?.warnings.add(text)

/** The same. @throws Error before `followRequests` has seen it */
export function currentOf({ raw }: FastifyRequest): CurrentRequest {
  const current = requests.get(raw)
  if (!current) throw new Error('a request that nothing follows')
  return current
}

/**
 * Makes `currentRequest` hold in all hooks and handlers.
 * @param enter where there are many organisations: finds whose request it is; undefined: it was answered already
 */
export function followRequests(
  app: FastifyInstance,
  enter?: (request: FastifyRequest, reply: FastifyReply) => Promise<OpenOrganisation | undefined>,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { traceparent } = request.headers
    const current: CurrentRequest = {
      id: request.id,
      began: performance.now(),
      incoming: typeof traceparent === 'string' ? traceparent : undefined,
      questions: 0,
      until: undefined,
      addresses: new Set(),
      warnings: new Set(),
      away: (work) => work(),
    }
    requests.set(request.raw, current)
    if (!enter) return currentRequest.run(current, done)
    const go = (organisation: OpenOrganisation | undefined) => {
      if (!organisation) return
      current.organisation = organisation
      within(current, () => {
        holdContext(request.raw)
        holdContext(reply.raw)
        done()
      })
    }
    // One connection may bring requests for several: nothing of the one before it holds here.
    inOrganisation(undefined, () => currentRequest.run(current, () => enter(request, reply).then(go, done)))
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    const warnings = knownOf(request)?.warnings
    if (warnings && warnings.size > 0 && reply.statusCode < 300)
      reply.header('x-warning', [...warnings].join(' ').replace(/[^ -~\u00a0-\u00ff]/g, '?'))
    done()
  })
  // The parts of a body come by events of the connection, which know nothing of it.
  app.addHook('preValidation', (request, _reply, done) => {
    const current = currentOf(request)
    if (enter) within(current, done)
    else currentRequest.run(current, done)
  })
}

const within = (current: CurrentRequest, work: () => void): void =>
  inOrganisation(current.organisation, () => currentRequest.run(current, work))

/** Has what listens here do its work for the request that this is of, whatever the connection was doing when it tells of something. */
function holdContext(emitter: EventEmitter): void {
  const emit = emitter.emit.bind(emitter)
  const inside = AsyncLocalStorage.snapshot()
  emitter.emit = (...given: Parameters<EventEmitter['emit']>) => inside(emit, ...given)
}
