// Opening a package that somebody sent.
import { setImmediate as breathe } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { NAMES, type Name, type Package, PackageFault } from './files.ts'
import type { PackageOrder, PackageReply } from './read-thread.ts'

/** JSON of all types together in a ZIP that a page takes. */
export const PAGE_PACKAGE_BYTES = 16 * 1024 * 1024

/**
 * Reads a ZIP, in a thread of its own.
 * @param mostBytes of its JSON, all together
 * @throws PackageFault
 */
export async function readPackage(bytes: Buffer, mostBytes = PAGE_PACKAGE_BYTES): Promise<Package> {
  const pack: Package = new Map()
  const thread = new Worker(new URL('./read-thread.ts', import.meta.url), {
    workerData: { bytes, names: NAMES, mostBytes } satisfies PackageOrder,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 64 + (8 * mostBytes) / 1024 / 1024, maxYoungGenerationSizeMb: 8 },
  })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {}) // whoever waits hears of it
  thread.on('error', (error: { code?: string }) =>
    failed.reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new PackageFault('het bestand is te groot') : error),
  )
  try {
    for (;;) {
      const said = Promise.withResolvers<PackageReply>()
      thread.once('message', said.resolve)
      thread.postMessage('next')
      const reply = await Promise.race([said.promise, failed.promise])
      await breathe()
      if ('fault' in reply) throw new PackageFault(reply.fault)
      if ('seen' in reply) {
        if (pack.size > 0) return pack
        const expected = NAMES.map((name) => `${name}.json`).join(', ')
        throw new PackageFault(`verwacht: ${expected}; gevonden: ${reply.seen.join(', ') || 'niets'}`)
      }
      const there = pack.get(reply.name as Name) ?? []
      pack.set(reply.name as Name, there)
      there.push(...reply.items)
    }
  } finally {
    await thread.terminate()
  }
}
