import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Actor, Component } from '../core/actor.ts'
import { unpack } from '../core/audit-contents.ts'
import { LIMITS } from '../core/limits.ts'
import { notFound } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import type { Numbers } from '../lib/numbers.ts'
import { Moment, Url, Uuid } from './input.ts'
import { sendAllById } from './stream.ts'

const AnyResource = Type.Unsafe<unknown>({ type: ['object', 'null'], additionalProperties: true })

const AuditRecord = Type.Object({
  uuid: Uuid,
  bron: Type.String(),
  applicatieId: Type.String(),
  applicatieWeergave: Type.String(),
  gebruikersId: Type.String(),
  gebruikersWeergave: Type.String(),
  actie: Type.String(),
  actieWeergave: Type.String(),
  resultaat: Type.Integer(),
  hoofdObject: Url(),
  resource: Type.String(),
  resourceUrl: Url(),
  toelichting: Type.String(),
  resourceWeergave: Type.String(),
  aanmaakdatum: Moment,
  wijzigingen: Type.Object({ oud: AnyResource, nieuw: AnyResource }),
})

const WEERGAVE: Record<string, string> = {
  create: 'Object aangemaakt',
  update: 'Object bijgewerkt',
  partial_update: 'Object deels bijgewerkt',
  destroy: 'Object verwijderd',
}

export const AUDITTRAIL = ['audittrails.lezen'] as const

/** Whether the actor has the right to audit trails for the whole component: without a type. */
export function readsAllTrails(actor: Actor, component: Component): boolean {
  return actor.autorisaties.some(
    (right) =>
      right.component === component &&
      !right.typeUrl &&
      !right.typeUuid &&
      AUDITTRAIL.some((scope) => right.scopes.has(scope)),
  )
}

/**
 * The audit trail below a main object: `{path}/:uuid/audittrail` and one line of it. Oldest first, not paginated; an
 * object without lines is a 404. Whoever registers it says where and for which component.
 */
export function audittrail(path: string, component: Component): FastifyPluginAsyncTypebox {
  const config = { access: { component, scopes: AUDITTRAIL } }
  return async (app) => {
    app.get(
      `${path}/:uuid/audittrail`,
      { config, schema: { params: Type.Object({ uuid: Uuid }), response: { 200: Type.Array(AuditRecord) } } },
      async (request, reply) => {
        const trail = lines(app.read, component, request.params.uuid)
        const select = (after: number | undefined, limit: number) =>
          (after === undefined ? trail : trail.where('id', '>', after)).limit(limit).execute()
        const begin = await select(undefined, LIMITS.firstLines)
        if (begin.length === 0) throw notFound()
        return sendAllById(request, reply, {
          first: LIMITS.firstLines,
          select: (after, limit) => (after === undefined ? Promise.resolve(begin) : select(after, limit)),
          toResources: (rows) => rows.map((row) => toAuditRecord(row, app.parts.box.numbers)),
        })
      },
    )
    app.get(
      `${path}/:uuid/audittrail/:audittrailUuid`,
      { config, schema: { params: Type.Object({ uuid: Uuid, audittrailUuid: Uuid }), response: { 200: AuditRecord } } },
      async (request) => {
        const row = await lines(app.read, component, request.params.uuid)
          .where('uuid', '=', request.params.audittrailUuid)
          .executeTakeFirst()
        if (!row) throw notFound()
        return toAuditRecord(row, app.parts.box.numbers)
      },
    )
  }
}

function lines(db: ReadDb, component: Component, hoofdObjectUuid: string) {
  return db
    .selectFrom('audit')
    .where('hoofdObjectUuid', '=', hoofdObjectUuid)
    .where('bron', '=', component)
    .orderBy('id')
    .selectAll()
}
type AuditRow = Awaited<ReturnType<ReturnType<typeof lines>['executeTakeFirstOrThrow']>>

function toAuditRecord(row: AuditRow, numbers: Numbers) {
  const { hoofdObject, resourceUrl, oud, nieuw } = unpack(numbers, row)
  return {
    uuid: row.uuid,
    bron: row.bron.toUpperCase(), // as servers in use write it and clients read it; the standard's enumeration is lower case
    applicatieId: row.applicatieId,
    applicatieWeergave: row.applicatieWeergave,
    gebruikersId: row.gebruikersId,
    gebruikersWeergave: row.gebruikersWeergave,
    actie: row.actie,
    actieWeergave: WEERGAVE[row.actie] ?? row.actie,
    resultaat: row.resultaat,
    hoofdObject,
    resource: row.resource,
    resourceUrl,
    toelichting: row.toelichting,
    resourceWeergave: row.resourceWeergave,
    aanmaakdatum: row.aanmaakdatum,
    wijzigingen: { oud, nieuw },
  }
}
