// Settings: where notifications go and how often they are tried, kept in the database and read at every attempt.
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Config } from '../config.ts'
import { systemActor } from '../core/access.ts'
import { json, type Mutation, mutator } from '../core/mutate.ts'
import { EXTERNAL } from '../core/outbox.ts'
import { invalid } from '../core/problem.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database, ReadDb } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { saveService } from '../services/register.ts'
import { receiverAnswers, wakeSender } from './resend.ts'

export const NotificationSettings = Type.Object({
  /** Slug of the service; null: none, messages wait. */
  dienst: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  maxRetries: Type.Integer({ minimum: 0, maximum: 100 }),
  backoff: Type.Unsafe<number | boolean>({ type: ['number', 'boolean'], minimum: 0, maximum: 1_000_000 }),
  backoffMax: Type.Integer({ minimum: 1, maximum: 31_536_000 }),
  baseFactor: Type.Integer({ minimum: 1, maximum: 1000 }),
  /** Messages of one main object wait for each other. */
  inOrder: Type.Boolean(),
  /** At which receivers an attempt counts while the receiver fails as a whole. */
  outageCounts: Type.Enum(['geen', 'extern', 'alle']),
})
export type NotificationSettings = Static<typeof NotificationSettings>

/** What administrators set. The row is always there: a migration made it. */
export async function readSettings(db: ReadDb): Promise<NotificationSettings> {
  const row = await db
    .selectFrom('notificatieSettings as i')
    .leftJoin('service as d', 'd.id', 'i.configuredServiceId')
    .select([
      'd.slug as dienst',
      'i.maxRetries',
      'i.backoff',
      'i.backoffMax',
      'i.baseFactor',
      'i.inOrder',
      'i.outageCounts',
    ])
    .executeTakeFirstOrThrow()
  const outageCounts = row.outageCounts as NotificationSettings['outageCounts']
  return { ...row, backoff: row.backoff as number | boolean, outageCounts }
}

/**
 * Changes the settings. They count for what is waiting from its next attempt on; what waited for a service, or for an
 * earlier message, goes.
 * @returns whether anything changed
 * @throws Problem 400 on `dienst` when it is no notifications service of ours
 */
export async function saveSettings(m: Mutation, values: Partial<NotificationSettings>): Promise<boolean> {
  m.unrecorded('settings are no resource of the standard')
  await m.trx.selectFrom('notificatieSettings').select('singleton').forUpdate().execute()
  const before = await readSettings(m.read)
  const after = { ...before, ...values }
  if (JSON.stringify(after) === JSON.stringify(before)) return false
  const { dienst, backoff, ...others } = after
  await m.trx
    .updateTable('notificatieSettings')
    .set({
      ...others,
      backoff: json(backoff),
      configuredServiceId: await nrcId(m.read, dienst),
      changedAt: sql<string>`now()`,
    })
    .execute()
  if (dienst !== before.dienst) await receiverAnswers(m, EXTERNAL)
  else await wakeSender(m)
  return true
}

/** Who gets our messages: `extern`, `ingebouwd` (the abonnementen here) or `beide`. */
export async function readModus(db: ReadDb): Promise<'extern' | 'ingebouwd' | 'beide'> {
  const { mode } = await db.selectFrom('notificatieSettings').select('mode').executeTakeFirstOrThrow()
  return mode as 'extern' | 'ingebouwd' | 'beide'
}

/** Waiting messages are counted up to here, for each receiver. */
export const WAITING_TO = 10_000

export type Pauses = {
  /** Since when sending is paused to all; null: it is not. */
  all: string | null
  /** And to the external service alone. */
  external: string | null
  /** How many abonnementen are paused. */
  subscribers: number
  /** Messages that wait for that, one for each receiver; one more than `WAITING_TO`, or more: there are more. */
  waiting: number
}

/** What is paused, and how much waits for that. */
export async function readPauses(db: ReadDb): Promise<Pauses> {
  const { rows } = await sql<Pauses>`
    select i.paused_at as all, x.paused_at as external, p.subscribers, w.waiting
    from notificatie_settings i cross join external_receiver x
    cross join lateral (
      select count(*)::int as subscribers from abonnement where status = 'gepauzeerd' and deleted_at is null) p
    cross join lateral (
      select coalesce(sum(c.count), 0)::int as waiting
      from (
        select ${EXTERNAL}::bigint as id where i.paused_at is not null or x.paused_at is not null
        union all select id from abonnement where deleted_at is null and (i.paused_at is not null or status = 'gepauzeerd')) r
      cross join lateral (
        select count(*) from (
          select from delivery l where l.abonnement_id = r.id and l.status = 'gepland' limit ${WAITING_TO + 1}) l) c) w`.execute(
    db,
  )
  return one(rows)
}

/**
 * Pauses sending, for all workers and until it is resumed; or resumes it, and what waited goes. What is being sent at that moment is
 * finished, and nothing that waits is lost.
 * @param receiver all, or the external service alone; of an abonnement `pauseAbonnement` is the pause
 * @returns whether anything changed
 */
export async function setPaused(m: Mutation, pause: boolean, receiver: 'all' | 'external' = 'all'): Promise<boolean> {
  m.unrecorded('settings are no resource of the standard')
  const { numUpdatedRows } = await m.trx
    .updateTable(receiver === 'all' ? 'notificatieSettings' : 'externalReceiver')
    .set({ pausedAt: pause ? sql<string>`now()` : null })
    .where('pausedAt', pause ? 'is' : 'is not', null)
    .executeTakeFirst()
  // What senders have seen until now counts no more.
  await m.trx.updateTable('notificatieSettings').set({ changedAt: sql<string>`now()` }).execute()
  if (!pause) await wakeSender(m)
  return numUpdatedRows > 0n
}

/** A service is called otherwise from now: what notifications met at the one before says nothing of it, and what waits goes. */
export async function followService(m: Mutation, slug: string): Promise<void> {
  const found = await m.sql`
    select 1 from notificatie_settings i join service d on d.id = i.configured_service_id where d.slug = ${slug}`
  if (found.length > 0) await receiverAnswers(m, EXTERNAL)
}

async function nrcId(db: ReadDb, slug: string | null): Promise<number | null> {
  if (slug === null) return null
  const row = await db.selectFrom('service').where('slug', '=', slug).select(['id', 'kind']).executeTakeFirst()
  if (row?.kind === 'nrc') return row.id
  throw invalid('dienst', 'does_not_exist', 'Er is geen dienst van soort nrc met deze slug.')
}

/** The slug of the notifications service that settings make. */
export const SLUG = 'notificaties'

/** Takes the notifications service from the environment, as long as nothing else was ever set. */
export async function fillSettings(database: Database, box: SecretBox, config: Config): Promise<void> {
  const given = config.notifications
  if (!given) return
  await mutator(database)(systemActor('start'), async (m) => {
    m.unrecorded('settings are no resource of the standard')
    await m.trx.selectFrom('notificatieSettings').select('singleton').forUpdate().execute() // processes that start together
    const { dienst } = await readSettings(m.read)
    const known = await m.read.selectFrom('service').where('slug', '=', SLUG).select('id').executeTakeFirst()
    if (dienst !== null || known) return
    await saveService(m, box, { label: 'Notificaties', slug: SLUG, soort: 'nrc', authenticatie: 'zgw', ...given })
    await saveSettings(m, { dienst: SLUG })
  })
}
