// The end of a connection. Whoever begins to wait for it late, as a request does that was being authenticated meanwhile, would
// wait for ever: the event does not come again.
import { Problem } from '../core/problem.ts'

type Closing = {
  readonly closed: boolean
  once(event: 'close', work: () => void): unknown
  off(event: 'close', work: () => void): unknown
}

/**
 * Does something when the connection is through with a response, since it was sent or nobody reads it any more, or with the body of a
 * request. At once when that is so already.
 * @returns takes that back
 */
export function whenClosed(stream: Closing, work: () => void): () => void {
  if (stream.closed) {
    work()
    return () => {}
  }
  stream.once('close', work)
  return () => stream.off('close', work)
}

/** Aborts when the connection is through with a response: with Problem 408, which nobody reads. */
export function closedSignal(response: Closing): AbortSignal {
  const ended = new AbortController()
  whenClosed(response, () => ended.abort(new Problem(408)))
  return ended.signal
}
