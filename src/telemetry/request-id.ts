// One id goes with a request through the log, the audit trail, the message that it leads to, its jobs and the deliveries.
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { type CurrentRequest, currentRequest } from './current-request.ts'
import { currentTraceparent, TRACE_CONTEXT } from './tracing.ts'

export const REQUEST_ID = 'x-request-id'

const SANE = /^[\w.:+=@-]{1,128}$/
const MAY_BE_BSN = /^\d{8,9}$/

/** What the caller named the request, when that can go into a log and a header as it is; otherwise an id of ours. */
export function requestIdOf(given: unknown): string {
  return typeof given === 'string' && SANE.test(given) && !MAY_BE_BSN.test(given) ? given : newId()
}

/** 64 random bits: each change keeps it twice. */
function newId(): string {
  const uuid = randomUUID()
  return uuid.slice(0, 8) + uuid.slice(-8)
}

const origin = new AsyncLocalStorage<string>()

/** The id of the request that is being answered, or of the one that the running job came from; empty when there is none. */
export const currentRequestId = (): string => currentRequest.getStore()?.id ?? origin.getStore() ?? ''

/** A trace, and what led to the act in it elsewhere; both in hexadecimal. A span of ours is no foreign operation. */
export type Trace = { traceId: string; parentSpanId: string | undefined }

/** The trace that a request is in, also when it is not sampled; undefined: its id stands for one when it is settled. */
export function traceOf(current: CurrentRequest | undefined, requestId = current?.id ?? ''): Trace | undefined {
  const [, foreignTrace, parentSpanId] = TRACE_CONTEXT.exec(current?.incoming ?? '') ?? []
  const [, ownTrace] = TRACE_CONTEXT.exec(current?.traceparent ?? currentTraceparent() ?? '') ?? []
  const traceId = foreignTrace ?? ownTrace
  if (traceId !== undefined) return { traceId, parentSpanId }
  return requestId === '' ? { traceId: randomUUID().replaceAll('-', ''), parentSpanId: undefined } : undefined
}

/** That of what is being done. */
export const currentTrace = (): Trace | undefined => traceOf(currentRequest.getStore(), currentRequestId())

/** The payload of a job that goes on under the id, and in the trace, of what queues it. */
export function withOrigin<P extends object>(payload: P): P & { requestId?: string; traceparent?: string } {
  const requestId = currentRequestId()
  const traceparent = currentTraceparent()
  return { ...payload, ...(requestId && { requestId }), ...(traceparent && { traceparent }) }
}

/** Does a job under the id of the request that it came from. */
export function underOrigin<T>(payload: unknown, work: () => T): T {
  const { requestId } = (payload ?? {}) as { requestId?: unknown }
  return typeof requestId === 'string' ? origin.run(requestId, work) : work()
}

/** What tells in a line of the log which request the running job came from. */
export function originOfJob(): { reqId?: string } {
  const reqId = origin.getStore()
  return reqId ? { reqId } : {}
}
