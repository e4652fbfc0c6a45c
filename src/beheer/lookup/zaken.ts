// zaken: looking up cases, with what belongs to them. What is above the level of the one who looks does not exist for him.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { notFound, Problem } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import { deriveArchivering } from '../../zaken/zaak/archive.ts'
import { byHandOf } from '../../zaken/zaak/archive-by-hand.ts'
import type { ZaakRow } from '../../zaken/zaak/columns.ts'
import { formatDate } from '../frame/format.ts'
import { changedFields, historyOf, isAboutPeople } from '../frame/history.ts'
import {
  keysetByNumber,
  queryDay,
  queryText,
  requireVisible,
  type Sorts,
  uuidIn,
  uuidParam,
  visible,
} from '../frame/lookup.ts'
import { savedFilters } from '../frame/saved-filters.ts'
import { t, words } from '../language/language.ts'
import { nameOf, WHO, type Who } from './betrokkene.ts'
import { drawPlace } from './place-picture.ts'
import { isSearchable, zaakMatches } from './search.ts'
import { chosenTypes, typeChoices } from './type-choices.ts'

type Line = {
  id: number
  uuid: string
  identificatie: string
  omschrijving: string
  zaaktype: string
  startdatum: string
  einddatum: string | null
  vertrouwelijkheidaanduiding: string
}

const LINE = sql`select z.id, z.uuid, z.identificatie, z.omschrijving, z.startdatum, z.einddatum,
  coalesce(t.omschrijving, nullif(z.zaaktype_omschrijving, ''), z.zaaktype_url) as zaaktype,
  z.vertrouwelijkheidaanduiding from zaak z left join zaaktype t on t.id = z.zaaktype_id`

/** A row of a list below a case: what the page reads of it by name. */
type PartLine = {
  id: number
  at: string
  naam: string
  toelichting: string
  soort?: string
  document?: string
  zaak?: string
  besluit?: string
  waarde?: string
  formaat?: string
  object?: string
  gegevens?: object | null
} & Partial<Who>

/** The lists below a case: a name, what is shown of a row, and where the rows are. */
const PARTS: Record<
  string,
  {
    name: string
    /** The columns on the page of the case, where there is less room. */
    short?: string[]
    columns: [string, string][]
    select: RawBuilder<unknown>
    id: RawBuilder<unknown>
    zaak: RawBuilder<unknown>
  }
