// notificaties: the log of messages, the attempts of each, sending again, and pausing.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import { one } from '../../database/rows.ts'
import { today } from '../../lib/day.ts'
import { isUuid } from '../../lib/uuid.ts'
import { KANALEN } from '../../notificaties/kanalen.ts'
import { resendFailed, sendNow } from '../../notificaties/resend.ts'
import { pausedAt, readModus, readSettings, setPaused } from '../../notificaties/settings.ts'
import { mutateFromPage } from '../frame/change.ts'
import type { FormValues } from '../frame/form.ts'
import { formatNumber } from '../frame/format.ts'
import { NOUNS } from '../frame/history.ts'
import { keysetPage } from '../frame/keyset-list.ts'
import { redirectWith } from '../frame/page.ts'
import { t, words } from '../language/language.ts'
import { filterInWords, readFilter, refuseSelection } from './notificatie-filter.ts'
import { outcomeOf, stateOf, waitsFor } from './notificatie-labels.ts'
import {
  countMessages,
  countUpTo,
  type Row,
  readCauses,
  selectMessages,
  selectRows,
  TOT,
} from './notificatie-queries.ts'

const viewing = { access: 'beheer', rol: 'viewer' } as const
const operating = { access: 'beheer', rol: 'operator' } as const
type Params = { Params: { uuid: string } }

export function registerNotificaties(app: FastifyInstance): void {
  app.get('/notificaties', { config: viewing }, async (request, reply) => {
    const { filter, fields, faults } = readFilter(request.query as FormValues)
    const isValid = faults.object === undefined
    const [list, count, state, causes] = await Promise.all([
      keysetPage(request, {
        key: ({ aanmaakdatum, id }: Row) => `${aanmaakdatum}_${id}`,
        rows: async (limit, cursor) => (isValid ? selectRows(app, request, filter, limit, cursor) : []),
      }),
      isValid ? countUpTo(app, filter) : 0,
      readState(app),
      readCauses(app),
    ])
    return reply.page('notificaties', {
      title: t('Notificaties'),
      defaultSort: '-gemaakt',
      list,
      rows: list.rows.map((row) => ({ ...row, ...inWords(row, state) })),
      causes,
      count: count > TOT ? t`meer dan ${formatNumber(TOT)}` : formatNumber(count),
      isEmpty: count === 0,
      fields,
      faults,
      isFiltered: Object.values(fields).some((value) => value !== ''),
      alles: (request.query as FormValues).alles === '1',
      selection: new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== '')).toString(),
      // The address as it is, so that one comes back to the same page after a change.
      here: request.originalUrl.split('?', 2)[1] ?? '',
      canResend: isValid && (!filter.status || filter.status === 'mislukt'),
      today: today(),
      kanalen: [['', t('Alle')], ...KANALEN.map(({ naam }) => [naam, naam])],
      ...state,
    })
  })

  app.get('/notificaties/herzenden', { config: operating }, async (request, reply) => {
    const { filter, fields, faults } = readFilter(request.query as FormValues)
    refuseSelection(filter, faults)
    const count = await countMessages(app, { ...filter, status: 'mislukt' })
    return reply.page('notificaties-resend', {
      title: t('Opnieuw versturen'),
      breadcrumbs: [{ path: '/notificaties', name: t('Notificaties') }],
      count,
      fields,
      inWords: filterInWords(fields),
      ...(await readState(app)),
    })
  })

  app.post('/notificaties/herzenden-alle', { config: operating }, async (request, reply) => {
    const { filter, fields, faults } = readFilter((request.body ?? {}) as FormValues)
    refuseSelection(filter, faults)
    const count = await mutateFromPage(request, async (m) => {
      const resent = await resendFailed(m, { filter })
      m.audit({
        handeling: 'notificaties-herzenden',
        soort: 'notificatie',
        weergave: filterInWords(fields).join(', '),
        nieuw: { aantal: resent, selectie: fields },
      })
      return resent
    })
    return redirectWith(
      request,
      reply,
      '/notificaties?status=gepland',
      resentText(count),
      count === 0 ? 'info' : 'goed',
    )
  })

  app.post('/notificaties/gekozen/herzenden', { config: operating }, async (request, reply) =>
    resendChosen(request, reply, 'herzenden'),
  )
  app.post('/notificaties/gekozen/nu', { config: operating }, async (request, reply) =>
    resendChosen(request, reply, 'nu'),
  )
  for (const act of ['herzenden', 'nu'] as const) {
    app.post<Params>(`/notificaties/:uuid/${act}`, { config: operating }, async (request, reply) => {
      const { uuid } = await requireMessage(app, request.params.uuid)
      const count = await perform(request, act, [uuid])
      const text = act === 'nu' ? sentNowText(count) : resentText(count)
      return redirectWith(request, reply, `/notificaties/${uuid}`, text, count === 0 ? 'info' : 'goed')
    })
  }

  for (const pausing of [true, false]) {
    app.post(`/notificaties/${pausing ? 'pauzeren' : 'hervatten'}`, { config: operating }, async (request, reply) => {
      await mutateFromPage(request, async (m) => {
        const oud = await pausedAt(m.read)
        await setPaused(m, pausing)
        m.audit({
          handeling: pausing ? 'notificaties-pauzeren' : 'notificaties-hervatten',
          soort: 'notificatie-instelling',
          oud: { pausedAt: oud },
          nieuw: { pausedAt: await pausedAt(m.read) },
        })
      })
      const text = pausing
        ? t('Het versturen is gepauzeerd. Wat op dit moment wordt verstuurd, wordt nog afgemaakt.')
        : t('Het versturen is hervat. Wat wachtte gaat nu weg.')
      return redirectWith(request, reply, '/notificaties', text)
    })
  }

  app.get<Params>('/notificaties/:uuid', { config: viewing }, async (request, reply) => {
    const bericht = await requireMessage(app, request.params.uuid)
    const [shown, ended, under, state] = await Promise.all([
      selectMessages(app, request, sql`notificatie.id = ${bericht.id}`, 1),
      app.read.selectFrom('deliveryAttempt').where('notificatieId', '=', bericht.id).selectAll().execute(),
      app.read
        .selectFrom('delivery')
        .where('notificatieId', '=', bericht.id)
        .where('claimedBy', 'is not', null)
        .selectAll()
        .execute(),
      readState(app),
    ])
    const attempts = [
      ...ended,
      ...under.map(({ poging, abonnementId, begunAt }) => ({
        nummer: poging,
        abonnementId,
        begunAt: begunAt!,
        uitkomst: null,
        httpStatus: null,
        antwoord: null,
        durationMs: null,
      })),
    ]
    const row = one(shown)
    const { kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken, cloudevent } = bericht
    return reply.page('notificatie', {
      title: `Notificatie: ${resource} ${ofOurs(ACTIONS, actie)}`.slice(0, 150),
      breadcrumbs: [{ path: '/notificaties', name: t('Notificaties') }],
      bericht: { ...bericht, ...row },
      ...inWords(row, state),
      inhoud: JSON.stringify(
        {
          ...(cloudevent && { cloudevent }),
          kanaal,
          hoofdObject,
          resource,
          resourceUrl,
          actie,
          aanmaakdatum,
          kenmerken,
        },
        null,
        2,
      ),
      attempts: attempts
        .sort((a, b) => b.nummer - a.nummer)
        .map((attempt) => ({
          ...attempt,
          ...outcomeOf(attempt.uitkomst, attempt.httpStatus),
          antwoord: attempt.uitkomst === 'delivered' ? '' : (attempt.antwoord ?? '').slice(0, 1000),
        })),
      ...state,
    })
  })

  async function resendChosen(
    request: FastifyRequest,
    reply: FastifyReply,
    act: 'herzenden' | 'nu',
  ): Promise<FastifyReply> {
    const form = (request.body ?? {}) as FormValues
    const uuids = [form.uuid ?? []].flat().filter((uuid) => isUuid(uuid))
    const back = `/notificaties${form.terug ? `?${new URLSearchParams(String(form.terug))}` : ''}`
    if (uuids.length === 0) return redirectWith(request, reply, back, t('Kies eerst een of meer berichten.'), 'fout')
    const count = await perform(request, act, uuids)
    const rest = uuids.length - count
    const others =
      rest === 0 ? '' : act === 'nu' ? t` ${rest} gekozen: niet gepland.` : t` ${rest} gekozen: niet mislukt.`
    const text = (act === 'nu' ? sentNowText(count) : resentText(count)) + (count > 0 ? others : '')
    return redirectWith(request, reply, back, text, count === 0 ? 'info' : 'goed')
  }

  async function perform(request: FastifyRequest, act: 'herzenden' | 'nu', uuids: string[]): Promise<number> {
    return mutateFromPage(request, async (m) => {
      const count = act === 'nu' ? await sendNow(m, uuids) : await resendFailed(m, { uuids })
      m.audit({
        handeling: act === 'nu' ? 'notificaties-nu-versturen' : 'notificaties-herzenden',
        soort: 'notificatie',
        ...(uuids.length === 1 && { id: uuids[0] }),
        nieuw: { aantal: count, uuids },
      })
      return count
    })
  }
}

