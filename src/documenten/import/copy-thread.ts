// The thread behind `copyPool`: copies a group of source files with synchronous calls, which are cheaper than
// promises and block nobody here. The group is written first and synced after that, many files side by side: a file system writes
// its journal once for all that wait for it at that moment, so that the disk has a flush for many files and not for each. Meanwhile
// the next group is copied. Files get their names by a second message, when all groups of the call have succeeded.
import { createHash } from 'node:crypto'
import { closeSync, fsync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { SYNCS_AT_ONCE } from '../../lib/pool-threads.ts'
import { FILE_MODE, filesystemLayout, storeFault } from '../storage/filesystem.ts'
import { requireKey, StoreUnavailable } from '../storage/index.ts'
import { beneath, type OpenedSource } from './bestandspad.ts'
import type { Numbered, Order, Placement, Reply, Threaddata } from './copy-messages.ts'
import { type Copied, checksumOf, type FileToCopy, requireUnchanged, SourceFault } from './source-file.ts'

const CHUNK = 1024 * 1024

class Stopped extends Error {}

if (parentPort) serve(parentPort, workerData as Threaddata)

function serve(port: MessagePort, { baseDir, opslagRoot, stop }: Threaddata): void {
  const layout = filesystemLayout(opslagRoot)
  const buffer = Buffer.allocUnsafeSlow(CHUNK)

  port.on('message', async ({ number, message }: Numbered<Order>) => {
    const reply: Numbered<Reply> = { number, message: await handle(message).catch(asAnswer) }
    port.postMessage(reply)
  })

  async function handle(order: Order): Promise<Reply> {
    if ('copyFiles' in order) return copyGroup(order.copyFiles)
    await layout.place(order.place, renameSync)
    return { results: [], placements: [], bytes: 0 }
  }

  async function copyGroup(files: FileToCopy[]): Promise<Reply> {
    await layout.requireReady()
    const source = beneath(baseDir)
    const results: Copied[] = []
    const placements: Placement[] = []
    const targets: number[] = []
    let bytes = 0
    try {
      for (const file of files) results.push(copyOne(file))
      await syncAll(targets)
      return { results, placements, bytes }
    } catch (error) {
      removeTemps(placements)
      throw error
    } finally {
      targets.forEach(close)
      source.close()
    }

    function copyOne({ number, bestandspad, key, algoritme }: FileToCopy): Copied {
      requireKey(key)
      const opened = source.open(bestandspad)
      if ('fout' in opened) return { number, fout: opened.fout }
      const temp = layout.newTemp()
      try {
        const target = openSync(temp, 'wx', FILE_MODE)
        targets.push(target)
        placements.push({ temp, key: key })
        const sums = copyBytes(opened, target, algoritme)
        bytes += opened.size
        return { number, key, size: opened.size, ...sums }
      } catch (error) {
        if (!(error instanceof SourceFault)) throw error
        removeTemps(placements.splice(-1))
        return { number, fout: error.fout }
      } finally {
        close(opened.fd)
      }
    }
  }

  function readAt(fd: number, length: number, position: number): number {
    try {
      return readSync(fd, buffer, 0, length, position)
    } catch {
      throw new SourceFault('file-unreadable')
    }
  }

  /** Copies exactly as many bytes as the file had when it was opened. */
  function copyBytes(source: OpenedSource, target: number, algoritme?: string) {
    const sha256 = createHash('sha256')
    const checksum = checksumOf(algoritme)
    for (let position = 0; position < source.size; ) {
      if (Atomics.load(stop, 0) === 1) throw new Stopped()
      const wanted = Math.min(CHUNK, source.size - position)
      const bytes = buffer.subarray(0, readAt(source.fd, wanted, position))
      if (bytes.length === 0) throw new SourceFault('file-changed') // it has become shorter
      sha256.update(bytes)
      checksum?.update(bytes)
      for (let written = 0; written < bytes.length; ) written += writeSync(target, bytes, written)
      position += bytes.length
    }
    requireUnchanged(source)
    return { sha256: sha256.digest('hex'), ...(checksum && { controle: checksum.digest() }) }
  }
}

const sync = promisify(fsync)

/** Syncs open files. When one fails, the others have ended as well: a handle is not closed under a sync. */
async function syncAll(files: number[]): Promise<void> {
  const queue = files.values()
  const work = async () => {
    for (const file of queue) await sync(file)
  }
  const settled = await Promise.allSettled(Array.from({ length: SYNCS_AT_ONCE }, work))
  for (const one of settled) if (one.status === 'rejected') throw one.reason
}

function asAnswer(error: unknown): Reply {
  if (error instanceof Stopped) return { stopped: true }
  const fault = storeFault(error)
  if (fault instanceof StoreUnavailable) return { unavailable: fault.code, wat: fault.wat }
  return { defect: error }
}

/** What cannot be removed now is left to the sweep; the first error is the one to tell. */
function removeTemps(placements: Placement[]): void {
  for (const { temp } of placements) {
    try {
      rmSync(temp, { force: true })
    } catch {}
  }
}

/** An error here says nothing that fsync has not said. */
function close(fd: number): void {
  try {
    closeSync(fd)
  } catch {}
}
