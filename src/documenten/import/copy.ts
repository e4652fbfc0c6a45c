// The file work of an import batch: from the import directory to storage, with size and checksums. A row whose file is
// at fault gets a refusal; a store at fault rejects the whole call, because no row is to blame for it.
import { closeSync, read } from 'node:fs'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { type Store, StoreUnavailable } from '../storage/index.ts'
import { type Bronbestand, beneath, type Geweigerd, type PathFault } from './bestandspad.ts'
import type { Antwoord, Opdracht, Plaatsing, Threaddata } from './copy-messages.ts'
import { Bronfout, type Copied, checksumOf, requireUnchanged, type TeKopieren } from './source-file.ts'

// ---- the filesystem backend: threads ----

// Measured with 4 KB files on ext4 with two cores: a second thread writes during the syncs of the first, more add little.
const THREADS = 2
// Small enough to spread a batch over the threads, large enough to sync in groups.
const GROUP = 64

type Oproep = { failed: boolean }
type Taak = { opdracht: Opdracht; oproep: Oproep; resolve(antwoord: Antwoord): void; reject(error: Error): void }

/**
 * Copies files into a filesystem store. Nothing of a call is visible before all its files are on disk, and a call that
 * is rejected leaves nothing but, after a crash, temporary files. Results come in the order of the files.
 *
 * @throws (from `kopieer`) StoreUnavailable for faults of the store or the import directory
 */
export function copyPool(options: { baseDir: string; opslagRoot: string; threads?: number }): {
  kopieer(bestanden: TeKopieren[]): Promise<Copied[]>
  stop(): Promise<void>
} {
  const { baseDir, opslagRoot, threads = THREADS } = options
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const waiting: Taak[] = []
  const busy = new Map<Worker, Taak>()
  const idle = new Set<Worker>()
  let stopping: PromiseWithResolvers<void> | undefined

  function run(oproep: Oproep, opdracht: Opdracht): Promise<Antwoord> {
    return new Promise<Antwoord>((resolve, reject) => {
      waiting.push({ opdracht, oproep, resolve, reject })
      next()
    })
  }

  function next(): void {
    while (waiting.length > 0) {
      if (stopping || waiting[0]!.oproep.failed) {
        waiting.shift()!.reject(new Error('copying was stopped'))
        continue
      }
      if (idle.size === 0 && busy.size >= threads) return
      const worker = idle.values().next().value ?? startThread()
      const taak = waiting.shift()!
      idle.delete(worker)
      busy.set(worker, taak)
      worker.ref()
      worker.postMessage(taak.opdracht)
    }
    if (busy.size === 0) stopping?.resolve()
  }

  function startThread(): Worker {
    const workerData: Threaddata = { baseDir, opslagRoot, stop }
    // Without the flags of the process: some of them (--input-type, -e) do not go with a file to run.
    const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 } // it only moves buffers
    const worker = new Worker(new URL('./copy-thread.ts', import.meta.url), {
      workerData,
      execArgv: [],
      resourceLimits,
    })
    worker.on('message', (antwoord: Antwoord) => {
      const taak = busy.get(worker)!
      busy.delete(worker)
      idle.add(worker)
      worker.unref() // a thread that waits does not keep the process
      if (!('resultaten' in antwoord)) taak.oproep.failed = true // its other groups need not start
      taak.resolve(antwoord)
      next()
    })
    worker.on('error', (error) => lost(worker, error))
    worker.on('exit', () => lost(worker))
    return worker
  }

  /** A thread has died. Its call fails; the next task starts a new thread. */
  function lost(worker: Worker, cause?: unknown): void {
    const taak = busy.get(worker)
    busy.delete(worker)
    idle.delete(worker)
    if (taak) {
      taak.oproep.failed = true
      taak.reject(new Error('the thread that copied files has ended', { cause }))
    }
    next()
  }

  return {
    async kopieer(bestanden) {
      const oproep = { failed: false }
      const plaats: Plaatsing[] = []
      const copyGroup = async (kopieer: TeKopieren[]) => {
        const { resultaten, plaatsingen } = done(await run(oproep, { kopieer }))
        plaats.push(...plaatsingen)
        return resultaten
      }
      try {
        const groups: Promise<Copied[]>[] = []
        for (let i = 0; i < bestanden.length; i += GROUP) {
          groups.push(copyGroup(bestanden.slice(i, i + GROUP)))
        }
        const settled = await Promise.allSettled(groups) // all: nothing of this call runs on after it was rejected
        const resultaten = settled.flatMap((group) => (group.status === 'fulfilled' ? group.value : []))
        for (const group of settled) if (group.status === 'rejected') throw group.reason
        if (plaats.length > 0) done(await run(oproep, { plaats }))
        return resultaten
      } catch (error) {
        // What cannot be removed now is left to the sweep. A target may be there already; it is not known to be ours alone.
        await Promise.all(plaats.map(({ temp }) => rm(temp, { force: true }).catch(() => {})))
        throw error
      }
    },

    /** Running calls are rejected after the chunk they are at, and leave nothing behind. */
    async stop() {
      stopping ??= Promise.withResolvers<void>()
      Atomics.store(stop, 0, 1)
      next()
      await stopping.promise
      await Promise.all([...idle].map((worker) => worker.terminate()))
    },
  }
}

