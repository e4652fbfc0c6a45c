// Whose a store is. Its mark names the database that wrote there first, so that another database beside it, or another store beside
// this database, is not taken for documents that were lost.
import { createHash } from 'node:crypto'
import type postgres from 'postgres'
import { type Store, StoreUnavailable } from './index.ts'
import { announceClaim } from './writers.ts'

/** The store is of another installation: nothing in it is ours to count, to remove or to note as lost. */
export class ForeignStore extends StoreUnavailable {
  override name = 'ForeignStore'
  readonly backend: string

  constructor(backend: string) {
    super('of-another-installation')
    this.backend = backend
    this.message = `the store ${backend} is of another installation: look at DATABASE_URL and at the settings of the store; nothing was changed`
  }
}

/** Processes of this installation write to another store than this one, which is new. */
export class SecondStore extends Error {
  override name = 'SecondStore'

  constructor(backend: string, others: string[]) {
    super(
      `the store ${backend} is new, and not the one that ${others.join(', ')} write to: give all processes one DOCUMENTEN_DIR, bucket or container, or stop those first`,
    )
  }
}

/**
 * What tells the installation of a database from others. A restored copy of it has the same; one of which the keys were made anew, as an
 * anonymised copy, has another. Undefined before a first process brought a key.
 */
async function installationOf(sql: postgres.Sql): Promise<string | undefined> {
  const [first] = await sql<{ sealed: Buffer }[]>`select sealed from data_key order by created_at, id limit 1`
  return first && createHash('sha256').update(first.sealed).digest('hex').slice(0, 32)
}

/**
 * Makes a store that is nobody's that of this database, unless it has documents in it of which none is there.
 * @throws ForeignStore when it is another's
 */
export async function claimStore(sql: postgres.Sql, store: Store): Promise<void> {
  const own = await installationOf(sql)
  if (own === undefined) return
  let owner = await store.owner()
  if (owner === undefined && (await hasOurs(sql, store))) {
    await requireAlone(sql, store)
    await store.claim(own)
    owner = await store.owner() // another may have been first
  }
  if (owner !== undefined && owner !== own) throw new ForeignStore(store.backend)
}

/**
 * Of a store that nobody has marked yet, while processes of this installation write to one with that backend: they have marked theirs, so
 * this is another directory or bucket. Documents of the one would not be found by the other.
 * @throws SecondStore
 */
async function requireAlone(sql: postgres.Sql, { backend, identity }: Store): Promise<void> {
  const others = await announceClaim(sql, backend, identity)
  if (others.length > 0) throw new SecondStore(backend, others)
}

/** @throws ForeignStore when it is another's */
export async function requireOwnStore(sql: postgres.Sql, store: Pick<Store, 'backend' | 'owner'>): Promise<void> {
  const owner = await store.owner()
  if (owner !== undefined && owner !== (await installationOf(sql))) throw new ForeignStore(store.backend)
}

/** A store of 1.0.0 carries no name. It is ours when one of our newest documents is there, or there is none yet. */
async function hasOurs(sql: postgres.Sql, store: Store): Promise<boolean> {
  const rows = await sql<{ key: string }[]>`
    select key from file where backend = ${store.backend} and missing_since is null order by id desc limit 3`
  for (const { key } of rows) {
    const found = await store.read(key)
    found?.stream.destroy()
    if (found) return true
  }
  return rows.length === 0
}

/** How a mark says whose it is, on a line of its own. The first such line counts. */
export const ownerLine = (owner: string): string => `Installation: ${owner}\n`
export const ownerIn = (text: string): string | undefined => /^Installation: (\w+)$/m.exec(text)?.[1]
