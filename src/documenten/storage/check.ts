// Holding the stores against the database: bytes without documents, documents without bytes, and bytes that have changed.
// What a store holds is written into a temporary table, so that the database compares, and memory stays flat.
import type postgres from 'postgres'
import type { Database } from '../../database/database.ts'
import type { Stores } from './choose.ts'
import { GRACE_MS, neededKeys, usedBackends } from './files.ts'
import { type Backend, isOwnKey, type Store } from './index.ts'
import { checksumOf, hasChecksum, inParallel } from './migrate.ts'

/**
 * `orphan`: bytes of ours without a document. `missing`: a document without bytes. `size` and `damaged`: bytes that are not
 * those of the document. Whatever is not named like one of our keys is left alone and only counted.
 */
export type Finding = {
  kind: 'orphan' | 'missing' | 'size' | 'damaged'
  backend: Backend
  sleutel: string
  repaired: boolean
}
export type CheckResult = {
  documents: number
  stored: number
  foreign: number
  /** Bytes without a document that are younger than a day: their document may still come. */
  recent: number
  /** Left over from interrupted writes, and removed. */
  unfinished: number
  found: number
  repaired: number
}
export type CheckOptions = {
  repair?: boolean | undefined
  verify?: boolean | undefined
  report?: (bevinding: Finding) => void
  progress?: (so: CheckResult) => void
}
type Parts = Stores & { database: Database }
type Bestand = { id: number; sleutel: string; omvang: number; sha256: Buffer | null }

const PAGE = 1000
const VERIFY_AT_ONCE = 4

/** @throws StoreUnavailable when a store is away: nothing is said about its documents then */
export async function checkStorage(parts: Parts, options: CheckOptions = {}): Promise<CheckResult> {
  const so: CheckResult = { documents: 0, stored: 0, foreign: 0, recent: 0, unfinished: 0, found: 0, repaired: 0 }
  for (const backend of await usedBackends(parts)) {
    const connection = await parts.database.sql.reserve()
    try {
      await checkBackend(parts, connection, backend, options, so)
    } finally {
      await connection`drop table if exists pg_temp.aanwezig`.catch(() => {})
      await connection`reset statement_timeout`.catch(() => {})
      connection.release()
    }
  }
  return so
}

async function checkBackend(
  parts: Parts,
  connection: postgres.ReservedSql,
  backend: Backend,
  options: CheckOptions,
  so: CheckResult,
): Promise<void> {
  const store = parts.storeFor(backend)
  const old = new Date(Date.now() - GRACE_MS)
  const found = (kind: Finding['kind'], sleutel: string, repaired = false) => {
    so.found++
    if (repaired) so.repaired++
    options.report?.({ kind, backend, sleutel, repaired })
  }
  await connection`set statement_timeout = 0`
  await connection`create temporary table aanwezig (sleutel text primary key, omvang bigint not null, gewijzigd timestamptz not null)`
  const [begin] = await connection<{ op: string }[]>`select now() as op`
  for await (const page of pages(store.list(), PAGE)) {
    const ours = page.filter(({ sleutel }) => isOwnKey(sleutel))
    so.stored += page.length
    so.foreign += page.length - ours.length
    await connection`
      insert into aanwezig select * from unnest(
        ${page.map(({ sleutel }) => sleutel)}::text[], ${page.map(({ omvang }) => omvang)}::bigint[],
        ${page.map(({ gewijzigd }) => gewijzigd.toISOString())}::timestamptz[])
      on conflict do nothing`
    options.progress?.(so)
  }
  await connection`analyze aanwezig`

  const orphans = connection<{ sleutel: string; gewijzigd: string }[]>`
    select sleutel, gewijzigd from aanwezig a
    where not exists (select from bestand b where b.backend = ${backend} and b.sleutel = a.sleutel)`
  for await (const page of orphans.cursor(PAGE)) {
    const candidates = page.filter(({ sleutel }) => isOwnKey(sleutel))
    // A document may have come, and bytes that a moved document has left are removed by a job of their own.
    const needed = await neededKeys(
      parts.database.sql,
      backend,
      candidates.map(({ sleutel }) => sleutel),
    )
    for (const { sleutel, gewijzigd } of candidates) {
      if (needed.has(sleutel)) continue
      if (new Date(gewijzigd) >= old) so.recent++
      else {
        if (options.repair) await store.remove(sleutel)
        found('orphan', sleutel, options.repair)
      }
    }
  }
  if (options.repair) so.unfinished += await store.removeUnfinished(old)

  for (let after = 0; ; ) {
    // Younger documents were not there yet when the list was made.
    const page = await connection<(Bestand & { gevonden: number | null })[]>`
      select b.id, b.sleutel, b.omvang, b.sha256, a.omvang as gevonden
      from bestand b left join aanwezig a on a.sleutel = b.sleutel
      where b.id > ${after} and b.backend = ${backend} and b.gemaakt_op < ${begin!.op} order by b.id limit ${PAGE}`
    if (page.length === 0) return
    after = page.at(-1)!.id
    await inParallel([...page], VERIFY_AT_ONCE, async (bestand) => {
      so.documents++
      const suspect = bestand.gevonden !== bestand.omvang
      if (!suspect && !options.verify) return
      const kind = await faultOf(parts.database, store, bestand, options.verify === true)
      // It may have been deleted or moved since.
      if (!kind || !(await isStillThere(parts.database, backend, bestand))) return
      found(kind, bestand.sleutel, options.repair && (await restore(parts, backend, bestand)))
    })
    options.progress?.(so)
  }
}

/** Bytes that were taken over as they lie get their checksum the first time that they are read. */
async function faultOf({ sql }: Database, store: Store, { id, sleutel, omvang, sha256 }: Bestand, verify: boolean) {
  const there = await store.read(sleutel)
  there?.stream.destroy()
  if (!there) return 'missing'
  if (there.omvang !== omvang) return 'size'
  if (!verify) return undefined
  if (sha256) return (await hasChecksum(store, sleutel, sha256)) ? undefined : 'damaged'
  const checksum = await checksumOf(store, sleutel)
  if (checksum)
    await sql`update bestand set sha256 = ${checksum} where id = ${id} and sleutel = ${sleutel} and sha256 is null`
  return checksum ? undefined : 'missing'
}

async function isStillThere({ sql }: Database, backend: Backend, { id, sleutel }: Bestand): Promise<boolean> {
  const rows = await sql`select from bestand where id = ${id} and backend = ${backend} and sleutel = ${sleutel}`
  return rows.length > 0
}

/** A document that was moved, or restored from a copy, may have its bytes under the same key in another store. */
async function restore(parts: Parts, backend: Backend, { id, sleutel, sha256 }: Bestand): Promise<boolean> {
  for (const other of await usedBackends(parts)) {
    if (other === backend || !sha256 || !(await hasChecksum(parts.storeFor(other), sleutel, sha256))) continue
    const rows = await parts.database.sql<{ id: number }[]>`
      update bestand b set backend = ${other} where id = ${id} and backend = ${backend} and sleutel = ${sleutel}
        and not exists (select from bestand o where o.backend = ${other} and o.sleutel = ${sleutel})
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
