// accounts: who may use the pages, and signing in with a password.

import { createHash, randomBytes, randomInt } from 'node:crypto'
import { type RawBuilder, sql as raw } from 'kysely'
import type { TransactionSql } from 'postgres'
import { invalid, Problem } from '../../core/problem.ts'
import { endWait } from '../../core/sign-in-attempts.ts'
import type { Vertrouwelijkheidaanduiding } from '../../core/vertrouwelijkheidaanduiding.ts'
import { type Database, type Db, kyselyOn, type ReadDb } from '../../database/database.ts'
import type { Members } from '../../organisations/accounts.ts'
import type { AuditEntry } from '../frame/change.ts'
import { endSessions, type Rol as Role } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { hashPassword, isPassword, MIN_PASSWORD } from './password.ts'

export type SignedIn = { id: number; uuid: string; gebruikersnaam: string; totp: boolean }

/** The account that somebody wants to sign in to, whether or not it may. */
export async function findByName(
  { sql }: Pick<Database, 'sql'>,
  username: string,
): Promise<(SignedIn & { passwordHash: string | null }) | undefined> {
  const [account] = await sql<[SignedIn & { passwordHash: string | null }]>`
    select id, uuid, gebruikersnaam, password_hash as "passwordHash", totp_since is not null as totp
    from beheer_account where lower(gebruikersnaam) = lower(${username})`
  return account
}

/**
 * Whether this is the password of an account that may sign in. Takes as long when there is no such account. It counts
 * nothing: the caller does (`core/sign-in-attempts.ts`).
 * @param options.known a browser that signed in before, which does not wait for others
 * @param options.network whose address it came from
 */
export async function checkPassword(
  { sql }: Pick<Database, 'sql'>,
  account: { id: number; passwordHash: string | null } | undefined,
  password: string,
  { known = false, network = '' } = {},
): Promise<boolean> {
  const right = await isPassword(password, account?.passwordHash, { known, network })
  // Only now: it may have been taken out of use, or got another password, in the meantime. No account costs the same questions.
  const [open] = await sql`
    select 1 from beheer_account
    where id = ${account?.id ?? 0} and actief and password_hash = ${account?.passwordHash ?? ''}`
  return right && open !== undefined
}

/** Notes a wrong password or code, for whoever signs in next. */
export async function recordFailure({ sql }: Pick<Database, 'sql'>, accountId: number | undefined): Promise<void> {
  await sql`
    update beheer_account set failed_attempts = least(failed_attempts, 1000000) + 1,
      failed_since = coalesce(failed_since, now()), failed_last = now() where id = ${accountId ?? 0}`
}

export type Failures = { pogingen: number; sinds: string; laatst: string }

/** Notes that somebody signed in. @returns what failed since the last time that somebody did, if anything. */
export async function recordSignIn({ sql }: Pick<Database, 'sql'>, accountId: number): Promise<Failures | undefined> {
  const [before] = await sql<{ pogingen: number; sinds: string | null; laatst: string | null }[]>`
    with before as (select * from beheer_account where id = ${accountId} for update)
    update beheer_account a set failed_attempts = 0, failed_since = null, failed_last = null, last_sign_in_at = now()
    from before b where a.id = b.id
    returning b.failed_attempts as pogingen, b.failed_since as sinds, b.failed_last as laatst`
  if (!before || before.pogingen === 0 || before.sinds === null || before.laatst === null) return undefined
  return { pogingen: before.pogingen, sinds: before.sinds, laatst: before.laatst }
}

export type NewAccount = {
  gebruikersnaam: string
  naam?: string
  email?: string
  rol: Role
  mayRepair?: boolean
  maxVertrouwelijkheidaanduiding?: Vertrouwelijkheidaanduiding
  wachtwoord?: string
  /** Somebody else knows it: the first sign-in asks for another. */
  passwordGiven?: boolean
}

/** Visible ASCII, without spaces: what can be typed everywhere. */
export const GEBRUIKERSNAAM = '^[\\x21-\\x7e]{1,150}$'

/**
 * Makes an account.
 * @throws Problem 400 for a password that is too short, or a name that is taken
 */
