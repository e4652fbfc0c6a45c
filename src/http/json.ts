// JSON of requests. What it costs to parse is in the hands of clients: how deep it is and how many values it has is counted
// before, and a large text waits for its place, and then for its turn: to be counted, to be parsed, and to be held against its schema.
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LIMITS } from '../core/limits.ts'
import { invalid } from '../core/problem.ts'
import { countJson } from '../lib/foreign-json.ts'
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

function requireModest(body: Buffer): void {
  const { depth, values } = countJson(body, LIMITS)
  if (depth > LIMITS.depth) throw tooDeep()
  if (values > LIMITS.values) throw tooMuch(`${LIMITS.values} waarden`)
}

/** What is answered to JSON whose values stand deeper within each other than `LIMITS.depth`. */
export const tooDeep = () => tooMuch(`${LIMITS.depth} niveaus`)

const tooMuch = (what: string) => invalid('nonFieldErrors', 'invalid', `De inhoud heeft meer dan ${what}.`)
