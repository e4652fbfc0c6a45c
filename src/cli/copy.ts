// A copy of what an installation holds, in SQLite: begun from snapshots and kept by deltas. It knows nothing but the APIs, so that it
// is what any other consumer can do; `zaakstroom copy` runs it.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { PATHS, type Resource } from '../http/links.ts'

type Operation = {
  type: 'create' | 'update' | 'delete'
  resource_type: string
  resource_id: string
  resource?: Record<string, unknown>
}
type Delta = { id: string; prev_id: string; operations: Operation[] }

/** A collection with the kinds of its feed, each with where its list is. */
export type Collection = {
  path: string
  /** In parts, the field with the URL of the main object: what hangs on one that goes, goes along. */
  of: string
  /** Lists by kind. Where `{}` stands there is one for each main object. */
  lists: Record<string, string>
}

const list = (resource: Resource, query = ''): string => PATHS[resource] + query
/** Which lists show all, as the snapshot does. */
const types = (...names: Resource[]) => Object.fromEntries(names.map((name) => [name, list(name, '?status=alles')]))
const all = (...names: Resource[]) => Object.fromEntries(names.map((name) => [name, list(name)]))

export const COLLECTIONS: Record<string, Collection> = {
  catalogi: {
    path: PATHS.catalogus,
    of: '',
    lists: {
      ...all('catalogus'),
      ...types(
        'zaaktype',
        'informatieobjecttype',
        'besluittype',
        'statustype',
        'resultaattype',
        'roltype',
        'eigenschap',
      ),
      ...types('zaaktypeinformatieobjecttype', 'zaakobjecttype'),
    },
  },
  documenten: {
    path: PATHS.enkelvoudiginformatieobject,
    of: 'informatieobject',
    lists: all('enkelvoudiginformatieobject', 'gebruiksrechten', 'objectinformatieobject', 'verzending'),
  },
  zaken: {
    path: PATHS.zaak,
    of: 'zaak',
    lists: {
      ...all('zaak', 'status', 'substatus', 'resultaat', 'rol', 'zaakinformatieobject', 'zaakobject', 'klantcontact'),
      ...all('zaakcontactmoment', 'zaakverzoek', 'zaaknotitie'),
      zaakeigenschap: '{}/zaakeigenschappen',
      zaakbesluit: '{}/besluiten',
    },
  },
  besluiten: { path: PATHS.besluit, of: 'besluit', lists: all('besluit', 'besluitinformatieobject') },
}

/** How the service is asked: with a token of this moment. */
export type Source = { url: string; token(): string }

/** The service refuses, for a reason that asking again does not change. */
export class CopyRefused extends Error {}
/** The rights of the client do not reach a collection. */
export class NotReadable extends CopyRefused {}
/** There is nothing at an address any more. */
class NotFound extends CopyRefused {}
/** A position does not count any more: the copy begins anew. */
class Expired extends Error {}

const TRIES = 30
const TERM_MS = 60_000

/** A link of the service, at the address that was given: links have its public one, and the token goes nowhere else. */
function atSource(source: Source, link: string): string {
  const { pathname, search } = new URL(link)
  return new URL(source.url).origin + pathname + search
}

/** Asks until there is an answer that means something: a service that restarts is waited for. */
async function ask(source: Source, url: string, headers: Record<string, string> = {}): Promise<Response> {
  for (let tried = 1; ; tried++) {
    let problem: string
    try {
      const response = await fetch(url, {
        headers: { authorization: `Bearer ${source.token()}`, 'accept-crs': 'EPSG:4326', ...headers },
        signal: AbortSignal.timeout(TERM_MS),
      })
      if (response.ok || response.status === 304) return response
      const body = await response.text()
      if (response.status === 410) throw new Expired()
      if (response.status === 403) throw new NotReadable(`403 at ${new URL(url).pathname}: ${body.slice(0, 500)}`)
      if (response.status < 500 && response.status !== 429)
        throw new (response.status === 404 ? NotFound : CopyRefused)(
          `${response.status} at ${new URL(url).pathname}: ${body.slice(0, 500)}`,
        )
      problem = String(response.status)
    } catch (error) {
      if (error instanceof Expired || error instanceof CopyRefused) throw error
      problem = (error as Error).message
    }
    if (tried === TRIES) throw new CopyRefused(`no answer from ${new URL(url).pathname}: ${problem}`)
    await sleep(Math.min(5000, 100 * 2 ** tried))
  }
}

