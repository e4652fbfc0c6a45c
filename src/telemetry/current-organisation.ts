// The organisation that something is done for, in an installation with many: one application serves all of them, and whatever its
// handlers use is that of the organisation of the request. What is asked outside of a request of an organisation throws, so that a
// forgotten line finds nothing, rather than what is another's. With one organisation none of this is in the way.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance } from 'fastify'
import { inTurn } from '../lib/in-turn.ts'

/** An organisation that is open in this process. */
export type OpenOrganisation = {
  rsin: string
  /** Its database answers nothing: who waits is told so at once. */
  isAway?: boolean
  /** Called when it is closed here, the last that was added first. */
  readonly endings: (() => unknown)[]
}

/** Makes something for each organisation, at its first use there; with one organisation once, at once. `end` is called when that is closed. */
export type Each = <T>(make: () => T, end?: (made: T) => unknown) => () => T

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether this application serves many organisations. */
    hasMany: boolean
    each: Each
  }
}

const current = new AsyncLocalStorage<OpenOrganisation>()

/** Undefined outside of a request, and in an installation with one organisation. */
export const currentOrganisation = (): OpenOrganisation | undefined => current.getStore()

/** @throws Error outside of a request of an organisation */
export function requireOrganisation(): OpenOrganisation {
  const organisation = current.getStore()
  if (!organisation) throw new Error('this belongs to an organisation, and nothing says to which')
  return organisation
}

/** Does work for an organisation; undefined: for none. */
export const inOrganisation = <T>(organisation: OpenOrganisation | undefined, work: () => T): T =>
  current.run(organisation as OpenOrganisation, work)

/** What only knows its own client is kept apart by this, as an equal name is another's elsewhere. */
export const ownName = (name: string): string => `${current.getStore()?.rsin ?? ''} ${name}`

/** `inTurn` of what all organisations of a process share: one that has much of it does not hold up another. */
export const inTurnOfAll = (
  atOnce: number,
  mayWait: number,
  refuse: () => Error,
  longestMs?: number,
): ReturnType<typeof inTurn> => inTurn(atOnce, mayWait, refuse, () => current.getStore()?.rsin ?? '', longestMs)

/** `app.each` of an application of one organisation. */
export function eachOfOne(app: FastifyInstance): Each {
  return (make, end) => {
    const made = make()
    if (end) app.addHook('onClose', async () => void (await end(made)))
    return () => made
  }
}

/** `app.each` of an application of many. What is made runs on for the organisation, and not for the request that came first. */
export const eachOfMany: Each = (make, end) => {
  const all = new WeakMap<OpenOrganisation, { made: ReturnType<typeof make> }>()
  return () => {
    const organisation = requireOrganisation()
    let one = all.get(organisation)
    if (!one) {
      const made = outside(() => inOrganisation(organisation, make))
      one = { made }
      all.set(organisation, one)
      if (end) organisation.endings.push(() => end(made))
    }
    return one.made
  }
}

/** Does work that belongs to no request, whoever caused it. Begun in one, it would hold what is kept of that for as long as it goes on. */
const outsideOfAll = AsyncLocalStorage.snapshot()
export const outside = <T>(work: () => T): T => outsideOfAll(work)

/**
 * Stands for an object of the organisation of each moment, for who has to name it before there is a request.
 * @param now that of this moment @throws as `now`, at each use
 */
export function late<T extends object>(now: () => T): T {
  const owned = (own: T, name: string | symbol) => {
    const value: unknown = Reflect.get(own, name, own)
    // A class has what only its own methods may touch.
    const isMethod = typeof value === 'function' && !Object.hasOwn(own, name)
    return isMethod ? (value as (...given: unknown[]) => unknown).bind(own) : value
  }
  return new Proxy({} as T, {
    get: (_, name) => owned(now(), name),
    has: (_, name) => Reflect.has(now(), name),
    ownKeys: () => Reflect.ownKeys(now()),
    getOwnPropertyDescriptor: (_, name) => {
      const found = Reflect.getOwnPropertyDescriptor(now(), name)
      return found && { ...found, configurable: true }
    },
  })
}
