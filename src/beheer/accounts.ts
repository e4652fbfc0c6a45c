// accounts: who may use the pages, and signing in with a password.
import { randomInt } from 'node:crypto'
import { sql as raw } from 'kysely'
import { type Database, type Db, kyselyOn, type ReadDb } from '../database/database.ts'
import type { Vertrouwelijkheidaanduiding } from '../http/input.ts'
import { invalid, Problem } from '../http/problem.ts'
import type { AuditEntry } from './change.ts'
import { hashPassword, isPassword, MIN_WACHTWOORD } from './password.ts'
import { endSessions, type Rol } from './session.ts'

const ATTEMPTS = 5
const LOCK_MINUTES = 15

/** What a name and a password lead to: the account, or undefined whatever was wrong with them. */
export async function checkPassword(
  { sql }: Pick<Database, 'sql'>,
  gebruikersnaam: string,
  wachtwoord: string,
): Promise<{ id: number; uuid: string; gebruikersnaam: string; totp: boolean } | undefined> {
  const [account] = await sql`
    select id, uuid, gebruikersnaam, wachtwoord, totp_sinds is not null as totp
    from beheer_account where lower(gebruikersnaam) = lower(${gebruikersnaam})`
  const right = await isPassword(wachtwoord, account?.wachtwoord)
  // Only now: others may have failed in the meantime. No account costs the same questions.
  const id = account?.id ?? 0
  const [open] = await sql`select 1 from beheer_account where id = ${id} and ${maySignIn(sql)}`
  if (account && right && open)
    return { id, uuid: account.uuid, gebruikersnaam: account.gebruikersnaam, totp: account.totp }
  if (!right) await claimAttempt({ sql }, id)
  return undefined
}

/** Neither locked nor taken out of use. */
const maySignIn = (sql: Database['sql']) => sql`actief and coalesce(geblokkeerd_tot <= now(), true)`

/**
 * Counts a wrong password, or a code before it is looked at, so that many at once get no more chances; `countSuccess` ends the
 * count. From the fifth on the account is locked, each time twice as long, up to a day. Answers whether it was open.
 */
export async function claimAttempt({ sql }: Pick<Database, 'sql'>, accountId: number): Promise<boolean> {
  const { count } = await sql`
    update beheer_account set mislukte_pogingen = mislukte_pogingen + 1,
      geblokkeerd_tot = case when mislukte_pogingen + 1 >= ${ATTEMPTS} then now() + least(interval '1 day',
        ${LOCK_MINUTES} * interval '1 minute' * 2 ^ least(mislukte_pogingen + 1 - ${ATTEMPTS}, 10)) end
    where id = ${accountId} and ${maySignIn(sql)}`
  return count === 1
}

/** Notes that somebody signed in, which ends the count of what went wrong. */
export async function countSuccess({ sql }: Pick<Database, 'sql'>, accountId: number): Promise<void> {
  await sql`
    update beheer_account set mislukte_pogingen = 0, geblokkeerd_tot = null, laatste_login_op = now() where id = ${accountId}`
}

export type NewAccount = {
  gebruikersnaam: string
  naam?: string
  email?: string
  rol: Rol
  maxVertrouwelijkheidaanduiding?: Vertrouwelijkheidaanduiding
  wachtwoord?: string
}

/** Visible ASCII, without spaces: what can be typed everywhere. */
export const GEBRUIKERSNAAM = '^[\\x21-\\x7e]{1,150}$'

/**
 * Makes an account.
 * @throws Problem 400 for a password that is too short, or a name that is taken
 */
export async function createAccount(db: Db, { wachtwoord, ...account }: NewAccount): Promise<{ uuid: string }> {
  const hash = wachtwoord === undefined ? null : await hashNewPassword(wachtwoord)
  const made = await db
    .insertInto('beheerAccount')
    .values({ ...account, wachtwoord: hash })
    .onConflict((conflict) => conflict.expression(raw`lower(gebruikersnaam)`).doNothing())
    .returning('uuid')
    .executeTakeFirst()
  if (!made) throw invalid('gebruikersnaam', 'unique', 'Deze gebruikersnaam is al in gebruik. Kies een andere.')
  return made
}

export type Account = {
  id: number
  uuid: string
  gebruikersnaam: string
  naam: string
  email: string
  rol: Rol
  maxVertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  actief: boolean
  /** Has a password; without one it signs in with OpenID Connect only. */
  wachtwoord: boolean
  totp: boolean
  oidc: boolean
  geblokkeerdTot: string | null
  laatsteLoginOp: string | null
  gemaaktOp: string
  sessies: number
}

