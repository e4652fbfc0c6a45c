// Searching cases: what a search may ask, and cases that lie within an area.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type RawBuilder, sql } from 'kysely'
import Type from 'typebox'
import { LIMITS } from '../../core/limits.ts'
import { invalid, invalidAll, Problem } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { all, isAmong } from '../../database/list.ts'
import { lastOf, one } from '../../database/rows.ts'
import { documentedAs } from '../../http/documented.ts'
import { Uuid } from '../../http/input.ts'
import { inTurnOfAll } from '../../telemetry/current-organisation.ts'
import { anyObject } from './columns.ts'
import { ATTRIBUTEN } from './filters.ts'
import { boundingBox, GEOJSON, type Geometrie, judgeGeometrie } from './geometry.ts'
import { pointsWithin, TooManySegments, withinTest } from './within.ts'
import type { Area, Candidates, Portion, Within } from './within-thread.ts'

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
 * The ids of the cases that lie within an area, in their order. An index finds those whose box lies within its box. What has no extent
 * is judged as a point by its box, which the index has; other geometries are read in portions. A thread judges them
 * (`within-thread.ts`), but for a few points in a small area.
 * @throws Problem 400 when that takes more than `LIMITS.segments` comparisons or `LIMITS.areaMs`
 */
export async function within(db: ReadDb, value: unknown, conditions: RawBuilder<unknown>[]): Promise<number[]> {
  const { geometrie, faults } = judgeGeometrie('zaakgeometrie.within', value)
  if (!geometrie) throw invalidAll(faults)
  const box = boundingBox(geometrie)
  if (box === null) return []
  const find = async (after: number): Promise<Found[]> => {
    // Three long lists: a list for each case takes both sides several times as long.
    const { rows } = await sql<{ found: string }>`
      select json_build_array(array_agg(id), array_agg(case when is_point then x end), array_agg(y))::text as found
      from (
        select z.id, (low)[0] as x, (low)[1] as y, (low)[0] = (high)[0] and (low)[1] = (high)[1] as is_point
        from zaak z cross join lateral (select z.zaakgeometrie_grenzen[1] as low, z.zaakgeometrie_grenzen[0] as high) corners
        where z.zaakgeometrie_grenzen <@ ${box}::box and z.id > ${after} and ${all(conditions)}
        order by z.id limit ${BLOCK}
      ) found`.execute(db)
    const [ids, x, y] = JSON.parse(one(rows).found) as [number[] | null, (number | null)[], number[]]
    return (ids ?? []).map((id, place): Found => {
      const [west, south] = [x[place], y[place]]
      return typeof west === 'number' && typeof south === 'number' ? [id, west, south] : [id]
    })
  }
  const read = async (ids: number[]) => {
    const { rows } = await sql<Candidates[number]>`
      select z.id, z.zaakgeometrie::text as geometrie from zaak z
      where ${isAmong(sql`z.id`, 'bigint', ids)} and z.zaakgeometrie is not null`.execute(db)
    return rows
  }
  const first = await find(0)
  if (first.length === 0) return []
  const area = JSON.stringify(geometrie)
  const few = first.length <= FEW && area.length <= SMALL_AREA ? judgeFew(geometrie, first) : undefined
  const ids = few ?? (await threads(() => judgeAll(area, portionsOf(first, find, read))))
  return ids.sort((one, other) => one - other)
}

/** The id of a case, and where it is when that is a point. */
type Found = [id: number] | [id: number, x: number, y: number]

/** As many are found at once. */
const BLOCK = 50_000
/** So little takes less than a millisecond, where starting a thread takes 40. */
const [FEW, SMALL_AREA, FEW_SEGMENTS] = [1_000, 4_000, 100_000]

/** The ids of those that lie within; undefined when not all are points, or more is to be compared. */
function judgeFew(area: Geometrie, found: Found[]): number[] | undefined {
  if (found.some((one) => one.length === 1)) return undefined
  try {
    return pointsWithin(withinTest(area, FEW_SEGMENTS), Float64Array.from(found.flat()))
  } catch (error) {
    if (error instanceof TooManySegments) return undefined
    throw error
  }
}

/** What a thread is asked, in portions of which the size follows from the one before. */
async function* portionsOf(
  first: Found[],
  find: (after: number) => Promise<Found[]>,
  read: (ids: number[]) => Promise<Candidates>,
): AsyncGenerator<Portion> {
  let limit = FIRST
  for (let found = first; found.length > 0; ) {
    const points = found.filter((one) => one.length === 3)
    if (points.length > 0) yield Float64Array.from(points.flat())
    const others = found.flatMap((one) => (one.length === 1 ? one : []))
    for (let at = 0; at < others.length; ) {
      const portion = await read(others.slice(at, at + limit))
      at += limit
      if (portion.length === 0) continue
      yield portion
      const bytes = portion.reduce((sum, { geometrie }) => sum + geometrie.length, 0)
      limit = Math.max(1, Math.min(MOST, Math.floor((4 * LIMITS.portionBytes * portion.length) / bytes)))
    }
    found = found.length < BLOCK ? [] : await find(lastOf(found)[0])
  }
}

const FIRST = 100
const THREAD_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4, stackSizeMb: 4 }

/** Who waits longer is told to come back: each may take ten seconds. */
const WAIT_MS = 30_000

// Two areas at once, whoever asks for more, and never on all processors.
const threads = inTurnOfAll(
  Math.min(2, Math.max(1, availableParallelism() - 1)),
  100,
  () => new Problem(503, { headers: { 'retry-after': '5' } }),
  WAIT_MS,
)

/** The ids of those that lie within. */
async function judgeAll(area: string, portions: AsyncGenerator<Portion>): Promise<number[]> {
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
  const answer = async (portion: Portion): Promise<number[]> => {
    const said = Promise.withResolvers<Within>()
    thread.once('message', said.resolve)
    thread.postMessage(portion)
    const ids = await Promise.race([said.promise, failed.promise])
    if (!ids) throw tooMuch()
    return ids
  }
  const found: number[] = []
  try {
    for (let reading = portions.next(); ; ) {
      const { value, done } = await Promise.race([reading, failed.promise])
      if (done) return found
      reading = portions.next() // the next are read while these are judged
      reading.catch(() => {})
      for (const id of await answer(value)) found.push(id)
    }
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
