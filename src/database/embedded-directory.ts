// The data directory of the embedded database: who holds it, and what is noted there for commands that run beside it.
import { chown, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRoot } from './embedded-programs.ts'

type Details = { pid?: number; port?: number; password?: string }
export type Paths = { dataDir: string; cluster: string; details: string; lock: string }

/** Another living process uses the data directory. */
export class DataDirHeld extends Error {
  override name = 'DataDirHeld'
  readonly pid: number | undefined
  constructor(pid: number | undefined) {
    super(
      `the data directory is in use by ${pid ? `process ${pid}` : 'another process'}: stop that, or set another DATA_DIR`,
    )
    this.pid = pid
  }
}

/** Where things are in a data directory, whether they are there or not. */
export function pathsOf(dataDir: string): Paths {
  return {
    dataDir,
    cluster: join(dataDir, 'postgres'),
    details: join(dataDir, 'postgres.json'),
    lock: join(dataDir, 'postgres.lock'),
  }
}

// The lock. Node cannot lock files, but SQLite, which is part of Node, does: an exclusive transaction on an otherwise empty
// database is a lock of the operating system, which is gone when its process is, however that ends. A file with a process
// id would have to be judged (is that process the same one, and in which container?) and taken over without a race.

const locks = new Set<DatabaseSync>() // a connection that is garbage collected loses its lock

/**
 * Takes the lock of a data directory until `releaseLock` or the end of the process.
 * @throws DataDirHeld when another process keeps it for a second
 */
export async function takeLock(paths: Paths): Promise<DatabaseSync> {
  const lock = new DatabaseSync(paths.lock)
  try {
    await keepOwner(paths, paths.lock)
    // More than one try: `isLocked` of another process takes the lock for a moment.
    for (let tries = 20; ; tries--) {
      try {
        lock.exec('pragma journal_mode = memory; begin exclusive')
        locks.add(lock)
        return lock
      } catch (error) {
        if (!isBusy(error)) throw error
        if (tries === 0) throw new DataDirHeld((await readDetails(paths)).pid)
        await sleep(50)
      }
    }
  } catch (error) {
    lock.close()
    throw error
  }
}

/** Lets the next process take the lock. Releasing it twice is harmless. */
export function releaseLock(lock: DatabaseSync): void {
  if (locks.delete(lock)) lock.close()
}

/** Whether a process holds the lock, this one included; asking takes a shared one for a moment. */
export async function isLocked(paths: Paths): Promise<boolean> {
  if (!(await exists(paths.lock))) return false
  const lock = new DatabaseSync(paths.lock, { readOnly: true })
  try {
    lock.exec('select 1 from sqlite_schema')
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    lock.close()
  }
}

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5 // SQLITE_BUSY
}

/** What the last start kept of the cluster; empty when there is no file, or no whole one. */
export async function readDetails(paths: Paths): Promise<Details> {
  try {
    return JSON.parse(await readFile(paths.details, 'utf8')) as Details
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return {} // a new password is set then
    throw error
  }
}

/** Replaces the file as a whole, on the disk before it returns: it holds a password, so nobody else may read it. */
export async function writeDetails(paths: Paths, details: Details): Promise<void> {
  const temporary = `${paths.details}.new`
  await rm(temporary, { force: true })
  await writeFile(temporary, `${JSON.stringify(details)}\n`, { mode: 0o600, flush: true })
  await keepOwner(paths, temporary)
  await rename(temporary, paths.details)
  await syncDirectory(paths.dataDir)
}

/** Files that root makes in the directory of an ordinary user stay usable for that user. */
async function keepOwner(paths: Paths, file: string): Promise<void> {
  if (!isRoot()) return
  const { uid, gid } = await stat(paths.dataDir)
  await chown(file, uid, gid)
}

/** @throws when that cannot be told, such as without the right to look */
export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

/** Waits until names that were made or renamed in it are on the disk. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
