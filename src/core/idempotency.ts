// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-06): a client names a request, and when it repeats that, since the
// answer never came, it gets the answer of the first time.
//
// The key commits with the change, in the statement that is made anyway, together with what `mutate` gave back: a repeated request
// goes through its handler again, and gets from `mutate` what the first one got. Nobody looks beforehand whether the key is known, so
// that a request that is not repeated has no round trip more. One that is repeated runs into the unique key, or is refused on the
// way, since what it makes is there already: only then its key is looked up.
import { hash } from 'node:crypto'
import type postgres from 'postgres'
import type { Database } from '../database/database.ts'
import type { Numbers } from '../lib/numbers.ts'
import type { Actor } from './actor.ts'
import { LIMITS } from './limits.ts'
import { Problem } from './problem.ts'
import type { RequestKey } from './request-key.ts'

type Sql = postgres.Sql | postgres.TransactionSql
type Part = postgres.PendingQuery<postgres.Row[]>
/** What was kept: `status` is null while the request is under way, and from 400 on `answer` is the problem. */
type Kept = { status: number | null; answer: string | null; made: object | null; fits: boolean; expired: boolean }

const PRIMARY_KEY = 'idempotency_key_pkey'
/** Whether a statement failed since the key is there. */
export const isKnownKey = (error: unknown): boolean =>
  (error as { constraint_name?: unknown } | null)?.constraint_name === PRIMARY_KEY

/** The SHA-256 of a request: the same one twice is meant to be done once. */
export const fingerprintOf = (method: string, url: string, content: Buffer): Buffer =>
  hash('sha256', `${method} ${url} ${content.toString('base64')}`, 'buffer')

/** A request that has a key, and whose body is here. */
export const keyOf = (actor: Actor): RequestKey | undefined =>
  actor.key && !actor.key.isKept && actor.applicatieUuid && actor.key.fingerprint() ? actor.key : undefined

/** An answer as it is kept; null when it is too large for that. */
const textOf = (answer: unknown, numbers: Numbers): string | null => {
  const text = numbers.seal(JSON.stringify(answer ?? null))
  return text.length > LIMITS.keptAnswer ? null : text
}

/** A part of a WITH that keeps the key with an answer, of which the part `gemaakt` has the members that the database made. */
export const keyOfRow = (
  sql: Sql,
  actor: Actor,
  key: RequestKey,
  numbers: Numbers,
  answer: unknown,
): Part => sql`sleutel as (
    insert into idempotency_key (applicatie_uuid, key, fingerprint, status, answer, made)
    select ${actor.applicatieUuid}::uuid, ${key.text}, ${key.fingerprint()}::bytea, 200, ${textOf(answer, numbers)}::text, gemaakt.nieuw
    from gemaakt)`

/** Keeps the key with an answer. */
export const keepKey = (sql: Sql, actor: Actor, key: RequestKey, numbers: Numbers, answer: unknown) => sql`
  insert into idempotency_key (applicatie_uuid, key, fingerprint, status, answer)
  values (${actor.applicatieUuid}, ${key.text}, ${key.fingerprint()}, 200, ${textOf(answer, numbers)})`

/** Keeps the key of a request that is committed before it has its answer: until then who repeats it is told to wait. */
export const claimKey = (sql: Sql, actor: Actor, key: RequestKey, numbers: Numbers, answer: unknown) => sql`
  insert into idempotency_key (applicatie_uuid, key, fingerprint, answer)
  values (${actor.applicatieUuid}, ${key.text}, ${key.fingerprint()}, ${textOf(answer, numbers)})`

/** Ends what `claimKey` began: it was done, or it was taken back. */
export const endKey = (sql: Sql, applicatieUuid: string, key: string, isDone: boolean) =>
  isDone
    ? sql`update idempotency_key set status = 200 where applicatie_uuid = ${applicatieUuid} and key = ${key} and status is null`
    : sql`delete from idempotency_key where applicatie_uuid = ${applicatieUuid} and key = ${key} and status is null`

/**
 * Whether a refusal may come of it that the request was done before. Who lost its rights meanwhile sees nothing of what it made:
 * what a GET refuses is not answered again either.
 */
export const mayComeOfRepetition = ({ status, isOfState }: Problem): boolean =>
  status < 500 && (status !== 403 || isOfState)

/** Thrown when the same request was refused before: with the body of that answer. */
export class RefusedBefore extends Error {
  readonly status: number
  readonly body: string
  constructor(status: number, body: string) {
    super('refused before')
    this.status = status
    this.body = body
  }
}

/**
 * What a request with this key got before. One whose term is over is forgotten.
 * @returns `answer` of `mutate`; undefined when nothing is known of the key
 * @throws Problem 422 when that was another request, 409 while it is under way or when its answer was too large
 * @throws RefusedBefore
 */
export async function findKept(
  { sql, numbers }: Pick<Database, 'sql' | 'numbers'>,
  actor: Actor,
  key: RequestKey,
): Promise<{ answer: unknown } | undefined> {
  const [kept] = await sql<Kept[]>`
    select status, answer, made, fingerprint = ${key.fingerprint()}::bytea as fits,
      created_at < now() - make_interval(hours => ${key.hours}::int) as expired
    from idempotency_key where applicatie_uuid = ${actor.applicatieUuid}::uuid and key = ${key.text}`
  if (kept?.expired && kept.status !== null) {
    await sql`delete from idempotency_key
      where applicatie_uuid = ${actor.applicatieUuid} and key = ${key.text} and status is not null
        and created_at < now() - make_interval(hours => ${key.hours}::int)`
    return undefined
  }
  if (!kept) return undefined
  if (!kept.fits)
    throw new Problem(422, {
      code: 'idempotency-key-reused',
      detail: 'Deze Idempotency-Key hoort al bij een andere aanvraag. Neem voor elke aanvraag een nieuwe.',
    })
  if (kept.status === null) throw underWay()
  if (kept.answer === null)
    throw new Problem(409, {
      detail: 'Deze aanvraag is al uitgevoerd. Het antwoord was te groot om te bewaren: haal op wat er is.',
    })
  key.isReplayed = true
  if (kept.status >= 400) throw new RefusedBefore(kept.status, kept.answer)
  const answer: unknown = JSON.parse(numbers.open(kept.answer))
  return { answer: kept.made ? { ...(answer as object), ...kept.made } : answer }
}

/** 409: the first request with this key has no answer yet. */
const underWay = () =>
  new Problem(409, {
    detail: 'De eerste aanvraag met deze Idempotency-Key loopt nog.',
    headers: { 'retry-after': '1' },
  })

/** Answers that judged a request by itself, and not by who may do what, or by a state that may have changed: the same one gets them again. */
const isJudgement = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 403, 408, 409, 412, 429].includes(status)

/**
 * A request was refused: keeps that, unless it was answered before.
 * @param body of the refusal
 * @throws what `findKept` throws; RefusedBefore also with what is kept now. Where it was done before, the answer of that time
 *   cannot be made here: 409 says so
 */
export async function keepRefusal(sql: postgres.Sql, actor: Actor, status: number, body: string): Promise<void> {
  const key = keyOf(actor)
  if (!key || key.isReplayed || !isJudgement(status) || body.length > LIMITS.keptAnswer) return
  await sql`
    insert into idempotency_key (applicatie_uuid, key, fingerprint, status, answer)
    values (${actor.applicatieUuid}, ${key.text}, ${key.fingerprint()}, ${status}, ${body})
    on conflict do nothing`
}
