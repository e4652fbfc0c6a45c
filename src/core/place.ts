// What a client gets of how far it is: the number of a transaction or a message, sealed. Open it would tell how much others do whom the
// client may not read. The same place is always the same text, because clients hold the one of a delta against that of the next.
import { createCipheriv, createDecipheriv, hash } from 'node:crypto'

/** What seals places, and tells those of one history of the database from those of another. */
export type PlaceKey = { secret: Buffer; epoch: string }

const HALF = 8 // bytes

/** @param rights of whom it is: it means nothing to others */
export function sealPlace({ secret, epoch }: PlaceKey, rights: string, xact: string): string {
  const block = Buffer.alloc(2 * HALF)
  block.writeBigUInt64BE(BigInt(xact))
  checkOf(epoch, rights).copy(block, HALF)
  const cipher = createCipheriv('aes-256-ecb', secret, null).setAutoPadding(false) // one block, half of which is a checksum
  return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url')
}

/** The number of the transaction; undefined for a text of other rights, of another history or of nobody. */
export function openPlace({ secret, epoch }: PlaceKey, rights: string, text: string): string | undefined {
  const sealed = Buffer.from(text, 'base64url')
  if (sealed.length !== 2 * HALF || sealed.toString('base64url') !== text) return undefined
  const cipher = createDecipheriv('aes-256-ecb', secret, null).setAutoPadding(false)
  const block = Buffer.concat([cipher.update(sealed), cipher.final()])
  return block.subarray(HALF).equals(checkOf(epoch, rights)) ? String(block.readBigUInt64BE()) : undefined
}

const checkOf = (epoch: string, rights: string): Buffer =>
  hash('sha256', `${epoch} ${rights}`, 'buffer').subarray(0, HALF)
