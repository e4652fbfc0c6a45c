// What operators do with an abonnement: test it, pause it, resume it, send messages again, and end it.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { notFound } from '../../../core/problem.ts'
import { expected } from '../../../database/rows.ts'
import { timeZone } from '../../../lib/day.ts'
import { isUuid } from '../../../lib/uuid.ts'
import { receiverAnswers } from '../../../notificaties/resend.ts'
import {
  countReplay,
  MAX_PER_MINUTE,
  PER_MINUTE,
  type Replay,
  replayMessage,
  startReplay,
  stopReplay,
} from '../../../nrc/abonnement/replay.ts'
import { pauseAbonnement, resumeAbonnement } from '../../../nrc/abonnement/state.ts'
import { deleteAbonnement } from '../../../nrc/abonnement/write.ts'
import { mutateFromPage, type PageMutation } from '../../frame/change.ts'
import { type FormValues, formFaultsOf, formProblem, readForm } from '../../frame/form.ts'
import { formatNumber, longMoment } from '../../frame/format.ts'
import { redirectWith } from '../../frame/page.ts'
import { signedIn } from '../../frame/session.ts'
import { t } from '../../language/language.ts'
import { pressedText } from '../notificatie-labels.ts'
import {
  type Abonnement,
  administering,
  breadcrumbsOf,
  nameOf,
  operating,
  type Params,
  readAbonnement,
  requireAbonnement,
  type TryOut,
  toAudit,
} from './abonnement.ts'
import { REPLAYS, stepsOf } from './labels.ts'

const Herzenden = Type.Object({
  soort: Type.Enum(['mislukt', 'vanaf']),
  vanaf: Type.Optional(Type.String()),
  perMinute: Type.Integer({ minimum: 1, maximum: MAX_PER_MINUTE, default: PER_MINUTE }),
})

