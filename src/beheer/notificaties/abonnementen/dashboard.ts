// One abonnement: how it is doing, what it gets, what waits for it, and what the last attempts came to.

import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { one } from '../../../database/rows.ts'
import { today } from '../../../lib/day.ts'
import { readSettings } from '../../../notificaties/settings.ts'
import { readFigures, readThroughput } from '../../../nrc/abonnement/figures.ts'
import type { Step } from '../../../nrc/abonnement/try-out.ts'
import { t } from '../../language/language.ts'
import { deliveryPicture } from '../delivery-picture.ts'
import { messageInWords } from '../notificatie-labels.ts'
import { type Abonnement, nameOf, type Params, requireAbonnement, viewing } from './abonnement.ts'
import { AUTHENTICATION_WORDS, groupInWords, masked, REPLAYS, stateOf, stepsOf, subscriberOutcome } from './labels.ts'
import { capped } from './list.ts'

/** Attempts of the strip, and those that are told one by one. */
const ATTEMPTS = 50
const TOLD = 15
const NEXT = 10

export function registerAbonnement(app: FastifyInstance): void {
  app.get<Params>('/abonnementen/:uuid', { config: viewing }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const [shown, throughput, attempts, next, failed, replay, test, hours, days, { outageCounts }] = await Promise.all([
      readFigures(app.read, sql`a.id = ${abonnement.id}`),
      readThroughput(app.read, abonnement.id),
      readAttempts(app, abonnement.id),
      readNext(app, abonnement),
      readFailed(app, abonnement.id),
      app.read
        .selectFrom('resend')
        .where('abonnementId', '=', abonnement.id)
        .orderBy('id', 'desc')
        .selectAll()
        .limit(1)
        .executeTakeFirst(),
      lastTest(app, abonnement.uuid),
      deliveryPicture(app.reader, 'hour', abonnement),
      deliveryPicture(app.reader, 'day', abonnement),
      readSettings(app.read),
    ])
    const figures = one(shown)
    return reply.page('abonnement', {
      title: nameOf(abonnement).slice(0, 120),
      breadcrumbs: [{ path: '/abonnementen', name: t('Abonnementen') }],
      abonnement: { ...abonnement, callbackUrl: masked(abonnement.callbackUrl), tokenUrl: masked(abonnement.tokenUrl) },
      figures,
      staat: stateOf(figures),
      storing: figures.failures > 0 ? subscriberOutcome(figures.lastOutcome, figures.lastHttpStatus) : null,
      authenticatie: AUTHENTICATION_WORDS[abonnement.authenticatie],
      groups: abonnement.kanalen.map(groupInWords),
      throughput,
      attempts: attempts.slice(0, TOLD).map((attempt) => ({
        ...attempt,
        ...messageInWords(attempt),
        ...subscriberOutcome(attempt.outcome, attempt.httpStatus),
      })),
      next: next.map((row) => ({ ...row, ...messageInWords(row) })),
      failed: failed.map((row) => ({ ...row, ...messageInWords(row) })),
      replay: replay && { ...replay, inWords: REPLAYS[replay.kind] },
      test: test && { ...test, stappen: stepsOf((test.nieuw as { stappen: Step[] }).stappen) },
      hours: hours.isEmpty ? null : hours,
      days: days.isEmpty ? null : days,
      strip: attempts.toReversed().map(({ outcome }) => ({ isDelivered: outcome === 'delivered' })),
      today: today(),
      outageCounts,
      bewaarDagen: app.parts.config.notificationDaysRetained,
      capped,
    })
  })
}

type MessageRow = { uuid: string; resource: string; actie: string; kanaal: string }
type AttemptRow = MessageRow & {
  number: number
  begunAt: string
  outcome: string
  httpStatus: number | null
  durationMs: number | null
  answer: string
}

async function readAttempts(app: FastifyInstance, abonnementId: number): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select n.uuid, n.resource, n.actie, n.kanaal, p.number, p.begun_at, p.outcome, p.http_status, p.duration_ms,
      case when p.outcome = 'delivered' then '' else left(p.answer, 200) end as answer
    from (select * from delivery_attempt where abonnement_id = ${abonnementId}
      order by begun_at desc limit ${ATTEMPTS}) p
    join notificatie n on n.id = p.notificatie_id order by p.begun_at desc`.execute(app.read)
  return rows
}

type NextRow = MessageRow & { at: string | null; attempt: number; isBusy: boolean }

/** What is sent next, and when: later when the abonnement itself is left alone until then. */
async function readNext(app: FastifyInstance, { id }: Abonnement): Promise<NextRow[]> {
  const { rows } = await sql<NextRow>`
    select n.uuid, n.resource, n.actie, n.kanaal, l.attempt, l.claimed_by is not null as is_busy,
      greatest(l.next_attempt_at, a.not_before) as at
    from (select * from delivery where abonnement_id = ${id} and status = 'gepland'
      order by next_attempt_at, notificatie_id limit ${NEXT}) l
    join abonnement a on a.id = l.abonnement_id
    join notificatie n on n.id = l.notificatie_id
    order by l.next_attempt_at, l.notificatie_id`.execute(app.read)
  return rows
}

async function readFailed(app: FastifyInstance, abonnementId: number): Promise<(MessageRow & { at: string })[]> {
  const { rows } = await sql<MessageRow & { at: string }>`
    select n.uuid, n.resource, n.actie, n.kanaal, coalesce(l.ended_at, n.aanmaakdatum) as at
    from (select * from delivery where abonnement_id = ${abonnementId} and status = 'mislukt'
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
