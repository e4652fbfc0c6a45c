// The applicatie that a page is about.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import { isUuid } from '../../lib/uuid.ts'
import { t } from '../language/language.ts'

export const viewing = { access: 'beheer', rol: 'viewer' } as const

export const administering = { access: 'beheer', rol: 'administrator' } as const

export type Params = { Params: { uuid: string } }

export const breadcrumbsOf = ({ uuid, label }: Applicatie) => [
  { path: '/applicaties', name: t('Applicaties') },
  { path: `/applicaties/${uuid}`, name: label },
]

export type Applicatie = {
  id: number
  uuid: string
  label: string
  heeftAlleAutorisaties: boolean
  alleenIsGereedVoorPublicatie: boolean
  createdAt: string
  clientIds: string[]
  aantalRechten: number
}

/** The application of this address. @throws Problem 404 */
export async function requireApplicatie(app: FastifyInstance, request: FastifyRequest): Promise<Applicatie> {
  const { uuid } = request.params as { uuid: string }
  if (!isUuid(uuid)) throw notFound(t('Deze applicatie bestaat niet (meer).'))
  const { rows } = await sql<Applicatie>`
    select a.id, a.uuid, a.label, a.heeft_alle_autorisaties, a.alleen_is_gereed_voor_publicatie, a.created_at,
      array(select c.client_id from applicatie_client_all c where c.applicatie_id = a.id order by c.place, c.client_id) as client_ids,
      (select count(*) from autorisatie r where r.applicatie_id = a.id)
        + (select count(*) from catalogus_autorisatie k where k.applicatie_id = a.id) as aantal_rechten
    from applicatie a where a.uuid = ${uuid}`.execute(app.read)
  if (!rows[0]) throw notFound(t('Deze applicatie bestaat niet (meer).'))
  return rows[0]
}
