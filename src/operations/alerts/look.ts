// A look: what is found is held against what is told of (table `alert`), and only what begins, gets worse or ends is told. That, what is
// told to whom (`alert_message`) and the job that sends it are one transaction, under one lock: a process that dies tells all of it or
// nothing, and of several that look at once one tells. Something is over when it was not found for a while, so that what comes and
// goes is told once.
import type { TransactionSql } from 'postgres'
import type { Config } from '../../config.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { type Database, kyselyOn, readerOf } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { enqueue } from '../../jobs/queue.ts'
import { type Found, findConditions } from './conditions.ts'
import { isOnce, type Kind, type Line } from './kinds.ts'
import { type AlertSettings, readAlertSettings } from './settings.ts'

const LOCK = 31332 // any number that no other advisory lock of this database uses
const OVER_AFTER_SECONDS = 120
const KEPT_DAYS = { alert: 90, message: 30 }

type Parts = { database: Database; config: Config; box: SecretBox }

/** Looks at everything, as a worker does. @returns how many lines were told */
export async function lookAtAll(parts: Parts & Parameters<typeof findConditions>[0]): Promise<number> {
  const rows = await parts.database.sql<{ key: string }[]>`select key from alert where ended_at is null`
  const found = await findConditions(parts, new Set(rows.map(({ key }) => key)))
  return tellChanges(parts, found, () => true)
}

type Open = {
  id: number
  key: string
  kind: Kind
  level: number
  text: string
  path: string
  isMissing: boolean
  isOver: boolean
}

/**
 * Tells what changed.
 * @param scope keys that were looked for: others are left as they are
 * @returns how many lines were told; 0 also when another process tells them at this moment
 */
export async function tellChanges(parts: Parts, found: Found, scope: (key: string) => boolean): Promise<number> {
  const settings = await readAlertSettings(readerOf(parts.database).db, parts.config, parts.box)
  return parts.database.sql.begin(async (trx) => {
    const { free } = one(
      await trx<{ free: boolean }[]>`select pg_try_advisory_xact_lock(${LOCK}, hashtext(current_schema())) as free`,
    )
    if (!free) return 0
    const open = await trx<Open[]>`
      select id, key, kind, level, text, path, missing_since is not null as "isMissing",
        missing_since < now() - ${OVER_AFTER_SECONDS} * interval '1 second' as "isOver"
      from alert where ended_at is null order by id for update`
    const lines = [...(await begin(trx, found, open)), ...(await end(trx, found, open, scope))]
    await forgetOld(trx)
    if (lines.length > 0) await tell(trx, lines, settings)
    const due = await trx`select from alert_message where sent_at is null and next_at <= now() limit 1`
    if (due.length > 0) await enqueue(kyselyOn(trx), 'send-alerts', {}, { jobKey: 'send-alerts' })
    return lines.length
  })
}

/** What is new, and what got worse. */
async function begin(sql: TransactionSql, { conditions }: Found, open: Open[]): Promise<Line[]> {
  const lines: Line[] = []
  const known = new Map(open.map((row) => [row.key, row]))
  for (const { key, kind, level, text, path } of conditions) {
    const row = known.get(key)
    if (row && row.level >= level) {
      if (row.isMissing || row.text !== text)
        await sql`update alert set missing_since = null, text = ${text} where id = ${row.id}`
      continue
    }
    const told = row
      ? await sql<{ moment: string }[]>`
          update alert set level = ${level}, text = ${text}, path = ${path}, missing_since = null
          where id = ${row.id} returning now() as moment`
      : await sql<{ moment: string }[]>`
          insert into alert (key, kind, level, text, path) values (${key}, ${kind}, ${level}, ${text}, ${path}) returning since as moment`
    lines.push({ event: row ? 'erger' : 'begin', kind, text, path, moment: one(told).moment })
  }
  return lines
}

/** What was not found for a while. */
async function end(
  sql: TransactionSql,
  { conditions, isWhole }: Found,
  open: Open[],
  scope: (key: string) => boolean,
): Promise<Line[]> {
  const lines: Line[] = []
  const found = new Set(conditions.map(({ key }) => key))
  for (const { id, key, kind, text, path, isMissing, isOver } of open) {
    if (found.has(key) || !scope(key) || !isWhole(kind)) continue
    if (!isOver) {
      if (!isMissing) await sql`update alert set missing_since = now() where id = ${id}`
      continue
    }
    const ended = one(
      await sql<{ moment: string }[]>`update alert set ended_at = now() where id = ${id} returning now() as moment`,
    )
    if (!isOnce(key)) lines.push({ event: 'einde', kind, text, path, moment: ended.moment })
  }
  return lines
}

/** A message for each account that wants some of these lines, with those, and one for the webhook. */
async function tell(sql: TransactionSql, lines: Line[], { mail, webhook }: AlertSettings): Promise<void> {
  const accounts = mail
    ? await sql<{ id: number; kinds: string[] }[]>`
        select id, alert_kinds as kinds from beheer_account where actief and email <> '' and cardinality(alert_kinds) > 0`
    : []
  for (const { id, kinds } of accounts) {
    const wanted = lines.filter(({ kind }) => kinds.includes(kind))
    if (wanted.length > 0) await addMessage(sql, id, 'melding', wanted)
  }
  if (webhook) await addMessage(sql, null, 'melding', lines)
}

const addMessage = (sql: TransactionSql, accountId: number | null, kind: string, lines: Line[]) =>
  sql`insert into alert_message (account_id, kind, lines) values (${accountId}, ${kind}, ${JSON.stringify(lines)}::text::jsonb)`

async function forgetOld(sql: TransactionSql): Promise<void> {
  await sql`delete from alert where ended_at < now() - make_interval(days => ${KEPT_DAYS.alert})`
  await sql`delete from alert_message where created_at < now() - make_interval(days => ${KEPT_DAYS.message})`
}

/** Hours after a digest during which there is no other one. */
const BETWEEN_HOURS = 20

/**
 * Prepares the digest of whoever wants it: what goes on, and what began or ended in the last day.
 * @returns how many messages there are
 */
export async function prepareDigests({ database, config, box }: Parts): Promise<number> {
  const { mail } = await readAlertSettings(readerOf(database).db, config, box)
  if (!mail) return 0
  return database.sql.begin(async (trx) => {
    await trx`select pg_advisory_xact_lock(${LOCK}, hashtext(current_schema()))` // before looking who got one
    const lines = await trx<Line[]>`
      select case when ended_at is null then 'begin' else 'einde' end as event, kind, text, path, coalesce(ended_at, since) as moment
      from alert where ended_at is null or ended_at > now() - interval '1 day' order by ended_at is not null, level desc, id limit 500`
    const accounts = await trx<{ id: number }[]>`
      select id from beheer_account a where actief and email <> ''
        and (alert_digest = 'altijd' or alert_digest = 'nodig' and ${lines.length > 0})
        and not exists (select from alert_message b where b.account_id = a.id and b.kind = 'samenvatting'
          and b.created_at > now() - make_interval(hours => ${BETWEEN_HOURS}))
      order by id`
    for (const { id } of accounts) await addMessage(trx, id, 'samenvatting', [...lines])
    if (accounts.length > 0) await enqueue(kyselyOn(trx), 'send-alerts', {}, { jobKey: 'send-alerts' })
    return accounts.length
  })
}