export function registerActs(app: FastifyInstance, test: TryOut): void {
  app.post<Params>('/abonnementen/:uuid/test', { config: operating }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    if (abonnement.callbackUrl === '') throw notFound(t('Dit abonnement heeft geen callback om te testen.'))
    const stappen = await test(abonnement)
    const fault = stepsOf(stappen).find(({ ok }) => !ok)
    await record(request, abonnement, 'abonnement-testen', { stappen }, async (m) => {
      m.unrecorded('a test changes no resource of the standard')
      if (!fault) await receiverAnswers(m, abonnement.id)
    })
    const text = fault
      ? t`De test is mislukt: ${fault.name.toLowerCase()}. ${fault.detail}`
      : abonnement.status === 'actief'
        ? t('De callback werkt: het testbericht is aangenomen. Wat wacht gaat nu weg.')
        : t('De callback werkt: het testbericht is aangenomen. Wat wacht gaat na hervatten weg.')
    return redirectWith(request, reply, `${path(abonnement)}#test`, text, fault ? 'fout' : 'goed')
  })

  app.post<Params>('/abonnementen/:uuid/pauzeren', { config: operating }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const reason = `Gepauzeerd door ${signedIn(request).naam}.`
    await record(request, abonnement, 'abonnement-pauzeren', {}, (m) => pauseAbonnement(m, abonnement.uuid, reason))
    return redirectWith(
      request,
      reply,
      path(abonnement),
      t('Het abonnement is gepauzeerd. Berichten blijven bewaard en wachten.'),
    )
  })

  app.post<Params>('/abonnementen/:uuid/hervatten', { config: operating }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const missed = await record(request, abonnement, 'abonnement-hervatten', {}, (m) =>
      resumeAbonnement(m, abonnement.uuid),
    )
    const text = missed
      ? t('Het abonnement is hervat. Wat wachtte gaat nu weg; gemiste berichten worden nu klaargezet.')
      : t('Het abonnement is hervat. Wat wachtte gaat nu weg.')
    return redirectWith(request, reply, path(abonnement), text)
  })

  app.get<Params>('/abonnementen/:uuid/herzenden', { config: operating }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const query = request.query as FormValues
    const values = { soort: 'mislukt', perMinute: String(PER_MINUTE), ...query }
    if (query.soort === undefined)
      return reply.page('abonnement-replay', { ...page(abonnement), values, faults: {}, counted: null })
    try {
      const { replay, inWords } = readReplay(query)
      const counted = await countReplay(app.read, abonnement.uuid, replay)
      return await reply.page('abonnement-replay', {
        ...page(abonnement),
        values,
        faults: {},
        counted,
        inWords,
      })
    } catch (error) {
      return reply
        .code(400)
        .page('abonnement-replay', { ...page(abonnement), values, faults: formFaultsOf(error), counted: null })
    }
  })

  app.post<Params>('/abonnementen/:uuid/herzenden', { config: operating }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const form = (request.body ?? {}) as FormValues
    try {
      const { replay, inWords } = readReplay(form)
      await record(request, abonnement, 'abonnement-herzenden', replay, (m) => startReplay(m, abonnement.uuid, replay))
      return await redirectWith(
        request,
        reply,
        `${path(abonnement)}#herzending`,
        t`Het herzenden is begonnen: ${inWords}.`,
      )
    } catch (error) {
      return reply.code(400).page('abonnement-replay', {
        ...page(abonnement),
        values: form,
        faults: formFaultsOf(error),
        counted: null,
      })
    }
  })

  app.post<Params>('/abonnementen/:uuid/herzenden/stoppen', { config: operating }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    await record(request, abonnement, 'abonnement-herzenden-stoppen', {}, (m) => stopReplay(m, abonnement.uuid))
    return redirectWith(
      request,
      reply,
      path(abonnement),
      t('Het herzenden is gestopt. Wat al klaarstond wordt nog verstuurd.'),
    )
  })

  app.post<{ Params: { uuid: string; bericht: string } }>(
    '/abonnementen/:uuid/berichten/:bericht/herzenden',
    { config: operating },
    async (request, reply) => {
      const abonnement = await requireAbonnement(app, request)
      const { bericht } = request.params
      if (!isUuid(bericht)) throw notFound(t('Dit bericht bestaat niet (meer).'))
      const pressed = await record(request, abonnement, 'abonnement-herzenden', { bericht }, (m) =>
        replayMessage(m, abonnement.uuid, bericht),
      )
      const isGoing = pressed.outcome === 'now'
      return redirectWith(
        request,
        reply,
        path(abonnement),
        isGoing ? t('Het bericht wordt opnieuw verstuurd, alleen naar dit abonnement.') : pressedText([pressed]),
        isGoing ? 'goed' : 'info',
      )
    },
  )

  app.get<Params>('/abonnementen/:uuid/opzeggen', { config: administering }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    return reply.page('abonnement-delete', {
      title: t('Abonnement opzeggen'),
      breadcrumbs: breadcrumbsOf(abonnement),
      abonnement,
      naam: nameOf(abonnement),
    })
  })

  app.post<Params>('/abonnementen/:uuid/opzeggen', { config: administering }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    await mutateFromPage(request, async (m) => {
      await deleteAbonnement(m, abonnement.uuid)
      m.audit({
        handeling: 'abonnement-opzeggen',
        soort: 'abonnement',
        id: abonnement.uuid,
        weergave: nameOf(abonnement),
        oud: toAudit(abonnement),
      })
    })
    return redirectWith(
      request,
      reply,
      '/abonnementen',
      t`Het abonnement ‘${nameOf(abonnement)}’ is opgezegd. Er gaat niets meer heen.`,
    )
  })

  /** Does something to an abonnement, with its row in the audit log. */
  async function record<T>(
    request: FastifyRequest,
    abonnement: Abonnement,
    handeling: string,
    more: object,
    work: (m: PageMutation) => Promise<T>,
  ): Promise<T> {
    return mutateFromPage(request, async (m) => {
      const value = await work(m)
      const after = await readAbonnement(m.read, abonnement.uuid)
      m.audit({
        handeling,
        soort: 'abonnement',
        id: abonnement.uuid,
        weergave: nameOf(abonnement),
        oud: { status: abonnement.status },
        nieuw: { status: after?.status, ...more },
      })
      return value
    })
  }
}

const path = ({ uuid }: Abonnement) => `/abonnementen/${uuid}`

const page = (abonnement: Abonnement) => ({
  title: t('Berichten opnieuw versturen'),
  breadcrumbs: breadcrumbsOf(abonnement),
  abonnement,
})

/** @throws Problem 400 with what is wrong per field */
function readReplay(form: FormValues): { replay: Replay; inWords: string } {
  const { soort, vanaf, perMinute } = readForm(Herzenden, form)
  if (soort === 'mislukt') return { replay: { kind: 'failed', perMinute }, inWords: expected(REPLAYS.failed) }
  const moment = momentOf(vanaf ?? '')
  if (!moment) throw formProblem({ vanaf: t('Vul een datum en tijd in, als jjjj-mm-dd uu:mm.') })
  const inWords = t`alle berichten vanaf ${longMoment(moment)}, ten hoogste ${formatNumber(perMinute)} per minuut`
  return { replay: { kind: 'since', since: moment.toISOString(), perMinute }, inWords }
}

/** What a field for date and time holds, in the time zone of the settings. */
function momentOf(text: string): Date | undefined {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d)?$/.exec(text) ?? []
  const utc = new Date(`${day}T${time}:00Z`)
  if (Number.isNaN(utc.getTime())) return undefined
  const offset =
    new Intl.DateTimeFormat('en', { timeZone: timeZone(), timeZoneName: 'longOffset' })
      .formatToParts(utc)
      .find(({ type }) => type === 'timeZoneName')
      ?.value.slice(3) || '+00:00'
  return new Date(`${day}T${time}:00${offset}`)
}
