// notificaties: the log of messages, the attempts of each, sending again, and pausing.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { notFound } from '../http/problem.ts'
import { type NotificatieFilter, voldoetAan } from '../notificaties/filter.ts'
import { KANALEN } from '../notificaties/kanalen.ts'
import { herzend, stuurNu } from '../notificaties/plan.ts'
import { gepauzeerdOp, readInstellingen, zetPauze } from '../notificaties/settings.ts'
import { wijzig } from './change.ts'
import { type Formulier, type Fouten, weiger } from './form.ts'
import { datum, getal } from './format.ts'
import { bladzij, type Cursor } from './keyset-list.ts'
import { type Bericht, staatVan, uitkomst, waarop } from './notificatie-labels.ts'
import { verder } from './page.ts'

const kijken = { access: 'beheer', rol: 'viewer' } as const
const doen = { access: 'beheer', rol: 'operator' } as const
type Params = { Params: { uuid: string } }

/** Counting ends here: more than this says enough, and takes as long as it takes. */
const TOT = 10_000

type Rij = Bericht & {
  id: number
  uuid: string
  kanaal: string
  resource: string
  resourceUrl: string
  hoofdObject: string
  actie: string
  aanmaakdatum: string
}

export function registerNotificaties(app: FastifyInstance): void {
  app.get('/notificaties', { config: kijken }, async (request, reply) => {
    const { filter, velden, fouten } = leesFilter(request.query as Formulier)
    const geldig = fouten.object === undefined
    const [lijst, aantal, instelling] = await Promise.all([
      bladzij(request, {
        key: ({ aanmaakdatum, id }: Rij) => `${aanmaakdatum}_${id}`,
        rows: async (limit, cursor) => (geldig ? selectRijen(app, filter, limit, cursor) : []),
      }),
      geldig ? telTot(app, filter) : 0,
      leesStand(app),
    ])
    return reply.pagina('notificaties', {
      titel: 'Notificaties',
      lijst,
      rijen: lijst.rijen.map((rij) => ({ ...rij, ...woorden(rij, instelling) })),
      aantal: aantal > TOT ? `meer dan ${getal(TOT)}` : getal(aantal),
      leeg: aantal === 0,
      velden,
      fouten,
      gefilterd: Object.values(velden).some((value) => value !== ''),
      alles: (request.query as Formulier).alles === '1',
      selectie: new URLSearchParams(Object.entries(velden).filter(([, value]) => value !== '')).toString(),
      // The address as it is, so that one comes back to the same page after a change.
      hier: request.originalUrl.split('?', 2)[1] ?? '',
      herzendbaar: geldig && (!filter.status || filter.status === 'mislukt'),
      vandaag: vandaag(),
      kanalen: [['', 'Alle'], ...KANALEN.map(({ naam }) => [naam, naam])],
      ...instelling,
    })
  })

  app.get('/notificaties/herzenden', { config: doen }, async (request, reply) => {
    const { filter, velden, fouten } = leesFilter(request.query as Formulier)
    weigerSelectie(filter, fouten)
    const aantal = await tel(app, { ...filter, status: 'mislukt' })
    return reply.pagina('notificaties-herzenden', {
      titel: 'Opnieuw versturen',
      kruimels: [{ pad: '/notificaties', naam: 'Notificaties' }],
      aantal,
      velden,
      inWoorden: inWoorden(velden),
      ...(await leesStand(app)),
    })
  })

  app.post('/notificaties/herzenden-alle', { config: doen }, async (request, reply) => {
    const { filter, velden, fouten } = leesFilter((request.body ?? {}) as Formulier)
    weigerSelectie(filter, fouten)
    const aantal = await wijzig(request, async (m) => {
      const count = await herzend(m, { filter })
      m.vastleggen({
        handeling: 'notificaties-herzenden',
        soort: 'notificatie',
        weergave: inWoorden(velden).join(', '),
        nieuw: { aantal: count, selectie: velden },
      })
      return count
    })
    return verder(request, reply, '/notificaties?status=gepland', opnieuw(aantal), aantal === 0 ? 'info' : 'goed')
  })

  app.post('/notificaties/gekozen/herzenden', { config: doen }, async (request, reply) =>
    gekozen(request, reply, 'herzenden'),
  )
  app.post('/notificaties/gekozen/nu', { config: doen }, async (request, reply) => gekozen(request, reply, 'nu'))
  for (const wat of ['herzenden', 'nu'] as const) {
    app.post<Params>(`/notificaties/:uuid/${wat}`, { config: doen }, async (request, reply) => {
      const { uuid } = await vindBericht(app, request.params.uuid)
      const aantal = await doe(request, wat, [uuid])
      const tekst = wat === 'nu' ? NU(aantal) : opnieuw(aantal)
      return verder(request, reply, `/notificaties/${uuid}`, tekst, aantal === 0 ? 'info' : 'goed')
    })
  }

  for (const pauze of [true, false]) {
    app.post(`/notificaties/${pauze ? 'pauzeren' : 'hervatten'}`, { config: doen }, async (request, reply) => {
      await wijzig(request, async (m) => {
        const oud = await gepauzeerdOp(m.read)
        await zetPauze(m, pauze)
        m.vastleggen({
          handeling: pauze ? 'notificaties-pauzeren' : 'notificaties-hervatten',
          soort: 'notificatie-instelling',
          oud: { gepauzeerdOp: oud },
          nieuw: { gepauzeerdOp: await gepauzeerdOp(m.read) },
        })
      })
      const tekst = pauze
        ? 'Het versturen is gepauzeerd. Wat op dit moment wordt verstuurd, wordt nog afgemaakt.'
        : 'Het versturen is hervat. Wat wachtte gaat nu weg.'
      return verder(request, reply, '/notificaties', tekst)
    })
  }

  app.get<Params>('/notificaties/:uuid', { config: kijken }, async (request, reply) => {
    const bericht = await vindBericht(app, request.params.uuid)
    const [[rij], pogingen, instelling] = await Promise.all([
      selectBerichten(app, sql`notificatie.id = ${bericht.id}`, 1),
      app.read.selectFrom('notificatiePoging').where('notificatieId', '=', bericht.id).selectAll().execute(),
      leesStand(app),
    ])
    const { kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken } = bericht
    return reply.pagina('notificatie', {
      titel: `Notificatie: ${resource} ${ACTIES[actie] ?? actie}`.slice(0, 150),
      kruimels: [{ pad: '/notificaties', naam: 'Notificaties' }],
      bericht,
      ...woorden(rij!, instelling),
      inhoud: JSON.stringify({ kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken }, null, 2),
      pogingen: pogingen
        .sort((a, b) => b.nummer - a.nummer)
        .map((poging) => ({
          ...poging,
          ...uitkomst(poging.uitkomst, poging.httpStatus),
          antwoord: poging.uitkomst === 'delivered' ? '' : (poging.antwoord ?? '').slice(0, 1000),
        })),
      ...instelling,
    })
  })

  async function gekozen(request: FastifyRequest, reply: FastifyReply, wat: 'herzenden' | 'nu'): Promise<FastifyReply> {
    const form = (request.body ?? {}) as Formulier
    const uuids = [form.uuid ?? []].flat().filter((uuid) => UUID.test(uuid))
    const terug = `/notificaties${form.terug ? `?${new URLSearchParams(String(form.terug))}` : ''}`
    if (uuids.length === 0) return verder(request, reply, terug, 'Kies eerst een of meer berichten.', 'fout')
    const aantal = await doe(request, wat, uuids)
    const rest = uuids.length - aantal
    const anders =
      rest === 0 ? '' : wat === 'nu' ? ` ${rest} gekozen: niet gepland.` : ` ${rest} gekozen: niet mislukt.`
    const tekst = (wat === 'nu' ? NU(aantal) : opnieuw(aantal)) + (aantal > 0 ? anders : '')
    return verder(request, reply, terug, tekst, aantal === 0 ? 'info' : 'goed')
  }

  async function doe(request: FastifyRequest, wat: 'herzenden' | 'nu', uuids: string[]): Promise<number> {
    return wijzig(request, async (m) => {
      const aantal = wat === 'nu' ? await stuurNu(m, uuids) : await herzend(m, { uuids })
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

const opnieuw = (aantal: number) =>
  aantal === 0
    ? 'Er was geen mislukt bericht om opnieuw te versturen.'
    : aantal === 1
      ? 'Het bericht wordt opnieuw verstuurd.'
      : `${getal(aantal)} berichten worden opnieuw verstuurd.`
const NU = (aantal: number) =>
  aantal === 0
    ? 'Er was geen bericht dat op een latere poging wachtte.'
    : aantal === 1
      ? 'Het bericht wordt nu geprobeerd.'
      : `${getal(aantal)} berichten worden nu geprobeerd.`

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

async function vindBericht(app: FastifyInstance, uuid: string) {
  const bericht = UUID.test(uuid)
    ? await app.read.selectFrom('notificatie').where('uuid', '=', uuid).selectAll().executeTakeFirst()
    : undefined
  if (!bericht) throw notFound('Dit bericht bestaat niet (meer). Na de bewaartermijn worden berichten opgeruimd.')
  return bericht
}

/** What holds for all messages: whether they are sent at all. */
async function leesStand(app: FastifyInstance) {
  const [{ dienst, opVolgorde, maxRetries }, pauze] = await Promise.all([
    readInstellingen(app.read),
    gepauzeerdOp(app.read),
  ])
  return { dienst, opVolgorde, maxRetries, pauze }
}

const ACTIES: Record<string, string> = {
  create: 'aangemaakt',
  update: 'gewijzigd',
  partial_update: 'deels gewijzigd',
  destroy: 'verwijderd',
}

function woorden(rij: Rij, stand: Awaited<ReturnType<typeof leesStand>>) {
  return {
    staat: staatVan(rij),
    actieTekst: ACTIES[rij.actie] ?? rij.actie,
    laatste: rij.pogingen > 0 ? uitkomst(rij.uitkomst, rij.httpStatus) : null,
    wachtOp: waarop(rij, stand),
  }
}

// ---- the list ----

type Velden = Record<'status' | 'kanaal' | 'van' | 'tot' | 'object', string>
const STATUSSEN: Record<string, NotificatieFilter['status']> = {
  gepland: 'gepland',
  bezorgd: 'afgeleverd',
  mislukt: 'mislukt',
}

/** Read leniently: what is no date or state is no filter, with a word about it. */
function leesFilter(query: Formulier): { filter: NotificatieFilter; velden: Velden; fouten: Fouten } {
  const tekst = (naam: keyof Velden) =>
    String([query[naam]].flat().at(-1) ?? '')
      .trim()
      .slice(0, 1000)
      .replaceAll('\0', '')
  const velden: Velden = {
    status: Object.hasOwn(STATUSSEN, tekst('status')) ? tekst('status') : '',
    kanaal: tekst('kanaal'),
    van: dag(tekst('van')),
    tot: dag(tekst('tot')),
    object: tekst('object'),
  }
  const fouten: Fouten = {}
  for (const naam of ['van', 'tot'] as const)
    if (tekst(naam) !== '' && velden[naam] === '') fouten[naam] = 'Vul een datum in als jjjj-mm-dd.'
  // Of a URL the last one: that is the object, what comes before is what it belongs to.
  const object = velden.object.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi)?.at(-1)
  if (velden.object !== '' && !object) fouten.object = 'Vul de URL of de UUID van een object in.'
  const { status, kanaal, van, tot } = velden
  const filter: NotificatieFilter = {
    ...(STATUSSEN[status] && { status: STATUSSEN[status] }),
    ...(kanaal && { kanaal }),
    ...(van && { van }),
    ...(tot && { tot }),
    ...(object && { object: object.toLowerCase() }),
  }
  return { filter, velden, fouten }
}

/** A selection that is not understood in full may not become a larger one. */
function weigerSelectie(filter: NotificatieFilter, fouten: Fouten): void {
  weiger({
    ...fouten,
    ...(filter.status && filter.status !== 'mislukt' && { status: 'Alleen mislukte berichten gaan opnieuw.' }),
  })
}

const DAG = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Amsterdam' })
const vandaag = () => DAG.format(new Date())

function dag(text: string): string {
  if (text === 'vandaag') return vandaag()
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return ''
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : ''
}

function inWoorden({ kanaal, van, tot, object }: Velden): string[] {
  return [
    kanaal ? `kanaal ${kanaal}` : 'alle kanalen',
    van && tot && van === tot
      ? `van ${datum(van)}`
      : [van && `vanaf ${datum(van)}`, tot && `tot en met ${datum(tot)}`].filter(Boolean).join(' ') || 'alle dagen',
    ...(object ? [`object ${object}`] : []),
  ]
}

async function selectRijen(
  app: FastifyInstance,
  filter: NotificatieFilter,
  limit: number,
  { na, voor }: Cursor,
): Promise<Rij[]> {
  const [, moment, id] = /^(\d{4}-\d\d-\d\dT[\d:.]{8,15}Z)_(\d{1,15})$/.exec(String(na ?? voor ?? '')) ?? []
  const cursor =
    moment && !Number.isNaN(Date.parse(moment))
      ? sql`(notificatie.aanmaakdatum, notificatie.id) ${voor === undefined ? sql`<` : sql`>`}
          (${moment}::text::timestamptz, ${id}::text::bigint)`
      : sql`true`
  return selectBerichten(app, sql`${voldoetAan(filter)} and ${cursor}`, limit, voor !== undefined)
}

async function selectBerichten(
  app: FastifyInstance,
  condition: ReturnType<typeof sql>,
  limit: number,
  back = false,
): Promise<Rij[]> {
  const order = back ? sql`asc` : sql`desc`
  const { rows } = await sql<Rij>`
    with bladzij as materialized (
      select * from notificatie where ${condition} order by aanmaakdatum ${order}, id ${order} limit ${limit}
    )
    select b.id, b.uuid, b.kanaal, b.resource, b.resource_url, b.hoofd_object, b.actie, b.aanmaakdatum, b.status,
      b.volgende_poging_op, coalesce(p.nummer, 0) as pogingen, p.uitkomst, p.http_status,
      b.status = 'gepland' and exists (select from notificatie eerder
        where eerder.hoofd_object_uuid = b.hoofd_object_uuid and eerder.status = 'gepland' and eerder.id < b.id)
        as wacht_op_eerder
    from bladzij b
    left join lateral (select nummer, uitkomst, http_status from notificatie_poging p
      where p.notificatie_id = b.id order by nummer desc limit 1) p on true
    order by b.aanmaakdatum ${order}, b.id ${order}`.execute(app.parts.database.db)
  return rows
}

async function telTot(app: FastifyInstance, filter: NotificatieFilter): Promise<number> {
  const { rows } = await sql<{ aantal: number }>`
    select count(*)::int as aantal
    from (select from notificatie where ${voldoetAan(filter)} limit ${TOT + 1}) gevonden`.execute(app.parts.database.db)
  return rows[0]!.aantal
}

async function tel(app: FastifyInstance, filter: NotificatieFilter): Promise<number> {
  const { rows } = await sql<{ aantal: number }>`
    select count(*)::int as aantal from notificatie where ${voldoetAan(filter)}`.execute(app.parts.database.db)
  return rows[0]!.aantal
}
