import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** A new secret for a client: 256 random bits. */
export function generateSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Fewer bytes can be found by trying; existing clients have such secrets, so they are taken with a warning. */
export const isShort = (secret: string): boolean => Buffer.byteLength(secret) < 32

/**
 * Encrypts and decrypts secrets at rest with AES-256-GCM under a key derived from SECRET_KEY. The name of what is
 * protected is authenticated along, so that a stored value cannot be moved to another row.
 */
export function secretBox(secretKey: string) {
  const key = Buffer.from(hkdfSync('sha256', secretKey, 'zaakstroom', 'geheimen', 32))
  return {
    seal(text: string, owner: string): Buffer {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner))
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    /** @throws when the key is another one, or the value was changed or moved */
    open(sealed: Buffer, owner: string): string {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(owner))
      decipher.setAuthTag(sealed.subarray(-16))
      return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8')
    },
  }
}
export type SecretBox = ReturnType<typeof secretBox>