const name = (kind: string) => `"${kind.replaceAll('"', '')}"`

/** The copy on disk: a table per kind, how far each collection is, and of which installation it is. */
export function openCopyDatabase(directory: string) {
  const db = new DatabaseSync(join(directory, 'copy.sqlite'))
  db.exec(`pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 10000;
    create table if not exists copy (collection text primary key, position text not null, changed_at text not null);
    create table if not exists source (address text not null)`)
  for (const { lists } of Object.values(COLLECTIONS))
    for (const kind of Object.keys(lists))
      db.exec(`create table if not exists ${name(kind)} (uuid text primary key, belongs_to text not null, resource text not null) without rowid;
        create index if not exists ${name(`${kind}_belongs_to`)} on ${name(kind)} (belongs_to)`)
  const statements = new Map<string, StatementSync>()
  const run = (text: string, ...values: string[]) => {
    const statement = statements.get(text) ?? db.prepare(text)
    statements.set(text, statement)
    return statement.run(...values)
  }
  return {
    db,
    /** @throws CopyRefused when it is a copy of another installation */
    requireSource(address: string): void {
      const known = db.prepare('select address from source').get() as { address: string } | undefined
      if (known && known.address !== address)
        throw new CopyRefused(
          `this is a copy of ${known.address}: choose another directory, or say --new-address when that installation is at ${address} now`,
        )
    },
    /** Whose copy it is, from the first that was read. */
    noteSource(address: string): void {
      run('delete from source')
      run('insert into source values (?)', address)
    },
    position: (collection: string): string | undefined =>
      (db.prepare('select position from copy where collection = ?').get(collection) as { position: string } | undefined)
        ?.position,
    /** All of it, or nothing. */
    within(work: () => void): void {
      db.exec('begin immediate')
      try {
        work()
        db.exec('commit')
      } catch (error) {
        db.exec('rollback')
        throw error
      }
    },
    put(collection: string, { resource_type: kind, resource_id: uuid, resource }: Operation): void {
      const { of, lists } = COLLECTIONS[collection]!
      if (!Object.hasOwn(lists, kind)) return // a kind that a later version has
      run(
        `insert into ${name(kind)} values (?, ?, ?) on conflict (uuid) do update set belongs_to = excluded.belongs_to, resource = excluded.resource`,
        uuid,
        of === '' ? '' : belongsTo(resource ?? {}, of),
        JSON.stringify(resource),
      )
    },
    remove(collection: string, { resource_type: kind, resource_id: uuid }: Operation): void {
      const { lists, of, path } = COLLECTIONS[collection]!
      if (!Object.hasOwn(lists, kind)) return
      const [main] = Object.keys(lists)
      if (kind === main && of !== '') {
        const row = db.prepare(`select resource from ${name(kind)} where uuid = ?`).get(uuid) as
          | { resource: string }
          | undefined
        const url = row ? (JSON.parse(row.resource) as { url: string }).url : `${path}/${uuid}`
        for (const part of Object.keys(lists))
          if (part !== main) run(`delete from ${name(part)} where belongs_to = ?`, url)
      }
      run(`delete from ${name(kind)} where uuid = ?`, uuid)
    },
    clear(collection: string): void {
      for (const kind of Object.keys(COLLECTIONS[collection]!.lists)) run(`delete from ${name(kind)}`)
      run('delete from copy where collection = ?', collection)
    },
    /** What there is stays until all of it was read anew. */
    forgetPosition(collection: string): void {
      run('delete from copy where collection = ?', collection)
    },
    moveTo(collection: string, position: string): void {
      run(
        `insert into copy values (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) on conflict (collection)
          do update set position = excluded.position, changed_at = excluded.changed_at`,
        collection,
        position,
      )
    },
    close: () => db.close(),
  }
}
type CopyDatabase = ReturnType<typeof openCopyDatabase>

/** The URL of the main object: in a field, or, of what stands below it, in its own URL. */
const belongsTo = (resource: Record<string, unknown>, field: string): string =>
  String(resource[field] ?? resource.gerelateerdAan ?? BELOW.exec(String(resource.url))?.[1] ?? '')
const BELOW = /^(.*\/zaken\/[0-9a-f-]{36})\/\w+\/[0-9a-f-]{36}$/

/**
 * Brings one collection up to date: from a snapshot when nothing is there yet, and then by deltas. Each page is one transaction
 * with the position after it, so that a copy that is killed goes on where it was.
 * @param say what is done, for people
 * @returns how many deltas were applied
 */
