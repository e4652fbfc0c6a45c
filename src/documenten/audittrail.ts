import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { audittrail } from '../http/audittrail.ts'
import { forbidden } from '../http/problem.ts'
import { findDocument } from './document/read.ts'
import { mayDo, mayReadTrail, SCOPES_AUDITTRAIL } from './rights.ts'

/** The audit trail of a document, for whoever has the right to it on this document. */
export const documentAudittrail: FastifyPluginAsyncTypebox = async (app) => {
  app.addHook('preHandler', async (request) => {
    const { uuid } = request.params as { uuid: string }
    const row = await findDocument(app.read, uuid)
    if (row && !mayReadTrail(request.actor, mayDo(request.actor, SCOPES_AUDITTRAIL, row))) throw forbidden()
  })
  await app.register(audittrail('/enkelvoudiginformatieobjecten', 'drc'))
}
