// The abonnement that a page is about.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { notFound } from '../../../core/problem.ts'
import type { ReadDb } from '../../../database/database.ts'
import { isUuid } from '../../../lib/uuid.ts'
import type { Subscriber } from '../../../notificaties/claims.ts'
import { reasonOf } from '../../../nrc/abonnement/figures.ts'
import { type FilterGroup, KANALEN_OF_A } from '../../../nrc/abonnement/read.ts'
import type { Step } from '../../../nrc/abonnement/try-out.ts'
import { t } from '../../language/language.ts'
import { masked } from './labels.ts'

export const viewing = { access: 'beheer', rol: 'viewer' } as const
export const operating = { access: 'beheer', rol: 'operator' } as const
export const administering = { access: 'beheer', rol: 'administrator' } as const
export type Params = { Params: { uuid: string } }

/** Tries an abonnement out as it is, or as it would be. */
export type TryOut = (abonnement: Subscriber) => Promise<Step[]>

export type Abonnement = Subscriber & {
  id: number
  applicatieUuid: string | null
  applicatie: string | null
  concurrency: number
  inOrder: boolean
  status: string
  reason: string
  statusSince: string
  missedAfter: number | null
  fetchedAt: string | null
  createdAt: string
  kanalen: FilterGroup[]
}

/** @throws Problem 404 */
export async function requireAbonnement(app: FastifyInstance, request: FastifyRequest): Promise<Abonnement> {
  const { uuid } = request.params as { uuid: string }
  const found = isUuid(uuid) ? await readAbonnement(app.read, uuid) : undefined
  if (!found) throw notFound(t('Dit abonnement bestaat niet (meer).'))
  return found
}

/** With its secrets sealed; undefined when there is none, or it has ended. */
export async function readAbonnement(db: ReadDb, uuid: string): Promise<Abonnement | undefined> {
  const { rows } = await sql<Abonnement>`
    select a.id, a.uuid, a.callback_url, a.authenticatie, a.auth, a.outgoing_client_id, a.token_url, a.token_scope,
      a.certificaat, a.certificate_key, a.ondertekening, a.cloudevents, a.timeout_ms, a.concurrency, a.in_order,
      a.status, a.reason, a.status_since, a.missed_after, a.fetched_at, a.created_at, p.uuid as applicatie_uuid, p.label as applicatie,
      ${KANALEN_OF_A} as kanalen
    from abonnement a left join applicatie p on p.id = a.applicatie_id
    where a.uuid = ${uuid}::uuid and a.deleted_at is null`.execute(db)
  const [row] = rows
  return row && { ...row, reason: reasonOf(row) }
}

/** What pages and the audit log call it. */
export const nameOf = ({ callbackUrl }: { callbackUrl: string }): string =>
  callbackUrl === '' ? t('Wordt opgehaald') : masked(callbackUrl).replace(/^https?:\/\//, '')

export const breadcrumbsOf = (abonnement: { uuid: string; callbackUrl: string }) => [
  { path: '/abonnementen', name: t('Abonnementen') },
  { path: `/abonnementen/${abonnement.uuid}`, name: nameOf(abonnement).slice(0, 60) },
]

/** For the audit log: never a secret. */
export const toAudit = (abonnement: Abonnement) => ({
  callbackUrl: masked(abonnement.callbackUrl),
  applicatie: abonnement.applicatie,
  authenticatie: abonnement.authenticatie,
  outgoingClientId: abonnement.outgoingClientId,
  tokenUrl: masked(abonnement.tokenUrl),
  tokenScope: abonnement.tokenScope,
  certificaat: abonnement.certificaat !== '',
  ondertekeningen: abonnement.ondertekening.length,
  cloudevents: abonnement.cloudevents,
  timeoutMs: abonnement.timeoutMs,
  gelijktijdig: abonnement.concurrency,
  inOrder: abonnement.inOrder,
  status: abonnement.status,
  kanalen: abonnement.kanalen,
})
