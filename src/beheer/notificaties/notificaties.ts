// notificaties: the log of messages, the attempts of each, sending again, and pausing.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { EXTERNAL } from '../../core/outbox.ts'
import { notFound } from '../../core/problem.ts'
import { one } from '../../database/rows.ts'
import { today } from '../../lib/day.ts'
import { isUuid } from '../../lib/uuid.ts'
import { KANALEN } from '../../notificaties/kanalen.ts'
import { type Pressed, type Resent, resendFailed, sendNow } from '../../notificaties/resend.ts'
import { readModus, readPauses, readSettings, setPaused } from '../../notificaties/settings.ts'
import { mutateFromPage } from '../frame/change.ts'
import type { FormValues } from '../frame/form.ts'
import { formatNumber } from '../frame/format.ts'
import { keysetPage } from '../frame/keyset-list.ts'
import { redirectWith } from '../frame/page.ts'
import { savedFilters } from '../frame/saved-filters.ts'
import { t, words } from '../language/language.ts'
import { nameOf } from './abonnementen/abonnement.ts'
import { causeAt, outcomeAt } from './abonnementen/labels.ts'
import { deliveryPicture } from './delivery-picture.ts'
import { attemptsInWords, filterInWords, readFilter, refuseSelection } from './notificatie-filter.ts'
import { messageInWords, pressedText, stateOf, waitsFor } from './notificatie-labels.ts'
import {
  countDeliveries,
  countMessages,
  countUpTo,
  type Delivery,
  type Row,
  readCauses,
  readDeliveries,
  selectMessages,
  selectRows,
  TOT,
} from './notificatie-queries.ts'
import { queuePictures } from './queue-picture.ts'

const viewing = { access: 'beheer', rol: 'viewer' } as const
const operating = { access: 'beheer', rol: 'operator' } as const
type Params = { Params: { uuid: string } }

