// One abonnement: how it is doing, what it gets, what waits for it, and what the last attempts came to.

import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { one } from '../../../database/rows.ts'
import { readFigures, readThroughput } from '../../../nrc/abonnement/figures.ts'
import type { Step } from '../../../nrc/abonnement/try-out.ts'
import { t } from '../../language/language.ts'
import { type Abonnement, nameOf, type Params, requireAbonnement, viewing } from './abonnement.ts'
import { AUTHENTICATION_WORDS, groupInWords, masked, REPLAYS, stateOf, stepsOf, subscriberOutcome } from './labels.ts'
import { capped } from './list.ts'

const ATTEMPTS = 50
const NEXT = 20

export function registerAbonnement(app: FastifyInstance): void {
  app.get<Params>('/abonnementen/:uuid', { config: viewing }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const [shown, throughput, attempts, next, failed, replay, test] = await Promise.all([
      readFigures(app.read, sql`a.id = ${abonnement.id}`),
      readThroughput(app.read, abonnement.id),
      readAttempts(app, abonnement.id),
      readNext(app, abonnement),
      readFailed(app, abonnement.id),
      app.read
        .selectFrom('herzending')
        .where('abonnementId', '=', abonnement.id)
        .orderBy('id', 'desc')
        .selectAll()
        .limit(1)
        .executeTakeFirst(),
      lastTest(app, abonnement.uuid),
    ])
    const figures = one(shown)
    return reply.page('abonnement', {
      title: nameOf(abonnement).slice(0, 120),
      breadcrumbs: [{ path: '/abonnementen', name: t('Abonnementen') }],
      abonnement: { ...abonnement, callbackUrl: masked(abonnement.callbackUrl), tokenUrl: masked(abonnement.tokenUrl) },
      figures,
      staat: stateOf(figures),
      storing: figures.fouten > 0 ? subscriberOutcome(figures.laatsteUitkomst, figures.laatsteHttpStatus) : null,
      authenticatie: AUTHENTICATION_WORDS[abonnement.authenticatie],
      groups: abonnement.kanalen.map(groupInWords),
      throughput,
      attempts: attempts.map((attempt) => ({ ...attempt, ...subscriberOutcome(attempt.uitkomst, attempt.httpStatus) })),
      next,
      failed,
      replay: replay && { ...replay, inWords: REPLAYS[replay.soort] },
      test: test && { ...test, stappen: stepsOf((test.nieuw as { stappen: Step[] }).stappen) },
      bewaarDagen: app.parts.config.notificationDaysRetained,
      capped,
    })
  })
}

type MessageRow = { uuid: string; resource: string; actie: string; kanaal: string }
type AttemptRow = MessageRow & {
  nummer: number
  begonnenOp: string
  uitkomst: string
  httpStatus: number | null
  duurMs: number | null
  antwoord: string
}

async function readAttempts(app: FastifyInstance, abonnementId: number): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select n.uuid, n.resource, n.actie, n.kanaal, p.nummer, p.begonnen_op, p.uitkomst, p.http_status, p.duur_ms,
      case when p.uitkomst = 'delivered' then '' else left(p.antwoord, 200) end as antwoord
    from (select * from notificatie_poging where abonnement_id = ${abonnementId}
      order by begonnen_op desc limit ${ATTEMPTS}) p
    join notificatie n on n.id = p.notificatie_id order by p.begonnen_op desc`.execute(app.read)
  return rows
}

type NextRow = MessageRow & { at: string | null; poging: number; isBusy: boolean }

/** What is sent next, and when: later when the abonnement itself is left alone until then. */
async function readNext(app: FastifyInstance, { id }: Abonnement): Promise<NextRow[]> {
  const { rows } = await sql<NextRow>`
    select n.uuid, n.resource, n.actie, n.kanaal, l.poging, l.genomen_door is not null as is_busy,
      greatest(l.volgende_poging_op, a.niet_voor) as at
    from (select * from levering where abonnement_id = ${id} and status = 'gepland'
      order by volgende_poging_op, notificatie_id limit ${NEXT}) l
    join abonnement a on a.id = l.abonnement_id
    join notificatie n on n.id = l.notificatie_id
    order by l.volgende_poging_op, l.notificatie_id`.execute(app.read)
  return rows
}

async function readFailed(app: FastifyInstance, abonnementId: number): Promise<(MessageRow & { at: string })[]> {
  const { rows } = await sql<MessageRow & { at: string }>`
    select n.uuid, n.resource, n.actie, n.kanaal, coalesce(l.beeindigd_op, n.aanmaakdatum) as at
    from (select * from levering where abonnement_id = ${abonnementId} and status = 'mislukt'
      order by notificatie_id desc limit ${NEXT}) l
    join notificatie n on n.id = l.notificatie_id order by l.notificatie_id desc`.execute(app.read)
  return rows
}

/** What the last test came to: its audit record tells. */
async function lastTest(app: FastifyInstance, uuid: string) {
  return app.read
    .selectFrom('beheerAudit')
    .where('handeling', '=', 'abonnement-testen')
    .where('objectId', '=', uuid)
    .orderBy('id', 'desc')
    .select(['tijdstip', 'gebruiker', 'nieuw'])
    .limit(1)
    .executeTakeFirst()
}
