// Sending alerts: at least once. A message is claimed by the moment until which its attempt may take; when the process dies the message
// is due again after that. What fails is tried again, ever later, for a day.
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { type Database, type Reader, readerOf } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { clientReason, failureCode, failureKind } from '../../services/transport.ts'
import type { Line } from './kinds.ts'
import { mailFailure, sendMail } from './mail.ts'
import { type AlertSettings, readAlertSettings } from './settings.ts'
import { addressOf, type MessageKind, subjectOf, testLine, textOf } from './text.ts'
import { callWebhook, WebhookRefused } from './webhook.ts'

const ATTEMPT_SECONDS = 90
/** Seconds until the next attempt, twice as long each time. */
const FIRST_SECONDS = 60
const MOST_SECONDS = 3600
const GIVEN_UP_HOURS = 24
/** A run ends after so many messages; the next look begins another. */
const MOST = 200

type Parts = { database: Database; config: Config; box: SecretBox; log: Logger }
type Message = {
  id: number
  uuid: string
  kind: MessageKind
  lines: Line[]
  moment: string
  attempts: number
  accountId: number | null
  email: string | null
}

/** Sends what is due. @returns how many messages were accepted */
export async function sendDue({ database, config, box, log }: Parts): Promise<number> {
  const { sql } = database
  let sent = 0
  for (let turn = 0; turn < MOST; turn++) {
    const [message] = await sql<Message[]>`
      with due as (
        select id from alert_message
        where sent_at is null and next_at <= now() and created_at > now() - make_interval(hours => ${GIVEN_UP_HOURS})
        order by next_at, id limit 1 for update skip locked
      ), claimed as (
        update alert_message m set attempts = attempts + 1, next_at = now() + ${ATTEMPT_SECONDS} * interval '1 second'
        from due where m.id = due.id returning m.*
      )
      select c.id, c.uuid, c.kind, c.lines, c.created_at as moment, c.attempts, c.account_id as "accountId", a.email
      from claimed c left join beheer_account a on a.id = c.account_id`
    if (!message) return sent
    try {
      await send(message, await readAlertSettings(readerOf(database).db, config, box), config)
      await sql`update alert_message set sent_at = now(), fault = '' where id = ${message.id}`
      sent++
    } catch (error) {
      const wait = Math.min(FIRST_SECONDS * 2 ** (message.attempts - 1), MOST_SECONDS)
      log.warn({ code: failureCode(error), attempt: message.attempts }, 'an alert was not accepted')
      await sql`
        update alert_message set fault = ${alertFailure(error, message)}, next_at = now() + ${wait} * interval '1 second'
        where id = ${message.id}`
    }
  }
  return sent
}

/** What is not set up any more: nobody gets it, so nothing is lost by calling it a failure. */
class NotSetUp extends Error {}

async function send(message: Message, { mail, webhook }: AlertSettings, config: Config): Promise<void> {
  const { accountId, uuid, kind, lines, email } = message
  if (accountId === null) {
    if (!webhook) throw new NotSetUp()
    return callWebhook(webhook, message, config)
  }
  if (!mail || !email) throw new NotSetUp()
  const subject = subjectOf(kind, lines)
  return sendMail(mail, { id: uuid, to: email, subject, text: `${textOf(kind, lines, config)}\n\n${footer(config)}` })
}

function footer(config: Config): string {
  const url = addressOf({ path: '/mijn-account/meldingen' }, config)
  return `--\nDit is een automatisch bericht. Wat u krijgt kiest u bij Mijn account, Meldingen${url ? `: ${url}` : '.'}`
}

/** Why a message was not accepted, in Dutch and without anything secret. */
function alertFailure(error: unknown, { accountId }: Pick<Message, 'accountId'>): string {
  if (error instanceof NotSetUp) return 'mail of webhook is niet (meer) ingesteld'
  if (accountId !== null) return mailFailure(error)
  return error instanceof WebhookRefused
    ? `de webhook antwoordde met status ${error.status}`
    : clientReason(failureKind(error))
}

type TestParts = { reader: Reader; config: Config; box: SecretBox }

/**
 * Sends a test at once, to a mail address or the webhook.
 * @param to a mail address; left out: the webhook
 * @returns why it was not accepted; undefined when it was
 */
export async function sendTest({ reader, config, box }: TestParts, to?: string): Promise<string | undefined> {
  const { now: moment, uuid } = one(
    await reader.sql<{ now: string; uuid: string }[]>`select now(), gen_random_uuid() as uuid`,
  )
  const email = to ?? null
  const accountId = to === undefined ? null : 0
  const message: Message = {
    id: 0,
    uuid,
    kind: 'test',
    lines: [testLine(moment)],
    moment,
    attempts: 1,
    accountId,
    email,
  }
  try {
    await send(message, await readAlertSettings(reader.db, config, box), config)
    return undefined
  } catch (error) {
    return alertFailure(error, message)
  }
}
