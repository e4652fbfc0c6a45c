// Receiving the rows of a file. They come as slowly as their sender likes, so while they come no connection, transaction or lock
// is held. A portion at a time is gathered in memory, and written by a change of its own into the rows of a draft that nobody sees.
// When all are there, one transaction takes them: the import says that they are its rows, or the draft is shown. Nothing is copied a
// second time. A small file has one portion, and is written by that transaction alone.
//
// What is left of a file that did not come to its end is removed by a job; of a process that ended, by the daily clean-up.
import { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { sql } from 'kysely'
import type { Config } from '../../config.ts'
import type { Actor } from '../../core/actor.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Mutate, Mutation } from '../../core/mutate.ts'
import { Problem } from '../../core/problem.ts'
import { countLongAnswers } from '../../http/long-answers.ts'
import { fifthOf } from '../../http/places.ts'
import { inTurn } from '../../lib/in-turn.ts'
import { CsvError, portionsOf, type Shift } from './csv.ts'

/** Rows that came whole. */
export type ReceivedRows = {
  counts: { total: number; emptyRows: number; passedOver: number }
  shifts: Shift[]
  /** The hidden draft with the rows that were written already. */
  draft: number | undefined
  /** The rows after those, as lines of `rowLine`. */
  rest: string[]
}

export type Receiver = {
  mutate: Mutate
  config: Config
  actor: Actor
  /** Ends the reading of what needs no sender any more, when he has gone. */
  signal?: AbortSignal | undefined
}

/** Counts a file that is being received, until its answer is given. @throws Problem 503 when there are as many as may be */
export const countReceiving = countLongAnswers(LIMITS.uploads, LIMITS.uploadsOfClient, LIMITS.uploadsOfAccount)

/**
 * Reads rows to their end, and lets `take` have them; when either fails, nothing of them is kept.
 * @param options of `portionsOf` @throws what that throws
 */
export async function receiveRows<T>(
  { mutate, config, actor, signal }: Receiver,
  regels: AsyncIterable<string[]>,
  options: Parameters<typeof portionsOf>[1],
  take: (rows: ReceivedRows) => Promise<T>,
): Promise<T> {
  // What these changes make is none of what was asked: its key and its conditions are for the change that takes the rows.
  const inPart = <R>(work: (m: Mutation) => Promise<R>): Promise<R> =>
    mutate({ ...actor, key: undefined, precondition: undefined }, async (m) => {
      m.unrecorded('rows that nobody sees yet', 'drc')
      return work(m)
    })
  const inShare = shareOf(config)
  const portions = portionsOf(regels, options)
  let draft: number | undefined
  let writing: Promise<void> = Promise.resolve()
  let rest: string[] = []
  const write = async (lines: string[]) => {
    draft ??= await inPart((m) => insertHiddenDraft(m, actor.base))
    const id = draft
    await inShare(() => inPart((m) => copyRows(m, draftRows(id), lines)))
  }
  try {
    // The last portion waits until it is known not to be the only one.
    for await (const portion of portions) {
      signal?.throwIfAborted()
      await writing
      if (rest.length > 0) {
        writing = write(rest)
        writing.catch(() => {}) // it is waited for
      }
      rest = portion
    }
    await writing
    signal?.throwIfAborted()
    const { count: total, emptyRows, passedOver, shifts } = portions
    const received = { counts: { total, emptyRows, passedOver }, shifts, draft, rest }
    return await (draft === undefined ? take(received) : inShare(() => take(received)))
  } catch (error) {
    await writing.catch(() => {})
    const id = draft
    if (id !== undefined) await inPart((m) => removeHiddenDraft(m, id)).catch(() => {}) // the daily clean-up does it
    throw error
  }
}

const shares = new WeakMap<Config, ReturnType<typeof inTurn>>()

/** A fifth of the connections writes what is received: each file has one portion at most that waits. */
function shareOf(config: Config): ReturnType<typeof inTurn> {
  let share = shares.get(config)
  if (!share) {
    share = inTurn(fifthOf(config.databasePoolSize), Number.POSITIVE_INFINITY, () => new Problem(503))
    shares.set(config, share)
  }
  return share
}

/** A draft is hidden as one that was thrown away is. */
async function insertHiddenDraft(m: Mutation, base: string): Promise<number> {
  const { id } = await m.trx
    .insertInto('importDraft')
    .values({ baseUrl: base, deletedAt: sql`now()` })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Unless it was shown meanwhile, as a commit may have been whose answer was lost. */
async function removeHiddenDraft(m: Mutation, id: number): Promise<void> {
  const hidden = await m.trx
    .selectFrom('importDraft')
    .where('id', '=', id)
    .where('deletedAt', 'is not', null)
    .select('id')
    .executeTakeFirst()
  if (hidden) await m.enqueue('remove-draft', { id }, { jobKey: `remove-draft:${id}` })
}

/** Where the rows of a draft are in `import_row`: below zero, so that they are of no import by its own id. */
export const draftRows = (id: number): number => -id

/** Makes them the rows of an import. */
export async function putIntoImport(
  m: Mutation,
  { draft, rest, shifts }: ReceivedRows,
  importId: number,
): Promise<void> {
  if (draft !== undefined) {
    await m.trx
      .updateTable('import')
      .set({ rowsId: draftRows(draft) })
      .where('id', '=', importId)
      .execute()
    await m.enqueue('remove-draft', { id: draft }, { jobKey: `remove-draft:${draft}` })
  }
  if (rest.length > 0) await copyRows(m, draft === undefined ? importId : draftRows(draft), rest)
  await insertShifts(m, 'import_shift', importId, shifts)
}

/**
 * Makes them the rows of a draft with these values.
 * @throws CsvError when there is none
 */
export async function putIntoDraft(
  m: Mutation,
  { draft, rest, counts, shifts }: ReceivedRows,
  {
    header,
    dialect,
    ...values
  }: {
    bestandsnaam: string
    baseUrl: string
    createdBy: string
    bytes: number
    sha256: Buffer
    header: string[]
    dialect: unknown
  },
): Promise<{ uuid: string }> {
  if (counts.total === 0) throw new CsvError('empty-file', counts.passedOver > 0 ? ALL_IMPORTED : NO_ROWS)
  const shown = {
    ...values,
    ...counts,
    header: sql`${JSON.stringify(header)}::text::json`,
    dialect: sql`${JSON.stringify(dialect)}::text::jsonb`,
    createdAt: sql<string>`now()`,
    deletedAt: null,
  }
  const { id, uuid } = await (draft === undefined
    ? m.trx.insertInto('importDraft').values(shown).returning(['id', 'uuid'])
    : m.trx.updateTable('importDraft').set(shown).where('id', '=', draft).returning(['id', 'uuid'])
  ).executeTakeFirstOrThrow()
  await copyRows(m, draftRows(id), rest)
  await insertShifts(m, 'import_draft_shift', id, shifts)
  return { uuid }
}

const NO_ROWS = 'Het bestand heeft een kopregel, maar geen rijen.'
const ALL_IMPORTED = 'Alle rijen van dit bestand zijn volgens hun kolom resultaat al geïmporteerd.'

async function insertShifts(
  m: Mutation,
  table: 'import_shift' | 'import_draft_shift',
  id: number,
  shifts: Shift[],
): Promise<void> {
  await m.sql`
    insert into ${m.sql(table)}
    select ${id}::bigint, * from unnest(${shifts.map(({ number }) => number)}::int[], ${shifts.map(({ shift }) => shift)}::int[])`
}

/** Writes lines of `rowLine`. */
async function copyRows(m: Mutation, id: number, lines: string[]): Promise<void> {
  const target = await m.sql`copy import_row (import_id, number, cells) from stdin`.writable()
  await pipeline(Readable.from(pieces(id, lines), { objectMode: false }), target, { end: false })
  target.end()
  await finished(target)
}

const PIECE_LINES = 200

function* pieces(id: number, lines: string[]): Generator<Buffer> {
  for (let from = 0; from < lines.length; from += PIECE_LINES) {
    let text = ''
    for (const line of lines.slice(from, from + PIECE_LINES)) text += `${id}\t${line}`
    yield Buffer.from(text)
  }
}
