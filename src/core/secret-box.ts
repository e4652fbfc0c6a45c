import { randomBytes } from 'node:crypto'
import { decrypt, encrypt, headOf, type KeyRing, keyIdOf, keyRing, SECRET_KEY } from '../lib/key-ring.ts'
import { numbersOf } from '../lib/numbers.ts'
import { KeyMissing } from '../lib/wrong-key.ts'

/** A new secret for a client: 256 random bits. */
export function generateSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Fewer bytes can be found by trying; existing clients have such secrets, so they are taken with a warning. */
export const isShort = (secret: string): boolean => Buffer.byteLength(secret) < 32

const PURPOSE = 'geheimen'

/**
 * Encrypts and decrypts secrets at rest with AES-256-GCM under keys derived from those of the ring. The name of what is
 * protected is authenticated along, so that a stored value cannot be moved to another row.
 * @param given keys, or SECRET_KEY alone
 */
export function secretBox(given: string | KeyRing) {
  const ring = typeof given === 'string' ? keyRing([{ id: SECRET_KEY, key: given }]) : given
  return {
    ring,
    /** The same for numbers of persons. */
    numbers: numbersOf(ring),
    /** @param id the key, when it is not the one that seals now */
    seal(text: string, owner: string, id = ring.sealing): Buffer {
      return Buffer.concat([headOf(id), encrypt(ring.derive(id, PURPOSE), text, owner)])
    },
    /**
     * @throws KeyMissing when the key is not in the ring, and an error when the key is another one, or the value was changed or
     * moved
     */
    open(sealed: Buffer, owner: string): string {
      const id = keyIdOf(sealed)
      if (id !== undefined && ring.ids.includes(id)) {
        const key = ring.derive(id, PURPOSE)
        try {
          return decrypt(key, sealed.subarray(2 + id.length), owner)
        } catch (error) {
          if (!ring.ids.includes(SECRET_KEY)) throw error
        }
      }
      // Before there were more keys a value began with its nonce, which may look like a key id by chance.
      try {
        return decrypt(ring.derive(SECRET_KEY, PURPOSE), sealed, owner)
      } catch (error) {
        if (id !== undefined && !ring.ids.includes(id)) throw new KeyMissing(id)
        throw error
      }
    },
  }
}
/** What our secret at a provider of OpenID Connect is sealed for. */
export const providerOwner = (uuid: string): string => `oidc:${uuid}`
/** What the secret of the one-time codes of an account is sealed for. */
export const totpOwner = (uuid: string): string => `totp:${uuid}`

export type SecretBox = ReturnType<typeof secretBox>
