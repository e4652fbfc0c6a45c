// totp: one-time codes (RFC 6238) as the second step of signing in. The secret is stored encrypted, and each code counts once.
import { Secret, TOTP } from 'otpauth'
import { encode } from 'uqr'
import { type SecretBox, totpOwner } from '../../core/secret-box.ts'
import type { Database } from '../../database/database.ts'

type Account = { id: number; uuid: string; gebruikersnaam: string }
type Sql = Pick<Database, 'sql'>

// SHA-1 with 6 digits every 30 s: what every app knows.
const PERIOD = 30
const WINDOW = 1

/** Makes a new secret, which counts only once a code of it has been confirmed. */
export async function begin({ sql }: Sql, box: SecretBox, account: Account): Promise<void> {
  const sealed = box.seal(new Secret({ size: 20 }).base32, owner(account))
  await sql`
    update beheer_account set totp_secret = ${sealed}, totp_step = null where id = ${account.id} and totp_since is null`
}

/** The secret that is being set up, for people and as a QR code; undefined when there is none, or it counts already. */
export async function runningAttempt(
  { sql }: Sql,
  box: SecretBox,
  account: Account,
  dienst: string,
): Promise<{ geheim: string; qr: { path: string; zijde: number } } | undefined> {
  const [row] = await sql<
    { totp_secret: Buffer | null }[]
  >`select totp_secret from beheer_account where id = ${account.id} and totp_since is null`
  if (!row?.totp_secret) return undefined
  const secret = box.open(row.totp_secret, owner(account))
  const uri = new TOTP({
    issuer: dienst,
    label: account.gebruikersnaam,
    secret: Secret.fromBase32(secret),
    period: PERIOD,
  }).toString()
  return { geheim: secret.replace(/(.{4})(?=.)/g, '$1 '), qr: qrPad(uri) }
}

/**
 * Whether this is a code of the account that was not used before. Time is that of the database.
 * @param confirm also makes the secret count from now on
 */
export async function useCode(
  { sql }: Sql,
  box: SecretBox,
  account: Account,
  code: string,
  confirm = false,
): Promise<boolean> {
  const [row] = await sql<{ totp_secret: Buffer | null; nu: number }[]>`
    select totp_secret, extract(epoch from now())::float8 as nu from beheer_account
    where id = ${account.id} and (totp_since is null) = ${confirm}`
  const token = code.replace(/\s/g, '')
  if (!row?.totp_secret || !/^\d{6}$/.test(token)) return false
  const secret = Secret.fromBase32(box.open(row.totp_secret, owner(account)))
  const delta = TOTP.validate({ token, secret, period: PERIOD, window: WINDOW, timestamp: row.nu * 1000 })
  if (delta === null) return false
  const step = Math.floor(row.nu / PERIOD) + delta
  const used = await sql`
    update beheer_account set totp_step = ${step}, totp_since = coalesce(totp_since, now())
    where id = ${account.id} and coalesce(totp_step, 0) < ${step} and totp_secret = ${row.totp_secret}`
  return used.count === 1
}

const owner = ({ uuid }: Account) => totpOwner(uuid)

/** A QR code as the path of an SVG: a square for each dark module. */
function qrPad(text: string): { path: string; zijde: number } {
  const { data, size } = encode(text, { border: 4, ecc: 'M' })
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return { path, zijde: size }
}
