// Snapshots of a collection: all that a client may read of it at one moment, to begin a copy with. One is made by a job when a client
// asks for the list and has none of today, for its rights, and is then a file in the store that is fetched in any number of pieces. It holds
// persons, and is no document of anybody: it is sealed as a whole, under a key of its own that `feed_snapshot` has sealed. One that holds
// what its rights do not reach any more, or what was deleted, is withdrawn within a minute.
import { createHash, type Hash, randomBytes } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { sql } from 'kysely'
import type postgres from 'postgres'
import { systemActor } from '../core/access.ts'
import type { Actor, Autorisatie } from '../core/actor.ts'
import { type Mutate, mutator } from '../core/mutate.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Database, kyselyOn, type ReadDb, type Reader, readerOf } from '../database/database.ts'
import { lastOf, one } from '../database/rows.ts'
import { deleteFiles, insertFile } from '../documenten/document/bytes.ts'
import { newKey, type Store } from '../documenten/storage/index.ts'
import { KEY_BYTES } from '../lib/key-ring.ts'
import { cipherAt } from '../lib/sealed-bytes.ts'
import { headOf, placeNow, readPosition, rightsPrint } from './deltas.ts'
import { FEEDS, type Feed, type Viewer } from './kinds.ts'
import { fitting } from './tell.ts'

/** One is made anew for who asks when the newest is older than this. */
const FRESH_HOURS = 24
/** Snapshots that are being made at the same time: each reads all that there is. */
const UNDER_WAY = 10

type Saved = {
  base: string
  actor: Pick<Actor, 'alleAutorisaties' | 'alleenGereedVoorPublicatie'>
  rights: (Omit<Autorisatie, 'scopes'> & { scopes: string[] })[]
}

type Snapshot = { id: number; position: string; total: number }
type Found = { id: number; position: string | null; total: number | null; isFresh: boolean }

/** What the key of a snapshot is sealed for. */
export const snapshotOwner = (id: number | string): string => `momentopname ${id}`

/** The snapshots that a client may fetch, the oldest first: of its rights, and with all deltas that follow on it. */
export async function listSnapshots(viewer: Viewer, feed: Feed): Promise<{ found: Snapshot[]; isFresh: boolean }> {
  const { rows } = await sql<Found>`
    select id, position, total, coalesce(made_at > now() - make_interval(hours => ${FRESH_HOURS}::int), false) as is_fresh
    from feed_snapshot where component = ${feed.component} and rights = ${rightsPrint(viewer.actor, feed)}
      and made_at is not null order by id`.execute(viewer.reader.db)
  const head = await headOf(viewer)
  const rights = rightsPrint(viewer.actor, feed)
  const found = rows.flatMap(({ id, position, total, isFresh }) =>
    position === null || total === null || readPosition(position, head, rights) === undefined
      ? []
      : { id, position, total, isFresh },
  )
  return { found, isFresh: found.at(-1)?.isFresh === true }
}

/** Has a snapshot made for these rights, unless one is under way. */
export async function orderSnapshot(mutate: Mutate, { actor, base }: Viewer, feed: Feed): Promise<void> {
  const { alleAutorisaties, alleenGereedVoorPublicatie, autorisaties } = actor
  const rights = autorisaties.filter(({ component }) => component === feed.component)
  const saved: Saved = {
    base,
    actor: { alleAutorisaties, alleenGereedVoorPublicatie },
    rights: rights.map((right) => ({ ...right, scopes: [...right.scopes] })),
  }
  await mutate(systemActor('momentopname', base), async (m) => {
    m.unrecorded('a snapshot changes nothing of what it shows')
    await m.sql`delete from feed_snapshot where made_at is null and created_at < now() - interval '1 day'` // it failed
    const [row] = await m.sql<{ id: number }[]>`
      insert into feed_snapshot (component, rights, viewer)
      select ${feed.component}, ${rightsPrint(actor, feed)}, ${JSON.stringify(saved)}::text::jsonb
      where (select count(*) from feed_snapshot where made_at is null) < ${UNDER_WAY}
      on conflict do nothing returning id`
    if (row) await m.enqueue('make-snapshot', { id: row.id }, { jobKey: `snapshot:${row.id}` })
  })
}