export async function createAccount(
  db: Db,
  { wachtwoord, ...account }: NewAccount,
): Promise<{ id: number; uuid: string }> {
  const hash = wachtwoord === undefined ? null : await hashNewPassword(wachtwoord)
  const made = await db
    .insertInto('beheerAccount')
    .values({ ...account, passwordHash: hash })
    .onConflict((conflict) => conflict.expression(raw`lower(gebruikersnaam)`).doNothing())
    .returning(['id', 'uuid'])
    .executeTakeFirst()
  if (!made) throw invalid('gebruikersnaam', 'unique', t('Deze gebruikersnaam is al in gebruik. Kies een andere.'))
  return made
}

export type Account = {
  id: number
  uuid: string
  gebruikersnaam: string
  naam: string
  email: string
  rol: Role
  /** Has the role hersteller too. */
  mayRepair: boolean
  maxVertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  actief: boolean
  /** Has a password; without one it signs in with OpenID Connect only. */
  wachtwoord: boolean
  totp: boolean
  oidc: boolean
  /** Of the centre, which keeps its password and role. */
  centre: boolean
  /** How many it has. */
  passkeys: number
  /** Until when its invitation counts. */
  invitedUntil: string | null
  /** Until when somebody has to wait somewhere after wrong passwords or codes; others need not. */
  wachtTot: string | null
  failedAttempts: number
  failedSince: string | null
  failedLast: string | null
  lastSignInAt: string | null
  createdAt: string
  sessies: number
}

/** The account with this uuid. */
export async function findAccount(db: ReadDb, uuid: string): Promise<Account | undefined> {
  const { rows } = await raw<Account>`${ACCOUNTS} where a.uuid::text = ${uuid}`.execute(db)
  return rows[0]
}

/** Whether name, name for people or address of an account hold a text. */
export function isAccountLike(search: string): RawBuilder<boolean> {
  const pattern = `%${search.replace(/[%_\\]/g, '\\$&')}%`
  return raw<boolean>`(a.gebruikersnaam ilike ${pattern} or a.naam ilike ${pattern} or a.email ilike ${pattern})`
}

/** Accounts by name; those that hold a text, when one is given. */
export async function listAccounts(db: ReadDb, { zoek = '' }: { zoek?: string } = {}): Promise<Account[]> {
  const { rows } = await raw<Account>`${ACCOUNTS}
    where ${isAccountLike(zoek)} order by lower(a.gebruikersnaam) limit 1000`.execute(db)
  return rows
}

/** Accounts, as table `a`. */
export const ACCOUNTS = raw`
  select a.id, a.uuid, a.gebruikersnaam, a.naam, a.email, a.rol, a.may_repair, a.max_vertrouwelijkheidaanduiding, a.actief,
    a.password_hash is not null as wachtwoord, a.totp_since is not null as totp, a.oidc_subject is not null as oidc,
    a.centre_stamp is not null as centre, (select count(*)::int from beheer_passkey p where p.account_id = a.id) as passkeys,
    case when a.invited_until > now() then a.invited_until end as invited_until, a.failed_attempts, a.failed_since, a.failed_last, a.last_sign_in_at, a.created_at,
    (select max(p.open_at) from beheer_sign_in_attempt p where p.account_id = a.id and p.open_at > now()) as wacht_tot,
    (select count(*) from beheer_session s where s.account_id = a.id and s.step = 'signed-in' and s.expires_at > now()
      and s.seen_at > now() - interval '30 minutes') as sessies
  from beheer_account a`

export type AccountChange = Partial<
  Pick<Account, 'naam' | 'email' | 'rol' | 'mayRepair' | 'maxVertrouwelijkheidaanduiding' | 'actief'>
>

/**
 * Changes an account. What it may do counts from its next request on.
 * @param members of the centre, who may manage accounts while they have that role there
 * @throws Problem 400 when nobody would be left who may manage accounts
 */
export async function changeAccount(
  trx: Db,
  id: number,
  change: AccountChange,
  members?: Pick<Members, 'withUuid'>,
): Promise<void> {
  await lockAdministrators(trx)
  await trx.updateTable('beheerAccount').set(change).where('id', '=', id).execute()
  if (change.actief === false) await endSessions(trx, id, { behalve: null })
  await requireAdministrator(trx, change.actief === false ? 'actief' : 'rol', members)
}

