// Documents as files in a directory. A file gets its name only when its bytes are on disk:
// temporary file in the same file system -> write -> fsync -> rename -> fsync of the directory.
//
// `<root>/.zaakstroom` proves that the right directory is mounted: an empty mount point looks like an empty store, and
// writing into it would lose documents when the mount comes back. For the same reason nothing here makes the root.
import { createHash, randomUUID } from 'node:crypto'
import {
  close as closeWith,
  fsync as fsyncWith,
  open as openWith,
  read as readWith,
  type Stats,
  write as writeWith,
} from 'node:fs'
import { appendFile, mkdir, open, opendir, readFile, rename, stat, statfs, unlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { abortable } from './blob.ts'
import { identityOf, MARKER, requireKey, type Store, StoreUnavailable } from './index.ts'
import { ownerIn, ownerLine } from './owner.ts'

const TEMP = '.tmp'
const DIR_MODE = 0o750
export const FILE_MODE = 0o640

const MARKER_TEXT = 'Proves that the document storage of Zaakstroom is mounted here. Do not remove.\n'

/**
 * Makes the directory and its marker; harmless when both exist. To be called when a store is set up (no document refers
 * to it yet), and not at every start: that would put a marker into an empty mount point too.
 */
export async function prepareFilesystemStore(root: string): Promise<void> {
  await store(async () => {
    const made = await mkdir(root, { recursive: true, mode: DIR_MODE })
    if (made) await syncDir(path.dirname(made))
    await ifAbsent(() => mkdir(path.join(root, TEMP), DIR_MODE))
    const marker = await ifAbsent(() => open(path.join(root, MARKER), 'wx', FILE_MODE))
    if (!marker) return
    try {
      await marker.writeFile(MARKER_TEXT)
      await marker.sync()
    } finally {
      await marker.close()
    }
    await syncDir(root)
  })
}

/** Works on a root that `prepareFilesystemStore` has made. A key that exists is overwritten, in one step. */
export function filesystemStore(root: string): Store {
  const layout = filesystemLayout(root)

  async function* walk(dir: string): AsyncGenerator<{ key: string; stats: Stats }> {
    const entries = await ifPresent(() => opendir(path.join(root, dir)))
    if (!entries) return
    for await (const entry of entries) {
      // At the top: our own administration, and what a file system keeps in its root.
      if (dir === '' && (entry.name.startsWith('.') || entry.name === 'lost+found')) continue
      const key = path.posix.join(dir, entry.name)
      if (entry.isDirectory()) yield* walk(key)
      else if (entry.isFile()) {
        const stats = await ifPresent(() => stat(path.join(root, key)))
        if (stats) yield { key, stats }
      }
    }
  }

  return {
    backend: 'filesystem',
    identity: identityOf('filesystem', path.resolve(root)),

    async write(key, bytes, { signal } = {}) {
      requireKey(key)
      signal?.throwIfAborted()
      const temp = layout.newTemp()
      const file = await layout.openTemp(temp)
      try {
        const hash = createHash('sha256')
        let size = 0
        try {
          for await (const chunk of abortable(bytes, signal)) {
            hash.update(chunk)
            size += chunk.byteLength
            await store(() => writeWhole(file, chunk))
          }
          await store(() => syncNumber(file))
        } finally {
          closeNumber(file)
        }
        await layout.place([{ temp, key: key }])
        return { key, size, sha256: hash.digest('hex') }
      } catch (error) {
        await unlink(temp).catch(() => {})
        throw error
      }
    },

    async read(key, range) {
      requireKey(key)
      const file = await store(() => ifPresent(() => open(path.join(root, key), 'r')))
      try {
        const stats = file && (await store(() => file.stat()))
        if (file && stats?.isFile()) return { size: stats.size, stream: file.createReadStream(range) }
      } catch (error) {
        await file?.close()
        throw error
      }
      await file?.close()
      await layout.requireMarker() // an absent document, or an absent store?
      return undefined
    },

    // A handle and a stream take twice the CPU for 10 kB.
    async readWhole(key, size) {
      requireKey(key)
      const file = await store(() => ifPresent(() => openNumber(path.join(root, key), 'r')))
      if (file === undefined) {
        await layout.requireMarker()
        return undefined
      }
      try {
        const bytes = Buffer.allocUnsafe(size + 1)
        let length = 0
        let read: number
        do {
          read = await store(() => readNumber(file, bytes, length))
          length += read
        } while (read > 0 && length < size)
        return bytes.subarray(0, length)
      } finally {
        closeNumber(file)
      }
    },

    async remove(key) {
      requireKey(key)
      await layout.requireMarker()
      await store(() => ifPresent(() => unlink(path.join(root, key))))
    },

    async *list(prefix = '') {
      await layout.requireMarker()
      const from = prefix.slice(0, prefix.lastIndexOf('/') + 1)
      if (from !== '') requireKey(from.slice(0, -1))
      try {
        for await (const { key, stats } of walk(from.slice(0, -1))) {
          if (key.startsWith(prefix)) yield { key: key, size: stats.size }
        }
      } catch (error) {
        throw storeFault(error)
      }
    },

    async *unfinished() {
      await layout.requireMarker()
      try {
        for await (const entry of (await ifPresent(() => opendir(path.join(root, TEMP)))) ?? []) {
          if (entry.isFile()) yield entry.name
        }
      } catch (error) {
        throw storeFault(error)
      }
    },

    async removeUnfinished(name) {
      requireKey(name)
      await layout.requireMarker()
      await store(() => ifPresent(() => unlink(path.join(root, TEMP, name))))
    },

    async owner() {
      await layout.requireMarker()
      return ownerIn(await store(() => readFile(path.join(root, MARKER), 'utf8')))
    },

    // Two may come at once: each adds a line, and the first of them counts.
    async claim(owner) {
      await layout.requireMarker()
      await store(() => appendFile(path.join(root, MARKER), ownerLine(owner), { flag: 'a', flush: true }))
    },

    async check() {
      await layout.requireReady()
      const temp = layout.newTemp()
      try {
        await store(async () => {
          const file = await open(temp, 'wx', FILE_MODE)
          try {
            await file.writeFile('check')
            await file.sync()
          } finally {
            await file.close()
          }
        })
      } finally {
        await unlink(temp).catch(() => {})
      }
    },

    async space() {
      const { bavail, blocks, bsize } = await store(() => statfs(root))
      return { free: bavail * bsize, total: blocks * bsize }
    },
  }
}

/** The steps that writing one file from a stream and writing a batch in a thread have in common. */
export function filesystemLayout(root: string) {
  // Directories whose entry is known to be on disk. Seeing one is not enough: another process may have made it a
  // moment ago and not have synced it yet.
  const durable = new Set<string>()

  async function makeDir(dir: string): Promise<void> {
    if (dir === '.') return
    if (!durable.has(dir)) await makeDir(path.posix.dirname(dir))
    try {
      await mkdir(path.join(root, dir), { mode: DIR_MODE })
    } catch (error) {
      if (code(error) === 'EEXIST' && durable.has(dir)) return
      if (code(error) === 'ENOENT' && durable.has(dir)) {
        durable.clear() // an ancestor was removed since we made it
        return makeDir(dir)
      }
      if (code(error) !== 'EEXIST') throw error
    }
    await syncDir(path.join(root, path.posix.dirname(dir)))
    if (durable.size > 1000) durable.clear()
    durable.add(dir)
  }

  async function requireMarker(): Promise<void> {
    try {
      await stat(path.join(root, MARKER))
    } catch (error) {
      throw code(error) === 'ENOENT' ? new StoreUnavailable('marker-missing') : storeFault(error)
    }
  }

  /** What a write needs: the right directory, and a place for temporary files. */
  async function requireReady(): Promise<void> {
    await requireMarker()
    await store(() => ifAbsent(() => mkdir(path.join(root, TEMP), DIR_MODE)))
  }

  // Syncs of directories that are under way, and the one to follow. Whoever comes meanwhile needs one that begins later, and
  // shares it with all who came by then.
  const syncs = new Map<string, { done: Promise<void>; next?: Promise<void> }>()

  function sharedSync(dir: string): Promise<void> {
    const under = syncs.get(dir)
    if (under?.next) return under.next
    const begin = () => {
      const own = {
        done: syncDir(path.join(root, dir)).finally(() => {
          if (syncs.get(dir) === own) syncs.delete(dir)
        }),
      }
      syncs.set(dir, own)
      return own.done
    }
    if (!under) return begin()
    under.next = under.done.then(begin, begin)
    return under.next
  }

  return {
    requireMarker,

    /**
     * The number of a new temporary file. The place for these stands for the marker, which `place` looks for again: it is made where
     * the marker is, and nowhere else.
     */
    openTemp: async (temp: string): Promise<number> => {
      const file = await store(() => ifPresent(() => openNumber(temp, 'wx', FILE_MODE)))
      if (file !== undefined) return file
      await requireReady()
      return store(() => openNumber(temp, 'wx', FILE_MODE))
    },

    requireReady,

    newTemp: () => path.join(root, TEMP, randomUUID()),

    /**
     * Gives synced temporary files their names; returns when those names are durable too, and lie where the marker is: a file
     * system that is mounted over the store meanwhile takes them, and takes them along when it goes.
     * @param move a thread of its own renames many without a promise for each, which takes less than half the CPU
     */
    async place(
      files: { temp: string; key: string }[],
      move: (from: string, to: string) => Promise<void> | void = rename,
    ): Promise<void> {
      const dirs = new Set(files.map(({ key }) => path.posix.dirname(key)))
      await store(async () => {
        for (const dir of dirs) if (!durable.has(dir)) await makeDir(dir)
        for (const { temp, key } of files) {
          const name = path.join(root, key)
          try {
            await move(temp, name)
          } catch (error) {
            if (code(error) !== 'ENOENT') throw error
            await makeDir(path.posix.dirname(key)) // it was removed since we made it
            await move(temp, name)
          }
        }
        for (const dir of dirs) await sharedSync(dir)
      })
      await requireMarker()
    },
  }
}

// Files by their numbers: with handles of Node a write of 10 kB takes more CPU.
const openNumber = promisify(openWith) as (name: string, flags: string, mode?: number) => Promise<number>
const syncNumber = promisify(fsyncWith)

/** Closes a file of which all has been read, or has been synced: an error says nothing more, and nobody waits. */
const closeNumber = (file: number): void => closeWith(file, () => {})

const readNumber = (file: number, bytes: Buffer, from: number): Promise<number> =>
  new Promise((resolve, reject) =>
    readWith(file, bytes, from, bytes.byteLength - from, from, (error, count) =>
      error ? reject(error) : resolve(count),
    ),
  )

/** One call may write a part. */
const writeWhole = (file: number, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) =>
    writeWith(file, bytes, (error, count) => {
      if (error) reject(error)
      else if (count === bytes.byteLength) resolve()
      else writeWhole(file, bytes.subarray(count)).then(resolve, reject)
    }),
  )

/** Any error of the operating system on our own directory means that the store cannot work; its path stays inside. */
export function storeFault(error: unknown): unknown {
  return error instanceof Error && 'syscall' in error ? new StoreUnavailable(code(error) ?? 'unknown') : error
}

async function store<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storeFault(error)
  }
}

async function ifPresent<T>(work: () => Promise<T>): Promise<T | undefined> {
  return work().catch((error) => {
    if (code(error) !== 'ENOENT' && code(error) !== 'ENOTDIR') throw error
    return undefined
  })
}

async function ifAbsent<T>(work: () => Promise<T>): Promise<T | undefined> {
  return work().catch((error) => {
    if (code(error) !== 'EEXIST') throw error
    return undefined
  })
}

function code(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}

async function syncDir(dir: string): Promise<void> {
  if (process.platform === 'win32') return // cannot open a directory, and has no need to
  const number = await openNumber(dir, 'r')
  try {
    await syncNumber(number)
  } finally {
    closeNumber(number)
  }
}