> = words(
  {
    documenten: {
      name: 'Documenten',
      short: ['titel', 'soort', 'at'],
      columns: [
        ['titel', 'Titel'],
        ['identificatie', 'Identificatie'],
        ['soort', 'Documenttype'],
        ['at', 'Gekoppeld op'],
      ],
      select: sql`select r.id, e.uuid as document, e.vertrouwelijkheidaanduiding, e.identificatie, t.omschrijving as soort,
      coalesce(v.titel, nullif(r.titel, ''), r.informatieobject_url) as titel, r.registratiedatum as at
      from zaakinformatieobject r left join enkelvoudiginformatieobject e on e.id = r.enkelvoudiginformatieobject_id
      left join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
      left join informatieobjecttype t on t.id = e.informatieobjecttype_id`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
    statussen: {
      name: 'Statussen',
      columns: [
        ['naam', 'Status'],
        ['toelichting', 'Toelichting'],
        ['at', 'Gezet op'],
      ],
      select: sql`select r.id, coalesce(t.omschrijving, r.statustype_omschrijving) as naam, r.statustoelichting as toelichting, r.datum_status_gezet as at
      from status r left join statustype t on t.id = r.statustype_id`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
    rollen: {
      name: 'Betrokkenen',
      short: ['rol', 'who', 'soort', 'toelichting'],
      columns: [
        ['rol', 'Rol'],
        ['soort', 'Soort betrokkene'],
        ['who', 'Betrokkene'],
        ['toelichting', 'Toelichting'],
        ['machtiging', 'Machtiging'],
        ['contactpersoon', 'Contactpersoon'],
        ['geldig', 'Geldigheid'],
        ['at', 'Geregistreerd op'],
      ],
      select: sql`select r.id, r.omschrijving as rol, replace(r.betrokkene_type, '_', ' ') as soort, r.registratiedatum as at,
      r.roltoelichting as toelichting, r.indicatie_machtiging as machtiging, r.contactpersoon_rol ->> 'naam' as contactpersoon,
      nullif(concat_ws(' – ', to_char(r.begin_geldigheid, 'DD-MM-YYYY'), to_char(r.einde_geldigheid, 'DD-MM-YYYY')), '') as geldig,
      ${WHO}
      from rol r`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
    eigenschappen: {
      name: 'Eigenschappen',
      columns: [
        ['naam', 'Eigenschap'],
        ['waarde', 'Waarde'],
      ],
      select: sql`select r.id, coalesce(e.naam, r.naam) as naam, r.waarde, e.specificatie_formaat as formaat
      from zaakeigenschap r left join eigenschap e on e.id = r.eigenschap_id`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
    objecten: {
      name: 'Objecten',
      columns: [
        ['soort', 'Soort'],
        ['object', 'Object'],
        ['relatie', 'Relatie'],
      ],
      select: sql`select r.id, replace(coalesce(nullif(r.object_type_overige, ''), r.object_type), '_', ' ') as soort, r.object,
      r.object_identificatie as gegevens, r.relatieomschrijving as relatie from zaakobject r`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
    besluiten: {
      name: 'Besluiten',
      columns: [
        ['identificatie', 'Identificatie'],
        ['soort', 'Besluittype'],
        ['datum', 'Datum'],
        ['ingangsdatum', 'Ingangsdatum'],
      ],
      select: sql`select r.id, b.uuid as besluit, coalesce(b.identificatie, r.besluit_url) as identificatie, b.datum,
      coalesce(t.omschrijving, b.besluittype_url) as soort, coalesce(b.ingangsdatum, r.ingangsdatum) as ingangsdatum
      from zaakbesluit r left join besluit b on b.uuid = r.besluit_uuid left join besluittype t on t.id = b.besluittype_id`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
    deelzaken: {
      name: 'Deelzaken',
      columns: [
        ['identificatie', 'Identificatie'],
        ['omschrijving', 'Omschrijving'],
        ['startdatum', 'Startdatum'],
      ],
      select: sql`select r.id, r.uuid as zaak, r.vertrouwelijkheidaanduiding, r.identificatie, r.omschrijving, r.startdatum from zaak r`,
      id: sql`r.id`,
      zaak: sql`r.hoofdzaak_id`,
    },
    substatussen: {
      name: 'Substatussen',
      columns: [
        ['naam', 'Substatus'],
        ['status', 'Status'],
        ['doelgroep', 'Doelgroep'],
        ['at', 'Gezet op'],
      ],
      select: sql`select r.id, r.omschrijving as naam, r.doelgroep, r.tijdstip as at, coalesce(t.omschrijving, s.statustype_omschrijving) as status
      from substatus r left join status s on s.id = r.status_id left join statustype t on t.id = s.statustype_id`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
    klantcontacten: {
      name: 'Klantcontacten',
      short: ['onderwerp', 'kanaal', 'toelichting', 'at'],
      columns: [
        ['identificatie', 'Identificatie'],
        ['onderwerp', 'Onderwerp'],
        ['kanaal', 'Kanaal'],
        ['toelichting', 'Toelichting'],
        ['at', 'Wanneer'],
      ],
      select: sql`select r.id, r.identificatie, r.onderwerp, r.kanaal, r.toelichting, r.datumtijd as at from klantcontact r`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
    notities: {
      name: 'Notities',
      short: ['onderwerp', 'tekst', 'door', 'at'],
      columns: [
        ['onderwerp', 'Onderwerp'],
        ['tekst', 'Notitie'],
        ['door', 'Wie'],
        ['soort', 'Soort'],
        ['staat', 'Staat'],
        ['at', 'Gemaakt'],
        ['gewijzigd', 'Laatst gewijzigd'],
      ],
      select: sql`select r.id, r.onderwerp, left(r.tekst, 2000) as tekst, r.aangemaakt_door as door, r.notitie_type as soort, r.status as staat,
      r.aanmaakdatum as at, r.wijzigingsdatum as gewijzigd from zaaknotitie r`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
    contactmomenten: {
      name: 'Contactmomenten',
      columns: [['adres', 'Contactmoment']],
      select: sql`select r.id, r.contactmoment as adres from zaakcontactmoment r`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
    verzoeken: {
      name: 'Verzoeken',
      columns: [['adres', 'Verzoek']],
      select: sql`select r.id, r.verzoek as adres from zaakverzoek r`,
      id: sql`r.id`,
      zaak: sql`r.zaak_id`,
    },
  },
  'name',
)
for (const { columns } of Object.values(PARTS)) words(columns, '1')

/** What the page of a case shows the newest of, each with a page of its own for the rest. */
const ON_THE_PAGE = [
  'substatussen',
  'rollen',
  'documenten',
  'besluiten',
  'eigenschappen',
  'objecten',
  'klantcontacten',
  'contactmomenten',
  'verzoeken',
  'notities',
]

/** Who set what of archiving, and what would be derived today for a case that is closed. */
async function archivingNow(request: FastifyRequest, zaak: ArchivedZaak) {
  const { sql } = request.server.reader
  const byHand = await byHandOf(sql, zaak.id)
  const now = await wouldBe(request, zaak)
  const { archiefnominatie, archiefactiedatum } = zaak
  const differs =
    now && !(now.archiefnominatie === archiefnominatie && (now.archiefactiedatum ?? null) === archiefactiedatum)
  return { byHand: Object.fromEntries(byHand), now: differs ? now : undefined }
}

async function wouldBe({ server, base }: FastifyRequest, zaak: ArchivedZaak) {
  if (zaak.einddatum === null) return undefined
  try {
    return await deriveArchivering(
      { sql: server.reader.sql, actor: { base } },
      { ...zaak, einddatum: zaak.einddatum },
      { objects: new Map() },
    )
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return undefined // its source says no day, or stands elsewhere
  }
}
type ArchivedZaak = Pick<ZaakRow, 'id' | 'einddatum' | 'hoofdzaakId' | 'archiefnominatie'> &
  Pick<ZaakRow, 'archiefactiedatum' | 'startdatumBewaartermijn'>

export function registerZaken(app: FastifyInstance): void {
  const config = { access: 'beheer', rol: 'viewer' } as const

  app.get('/zaken', { config }, async (request, reply) => {
    const list = await keysetByNumber<Line>(request, app.read, {
      select: LINE,
      id: sql`z.id`,
      sorts: SORTS,
      conditions: [visible(request, sql`z.vertrouwelijkheidaanduiding`), ...(await filters(request))],
    })
    return reply.page('zaken', {
      title: t('Zaken'),
      savedFilters: await savedFilters(request),
      list,
      filter: Object.fromEntries(FILTERS.map((name) => [name, queryText(request, name)])),
      isShort: isTooShort(queryText(request, 'zoek')),
      zaaktypen: await typeChoices(app.read, 'zaaktype'),
    })
  })

  app.get('/zaken/:uuid', { config }, async (request, reply) => {
    const zaak = await zaakOfRequest(request)
    const counts = await countParts(zaak.id)
    const part = async (path: string, size: number) => {
      if (!counts[path]) return { ...expected(PARTS[path]), rows: [] as PartLine[] }
      const found = await keysetByNumber<PartLine>(request, app.read, partQuery(path, zaak.id, request, size))
      return { ...expected(PARTS[path]), ...found, rows: found.rows.map(readable) }
    }
    const [archiving, statussen, events, related, ...parts] = await Promise.all([
      archivingNow(request, zaak),
      part('statussen', 20),
      historyOf(app, request, zaak.uuid, 5),
      relatedTo(request, zaak.id),
      ...ON_THE_PAGE.map((name) => part(name, 10)),
    ])
    if (
      counts.rollen ||
      counts.klantcontacten ||
      isAboutPeople(events.rows) ||
      parts.some(({ rows }) => namesPerson(rows))
    )
      await recordLook(request, zaak)
    statussen.rows.sort((one, other) => Date.parse(other.at) - Date.parse(one.at))
    return reply.page('zaak', {
      title: t`Zaak ${zaak.identificatie}`,
      breadcrumbs: [{ path: '/zaken', name: t('Zaken') }],
      zaak,
      archiving,
      place: drawPlace(zaak.zaakgeometrie, MAX_GEOMETRY),
      producten: zaak.productenOfDiensten as string[],
      kenmerken: zaak.kenmerken as { kenmerk: string; bron: string }[],
      status: statussen.rows[0],
      statussen: statussen.rows,
      events: events.rows,
      related,
      counts,
      parts: parts.map((part, place) => ({
        ...part,
        path: ON_THE_PAGE[place],
        columns: part.columns.filter(([name]) => part.short?.includes(name) ?? true),
      })),
    })
  })

  app.get('/zaken/:uuid/geschiedenis', { config }, async (request, reply) => {
    const zaak = await zaakOfRequest(request)
    await recordLook(request, zaak)
    return reply.page('history', {
      title: t('Geschiedenis'),
      breadcrumbs: [
        { path: '/zaken', name: t('Zaken') },
        { path: `/zaken/${zaak.uuid}`, name: zaak.identificatie },
      ],
      list: await historyOf(app, request, zaak.uuid),
    })
  })

  app.get<{ Params: { part: string } }>('/zaken/:uuid/:part', { config }, async (request, reply) => {
    const { part: path } = request.params
    const part = Object.hasOwn(PARTS, path) ? PARTS[path] : undefined
    if (!part) throw notFound(t('Deze pagina bestaat niet.'))
    const zaak = await zaakOfRequest(request)
    const query = { ...partQuery(path, zaak.id, request, 50), sorts: {} }
    const list = await keysetByNumber<PartLine>(request, app.read, query)
    if (ABOUT_PEOPLE.includes(path) || namesPerson(list.rows)) await recordLook(request, zaak)
    return reply.page('zaak-part', {
      title: part.name,
      breadcrumbs: [
        { path: '/zaken', name: t('Zaken') },
        { path: `/zaken/${zaak.uuid}`, name: zaak.identificatie },
      ],
      columns: part.columns,
      defaultSort: '-nummer',
      list: { ...list, rows: list.rows.map(readable) },
    })
  })

  /** Who looked at the people of a case. */
  async function recordLook(request: FastifyRequest, { uuid, identificatie }: { uuid: string; identificatie: string }) {
    const entry = { handeling: 'persoonsgegevens-bekijken', soort: 'zaak', id: uuid, weergave: identificatie }
    if (request.method === 'GET') await app.own.audit(request, [entry])
  }

  /** Cases that this one names, and that name this one; of those that may not be seen the number is not told. */
  async function relatedTo(request: FastifyRequest, zaakId: number) {
    const { rows } = await sql<{
      soort: string
      uuid: string | null
      identificatie: string
      omschrijving: string
      toelichting: string
    }>`
      select r.soort, z.uuid, coalesce(z.identificatie, r.url) as identificatie, coalesce(z.omschrijving, '') as omschrijving, r.toelichting from (
        select 'hoofdzaak' as soort, hoofdzaak_id as id, null as url, '' as toelichting from zaak
          where id = ${zaakId} and hoofdzaak_id is not null
        union all (select 'deelzaak', id, null, '' from zaak where hoofdzaak_id = ${zaakId} order by id limit 10)
        union all select coalesce(nullif(a.overige_relatie, ''), a.aard_relatie), a.andere_zaak_id, a.andere_zaak_url, a.toelichting
          from zaak_andere_zaak a where a.zaak_id = ${zaakId}
        union all (select 'verwijst hierheen', a.zaak_id, null, '' from zaak_andere_zaak a where a.andere_zaak_id = ${zaakId} limit 10)
        union all select 'gerelateerd', g.andere_zaak_id, g.andere_zaak_url, '' from zaak_gerelateerde_zaak g where g.zaak_id = ${zaakId}
      ) r left join zaak z on z.id = r.id
      where r.id is null or ${visible(request, sql`z.vertrouwelijkheidaanduiding`)} limit 50`.execute(app.read)
    return rows
  }

  async function zaakOfRequest(request: FastifyRequest) {
    const zaak = await app.read
      .selectFrom('zaak as z')
      .leftJoin('zaaktype as t', 't.id', 'z.zaaktypeId')
      .leftJoin('resultaatArchiving as r', 'r.zaakId', 'z.id')
      .leftJoin('resultaat as u', 'u.zaakId', 'z.id')
      .leftJoin('zaak as h', 'h.id', 'z.hoofdzaakId')
      .where('z.uuid', '=', uuidParam(request))
      .selectAll('z')
      .select([
        't.omschrijving as zaaktype',
        't.uuid as zaaktypeUuid',
        'r.omschrijving as resultaat',
        'u.toelichting as resultaatToelichting',
      ])
      .select(['h.uuid as hoofdzaakUuid', 'h.identificatie as hoofdzaakIdentificatie'])
      .executeTakeFirst()
    if (!zaak) throw notFound(t('Deze zaak bestaat niet.'))
    requireVisible(request, zaak.vertrouwelijkheidaanduiding)
    return zaak
  }

  function partQuery(path: string, zaakId: number, request: FastifyRequest, size: number) {
    const { select, id, zaak } = expected(PARTS[path])
    const seen = (table: RawBuilder<unknown>) =>
      sql`(${table}.id is null or ${visible(request, sql`${table}.vertrouwelijkheidaanduiding`)})`
    const table = path === 'documenten' ? sql`e` : path === 'deelzaken' ? sql`r` : undefined
    const conditions = [sql`${zaak} = ${zaakId}`, ...(table ? [seen(table)] : [])]
    return { select, id, conditions, size }
  }

  // Up to a thousand: more is said as such.
  async function countParts(zaakId: number): Promise<Record<string, number>> {
    const counts = Object.entries(PARTS).map(
      ([path, { select, zaak }]) =>
        sql`select ${path}::text as path, (select count(*) from (${select} where ${zaak} = ${zaakId} limit 1000) x)::int as count`,
    )
    const { rows } = await sql<{ path: string; count: number }>`${sql.join(counts, sql` union all `)}`.execute(app.read)
    return Object.fromEntries(rows.map(({ path, count }) => [path, count]))
  }
}

/** Parts that are about people, or in which people are written of. */
const ABOUT_PEOPLE = ['rollen', 'klantcontacten']
/** Whether an object of a case is a person. */
const namesPerson = (rows: readonly PartLine[]) =>
  rows.some(({ soort, gegevens }) => gegevens && /persoon|medewerker/.test(soort ?? ''))

/** With a name, or a number, of who is involved; an object in words; a property that is a date as the pages write those. */
function readable(row: PartLine): PartLine {
  if (row.person) return { ...row, who: nameOf(row as Who) }
  if (row.gegevens && !row.object) {
    const fields = changedFields(null, row.gegevens, new Map())
    return { ...row, object: fields.map(({ field, after }) => `${field}: ${after}`).join(', ') }
  }
  if (row.formaat !== 'datum' && row.formaat !== 'datum_tijd') return row
  const [, year, month, day, hour, minute] =
    /^(\d{4})-?(\d\d)-?(\d\d)(?:[T ]?(\d\d):?(\d\d):?\d\d.*)?$/.exec(row.waarde ?? '') ?? []
  const date = `${year}-${month}-${day}`
  if (Number.isNaN(Date.parse(date))) return row
  return { ...row, waarde: formatDate(date) + (hour ? ` ${hour}:${minute}` : '') }
}

const MAX_GEOMETRY = 2000

const FILTERS = ['zoek', 'zaaktype', 'staat', 'van', 'tot']

const SORTS: Sorts = {
  identificatie: {
    column: sql`z.identificatie`,
    of: (id) => sql`(select identificatie from zaak where id = ${id}::bigint)`,
  },
  startdatum: { column: sql`z.startdatum`, of: (id) => sql`(select startdatum from zaak where id = ${id}::bigint)` },
}

const isTooShort = (search: string) => search !== '' && !uuidIn(search) && !isSearchable(search)

// Types are looked up first: the planner then knows how rare they are.
async function filters(request: FastifyRequest): Promise<RawBuilder<unknown>[]> {
  const [search, zaaktype, state] = FILTERS.map((name) => queryText(request, name))
  const [from, until] = [queryDay(request, 'van'), queryDay(request, 'tot')]
  const uuid = search ? uuidIn(search) : undefined
  const zaaktypen = zaaktype ? await chosenTypes(request.server.read, 'zaaktype', zaaktype) : []
  return [
    ...(uuid ? [sql`z.uuid = ${uuid}`] : search ? [await zaakMatches(request.server.read, search)] : []),
    ...(zaaktype ? [sql`z.zaaktype_id = any(${zaaktypen}::bigint[])`] : []),
    ...(state === 'open' ? [sql`z.einddatum is null`] : state === 'gesloten' ? [sql`z.einddatum is not null`] : []),
    ...(from ? [sql`z.startdatum >= ${from}::date`] : []),
    ...(until ? [sql`z.startdatum <= ${until}::date`] : []),
  ]
}
