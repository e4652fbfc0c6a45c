// Who looked at a case, or at a person: what the log of processing tells, for the officer who watches over personal data. These pages
// show a case or a person themselves, and so have lines of their own in it.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import { ALL_ZAKEN, logOptionsOf } from '../../core/verwerkingen.ts'
import { notePerson } from '../../http/verwerkingen.ts'
import { timeZone } from '../../lib/day.ts'
import { rollenOf } from '../../zaken/persons.ts'
import type { FormValues } from '../frame/form.ts'
import { NOUNS } from '../frame/history.ts'
import { keysetByNumber, maskBsn, queryDay, queryText, requireVisible, uuidParam, visible } from '../frame/lookup.ts'
import { t } from '../language/language.ts'
import { bsnIn } from './search.ts'

const config = { access: 'beheer', rol: 'privacy' } as const

/** As many lines about a person are shown, the newest. */
const SHOWN = 200
/** Cases of one person that are looked at, and those of earlier days that lines tell. */
const CASES = 1000

type Line = {
  id: number
  at: string
  handeling: string
  activiteit: string
  applicatie: string
  client: string
  userId: string
  user: string
  cases: number
  zaak: string | null
  identificatie: string | null
  isDirect: boolean
}

/** @param isDirect whether the line is about the person himself, and not only about a case of his */
const lineOf = (request: FastifyRequest, isDirect: RawBuilder<boolean>) => sql<Line>`
  select v.id, v.at, v.handeling, v.activiteit, v.applicatie_weergave as applicatie, v.client_id as client, v.gebruikers_id as user_id,
    v.gebruikers_weergave as "user", cardinality(v.zaken)::int as cases, z.uuid as zaak, z.identificatie, ${isDirect} as is_direct
  from verwerking v left join zaak z on cardinality(v.zaken) = 1 and z.uuid = v.zaken[1]
    and ${visible(request, sql`z.vertrouwelijkheidaanduiding`)}`

export function registerWieKeek(app: FastifyInstance): void {
  app.get('/zaken/:uuid/wie-keek', { config }, async (request, reply) => {
    const zaak = await app.read
      .selectFrom('zaak')
      .where('uuid', '=', uuidParam(request))
      .select(['id', 'uuid', 'identificatie', 'vertrouwelijkheidaanduiding'])
      .executeTakeFirst()
    if (!zaak) throw notFound(t('Deze zaak bestaat niet.'))
    requireVisible(request, zaak.vertrouwelijkheidaanduiding)
    await app.acts?.settle()
    const beside = await app.reader.sql<{ uuid: string }[]>`
      select e.uuid from zaakinformatieobject r join enkelvoudiginformatieobject e on e.id = r.enkelvoudiginformatieobject_id
        where r.zaak_id = ${zaak.id}
      union all select uuid from besluit where zaak_id = ${zaak.id} limit ${CASES}`
    const list = await keysetByNumber<Line>(request, app.read, {
      select: lineOf(request, sql<boolean>`true`),
      id: sql`v.id`,
      conditions: [
        isAbout(request, {
          zaken: [zaak.uuid, ALL_ZAKEN],
          objecten: beside.map(({ uuid }) => uuid),
          from: queryDay(request, 'van'),
          until: queryDay(request, 'tot'),
        }),
      ],
    })
    const entry = { handeling: 'wie-keek-bekijken', soort: 'zaak', id: zaak.uuid, weergave: zaak.identificatie }
    await app.own.audit(request, [entry])
    return reply.page('wie-keek', {
      title: t('Wie keek naar deze zaak?'),
      breadcrumbs: [
        { path: '/zaken', name: t('Zaken') },
        { path: `/zaken/${zaak.uuid}`, name: zaak.identificatie },
      ],
      ...state(),
      list: { ...list, rows: list.rows.map(inWords) },
      filter: { van: queryText(request, 'van'), tot: queryText(request, 'tot') },
    })
  })

  app.get('/persoon', { config }, async (_request, reply) =>
    reply.page('wie-keek-persoon', { ...emptyPage(), faults: {} }),
  )

  // A form that posts: a BSN then stands in no address.
  app.post('/persoon', { config }, async (request, reply) => {
    const values = (request.body ?? {}) as FormValues
    const bsn = bsnIn(String([values.bsn].flat().at(-1) ?? ''))
    if (!bsn) {
      const faults = { bsn: t('Vul een BSN in: negen cijfers, volgens de elfproef.') }
      return reply.code(400).page('wie-keek-persoon', { ...emptyPage(), faults })
    }
    notePerson(request, 'inpBsn', bsn)
    await app.acts?.settle()
    const rows = await linesOf(request, bsn)
    await app.own.audit(request, [
      {
        handeling: 'wie-keek-zoeken',
        soort: 'persoon',
        weergave: `BSN ${maskBsn(bsn)}`,
        nieuw: { gevonden: rows.length },
      },
    ])
    return reply.page('wie-keek-persoon', {
      ...emptyPage(),
      faults: {},
      bsn: maskBsn(bsn),
      rows: rows.slice(0, SHOWN).map(inWords),
      isMore: rows.length > SHOWN,
    })
  })

  /** Lines about this person, and about cases that he is or was involved in; the newest. */
  async function linesOf(request: FastifyRequest, bsn: string): Promise<Line[]> {
    const { numbers } = app.parts.box
    const hashes = numbers.lookups('inpBsn', bsn).map((hash) => `\\x${hash.toString('hex')}`)
    const isDirect = sql<boolean>`coalesce(v.lookups && ${hashes}::text[]::bytea[], false)`
    const { rows: cases } = await sql<{ uuid: string }>`
      (select z.uuid from zaak z join rol r on r.zaak_id = z.id where r.id = any(${rollenOf(numbers, 'inpBsn', bsn)}) limit ${CASES})
      union (select v.zaken[1] from verwerking v where ${isAbout(request, { lookups: hashes })} and cardinality(v.zaken) = 1 limit ${CASES})`.execute(
      app.read,
    )
    const { rows } = await sql<Line>`${lineOf(request, isDirect)}
      where ${isAbout(request, { lookups: hashes, zaken: cases.map(({ uuid }) => uuid) })}
      order by v.id desc limit ${SHOWN + 1}`.execute(app.read)
    return rows
  }

  /** Before anybody was looked for. */
  function emptyPage() {
    return {
      title: t('Wie keek naar deze persoon?'),
      ...state(),
      bsn: '',
      rows: [] as ReturnType<typeof inWords>[],
      isMore: false,
      most: SHOWN,
    }
  }

  /** Whether there is a log, and for how long. */
  function state() {
    return { isOn: logOptionsOf(app.parts.config) !== undefined, days: app.parts.config.logboekRetentionDays }
  }
}

