// audit: what was changed in these pages, by whom, with before and after.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { LIMITS } from '../../core/limits.ts'
import { notFound } from '../../core/problem.ts'
import { csvStream, neutralizeCell } from '../../documenten/import/report.ts'
import { countStream } from '../../http/stream.ts'
import { largeTurn } from '../../http/turns.ts'
import { timeZone } from '../../lib/day.ts'
import { withQuery } from '../frame/keyset-list.ts'
import { differences, keysetByNumber, queryDay, queryText, type Sorts } from '../frame/lookup.ts'
import { savedFilters } from '../frame/saved-filters.ts'
import { signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { actLabel } from './audit-labels.ts'

type Line = {
  id: number
  tijdstip: string
  gebruiker: string
  herkomst: string
  handeling: string
  resultaat: 'geslaagd' | 'geweigerd'
  objectKind: string
  objectId: string
  objectWeergave: string
}

/** Whether a row is about a case or document that he may see; of what is gone nobody below the highest level is told which it was. */
const seen = (request: FastifyRequest): RawBuilder<boolean> => sql<boolean>`(b.object_kind not in ('zaak', 'document')
  or coalesce((select level_of_object(b.object_id::uuid) where b.object_id ~ '^[0-9a-f-]{36}$'), 'zeer_geheim')
    <= ${signedIn(request).maxVertrouwelijkheidaanduiding}::vertrouwelijkheidaanduiding)`

const selectLine = (
  request: FastifyRequest,
) => sql`select b.id, b.tijdstip, b.gebruiker, b.herkomst, b.handeling, b.resultaat,
  b.object_kind, case when ${seen(request)} then b.object_id else '' end as object_id,
  case when ${seen(request)} then b.object_weergave else '' end as object_weergave from beheer_audit b`
const EXPORT_COLUMNS = [
  'tijdstip',
  'gebruiker',
  'herkomst',
  'handeling',
  'resultaat',
  'soort',
  'id',
  'weergave',
  'oud',
  'nieuw',
] as const
const EXPORT_ROWS = 100 // at once, and fewer where they are large
type ExportRow = { nummer: number } & Record<(typeof EXPORT_COLUMNS)[number], string | null>

export function registerAudit(app: FastifyInstance): void {
  const config = { access: 'beheer', rol: 'viewer' } as const

  app.get('/audit', { config }, async (request, reply) => {
    const list = await keysetByNumber<Line>(request, app.read, {
      select: selectLine(request),
      id: sql`b.id`,
      sorts: SORTS,
      conditions: filters(request),
    })
    const acts = await app.reader.sql<{ handeling: string }[]>`
      with recursive h as (
        (select handeling from beheer_audit order by handeling limit 1)
        union all select (select handeling from beheer_audit where handeling > h.handeling order by handeling limit 1) from h
        where h.handeling is not null)
      select handeling from h where handeling is not null`
    return reply.page('audit', {
      title: t('Audit'),
      savedFilters: await savedFilters(request),
      defaultSort: '-nummer',
      list,
      filter: Object.fromEntries(FILTERS.map((name) => [name, queryText(request, name)])),
      acts: acts
        .map(({ handeling }): [string, string] => [handeling, actLabel(handeling)])
        .sort(([, one], [, other]) => one.localeCompare(other, 'nl')),
      inWords: actLabel,
      exportPath: withQuery(request, {}).replace('/audit', '/audit/export.csv'),
    })
  })

  // Streamed: it may be all that ever happened, and a line may hold an applicatie with thousands of rights twice.
  app.get('/audit/export.csv', { config }, async (request, reply) => {
    countStream(request, reply)
    const where = sql.join(filters(request), sql` and `)
    const isSeen = seen(request)
    async function* records() {
      yield [...EXPORT_COLUMNS]
      for (let after = 0; ; ) {
        await largeTurn(request)
        const { rows } =
          await sql<ExportRow>`select nummer, tijdstip, gebruiker, herkomst, handeling, resultaat, soort, id, weergave, oud::text, nieuw::text
          from (
            select b.id as nummer, b.tijdstip, b.gebruiker, b.herkomst, b.handeling, b.resultaat, b.object_kind as soort,
              case when ${isSeen} then b.object_id else '' end as id, case when ${isSeen} then b.object_weergave else '' end as weergave,
              case when ${isSeen} then b.oud end as oud, case when ${isSeen} then b.nieuw end as nieuw, row_number() over (order by b.id) as place,
              sum(coalesce(pg_column_size(b.oud), 0) + coalesce(pg_column_size(b.nieuw), 0)) over (order by b.id) as size
            from beheer_audit b where ${where} and b.id > ${after}::bigint order by b.id limit ${EXPORT_ROWS}
          ) line where place = 1 or size <= ${LIMITS.portionBytes} order by nummer`.execute(app.read)
        const last = rows.at(-1)
        if (!last) return
        for (const row of rows) yield EXPORT_COLUMNS.map((name) => row[name] ?? '')
        after = last.nummer
      }
    }
    return reply
      .headers({ 'content-disposition': 'attachment; filename="audit.csv"' })
      .type('text/csv; charset=utf-8')
      .send(csvStream(records(), neutralizeCell))
  })

  app.get<{ Params: { id: string } }>('/audit/:id', { config }, async (request, reply) => {
    if (!/^\d{1,15}$/.test(request.params.id)) throw notFound(t('Deze pagina bestaat niet.'))
    const found = await app.read
      .selectFrom('beheerAudit as b')
      .where('b.id', '=', Number(request.params.id))
      .selectAll()
      .select(seen(request).as('isSeen'))
      .executeTakeFirst()
    if (!found) throw notFound(t('Deze pagina bestaat niet.'))
    const record = found.isSeen ? found : { ...found, objectId: '', objectWeergave: '', oud: null, nieuw: null }
    return reply.page('audit-record', {
      title: actLabel(record.handeling),
      breadcrumbs: [{ path: '/audit', name: t('Audit') }],
      record,
      fields: differences(record.oud, record.nieuw),
    })
  })
}

const SORTS: Sorts = {
  gebruiker: {
    column: sql`b.gebruiker`,
    of: (id) => sql`(select gebruiker from beheer_audit where id = ${id}::bigint)`,
  },
  handeling: {
    column: sql`b.handeling`,
    of: (id) => sql`(select handeling from beheer_audit where id = ${id}::bigint)`,
  },
}

const FILTERS = ['gebruiker', 'handeling', 'object', 'van', 'tot', 'resultaat']

function filters(request: FastifyRequest) {
  const [user, handeling, object, resultaat] = ['gebruiker', 'handeling', 'object', 'resultaat'].map((name) =>
    queryText(request, name),
  )
  const [from, until] = [queryDay(request, 'van'), queryDay(request, 'tot')]
  return [
    sql`true`,
    ...(user ? [sql`b.gebruiker = ${user}`] : []),
    ...(handeling ? [sql`b.handeling = ${handeling}`] : []),
    ...(object ? [sql`(b.object_id = ${object} or b.object_weergave = ${object}) and ${seen(request)}`] : []),
    ...(resultaat === 'geweigerd' || resultaat === 'geslaagd' ? [sql`b.resultaat = ${resultaat}`] : []),
    // The days of the one who reads.
    ...(from ? [sql`b.tijdstip >= ${from}::timestamp at time zone ${timeZone()}::text`] : []),
    ...(until ? [sql`b.tijdstip < (${until}::timestamp + interval '1 day') at time zone ${timeZone()}::text`] : []),
  ]
}