const resentText = (count: number) =>
  count === 0
    ? t('Er was geen mislukt bericht om opnieuw te versturen.')
    : count === 1
      ? t('Het bericht wordt opnieuw verstuurd.')
      : t`${formatNumber(count)} berichten worden opnieuw verstuurd.`
const sentNowText = (count: number) =>
  count === 0
    ? t('Er was geen bericht dat op een latere poging wachtte.')
    : count === 1
      ? t('Het bericht wordt nu geprobeerd.')
      : t`${formatNumber(count)} berichten worden nu geprobeerd.`

async function requireMessage(app: FastifyInstance, uuid: string) {
  const bericht = isUuid(uuid)
    ? await app.read.selectFrom('notificatie').where('uuid', '=', uuid).selectAll().executeTakeFirst()
    : undefined
  if (!bericht) throw notFound(t('Dit bericht bestaat niet (meer). Na de bewaartermijn worden berichten opgeruimd.'))
  return bericht
}

/** What holds for all messages: whether they are sent at all. */
async function readState(app: FastifyInstance) {
  const [{ dienst, inOrder, maxRetries }, pause, modus] = await Promise.all([
    readSettings(app.read),
    pausedAt(app.read),
    readModus(app.read),
  ])
  return { service: dienst, inOrder, maxRetries, pause, modus }
}

const ACTIONS: Record<string, string> = words({
  create: 'aangemaakt',
  update: 'gewijzigd',
  partial_update: 'deels gewijzigd',
  destroy: 'verwijderd',
})

function inWords(row: Row, state: Awaited<ReturnType<typeof readState>>) {
  return {
    staat: stateOf(row),
    what: row.resource === 'zaakinformatieobject' ? t('Document bij zaak') : ofOurs(NOUNS, row.resource),
    actionText: ofOurs(ACTIONS, row.actie),
    last: row.pogingen > 0 ? outcomeOf(row.uitkomst, row.httpStatus) : null,
    waitsFor: waitsFor(row, state),
  }
}

/** What we call something that another publisher may have named. */
const ofOurs = (words: Record<string, string>, name: string): string =>
  (Object.hasOwn(words, name) ? words[name] : undefined) ?? name