export function registerNotificaties(app: FastifyInstance): void {
  app.get('/notificaties', { config: viewing }, async (request, reply) => {
    const { filter, fields, faults } = readFilter(request.query as FormValues)
    const isValid = faults.object === undefined
    const [list, count, state, causes, hours, days, queue] = await Promise.all([
      keysetPage(request, {
        key: ({ aanmaakdatum, id }: Row) => `${aanmaakdatum}_${id}`,
        rows: async (limit, cursor) => (isValid ? selectRows(app, request, filter, limit, cursor) : []),
      }),
      isValid ? countUpTo(app, filter) : 0,
      readState(app),
      isValid ? readCauses(app, filter) : [],
      deliveryPicture(app.reader, 'hour'),
      deliveryPicture(app.reader, 'day'),
      queuePictures(app.reader, 'deliveries'),
    ])
    return reply.page('notificaties', {
      title: t('Notificaties'),
      savedFilters: await savedFilters(request),
      defaultSort: '-gemaakt',
      list,
      rows: list.rows.map((row) => ({ ...row, ...inWords(row, state) })),
      causes: causes.map((cause) => ({
        ...cause,
        query: new URLSearchParams(
          chosen({ ...fields, status: 'mislukt', oorzaak: cause.cause, ontvanger: cause.ontvanger }),
        ).toString(),
        isChosen: fields.oorzaak === cause.cause && [cause.ontvanger, ''].includes(fields.ontvanger),
      })),
      chosen: [
        ...(fields.oorzaak
          ? [
              {
                name: t('Oorzaak'),
                text: causeAt(fields.ontvanger === 'extern', fields.oorzaak).text,
                without: 'oorzaak',
              },
            ]
          : []),
        ...(fields.ontvanger
          ? [{ name: t('Ontvanger'), text: RECEIVERS[fields.ontvanger] ?? '', without: 'ontvanger' }]
          : []),
        ...(fields.poging ? [{ name: t('Pogingen'), text: attemptsInWords(fields), without: 'poging' }] : []),
      ],
      hours: hours.isEmpty ? null : hours,
      days: days.isEmpty ? null : days,
      queue,
      count: count > TOT ? t`meer dan ${formatNumber(TOT)}` : formatNumber(count),
      isEmpty: count === 0,
      fields,
      faults,
      isFiltered: Object.values(fields).some((value) => value !== ''),
      alles: (request.query as FormValues).alles === '1',
      selection: new URLSearchParams(chosen(fields)).toString(),
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
    const [count, deliveries] = await Promise.all([
      countMessages(app, { ...filter, status: 'mislukt' }),
      countDeliveries(app, { ...filter, status: 'mislukt' }),
    ])
    return reply.page('notificaties-resend', {
      title: t('Opnieuw versturen'),
      breadcrumbs: [{ path: '/notificaties', name: t('Notificaties') }],
      count,
      deliveries,
      fields,
      inWords: filterInWords(fields),
      ...(await readState(app)),
    })
  })

  app.post('/notificaties/herzenden-alle', { config: operating }, async (request, reply) => {
    const { filter, fields, faults } = readFilter((request.body ?? {}) as FormValues)
    refuseSelection(filter, faults)
    const resent = await mutateFromPage(request, async (m) => {
      const resent = await resendFailed(m, { filter })
      m.audit({
        handeling: 'notificaties-herzenden',
        soort: 'notificatie',
        weergave: filterInWords(fields).join(', '),
        nieuw: { aantal: resent.messages, bezorgingen: resent.deliveries, selectie: fields },
      })
      return resent
    })
    return redirectWith(
      request,
      reply,
      '/notificaties?status=gepland',
      resentText(resent),
      resent.messages === 0 ? 'info' : 'goed',
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
      const { text, count } = await perform(request, act, [uuid])
      return redirectWith(request, reply, `/notificaties/${uuid}`, text, count === 0 ? 'info' : 'goed')
    })
  }

  for (const [path, receiver] of [
    ['/notificaties', 'all'],
    ['/configuratie/notificaties', 'external'],
  ] as const)
    for (const pausing of [true, false]) {
      app.post(`${path}/${pausing ? 'pauzeren' : 'hervatten'}`, { config: operating }, async (request, reply) => {
        await mutateFromPage(request, async (m) => {
          const oud = (await readPauses(m.read))[receiver]
          await setPaused(m, pausing, receiver)
          m.audit({
            handeling: pausing ? 'notificaties-pauzeren' : 'notificaties-hervatten',
            soort: receiver === 'all' ? 'notificatie-instelling' : 'notificatiedienst',
            oud: { pausedAt: oud },
            nieuw: { pausedAt: (await readPauses(m.read))[receiver] },
          })
        })
        const text = pausing
          ? t('Het versturen is gepauzeerd. Wat op dit moment wordt verstuurd, wordt nog afgemaakt.')
          : t('Het versturen is hervat. Wat wachtte gaat nu weg.')
        return redirectWith(request, reply, path, text)
      })
    }

  app.get<Params>('/notificaties/:uuid', { config: viewing }, async (request, reply) => {
    const bericht = await requireMessage(app, request.params.uuid)
    const [shown, deliveries, attempts, state] = await Promise.all([
      selectMessages(app, request, sql`notificatie.id = ${bericht.id}`, 1),
      readDeliveries(app, bericht.id),
      app.read
        .selectFrom('deliveryAttempt')
        .where('notificatieId', '=', bericht.id)
        .orderBy('begunAt', 'desc')
        .limit(MAX_ATTEMPTS)
        .selectAll()
        .execute(),
      readState(app),
    ])
    const row = one(shown)
    const receivers = deliveries.map((delivery) => receiverInWords(delivery, attempts, state))
    const { kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken, cloudevent } = bericht
    return reply.page('notificatie', {
      title: `Notificatie: ${resource} ${messageInWords(bericht).actionText}`.slice(0, 150),
      breadcrumbs: [{ path: '/notificaties', name: t('Notificaties') }],
      bericht: { ...bericht, ...row },
      ...inWords(row, state),
      inhoud:
        row.isSeen &&
        JSON.stringify(
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
      receivers,
      delivered: receivers.filter(({ isDelivered }) => isDelivered).length,
      canTryNow: deliveries.some(
        (delivery) => delivery.status === 'gepland' && !delivery.bezig && heldBy(delivery, state).heldBy === '',
      ),
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
    const { text, count, rest } = await perform(request, act, uuids)
    const others =
      rest === 0 ? '' : act === 'nu' ? t` ${rest} gekozen: niet gepland.` : t` ${rest} gekozen: niet mislukt.`
    return redirectWith(request, reply, back, text + (count > 0 ? others : ''), count === 0 ? 'info' : 'goed')
  }

  /** @returns what was done in words, to how many messages, and how many of those that were given were not meant by it */
  async function perform(
    request: FastifyRequest,
    act: 'herzenden' | 'nu',
    uuids: string[],
  ): Promise<{ text: string; count: number; rest: number }> {
    return mutateFromPage(request, async (m) => {
      const pressed = act === 'nu' ? await sendNow(m, uuids) : []
      const done = act === 'nu' ? goingNow(pressed) : await resendFailed(m, { uuids })
      m.audit({
        handeling: act === 'nu' ? 'notificaties-nu-versturen' : 'notificaties-herzenden',
        soort: 'notificatie',
        ...(uuids.length === 1 && { id: uuids[0] }),
        nieuw: { aantal: done.messages, bezorgingen: done.deliveries, uuids },
      })
      const seen = act === 'nu' ? new Set(pressed.map(({ uuid }) => uuid)).size : done.messages
      const text = act === 'nu' ? pressedText(pressed) : resentText(done)
      return { text, count: done.messages, rest: uuids.length - seen }
    })
  }
}

const RECEIVERS: Record<string, string> = words({ extern: 'de notificatiedienst', abonnementen: 'abonnementen' })

const chosen = (fields: Record<string, string>) => Object.entries(fields).filter(([, value]) => value !== '')

function resentText({ messages, deliveries }: Resent): string {
  if (messages === 0) return t('Er was geen mislukt bericht om opnieuw te versturen.')
  const text =
    messages === 1
      ? t('Het bericht wordt opnieuw verstuurd.')
      : t`${formatNumber(messages)} berichten worden opnieuw verstuurd.`
  return deliveries === messages ? text : text + t` Het gaat om ${formatNumber(deliveries)} bezorgingen.`
}
function goingNow(pressed: Pressed[]): Resent {
  const going = pressed.filter(({ outcome }) => outcome === 'now')
  return { messages: new Set(going.map(({ uuid }) => uuid)).size, deliveries: going.length }
}

async function requireMessage(app: FastifyInstance, uuid: string) {
  const bericht = isUuid(uuid)
    ? await app.read.selectFrom('notificatie').where('uuid', '=', uuid).selectAll().executeTakeFirst()
    : undefined
  if (!bericht) throw notFound(t('Dit bericht bestaat niet (meer). Na de bewaartermijn worden berichten opgeruimd.'))
  return bericht
}

/** What holds for all messages: whether they are sent at all. */
async function readState(app: FastifyInstance) {
  const [{ dienst, inOrder, maxRetries }, { all: pause, external: externalPause }, mode] = await Promise.all([
    readSettings(app.read),
    readPauses(app.read),
    readModus(app.read),
  ])
  return { service: dienst, inOrder, maxRetries, pause, externalPause, mode }
}

function inWords(row: Row, state: State) {
  return {
    staat: stateOf(row),
    /** Where the message goes to several: at how many of them that is so. */
    staatBij:
      row.ontvangers < 2
        ? ''
        : row.misluktBij > 0
          ? t`bij ${row.misluktBij} van ${row.ontvangers} ontvangers`
          : row.geplandBij > 0
            ? t`bij ${row.geplandBij} van ${row.ontvangers} ontvangers`
            : t`bij ${row.ontvangers} ontvangers`,
    ...messageInWords(row),
    last: row.abonnementId === null ? null : outcomeAt(row.abonnementId, row.outcome, row.httpStatus),
    waitsFor: waitsFor(row, state),
  }
}

type State = Awaited<ReturnType<typeof readState>>
type AttemptRow = {
  abonnementId: number
  number: number
  begunAt: string
  durationMs: number | null
  outcome: string
  httpStatus: number | null
  answer: string | null
}

/** Attempts of a message that its page shows. */
const MAX_ATTEMPTS = 500

/** A receiver of a message, with how it stands there, and one row for each attempt; the last first. */
function receiverInWords(delivery: Delivery, attempts: AttemptRow[], state: State) {
  const { abonnementId, uuid, callbackUrl, label, status, bezig, attempt, begunAt } = delivery
  const isExternal = abonnementId === EXTERNAL
  const ended = attempts.filter((one) => one.abonnementId === abonnementId).sort((a, b) => b.number - a.number)
  const last = ended[0] && outcomeAt(abonnementId, ended[0].outcome, ended[0].httpStatus)
  const isDelivered = status === null && ended[0]?.outcome === 'delivered'
  const waits = { ...delivery, pogingen: ended.length, wachtOpEerder: false, outcome: null, httpStatus: null }
  return {
    ...delivery,
    isExternal,
    isDelivered,
    name: isExternal
      ? (label ?? t('Notificatiedienst'))
      : callbackUrl === null
        ? t('Een abonnement dat is beëindigd')
        : nameOf({ callbackUrl }),
    path: isExternal ? '/configuratie/notificaties' : uuid && `/abonnementen/${uuid}`,
    kind: isExternal ? t('externe notificatiedienst') : label ? t`abonnement van ${label}` : t('abonnement'),
    staat:
      status === null && !isDelivered
        ? { tone: '', text: t('Vervallen') }
        : stateOf({ ...waits, status: status ?? 'afgeleverd' }),
    last: status === null ? undefined : last,
    ...heldBy(delivery, state),
    restsUntil: restsUntil(delivery),
    attempts: [
      ...(bezig && begunAt !== null
        ? [
            {
              number: attempt,
              begunAt,
              durationMs: null,
              httpStatus: null,
              answer: '',
              ...outcomeAt(abonnementId, null, null),
            },
          ]
        : []),
      ...ended.map(({ number, begunAt, durationMs, outcome, httpStatus, answer }) => ({
        number,
        begunAt,
        durationMs,
        httpStatus,
        ...outcomeAt(abonnementId, outcome, httpStatus),
        answer: outcome === 'delivered' ? '' : (answer ?? '').slice(0, 1000),
      })),
    ],
  }
}

/** Why what is planned for a receiver cannot go now, whatever is asked (empty: it can), and behind which message. */
function heldBy(delivery: Delivery, state: State): { heldBy: string; behind: string | null } {
  const stopped = stoppedBy(delivery, state)
  const { status, bezig, behind } = delivery
  if (stopped !== '' || status !== 'gepland' || bezig || behind === null) return { heldBy: stopped, behind: null }
  return { heldBy: t('Een eerder bericht over hetzelfde object gaat voor.'), behind }
}

function stoppedBy({ abonnementId, status, abonnementStatus, callbackUrl, bezig }: Delivery, state: State): string {
  if (status !== 'gepland' || bezig) return ''
  if (state.pause !== null) return t('Het versturen is gepauzeerd.')
  if (abonnementId === EXTERNAL) {
    if (state.service === null) return t('Er is geen notificatiedienst ingesteld.')
    return state.externalPause === null ? '' : t('Het versturen naar de notificatiedienst is gepauzeerd.')
  }
  if (abonnementStatus !== 'actief') return t('Het abonnement is gepauzeerd, geblokkeerd of opgezegd: hervat het.')
  return callbackUrl === '' ? t('De ontvanger haalt zijn berichten op.') : ''
}

/** Until when the receiver of what waits is left alone; null: it is not. */
const restsUntil = ({ status, notBefore }: Delivery): string | null =>
  status === 'gepland' && notBefore !== null && Date.parse(notBefore) > Date.now() ? notBefore : null
