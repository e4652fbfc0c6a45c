// What our token endpoint signs with. A new key is published before it signs, so that whoever checks our tokens knows it by then;
// the one before it stays published until the last token that it signed has run out.
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { sql } from 'kysely'
import { json, type Mutation } from '../../core/mutate.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Database } from '../../database/database.ts'

export type SigningAlgorithm = 'EdDSA' | 'ES256'

/** How long a token of ours is good. */
export const TOKEN_SECONDS = 900
/** How long others may keep our public keys. */
export const KEYS_KEPT_SECONDS = 300
const PUBLISHED_BEFORE_SECONDS = 2 * KEYS_KEPT_SECONDS
const REMOVED_AFTER_SECONDS = PUBLISHED_BEFORE_SECONDS + TOKEN_SECONDS + 300 // clocks differ
const LOCK = 8_305_213

/** Name of the key, for which its private part is sealed. */
export const signingKeyOwner = (kid: string) => `signing key ${kid}`

export type SigningKey = {
  kid: string
  algorithm: SigningAlgorithm
  publicKey: Record<string, string>
  privateKey: Buffer
  maySign: boolean
}

/** The keys that are published, the one that signs first of those that may. */
export async function signingKeys(db: Pick<Database, 'sql'> | Mutation): Promise<SigningKey[]> {
  return db.sql<SigningKey[]>`
    select kid, algorithm, public_key as "publicKey", private_key as "privateKey", signs_from <= now() as "maySign"
    from oauth_signing_key where remove_at is null or remove_at > now() order by signs_from desc, kid`
}

/** Makes the first key, which signs at once. Another process may have made it meanwhile. */
export async function makeFirstKey(m: Mutation, box: SecretBox, algorithm: SigningAlgorithm): Promise<void> {
  m.unrecorded('keys are no resource of the standard')
  await m.sql`select pg_advisory_xact_lock(${LOCK}, hashtext(current_schema()))`
  const known = await signingKeys(m)
  if (!known.some(({ maySign }) => maySign)) await insertKey(m, box, algorithm, 0)
}

/**
 * Makes a new key.
 * @param options.atOnce it signs from now on, and all others go: tokens that they signed are refused. For a key that leaked
 * @returns its kid
 */
export async function rotateSigningKey(
  m: Mutation,
  box: SecretBox,
  algorithm: SigningAlgorithm,
  { atOnce = false } = {},
): Promise<string> {
  m.unrecorded('keys are no resource of the standard')
  await m.sql`select pg_advisory_xact_lock(${LOCK}, hashtext(current_schema()))`
  if (atOnce) await m.sql`delete from oauth_signing_key`
  else
    await m.sql`
      update oauth_signing_key set remove_at = now() + make_interval(secs => ${REMOVED_AFTER_SECONDS})
      where remove_at is null`
  const known = await signingKeys(m)
  return insertKey(m, box, algorithm, known.some(({ maySign }) => maySign) ? PUBLISHED_BEFORE_SECONDS : 0)
}

/**
 * Makes a new key when the newest is older than this, or of another algorithm. Without any key it makes none.
 * @returns its kid; undefined: nothing was due
 */
export async function rotateWhenDue(
  m: Mutation,
  box: SecretBox,
  algorithm: SigningAlgorithm,
  days: number,
): Promise<string | undefined> {
  m.unrecorded('nothing may be due')
  await m.sql`select pg_advisory_xact_lock(${LOCK}, hashtext(current_schema()))`
  const due = await m.sql`
    select from oauth_signing_key where remove_at is null
      and (created_at <= now() - make_interval(days => ${days}) or algorithm <> ${algorithm})`
  return due.count > 0 ? rotateSigningKey(m, box, algorithm) : undefined
}

/** Removes keys and assertions that count no more. */
export async function removeEnded(db: Pick<Database, 'sql'>): Promise<void> {
  await db.sql`delete from oauth_signing_key where remove_at <= now()`
  // Processes judge exp by their own clocks, which may be behind.
  await db.sql`delete from oauth_assertion where expires_at < now() - interval '1 hour'`
}

async function insertKey(m: Mutation, box: SecretBox, algorithm: SigningAlgorithm, seconds: number): Promise<string> {
  const pair = await generateKeyPair(algorithm, { extractable: true })
  const publicKey = await exportJWK(pair.publicKey)
  const kid = await calculateJwkThumbprint(publicKey)
  const sealed = box.seal(JSON.stringify(await exportJWK(pair.privateKey)), signingKeyOwner(kid))
  const shown = json({ ...publicKey, kid, alg: algorithm, use: 'sig' })
  const signsFrom = sql<string>`now() + make_interval(secs => ${seconds})`
  await m.trx
    .insertInto('oauthSigningKey')
    .values({ kid, algorithm, publicKey: shown, privateKey: sealed, signsFrom })
    .execute()
  return kid
}
