// accounts: who may use the pages, and signing in with a password.
import type { Database, Db } from '../database.ts'
import { Problem } from '../problem.ts'
import type { Rol } from './sessie.ts'
import { hashWachtwoord, isWachtwoord, MIN_WACHTWOORD } from './wachtwoord.ts'

const ATTEMPTS = 5
const LOCK_MINUTES = 15

/** What a name and a password lead to: the account, or undefined whatever was wrong with them. */
export async function controleerWachtwoord(
  { sql }: Database,
  gebruikersnaam: string,
  wachtwoord: string,
): Promise<{ id: number; uuid: string; gebruikersnaam: string; totp: boolean } | undefined> {
  const [account] = await sql`
    select id, uuid, gebruikersnaam, wachtwoord, totp_sinds is not null as totp, actief,
      coalesce(geblokkeerd_tot > now(), false) as geblokkeerd
    from beheer_account where lower(gebruikersnaam) = lower(${gebruikersnaam})`
  const right = await isWachtwoord(wachtwoord, account?.wachtwoord)
  if (!account || account.geblokkeerd) return undefined
  if (!right || !account.actief) {
    await telMislukt({ sql }, account.id)
    return undefined
  }
  return { id: account.id, uuid: account.uuid, gebruikersnaam: account.gebruikersnaam, totp: account.totp }
}

/** Counts a wrong password or code; from the fifth on the account is locked, each time twice as long, up to a day. */
export async function telMislukt({ sql }: Pick<Database, 'sql'>, accountId: number): Promise<void> {
  await sql`
    update beheer_account set mislukte_pogingen = mislukte_pogingen + 1,
      geblokkeerd_tot = case when mislukte_pogingen + 1 >= ${ATTEMPTS} then now() + least(interval '1 day',
        ${LOCK_MINUTES} * interval '1 minute' * 2 ^ least(mislukte_pogingen + 1 - ${ATTEMPTS}, 10)) end
    where id = ${accountId}`
}

/** Notes that somebody signed in, which ends the count of what went wrong. */
export async function telGelukt({ sql }: Pick<Database, 'sql'>, accountId: number): Promise<void> {
  await sql`
    update beheer_account set mislukte_pogingen = 0, geblokkeerd_tot = null, laatste_login_op = now() where id = ${accountId}`
}

export type NieuwAccount = { gebruikersnaam: string; naam?: string; email?: string; rol: Rol; wachtwoord?: string }

/**
 * Makes an account.
 * @throws Problem 400 for a password that is too short
 */
export async function maakAccount(db: Db, { wachtwoord, ...account }: NieuwAccount): Promise<{ uuid: string }> {
  return db
    .insertInto('beheerAccount')
    .values({ ...account, wachtwoord: wachtwoord === undefined ? null : await hashNieuwWachtwoord(wachtwoord) })
    .returning('uuid')
    .executeTakeFirstOrThrow()
}

/** @throws Problem 400 for a password that is too short, or longer than anybody types */
export async function hashNieuwWachtwoord(wachtwoord: string): Promise<string> {
  if (wachtwoord.length < MIN_WACHTWOORD || wachtwoord.length > 1000) {
    const reason = `Een wachtwoord heeft ten minste ${MIN_WACHTWOORD} tekens.`
    throw new Problem(400, { invalidParams: [{ name: 'wachtwoord', code: 'min_length', reason }] })
  }
  return hashWachtwoord(wachtwoord)
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
  await maakAccount(db, { gebruikersnaam, wachtwoord, rol: 'administrator' }).catch((error) => {
    if (error.code !== '23505') throw error // a process that starts at the same time
  })
}
