// JSON of what may have much expanded within it, in pieces: as one text it would keep all others waiting.
import type { FastifyRequest } from 'fastify'
import { weightOf } from './expand.ts'
import { largeTurn } from './turns.ts'

const PIECE = 64 * 1024

/** The JSON of a value. What is expanded in it comes resource by resource, as far as those are large one by one. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (Array.isArray(value) && typeof value[0] === 'object') {
    let before = '['
    for (const member of value) {
      yield before
      yield* jsonPieces(member)
      before = ','
    }
    yield value.length === 0 ? '[]' : ']'
    return
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value) || weightOf(value) < PIECE) {
    yield JSON.stringify(value)
    return
  }
  let before = '{'
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    if (name === '_expand') yield* expandedPieces(one)
    else yield JSON.stringify(one)
    before = ','
  }
  yield '}'
}

/** The same of the value of `_expand`. */
export function* expandedPieces(expanded: object): Generator<string> {
  let before = '{'
  for (const [name, one] of Object.entries(expanded)) {
    yield `${before}${JSON.stringify(name)}:`
    yield* jsonPieces(one)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

/** Gathers pieces into texts of about 64 kB, each in a turn of its own. */
export async function gatherInTurn(request: FastifyRequest, pieces: Iterable<string>): Promise<string[]> {
  const texts: string[] = []
  let text = ''
  for (const piece of pieces) {
    text += piece
    if (text.length < PIECE) continue
    texts.push(text)
    text = ''
    await largeTurn(request)
  }
  return [...texts, text]
}