/** The account with this uuid. */
export async function findAccount(db: ReadDb, uuid: string): Promise<Account | undefined> {
  const { rows } = await raw<Account>`${ACCOUNTS} where a.uuid::text = ${uuid}`.execute(db as never)
  return rows[0]
}

/** Accounts by name: those whose name holds a text, after or before one of them (then in the opposite order). */
export async function listAccounts(
  db: ReadDb,
  { zoek = '', na, voor, limit = 1000 }: { zoek?: string; na?: string; voor?: string; limit?: number } = {},
): Promise<Account[]> {
  const pattern = `%${zoek.replace(/[%_\\]/g, '\\$&')}%`
  const name = raw`lower(a.gebruikersnaam)`
  const place = voor !== undefined ? raw`${name} < ${voor}` : na !== undefined ? raw`${name} > ${na}` : raw`true`
  const { rows } = await raw<Account>`${ACCOUNTS}
    where ${place} and (a.gebruikersnaam ilike ${pattern} or a.naam ilike ${pattern} or a.email ilike ${pattern})
    order by ${name} ${voor === undefined ? raw`` : raw`desc`} limit ${limit}`.execute(db as never)
  return rows
}

const ACCOUNTS = raw`
  select a.id, a.uuid, a.gebruikersnaam, a.naam, a.email, a.rol, a.max_vertrouwelijkheidaanduiding, a.actief,
    a.wachtwoord is not null as wachtwoord, a.totp_sinds is not null as totp, a.oidc_subject is not null as oidc,
    case when a.geblokkeerd_tot > now() then a.geblokkeerd_tot end as geblokkeerd_tot, a.laatste_login_op, a.gemaakt_op,
    (select count(*) from beheer_sessie s where s.account_id = a.id and s.stap = 'ingelogd' and s.vervalt_op > now()
      and s.gezien_op > now() - interval '30 minutes') as sessies
  from beheer_account a`

export type AccountChange = Partial<
  Pick<Account, 'naam' | 'email' | 'rol' | 'maxVertrouwelijkheidaanduiding' | 'actief'>
>

/**
 * Changes an account. What it may do counts from its next request on.
 * @throws Problem 400 when nobody would be left who may manage accounts
 */
export async function changeAccount(trx: Db, id: number, change: AccountChange): Promise<void> {
  await lockAdministrators(trx)
  await trx.updateTable('beheerAccount').set(change).where('id', '=', id).execute()
  if (change.actief === false) await endSessions(trx, id, { behalve: null })
  await requireAdministrator(trx, change.actief === false ? 'actief' : 'rol')
}

/** @throws Problem 400 when nobody would be left who may manage accounts */
export async function deleteAccount(trx: Db, id: number): Promise<void> {
  await lockAdministrators(trx)
  await trx.deleteFrom('beheerAccount').where('id', '=', id).execute()
  await requireAdministrator(trx, 'nonFieldErrors')
}

// Two at once would each see the other as the one who is left.
async function lockAdministrators(trx: Db): Promise<void> {
  await trx
    .selectFrom('beheerAccount')
    .where('rol', '=', 'administrator')
    .orderBy('id')
    .select('id')
    .forUpdate()
    .execute()
}

async function requireAdministrator(trx: Db, field: string): Promise<void> {
  const left = await trx
    .selectFrom('beheerAccount')
    .where('rol', '=', 'administrator')
    .where('actief', '=', true)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  if (!left)
    throw invalid(
      field,
      'last-administrator',
      'Dit is de laatste actieve administrator. Geef eerst een ander account de rol administrator.',
    )
}

/**
 * Gives an account a new password, which ends its sessions but one and the lock.
 * @param keep id of the session that goes on
 * @throws Problem 400 for a password that is too short
 */
export async function setPassword(trx: Db, id: number, wachtwoord: string, keep: number | null = null): Promise<void> {
  await trx
    .updateTable('beheerAccount')
    .set({ wachtwoord: await hashNewPassword(wachtwoord), ...UNLOCKED })
    .where('id', '=', id)
    .execute()
  await endSessions(trx, id, { behalve: keep })
}

const UNLOCKED = { misluktePogingen: 0, geblokkeerdTot: null }

/** Ends the lock after wrong passwords or codes. */
export async function unblockAccount(trx: Db, id: number): Promise<void> {
  await trx.updateTable('beheerAccount').set(UNLOCKED).where('id', '=', id).execute()
}

/** Takes the one-time codes away; the next sign-in asks the password alone. */
export async function deleteTotp(trx: Db, id: number): Promise<void> {
  await trx
    .updateTable('beheerAccount')
    .set({ totpGeheim: null, totpStap: null, totpSinds: null })
    .where('id', '=', id)
    .execute()
}

