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
  const box = {
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
    /**
     * Seals a secret that is sent somewhere, so that it opens for those servers alone.
     * @param servers addresses of all that get it, or a token that is had with it
     */
    sealFor(text: string, owner: string, servers: readonly string[], id = ring.sealing): Buffer {
      return box.seal(text, boundTo(owner, servers), id)
    },
    /** What 1.0.0 sealed was bound to its owner alone. @throws SecretElsewhere when it was given for other servers */
    openFor(sealed: Buffer, owner: string, servers: readonly string[]): string {
      for (const to of [boundTo(owner, servers), owner])
        try {
          return box.open(sealed, to)
        } catch (error) {
          if (error instanceof KeyMissing) throw error
        }
      throw new SecretElsewhere()
    },
    /** The same; undefined when it was given for other servers. */
    tryOpenFor(sealed: Buffer, owner: string, servers: readonly string[]): string | undefined {
      try {
        return box.openFor(sealed, owner, servers)
      } catch (error) {
        if (error instanceof SecretElsewhere) return undefined
        throw error
      }
    },
    /** Whether it was sealed for these servers. @throws KeyMissing */
    isFor(sealed: Buffer, owner: string, servers: readonly string[]): boolean {
      try {
        box.open(sealed, boundTo(owner, servers))
        return true
      } catch (error) {
        if (error instanceof KeyMissing) throw error
        return false
      }
    },
  }
  return box
}

/** A secret was given for another server than the one that would get it now: somebody has to give it anew. */
export class SecretElsewhere extends Error {
  readonly code = 'SECRET_ELSEWHERE'
  constructor() {
    super('the secret was given for another server')
  }
}

const boundTo = (owner: string, servers: readonly string[]) => [owner, ...servers.map(originOf)].join('\n')

/** The origin of an address; what has none counts as it is. */
export function originOf(url: string): string {
  const origin = URL.canParse(url) ? new URL(url).origin : 'null'
  return origin === 'null' ? url : origin
}
/** What our secret at a provider of OpenID Connect is sealed for. */
export const providerOwner = (uuid: string): string => `oidc:${uuid}`
/** What the secret of the one-time codes of an account is sealed for. */
export const totpOwner = (uuid: string): string => `totp:${uuid}`

export type SecretBox = ReturnType<typeof secretBox>
