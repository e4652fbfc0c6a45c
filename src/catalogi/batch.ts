// `_batch` of types and their parts: the same for all of them.
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { TObject } from 'typebox'
import { batchOf, filtersOf, sendBatch } from '../http/batch.ts'
import type { Resource } from '../http/links.ts'
import { readAccess } from './access.ts'
import { catalogiTree } from './expand.ts'
import type { PartTable } from './parts.ts'
import { newestFirst, type TypeSource } from './type-source.ts'
import { DatumGeldigheid, type Hoofdtype } from './versions.ts'

/**
 * Reading many of a kind at once. The day that a list takes in its filter stands in the context: all of them are shown as on that day.
 * @param path of the list
 * @param schemas what one is answered with, and the parameters of the list
 */
export function registerBatch<Row extends { id: number; uuid: string }, Shape extends { url: string }, Filter>(
  app: FastifyInstance,
  path: string,
  schemas: { answer: TObject; query: TObject },
  table: Hoofdtype | PartTable,
  source: Pick<TypeSource<Row, Shape, Filter>, 'resource' | 'listed' | 'rows' | 'toResource'>,
): void {
  const filters = filtersOf(schemas.query)
  const batch = batchOf(nameOf(source.resource), schemas.answer, { datumGeldigheid: DatumGeldigheid })

  app.post<{ Body: { context?: { datumGeldigheid?: string } } }>(
    `${path}/_batch`,
    { config: readAccess, ...batch },
    async (request, reply) => {
      const datumGeldigheid = request.body.context?.datumGeldigheid
      request.query = { datumGeldigheid } // where `expand` looks for it
      return sendBatch<Row>(request, reply, {
        filters,
        keys: { from: sql`${sql.table(table)} t`, id: sql`t.id`, uuid: sql`t.uuid`, conditions: [] },
        list: (filter) => newestFirst(source.listed(app.read, { ...filter, datumGeldigheid } as Filter, request.base)),
        rows: (reader, ids) =>
          ids.length === 0
            ? Promise.resolve([])
            : source.rows(reader.db, sql`t.id = any(${ids}::bigint[])`, datumGeldigheid ?? null).execute(),
        answers: (rows, show) => show(rows.map((row) => source.toResource(row, request.base))),
        tree: catalogiTree(source.resource),
      })
    },
  )
}

const nameOf = (resource: Resource) => resource.charAt(0).toUpperCase() + resource.slice(1)
