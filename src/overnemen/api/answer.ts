// What a source or a target answered, as text and as JSON, within a bound.
import type { Dispatcher } from 'undici'
import { parseForeignJson } from '../../lib/foreign-json.ts'

/** The body as text; undefined when it has more than so many bytes. */
export async function textOf(body: Dispatcher.ResponseData['body'], most: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) return undefined // leaving the loop closes the connection
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** The parsed text; undefined when it is not JSON. */
export function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : parseForeignJson(Buffer.from(text), { depth: 32, values: Infinity })
  } catch {
    return undefined // not the fault itself: its message quotes the text
  }
}
