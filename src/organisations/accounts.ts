// Accounts of the centre: people with a role in some of the organisations. Their tables stand in the registry; every process keeps in
// memory who has which role where, so that a request needs no question. Passwords, codes and attempts are never in it.
import { createHash, randomBytes } from 'node:crypto'
import type { TransactionSql } from 'postgres'
import { type SecretBox, totpOwner } from '../core/secret-box.ts'
import type { Vertrouwelijkheidaanduiding } from '../core/vertrouwelijkheidaanduiding.ts'
import type { Database } from '../database/database.ts'
import { currentOrganisation } from '../telemetry/current-organisation.ts'

type Sql = { sql: Database['sql'] | TransactionSql }

export type Membership = {
  rsin: string
  rol: string
  /** Has the role hersteller too. */
  mayRepair: boolean
  maxVertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  /** Sessions count while the account in the organisation carries it. */
  stamp: string
}
export type CentreAccount = {
  id: number
  uuid: string
  gebruikersnaam: string
  naam: string
  email: string
  actief: boolean
  /** May see the page about all organisations. */
  seesCentre: boolean
  totp: boolean
  passwordGiven: boolean
  memberships: Membership[]
}
/** An account that has a role in the organisation that is meant. */
export type Member = CentreAccount & { membership: Membership }

/** All of them, with their roles. */
export const readAccounts = ({ sql }: Sql): Promise<CentreAccount[]> =>
  sql<CentreAccount[]>`
    select a.id, a.uuid, a.gebruikersnaam, a.naam, a.email, a.actief, a.sees_centre as "seesCentre",
      a.totp_since is not null as totp, a.password_given as "passwordGiven",
      coalesce((select jsonb_agg(jsonb_build_object('rsin', o.rsin, 'rol', m.rol, 'mayRepair', m.may_repair,
          'maxVertrouwelijkheidaanduiding', m.max_vertrouwelijkheidaanduiding, 'stamp', m.stamp) order by o.name, o.id)
        from membership m join organisation o on o.id = m.organisation_id where m.account_id = a.id), '[]') as memberships
    from beheer_account a order by lower(a.gebruikersnaam)`

export type NewAccount = Pick<CentreAccount, 'gebruikersnaam' | 'naam' | 'email' | 'seesCentre'> & {
  passwordHash: string
}

/** Makes one without a role. @throws a unique violation for a name that is taken */
export async function insertAccount(trx: TransactionSql, given: NewAccount): Promise<void> {
  const { gebruikersnaam, naam, email, seesCentre, passwordHash } = given
  await trx`
    insert into beheer_account (gebruikersnaam, naam, email, sees_centre, password_hash, password_given)
    values (${gebruikersnaam}, ${naam}, ${email}, ${seesCentre}, ${passwordHash}, true)`
}

/** Writes what changed; what is not given stays. Its sessions end everywhere when it becomes inactive. */
export async function updateAccount(
  trx: TransactionSql,
  id: number,
  changed: Partial<Pick<CentreAccount, 'naam' | 'email' | 'actief' | 'seesCentre'>>,
): Promise<void> {
  const { naam = null, email = null, actief = null, seesCentre = null } = changed
  await trx`
    update beheer_account set naam = coalesce(${naam}, naam), email = coalesce(${email}, email),
      actief = coalesce(${actief}::boolean, actief), sees_centre = coalesce(${seesCentre}::boolean, sees_centre) where id = ${id}`
  if (actief === false) await endSessionsEverywhere(trx, id)
}

export async function deleteAccount(trx: TransactionSql, id: number): Promise<void> {
  await trx`delete from beheer_account where id = ${id}`
}

/** All sessions of an account end in every organisation. */
export async function endSessionsEverywhere(trx: TransactionSql, id: number): Promise<void> {
  await trx`update membership set stamp = gen_random_uuid() where account_id = ${id}`
}

/** Seals the secrets of one-time codes with the first key. */
export async function resealCodes(trx: TransactionSql, box: SecretBox): Promise<void> {
  const rows = await trx<{ id: number; uuid: string; secret: Buffer | null }[]>`
    select id, uuid, totp_secret as secret from beheer_account where totp_secret is not null for update`
  for (const { id, uuid, secret } of rows) {
    const sealed = secret && box.seal(box.open(secret, totpOwner(uuid)), totpOwner(uuid))
    await trx`update beheer_account set totp_secret = ${sealed} where id = ${id}`
  }
}

/** What sessions of a member carry from now on; undefined when it has no role there any more. */
export async function stampOf(trx: TransactionSql, { id, membership }: Member): Promise<string | undefined> {
  const [row] = await trx<{ stamp: string }[]>`
    select m.stamp from membership m join organisation o on o.id = m.organisation_id
    where m.account_id = ${id} and o.rsin = ${membership.rsin}`
  return row?.stamp
}

