// The bytes of documents: by the path that the source knows them by, each once, however many versions name it. They are
// copied into our store, or taken as they lie there when it is the same store.

import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { expected, lastOf } from '../database/rows.ts'
import type { copyPool } from '../documenten/import/copy.ts'
import { isOwnKey, newKey, requireKey, type Store } from '../documenten/storage/index.ts'
import { inParallel } from '../documenten/storage/migrate.ts'
import { ContentRefused } from '../documenten/storage/scan.ts'
import { type RowColumn, unnested } from './rows.ts'
import { type Contents, type Finding, UnreadableContents } from './source.ts'
import { shadowSchema, type Takeover } from './takeover.ts'

type Sql = postgres.TransactionSql

const CONTENT_COLUMNS: RowColumn[] = [
  { name: 'uuid', type: 'uuid' },
  { name: 'versie', type: 'integer' },
  { name: 'path', type: 'text' },
  { name: 'bestandsomvang', type: 'bigint' },
]
/** Files of one portion, and the bytes that it may lose when it is cut short. */
const PORTION = 500
const PORTION_BYTES = 256 * 2 ** 20
/** A write waits for the disk: a file system has one flush for all that wait at that moment. */
const AT_ONCE = 16
const TRIES = 3
const RETRY_MS = 1000
/** The most that is read of a file whose size the source does not say. */
const MAX_BYTES = 2 ** 40
type Waiting = { id: number; path: string; size: number | null }
type Stored = { backend: string; key: string; size: number; sha256: string | null }
/** Copies files of a directory into our store in groups, each with one flush of the disk: what an import does. */
export type CopyFiles = ReturnType<typeof copyPool>['copyFiles']
type Outcome = Waiting & {
  stored?: Stored
  present?: { size?: number | undefined }
  refused?: true
  /** Why the malware scanner refuses it, as a sentence. */
  harmful?: string
  unreadable?: string
}

/** Notes which versions have which bytes, and gives those that are here already to their versions. */
export async function linkContents(
  sql: Sql,
  overneming: number,
  versions: { uuid: string; versie: number; path: string; bestandsomvang: number | null }[],
): Promise<void> {
  if (versions.length === 0) return
  const { from, parameters } = unnested('r', CONTENT_COLUMNS, versions, 2)
  await sql.unsafe(
    `insert into takeover_file (takeover_id, path, size)
     select distinct on (path) $1::bigint, path, bestandsomvang from ${from}
     on conflict (takeover_id, path) do nothing`,
    [overneming, ...parameters],
    { prepare: true },
  )
  await sql.unsafe(
    `with gegeven as (
       insert into takeover_content (takeover_file_id, enkelvoudiginformatieobject_id, versie)
       select b.id, e.id, r.versie from ${from}
       join enkelvoudiginformatieobject e on e.uuid = r.uuid
       join takeover_file b on b.takeover_id = $1::bigint and b.path = r.path
       on conflict (enkelvoudiginformatieobject_id, versie) do update set takeover_file_id = excluded.takeover_file_id
       returning *
     )
     update enkelvoudiginformatieobject_versie v set file_id = b.file_id
     from gegeven g join takeover_file b on b.id = g.takeover_file_id
     where b.file_id is not null and v.enkelvoudiginformatieobject_id = g.enkelvoudiginformatieobject_id and v.versie = g.versie`,
    [overneming, ...parameters],
    { prepare: true },
  )
}

/**
 * Brings a portion of the bytes that are not here. They are stored before the transaction; without a row they are swept away.
 * @returns what writes their rows
 */
export async function bringContents(
  read: Sql | import('postgres').Sql,
  store: Store,
  takeover: Takeover,
  step: { position: string | null; above: string | null; until: string | null },
  contents: Contents | undefined,
  copyFiles?: CopyFiles,
): Promise<
  (sql: Sql) => Promise<{ seen: number; written: number; refused: number; findings: Finding[]; next: string | null }>
