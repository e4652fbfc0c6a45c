// The states of an import: who makes one, lets one wait, stops it or lets it go on. What a batch does to them is in progress.ts.
import { sql } from 'kysely'
import type { Config } from '../../config.ts'
import type { FieldCode } from '../../core/codes.ts'
import type { Mutation } from '../../core/mutate.ts'
import { invalid, notFound, Problem } from '../../core/problem.ts'
import type { Db } from '../../database/database.ts'
import { isLockTimeout, isUniqueViolation } from '../../database/error-codes.ts'
import { expected, one } from '../../database/rows.ts'
import { when } from '../../database/when.ts'
import { link } from '../../http/links.ts'
import { enqueueBatch, openNext, stopImport } from './progress.ts'
import { type ImportRow, LACKS_WORKER, PLACE, requireImport } from './rows.ts'

/** The rows of an import are there: it starts, or goes on waiting for its turn. */
export async function activateImport(
  m: Mutation,
  { id, uuid }: { id: number; uuid: string },
  {
    header,
    dialect,
    ...values
  }: {
    header: string[]
    dialect: unknown
    baseUrl: string
    batchSize: number
    sha256?: Buffer
    total: number
    emptyRows: number
    passedOver: number
  },
): Promise<void> {
  // Its turn may have come during the upload.
  const { status } = await m.trx
    .selectFrom('import')
    .where('id', '=', id)
    .select('status')
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const isDone = values.total === 0
  await m.trx
    .updateTable('import')
    .set({
      ...values,
      status: isDone ? 'finished' : status === 'pending' ? 'active' : status,
      header: sql`${JSON.stringify(header)}::text::json`,
      dialect: sql`${JSON.stringify(dialect)}::text::jsonb`,
      startedAt: status === 'pending' || isDone ? sql`now()` : null,
      endedAt: isDone ? sql`now()` : null,
      updatedAt: sql`now()`,
    })
    .where('id', '=', id)
    .execute()
  if (status !== 'pending') return
  if (isDone) await openNext(m.trx)
  else await enqueueBatch(m.trx, { import: uuid, start: 0 })
}

/** The number of the lock of an import: locks have 31 bits, and ids go on after that. */
const importLock = (id: number): number => id % 2 ** 31

/**
 * Held for as long as the rows of an upload are taken in, or somebody changes the state of the import by hand. Its row stays free
 * meanwhile: its turn may come then.
 * @returns false when somebody else holds it
 */
