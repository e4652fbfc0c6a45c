// The thread behind `copyPool`: copies a group of source files with synchronous calls, which are cheaper than
// promises and block nobody here. The group is written first and synced after that: a file system then writes its
// journal fewer times than with a sync right after each file. Files get their names by a second message, when all
// groups of the call have succeeded.
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { FILE_MODE, filesystemLayout, storeFault } from '../storage/filesystem.ts'
import { requireKey, StoreUnavailable } from '../storage/index.ts'
import { type Bronbestand, beneath } from './bestandspad.ts'
import type { Antwoord, Opdracht, Plaatsing, Threaddata } from './copy-messages.ts'
import { Bronfout, type Copied, checksumOf, requireUnchanged, type TeKopieren } from './source-file.ts'

const CHUNK = 1024 * 1024

class Gestopt extends Error {}

if (parentPort) serve(parentPort, workerData as Threaddata)

function serve(port: MessagePort, { baseDir, opslagRoot, stop }: Threaddata): void {
  const layout = filesystemLayout(opslagRoot)
  const buffer = Buffer.allocUnsafeSlow(CHUNK)

  // What `asAnswer` does not know is a defect: it ends this thread, and the pool goes on with a clean one.
  port.on('message', async (opdracht: Opdracht) => port.postMessage(await handle(opdracht).catch(asAnswer)))

  async function handle(opdracht: Opdracht): Promise<Antwoord> {
    if ('kopieer' in opdracht) return copyGroup(opdracht.kopieer)
    await layout.place(opdracht.plaats)
    return { resultaten: [], plaatsingen: [] }
  }

  async function copyGroup(bestanden: TeKopieren[]): Promise<Antwoord> {
    await layout.requireReady()
    const source = beneath(baseDir)
    const resultaten: Copied[] = []
    const plaatsingen: Plaatsing[] = []
    const targets: number[] = []
    try {
      for (const bestand of bestanden) resultaten.push(copyOne(bestand))
      for (const target of targets) fsyncSync(target)
      return { resultaten, plaatsingen }
    } catch (error) {
      removeTemps(plaatsingen)
      throw error
    } finally {
      targets.forEach(close)
      source.close()
    }

    function copyOne({ nummer, bestandspad, sleutel, algoritme }: TeKopieren): Copied {
      requireKey(sleutel)
      const opened = source.open(bestandspad)
      if ('fout' in opened) return { nummer, fout: opened.fout }
      const temp = layout.newTemp()
      try {
        const target = openSync(temp, 'wx', FILE_MODE)
        targets.push(target)
        plaatsingen.push({ temp, sleutel })
        return { nummer, sleutel, omvang: opened.size, ...copyBytes(opened, target, algoritme) }
      } catch (error) {
        if (!(error instanceof Bronfout)) throw error
        removeTemps(plaatsingen.splice(-1))
        return { nummer, fout: error.fout }
      } finally {
        close(opened.fd)
      }
    }
  }

  function readAt(fd: number, length: number, position: number): number {
    try {
      return readSync(fd, buffer, 0, length, position)
    } catch {
      throw new Bronfout('file-unreadable')
    }
  }

  /** Copies exactly as many bytes as the file had when it was opened. */
  function copyBytes(source: Bronbestand, target: number, algoritme?: string) {
    const sha256 = createHash('sha256')
    const controle = checksumOf(algoritme)
    for (let position = 0; position < source.size; ) {
      if (Atomics.load(stop, 0) === 1) throw new Gestopt()
      const wanted = Math.min(CHUNK, source.size - position)
      const bytes = buffer.subarray(0, readAt(source.fd, wanted, position))
      if (bytes.length === 0) throw new Bronfout('file-changed') // it has become shorter
      sha256.update(bytes)
      controle?.update(bytes)
      for (let written = 0; written < bytes.length; ) written += writeSync(target, bytes, written)
      position += bytes.length
    }
    requireUnchanged(source)
    return { sha256: sha256.digest('hex'), ...(controle && { controle: controle.digest() }) }
  }
}

function asAnswer(error: unknown): Antwoord {
  if (error instanceof Gestopt) return { gestopt: true }
  const fault = storeFault(error)
  if (fault instanceof StoreUnavailable) return { onbeschikbaar: fault.code, wat: fault.wat }
  throw error
}

/** What cannot be removed now is left to the sweep; the first error is the one to tell. */
function removeTemps(plaatsingen: Plaatsing[]): void {
  for (const { temp } of plaatsingen) {
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
