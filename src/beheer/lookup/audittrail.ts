// audittrail: the audit trail over all objects, searched by client, user, kind and moment. The trail is kept by main object; over all of
// them it is only ordered by moment, so that a search walks back through a period, and looks at so many rows at most: of one main object
// at its own.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { unpack } from '../../core/audit-contents.ts'
import { notFound } from '../../core/problem.ts'
import { dayOf, timeZone, today } from '../../lib/day.ts'
import { changesBetween, isAboutPeople, NOUNS } from '../frame/history.ts'
import { type KeysetPage, withQuery } from '../frame/keyset-list.ts'
import { queryDay, queryText, uuidIn, uuidParam, visible } from '../frame/lookup.ts'
import { savedFilters } from '../frame/saved-filters.ts'
import { t, words } from '../language/language.ts'

const SIZE = 50
/** Rows that one search looks at. */
const MOST_LOOKED = 20_000
/** Days that one search may go back, and those when nobody said. */
const MOST_DAYS = 92
const DAYS = 7
const DAY_MS = 86_400_000
/** How far the first step goes back; each next one goes four times as far, so that few rows are read when many are found. */
const FIRST_STEP_MS = 60_000
const LONGER = 4

type Line = {
  id: number
  /** The moment, in microseconds: what is before a row stands before both. */
  micros: number
  at: string
  bron: string
  actie: string
  resource: string
  weergave: string
  applicatie: string
  gebruiker: string
  hoofd: string
  page: string | null
  name: string | null
}
type Looked = { looked: number; lastMicros: number | null; lastId: number | null } & {
  [K in keyof Line]: Line[K] | null
}
/** Rows before this one; `id` tells apart those of one transaction. */
type Position = { micros: number; id: number }

const ACTIES: Record<string, string> = words({
  create: 'toegevoegd',
  update: 'gewijzigd',
  partial_update: 'gewijzigd',
  destroy: 'verwijderd',
})

/** Main objects of which who sees the record sees the page; of what is gone nobody below the highest level is told. */
const seen = (request: FastifyRequest) => sql`(a.bron in ('ac', 'ztc')
  or exists (select from zaak z where z.uuid = a.hoofd_object_uuid and ${visible(request, sql`z.vertrouwelijkheidaanduiding`)})
  or exists (select from enkelvoudiginformatieobject e where e.uuid = a.hoofd_object_uuid
    and ${visible(request, sql`e.vertrouwelijkheidaanduiding`)})
  or exists (select from besluit b left join zaak z on z.id = b.zaak_id where b.uuid = a.hoofd_object_uuid
    and (z.id is null or ${visible(request, sql`z.vertrouwelijkheidaanduiding`)}))
  or (${visible(request, sql`'zeer_geheim'::vertrouwelijkheidaanduiding`)}
    and not exists (select from zaak z where z.uuid = a.hoofd_object_uuid)
    and not exists (select from enkelvoudiginformatieobject e where e.uuid = a.hoofd_object_uuid)
    and not exists (select from besluit b where b.uuid = a.hoofd_object_uuid)))`

