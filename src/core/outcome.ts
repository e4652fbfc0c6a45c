// What a client holds of a change whose outcome was unknown: a link that tells later what became of it. All that is needed to find out is
// sealed in the link, since the database was away when it was made. Only its client may ask, within a day: a server forgets the numbers
// of transactions after a while.
import { type Database, OutcomeUnknown } from '../database/database.ts'
import { outcomeLater, type Trace } from '../database/outcome.ts'
import { one } from '../database/rows.ts'
import type { SecretBox } from './secret-box.ts'

/** A change whose answer was lost. */
export type Pending = {
  trace: Trace
  /** uuid of its first record and message. */
  mark: string
  /** The main object of its first record; undefined when it leaves none. */
  mainObject: string | undefined
  /** What the request would have been answered, where that is short, or its URL. */
  result: object | undefined
}
export type Outcome = 'done' | 'not-done' | 'unknown'

const KEPT_MS = 24 * 60 * 60 * 1000
const LONGEST_RESULT = 500
const ownerOf = (applicatieUuid: string) => `outcome:${applicatieUuid}`
type Sealed = Omit<Pending, 'trace'> & { xact: Trace['xact']; pid: number | undefined; at: number }

/** What is told of an answer: all of a short one, as that of a lock, and else where it can be had. */
export function resultOf(answer: unknown): object | undefined {
  if (answer === null || typeof answer !== 'object') return undefined
  const { url } = answer as { url?: unknown }
  if (typeof url === 'string') return { url }
  return JSON.stringify(answer).length <= LONGEST_RESULT ? answer : undefined
}

/** @returns text for a link of this applicatie */
export function sealPending(
  { seal }: SecretBox,
  applicatieUuid: string,
  { trace: { xact, backend }, ...rest }: Pending,
): string {
  const at = Date.now() - (backend ? performance.now() - backend.at : 0)
  const sealed: Sealed = { ...rest, xact, pid: backend?.pid, at }
  return seal(JSON.stringify(sealed), ownerOf(applicatieUuid)).toString('base64url')
}

/** @returns undefined when this was not made for this applicatie, or more than a day ago */
export function openPending({ open }: SecretBox, applicatieUuid: string, text: string): Pending | undefined {
  try {
    const { xact, pid, at, ...rest } = JSON.parse(
      open(Buffer.from(text, 'base64url'), ownerOf(applicatieUuid)),
    ) as Sealed
    const age = Date.now() - at
    if (age > KEPT_MS) return undefined
    return { ...rest, trace: { xact, backend: pid === undefined ? undefined : { pid, at: performance.now() - age } } }
  } catch {
    return undefined
  }
}

/** What became of it, as far as it can be told now. */
export async function outcomeOf(database: Database, { trace, mark, mainObject }: Pending): Promise<Outcome> {
  const isThere = mainObject === undefined ? undefined : () => isRecorded(database, mark, [mainObject])
  try {
    const done = await outcomeLater(database, trace, isThere)
    return done === undefined ? 'unknown' : done ? 'done' : 'not-done'
  } catch (error) {
    if (error instanceof OutcomeUnknown) return 'unknown'
    throw error
  }
}

/** Whether the record of a change of these main objects with this mark is there. */
export async function isRecorded({ sql }: Database, mark: string, mainObjects: string[]): Promise<boolean> {
  const rows = await sql<{ recorded: boolean }[]>`
    select exists (select from audit where hoofd_object_uuid = any(${mainObjects}::uuid[]) and uuid = ${mark})
      or exists (select from notificatie where uuid = ${mark}) as recorded`
  return one(rows).recorded
}
