// What the log of messages asks the database.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { one } from '../../database/rows.ts'
import { CAUSE, matchesFilter, type NotificatieFilter } from '../../notificaties/filter.ts'
import type { FormValues } from '../frame/form.ts'
import type { Cursor } from '../frame/keyset-list.ts'
import { visible } from '../frame/lookup.ts'
import type { Message } from './notificatie-labels.ts'
import { causeInWords } from './notificatie-labels.ts'

/** Counting ends here: more than this says enough, and takes as long as it takes. */
export const TOT = 10_000

export type Row = Message & {
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
  /** How often it was sent again on request. */
  herhalingen: number | null
  endedAt: string | null
}

/** A page of messages that fit the filter, by the moment at which they were made; the newest first unless the address asks otherwise. */
export async function selectRows(
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

/**
 * Messages with their state, their last attempt, and what they are about when the one who looks may see that.
 * @param back the oldest first
 */
export async function selectMessages(
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
      l.next_attempt_at, l.herhalingen, l.bezig,
      coalesce(l.ended_at, case when l.volgorde is null then p.begun_at + p.duration_ms * interval '1 millisecond' end)
        as ended_at,
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
      select max(case status when 'mislukt' then 2 else 1 end) as volgorde, min(next_attempt_at) as next_attempt_at,
        coalesce(max(herhalingen), 0) as herhalingen, max(ended_at) as ended_at,
        coalesce(bool_or(claimed_by is not null), false) as bezig,
        coalesce(bool_or(status = 'gepland' and next_attempt_at is null), false) as wacht_op_eerder
      from delivery where notificatie_id = b.id) l
    left join lateral (select * from delivery_attempt p
      where p.notificatie_id = b.id order by begun_at desc limit 1) p on true
    order by b.aanmaakdatum ${order}, b.id ${order}`.execute(app.read)
  return rows
}

type Cause = { cause: string; count: number; text: string; advice: string; latest: string }

/** Why messages failed, the most frequent cause first, with what to do about each. */
export async function readCauses(app: FastifyInstance): Promise<Cause[]> {
  const { rows } = await sql<{ cause: string; count: number; latest: string }>`
    select ${CAUSE} as cause, count(*)::int as count, max(p.begun_at) as latest
    from (select * from delivery where status = 'mislukt' limit ${TOT}) l
    join delivery_attempt p on p.notificatie_id = l.notificatie_id and p.abonnement_id = l.abonnement_id and p.nummer = l.poging
    group by 1 order by 2 desc limit 10`.execute(app.read)
  return rows.map((row) => ({ ...row, ...causeInWords(row.cause) }))
}

/** How many messages fit, as far as `TOT`; one more means that there are more. */
export async function countUpTo(app: FastifyInstance, filter: NotificatieFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count
    from (select from notificatie where ${matchesFilter(filter)} limit ${TOT + 1}) gevonden`.execute(app.read)
  return one(rows).count
}

/** How many messages fit, all of them: for what is about to be sent again. */
export async function countMessages(app: FastifyInstance, filter: NotificatieFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from notificatie where ${matchesFilter(filter)}`.execute(app.read)
  return one(rows).count
}
