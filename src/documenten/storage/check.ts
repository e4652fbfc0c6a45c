// Holding the stores against the database: bytes without documents, documents without bytes, and bytes that have changed.
// What a store holds is written into a temporary table, so that the database compares, and memory stays flat.
import type postgres from 'postgres'
import type { Backend } from '../../config/storage.ts'
import type { Database } from '../../database/database.ts'
import { lastOf, one } from '../../database/rows.ts'
import { searchPathOf } from '../../database/schema.ts'
import { requireSession } from '../../database/session.ts'
import type { Stores } from './choose.ts'
import { forgetOthers, GRACE, neededKeys, ripeBytes, usedBackends } from './files.ts'
import { isOwnKey, removeUnfinished, type Store } from './index.ts'
import { checksumOf, hasChecksum, inParallel } from './migrate.ts'
import { claimStore, requireOwnStore } from './owner.ts'

/**
 * `orphan`: bytes of ours without a document. `missing`: a document without bytes. `size` and `damaged`: bytes that are not
 * those of the document. Whatever is not named like one of our keys is left alone and only counted.
 */
export type Finding = {
  kind: 'orphan' | 'missing' | 'size' | 'damaged'
  backend: Backend
  key: string
  repaired: boolean
}
export type CheckResult = {
  documents: number
  stored: number
  foreign: number
  /** Bytes without a document that were first noted less than a day ago, or while an import runs: their document may still come. */
  recent: number
  /** Left over from interrupted writes, and removed. */
  unfinished: number
  found: number
  repaired: number
  /** Of what was repaired: bytes without a document that were removed, and documents that now use a copy in another store. */
  removed: number
  relinked: number
  /** Documents without bytes that the pages warn of from now on, and those they no longer warn of because the bytes are back. */
  noted: number
  back: number
  /** Stores where nothing was removed, because most of what they hold has no document: perhaps it is the wrong database. */
  refused: Backend[]
}
export type CheckOptions = {
  repair?: boolean | undefined
  verify?: boolean | undefined
  /** Remove bytes without a document also where they are most of what a store holds. */
  removeMost?: boolean | undefined
  report?: (finding: Finding) => void
  progress?: (so: CheckResult) => void
}
type Parts = Stores & { database: Database }
type FileRow = { id: number; key: string; size: number; sha256: Buffer | null }

const PAGE = 1000
const AT_ONCE = 4
const FEW = 100 // as many orphans are removed whatever else is there

/**
 * Changes nothing unless `repair` is set, but for the checksum of bytes that had none. Bytes without a document go a day after a run
 * that repairs, or the clean-up, first noted them. Repairing never touches a document, never
 * writes bytes and removes none that a row names.
 * @throws StoreUnavailable when a store is away: nothing is said about its documents then
 * @throws ForeignStore for what is another installation's
 * @throws SessionFault when sessions read otherwise than they should: nothing is said at all
 */
export async function checkStorage(parts: Parts, options: CheckOptions = {}): Promise<CheckResult> {
  const so: CheckResult = {
    documents: 0,
    stored: 0,
    foreign: 0,
    recent: 0,
    unfinished: 0,
    found: 0,
    repaired: 0,
    removed: 0,
    relinked: 0,
    noted: 0,
    back: 0,
    refused: [],
  }
  // Read otherwise than written, every checksum would be wrong.
  const { sql, url } = parts.database
  await requireSession((text, names) => sql.unsafe(text, [names]), 'the database', searchPathOf(url))
  for (const backend of await usedBackends(parts)) {
    await (options.repair ? claimStore : requireOwnStore)(sql, parts.storeFor(backend))
    const connection = await parts.database.sql.reserve()
    try {
      await checkBackend({ ...parts, connection, backend, options, so })
    } finally {
      await connection`drop table if exists pg_temp.present`.catch(() => {})
      await connection`reset statement_timeout`.catch(() => {})
      connection.release()
    }
  }
  return so
}

type Check = Parts & {
  connection: postgres.ReservedSql
  backend: Backend
  options: CheckOptions
  so: CheckResult
}

async function checkBackend(check: Check): Promise<void> {
  const { connection, options, so } = check
  const store = check.storeFor(check.backend)
  await connection`set statement_timeout = 0`
  await connection`
    create temporary table present (
      key text primary key, size bigint not null, own boolean not null)`
  const begin = one(await connection<{ op: string }[]>`select now() as op`)
  for await (const page of pages(store.list(), PAGE)) {
    const own = page.map(({ key }) => isOwnKey(key))
    so.stored += page.length
    so.foreign += own.filter((is) => !is).length
    await connection`
      insert into present select * from unnest(
        ${page.map(({ key }) => key)}::text[], ${page.map(({ size }) => size)}::bigint[], ${own.map(String)}::text[]::boolean[])
      on conflict do nothing`
    options.progress?.(so)
  }
  await connection`analyze present`
  await checkOrphans(check, store)
  if (options.repair) {
    const { sql } = check.database
    so.unfinished += await removeUnfinished(store, (names) =>
      ripeBytes(sql, check.backend, names, { unfinished: true }),
    )
    await forgetOthers(sql, check.backend, begin.op)
  }
  await checkDocuments(check, store, begin.op)
}

