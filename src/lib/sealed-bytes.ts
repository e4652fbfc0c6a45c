// Bytes of a file that nobody reads without its key, and any part of which is read by itself: AES-256-CTR, which keeps sizes. It does not
// tell what was changed: who reads them holds a checksum of the content against them.
import { type Cipheriv, createCipheriv } from 'node:crypto'

const BLOCK = 16

/**
 * What seals and opens alike, from a position of the file on.
 * @param key of 32 bytes, of this file alone: its counter begins at zero
 */
export function cipherAt(key: Buffer, position = 0): Cipheriv {
  const counter = Buffer.alloc(BLOCK)
  counter.writeBigUInt64BE(BigInt(Math.floor(position / BLOCK)), BLOCK - 8)
  const cipher = createCipheriv('aes-256-ctr', key, counter)
  cipher.update(Buffer.alloc(position % BLOCK))
  return cipher
}
