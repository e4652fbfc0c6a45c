import { isUtf8 } from 'node:buffer'
import { CsvError } from './csv-error.ts'

/**
 * Passes on bytes that are UTF-8 and drops a leading byte order mark; throws a CsvError at the first byte that is
 * anything else. What came before that byte is still passed on, so what a reader sees first does not depend on where
 * the chunks were cut. A piece never ends in the middle of a character.
 */
export async function* strictUtf8(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let carry = Buffer.alloc(0) // the begin of a character whose end is in the next chunk
  let offset = 0 // of the first byte of carry, in the file as sent
  for await (const chunk of bytes) {
    const block = Buffer.concat([carry, chunk])
    const end = block.length - unfinishedTail(block)
    const whole = block.subarray(0, end)
    const start = offset === 0 && startsWithMark(whole) ? 3 : 0
    const bad = firstBadByte(whole, offset)
    if (bad !== -1) {
      if (bad > start) yield whole.subarray(start, bad)
      throw notUtf8(offset + bad, whole[bad])
    }
    if (end > start) yield whole.subarray(start)
    carry = block.subarray(end)
    offset += end
  }
  if (carry.length > 0) throw notUtf8(offset, carry[0])
}

function notUtf8(offset: number, byte = 0): CsvError {
  const shown = `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`
  const proposal =
    byte === 0
      ? 'Is het UTF-16, sla het dan op met een byte order mark, of als “CSV UTF-8”.'
      : 'Is het windows-1252, zoals Excel “CSV” opslaat? Geef dat dan op als tekenset (in een verzoek: Content-Type: text/csv; charset=windows-1252), of sla het bestand op als “CSV UTF-8”.'
  return new CsvError(
    'parse_error',
    `Het bestand is geen geldige UTF-8: de eerste foute byte (${shown}) staat op positie ${offset} (geteld vanaf 0). ${proposal}`,
  )
}

function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function firstBadByte(bytes: Buffer, offset: number): number {
  // UTF-16 and UTF-32 without a mark are valid UTF-8 as long as the text is ASCII, but show a NUL in the first four bytes.
  const nul = offset < 4 ? bytes.subarray(0, 4 - offset).indexOf(0) : -1
  if (isUtf8(bytes)) return nul
  let at = 0
  for (;;) {
    const length = sequenceLength(bytes[at] ?? 0)
    if (at === nul || length === 0 || !isUtf8(bytes.subarray(at, at + length))) return at
    at += length
  }
}

/** How many bytes at the end belong to a character that is not complete yet. */
function unfinishedTail(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) !== 0x80) return sequenceLength(byte) > back ? back : 0
  }
  return 0
}

/** The length that the first byte of a character announces; 0 for a byte that cannot be one. */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xc2) return 0
  if (first < 0xe0) return 2
  if (first < 0xf0) return 3
  return first < 0xf5 ? 4 : 0
}
