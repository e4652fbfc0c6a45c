// The file work of an import batch: from the import directory to storage, with size and checksums. A row whose file is
// at fault gets a refusal; a store at fault rejects the whole call, because no row is to blame for it.
import { closeSync, read, readSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { expected } from '../../database/rows.ts'
import { copiesAtOnce } from '../../lib/open-files.ts'
import { GROUPS_AT_ONCE } from '../../lib/pool-threads.ts'
import { PART, PARTS_AT_ONCE } from '../storage/blob.ts'
import { type Store, StoreUnavailable } from '../storage/index.ts'
import { ContentRefused } from '../storage/scan.ts'
import { beneath, type OpenedSource, type PathFault, pathFault, type Refused } from './bestandspad.ts'
import type { Numbered, Order, Placement, Reply, Threaddata } from './copy-messages.ts'
import { type Copied, checksumOf, type FileToCopy, requireUnchanged, SourceFault } from './source-file.ts'

// ---- the filesystem backend: threads ----

// A thread copies a group during the syncs of the one before it. A second thread adds little with small files, and takes 15 MB: it is
// there where bytes take the time, on two cores and more.
const THREADS = 2
const LARGE = 256 * 1024 // bytes of a file
// Small enough to overlap, large enough to sync in groups. Each file of a group stays open until then.
const GROUP = copiesAtOnce(64, GROUPS_AT_ONCE)

type Call = { failed: boolean }
type Answer = Exclude<Reply, { defect: unknown }>
type Task = { order: Order; files: number; call: Call; resolve(answer: Answer): void; reject(error: Error): void }

/**
 * Copies files into a filesystem store. Nothing of a call is visible before all its files are on disk, and a call that
 * is rejected leaves nothing but, after a crash, temporary files. Results come in the order of the files.
 *
 * @throws (from `copyFiles`) StoreUnavailable for faults of the store or the import directory
 */
export function copyPool(options: { baseDir: string; opslagRoot: string; threads?: number }): {
  copyFiles(files: FileToCopy[]): Promise<Copied[]>
  stop(): Promise<void>
} {
  const { baseDir, opslagRoot, threads = THREADS } = options
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const waiting: Task[] = []
  /** What each thread has under way, by number. */
  const workers = new Map<Worker, Map<number, Task>>()
  let numbers = 0
  let underWay = 0
  let large = false
  let stopping: PromiseWithResolvers<void> | undefined

  function run(call: Call, order: Order): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      waiting.push({ order, files: 'copyFiles' in order ? order.copyFiles.length : 0, call, resolve, reject })
      next()
    })
  }

  function next(): void {
    for (let task = waiting[0]; task; task = waiting[0]) {
      if (stopping || task.call.failed) {
        waiting.shift()
        task.reject(new Error('copying was stopped'))
        continue
      }
      if (underWay >= GROUPS_AT_ONCE) return
      waiting.shift()
      give(task)
    }
    if (underWay === 0) stopping?.resolve()
  }

  /** To the thread that has the least to do. */
  function give(task: Task): void {
    const [least] = [...workers].sort(([, a], [, b]) => a.size - b.size)
    const isBusy = !least || least[1].size > 0
    const [worker, tasks] = isBusy && workers.size < (large ? threads : 1) ? startThread() : expected(least)
    const number = numbers++
    underWay++
    tasks.set(number, task)
    worker.ref()
    const order: Numbered<Order> = { number, message: task.order }
    worker.postMessage(order)
  }

  function startThread(): [Worker, Map<number, Task>] {
    const workerData: Threaddata = { baseDir, opslagRoot, stop }
    // Without the flags of the process: some of them (--input-type, -e) do not go with a file to run.
    const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 } // it only moves buffers
    const worker = new Worker(new URL('./copy-thread.ts', import.meta.url), {
      workerData,
      execArgv: [],
      resourceLimits,
    })
    const tasks = new Map<number, Task>()
    workers.set(worker, tasks)
    /** Its calls fail; the next task starts a new thread. */
    const lost = (cause?: unknown) => {
      underWay -= tasks.size
      for (const task of tasks.values()) fail(task, cause)
      tasks.clear()
      workers.delete(worker)
      next()
    }
    worker.on('message', ({ number, message }: Numbered<Reply>) => {
      const task = expected(tasks.get(number))
      tasks.delete(number)
      underWay--
      if (!('results' in message))
        task.call.failed = true // its other groups need not start
      else if (task.files > 0) large = message.bytes / task.files >= LARGE
      if ('defect' in message) {
        workers.delete(worker) // the pool goes on with a clean one
        fail(task, message.defect)
      } else task.resolve(message)
      if (tasks.size === 0) {
        worker.unref() // a thread that waits does not keep the process
        if (!workers.has(worker)) void worker.terminate()
      }
      next()
    })
    worker.on('error', lost)
    worker.on('exit', () => lost())
    return [worker, tasks]
  }

  function fail({ call, reject }: Task, cause?: unknown): void {
    call.failed = true
    reject(new Error('the thread that copied files has ended', { cause }))
  }

  return {
    async copyFiles(files) {
      const call = { failed: false }
      const place: Placement[] = []
      const copyGroup = async (copyFiles: FileToCopy[]) => {
        const { results, placements } = done(await run(call, { copyFiles }))
        place.push(...placements)
        return results
      }
      try {
        const groups: Promise<Copied[]>[] = []
        for (let i = 0; i < files.length; i += GROUP) {
          groups.push(copyGroup(files.slice(i, i + GROUP)))
        }
        const settled = await Promise.allSettled(groups) // all: nothing of this call runs on after it was rejected
        const results = settled.flatMap((group) => (group.status === 'fulfilled' ? group.value : []))
        for (const group of settled) if (group.status === 'rejected') throw group.reason
        if (place.length > 0) done(await run(call, { place }))
        return results
      } catch (error) {
        // What cannot be removed now is left to the sweep. A target may be there already; it is not known to be ours alone.
        await Promise.all(place.map(({ temp }) => rm(temp, { force: true }).catch(() => {})))
        throw error
      }
    },

    /** Running calls are rejected after the chunk they are at, and leave nothing behind. */
    async stop() {
      stopping ??= Promise.withResolvers<void>()
      Atomics.store(stop, 0, 1)
      next()
      await stopping.promise
      await Promise.all([...workers.keys()].map((worker) => worker.terminate()))
    },
  }
}

