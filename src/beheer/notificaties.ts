// notificaties: the log of messages, the attempts of each, sending again, and pausing.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { one } from '../database/rows.ts'
import { notFound } from '../http/problem.ts'
import { isUuid, UUID_PATTERN } from '../http/uuid.ts'
import { CAUSE, matchesFilter, type NotificatieFilter } from '../notificaties/filter.ts'
import { KANALEN } from '../notificaties/kanalen.ts'
import { resendFailed, sendNow } from '../notificaties/resend.ts'
import { pausedAt, readModus, readSettings, setPaused } from '../notificaties/settings.ts'
import { mutateFromPage } from './change.ts'
import { type FormFaults, type FormValues, throwFormFaults } from './form.ts'
import { formatDate, formatNumber } from './format.ts'
import { NOUNS } from './history.ts'
import { type Cursor, keysetPage } from './keyset-list.ts'
import { t, words } from './language/language.ts'
import { visible } from './lookup.ts'
import { type Bericht, outcomeOf, stateOf, waitsFor } from './notificatie-labels.ts'
import { redirectWith } from './page.ts'

const viewing = { access: 'beheer', rol: 'viewer' } as const
const operating = { access: 'beheer', rol: 'operator' } as const
type Params = { Params: { uuid: string } }

/** Counting ends here: more than this says enough, and takes as long as it takes. */
const TOT = 10_000

type Row = Bericht & {
  id: number
  uuid: string
  /** The case, document or type that it is about, where that still exists. */
  onderwerp: { path: string; name: string } | null
  kanaal: string
  resource: string
  resourceUrl: string
  hoofdObject: string
  actie: string
  aanmaakdatum: string
}