export async function bringUpToDate(
  source: Source,
  directory: string,
  copy: CopyDatabase,
  collection: string,
  say: (line: string) => void = () => {},
): Promise<number> {
  for (let begun = 0; ; begun++) {
    try {
      if (copy.position(collection) === undefined) await beginAnew(source, directory, copy, collection, say)
      return await applyDeltas(source, copy, collection)
    } catch (error) {
      if (!(error instanceof Expired) || begun === 3) throw error
      say(`${collection}: the position does not count any more, the copy begins anew`)
      copy.forgetPosition(collection)
    }
  }
}

async function applyDeltas(source: Source, copy: CopyDatabase, collection: string): Promise<number> {
  const { path } = COLLECTIONS[collection]!
  for (let count = 0; ; ) {
    const position = copy.position(collection)!
    const response = await ask(source, `${source.url}${path}/_deltas?after=${position}&limit=1000`)
    const page = (await response.json()) as { position: string; at_end?: boolean; items: Delta[] }
    let before = position
    for (const { id, prev_id } of page.items) {
      if (prev_id !== before) throw new Expired()
      before = id
    }
    copy.within(() => {
      for (const { operations } of page.items)
        for (const one of operations) {
          if (one.type === 'delete') copy.remove(collection, one)
          else copy.put(collection, one)
        }
      copy.moveTo(collection, page.position)
    })
    count += page.items.length
    if (page.at_end ?? page.items.length === 0) return count // a service of before says so by an empty page
  }
}

type Snapshot = { id: string; href: string; total: number }

async function beginAnew(
  source: Source,
  directory: string,
  copy: CopyDatabase,
  collection: string,
  say: (line: string) => void,
): Promise<void> {
  const { path } = COLLECTIONS[collection]!
  let snapshot: Snapshot | undefined
  while (!snapshot) {
    const response = await ask(source, `${source.url}${path}/_snapshots`)
    const { items } = (await response.json()) as { items: Snapshot[] }
    snapshot = items.at(-1)
    if (!snapshot) await sleep(1000)
  }
  say(`${collection}: a snapshot of ${snapshot.total} resources`)
  const file = await download(source, directory, collection, snapshot)
  const lines = createInterface({
    input: createReadStream(file).pipe(createGunzip()),
    crlfDelay: Number.POSITIVE_INFINITY,
  })
  copy.db.exec('begin immediate')
  try {
    copy.clear(collection)
    let count = 0
    for await (const line of lines) {
      copy.put(collection, { type: 'create', ...(JSON.parse(line) as Omit<Operation, 'type'>) })
      count++
    }
    if (count !== snapshot.total) throw new Error(`a snapshot of ${snapshot.total} resources has ${count}`)
    copy.moveTo(collection, snapshot.id)
    copy.noteSource(source.url)
    copy.db.exec('commit')
  } catch (error) {
    copy.db.exec('rollback')
    await rm(file, { force: true })
    throw error
  }
  await rm(file, { force: true })
}

/** Fetches a snapshot into a file, from where an earlier attempt ended. */
async function download(
  source: Source,
  directory: string,
  collection: string,
  { id, href }: Snapshot,
): Promise<string> {
  const file = join(directory, `${collection}-${id}.ndjson.gz`)
  if (await stat(file).catch(() => undefined)) return file
  const part = `${file}.part`
  for (let tried = 1; ; tried++) {
    const size = (await stat(part).catch(() => undefined))?.size ?? 0
    const token = source.token()
    try {
      const response = await fetch(atSource(source, href), {
        headers: { authorization: `Bearer ${token}`, ...(size > 0 && { range: `bytes=${size}-` }) },
      })
      if (response.status === 410) throw new Expired()
      if (response.status === 416) break // it was all there
      if (!response.ok || !response.body) throw new Error(`${response.status} for a snapshot`)
      const flags = response.status === 206 ? 'a' : 'w'
      await pipeline(Readable.fromWeb(response.body as never), createWriteStream(part, { flags }))
      break
    } catch (error) {
      if (error instanceof Expired || tried === TRIES) throw error
      await sleep(Math.min(5000, 100 * 2 ** tried))
    }
  }
  await rename(part, file)
  return file
}

