// Takes the place of `async-hook-domain` in a process of test/lane.ts: which test an error belongs to that nobody caught. That
// package follows every promise with an asynchronous hook, an eighth of the CPU of a test. Here files and their tests run one
// after the other, so the error belongs to the innermost test that has begun and not ended.
import { executionAsyncResource } from 'node:async_hooks'

type Handler = (error: unknown, type: string) => void

const alive = new Set<Domain>()

export class Domain {
  readonly onerror: Handler
  /** tap makes the domain of a test in the scope of that test. */
  readonly #scope = executionAsyncResource() as { test?: { started: boolean } }

  constructor(onerror: Handler) {
    this.onerror = onerror
    alive.add(this)
  }

  /** Tests wait for those before them, with a domain already. */
  get begun(): boolean {
    return this.#scope.test?.started ?? false
  }

  destroy(): void {
    alive.delete(this)
  }
}

process.on('uncaughtException', (error, origin) => {
  const domains = [...alive]
  const concerned = domains.findLast(({ begun }) => begun) ?? domains.at(-1)
  if (!concerned) throw error
  concerned.onerror(error, origin)
})
