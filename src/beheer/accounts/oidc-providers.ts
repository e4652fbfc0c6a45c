// Providers of OpenID Connect: the one of the environment, and those of table `oidc_provider`, whose secrets are sealed.
import type { Config, OidcSettings } from '../../config.ts'
import type { Mutation } from '../../core/mutate.ts'
import { providerOwner, type SecretBox } from '../../core/secret-box.ts'
import type { ReadDb } from '../../database/database.ts'
import { isUuid } from '../../lib/uuid.ts'

export type ProviderRow = {
  uuid: string
  label: string
  issuer: string
  clientId: string
  sealedSecret: Buffer | null
  scopes: string
  roleClaim: string
  viewer: string[]
  privacy: string[]
  operator: string[]
  administrator: string[]
  isActive: boolean
  /** Its answers come to an address of its own. */
  hasOwnReturn: boolean
}
export type ProviderInput = Omit<ProviderRow, 'uuid' | 'sealedSecret'> & { clientSecret?: string | undefined }

const COLUMNS = [
  'uuid',
  'label',
  'issuer',
  'clientId',
  'sealedSecret',
  'scopes',
  'roleClaim',
  'viewer',
  'privacy',
  'operator',
  'administrator',
  'isActive',
  'hasOwnReturn',
] as const

export const listProviders = (db: ReadDb): Promise<ProviderRow[]> =>
  db.selectFrom('oidcProvider').select(COLUMNS).orderBy('label').orderBy('id').limit(100).execute()

export async function readProvider(db: ReadDb, uuid: string): Promise<ProviderRow | undefined> {
  return isUuid(uuid)
    ? db.selectFrom('oidcProvider').select(COLUMNS).where('uuid', '=', uuid).executeTakeFirst()
    : undefined
}

/** `returnPath`: what its answers come to behind the address that all had; an answer of another provider comes elsewhere. */
export type FoundProvider = OidcSettings & { returnPath: string }

/** What a person may sign in with. @param uuid empty: that of the environment */
export async function findProvider(
  db: ReadDb,
  config: Config,
  box: SecretBox,
  uuid: string,
): Promise<FoundProvider | undefined> {
  if (uuid === '') return config.oidc && { ...config.oidc, returnPath: '' }
  const row = await readProvider(db, uuid)
  return row?.isActive ? { ...settingsOf(row, secretOf(row, box)), returnPath: returnPathOf(row) } : undefined
}

export const returnPathOf = ({ uuid, hasOwnReturn }: Pick<ProviderRow, 'uuid' | 'hasOwnReturn'>): string =>
  hasOwnReturn ? `/${uuid}` : ''

export const secretOf = (provider: ProviderRow, box: SecretBox): string | undefined =>
  provider.sealedSecret === null
    ? undefined
    : box.openFor(provider.sealedSecret, providerOwner(provider.uuid), [provider.issuer])

/** What the sign-in page offers, that of the environment first. */
export async function offeredProviders(db: ReadDb, { oidc }: Config): Promise<{ uuid: string; label: string }[]> {
  const rows = await db
    .selectFrom('oidcProvider')
    .select(['uuid', 'label'])
    .where('isActive', '=', true)
    .orderBy('label')
    .limit(20)
    .execute()
  return [...(oidc ? [{ uuid: '', label: oidc.label }] : []), ...rows]
}

/** The provider that knows who has this account, with its uuid (empty: that of the environment); undefined when it is not offered any more. */
export async function providerOf(
  db: ReadDb,
  { oidc }: Config,
  accountId: number,
): Promise<{ uuid: string; label: string } | undefined> {
  const account = await db
    .selectFrom('beheerAccount')
    .select('oidcIssuer')
    .where('id', '=', accountId)
    .executeTakeFirst()
  return account?.oidcIssuer ? findByIssuer(db, oidc, account.oidcIssuer) : undefined
}

/** The same by its issuer. */
export async function findByIssuer(
  db: ReadDb,
  oidc: Config['oidc'],
  issuer: string,
): Promise<{ uuid: string; label: string } | undefined> {
  if (oidc?.issuer === issuer) return { uuid: '', label: oidc.label }
  return db
    .selectFrom('oidcProvider')
    .select(['uuid', 'label'])
    .where('issuer', '=', issuer)
    .where('isActive', '=', true)
    .executeTakeFirst()
}

export const settingsOf = (
  {
    label,
    issuer,
    clientId,
    scopes,
    roleClaim,
    viewer,
    privacy,
    operator,
    administrator,
  }: Omit<ProviderInput, 'isActive' | 'hasOwnReturn'>,
  clientSecret: string | undefined,
): OidcSettings => ({
  label,
  issuer,
  clientId,
  scopes,
  roleClaim,
  roles: { viewer, privacy, operator, administrator },
  ...(clientSecret !== undefined && { clientSecret }),
})

/**
 * Makes a provider, or changes it. A secret that is not given stays as it is.
 * @param uuid of the one that is changed
 */
export async function saveProvider(
  m: Mutation,
  box: SecretBox,
  { clientSecret, ...columns }: ProviderInput,
  uuid: string,
): Promise<void> {
  const secret =
    clientSecret === undefined ? {} : { sealedSecret: box.sealFor(clientSecret, providerOwner(uuid), [columns.issuer]) }
  await m.trx
    .insertInto('oidcProvider')
    .values({ uuid, ...columns, ...secret })
    .onConflict((conflict) => conflict.column('uuid').doUpdateSet({ ...columns, ...secret }))
    .execute()
}

/** Ends the sessions of who signed in by it, and has no password. @returns how many */
export async function endSessionsBy(m: Mutation, issuer: string): Promise<number> {
  const { count } = await m.sql`
    delete from beheer_session s using beheer_account a
    where a.id = s.account_id and a.oidc_issuer = ${issuer} and a.password_hash is null`
  return count
}