async function checkOrphans(check: Check, store: Store): Promise<void> {
  const { connection, backend, options, so } = check
  const orphan = connection`a.own and not exists (select from file b where b.backend = ${backend} and b.key = a.key)`
  let removes = options.repair === true
  if (removes) {
    for (let after = ''; ; ) {
      const page = await connection<{ key: string }[]>`
        select a.key from present a where a.key > ${after} and ${orphan} order by a.key limit ${PAGE}`
      if (page.length === 0) break
      after = lastOf(page).key
      await ripeBytes(
        connection,
        backend,
        page.map(({ key }) => key),
      )
    }
  }
  if (removes && !options.removeMost) {
    const row = one(
      await connection<{ orphans: number; own: number }[]>`
      select count(*) filter (where ${orphan} and exists (select from stray_file z where z.backend = ${backend}
          and z.name = a.key and not z.unfinished and z.seen_at < now() - ${GRACE}::interval)) as orphans,
        count(*) filter (where a.own) as own
      from present a`,
    )
    removes = row.orphans <= FEW || row.orphans * 2 <= row.own
    if (!removes) so.refused.push(backend)
  }
  for (let after = ''; ; ) {
    const page = await connection<{ key: string }[]>`
      select a.key from present a
      where a.key > ${after} and ${orphan} order by a.key limit ${PAGE}`
    if (page.length === 0) return
    after = lastOf(page).key
    // A document may have come, and bytes that a moved document has left are removed by a job of their own.
    const keys = page.map(({ key }) => key)
    const ripe = await ripeBytes(check.database.sql, backend, keys, { notes: false })
    const needed = await neededKeys(check.database.sql, check.storeFor, backend, keys)
    await inParallel([...page], AT_ONCE, async ({ key }) => {
      if (needed.has(key)) return
      if (!ripe.has(key)) {
        so.recent++
        return
      }
      if (removes) {
        await store.remove(key)
        so.removed++
      }
      found(check, 'orphan', key, removes)
    })
    options.progress?.(so)
  }
}

async function checkDocuments(check: Check, store: Store, begin: string): Promise<void> {
  const { connection, backend, options, so } = check
  const { sql } = check.database
  for (let after = 0; ; ) {
    // Younger documents were not there yet when the list was made.
    const page = await connection<(FileRow & { gevonden: number | null; vermist: boolean })[]>`
      select b.id, b.key, b.size, b.sha256, b.missing_since is not null as vermist, a.size as gevonden
      from file b left join present a on a.key = b.key
      where b.id > ${after} and b.backend = ${backend} and b.created_at < ${begin} order by b.id limit ${PAGE}`
    if (page.length === 0) return
    after = lastOf(page).id
    const missing: number[] = []
    const back: number[] = []
    await inParallel([...page], AT_ONCE, async (file) => {
      so.documents++
      const suspect = file.gevonden !== file.size
      const kind =
        suspect || options.verify ? await faultOf(check.database, store, file, options.verify === true) : undefined
      if (!kind) {
        if (file.vermist) back.push(file.id)
        return
      }
      // It may have been deleted or moved since.
      if (!(await isNeeded(check.database, backend, file))) return
      const relinked = options.repair === true && (await useCopy(check, backend, file))
      if (relinked) so.relinked++
      else if (kind === 'missing') missing.push(file.id)
      found(check, kind, file.key, relinked)
    })
    if (options.repair && missing.length + back.length > 0) {
      const noted = await sql`
        update file set missing_since = now() where id = any(${missing}::bigint[]) and missing_since is null`
      await sql`update file set missing_since = null where id = any(${back}::bigint[])`
      so.noted += noted.count
      so.back += back.length
    }
    options.progress?.(so)
  }
}

function found({ backend, options, so }: Check, kind: Finding['kind'], key: string, repaired: boolean): void {
  so.found++
  if (repaired) so.repaired++
  options.report?.({ kind, backend, key, repaired })
}

/** Bytes that were taken over as they lie get their checksum the first time that they are read. */
async function faultOf({ sql }: Database, store: Store, { id, key, size, sha256 }: FileRow, verify: boolean) {
  const there = await store.read(key)
  there?.stream.destroy()
  if (!there) return 'missing'
  if (there.size !== size) return 'size'
  if (!verify) return undefined
  if (sha256) return (await hasChecksum(store, key, sha256)) ? undefined : 'damaged'
  const checksum = await checksumOf(store, key)
  if (checksum) await sql`update file set sha256 = ${checksum} where id = ${id} and key = ${key} and sha256 is null`
  return checksum ? undefined : 'missing'
}

/** Whether the row is there and a document names it: of one that was deleted only a job may have to remove the rest. */
async function isNeeded({ sql }: Database, backend: Backend, { id, key }: FileRow): Promise<boolean> {
  const rows = await sql`
    select from file b where b.id = ${id} and b.backend = ${backend} and b.key = ${key}
      and (exists (select from enkelvoudiginformatieobject_versie v where v.file_id = b.id)
        or exists (select from bestandsdeel d where d.file_id = b.id))`
  return rows.length > 0
}

/** A document that was moved, or restored from a copy, may have its bytes under the same key in another store. */
async function useCopy(parts: Parts, backend: Backend, { id, key, sha256 }: FileRow): Promise<boolean> {
  for (const other of await usedBackends(parts)) {
    if (other === backend || !sha256 || !(await hasChecksum(parts.storeFor(other), key, sha256))) continue
    const rows = await parts.database.sql<{ id: number }[]>`
      update file b set backend = ${other}, missing_since = null
      where id = ${id} and backend = ${backend} and key = ${key}
        and not exists (select from file o where o.backend = ${other} and o.key = ${key})
      returning id`
    if (rows.length > 0) return true
  }
  return false
}

async function* pages<T>(all: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let page: T[] = []
  for await (const one of all) {
    page.push(one)
    if (page.length < size) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}
