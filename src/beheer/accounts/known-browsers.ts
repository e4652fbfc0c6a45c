// Known browsers: those that signed in to an account before have counts of attempts of their own (core/sign-in-attempts.ts).
import { createHash, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../../database/database.ts'
import { cookieOptions } from '../frame/session.ts'

type Sql = Pick<Database, 'sql'>

// The cookie lives longer than a session and opens nothing. Browsers keep one for at most 400 days.
const BROWSER_DAYS = 180
const BROWSERS_PER_ACCOUNT = 20

/** Number of this browser when it signed in to this account before. */
export async function knownBrowser(
  request: FastifyRequest,
  account: { uuid: string } | undefined,
): Promise<number | undefined> {
  const value = request.cookies[cookieName(request)]
  if (!value || account === undefined) return undefined
  return request.server.own.browsers.find(sha256(value), account.uuid)
}

/** The number of this browser, when it signed in to this account in the last half year. @param key hash of its cookie */
export async function findBrowser({ sql }: Sql, key: Buffer, uuid: string): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    select b.id from beheer_browser b join beheer_account a on a.id = b.account_id
    where b.key = ${key} and a.uuid = ${uuid} and b.seen_at > now() - make_interval(days => ${BROWSER_DAYS})`
  return row?.id
}

/** Notes that this browser signed in. The cookie gets a new value, so that one planted before is worth nothing. */
export async function rememberBrowser(request: FastifyRequest, reply: FastifyReply, accountId: number): Promise<void> {
  const before = sha256(request.cookies[cookieName(request)] ?? '')
  const value = randomBytes(32).toString('base64url')
  await request.server.own.browsers.insert({ before, key: sha256(value), accountId })
  reply.setCookie(cookieName(request), value, { ...cookieOptions(request), maxAge: BROWSER_DAYS * 86_400 })
}

/** @param browser.before the key that it had */
export async function insertBrowser(
  { sql }: Sql,
  { before, key, accountId }: { before: Buffer; key: Buffer; accountId: number },
): Promise<void> {
  await sql.begin(async (trx) => {
    // Also for other accounts of this browser, whose counts go on.
    await trx`
      update beheer_browser set key = ${key}, seen_at = case when account_id = ${accountId} then now() else seen_at end
      where key = ${before}`
    await trx`
      insert into beheer_browser (key, account_id) values (${key}, ${accountId}) on conflict do nothing`
    await trx`
      delete from beheer_browser where account_id = ${accountId} and (seen_at < now() - make_interval(days => ${BROWSER_DAYS})
        or id in (select id from beheer_browser where account_id = ${accountId}
          order by seen_at desc, id desc offset ${BROWSERS_PER_ACCOUNT}))`
  })
}

/** How long a link that was mailed counts, and how soon another one is mailed. */
export const LINK_MINUTES = 15
const AGAIN_MINUTES = 5

/** The account that a link may be mailed for. */
export async function ownerOfLink(
  { sql }: Sql,
  username: string,
): Promise<{ id: number; uuid: string; email: string } | undefined> {
  const [row] = await sql<{ id: number; uuid: string; email: string }[]>`
    select id, uuid, email from beheer_account where lower(gebruikersnaam) = lower(${username}) and actief and email <> ''`
  return row
}

/** A code for a link, of which the hash is kept; undefined when one was made a moment ago. */
export async function makeLink({ sql }: Sql, accountId: number): Promise<string | undefined> {
  const code = randomBytes(32).toString('base64url')
  const made = await sql.begin(async (trx) => {
    await trx`select from beheer_account where id = ${accountId} for update`
    await trx`delete from beheer_browser_link where made_at < now() - make_interval(mins => ${LINK_MINUTES})`
    return trx`
      insert into beheer_browser_link (key, account_id) select ${sha256(code)}, ${accountId} where not exists (
        select from beheer_browser_link where account_id = ${accountId} and made_at > now() - make_interval(mins => ${AGAIN_MINUTES}))`
  })
  return made.count > 0 ? code : undefined
}

/** The account that a link was made for, once; undefined when it does not count (any more). */
export async function useLink({ sql }: Sql, code: string): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    delete from beheer_browser_link l using beheer_account a
    where l.key = ${sha256(code)} and a.id = l.account_id and a.actief and l.made_at > now() - make_interval(mins => ${LINK_MINUTES})
    returning a.id`
  return row?.id
}

// The prefix makes browsers keep it to this host and to https.
const cookieName = (request: FastifyRequest) =>
  request.base.startsWith('https:') ? '__Host-zaakstroom-browser' : 'zaakstroom-browser'

const sha256 = (value: string) => createHash('sha256').update(value).digest()