/** So many lines are shown from where a page begins, at most. */
const LINES = 2000

/** uuids and look-ups in hexadecimal that lines are about, and from the one day until and with the other, as they are here. */
type Asked = {
  zaken?: string[]
  objecten?: string[]
  lookups?: string[]
  from?: string | undefined
  until?: string | undefined
}

/** Lines about any of these, by the blocks that have them: from the one that the page begins after, in the order of the page. */
function isAbout(
  request: FastifyRequest,
  { zaken = [], objecten = [], lookups = [], from, until }: Asked,
): RawBuilder<boolean> {
  const [after, before] = [placeIn(request, 'voor'), placeIn(request, 'na')]
  const order = after === undefined ? sql`desc` : sql`asc`
  return sql<boolean>`v.id = any(array(
    select w.id from (
      select first_id, last_id from verwerking_block
      where (zaken && ${zaken}::text[]::uuid[] or objecten && ${objecten}::text[]::uuid[] or lookups && ${lookups}::text[]::bytea[])
        and last_id > ${after ?? 0}::bigint and first_id < ${before ?? Number.MAX_SAFE_INTEGER}::bigint
      order by last_id ${order}
    ) b cross join lateral (
      select id from verwerking
      where id between b.first_id and b.last_id and id > ${after ?? 0}::bigint and id < ${before ?? Number.MAX_SAFE_INTEGER}::bigint
        and (zaken && ${zaken}::text[]::uuid[] or objecten && ${objecten}::text[]::uuid[] or lookups && ${lookups}::text[]::bytea[])
        and at >= coalesce(${from ?? null}::date::timestamp at time zone ${timeZone()}::text, '-infinity')
        and at < coalesce((${until ?? null}::date + 1)::timestamp at time zone ${timeZone()}::text, 'infinity')
      order by id ${order}
    ) w limit ${LINES}))`
}

/** The line that the page begins after, as `keysetByNumber` has it in the query. */
function placeIn(request: FastifyRequest, name: 'na' | 'voor'): string | undefined {
  const given = queryText(request, name)
  return /^\d{1,16}$/.test(given) ? given : undefined
}

/** Who it was, and what was done, as the pages say it. */
function inWords(line: Line) {
  const who = line.user || line.userId || t('Geen gebruiker genoemd')
  return { ...line, who, account: line.userId !== who ? line.userId : '', act: actOf(line.handeling, line.cases) }
}

function actOf(handeling: string, cases: number): string {
  const [method = '', route = ''] = handeling.split(' ')
  if (handeling.startsWith('import ')) return t('Document geïmporteerd')
  if (!route.startsWith('/')) return changesOf(handeling)
  if (route.endsWith('/_snapshots/:positie')) return t('Kopie van alle zaken opgehaald')
  if (route.endsWith('/_deltas')) return t('Wijzigingen opgehaald voor een kopie')
  if (/\/(download|voorbeeld)$/.test(route)) return t('Document geopend')
  if (route.endsWith('/wie-keek') || route.endsWith('/persoon')) return t('Opgezocht wie keek')
  if (route.includes('/audittrail') || route.endsWith('/geschiedenis')) return t('Geschiedenis bekeken')
  if (route.endsWith('/_batch')) return t('Bekeken')
  if (cases > 1 || !route.includes('/:')) return t('In een lijst gezien')
  return method === 'GET' || method === 'HEAD' ? t('Bekeken') : t('Gebruikt')
}

const VERBS: Record<string, (noun: string) => string> = {
  create: (noun) => t`${noun} toegevoegd`,
  update: (noun) => t`${noun} gewijzigd`,
  partial_update: (noun) => t`${noun} gewijzigd`,
  destroy: (noun) => t`${noun} verwijderd`,
}

/** `create zaak, create rol` in words. */
const changesOf = (handeling: string): string =>
  handeling
    .split(', ')
    .map((change) => {
      const [verb = '', resource = ''] = change.split(' ')
      return VERBS[verb]?.(NOUNS[resource] ?? resource) ?? change
    })
    .join(', ')