/** Follows a collection by events until it is stopped, and tells each page that was applied. */
export async function follow(
  source: Source,
  directory: string,
  copy: CopyDatabase,
  collection: string,
  stop: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  const { path } = COLLECTIONS[collection]!
  while (!stop.aborted) {
    await bringUpToDate(source, directory, copy, collection, say)
    const position = copy.position(collection)!
    try {
      const response = await fetch(`${source.url}${path}/_deltas`, {
        headers: { authorization: `Bearer ${source.token()}`, accept: 'text/event-stream', 'last-event-id': position },
        signal: stop,
      })
      if (response.ok && response.body) await applyEvents(copy, collection, response.body)
    } catch {
      // It broke off: what was missed is fetched.
    }
    if (!stop.aborted) await sleep(1000, undefined, { signal: stop }).catch(() => {})
  }
}

async function applyEvents(copy: CopyDatabase, collection: string, body: ReadableStream<Uint8Array>): Promise<void> {
  let id = ''
  let data = ''
  const lines = createInterface({ input: Readable.fromWeb(body as never), crlfDelay: Number.POSITIVE_INFINITY })
  for await (const line of lines) {
    if (line.startsWith('id: ')) id = line.slice(4)
    else if (line.startsWith('data: ')) data = line.slice(6)
    else if (line === '' && id !== '') {
      const delta = data === '' ? undefined : (JSON.parse(data) as Delta)
      if (delta && delta.prev_id !== copy.position(collection)) return // what lies between is fetched
      copy.within(() => {
        for (const one of delta?.operations ?? []) {
          if (one.type === 'delete') copy.remove(collection, one)
          else copy.put(collection, one)
        }
        copy.moveTo(collection, id)
      })
      data = ''
    }
  }
}

// ---- comparing ----

export type Difference = { kind: string; uuid: string; what: 'missing' | 'too many' | 'different' }

const sumOf = (text: string) => createHash('sha256').update(text).digest('base64')
const inOrder = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, one]) => [key, inOrder(one)]),
      )
    : Array.isArray(value)
      ? value.map(inOrder)
      : value
const textOf = ({ _expand: _, ...resource }: Record<string, unknown>) => JSON.stringify(inOrder(resource))

/** Holds the copy of a collection against the lists of the service, row by row. */
export async function compare(
  source: Source,
  copy: CopyDatabase,
  collection: string,
): Promise<{ rows: number; differences: Difference[] }> {
  const { lists } = COLLECTIONS[collection]!
  const differences: Difference[] = []
  let rows = 0
  const [main] = Object.keys(lists)
  for (const [kind, at] of Object.entries(lists)) {
    const kept = new Map<string, string>()
    for (const row of copy.db.prepare(`select uuid, resource from ${name(kind)}`).iterate() as Iterable<{
      uuid: string
      resource: string
    }>)
      kept.set(row.uuid, sumOf(textOf(JSON.parse(row.resource))))
    rows += kept.size
    const isBelow = at.startsWith('{}')
    const urls = isBelow
      ? (copy.db.prepare(`select resource ->> 'url' as url from ${name(main!)}`).all() as { url: string }[]).map(
          ({ url }) => at.replace('{}', atSource(source, url)),
        )
      : [source.url + at]
    for (const url of urls)
      for await (const resource of isBelow ? withoutGone(listed(source, url)) : listed(source, url)) {
        const uuid = String(resource.url).slice(-36)
        const known = kept.get(uuid)
        if (known === undefined) differences.push({ kind, uuid, what: 'missing' })
        else if (known !== sumOf(textOf(resource))) differences.push({ kind, uuid, what: 'different' })
        kept.delete(uuid)
      }
    for (const uuid of kept.keys()) differences.push({ kind, uuid, what: 'too many' })
  }
  return { rows, differences }
}

/** What hangs on a resource: nothing when that was deleted after the copy last heard of it. */
async function* withoutGone<T>(list: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* list
  } catch (error) {
    if (!(error instanceof NotFound)) throw error
  }
}

async function* listed(source: Source, first: string): AsyncGenerator<Record<string, unknown>> {
  for (let url: string | null = first; url; ) {
    const response: Response = await ask(source, url)
    const body = (await response.json()) as
      | Record<string, unknown>[]
      | { results: Record<string, unknown>[]; next: string | null }
    if (Array.isArray(body)) return yield* body
    yield* body.results
    url = body.next && atSource(source, body.next)
  }
}

/** Makes the directory of a copy. */
export const prepareDirectory = (directory: string) => mkdir(directory, { recursive: true })