// Without characters that look alike.
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

/** A password to pass on: five groups of four, 99 random bits. */
export function generatePassword(): string {
  const group = () => Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return Array.from({ length: 5 }, group).join('-')
}

type OidcPersoon = {
  issuer: string
  subject: string
  gebruikersnaam: string
  naam: string
  email: string
  rol: Rol
}

/**
 * The account of somebody whom a provider vouches for, made when there is none. Name, address and role become what the
 * provider says now. An account that was made beforehand without a password is taken by its name; one with a password
 * never is, since the name at the provider may be somebody else's.
 * @param vastleggen writes the record of an account that was made or got another role, in the same transaction
 */
export async function linkOidc(
  { sql }: Database,
  { issuer, subject, gebruikersnaam, naam, email, rol }: OidcPersoon,
  vastleggen: (db: Db, record: AuditEntry) => Promise<void>,
): Promise<{ id: number; uuid: string; gebruikersnaam: string; totp: boolean } | { geweigerd: string }> {
  const name = gebruikersnaam.replace(/[^\x21-\x7e]/g, '_') || subject.replace(/[^\x21-\x7e]/g, '_')
  return sql.begin(async (trx) => {
    await trx`select pg_advisory_xact_lock(hashtext(${`oidc ${issuer} ${subject}`}))`
    const [known] = await trx`
      select id, uuid, gebruikersnaam, rol, actief, totp_sinds is not null as totp from beheer_account
      where (oidc_issuer = ${issuer} and oidc_subject = ${subject})
        or (lower(gebruikersnaam) = lower(${name}) and oidc_subject is null and wachtwoord is null)
      order by oidc_subject nulls last limit 1 for update`
    if (known && !known.actief)
      return { geweigerd: 'Uw account is hier op niet-actief gezet. Vraag een administrator.' }
    if (known) {
      await trx`
        update beheer_account set oidc_issuer = ${issuer}, oidc_subject = ${subject}, rol = ${rol},
          naam = case when ${naam} = '' then naam else ${naam} end, email = case when ${email} = '' then email else ${email} end
        where id = ${known.id}`
      const { uuid, gebruikersnaam } = known
      const object = { soort: 'account', id: uuid, weergave: gebruikersnaam }
      if (known.rol !== rol)
        await vastleggen(kyselyOn(trx), {
          handeling: 'account-wijzigen',
          ...object,
          oud: { rol: known.rol },
          nieuw: { rol },
        })
      return { id: known.id, uuid, gebruikersnaam, totp: known.totp }
    }
    const [made] = await trx`
      insert into beheer_account (gebruikersnaam, naam, email, rol, oidc_issuer, oidc_subject)
      values (${name}, ${naam}, ${email}, ${rol}, ${issuer}, ${subject})
      on conflict (lower(gebruikersnaam)) do nothing returning id, uuid, gebruikersnaam, false as totp`
    if (!made)
      return {
        geweigerd: `Er is hier al een account ${name} met een wachtwoord. Log daarmee in, of vraag een administrator om dat account een andere naam te geven of te verwijderen.`,
      }
    const object = { soort: 'account', id: made.uuid, weergave: made.gebruikersnaam }
    await vastleggen(kyselyOn(trx), { handeling: 'account-maken', ...object, nieuw: { rol, issuer } })
    return made
  }) as never
}

/** @throws Problem 400 for a password that is too short, or longer than anybody types */
export async function hashNewPassword(wachtwoord: string): Promise<string> {
  if (wachtwoord.length < MIN_WACHTWOORD || wachtwoord.length > 1000) {
    const reason = `Een wachtwoord heeft ten minste ${MIN_WACHTWOORD} tekens.`
    throw new Problem(400, { invalidParams: [{ name: 'wachtwoord', code: 'min_length', reason }] })
  }
  return hashPassword(wachtwoord)
}

/** The first account, from the environment: made when there is none of that name, otherwise left as it is. */
export async function ensureBootstrapAdmin(
  { db }: Database,
  { gebruikersnaam, wachtwoord }: { gebruikersnaam: string; wachtwoord: string },
): Promise<void> {
  const known = await db
    .selectFrom('beheerAccount')
    .where((eb) => eb(eb.fn('lower', ['gebruikersnaam']), '=', gebruikersnaam.toLowerCase()))
    .select('id')
    .executeTakeFirst()
  if (known) return
  await createAccount(db, { gebruikersnaam, wachtwoord, rol: 'administrator' }).catch((error) => {
    if (!(error instanceof Problem && error.invalidParams?.[0]?.code === 'unique')) throw error // made at the same time
  })
}