export function registerAudittrail(app: FastifyInstance): void {
  const config = { access: 'beheer', rol: 'viewer' } as const

  app.get('/audittrail', { config }, async (request, reply) => {
    const period = periodOf(request)
    const { list, until } = await search(request, period)
    return reply.page('audittrail', {
      title: t('Audittrail'),
      savedFilters: await savedFilters(request),
      list,
      filter: Object.fromEntries([
        ...FILTERS.map((name): [string, string] => [name, queryText(request, name)]),
        ['van', period.van],
        ['tot', period.tot],
      ]),
      isFiltered: FILTERS.some((name) => queryText(request, name) !== ''),
      isShortened: period.isShortened,
      lookedUntil: until,
      most: MOST_LOOKED,
      days: MOST_DAYS,
      nouns: kinds(),
      acties: [
        ['create', t('Toegevoegd')],
        ['wijzigen', t('Gewijzigd')],
        ['destroy', t('Verwijderd')],
      ] as [string, string][],
      inWords: ({ resource, actie }: Line) => `${NOUNS[resource] ?? resource} ${ACTIES[actie] ?? actie}`,
    })
  })

  app.get<{ Params: { uuid: string; id: string } }>('/audittrail/:uuid/:id', { config }, async (request, reply) => {
    if (!/^-?\d{1,15}$/.test(request.params.id)) throw notFound(t('Deze pagina bestaat niet.'))
    const record = await app.read
      .selectFrom('audit as a')
      .where('a.hoofdObjectUuid', '=', uuidParam(request))
      .where('a.id', '=', Number(request.params.id))
      .where(sql<boolean>`${seen(request)}`)
      .selectAll()
      .executeTakeFirst()
    if (!record) throw notFound(t('Deze pagina bestaat niet.'))
    const { hoofdObject, resourceUrl, oud, nieuw } = unpack(app.parts.box.numbers, record)
    const { resource, actie } = record
    if (isAboutPeople([record]))
      await app.own.audit(request, [
        {
          handeling: 'persoonsgegevens-bekijken',
          soort: resource,
          id: record.hoofdObjectUuid,
          weergave: record.resourceWeergave,
        },
      ])
    return reply.page('audittrail-record', {
      title: `${NOUNS[resource] ?? resource} ${ACTIES[actie] ?? actie}`,
      breadcrumbs: [{ path: '/audittrail', name: t('Audittrail') }],
      record,
      hoofdObject,
      page: pageOf(hoofdObject),
      resourceUrl,
      fields: await changesBetween(app.read, request, Object(oud), Object(nieuw)),
    })
  })

  /** The newest of a period, from where the last page ended; `until`: what was looked at does not reach further back than this moment. */
  async function search(
    request: FastifyRequest,
    period: Period,
  ): Promise<{ list: KeysetPage<Line>; until: string | null }> {
    const found: Line[] = []
    let looked = 0
    const asked = positionOf(request)
    const main = await mainObject(request)
    const {
      rows: [end],
    } = await sql<{ micros: number }>`
      select (extract(epoch from least(now(), ${momentOf(period.until * 1000)})) * 1000000)::bigint + 1 as micros`.execute(
      app.read,
    )
    let position = asked && asked.micros < end!.micros ? asked : { micros: end!.micros, id: 0 }
    let step = FIRST_STEP_MS
    let isStopped = false
    while (found.length <= SIZE && !isStopped && position.micros > period.from * 1000) {
      const since = Math.max(period.from * 1000, position.micros - step * 1000)
      const rows = await walk(request, main, position, since, {
        looks: MOST_LOOKED - looked,
        takes: SIZE + 1 - found.length,
      })
      for (const row of rows) if (row.id !== null) found.push(row as Line)
      const [first] = rows
      looked += first?.looked ?? 0
      // The step was cut off at its most rows: what is before the last of them was not looked at.
      isStopped = looked >= MOST_LOOKED
      if (isStopped && first?.lastMicros && first.lastId !== null)
        position = { micros: first.lastMicros, id: first.lastId }
      else position = { micros: since, id: Number.MIN_SAFE_INTEGER }
      step *= LONGER
    }
    const isMore = found.length > SIZE
    const rows = found.slice(0, SIZE)
    const last = rows.at(-1)
    const next = isMore && last ? last : isStopped ? position : undefined
    return {
      list: {
        rows,
        previous: null,
        next: next ? withQuery(request, { na: `${next.micros}_${next.id}` }) : null,
        first: positionOf(request) ? withQuery(request, {}) : null,
      },
      until: !isMore && isStopped ? new Date(position.micros / 1000).toISOString() : null,
    }
  }

  /** The object that is asked for, when it has a trail of its own: that is read by its index. */
  async function mainObject(request: FastifyRequest): Promise<string | undefined> {
    const uuid = uuidIn(queryText(request, 'object'))
    const { rows } = uuid
      ? await sql`select from audit where hoofd_object_uuid = ${uuid} limit 1`.execute(app.read)
      : { rows: [] }
    return rows.length > 0 ? uuid : undefined
  }

  /** What is found between two moments, newest first, with how many rows were looked at and the last of these. */
  async function walk(
    request: FastifyRequest,
    main: string | undefined,
    { micros, id }: Position,
    since: number,
    { looks, takes }: { looks: number; takes: number },
  ): Promise<Looked[]> {
    const { rows } = await sql<Looked>`
      with looked as materialized (
        select a.* from (
          select id, (extract(epoch from aanmaakdatum) * 1000000)::bigint as micros, aanmaakdatum, bron, actie, resource, resource_weergave,
            applicatie_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, hoofd_object_uuid, resource_uuid
          from audit where aanmaakdatum >= ${momentOf(since)} and aanmaakdatum <= ${momentOf(micros)}
            ${main ? sql`and hoofd_object_uuid = ${main}` : sql``}
        ) a where (a.micros, a.id) < (${micros}::bigint, ${id}::bigint) order by a.micros desc, a.id desc limit ${looks}
      ), found as (
        select * from looked a where ${filters(request)} and ${seen(request)} order by a.micros desc, a.id desc limit ${takes}
      )
      select n.looked, o.micros as last_micros, o.id as last_id, f.id, f.micros, f.aanmaakdatum as at, f.bron, f.actie, f.resource,
        f.resource_weergave as weergave, coalesce(nullif(f.applicatie_weergave, ''), f.applicatie_id) as applicatie,
        coalesce(nullif(f.gebruikers_weergave, ''), f.gebruikers_id) as gebruiker, f.hoofd_object_uuid as hoofd,
        case when z.id is not null then '/zaken/' || z.uuid when e.id is not null then '/documenten/' || e.uuid
          when b.id is not null then '/besluiten/' || b.uuid end as page,
        coalesce(z.identificatie, e.identificatie, b.identificatie) as name
      from (select count(*)::int as looked from looked) n
      left join (select micros, id from looked order by micros, id limit 1) o on true
      left join found f on true
      left join zaak z on z.uuid = f.hoofd_object_uuid
      left join enkelvoudiginformatieobject e on e.uuid = f.hoofd_object_uuid
      left join besluit b on b.uuid = f.hoofd_object_uuid
      order by f.micros desc, f.id desc`.execute(app.read)
    return rows
  }
}

