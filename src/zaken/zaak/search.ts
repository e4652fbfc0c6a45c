// Searching cases: what a search may ask, and cases that lie within an area.
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type from 'typebox'
import type { ReadDb } from '../../database/database.ts'
import { documentedAs } from '../../http/documented.ts'
import { Uuid } from '../../http/input.ts'
import { LIMITS } from '../../http/limits.ts'
import { invalid, invalidAll } from '../../http/problem.ts'
import { anyObject } from './columns.ts'
import { ATTRIBUTEN } from './filters.ts'
import { boundingBox, GEOJSON, type Geometrie, judgeGeometrie, withinTest } from './geometry.ts'
import { all } from './read.ts'

export const Zoek = Type.Object({
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

const PORTION = 1000

/**
 * Cases that lie within an area. An index finds those whose box lies within its box; they are streamed past the exact
 * test, and only their ids are kept.
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
  const lies = withinTest(geometrie)
  const ids: number[] = []
  for (let last = 0; ; ) {
    const { rows } = await sql<{ id: number; zaakgeometrie: Geometrie }>`
      select z.id, z.zaakgeometrie from zaak z
      where z.zaakgeometrie_grenzen <@ ${box}::box and z.id > ${last} and ${all(conditions)}
      order by z.id limit ${PORTION}`.execute(db as never)
    for (const row of rows) if (lies(row.zaakgeometrie)) ids.push(row.id)
    if (rows.length < PORTION) return sql`z.id = any(${ids}::bigint[])`
    last = rows.at(-1)!.id
  }
}

// A search may say a list as a list or, as in the query of a list, as text with commas; ordering too.
export async function lenientSearch(request: FastifyRequest): Promise<void> {
  const body = request.body as Record<string, unknown> | null
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return
  if (Object.keys(body).length === 0)
    throw invalid('nonFieldErrors', 'empty_search_body', 'Geef ten minste een zoekvoorwaarde.')
  for (const [name, schema] of Object.entries(Zoek.properties)) {
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
