// Searching cases: what a search may ask, and cases that lie within an area.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type from 'typebox'
import { LIMITS } from '../../core/limits.ts'
import { invalid, invalidAll, Problem } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { all, isAmong } from '../../database/list.ts'
import { lastOf } from '../../database/rows.ts'
import { documentedAs } from '../../http/documented.ts'
import { Uuid } from '../../http/input.ts'
import { inTurn } from '../../lib/in-turn.ts'
import { anyObject } from './columns.ts'
import { ATTRIBUTEN } from './filters.ts'
import { boundingBox, GEOJSON, judgeGeometrie } from './geometry.ts'
import type { Area, Candidates, Within } from './within-thread.ts'

export const Search = Type.Object({
  zaakgeometrie: Type.Optional(Type.Object({ within: anyObject(GEOJSON) })),
  uuid__in: Type.Optional(Type.Array(Uuid, { maxItems: LIMITS.uuids })),
  ...ATTRIBUTEN,
  expand: Type.Optional(
    Type.Unsafe<unknown>(
      documentedAs({}, { type: 'array', items: { type: 'string' }, description: 'Op te nemen relaties.' }),
    ),
  ),
  fields: Type.Optional(
    Type.Unsafe<unknown>(
      documentedAs(
        {},
        {
          type: 'array',
          items: { type: 'object', additionalProperties: true },
          description:
            'Wat van elke zaak wordt geantwoord: namen van velden, en objecten met de velden van een relatie of groep. `*` is alles.',
        },
      ),
    ),
  ),
})

/**
 * Cases that lie within an area. An index finds those whose box lies within its box; they are read in portions and judged by
 * a thread (`within-thread.ts`), and only their ids are kept.
 * @throws Problem 400 when that takes more than `LIMITS.segments` comparisons or `LIMITS.areaMs`
 */
export async function within(
  db: ReadDb,
  value: unknown,
  conditions: RawBuilder<unknown>[],
): Promise<RawBuilder<unknown>> {
  const { geometrie, faults } = judgeGeometrie('zaakgeometrie.within', value)
  if (!geometrie) throw invalidAll(faults)
  const box = boundingBox(geometrie)
  if (box === null) return sql`false`
  const candidates = async (after: number, limit: number) => {
    const { rows } = await sql<Candidates[number]>`
      select z.id, z.zaakgeometrie::text as geometrie from zaak z
      where z.zaakgeometrie_grenzen <@ ${box}::box and z.id > ${after} and ${all(conditions)}
      order by z.id limit ${limit}`.execute(db)
    return rows
  }
  const first = await candidates(0, FIRST)
  if (first.length === 0) return sql`false`
  const ids = await threads(() => judgeAll(JSON.stringify(geometrie), first, candidates))
  return isAmong(sql`z.id`, 'bigint', ids)
}

const FIRST = 100
const THREAD_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4, stackSizeMb: 4 }

// Two areas at once, whoever asks for more, and never on all processors.
const threads = inTurn(
  Math.min(2, Math.max(1, availableParallelism() - 1)),
  100,
  () => new Problem(503, { headers: { 'retry-after': '5' } }),
)

/** The ids of those that lie within, in portions of which the size follows from the one before. */
async function judgeAll(
  area: string,
  first: Candidates,
  next: (after: number, limit: number) => Promise<Candidates>,
): Promise<number[]> {
  const workerData: Area = { area, segments: LIMITS.segments }
  const thread = new Worker(new URL('./within-thread.ts', import.meta.url), {
    workerData,
    env: {},
    resourceLimits: THREAD_LIMITS,
  })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {}) // whoever waits hears of it
  thread.on('error', failed.reject)
  let timer: NodeJS.Timeout | undefined
  thread.once('online', () => {
    timer = setTimeout(() => failed.reject(tooMuch()), LIMITS.areaMs) // counts from here: starting is our affair
  })
  const answer = async (candidates: Candidates): Promise<number[]> => {
    const said = Promise.withResolvers<Within>()
    thread.once('message', said.resolve)
    thread.postMessage(candidates)
    const ids = await Promise.race([said.promise, failed.promise])
    if (!ids) throw tooMuch()
    return ids
  }
  const found: number[] = []
  try {
    for (let [portion, limit] = [first, FIRST]; portion.length > 0; ) {
      const bytes = portion.reduce((sum, { geometrie }) => sum + geometrie.length, 0)
      const isLast = portion.length < limit
      limit = Math.max(1, Math.min(MOST, Math.floor((4 * LIMITS.portionBytes * portion.length) / bytes)))
      // The next are read while these are judged.
      const reading = isLast ? Promise.resolve([]) : next(lastOf(portion).id, limit)
      reading.catch(() => {})
      for (const id of await answer(portion)) found.push(id)
      portion = await Promise.race([reading, failed.promise])
    }
    return found
  } finally {
    clearTimeout(timer)
    await thread.terminate()
  }
}

const MOST = 8000

const tooMuch = () =>
  invalid(
    'zaakgeometrie.within',
    'invalid',
    `Het gebied vergt te veel rekenwerk: ten hoogste ${LIMITS.segments} vergelijkingen van lijnstukken en ${LIMITS.areaMs / 1000} seconden. Vereenvoudig het gebied, of zoek met meer voorwaarden.`,
  )

// A search may say a list as a list or, as in the query of a list, as text with commas; ordering too.
export async function lenientSearch(request: FastifyRequest): Promise<void> {
  const body = request.body as Record<string, unknown> | null
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return
  if (Object.keys(body).length === 0)
    throw invalid('nonFieldErrors', 'empty_search_body', 'Geef ten minste een zoekvoorwaarde.')
  for (const [name, schema] of Object.entries(Search.properties)) {
    if ((schema as { type?: string }).type === 'array' && typeof body[name] === 'string')
      body[name] = (body[name] as string).split(',', LIMITS.uuids + 1)
  }
}

/** @throws Problem 400 on `expand` for anything but a text or a list of texts */
export function expandPaths(paths: unknown): string[] {
  if (paths === undefined || paths === null || paths === '') return []
  if (typeof paths === 'string') return paths.split(',')
  if (Array.isArray(paths) && paths.every((path) => typeof path === 'string')) return paths
  throw invalid('expand', 'invalid', "Geef een lijst, of tekst gescheiden door komma's.")
}