export async function holdImport(trx: Db, id: number): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(hashtext(current_schema() || ' import'), ${importLock(id)}::int) as held`.execute(
    trx,
  )
  return one(rows).held
}

/** The import, locked for a change of its state. One that is being uploaded right now, or changed, is refused with `busy`. */
async function lockImport(m: Mutation, uuid: string, busy: FieldCode): Promise<ImportRow> {
  const found = await requireImport(m.read, uuid)
  const isHeld = await holdImport(m.trx, found.id)
  const row = isHeld && (await lockedRow(m, found.id).skipLocked().executeTakeFirst())
  if (row) return row
  await requireImport(m.read, uuid)
  throw importFault(busy, IN_USE)
}

/** The same, waiting for a batch that is being written, though not for an upload that goes on and on. */
async function lockImportSoon(m: Mutation, uuid: string): Promise<ImportRow> {
  await m.sql`set local lock_timeout = '3s'`
  const found = await requireImport(m.read, uuid)
  try {
    await m.sql`select pg_advisory_xact_lock(hashtext(current_schema() || ' import'), ${importLock(found.id)}::int)`
    const row = await lockedRow(m, found.id).executeTakeFirst()
    if (row) return row
  } catch (error) {
    throw isLockTimeout(error) ? importFault('invalid-status', IN_USE) : error
  }
  throw notFound()
}

function lockedRow(m: Mutation, id: number) {
  const alive = m.trx.selectFrom('import').where('deletedAt', 'is', null)
  return alive.where('id', '=', id).selectAll().select([PLACE, LACKS_WORKER]).forNoKeyUpdate()
}

/** What whoever comes second is told. */
export const IN_USE = 'Aan deze import wordt op dit moment al gewerkt.'

const MOST_QUEUED = 100

/** @throws Problem 400 `imports-off` where no import may be made */
export function requireMayImport({ importsOpen }: Pick<Config, 'importsOpen'>): void {
  if (importsOpen === 0) throw importFault('imports-off', 'Imports staan hier uit: er mogen er 0 open zijn.')
}

/**
 * Only one import is open at a time: the index `import_one_open` says so, this names the one that is.
 * @throws Problem `existing-import-started` when there is one
 */
export async function createImport(m: Mutation, values: Made = {}): Promise<{ id: number; uuid: string }> {
  const make = async () =>
    (await countQueued(m)) === 0 ? insertImport(m, { status: 'pending', ...values }) : undefined
  const made = (await make()) ?? ((await stopForsaken(m.trx)) ? await make() : undefined)
  if (made) return made
  await refuseOtherImport(m)
  throw new Problem(409, { detail: 'De open import is zojuist gestopt: probeer het opnieuw.' })
}

/**
 * An import that waits for its turn. The caller calls `openNext` when it is complete.
 * @throws Problem `existing-import-started` when too many wait
 */
export async function queueImport(m: Mutation, values: Made = {}): Promise<{ id: number; uuid: string }> {
  if ((await countQueued(m)) >= MOST_QUEUED)
    throw importFault('existing-import-started', `Er wachten al ${MOST_QUEUED} imports.`)
  return expected(await insertImport(m, { status: 'queued', ...values }))
}

type Made = { startedBy?: string; bestandsnaam?: string; restOf?: number }

async function countQueued(m: Mutation): Promise<number> {
  const count = sql<number>`count(*)::int`.as('count')
  return (await m.trx.selectFrom('import').where('status', '=', 'queued').select(count).executeTakeFirstOrThrow()).count
}

function insertImport(m: Mutation, values: Made & { status: 'pending' | 'queued' }) {
  m.unrecorded('an import is no resource of the standard')
  return m.trx
    .insertInto('import')
    .values({ applicatieUuid: m.actor.applicatieUuid, clientId: m.actor.clientId, ...values })
    .onConflict((conflict) => conflict.doNothing()) // naming the index takes its condition as parameters, which no plan can use
    .returning(['id', 'uuid'])
    .executeTakeFirst()
}

/** @throws Problem `existing-import-started` when another import is open */
export async function refuseOtherImport(m: Mutation, id?: number): Promise<void> {
  const other = await m.trx
    .selectFrom('import')
    .where('status', 'in', ['pending', 'active'])
    .$call(when(id, (query, id) => query.where('id', '!=', id)))
    .select(['uuid', 'status'])
    .executeTakeFirst()
  if (!other) return
  const url = link(m.actor.base, 'import', other.uuid)
  throw importFault('existing-import-started', `Er is al een open import (${other.status}): ${url}/status`)
}

/** How long an import is open without a file while others want to begin. */
const FORSAKEN = '15 minutes'

/** Ends the open import when its file did not come for long, and is not coming now: whoever made it has gone. @returns whether it did */
async function stopForsaken(trx: Db): Promise<boolean> {
  const { rows } = await sql<{ id: number }>`
    select id from import where status = 'pending' and updated_at < now() - ${FORSAKEN}::interval`.execute(trx)
  for (const { id } of rows) {
    if (!(await holdImport(trx, id))) return false
    await stopImport(trx, id, 'Er kwam geen bestand, en een andere import wilde beginnen.')
  }
  return rows.length > 0
}

/** Lets those that wait go on behind an open import whose file did not come. To be called now and then. */
export async function passForsaken(db: Db): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const waiting = await sql`select from import where status = 'queued' limit 1`.execute(trx)
    if (waiting.rows.length > 0) await stopForsaken(trx)
  })
}

/** The import of which another may bring the rest: it has ended. @throws Problem 404, or 400 `invalid-status` */
export async function requireEnded(m: Mutation, uuid: string): Promise<number> {
  const { id, status } = await requireImport(m.read, uuid)
  if (status !== 'finished' && status !== 'error')
    throw importFault('invalid-status', `Van deze import is nog geen rest: hij is ${status}.`)
  return id
}

/** Ends an open import, or one that waits for its turn; what was imported stays. */
export async function cancelImport(m: Mutation, uuid: string): Promise<ImportRow> {
  m.unrecorded('an import is no resource of the standard')
  const found = await lockImportSoon(m, uuid)
  if (!['queued', 'pending', 'active'].includes(found.status)) {
    throw importFault('invalid-status', `Deze import is al gestopt (${found.status}).`)
  }
  await stopImport(m.trx, found.id, GEANNULEERD)
  return requireImport(m.read, found.uuid)
}

/** Lets no further batch begin; the one that is being handled is finished. */
export async function pauseImport(m: Mutation, uuid: string): Promise<ImportRow> {
  m.unrecorded('an import is no resource of the standard')
  const found = await lockImportSoon(m, uuid)
  if (found.status !== 'active' || found.pausedAt) throw importFault('invalid-status', 'Deze import loopt niet.')
  await m.trx.updateTable('import').set({ pausedAt: sql`now()` }).where('id', '=', found.id).execute()
  return requireImport(m.read, found.uuid)
}

/** Whether it may go on: it is paused, or it stopped by itself with rows left. */
export function canContinue({ status, reason, pausedAt, processed, total }: ImportRow): boolean {
  if (status === 'active') return pausedAt !== null
  return status === 'error' && reason !== GEANNULEERD && processed < total
}

/** Lets an import go on behind its last batch. */
export async function continueImport(m: Mutation, uuid: string): Promise<ImportRow> {
  m.unrecorded('an import is no resource of the standard')
  const found = await lockImportSoon(m, uuid)
  if (!canContinue(found)) throw importFault('invalid-status', `Deze import kan niet verder gaan (${found.status}).`)
  await refuseOtherImport(m, found.id)
  await m.trx
    .updateTable('import')
    .set({ status: 'active', reason: null, pausedAt: null, endedAt: null, updatedAt: sql`now()` })
    .where('id', '=', found.id)
    .execute()
    .catch((error) => {
      throw isUniqueViolation(error) ? importFault('existing-import-started', 'Er is al een open import.') : error
    })
  await enqueueBatch(m.trx, { import: found.uuid, start: found.processed })
  return requireImport(m.read, found.uuid)
}

/** The reason of an import that somebody cancelled. */
export const GEANNULEERD = 'Geannuleerd.'

/** Removes an import that does not run; its documents stay. @returns what it was */
export async function deleteImport(m: Mutation, uuid: string): Promise<ImportRow> {
  m.unrecorded('an import is no resource of the standard')
  const found = await lockImport(m, uuid, 'import-invalid-status')
  if (found.status === 'active')
    throw importFault('import-invalid-status', 'Een lopende import kan niet worden verwijderd.')
  await deleteImportRow(m, found)
  return found
}

/** Out of sight at once; a job removes its rows bit by bit. */
export async function deleteImportRow(
  m: Pick<Mutation, 'trx' | 'enqueue'>,
  { id, status }: Pick<ImportRow, 'id' | 'status'>,
): Promise<void> {
  await m.trx
    .updateTable('import')
    .set({ deletedAt: sql`now()`, status: status === 'pending' || status === 'queued' ? 'error' : status })
    .where('id', '=', id)
    .execute()
  if (status === 'pending') await openNext(m.trx)
  await m.enqueue('remove-import', { id }, { jobKey: `remove-import:${id}` })
}

/** 400 on the import as a whole: `__all__` is the name that clients know for it. */
export function importFault(code: FieldCode, reason: string): Problem {
  return invalid('__all__', code, reason)
}
