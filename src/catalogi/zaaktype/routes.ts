// Routes: the types of cases.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { invalid, notFound } from '../../core/problem.ts'
import { byKey } from '../../database/list.ts'
import { isZeroDuration } from '../../http/duration.ts'
import { Page } from '../../http/page.ts'
import { warn } from '../../telemetry/current-request.ts'
import { deleteAccess, readAccess, updateAccess, writeAccess } from '../access.ts'
import { registerBatch } from '../batch.ts'
import { sendOne, sendPage } from '../expand.ts'
import { DetailOnDate, Params } from '../fields.ts'
import type { Selectielijst } from '../selectielijst.ts'
import { newestFirst } from '../type-source.ts'
import { changeZaaktype } from './change.ts'
import { allZaaktypen, selectZaaktype, toZaaktype, Zaaktype, ZaaktypeInput, ZaaktypePatch } from './columns.ts'
import { createZaaktype } from './create.ts'
import { deleteZaaktype } from './delete.ts'
import { missingParts, publishZaaktype } from './publish.ts'
import { findZaaktype, listZaaktypen, ZaaktypeFilter, zaaktypeSource } from './read.ts'
import { changedProcestypeFaults, procestypeFaults } from './rules.ts'

/**
 * A norm of no length says that every case is late. Files of other services that are imported have it where they mean none, and a
 * takeover keeps it: only who asks for it here is refused.
 */
async function refuseEmptyNorm({ body }: FastifyRequest): Promise<void> {
  const { servicenorm } = (body ?? {}) as { servicenorm?: unknown }
  if (typeof servicenorm === 'string' && isZeroDuration(servicenorm.trim()))
    throw invalid('servicenorm', 'empty-duration', 'De servicenorm is langer dan niets; laat haar weg als er geen is.')
}

export const zaaktypen =
  (selectielijst: Selectielijst): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/zaaktypen',
      { config: readAccess, schema: { querystring: ZaaktypeFilter, response: { 200: Page(Zaaktype) } } },
      async (request, reply) => {
        const list = listZaaktypen(app.read, request.query, request.base)
        const datum = request.query.datumGeldigheid ?? null
        return sendPage(
          request,
          reply,
          'zaaktype',
          {
            count: async () => (await list.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count,
            rows: (limit, offset) => {
              const page = list.select('t.id').orderBy('t.id', 'desc').limit(limit).offset(offset)
              return selectZaaktype(allZaaktypen(app.read).where('t.id', 'in', page), datum)
                .orderBy('t.id', 'desc')
                .execute()
            },
            byKey: byKey(app.reader, newestFirst(list.select('t.id')), (ids) =>
              selectZaaktype(allZaaktypen(app.read).where('t.id', 'in', ids), datum)
                .orderBy('t.id', 'desc')
                .execute(),
            ),
          },
          (row) => toZaaktype(row, request.base),
        )
      },
    )

    app.post(
      '/zaaktypen',
      {
        config: writeAccess,
        schema: { body: ZaaktypeInput, response: { 201: Zaaktype } },
        preValidation: refuseEmptyNorm,
      },
      async (request, reply) => {
        const faults = await procestypeFaults(selectielijst, request.body.selectielijstProcestype)
        const zaaktype = await app.mutate(request.actor, (m) => createZaaktype(m, request.body, faults))
        return reply.code(201).header('location', zaaktype.url).send(zaaktype)
      },
    )

    registerBatch(app, '/zaaktypen', { answer: Zaaktype, query: ZaaktypeFilter }, 'zaaktype', zaaktypeSource)

    app.get(
      '/zaaktypen/:uuid',
      { config: readAccess, schema: { params: Params, querystring: DetailOnDate, response: { 200: Zaaktype } } },
      async (request, reply) => {
        const row = await findZaaktype(app.read, request.params.uuid, request.query.datumGeldigheid)
        if (!row) throw notFound()
        return sendOne(request, reply, 'zaaktype', toZaaktype(row, request.base))
      },
    )

    app.put(
      '/zaaktypen/:uuid',
      {
        config: updateAccess,
        schema: { params: Params, body: ZaaktypeInput, response: { 200: Zaaktype } },
        preValidation: refuseEmptyNorm,
      },
      async (request) => {
        const { selectielijstProcestype } = request.body
        const faults = [
          ...(await procestypeFaults(selectielijst, selectielijstProcestype)),
          ...(await changedProcestypeFaults(
            app.read,
            selectielijst,
            request.params.uuid,
            selectielijstProcestype ?? '',
          )),
        ]
        return app.mutate(request.actor, (m) => changeZaaktype(m, request.params.uuid, 'update', request.body, faults))
      },
    )

    app.patch(
      '/zaaktypen/:uuid',
      {
        config: updateAccess,
        schema: { params: Params, body: ZaaktypePatch, response: { 200: Zaaktype } },
        preValidation: refuseEmptyNorm,
      },
      async (request) => {
        const { selectielijstProcestype } = request.body
        const faults = [
          ...(await procestypeFaults(selectielijst, selectielijstProcestype)),
          ...(await changedProcestypeFaults(app.read, selectielijst, request.params.uuid, selectielijstProcestype)),
        ]
        return app.mutate(request.actor, (m) =>
          changeZaaktype(m, request.params.uuid, 'partial_update', request.body, faults),
        )
      },
    )

    app.delete('/zaaktypen/:uuid', { config: deleteAccess, schema: { params: Params } }, async (request, reply) => {
      await app.mutate(request.actor, (m) => deleteZaaktype(m, request.params.uuid))
      return reply.code(204).send()
    })

    app.post(
      '/zaaktypen/:uuid/publish',
      { config: writeAccess, schema: { params: Params, response: { 200: Zaaktype } } },
      async (request) => {
        const zaaktype = await app.mutate(request.actor, (m) => publishZaaktype(m, request.params.uuid))
        const missing = missingParts(zaaktype)
        if (missing.length > 0) warn(`Dit zaaktype heeft nog geen ${missing.join(', geen ')}.`)
        return zaaktype
      },
    )
  }