> {
  const { trial } = takeover
  const table = (name: string) => (trial ? read`${read(shadowSchema(takeover))}.${read(name)}` : read`${read(name)}`)
  const outcomes: Outcome[] = []
  const stay = takeover.settings.bytes === 'laten'
  // With a limit in it the planner looks for each row, and never reads the whole table for a portion.
  const found =
    stay || contents
      ? await read<Waiting[]>`
          select b.id, b.path, b.size from ${table('takeover_file')} b
          cross join lateral (select from ${table('takeover_content')} i where i.takeover_file_id = b.id limit 1) i
          where b.takeover_id = ${takeover.id} and b.state <> 'klaar' and b.id > ${Number(step.position ?? 0)}
            and b.id % ${Number(step.until ?? 1)} = ${Number(step.above ?? 0)}
          order by b.id limit ${PORTION}`
      : []
  const waiting = upTo(found, PORTION_BYTES)
  const named = waiting.filter(({ path }) => isKey(path))
  for (const one of waiting) if (!isKey(one.path)) outcomes.push({ ...one, refused: true })
  const grouped = trial || stay || !copyFiles ? new Map<number, Stored>() : await copyTogether(store, copyFiles, named)
  for (const one of named) {
    const stored = grouped.get(one.id)
    if (stored) outcomes.push({ ...one, stored, present: stored })
  }
  await inParallel(
    named.filter(({ id }) => !grouped.has(id)),
    AT_ONCE,
    async (one) => {
      outcomes.push({
        ...one,
        ...(await whenReadable(async () => {
          if (trial) return measure(stay ? store.read : expected(contents), one)
          const stored = stay ? await asItLies(store, one) : await copy(store, expected(contents), one)
          return stored && { stored, present: stored }
        })),
      })
    },
  )
  return async (sql) => {
    const findings: Finding[] = []
    const remark = async (id: number, rest: Pick<Finding, 'outcome' | 'code' | 'text'>) => {
      for (const { uuid, versie } of await versionsOf(sql, id))
        findings.push({ kind: 'bestand', key: uuid, owner: uuid, field: `versie ${versie}`, ...rest })
    }
    for (const { id, path, size, present, refused, harmful, unreadable } of outcomes) {
      if (refused) {
        const text = `Een bestand kan hier niet zo heten: ${path}. Geef het in de bron een andere naam.`
        await remark(id, { outcome: 'geweigerd', code: 'bestand-naam', text })
        continue
      }
      if (harmful) {
        await remark(id, { outcome: 'geweigerd', code: 'bestand-malware', text: `${harmful} Het gaat om ${path}.` })
        continue
      }
      if (!present) {
        await sql`update takeover_file set state = 'ontbreekt' where id = ${id}`
        await remark(id, {
          outcome: 'geweigerd',
          code: unreadable ? 'bestand-onleesbaar' : 'bestand-ontbreekt',
          text: unreadable
            ? `De bron kan de inhoud niet geven (${unreadable}): ${path}.`
            : `De bron heeft de inhoud niet: ${path}.`,
        })
        continue
      }
      if (size !== null && present.size !== undefined && size !== present.size)
        await remark(id, {
          outcome: 'gemarkeerd',
          code: 'omvang-anders',
          text: `De bron noemt ${size} bytes, en heeft er ${present.size}.`,
        })
    }
    await writeFiles(
      sql,
      outcomes.flatMap(({ id, stored }) => (stored ? [{ id, ...stored }] : [])),
    )
    const brought = outcomes.filter(({ present }) => present).length
    return {
      seen: outcomes.length,
      written: brought,
      refused: outcomes.length - brought,
      findings,
      next: found.length < PORTION && waiting.length === found.length ? null : String(lastOf(waiting).id),
    }
  }
}

/** As many as hold so many bytes together; one at least. */
function upTo(files: Waiting[], bytes: number): Waiting[] {
  let sum = 0
  const end = files.findIndex(({ size }, place) => {
    sum += size ?? 0
    return place > 0 && sum > bytes
  })
  return end < 0 ? files : files.slice(0, end)
}

