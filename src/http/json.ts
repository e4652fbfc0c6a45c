// JSON of requests. What it costs to parse is in the hands of clients: how deep it is and how many values it has is counted
// before, and a large text waits for its place, and then for its turn: to be counted, to be parsed, and to be held against its schema.
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LIMITS } from '../core/limits.ts'
import { invalid } from '../core/problem.ts'
import { keepSources, mayChange } from './numbers.ts'
import { placeForLarge } from './places.ts'
import { largeTurn } from './turns.ts'

/**
 * Makes the parser of JSON for `app`.
 * @returns what rejects with a SyntaxError for what is no JSON or not UTF-8, and with Problem 400 when it is too deep or has too
 *   many values
 */
export function jsonParser(app: FastifyInstance): (request: FastifyRequest, body: Buffer) => Promise<unknown> {
  const parse = app.getDefaultJsonParser('error', 'error')
  return async (request, body) => {
    if (!isUtf8(body)) throw new SyntaxError('not UTF-8')
    if (body.byteLength > LIMITS.smallBytes) {
      large.add(request.raw)
      await placeForLarge(request)
      await largeTurn(request)
    }
    requireModest(body)
    const turn = large.has(request.raw) ? () => largeTurn(request) : undefined
    await turn?.()
    const text = body.toString()
    const parsed = await new Promise((resolve, reject) =>
      parse(request, text, (error, value) => (error ? reject(error) : resolve(value))),
    )
    if (!mayChange(text)) return parsed
    await turn?.()
    return keepSources(text, parsed, turn)
  }
}

const large = new WeakSet<object>()

/** Holds large bodies against their schemas one at a time: that may take longer than parsing them, and faults longer still. */
export function validateInTurn(app: FastifyInstance): void {
  app.addHook('preValidation', async (request) => {
    if (large.has(request.raw)) await largeTurn(request)
  })
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

function requireModest(body: Buffer): void {
  const { depth, values } = countJson(body, LIMITS)
  if (depth > LIMITS.depth) throw tooDeep()
  if (values > LIMITS.values) throw tooMuch(`${LIMITS.values} waarden`)
}

/**
 * How deep values of a JSON text stand within each other, and how many there are. Whether it is JSON is for the parser to say:
 * of anything else the count means nothing.
 * @param most where counting ends: there is one more then
 */
export function countJson(
  body: Buffer,
  most = { depth: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY },
): { depth: number; values: number } {
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

function endOfString(body: Buffer, quote: number): number {
  let at = quote + 1
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at
}

/** What is answered to JSON whose values stand deeper within each other than `LIMITS.depth`. */
export const tooDeep = () => tooMuch(`${LIMITS.depth} niveaus`)

const tooMuch = (what: string) => invalid('nonFieldErrors', 'invalid', `De inhoud heeft meer dan ${what}.`)
