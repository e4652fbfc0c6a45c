// What an abonnement missed, on one page after an outage, with a button that sends exactly that.
import type { FastifyInstance } from 'fastify'
import { LATE_MINUTES, readMissed } from '../../../nrc/abonnement/missed.ts'
import { replayMessages } from '../../../nrc/abonnement/replay.ts'
import { mutateFromPage } from '../../frame/change.ts'
import type { FormValues } from '../../frame/form.ts'
import { formatNumber } from '../../frame/format.ts'
import { redirectWith } from '../../frame/page.ts'
import { t, words } from '../../language/language.ts'
import { messageInWords } from '../notificatie-labels.ts'
import { breadcrumbsOf, nameOf, operating, type Params, requireAbonnement, viewing } from './abonnement.ts'

const SHOWN = 500
/** Sent again by one press. */
const MOST = 5_000
const PERIODS = words({ 1: 'Laatste dag', 7: 'Laatste 7 dagen', 30: 'Laatste 30 dagen' })
const HOW = words({ failed: 'Mislukt', order: 'Kwam voor een ouder bericht', late: 'Kwam te laat' })
const TONES = { failed: 'fout', order: 'let-op', late: 'bezig' } as const

const daysOf = (values: FormValues): number => {
  const days = Number(values.dagen)
  return Object.hasOwn(PERIODS, String(days)) ? days : 7
}

function summaryOf({ failed, order, late }: Record<'failed' | 'order' | 'late', number>): string {
  const parts = [
    failed > 0 && t`${formatNumber(failed)} mislukt`,
    order > 0 && t`${formatNumber(order)} voor zijn beurt`,
    late > 0 && t`${formatNumber(late)} te laat`,
  ].filter((part) => part !== false)
  return `${parts.join(', ')}.`
}

export function registerMissed(app: FastifyInstance): void {
  app.get<Params>('/abonnementen/:uuid/gemist', { config: viewing }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const days = daysOf(request.query as FormValues)
    const missed = await readMissed(app.read, abonnement.id, days, SHOWN + 1)
    const rows = missed.slice(0, SHOWN)
    const count = (how: string) => rows.filter((row) => row.how === how).length
    const counts = { failed: count('failed'), order: count('order'), late: count('late') }
    return reply.page('abonnement-missed', {
      title: t('Wat miste deze ontvanger?'),
      breadcrumbs: breadcrumbsOf(abonnement),
      abonnement,
      days,
      periods: Object.entries(PERIODS),
      lateMinutes: LATE_MINUTES,
      rows: rows.map((row) => ({ ...row, ...messageInWords(row), text: HOW[row.how], tone: TONES[row.how] })),
      counts,
      summary: summaryOf(counts),
      more: missed.length > SHOWN,
    })
  })

  app.post<Params>('/abonnementen/:uuid/gemist', { config: operating }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const days = daysOf((request.body ?? {}) as FormValues)
    const count = await mutateFromPage(request, async (m) => {
      const missed = (await readMissed(m.read, abonnement.id, days, MOST)).filter(({ how }) => how !== 'late')
      const ids = missed.map(({ id }) => id)
      await replayMessages(m, abonnement.uuid, ids)
      m.audit({
        handeling: 'abonnement-herzenden',
        soort: 'abonnement',
        id: abonnement.uuid,
        weergave: nameOf(abonnement),
        nieuw: { gemist: ids.length, dagen: days },
      })
      return ids.length
    })
    return redirectWith(
      request,
      reply,
      `/abonnementen/${abonnement.uuid}/gemist?dagen=${days}`,
      count === 0
        ? t('Er is niets dat opnieuw moet.')
        : t`Aantal berichten dat opnieuw wordt verstuurd, op volgorde: ${formatNumber(count)}.`,
      count === 0 ? 'info' : 'goed',
    )
  })
}
