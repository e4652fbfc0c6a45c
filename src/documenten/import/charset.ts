// What an upload is written in. UTF-8 unless a byte order mark or the sender says otherwise; everything after this is UTF-8.
import { CsvError } from './csv-error.ts'
import { peek } from './peek.ts'
import { strictUtf8 } from './utf8.ts'

export type Decoded = {
  /** UTF-8 without a byte order mark. */
  bytes: AsyncIterable<Buffer>
  /** The name that the Encoding Standard has for it. */
  charset: string
  /** Whether it began with a byte order mark. */
  mark: boolean
}

/** What the Encoding Standard calls a charset; undefined for one that it does not know, or that is no charset of text. */
export function charsetNamed(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

/**
 * The bytes as UTF-8. A byte order mark goes before what was declared, as in the Encoding Standard.
 * @param declared by the sender, as `charsetNamed` gives it
 */
export async function decode(source: AsyncIterable<Uint8Array>, declared = 'utf-8'): Promise<Decoded> {
  const { ahead, bytes } = await peek(source, (read) => read.length >= 4)
  const marked = markOf(ahead)
  const charset = marked ?? declared
  return {
    bytes: charset === 'utf-8' ? strictUtf8(bytes) : transcoded(bytes, charset),
    charset,
    mark: marked !== undefined,
  }
}

function markOf(bytes: Buffer): string | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return a === 0xff && b === 0xfe && !(c === 0 && d === 0) ? 'utf-16le' : undefined // with two NULs it is UTF-32
}

async function* transcoded(bytes: AsyncIterable<Uint8Array>, charset: string): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(charset, { fatal: true })
  const decoded = (chunk?: Uint8Array) => {
    try {
      return Buffer.from(chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode())
    } catch {
      throw new CsvError('parse_error', `Het bestand is geen geldige ${charset.toUpperCase()}.`)
    }
  }
  for await (const chunk of bytes) {
    const text = decoded(chunk)
    if (text.length > 0) yield text
  }
  const rest = decoded()
  if (rest.length > 0) yield rest
}