/** Kinds of objects, each with its word, and with its name where another has the same word. */
function kinds(): [kind: string, word: string][] {
  const all = Object.values(NOUNS)
  return Object.entries(NOUNS).map(([kind, word]) => [
    kind,
    all.filter((other) => other === word).length > 1 ? `${word} (${kind})` : word,
  ])
}

const PAGES: Record<string, string> = {
  zaken: 'zaken',
  enkelvoudiginformatieobjecten: 'documenten',
  besluiten: 'besluiten',
}
/** Where a main object is shown, by its address in the API. */
function pageOf(url: string): string {
  const [, kind = '', uuid] = /\/([a-z]+)\/([0-9a-f-]{36})$/.exec(url) ?? []
  return Object.hasOwn(PAGES, kind) ? `/${PAGES[kind]}/${uuid}` : ''
}

const momentOf = (micros: number) => sql`timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`

function positionOf(request: FastifyRequest): Position | undefined {
  const [, micros, id] = /^(\d{1,16})_(-?\d{1,16})$/.exec(queryText(request, 'na')) ?? []
  const position = { micros: Number(micros), id: Number(id) }
  return micros && Number.isSafeInteger(position.micros) && Number.isSafeInteger(position.id) ? position : undefined
}

type Period = { from: number; until: number; van: string; tot: string; isShortened: boolean }

/** The days that were asked, as they are here; the last week when none were. */
function periodOf(request: FastifyRequest): Period {
  const last = queryDay(request, 'tot')
  const tot = last !== undefined && last < today() && last > '1900-01-01' ? last : today()
  const earlier = (days: number) => dayOf(new Date(Date.parse(`${tot}T12:00:00Z`) - days * DAY_MS))
  const asked = queryDay(request, 'van') ?? earlier(DAYS)
  const bound = earlier(MOST_DAYS)
  const van = asked < bound ? bound : asked
  return { from: startOf(van), until: startOf(earlier(-1)), van, tot, isShortened: asked < bound }
}

/** When a day begins here. */
function startOf(day: string): number {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  const shown = new Date(midnight).toLocaleString('sv-SE', { timeZone: timeZone() })
  return midnight - (Date.parse(`${shown.replace(' ', 'T')}Z`) - midnight)
}

const FILTERS = ['applicatie', 'gebruiker', 'soort', 'actie', 'object', 'van', 'tot']

/** Conditions on what was looked at. */
function filters(request: FastifyRequest): RawBuilder<unknown> {
  const [applicatie, user, resource, actie, object] = FILTERS.map((name) => queryText(request, name))
  const has = (column: RawBuilder<unknown>, text: string) => sql`position(lower(${text}) in lower(${column})) > 0`
  const uuid = object ? uuidIn(object) : undefined
  return sql.join(
    [
      sql`true`,
      ...(applicatie ? [sql`(a.applicatie_id = ${applicatie} or ${has(sql`a.applicatie_weergave`, applicatie)})`] : []),
      ...(user ? [sql`(a.gebruikers_id = ${user} or ${has(sql`a.gebruikers_weergave`, user)})`] : []),
      ...(resource ? [sql`a.resource = ${resource}`] : []),
      ...(actie === 'wijzigen'
        ? [sql`a.actie in ('update', 'partial_update')`]
        : actie
          ? [sql`a.actie = ${actie}`]
          : []),
      ...(uuid
        ? [sql`(a.hoofd_object_uuid = ${uuid} or a.resource_uuid = ${uuid})`]
        : object
          ? [has(sql`a.resource_weergave`, object)]
          : []),
    ],
    sql` and `,
  )
}