/** What is copied in groups, by id. The others are at fault, or no plain files: they are tried one by one. */
async function copyTogether(store: Store, copyFiles: CopyFiles, files: Waiting[]): Promise<Map<number, Stored>> {
  const copied = await copyFiles(files.map(({ id, path }) => ({ number: id, bestandspad: path, key: newKey() })))
  return new Map(
    copied.flatMap((one) =>
      'fout' in one ? [] : [[one.number, { backend: store.backend, key: one.key, size: one.size, sha256: one.sha256 }]],
    ),
  )
}

/** The rows of bytes that are there now, each given to the versions that name it. */
async function writeFiles(sql: Sql, files: (Stored & { id: number })[]): Promise<void> {
  if (files.length === 0) return
  await sql`
    with given as (
      select id, backend, key, size, decode(sha256, 'hex') as sha256
      from jsonb_to_recordset(${JSON.stringify(files)}::text::jsonb)
        as r(id bigint, backend text, key text, size bigint, sha256 text)
    ), made as (
      insert into file (backend, key, size, sha256) select backend, key, size, sha256 from given
      on conflict (key, backend) do update set size = excluded.size
      returning id, backend, key
    ), brought as (
      update takeover_file t set state = 'klaar', file_id = made.id
      from given join made using (backend, key) where t.id = given.id
      returning t.id, t.file_id
    )
    update enkelvoudiginformatieobject_versie v set file_id = brought.file_id
    from brought join takeover_content i on i.takeover_file_id = brought.id
    where v.enkelvoudiginformatieobject_id = i.enkelvoudiginformatieobject_id and v.versie = i.versie`
}

/** Whether it is there and how large it is, for a dry run. */
async function measure(read: (path: string) => ReturnType<Contents>, { path }: Waiting) {
  const found = await read(path)
  ;(found?.stream as Readable | undefined)?.destroy?.()
  return found && { present: { size: found.size } }
}

/**
 * Whether bytes are still those of the old installation: taken as they lie, and the switch is to come. A document that is
 * deleted here until then keeps its bytes there.
 */
export async function belongsToSource(sql: Sql | import('postgres').Sql, key: string): Promise<boolean> {
  if (isOwnKey(key)) return false
  const [row] = await sql`
    select from takeover where status <> 'omgeschakeld' and not trial and settings ->> 'bytes' = 'laten' limit 1`
  return row !== undefined
}

/** Whether our stores take it as a name: those of other installations can hold anything. */
function isKey(path: string): boolean {
  try {
    requireKey(path.split('?')[0] ?? '')
    return true
  } catch {
    return false
  }
}

async function copy(store: Store, contents: Contents, { path }: Waiting) {
  const found = await contents(path)
  if (!found) return undefined
  return { backend: store.backend, ...(await store.write(newKey(), wholly(found), { fresh: true })) }
}

/** The bytes of the source, whose faults are told from those of our store. */
async function* wholly({ size, stream }: { size?: number; stream: AsyncIterable<Uint8Array> }) {
  let sent = 0
  try {
    for await (const chunk of stream) {
      sent += chunk.length
      if (sent > (size ?? MAX_BYTES)) break
      yield chunk
    }
  } catch (error) {
    throw new UnreadableContents((error as { code?: string }).code ?? 'no answer')
  }
  if (size !== undefined && sent !== size) throw new UnreadableContents(`${sent} of ${size} bytes`)
}

/** Tries again before it gives up. What is no fault of these bytes, but of a source or a store that is away, stays one. */
async function whenReadable<T>(work: () => Promise<T>): Promise<T | { unreadable: string } | { harmful: string }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ContentRefused) return { harmful: error.message }
      if (!(error instanceof UnreadableContents)) throw error
      if (attempt === TRIES) return { unreadable: error.code }
      await sleep(RETRY_MS)
    }
  }
}

async function asItLies(store: Store, { path }: Waiting) {
  const found = await store.read(path)
  found?.stream.destroy()
  return found && { backend: store.backend, key: path, size: found.size, sha256: null }
}

function versionsOf(sql: Sql, id: number) {
  return sql<{ uuid: string; versie: number }[]>`
    select e.uuid, i.versie from takeover_content i
    join enkelvoudiginformatieobject e on e.id = i.enkelvoudiginformatieobject_id where i.takeover_file_id = ${id}`
}