export function registerNotificaties(app: FastifyInstance): void {
  app.get('/notificaties', { config: viewing }, async (request, reply) => {
    const { filter, velden, fouten } = readFilter(request.query as FormValues)
    const geldig = fouten.object === undefined
    const [lijst, aantal, instelling, oorzaken] = await Promise.all([
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
      standaard: '-gemaakt',
      lijst,
      rijen: lijst.rijen.map((rij) => ({ ...rij, ...inWords(rij, instelling) })),
      oorzaken,
      aantal: aantal > TOT ? t`meer dan ${formatNumber(TOT)}` : formatNumber(aantal),
      leeg: aantal === 0,
      velden,
      fouten,
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
    const { filter, velden, fouten } = readFilter(request.query as FormValues)
    refuseSelection(filter, fouten)
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
    const { filter, velden, fouten } = readFilter((request.body ?? {}) as FormValues)
    refuseSelection(filter, fouten)
    const aantal = await mutateFromPage(request, async (m) => {
      const count = await resendFailed(m, { filter })
      m.vastleggen({
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
      const tekst = wat === 'nu' ? sentNowText(aantal) : resentText(aantal)
      return redirectWith(request, reply, `/notificaties/${uuid}`, tekst, aantal === 0 ? 'info' : 'goed')
    })
  }

  for (const pauze of [true, false]) {
    app.post(`/notificaties/${pauze ? 'pauzeren' : 'hervatten'}`, { config: operating }, async (request, reply) => {
      await mutateFromPage(request, async (m) => {
        const oud = await pausedAt(m.read)
        await setPaused(m, pauze)
        m.vastleggen({
          handeling: pauze ? 'notificaties-pauzeren' : 'notificaties-hervatten',
          soort: 'notificatie-instelling',
          oud: { gepauzeerdOp: oud },
          nieuw: { gepauzeerdOp: await pausedAt(m.read) },
        })
      })
      const tekst = pauze
        ? t('Het versturen is gepauzeerd. Wat op dit moment wordt verstuurd, wordt nog afgemaakt.')
        : t('Het versturen is hervat. Wat wachtte gaat nu weg.')
      return redirectWith(request, reply, '/notificaties', tekst)
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
    const rij = one(shown)
    const { kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken, cloudevent } = bericht
    return reply.page('notificatie', {
      title: `Notificatie: ${resource} ${ofOurs(ACTIONS, actie)}`.slice(0, 150),
      breadcrumbs: [{ path: '/notificaties', name: t('Notificaties') }],
      bericht: { ...bericht, ...rij },
      ...inWords(rij, instelling),
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
    const tekst = (wat === 'nu' ? sentNowText(aantal) : resentText(aantal)) + (aantal > 0 ? anders : '')
    return redirectWith(request, reply, terug, tekst, aantal === 0 ? 'info' : 'goed')
  }

  async function doe(request: FastifyRequest, wat: 'herzenden' | 'nu', uuids: string[]): Promise<number> {
    return mutateFromPage(request, async (m) => {
      const aantal = wat === 'nu' ? await sendNow(m, uuids) : await resendFailed(m, { uuids })
      m.vastleggen({
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
  const [{ dienst, opVolgorde, maxRetries }, pauze, modus] = await Promise.all([
    readSettings(app.read),
    pausedAt(app.read),
    readModus(app.read),
  ])
  return { dienst, opVolgorde, maxRetries, pauze, modus }
}

const ACTIONS: Record<string, string> = words({
  create: 'aangemaakt',
  update: 'gewijzigd',
  partial_update: 'deels gewijzigd',
  destroy: 'verwijderd',
})

function inWords(rij: Row, stand: Awaited<ReturnType<typeof readState>>) {
  return {
    staat: stateOf(rij),
    wat: rij.resource === 'zaakinformatieobject' ? t('Document bij zaak') : ofOurs(NOUNS, rij.resource),
    actieTekst: ofOurs(ACTIONS, rij.actie),
    laatste: rij.pogingen > 0 ? outcomeOf(rij.uitkomst, rij.httpStatus) : null,
    wachtOp: waitsFor(rij, stand),
  }
}

// ---- the list ----

type FilterFields = Record<'status' | 'kanaal' | 'van' | 'tot' | 'object' | 'oorzaak', string>
const STATUSSEN: Record<string, NotificatieFilter['status']> = {
  gepland: 'gepland',
  bezorgd: 'afgeleverd',
  mislukt: 'mislukt',
}

/** What we call something that another publisher may have named. */
const ofOurs = (words: Record<string, string>, name: string): string =>
  (Object.hasOwn(words, name) ? words[name] : undefined) ?? name

/** Read leniently: what is no date or state is no filter, with a word about it. */
function readFilter(query: FormValues): { filter: NotificatieFilter; velden: FilterFields; fouten: FormFaults } {
  const tekst = (naam: keyof FilterFields) =>
    String([query[naam]].flat().at(-1) ?? '')
      .trim()
      .slice(0, 1000)
      .replaceAll('\0', '')
  const velden: FilterFields = {
    status: Object.hasOwn(STATUSSEN, tekst('status')) ? tekst('status') : '',
    kanaal: tekst('kanaal'),
    van: dayOf(tekst('van')),
    tot: dayOf(tekst('tot')),
    object: tekst('object'),
    oorzaak: /^(http-\d{3}|[a-z]+)$/.test(tekst('oorzaak')) ? tekst('oorzaak') : '',
  }
  const fouten: FormFaults = {}
  for (const naam of ['van', 'tot'] as const)
    if (tekst(naam) !== '' && velden[naam] === '') fouten[naam] = t('Vul een datum in als jjjj-mm-dd.')
  // Of a URL the last one: that is the object, what comes before is what it belongs to.
  const object = velden.object.match(new RegExp(UUID_PATTERN, 'gi'))?.at(-1)
  if (velden.object !== '' && !object) fouten.object = t('Vul de URL of de UUID van een object in.')
  const { status, kanaal, van, tot, oorzaak } = velden
  const filter: NotificatieFilter = {
    ...(STATUSSEN[status] && { status: STATUSSEN[status] }),
    ...(kanaal && { kanaal }),
    ...(van && { van }),
    ...(tot && { tot }),
    ...(object && { object: object.toLowerCase() }),
    ...(oorzaak && { oorzaak }),
  }
  return { filter, velden, fouten }
}

/** A selection that is not understood in full may not become a larger one. */
function refuseSelection(filter: NotificatieFilter, fouten: FormFaults): void {
  throwFormFaults({
    ...fouten,
    ...(filter.status && filter.status !== 'mislukt' && { status: t('Alleen mislukte berichten gaan opnieuw.') }),
  })
}

const DAY = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Amsterdam' })
const today = () => DAY.format(new Date())

function dayOf(text: string): string {
  if (text === 'vandaag') return today()
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return ''
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : ''
}

function filterInWords({ kanaal, van, tot, object, oorzaak }: FilterFields): string[] {
  return [
    kanaal ? t`kanaal ${kanaal}` : t('alle kanalen'),
    van && tot && van === tot
      ? t`van ${formatDate(van)}`
      : [van && t`vanaf ${formatDate(van)}`, tot && t`tot en met ${formatDate(tot)}`].filter(Boolean).join(' ') ||
        t('alle dagen'),
    ...(object ? [t`object ${object}`] : []),
    ...(oorzaak ? [t`oorzaak: ${causeInWords(oorzaak).tekst}`] : []),
  ]
}

async function selectRows(
  app: FastifyInstance,
  request: FastifyRequest,
  filter: NotificatieFilter,
  limit: number,
  { na, voor }: Cursor,
): Promise<Row[]> {
  const ascending = ((request.query as FormValues).sorteer === 'gemaakt') === (voor === undefined)
  const [, moment, id] = /^(\d{4}-\d\d-\d\dT[\d:.]{8,15}Z)_(\d{1,15})$/.exec(String(na ?? voor ?? '')) ?? []
  const cursor =
    moment && !Number.isNaN(Date.parse(moment))
      ? sql`(notificatie.aanmaakdatum, notificatie.id) ${ascending ? sql`>` : sql`<`}
          (${moment}::text::timestamptz, ${id}::text::bigint)`
      : sql`true`
  return selectMessages(app, request, sql`${matchesFilter(filter)} and ${cursor}`, limit, ascending)
}

async function selectMessages(
  app: FastifyInstance,
  request: FastifyRequest,
  condition: ReturnType<typeof sql>,
  limit: number,
  back = false,
): Promise<Row[]> {
  const order = back ? sql`asc` : sql`desc`
  const { rows } = await sql<Row>`
    with bladzij as materialized (
      select * from notificatie where ${condition} order by aanmaakdatum ${order}, id ${order} limit ${limit}
    )
    select b.id, b.uuid, b.kanaal, b.resource, b.resource_url, b.hoofd_object, b.actie, b.aanmaakdatum,
      case l.volgorde when 2 then 'mislukt' when 1 then 'gepland' else 'afgeleverd' end as status,
      l.volgende_poging_op, l.herhalingen, l.bezig,
      coalesce(l.beeindigd_op, case when l.volgorde is null then p.begonnen_op + p.duur_ms * interval '1 millisecond' end)
        as beeindigd_op,
      coalesce(p.nummer, 0) as pogingen, p.uitkomst, p.http_status, l.wacht_op_eerder,
      case
        when z.id is not null then jsonb_build_object('path', '/zaken/' || z.uuid, 'name', z.identificatie)
        when d.id is not null then jsonb_build_object('path', '/documenten/' || d.uuid, 'name', d.identificatie)
        when s.id is not null then jsonb_build_object('path', '/zaken/' || y.uuid || '/besluiten', 'name', s.identificatie)
        when t.id is not null then jsonb_build_object('path', '/catalogi/zaaktypen/' || t.uuid, 'name', t.omschrijving)
      end as onderwerp
    from bladzij b
    left join zaak z on z.uuid = b.hoofd_object_uuid and ${visible(request, sql`z.vertrouwelijkheidaanduiding`)}
    left join enkelvoudiginformatieobject d on d.uuid = b.hoofd_object_uuid and ${visible(request, sql`d.vertrouwelijkheidaanduiding`)}
    left join besluit s on s.uuid = b.hoofd_object_uuid
      and exists (select from zaak x where x.id = s.zaak_id and ${visible(request, sql`x.vertrouwelijkheidaanduiding`)})
    left join zaak y on y.id = s.zaak_id
    left join zaaktype t on t.uuid = b.hoofd_object_uuid
    cross join lateral (
      select max(case status when 'mislukt' then 2 else 1 end) as volgorde, min(volgende_poging_op) as volgende_poging_op,
        coalesce(max(herhalingen), 0) as herhalingen, max(beeindigd_op) as beeindigd_op,
        coalesce(bool_or(genomen_door is not null), false) as bezig,
        coalesce(bool_or(status = 'gepland' and volgende_poging_op is null), false) as wacht_op_eerder
      from levering where notificatie_id = b.id) l
    left join lateral (select * from notificatie_poging p
      where p.notificatie_id = b.id order by begonnen_op desc limit 1) p on true
    order by b.aanmaakdatum ${order}, b.id ${order}`.execute(app.read)
  return rows
}

type Cause = { oorzaak: string; aantal: number; tekst: string; advies: string; laatst: string }

/** Why messages failed, the most frequent cause first, with what to do about each. */
async function readCauses(app: FastifyInstance): Promise<Cause[]> {
  const { rows } = await sql<{ oorzaak: string; aantal: number; laatst: string }>`
    select ${CAUSE} as oorzaak, count(*)::int as aantal, max(p.begonnen_op) as laatst
    from (select * from levering where status = 'mislukt' limit ${TOT}) l
    join notificatie_poging p on p.notificatie_id = l.notificatie_id and p.abonnement_id = l.abonnement_id and p.nummer = l.poging
    group by 1 order by 2 desc limit 10`.execute(app.read)
  return rows.map((row) => ({ ...row, ...causeInWords(row.oorzaak) }))
}

function causeInWords(oorzaak: string) {
  const [, status] = /^http-(\d{3})$/.exec(oorzaak) ?? []
  return status ? outcomeOf('http', Number(status)) : outcomeOf(oorzaak, null)
}

async function countUpTo(app: FastifyInstance, filter: NotificatieFilter): Promise<number> {
  const { rows } = await sql<{ aantal: number }>`
    select count(*)::int as aantal
    from (select from notificatie where ${matchesFilter(filter)} limit ${TOT + 1}) gevonden`.execute(app.read)
  return one(rows).aantal
}

async function countMessages(app: FastifyInstance, filter: NotificatieFilter): Promise<number> {
  const { rows } = await sql<{ aantal: number }>`
    select count(*)::int as aantal from notificatie where ${matchesFilter(filter)}`.execute(app.read)
  return one(rows).aantal
}
