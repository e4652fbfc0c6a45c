// Where the bytes of documents live. The API and the import only know this interface; a backend is an object with these
// functions. The row that makes a document visible is written after `write` has returned, so a crash leaves bytes
// without a row at worst, and `sweep` removes those.

import { createHash, randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Backend } from '../../config/storage.ts'
import { Unavailable } from '../../core/problem.ts'
import { UUID_PATTERN } from '../../lib/uuid.ts'

/** What was written, under which key: blob stores add a suffix to a key that exists, so the one asked for may differ. */
export type StoredBytes = { key: string; size: number; sha256: string }

/**
 * `fresh`: `newKey` just made the key, so that nothing can stand under it and blob stores need not ask. `isKnown`: what is written is in the
 * store already, as parts of an upload.
 */
export type WriteOptions = { signal?: AbortSignal; fresh?: boolean; isKnown?: boolean }

/** What content passes on its way into a store. */
export type Scanner = {
  /** The same bytes. @throws ContentRefused or StoreUnavailable instead of their end */
  scan(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>
  /** @throws StoreUnavailable unless the scanner answers */
  check(): Promise<void>
}

/** Says that a store is ours, and is still there; it is beside the documents. */
export const MARKER = '.zaakstroom'
/** Beside it in a blob store, which cannot add to what stands: whose it is. */
export const OWNER = '.zaakstroom-owner'

export type DiskSpace = { free: number; total: number }

export type Store = {
  backend: Backend
  /** Which store it is: two with the same backend may have other directories or buckets. Holds no secret and no path. */
  identity: string
  /** What content has to pass on its way in; absent when nobody asked for one. */
  scanner?: Scanner
  /**
   * Writes the whole stream. Nothing is visible under the key before all bytes are durable. An error of `bytes` itself
   * (or the reason of an aborted signal) comes out as it is, and then nothing has been stored.
   */
  write(key: string, bytes: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<StoredBytes>
  /**
   * Undefined when there is nothing under the key. `end` is inclusive, `size` is the size of the whole.
   * The caller reads the stream to its end or destroys it: an abandoned one keeps a handle open.
   */
  read(key: string, range?: { start: number; end: number }): Promise<{ size: number; stream: Readable } | undefined>
  /**
   * The same of something small, as a whole; absent where a stream takes no more.
   * @param size how long it should be. Of what is longer no more than a byte too many comes
   */
  readWhole?(key: string, size: number): Promise<Buffer | undefined>
  /** Removing what is absent is no error. */
  remove(key: string): Promise<void>
  /** In no particular order and in flat memory, for sweeps and checks. */
  list(prefix?: string): AsyncIterable<{ key: string; size: number }>
  /** Names what is being written, or was left by a write that was interrupted (temporary files, open multipart uploads). */
  unfinished(): AsyncIterable<string>
  /** Removes what `unfinished` named. */
  removeUnfinished(name: string): Promise<void>
  /** Whose it is, as its mark says (`owner.ts`). Undefined when nobody claimed it. */
  owner(): Promise<string | undefined>
  /** Writes into its mark whose it is; who was first stays. */
  claim(owner: string): Promise<void>
  /** Throws StoreUnavailable unless a write would succeed now. */
  check(): Promise<void>
  /** Bytes of the disk that it is on; absent for a store that has no disk of ours. @throws StoreUnavailable */
  space?(): Promise<DiskSpace>
}

/** How often a store, or the directory of imports, failed in this process, by what it was and the code. Metrics tell it. */
export const storageFaults = new Map<string, { what: string; code: string; count: number }>()

/**
 * The store cannot do its work: not mounted, read-only, full, broken. Never the fault of what was sent, so a request is
 * answered with 503 and a job tries again later. `code` is the errno name or a short word; there is no path in it.
 */
export class StoreUnavailable extends Unavailable {
  override name = 'StoreUnavailable'
  readonly code: string
  readonly wat: string

  constructor(code: string, wat = 'document storage') {
    super(`${wat} is unavailable: ${code}`)
    this.code = code
    this.wat = wat
    const fault = storageFaults.get(this.message) ?? { what: wat, code, count: 0 }
    fault.count++
    storageFaults.set(this.message, fault)
  }
}

/** The `identity` of a store, of what tells it apart from others. */
export function identityOf(backend: Backend, ...parts: (string | undefined)[]): string {
  return `${backend}:${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)}`
}

/** A key of our own making, so that two files of one name never meet. The date keeps directories at a size to walk. */
export function newKey(now = new Date(), id: string = randomUUID()): string {
  return `${now.toISOString().slice(0, 10).replaceAll('-', '/')}/${id}`
}

// The end is open because blob stores may have added a suffix.
const OWN_KEY = new RegExp(`^\\d{4}/\\d{2}/\\d{2}/${UUID_PATTERN}`)

/** Whether a key is one that `newKey` made, perhaps with something behind it. */
export function isOwnKey(key: string): boolean {
  return OWN_KEY.test(key)
}

/**
 * Keys come from our own code or database, so a bad one is a defect and not an answer to a client. A leading dot is
 * refused because backends keep their own administration under such names.
 */
export function requireKey(key: string): void {
  const segments = key.split('/')
  if (
    key.startsWith('.') ||
    Buffer.byteLength(key) > 1024 ||
    /[\p{Cc}\\]/u.test(key) ||
    segments.some((segment) => segment === '' || segment === '.' || segment === '..')
  ) {
    throw new Error('not a storage key')
  }
}

/**
 * Removes bytes that no document knows, and unfinished writes. Only keys made by `newKey` are touched, so a store
 * that also holds other things loses none of them. `ripe` tells which of those that nobody knows may go, as `ripeBytes` does.
 */
export async function sweep(
  store: Store,
  options: {
    known: (keys: string[]) => Promise<Set<string>>
    ripe: (names: string[], unfinished: boolean) => Promise<Set<string>>
    batch?: number
  },
): Promise<{ seen: number; removed: number; unfinished: number }> {
  const { known, ripe, batch = 1000 } = options
  let seen = 0
  let removed = 0
  let candidates: string[] = []
  for await (const { key } of store.list()) {
    seen++
    if (isOwnKey(key)) candidates.push(key)
    if (candidates.length >= batch) await deleteUnknown()
  }
  await deleteUnknown()
  return { seen, removed, unfinished: await removeUnfinished(store, (names) => ripe(names, true)) }

  async function deleteUnknown() {
    if (candidates.length === 0) return
    const kept = await known(candidates)
    const unknown = candidates.filter((key) => !kept.has(key))
    candidates = []
    if (unknown.length === 0) return
    for (const key of await ripe(unknown, false)) {
      await store.remove(key)
      removed++
    }
  }
}

/** Removes those unfinished writes that are ripe, and tells how many. */
export async function removeUnfinished(store: Store, ripe: (names: string[]) => Promise<Set<string>>): Promise<number> {
  const names = await Array.fromAsync(store.unfinished())
  if (names.length === 0) return 0
  const old = await ripe(names)
  for (const name of old) await store.removeUnfinished(name)
  return old.size
}