/** @throws Problem 400 when nobody would be left who may manage accounts */
export async function deleteAccount(trx: Db, id: number, members?: Pick<Members, 'withUuid'>): Promise<void> {
  await lockAdministrators(trx)
  await trx.deleteFrom('beheerAccount').where('id', '=', id).execute()
  await requireAdministrator(trx, 'nonFieldErrors', members)
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

async function requireAdministrator(
  trx: Db,
  field: string,
  members: Pick<Members, 'withUuid'> | undefined,
): Promise<void> {
  const rows = await trx
    .selectFrom('beheerAccount')
    .where('rol', '=', 'administrator')
    .where('actief', '=', true)
    .select(['uuid', 'centreStamp'])
    .execute()
  // The row of an account that the centre shut out may stay behind.
  const isOne = (uuid: string) => members?.withUuid(uuid)?.membership.rol === 'administrator'
  if (!rows.some(({ uuid, centreStamp }) => centreStamp === null || isOne(uuid)))
    throw invalid(
      field,
      'last-administrator',
      t('Dit is de laatste actieve administrator. Geef eerst een ander account de rol administrator.'),
    )
}

/**
 * Gives an account a new password, which ends its sessions but one and every wait.
 * @param options.keep id of the session that goes on
 * @param options.given somebody else knows it: the next sign-in asks for another
 * @throws Problem 400 for a password that is too short
 */
export async function setPassword(
  trx: Db,
  id: number,
  password: string,
  { keep = null, given }: { keep?: number | null; given: boolean },
): Promise<void> {
  await writePassword(trx, id, password, { given })
  await trx.updateTable('beheerAccount').set({ invitation: null, invitedUntil: null }).where('id', '=', id).execute()
  await endSessions(trx, id, { behalve: keep })
}

/** Gives an account, of an organisation or of the centre, a new password, which ends every wait. @throws Problem 400 for one that is too short */
export async function writePassword(
  trx: Db,
  id: number,
  password: string,
  { given }: { given: boolean },
): Promise<void> {
  const passwordHash = await hashNewPassword(password)
  await trx.updateTable('beheerAccount').set({ passwordHash, passwordGiven: given }).where('id', '=', id).execute()
  await endWait(trx, id)
}

/** Takes the one-time codes away; the next sign-in asks the password alone. */
export async function deleteTotp(trx: Db, id: number): Promise<void> {
  await trx
    .updateTable('beheerAccount')
    .set({ totpSecret: null, totpStep: null, totpSince: null })
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

/** How long somebody has to use an invitation. */
export const INVITED_DAYS = 7
const hashOf = (code: string): Buffer => createHash('sha256').update(code).digest()

/**
 * Lets whoever signs in by the link with this code, once, have the account; an older link counts no more.
 * @returns the code, to show once
 */
export async function invite(trx: Db, id: number): Promise<string> {
  const code = randomBytes(32).toString('base64url')
  await trx
    .updateTable('beheerAccount')
    .set({ invitation: hashOf(code), invitedUntil: raw`now() + make_interval(days => ${INVITED_DAYS}::int)` })
    .where('id', '=', id)
    .execute()
  return code
}

/** The name of the account that this code is for, as long as it counts. */
export async function findInvited(db: ReadDb, code: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('beheerAccount')
    .select('gebruikersnaam')
    .where('invitation', '=', hashOf(code))
    .where('invitedUntil', '>', raw<string>`now()`)
    .executeTakeFirst()
  return found?.gebruikersnaam
}

/** Where the link of an invitation leads. @param base of this organisation */
export const invitationUrl = (base: string, code: string): string => `${base}/beheer/inloggen/uitnodiging?code=${code}`

/** A provider has another issuer, and the same people: their accounts go along, unless they have one there already. @returns how many */
export async function moveIssuer(trx: Db, from: string, to: string): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('beheerAccount as a')
    .set({ oidcIssuer: to })
    .where('a.oidcIssuer', '=', from)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('beheerAccount as b')
            .select('b.id')
            .where('b.oidcIssuer', '=', to)
            .whereRef('b.oidcSubject', '=', 'a.oidcSubject'),
        ),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

type OidcPerson = {
  issuer: string
  subject: string
  gebruikersnaam: string
  naam: string
  email: string
  rol: Role
}
type Linked = { id: number; uuid: string; gebruikersnaam: string; totp: boolean }

/** Who this is at the provider lost his role there, or may not come in: what he has open ends. @returns how many sessions */
export async function endSessionsOf(
  { sql }: Database,
  { issuer, subject }: Pick<OidcPerson, 'issuer' | 'subject'>,
): Promise<number> {
  const { count } = await sql`
    delete from beheer_session s using beheer_account a
    where a.id = s.account_id and a.oidc_issuer = ${issuer} and a.oidc_subject = ${subject}`
  return count
}

/** Whether an account is that of this person at a provider. */
export async function isAccountOf(
  { sql }: Pick<Database, 'sql'>,
  id: number,
  { issuer, subject }: Pick<OidcPerson, 'issuer' | 'subject'>,
): Promise<boolean> {
  const [row] = await sql`
    select from beheer_account where id = ${id} and oidc_issuer = ${issuer} and oidc_subject = ${subject} and actief`
  return row !== undefined
}

/**
 * Ends the sessions that somebody began with this provider, and that ended there.
 * @param which.sid one of them; null: all of the subject
 * @param which.issuedAt seconds since 1970; those that began later go on
 * @returns whose they were
 */
export async function endProviderSessions(
  { sql }: Pick<Database, 'sql'>,
  issuer: string,
  { subject, sid, issuedAt }: { subject: string | null; sid: string | null; issuedAt: number },
): Promise<{ uuid: string; gebruikersnaam: string }[]> {
  return sql<{ uuid: string; gebruikersnaam: string }[]>`
    with ended as (
      delete from beheer_session s using beheer_account a
      where a.id = s.account_id and a.oidc_issuer = ${issuer}
        and coalesce(s.oidc_issuer, case when a.password_hash is null then a.oidc_issuer end) = ${issuer}
        and (${subject}::text is null or a.oidc_subject = ${subject}) and (${sid}::text is null or s.oidc_sid = ${sid})
        and s.created_at < to_timestamp(${issuedAt}) + interval '1 minute'
      returning a.uuid, a.gebruikersnaam)
    select distinct uuid, gebruikersnaam from ended`
}

/**
 * The account of somebody whom a provider vouches for, made when there is none. He is known by issuer and subject; an account
 * that was made beforehand becomes his by its invitation, and never by a name, which people may choose themselves. Name, address
 * and role become what the provider says now.
 * @param invitation the code of the link by which he came
 * @param audit writes the record of an account that was made, bound or got another role, in the same transaction
 */
export async function linkOidc(
  { sql }: Database,
  { issuer, subject, gebruikersnaam, naam, email, rol }: OidcPerson,
  audit: (db: Db, record: AuditEntry) => Promise<void>,
  invitation?: string,
): Promise<Linked | { refused: string }> {
  return sql.begin(async (trx) => {
    await trx`select pg_advisory_xact_lock(hashtext(current_schema() || ${` oidc ${issuer} ${subject}`}))`
    const columns = trx`id, uuid, gebruikersnaam, rol, actief, totp_since is not null as totp`
    type Known = Linked & { rol: string; actief: boolean }
    const [own] = await trx<Known[]>`
      select ${columns} from beheer_account where oidc_issuer = ${issuer} and oidc_subject = ${subject} for update`
    const [invited] = await trx<Known[]>`
      select ${columns} from beheer_account where invitation = ${hashOf(invitation ?? '')} and invited_until > now() for update`
    if (invitation !== undefined && !own && !invited)
      return { refused: t('Deze uitnodiging is al gebruikt of verlopen. Vraag een administrator om een nieuwe.') }
    if (own && invited && own.id !== invited.id)
      return {
        refused: t`U hebt hier al een account: ${own.gebruikersnaam}. Vraag een administrator om dat te verwijderen als u ${invited.gebruikersnaam} wilt gebruiken.`,
      }
    const known = own ?? invited
    if (known && !known.actief)
      return { refused: t('Uw account is hier op niet-actief gezet. Vraag een administrator.') }
    if (known) {
      await trx`
        update beheer_account set oidc_issuer = ${issuer}, oidc_subject = ${subject}, rol = ${rol},
          invitation = null, invited_until = null,
          naam = case when ${naam} = '' then naam else ${naam} end, email = case when ${email} = '' then email else ${email} end
        where id = ${known.id}`
      if (!own) await trx`delete from beheer_session where account_id = ${known.id}` // of whoever had it before
      const { id, uuid, totp } = known
      const object = { soort: 'account', id: uuid, weergave: known.gebruikersnaam }
      if (!own) await audit(kyselyOn(trx), { handeling: 'account-koppelen', ...object, nieuw: { issuer, rol } })
      else if (known.rol !== rol)
        await audit(kyselyOn(trx), {
          handeling: 'account-wijzigen',
          ...object,
          oud: { rol: known.rol },
          nieuw: { rol },
        })
      return { id, uuid, gebruikersnaam: known.gebruikersnaam, totp }
    }
    // Characters that cannot be typed everywhere become `_`, by which two names may become one: the second gets a number.
    const plain = gebruikersnaam.replace(/[^\x21-\x7e]/g, '_')
    const names =
      plain === gebruikersnaam ? [plain] : [plain, ...Array.from({ length: 98 }, (_, n) => `${plain}-${n + 2}`)]
    for (const name of names) {
      const [made] = await trx<Linked[]>`
        insert into beheer_account (gebruikersnaam, naam, email, rol, oidc_issuer, oidc_subject)
        values (${name}, ${naam}, ${email}, ${rol}, ${issuer}, ${subject})
        on conflict (lower(gebruikersnaam)) do nothing returning id, uuid, gebruikersnaam, false as totp`
      if (!made) continue
      const object = { soort: 'account', id: made.uuid, weergave: made.gebruikersnaam }
      await audit(kyselyOn(trx), { handeling: 'account-maken', ...object, nieuw: { rol, issuer } })
      return made
    }
    return { refused: await whyTaken(trx, plain, issuer) }
  }) as never
}

/** Why a name is not for who comes now with another subject. */
async function whyTaken(sql: TransactionSql, name: string, issuer: string): Promise<string> {
  const [other] = await sql<{ oidcIssuer: string | null; secret: boolean }[]>`
    select oidc_issuer as "oidcIssuer", coalesce(password_hash, centre_stamp::text) is not null as secret
    from beheer_account where lower(gebruikersnaam) = lower(${name})`
  if (other?.oidcIssuer === issuer)
    return t`Er is hier al een account ${name}, dat de aanbieder eerder onder een ander kenmerk (sub) noemde. Bent u dezelfde persoon? Vraag een administrator dan om een uitnodiging voor dat account.`
  if (other?.oidcIssuer)
    return t`Er is hier al een account ${name}, van een andere aanbieder of een ander adres van deze aanbieder. Bent u dezelfde persoon? Vraag een administrator dan om een uitnodiging voor dat account.`
  return other?.secret === false
    ? t`Er is hier een account ${name} klaargezet. Dat neemt u in gebruik met de link van uw uitnodiging. Hebt u die niet, vraag er dan een administrator om.`
    : t`Er is hier al een account ${name} met een wachtwoord. Log daarmee in, of vraag een administrator om dat account een andere naam te geven of te verwijderen.`
}

/** What is said of a password that is too short, or longer than anybody types. */
export const tooShort = () => t`Een wachtwoord heeft ten minste ${MIN_PASSWORD} tekens.`
/** Not too long either: at most 1,000 characters. */
export const isLongEnough = ({ length }: string): boolean => length >= MIN_PASSWORD && length <= 1000

/** @throws Problem 400 for a password that is too short, or longer than anybody types */
export async function hashNewPassword(password: string): Promise<string> {
  if (!isLongEnough(password))
    throw new Problem(400, { invalidParams: [{ name: 'wachtwoord', code: 'min_length', reason: tooShort() }] })
  return hashPassword(password)
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