function done(antwoord: Antwoord): { resultaten: Copied[]; plaatsingen: Plaatsing[] } {
  if ('gestopt' in antwoord) throw new Error('copying was stopped')
  if ('onbeschikbaar' in antwoord) throw new StoreUnavailable(antwoord.onbeschikbaar, antwoord.wat)
  return antwoord
}

// ---- any other backend: streams ----

/**
 * The same through `opslag.write`, on this thread. Files written by a call that is rejected stay until the sweep: the
 * keys are not known to be this call's alone.
 */
export async function copyToStore(
  store: Store,
  baseDir: string,
  bestanden: TeKopieren[],
  options: { concurrency?: number; signal?: AbortSignal } = {},
): Promise<Copied[]> {
  const { concurrency = 4, signal } = options
  const source = beneath(baseDir)
  const failed = new AbortController()
  const either = AbortSignal.any(signal ? [failed.signal, signal] : [failed.signal])
  const resultaten: Copied[] = []
  const queue = bestanden.entries()

  async function work() {
    for (const [index, bestand] of queue) {
      either.throwIfAborted()
      resultaten[index] = await copyThrough(store, source.open(bestand.bestandspad), bestand, either)
    }
  }

  try {
    await Promise.all(Array.from({ length: concurrency }, () => work().catch((error) => failed.abort(error))))
    failed.signal.throwIfAborted()
    return resultaten
  } finally {
    source.close()
  }
}

async function copyThrough(
  store: Store,
  source: Bronbestand | Geweigerd,
  { nummer, sleutel, algoritme }: TeKopieren,
  signal: AbortSignal,
): Promise<Copied> {
  if ('fout' in source) return { nummer, fout: source.fout }
  const controle = checksumOf(algoritme)
  let fout: PathFault | undefined // kept here as well, because a backend may wrap the error of its source

  async function* bytes() {
    try {
      for await (const chunk of bytesOf(source as Bronbestand)) {
        controle?.update(chunk)
        yield chunk
      }
    } catch (error) {
      if (error instanceof Bronfout) fout = error.fout
      throw error
    }
  }

  const stream = bytes()
  try {
    const written = await store.write(sleutel, stream, { signal })
    return { nummer, ...written, ...(controle && { controle: controle.digest() }) }
  } catch (error) {
    if (fout) return { nummer, fout }
    throw error
  } finally {
    await stream.return() // waits for a read under way, so that the handle is not closed before it
    closeSync(source.fd)
  }
}

const CHUNK = 256 * 1024

export async function* bytesOf(source: Bronbestand): AsyncGenerator<Buffer, void> {
  for (let position = 0; position < source.size; ) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, source.size - position))
    const { bytesRead } = await readAt(source.fd, buffer, 0, buffer.length, position).catch(() => {
      throw new Bronfout('file-unreadable')
    })
    if (bytesRead === 0) throw new Bronfout('file-changed') // it has become shorter
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
  requireUnchanged(source)
}

const readAt = promisify(read)