/** Makes a snapshot that was ordered, in one transaction that sees one state. Again: only when it was not made. */
export async function makeSnapshot(
  { database, box }: { database: Database; box: SecretBox },
  store: Store,
  id: number,
): Promise<void> {
  const [row] = await database.sql<{ component: string; viewer: Saved }[]>`
    select component, viewer from feed_snapshot where id = ${id} and made_at is null`
  const feed = Object.values(FEEDS).find(({ component }) => component === row?.component)
  if (!row || !feed) return
  const { base } = row.viewer
  const connection = await database.reserve()
  const key = randomBytes(KEY_BYTES)
  let result: {
    position: string
    xact: string
    total: number
    sha256: Buffer
    bytes: Awaited<ReturnType<Store['write']>>
  }
  try {
    await connection`begin isolation level repeatable read read only`
    await connection`set local idle_in_transaction_session_timeout = '10min'` // the store may be slow
    const reader: Reader = {
      db: kyselyOn(connection as unknown as postgres.TransactionSql) as unknown as ReadDb,
      sql: connection,
      numbers: database.numbers,
    }
    const viewer = viewerOf(reader, row.viewer)
    const head = await headOf(viewer)
    const position = placeNow(viewer, feed, head)
    const count = { total: 0 }
    const sum = createHash('sha256')
    const sealed = cipherAt(key)
    const zipped = createGzip({ level: 5 })
    const filling = pipeline(linesOf(viewer, feed, count), zipped, (content) => summed(content, sum), sealed)
    const writing = store.write(newKey(), sealed, { fresh: true }).finally(() => sealed.destroy())
    const [bytes] = await Promise.all([writing, filling])
    result = { position, xact: String(BigInt(head.settled) - 1n), total: count.total, sha256: sum.digest(), bytes }
  } finally {
    await connection`rollback`.catch(() => {})
    connection.release()
  }
  await mutator(database)(systemActor('momentopname', base), async (m) => {
    m.unrecorded('a snapshot changes nothing of what it shows')
    const fileId = await insertFile(m, store.backend, result.bytes)
    await m.sql`update feed_snapshot set made_at = now(), position = ${result.position}, xact = ${result.xact}::text::xid8,
      judged = ${result.xact}::text::xid8, total = ${result.total}, file_id = ${fileId},
      sha256 = ${result.sha256}, sealed_key = ${box.seal(key.toString('base64'), snapshotOwner(id))} where id = ${id}`
  })
}

/** Who ordered it. */
function viewerOf(reader: Reader, { base, actor, rights }: Saved): Viewer {
  const autorisaties = rights.map((right) => ({ ...right, scopes: new Set(right.scopes) }))
  return { reader, base, actor: { ...systemActor('momentopname', base), ...actor, autorisaties } }
}

type Made = { id: number; component: string; viewer: Saved; xact: string; judged: string; isKnown: boolean }

/**
 * Withdraws the snapshots that hold what their rights do not reach any more, or what was deleted since: whoever asks gets one that is
 * made anew. To be called every minute; only what changed since the last time is looked at. Twice at once does no harm.
 */
export async function withdrawSnapshots(database: Database): Promise<void> {
  const made = await database.sql<Made[]>`
    select id, component, viewer, xact::text, judged::text, judged >= f.first as "isKnown" from feed_snapshot, feed f
    where judged is not null and f.cluster = current_cluster() and f.first < pg_snapshot_xmin(pg_current_snapshot())`
  for (const snapshot of made) {
    const feed = Object.values(FEEDS).find(({ component }) => component === snapshot.component)
    const viewer = viewerOf(readerOf(database), snapshot.viewer)
    // Of what is not kept any more nobody knows what left.
    if (feed && (!snapshot.isKnown || (await hasLeft(database, viewer, feed, snapshot))))
      await withdraw(database, snapshot.id)
  }
}

/** Rows that are looked at in one go; the next minute goes on. */
const JUDGED_AT_ONCE = 10_000

