// The event loop is one. Work over much data of one client is done in pieces of a few ms, and this decides when the next piece
// may begin: one at a time, after what the others are waiting for. Requests are small until they say that they are not.
//
// After each piece the next one waits for as long as small requests are at work, but not longer than four times what the piece
// took: large work is slower while others are there, and goes on. When nobody else is there it goes on at once.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { whenClosed } from './when-closed.ts'

const REST = 4
const LEAST_REST_MS = 2
const MOST_REST_MS = 50
const SLICE_MS = 5
const SLICE_WEIGHT = 200

const small = new Set<object>()
const pieces: (() => void)[] = []
let running = false
let wake: (() => void) | undefined

/** Notes which requests are at work. A stream of content is none of them: it waits for its client nearly all of the time. */
export function countSmallRequests(app: FastifyInstance): void {
  app.addHook('preParsing', async ({ raw, routeOptions }, reply) => {
    if (routeOptions.config.stream) return
    small.add(raw)
    whenClosed(reply.raw, () => leave(raw))
  })
  // What is left is to be read, for as long as its client likes.
  app.addHook('onSend', async ({ raw }) => leave(raw))
}

function leave(request: object): void {
  if (small.delete(request) && small.size === 0) wake?.()
}

/** Resolves when the next piece of large work may be done, which then begins in the same turn of the event loop. */
export function largeTurn(request: FastifyRequest): Promise<void> {
  leave(request.raw)
  return new Promise((resolve) => {
    pieces.push(resolve)
    if (running) return
    running = true
    setImmediate(nextPiece)
  })
}

function nextPiece(): void {
  const begin = pieces.shift()
  if (!begin) {
    running = false
    return
  }
  const began = performance.now()
  begin()
  setImmediate(() => rest(performance.now() - began))
}

function rest(tookMs: number): void {
  if (small.size === 0 || pieces.length === 0) {
    nextPiece()
    return
  }
  const goOn = () => {
    clearTimeout(timer)
    wake = undefined
    setImmediate(nextPiece)
  }
  const timer = setTimeout(goOn, Math.min(MOST_REST_MS, Math.max(LEAST_REST_MS, REST * tookMs)))
  wake = goOn
}

/**
 * Makes a queue of small things of which very many may come at once: they are done in slices of a few ms.
 * @param options.ownerOf whose it is: owners take turns, so that one of which there are a thousand does not hold up another's
 * @param options.weightOf how much work follows later from one of them, where that is known; a slice has `SLICE_WEIGHT` of it
 * @param options.rest lets the others go first between two slices; without it for as long as a slice takes
 */
export function inSlices<T>(
  work: (one: T) => void,
  {
    ownerOf = () => '',
    weightOf = () => 0,
    rest = (next) => setTimeout(next, SLICE_MS),
  }: { ownerOf?: (one: T) => string; weightOf?: (one: T) => number; rest?: (next: () => void) => void } = {},
): (one: T) => void {
  const waiting = new Map<string, T[]>() // by owner, whose turn it is first
  let running = false
  const slice = () => {
    const end = performance.now() + SLICE_MS
    let weight = 0
    for (const [owner, queue] of waiting) {
      const one = queue.shift() as T
      waiting.delete(owner)
      if (queue.length > 0) waiting.set(owner, queue) // behind the others
      weight += weightOf(one)
      work(one)
      if (weight >= SLICE_WEIGHT || performance.now() >= end) break
    }
    running = waiting.size > 0
    if (running) rest(slice)
  }
  return (one) => {
    const owner = ownerOf(one)
    const queue = waiting.get(owner)
    if (queue) queue.push(one)
    else waiting.set(owner, [one])
    if (running) return
    running = true
    setImmediate(slice)
  }
}
