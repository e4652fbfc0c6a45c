// notificaties: the log of messages, the attempts of each, sending again, and pausing.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { one } from '../database/rows.ts'
import { notFound } from '../http/problem.ts'
import { isUuid } from '../http/uuid.ts'
import { KANALEN } from '../notificaties/kanalen.ts'
import { resendFailed, sendNow } from '../notificaties/resend.ts'
import { pausedAt, readModus, readSettings, setPaused } from '../notificaties/settings.ts'
import { mutateFromPage } from './change.ts'
import type { FormValues } from './form.ts'
import { formatNumber } from './format.ts'
import { NOUNS } from './history.ts'
import { keysetPage } from './keyset-list.ts'
import { t, words } from './language/language.ts'
import { filterInWords, readFilter, refuseSelection, today } from './notificatie-filter.ts'
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
import { redirectWith } from './page.ts'

const viewing = { access: 'beheer', rol: 'viewer' } as const
const operating = { access: 'beheer', rol: 'operator' } as const
type Params = { Params: { uuid: string } }

export function registerNotificaties(app: FastifyInstance): void {
  app.get('/notificaties', { config: viewing }, async (request, reply) => {
    const { filter, velden, faults } = readFilter(request.query as FormValues)
    const geldig = faults.object === undefined
    const [list, aantal, instelling, oorzaken] = await Promise.all([
      keysetPage(request, {
        key: ({ aanmaakdatum, id }: Row) => `${aanmaakdatum}_${id}`,
        rows: async (limit, cursor) => (geldig ? selectRows(app, request, filter, limit, cursor) : []),
      }),
      geldig ? countUpTo(app, filter) : 0,
      readState(app),
      readCauses(app),
    ])
    return reply.page('notificaties', {
      title: t('Notificaties'),
      defaultSort: '-gemaakt',
      list,
      rows: list.rows.map((row) => ({ ...row, ...inWords(row, instelling) })),
      oorzaken,
      aantal: aantal > TOT ? t`meer dan ${formatNumber(TOT)}` : formatNumber(aantal),
      leeg: aantal === 0,
      velden,
      faults,
      gefilterd: Object.values(velden).some((value) => value !== ''),
      alles: (request.query as FormValues).alles === '1',
      selectie: new URLSearchParams(Object.entries(velden).filter(([, value]) => value !== '')).toString(),
      // The address as it is, so that one comes back to the same page after a change.
      hier: request.originalUrl.split('?', 2)[1] ?? '',
      herzendbaar: geldig && (!filter.status || filter.status === 'mislukt'),
      vandaag: today(),
      kanalen: [['', t('Alle')], ...KANALEN.map(({ naam }) => [naam, naam])],
      ...instelling,
    })
  })

  app.get('/notificaties/herzenden', { config: operating }, async (request, reply) => {
    const { filter, velden, faults } = readFilter(request.query as FormValues)
    refuseSelection(filter, faults)
    const aantal = await countMessages(app, { ...filter, status: 'mislukt' })
    return reply.page('notificaties-resend', {
      title: t('Opnieuw versturen'),
      breadcrumbs: [{ path: '/notificaties', name: t('Notificaties') }],
      aantal,
      velden,
      inWoorden: filterInWords(velden),
      ...(await readState(app)),
    })
  })

  app.post('/notificaties/herzenden-alle', { config: operating }, async (request, reply) => {
    const { filter, velden, faults } = readFilter((request.body ?? {}) as FormValues)
    refuseSelection(filter, faults)
    const aantal = await mutateFromPage(request, async (m) => {
      const count = await resendFailed(m, { filter })
      m.audit({
        handeling: 'notificaties-herzenden',
        soort: 'notificatie',
        weergave: filterInWords(velden).join(', '),
        nieuw: { aantal: count, selectie: velden },
      })
      return count
    })
    return redirectWith(
      request,
      reply,
      '/notificaties?status=gepland',
      resentText(aantal),
      aantal === 0 ? 'info' : 'goed',
    )
  })

  app.post('/notificaties/gekozen/herzenden', { config: operating }, async (request, reply) =>
    resendChosen(request, reply, 'herzenden'),
  )
  app.post('/notificaties/gekozen/nu', { config: operating }, async (request, reply) =>
    resendChosen(request, reply, 'nu'),
  )
  for (const wat of ['herzenden', 'nu'] as const) {
    app.post<Params>(`/notificaties/:uuid/${wat}`, { config: operating }, async (request, reply) => {
      const { uuid } = await requireMessage(app, request.params.uuid)
      const aantal = await doe(request, wat, [uuid])
      const text = wat === 'nu' ? sentNowText(aantal) : resentText(aantal)
      return redirectWith(request, reply, `/notificaties/${uuid}`, text, aantal === 0 ? 'info' : 'goed')
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
          oud: { gepauzeerdOp: oud },
          nieuw: { gepauzeerdOp: await pausedAt(m.read) },
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
    const [shown, ended, under, instelling] = await Promise.all([
      selectMessages(app, request, sql`notificatie.id = ${bericht.id}`, 1),
      app.read.selectFrom('notificatiePoging').where('notificatieId', '=', bericht.id).selectAll().execute(),
      app.read
        .selectFrom('levering')
        .where('notificatieId', '=', bericht.id)
        .where('genomenDoor', 'is not', null)
        .selectAll()
        .execute(),
      readState(app),
    ])
    const pogingen = [
      ...ended,
      ...under.map(({ poging, abonnementId, begonnenOp }) => ({
        nummer: poging,
        abonnementId,
        begonnenOp: begonnenOp!,
        uitkomst: null,
        httpStatus: null,
        antwoord: null,
        duurMs: null,
      })),
    ]
    const row = one(shown)
    const { kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken, cloudevent } = bericht
    return reply.page('notificatie', {
      title: `Notificatie: ${resource} ${ofOurs(ACTIONS, actie)}`.slice(0, 150),
      breadcrumbs: [{ path: '/notificaties', name: t('Notificaties') }],
      bericht: { ...bericht, ...row },
      ...inWords(row, instelling),
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
      pogingen: pogingen
        .sort((a, b) => b.nummer - a.nummer)
        .map((poging) => ({
          ...poging,
          ...outcomeOf(poging.uitkomst, poging.httpStatus),
          antwoord: poging.uitkomst === 'delivered' ? '' : (poging.antwoord ?? '').slice(0, 1000),
        })),
      ...instelling,
    })
  })

  async function resendChosen(
    request: FastifyRequest,
    reply: FastifyReply,
    wat: 'herzenden' | 'nu',
  ): Promise<FastifyReply> {
    const form = (request.body ?? {}) as FormValues
    const uuids = [form.uuid ?? []].flat().filter((uuid) => isUuid(uuid))
    const terug = `/notificaties${form.terug ? `?${new URLSearchParams(String(form.terug))}` : ''}`
    if (uuids.length === 0) return redirectWith(request, reply, terug, t('Kies eerst een of meer berichten.'), 'fout')
    const aantal = await doe(request, wat, uuids)
    const rest = uuids.length - aantal
    const anders =
      rest === 0 ? '' : wat === 'nu' ? t` ${rest} gekozen: niet gepland.` : t` ${rest} gekozen: niet mislukt.`
    const text = (wat === 'nu' ? sentNowText(aantal) : resentText(aantal)) + (aantal > 0 ? anders : '')
    return redirectWith(request, reply, terug, text, aantal === 0 ? 'info' : 'goed')
  }

  async function doe(request: FastifyRequest, wat: 'herzenden' | 'nu', uuids: string[]): Promise<number> {
    return mutateFromPage(request, async (m) => {
      const aantal = wat === 'nu' ? await sendNow(m, uuids) : await resendFailed(m, { uuids })
      m.audit({
        handeling: wat === 'nu' ? 'notificaties-nu-versturen' : 'notificaties-herzenden',
        soort: 'notificatie',
        ...(uuids.length === 1 && { id: uuids[0] }),
        nieuw: { aantal, uuids },
      })
      return aantal
    })
  }
}

const resentText = (aantal: number) =>
  aantal === 0
    ? t('Er was geen mislukt bericht om opnieuw te versturen.')
    : aantal === 1
      ? t('Het bericht wordt opnieuw verstuurd.')
      : t`${formatNumber(aantal)} berichten worden opnieuw verstuurd.`
const sentNowText = (aantal: number) =>
  aantal === 0
    ? t('Er was geen bericht dat op een latere poging wachtte.')
    : aantal === 1
      ? t('Het bericht wordt nu geprobeerd.')
      : t`${formatNumber(aantal)} berichten worden nu geprobeerd.`

async function requireMessage(app: FastifyInstance, uuid: string) {
  const bericht = isUuid(uuid)
    ? await app.read.selectFrom('notificatie').where('uuid', '=', uuid).selectAll().executeTakeFirst()
    : undefined
  if (!bericht) throw notFound(t('Dit bericht bestaat niet (meer). Na de bewaartermijn worden berichten opgeruimd.'))
  return bericht
}

/** What holds for all messages: whether they are sent at all. */
async function readState(app: FastifyInstance) {
  const [{ dienst, opVolgorde, maxRetries }, pause, modus] = await Promise.all([
    readSettings(app.read),
    pausedAt(app.read),
    readModus(app.read),
  ])
  return { service: dienst, opVolgorde, maxRetries, pause, modus }
}

const ACTIONS: Record<string, string> = words({
  create: 'aangemaakt',
  update: 'gewijzigd',
  partial_update: 'deels gewijzigd',
  destroy: 'verwijderd',
})

function inWords(row: Row, stand: Awaited<ReturnType<typeof readState>>) {
  return {
    staat: stateOf(row),
    wat: row.resource === 'zaakinformatieobject' ? t('Document bij zaak') : ofOurs(NOUNS, row.resource),
    actieTekst: ofOurs(ACTIONS, row.actie),
    laatste: row.pogingen > 0 ? outcomeOf(row.uitkomst, row.httpStatus) : null,
    wachtOp: waitsFor(row, stand),
  }
}

/** What we call something that another publisher may have named. */
const ofOurs = (words: Record<string, string>, name: string): string =>
  (Object.hasOwn(words, name) ? words[name] : undefined) ?? name