/** Whether something that it holds has left since it was judged; if not, it is noted until when that was looked at. */
async function hasLeft(
  { sql: write }: Database,
  viewer: Viewer,
  feed: Feed,
  { id, xact, judged }: Made,
): Promise<boolean> {
  const { db } = viewer.reader
  const { settled } = await headOf(viewer)
  const { rows } = await sql<{ resource: string; rowId: number; operation: string; xact: string }>`
    select c.resource, c.row_id, c.operation, c.xact::text as xact from change c
    where c.component = ${feed.component} and c.xact > ${judged}::text::xid8 and c.xact < ${settled}::text::xid8
      and c.operation <> 'insert' and case when c.type_id is null and c.type_url is null
        then c.operation = 'delete' else ${feed.reached(viewer.actor)} end
      and not exists (select from change i where i.component = c.component and i.xact > ${xact}::text::xid8
        and i.resource = c.resource and i.row_id = c.row_id and i.operation = 'insert')
    order by c.xact, c.id limit ${sql.lit(JUDGED_AT_ONCE)}`.execute(db)
  if (rows.some(({ operation }) => operation === 'delete')) return true
  for (const [resource, moved] of Map.groupBy(rows, (row) => row.resource)) {
    const ids = [...new Set(moved.map(({ rowId }) => rowId))]
    for (let from = 0; from < ids.length; from += ROWS) {
      const some = ids.slice(from, from + ROWS)
      const found = (await feed.kinds[resource]?.load(viewer, some)) ?? []
      if (found.length < some.length) return true // out of its reach now
    }
  }
  const until = rows.length < JUDGED_AT_ONCE ? settled : lastOf(rows).xact
  await write`update feed_snapshot set judged = ${String(BigInt(until) - 1n)}::text::xid8 where id = ${id}`
  return false
}

async function withdraw(database: Database, id: number): Promise<void> {
  await mutator(database)(systemActor('momentopname'), async (m) => {
    m.unrecorded('a snapshot changes nothing of what it shows')
    const [row] = await m.sql<{ fileId: number | null }[]>`
      delete from feed_snapshot where id = ${id} returning file_id as "fileId"`
    await deleteFiles(m, row?.fileId ? [row.fileId] : [])
  })
}

async function* summed(content: AsyncIterable<Buffer>, sum: Hash): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    sum.update(piece)
    yield piece
  }
}

const ROWS = 200

async function* linesOf(viewer: Viewer, feed: Feed, count: { total: number }): AsyncGenerator<string> {
  const { db } = viewer.reader
  for (const [resource, kind] of Object.entries(feed.kinds)) {
    for (let [after, limit] = [0, kind.first ?? ROWS]; ; ) {
      const { rows } = await sql<{ id: number }>`
        select id from ${sql.table(kind.table)} where id > ${after} order by id limit ${sql.lit(limit)}`.execute(db)
      if (rows.length === 0) break
      after = lastOf(rows).id
      const found = await kind.load(
        viewer,
        rows.map(({ id }) => id),
      )
      count.total += found.length
      limit = fitting(found, limit)
      yield found
        .map(({ uuid, json }) => `{"resource_type":"${resource}","resource_id":"${uuid}","resource":${json}}\n`)
        .join('')
    }
  }
}

/** Removes snapshots whose term is over, and orders that nobody carried out. Their bytes go by a job. */
export async function removeSnapshots(database: Database, days: number): Promise<void> {
  await mutator(database)(systemActor('retention'), async (m) => {
    m.unrecorded('a snapshot changes nothing of what it shows')
    const old = await m.sql<{ fileId: number | null }[]>`
      delete from feed_snapshot where created_at < now() - make_interval(days => ${days}::int) returning file_id as "fileId"`
    await deleteFiles(
      m,
      old.flatMap(({ fileId }) => fileId ?? []),
    )
  })
}

/**
 * Where the bytes of a snapshot are, the checksum of its content, and what opens it from a position on.
 * @throws KeyMissing
 */
export async function findFile({ sql }: ReturnType<typeof readerOf>, box: SecretBox, id: number) {
  const rows = await sql<
    { fileId: number; backend: string; key: string; size: number; sha256: Buffer | null; sealedKey: Buffer | null }[]
  >`
    select f.id as "fileId", f.backend, f.key, f.size, s.sha256, s.sealed_key as "sealedKey"
    from feed_snapshot s join file f on f.id = s.file_id where s.id = ${id}`
  const { sealedKey, ...file } = one(rows)
  if (!sealedKey) throw new Error('a snapshot without its key')
  const key = Buffer.from(box.open(sealedKey, snapshotOwner(id)), 'base64')
  return { ...file, opened: (position: number) => cipherAt(key, position) }
}
