// Runs test files one after the other in one process, as test/run.ts names them: importing the program takes more time than
// most files need for their tests.
//
// A file is written as if it had the process for itself: `import t from 'tap'` gives it the test that stands for the file, so
// that its teardowns, hooks and limits end with it. What it must not do is change the process (signals, `process.env`,
// listeners of its own): then it says on a line that begins with `// In a process of its own` why, and gets one.
import { registerHooks } from 'node:module'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { noted } from './profile.ts'

/** What run.ts writes to the standard input of this process, one on a line: the next file, with its limit in milliseconds. */
export type Order = { file: string; timeout: number }

const SLOW_LEAVE_MS = 10_000
const current: { t?: Test; leave: (() => unknown)[] } = { leave: [] }
Object.assign(globalThis, { [Symbol.for('zaakstroom.test')]: current })
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'async-hook-domain') return next('./domain.ts', { ...context, parentURL: import.meta.url })
    // A module for each file: whoever imports it later still gets the test of that file.
    if (specifier === 'tap' && context.parentURL?.endsWith('.test.ts'))
      return { url: `lane:${context.parentURL}`, format: 'module', shortCircuit: true }
    return next(specifier, context)
  },
  load(url, context, next) {
    if (!url.startsWith('lane:')) return next(url, context)
    return {
      format: 'module',
      source: "export default globalThis[Symbol.for('zaakstroom.test')].t",
      shortCircuit: true,
    }
  },
})

const { default: root } = await import('tap') // after the hooks
root.setTimeout(0) // each file has its own limit
root.test('lane', { timeout: 0 }, async (lane) => {
  for await (const line of createInterface({ input: process.stdin })) {
    const { file, timeout }: Order = JSON.parse(line)
    await lane.test(file, { timeout }, async (t) => {
      current.t = t as unknown as Test
      await noted('import', () => import(pathToFileURL(file).href))
    })
  }
  for (const work of current.leave) await work()
  setTimeout(() => console.error(`still open: ${process.getActiveResourcesInfo().join(', ')}`), SLOW_LEAVE_MS).unref()
})
