// JSON of somebody else. What it costs to read, and to go through afterwards, is in the hands of whoever wrote it, so it is counted
// before: values very deep within each other end every function that calls itself, and small ones take fifty times their text.
import { isUtf8 } from 'node:buffer'

export type JsonBounds = { depth: number; values: number }

/** Of what is read from other servers and files, where nothing smaller is said. */
const BOUNDS: JsonBounds = { depth: 32, values: 100_000 }

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

/**
 * How deep values of a JSON text stand within each other, and how many there are. Whether it is JSON is for the parser to say:
 * of anything else the count means nothing.
 * @param most where counting ends: there is one more then
 */
export function countJson(
  body: Uint8Array,
  most: JsonBounds = { depth: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY },
): JsonBounds {
  let level = 0
  let depth = 0
  let values = 0
  for (let at = 0; at < body.length && depth <= most.depth && values <= most.values; at++) {
    const byte = body[at]
    if (byte === QUOTE) {
      at = endOfString(body, at)
    } else if (byte === COMMA) values++
    else if (byte === 0x5b || byte === 0x7b) {
      values++
      if (++level > depth) depth = level
    } else if (byte === 0x5d || byte === 0x7d) level--
  }
  return { depth, values }
}

function endOfString(body: Uint8Array, quote: number): number {
  let at = quote + 1
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at
}

/** @throws SyntaxError for what is no JSON in UTF-8, and for what is deeper or has more values than these bounds */
export function parseForeignJson(body: Buffer, bounds = BOUNDS): unknown {
  if (!isUtf8(body)) throw new SyntaxError('not UTF-8')
  const { depth, values } = countJson(body, bounds)
  if (depth > bounds.depth || values > bounds.values) throw new SyntaxError('too deep, or too many values')
  return JSON.parse(body.toString())
}
