import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { forbidden } from '../core/problem.ts'
import { AUDITTRAIL, audittrail, readsAllTrails } from '../http/audittrail.ts'
import { findDocument } from './document/read.ts'
import { mayDo } from './rights.ts'

/** The audit trail of a document, for whoever has the right to it on this document. */
export const documentAudittrail: FastifyPluginAsyncTypebox = async (app) => {
  app.addHook('preHandler', async (request) => {
    const { uuid } = request.params as { uuid: string }
    const row = await findDocument(app.read, uuid)
    if (row && !mayDo(request.actor, AUDITTRAIL, row) && !readsAllTrails(request.actor, 'drc')) throw forbidden()
  })
  await app.register(audittrail('/enkelvoudiginformatieobjecten', 'drc'))
}
