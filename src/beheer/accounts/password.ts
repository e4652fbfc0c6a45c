// Password: passwords as argon2id hashes (RFC 9106), written in the usual form so that the parameters can grow.

import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Problem } from '../../core/problem.ts'
import { inTurnOfAll, ownName } from '../../telemetry/current-organisation.ts'
import { t } from '../language/language.ts'

const hash = promisify(
  argon2 as (
    algorithm: 'argon2id',
    parameters: Argon2Parameters,
    callback: (error: Error | null, key: Buffer) => void,
  ) => void,
)
// OWASP's first choice of parameters with more memory; about 50 ms.
const COST = { memory: 47_104, passes: 2, parallelism: 1 }
const KEY_LENGTH = 32

// Each takes 46 MB and a thread of the few there are: more at once would keep files and names waiting.
const AT_ONCE = 2
const WAITING = 20 // of one address
const LONGEST_MS = 30_000
// Browsers that signed in before have a place of their own, which others cannot fill.
const KNOWN_AT_ONCE = 1

/** At least this many characters; no other demands (NIST SP 800-63B). */
export const MIN_PASSWORD = 12

/** With a salt of its own. Takes 46 MB and waits its turn for them. @throws Problem 429 when too many wait */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, COST)
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(salt)}$${base64(key)}`
}

/**
 * Whether it is the password; without a hash (no such account) it takes as long and is false.
 * @param options.known waits only for others of whom that is said
 * @param options.network whose address it came from: of each so many wait, and they take turns
 */
export async function isPassword(
  password: string,
  stored: string | null | undefined,
  { known = false, network }: { known?: boolean; network?: string } = {},
): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored ?? '')
  const [, memory, passes, parallelism, salt, key] = match ?? []
  const cost = match ? { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) } : COST
  const found = await derive(password, Buffer.from(salt ?? 'AAAAAAAAAAAAAAAAAAAAAA', 'base64'), cost, {
    known,
    network,
  })
  const expected = Buffer.from(key ?? '', 'base64')
  return match !== null && expected.length === found.length && timingSafeEqual(expected, found)
}

// NFKC: the same letters typed on another keyboard are the same password.
function derive(
  password: string,
  nonce: Buffer,
  cost: typeof COST,
  { known = false, network }: { known?: boolean; network?: string | undefined } = {},
): Promise<Buffer> {
  return (known ? hashingKnown : hashing)(
    () => hash('argon2id', { message: Buffer.from(password.normalize('NFKC')), nonce, tagLength: KEY_LENGTH, ...cost }),
    known || network === undefined ? undefined : ownName(network),
  )
}

/** Throws Problem 429 when so many wait already that it would take seconds. */
const hashing = inTurnOfAll(AT_ONCE, WAITING, tooMany, LONGEST_MS)
const hashingKnown = inTurnOfAll(KNOWN_AT_ONCE, WAITING, tooMany, LONGEST_MS)

function tooMany(): Problem {
  return new Problem(429, {
    detail: t('Er wordt nu te vaak tegelijk ingelogd. Probeer het over een paar seconden opnieuw.'),
    headers: { 'retry-after': '3' },
  })
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