function done(reply: Answer): { results: Copied[]; placements: Placement[] } {
  if ('stopped' in reply) throw new Error('copying was stopped')
  if ('unavailable' in reply) throw new StoreUnavailable(reply.unavailable, reply.wat)
  return reply
}

// ---- any other backend: streams ----

// A write to a blob store is mostly waiting for its answer: at 20 ms each, 1,000 a second are 20 at once and more. Below the 50
// connections that the SDK of S3 keeps.
const WRITES_AT_ONCE = copiesAtOnce(48, 2) // a file and a connection each
/** What the writes under way may hold in memory together; a large file counts for the parts that are held of it. */
const BYTES_AT_ONCE = 64 * 1024 * 1024

/** Shares out places for writes, first come, first served, among all calls of `copyToStore` that are given it. */
export type WritePlaces = ReturnType<typeof writePlaces>

/**
 * @param writes at once, by all that share these places
 * @param bytes of memory that these hold together
 */
export function writePlaces({ writes = WRITES_AT_ONCE, bytes = BYTES_AT_ONCE } = {}) {
  const waiting: { held: number; enter: () => void }[] = []
  let free = { writes, bytes }
  function admit() {
    for (let first = waiting[0]; first && free.writes > 0 && first.held <= free.bytes; first = waiting[0]) {
      waiting.shift()
      free = { writes: free.writes - 1, bytes: free.bytes - first.held }
      first.enter()
    }
  }
  return {
    writes,
    /** Waits for a place. @returns what gives it back */
    async enter(size: number): Promise<() => void> {
      const held = Math.min(size, (PARTS_AT_ONCE + 1) * PART, bytes)
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ held, enter: resolve })
      admit()
      await promise
      return () => {
        free = { writes: free.writes + 1, bytes: free.bytes + held }
        admit()
      }
    },
  }
}

/**
 * The same through `opslag.write`, on this thread. Files written by a call that is rejected stay until the sweep: the
 * keys are not known to be this call's alone.
 */
export async function copyToStore(
  store: Store,
  baseDir: string,
  files: FileToCopy[],
  options: { places?: WritePlaces; signal?: AbortSignal } = {},
): Promise<Copied[]> {
  const { places = writePlaces(), signal } = options
  const source = beneath(baseDir)
  const failed = new AbortController()
  const either = AbortSignal.any(signal ? [failed.signal, signal] : [failed.signal])
  const results: Copied[] = []
  const queue = files.entries()

  async function work() {
    for (const [index, file] of queue) {
      either.throwIfAborted()
      const opened = source.open(file.bestandspad)
      const leave = await places.enter('fout' in opened ? 0 : opened.size)
      try {
        results[index] = await copyThrough(store, opened, file, either)
      } finally {
        leave()
      }
    }
  }

  try {
    await Promise.all(Array.from({ length: places.writes }, () => work().catch((error) => failed.abort(error))))
    failed.signal.throwIfAborted()
    return results
  } finally {
    source.close()
  }
}

async function copyThrough(
  store: Store,
  source: OpenedSource | Refused,
  { number, key, algoritme }: FileToCopy,
  signal: AbortSignal,
): Promise<Copied> {
  if ('fout' in source) return { number, fout: source.fout }
  const checksum = checksumOf(algoritme)
  let fout: PathFault | undefined // kept here as well, because a backend may wrap the error of its source

  async function* bytes() {
    try {
      for await (const chunk of bytesOf(source as OpenedSource)) {
        checksum?.update(chunk)
        yield chunk
      }
    } catch (error) {
      if (error instanceof SourceFault) fout = error.fout
      throw error
    }
  }

  const stream = bytes()
  try {
    const written = await store.write(key, stream, { signal, fresh: true })
    return { number, ...written, ...(checksum && { controle: checksum.digest() }) }
  } catch (error) {
    if (fout) return { number, fout }
    if (error instanceof ContentRefused) return { number, fout: pathFault(error.code) }
    throw error
  } finally {
    await stream.return() // waits for a read under way, so that the handle is not closed before it
    closeSync(source.fd)
  }
}

const CHUNK = 256 * 1024
/** What is read at once: handing it to another thread costs more than reading it, and the file was opened on this one as well. */
const SMALL = 64 * 1024

/** The content in chunks. @throws SourceFault when the file changes while it is read */
export async function* bytesOf(source: OpenedSource): AsyncGenerator<Buffer, void> {
  for (let position = 0; position < source.size; ) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, source.size - position))
    const bytesRead = await readAt(source, buffer, position)
    if (bytesRead === 0) throw new SourceFault('file-changed') // it has become shorter
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
  requireUnchanged(source)
}

async function readAt({ fd, size }: OpenedSource, buffer: Buffer, position: number): Promise<number> {
  try {
    if (size <= SMALL) return readSync(fd, buffer, 0, buffer.length, position)
    return (await readElsewhere(fd, buffer, 0, buffer.length, position)).bytesRead
  } catch {
    throw new SourceFault('file-unreadable')
  }
}

const readElsewhere = promisify(read)