/** Gives a role in an organisation, or another one than before; sessions there go on with it. */
export async function giveRole(
  trx: TransactionSql,
  { id }: Pick<CentreAccount, 'id'>,
  { rsin, rol, mayRepair, maxVertrouwelijkheidaanduiding, stamp }: Membership,
): Promise<void> {
  await trx`
    insert into membership (account_id, organisation_id, rol, may_repair, max_vertrouwelijkheidaanduiding, stamp)
    select ${id}, o.id, ${rol}, ${mayRepair}, ${maxVertrouwelijkheidaanduiding}, ${stamp} from organisation o where o.rsin = ${rsin}
    on conflict (account_id, organisation_id) do update set rol = excluded.rol, may_repair = excluded.may_repair,
      max_vertrouwelijkheidaanduiding = excluded.max_vertrouwelijkheidaanduiding`
}

/** @returns whether it had one */
export async function takeRole(trx: TransactionSql, accountId: number, rsin: string): Promise<boolean> {
  const { count } = await trx`
    delete from membership m using organisation o where o.id = m.organisation_id and m.account_id = ${accountId} and o.rsin = ${rsin}`
  return count > 0
}

const CODE_SECONDS = 30
const sha256 = (value: string) => createHash('sha256').update(value).digest()

/** A code with which an account goes on from the organisation where it is signed in at another. It ends with what ends its sessions there. @param sessionUntil when this one ends */
export async function makeSwitchCode(
  { sql }: Sql,
  { id, membership: from }: Member,
  to: string,
  sessionUntil: string,
): Promise<string> {
  const code = randomBytes(32).toString('base64url')
  await sql`delete from switch_code where expires_at < now()`
  await sql`
    insert into switch_code (key, account_id, from_id, to_id, from_stamp, session_until, expires_at)
    select ${sha256(code)}, ${id}, f.id, t.id, ${from.stamp}, ${sessionUntil}, now() + make_interval(secs => ${CODE_SECONDS})
    from organisation f, organisation t where f.rsin = ${from.rsin} and t.rsin = ${to}`
  return code
}

/** For when sessions of an account at one organisation alone have ended. @param uuid of the account */
export async function deleteSwitchCodes({ sql }: Sql, uuid: string, from: string): Promise<void> {
  await sql`
    delete from switch_code c using beheer_account a, organisation f
    where a.id = c.account_id and f.id = c.from_id and a.uuid = ${uuid} and f.rsin = ${from}`
}

/** Whose code it is, at the organisation that it is for and in time, and when the session that made it ends. It is used up, also by who may not use it. */
export async function useSwitchCode(
  { sql }: Sql,
  code: string,
  { from, to }: { from: string; to: string },
): Promise<{ uuid: string; until: string } | undefined> {
  const [row] = await sql<{ uuid: string; until: string; isGood: boolean }[]>`
    delete from switch_code c using beheer_account a, organisation f, organisation t
    where c.key = ${sha256(code)} and a.id = c.account_id and f.id = c.from_id and t.id = c.to_id
    returning a.uuid, c.session_until as until, a.actief and c.expires_at > now() and f.rsin = ${from} and t.rsin = ${to}
      and exists (select from membership m where m.account_id = a.id and m.organisation_id = f.id and m.stamp = c.from_stamp)
      and exists (select from membership m where m.account_id = a.id and m.organisation_id = t.id) as "isGood"`
  return row?.isGood ? row : undefined
}

/** Who of the centre has a role where, as this process knows it. */
export type Members = {
  /** Who has a role in the organisation of this request, by name. */
  named(gebruikersnaam: string): Member | undefined
  withUuid(uuid: string): Member | undefined
  /** The same while sessions with this stamp count. */
  holding(uuid: string, stamp: string): Member | undefined
  /** Where else it may go: organisations in which it has a role and that are served. */
  organisationsOf(account: CentreAccount): { rsin: string; name: string }[]
  /** Reads the registry again now. */
  refresh(): Promise<void>
}

type Known = {
  accounts(): readonly CentreAccount[]
  byRsin(rsin: string): { rsin: string; name: string; state: string } | undefined
  refresh(): Promise<void>
}

export function membersOf(registry: Known): Members {
  const find = (is: (account: CentreAccount) => boolean): Member | undefined => {
    const rsin = currentOrganisation()?.rsin
    const account = registry.accounts().find((one) => one.actief && is(one))
    const membership = account?.memberships.find((one) => one.rsin === rsin)
    return account && membership && { ...account, membership }
  }
  const withUuid = (uuid: string) => find((one) => one.uuid === uuid)
  return {
    named: (gebruikersnaam) => {
      const name = gebruikersnaam.toLowerCase()
      return find((one) => one.gebruikersnaam.toLowerCase() === name)
    },
    withUuid,
    holding: (uuid, stamp) => {
      const found = withUuid(uuid)
      return found?.membership.stamp === stamp ? found : undefined
    },
    organisationsOf: ({ memberships }) =>
      memberships.flatMap(({ rsin }) => {
        const found = registry.byRsin(rsin)
        if (!found || (found.state !== 'active' && rsin !== currentOrganisation()?.rsin)) return []
        return [{ rsin, name: found.name }]
      }),
    refresh: registry.refresh,
  }
}
