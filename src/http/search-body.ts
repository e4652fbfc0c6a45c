// The body of a search as clients send it.
import type { FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { LIMITS } from '../core/limits.ts'
import { invalid } from '../core/problem.ts'
import type { Plain } from './input-faults.ts'

/**
 * Reads a body of `_zoek` leniently, before it is judged: a list may be text with commas, as in the query of a list, and what is one
 * value may stand in a list, of which the last counts.
 * @throws Problem 400 on a search without a condition, which would be a list
 */
export function lenientSearch(schema: TObject): (request: FastifyRequest) => Promise<void> {
  const properties = Object.entries((schema as Plain).properties ?? {})
  const lists = properties.flatMap(([name, { type }]) => (type === 'array' ? name : []))
  const single = properties.flatMap(([name, { type, enum: choice }]) =>
    choice || ['string', 'boolean', 'integer', 'number'].includes(String(type)) ? name : [],
  )
  return async (request) => {
    const body = request.body as Record<string, unknown> | null
    if (body === null || typeof body !== 'object' || Array.isArray(body)) return
    if (Object.keys(body).length === 0)
      throw invalid('nonFieldErrors', 'empty_search_body', 'Geef ten minste een zoekvoorwaarde.')
    for (const name of lists) {
      const given = body[name]
      if (typeof given === 'string') body[name] = filled(given.split(',', LIMITS.uuids + 1))
      else if (Array.isArray(given)) body[name] = filled(given)
    }
    for (const name of single) {
      const given = body[name]
      if (Array.isArray(given)) body[name] = given.at(-1) // of none undefined: no condition
    }
  }
}

/** @throws Problem 400 on `expand` for anything but a text or a list of texts */
export function expandPaths(paths: unknown): string[] {
  if (paths === undefined || paths === null) return []
  if (typeof paths === 'string') return filled(paths.split(','))
  if (Array.isArray(paths) && paths.every((path) => typeof path === 'string')) return filled(paths)
  throw invalid('expand', 'invalid', "Geef een lijst, of tekst gescheiden door komma's.")
}

/** A comma too many is no item. */
export const filled = <T>(items: T[]): T[] => items.filter((item) => typeof item !== 'string' || item.trim() !== '')
