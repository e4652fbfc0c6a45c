// What the log of messages asks the database.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { EXTERNAL } from '../../core/outbox.ts'
import { one } from '../../database/rows.ts'
import { isMeant, matchesFilter, type NotificatieFilter } from '../../notificaties/filter.ts'
import type { FormValues } from '../frame/form.ts'
import type { Cursor } from '../frame/keyset-list.ts'
import { visible } from '../frame/lookup.ts'
import { causeAt } from './abonnementen/labels.ts'
import type { Message } from './notificatie-labels.ts'

/** Counting ends here: more than this says enough, and takes as long as it takes. */
export const TOT = 10_000

export type Row = Message & {
  id: number
  uuid: string
  /** The case, document or type that it is about, where that still exists. */
  onderwerp: { path: string; name: string } | null
  kanaal: string
  /** He may know what it is about; else the addresses are empty. */
  isSeen: boolean
  resource: string
  resourceUrl: string
  hoofdObject: string
  actie: string
  aanmaakdatum: string
  /** How often it was sent again on request. */
  retries: number | null
  endedAt: string | null
  /** At whom the last attempt was; null: none was made. */
  abonnementId: number | null
  /** To how many receivers it goes, and at how many of those it failed or waits. */
  ontvangers: number
  misluktBij: number
  geplandBij: number
}

/**
 * Whether a message is not about what is above his level. Of what is gone its attributes tell, and else nobody below the highest
 * level is told.
 */
const isSeen = (request: FastifyRequest, message: RawBuilder<unknown>) => sql<boolean>`(
  ${message}.kanaal not in ('zaken', 'documenten', 'besluiten') or ${visible(
    request,
    sql`coalesce(level_of_object(${message}.hoofd_object_uuid), (
      select l from unnest(enum_range(null::vertrouwelijkheidaanduiding)) l
      where l::text = ${message}.kenmerken ->> 'vertrouwelijkheidaanduiding'), 'zeer_geheim')`,
  )})`

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
  // Who asks for one object is not told that there is one which he may not see.
  const asked = filter.object === undefined ? sql`true` : isSeen(request, sql`notificatie`)
  return selectMessages(app, request, sql`${matchesFilter(filter)} and ${asked} and ${cursor}`, limit, ascending)
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
    select b.id, b.uuid, b.kanaal, b.resource, b.actie, b.aanmaakdatum, ${isSeen(request, sql`b`)} as is_seen,
      case when ${isSeen(request, sql`b`)} then b.resource_url else '' end as resource_url,
      case when ${isSeen(request, sql`b`)} then b.hoofd_object else '' end as hoofd_object,
      case when l.volgorde = 2 then 'mislukt' when l.volgorde = 1 then 'gepland' when o.ontvangers = 0 then 'geen' else 'afgeleverd' end as status,
      l.next_attempt_at, l.retries, l.bezig,
      coalesce(l.ended_at, case when l.volgorde is null then p.begun_at + p.duration_ms * interval '1 millisecond' end)
        as ended_at,
      coalesce(p.number, 0) as pogingen, p.outcome, p.http_status, p.abonnement_id, l.wacht_op_eerder,
      o.ontvangers, l.mislukt_bij, l.gepland_bij,
      case
        when z.id is not null then jsonb_build_object('path', '/zaken/' || z.uuid, 'name', z.identificatie)
        when d.id is not null then jsonb_build_object('path', '/documenten/' || d.uuid, 'name', d.identificatie)
        when s.id is not null then jsonb_build_object('path', '/besluiten/' || s.uuid, 'name', s.identificatie)
        when t.id is not null then jsonb_build_object('path', '/catalogi/zaaktypen/' || t.uuid, 'name', t.omschrijving)
      end as onderwerp
    from bladzij b
    left join zaak z on z.uuid = b.hoofd_object_uuid and ${visible(request, sql`z.vertrouwelijkheidaanduiding`)}
    left join enkelvoudiginformatieobject d on d.uuid = b.hoofd_object_uuid and ${visible(request, sql`d.vertrouwelijkheidaanduiding`)}
    left join besluit s on s.uuid = b.hoofd_object_uuid
      and exists (select from zaak x where x.id = s.zaak_id and ${visible(request, sql`x.vertrouwelijkheidaanduiding`)})
    left join zaaktype t on t.uuid = b.hoofd_object_uuid
    cross join lateral (
      select max(case status when 'mislukt' then 2 else 1 end) as volgorde, min(next_attempt_at) as next_attempt_at,
        coalesce(max(retries), 0) as retries, max(ended_at) as ended_at,
        coalesce(bool_or(claimed_by is not null), false) as bezig,
        count(*) filter (where status = 'mislukt')::int as mislukt_bij,
        count(*) filter (where status = 'gepland')::int as gepland_bij,
        coalesce(bool_or(status = 'gepland' and next_attempt_at is null), false) as wacht_op_eerder
      from delivery where notificatie_id = b.id) l
    cross join lateral (select count(*)::int as ontvangers from (
      select abonnement_id from delivery where notificatie_id = b.id
      union select abonnement_id from delivery_attempt where notificatie_id = b.id) o) o
    -- The last attempt; where it failed comes first, when it failed anywhere.
    left join lateral (select p.* from delivery_attempt p
      left join delivery m on m.notificatie_id = p.notificatie_id and m.abonnement_id = p.abonnement_id
      where p.notificatie_id = b.id order by (m.status = 'mislukt') is true desc, p.begun_at desc limit 1) p on true
    order by b.aanmaakdatum ${order}, b.id ${order}`.execute(app.read)
  return rows
}

type CauseRow = { cause: string; isExternal: boolean; deliveries: number; messages: number; latest: string | null }
type Cause = CauseRow & { text: string; advice: string; ontvanger: 'extern' | 'abonnementen'; isMore: boolean }

/** Deliveries of one cause are counted up to here, the newest first; so many causes are looked at, and shown. */
const OF_A_CAUSE = 1_000
const CAUSES = 30
const SHOWN = 10

/**
 * Why deliveries of the messages that a filter shows failed, the most frequent cause first, with what to do about each: that differs
 * between the external service and an abonnement. Among which cause and receiver are chosen is not part of the filter here.
 */
export async function readCauses(app: FastifyInstance, filter: NotificatieFilter): Promise<Cause[]> {
  const { oorzaak: _cause, ontvanger: _receiver, status, ...others } = filter
  // What waits somewhere may have failed elsewhere; that all of a message was delivered excludes that some of it failed.
  const ofMessages = { ...others, ...(status && status !== 'mislukt' && { status }) }
  const isAll = Object.keys(ofMessages).length === 0
  // From one cause to the next by the index, so that none is missed however many failed for another. As an interval a cause has to be
  // ordered by, which only that index does: for one that is rare others would be read whole.
  const { rows } = await sql<CauseRow>`
    with recursive cause as (
      (select cause, 1 as n from delivery where status = 'mislukt' and cause is not null order by cause limit 1)
      union all select (select l.cause from delivery l where l.status = 'mislukt' and l.cause > c.cause order by l.cause limit 1), n + 1
      from cause c where c.cause is not null and n < ${CAUSES}::int
    )
    select c.cause, r.* from cause c cross join lateral (
      select l.abonnement_id = ${EXTERNAL} as is_external, count(*)::int as deliveries,
        count(distinct l.notificatie_id)::int as messages, max(l.ended_at) as latest
      from (select l.abonnement_id, l.notificatie_id, l.ended_at from delivery l
        ${isAll ? sql`` : sql`join notificatie on notificatie.id = l.notificatie_id and ${matchesFilter(ofMessages)}`}
        where l.status = 'mislukt' and l.cause between c.cause and c.cause
        order by l.cause desc, l.notificatie_id desc limit ${OF_A_CAUSE + 1}) l
      group by 1) r
    where c.cause is not null order by r.deliveries desc, c.cause limit ${SHOWN}`.execute(app.read)
  return rows.map((row) => ({
    ...row,
    ...causeAt(row.isExternal, row.cause),
    ontvanger: row.isExternal ? 'extern' : 'abonnementen',
    isMore: rows.reduce((sum, { cause, deliveries }) => sum + (cause === row.cause ? deliveries : 0), 0) > OF_A_CAUSE,
  }))
}

/** To whom a message goes or went, and how that stands. */
export type Delivery = {
  abonnementId: number
  /** Of the abonnement; null: the external service, or an abonnement that is not there any more. */
  uuid: string | null
  callbackUrl: string | null
  /** Name of the external service, or of the application of the abonnement. */
  label: string | null
  abonnementStatus: string | null
  /** Until then the receiver is left alone. */
  notBefore: string | null
  /** The message of the same main object that goes before it. */
  behind: string | null
  /** null: there is nothing left to deliver. */
  status: 'gepland' | 'mislukt' | null
  nextAttemptAt: string | null
  retries: number
  bezig: boolean
  /** The attempt that is being made. */
  attempt: number
  begunAt: string | null
  endedAt: string | null
}

const DELIVERIES = 50

/** The receivers of a message, where it failed first; at most so many. */
export async function readDeliveries(app: FastifyInstance, notificatieId: number): Promise<Delivery[]> {
  const { rows } = await sql<Delivery>`
    select o.abonnement_id, a.uuid, a.callback_url, coalesce(p.label, d.label) as label, a.status as abonnement_status,
      coalesce(a.not_before, x.not_before) as not_before, e.uuid as behind, l.status, l.next_attempt_at, coalesce(l.retries, 0) as retries,
      coalesce(l.claimed_by is not null, false) as bezig, coalesce(l.attempt, 0) as attempt, l.begun_at, l.ended_at
    from (select abonnement_id from delivery where notificatie_id = ${notificatieId}
      union select abonnement_id from delivery_attempt where notificatie_id = ${notificatieId}) o
    left join delivery l on l.notificatie_id = ${notificatieId} and l.abonnement_id = o.abonnement_id
    left join abonnement a on a.id = o.abonnement_id and a.deleted_at is null
    left join applicatie p on p.id = a.applicatie_id
    left join notificatie_settings s on o.abonnement_id = ${EXTERNAL}
    left join external_receiver x on o.abonnement_id = ${EXTERNAL}
    left join service d on d.id = s.configured_service_id
    left join lateral (
      select en.uuid from delivery e join notificatie en on en.id = e.notificatie_id
      where e.abonnement_id = o.abonnement_id and e.hoofd_object_uuid = l.hoofd_object_uuid and e.status = 'gepland'
        and e.notificatie_id < l.notificatie_id and not e.aside and not l.aside and coalesce(a.in_order, s.in_order)
      order by e.notificatie_id limit 1) e on l.status = 'gepland'
    order by case l.status when 'mislukt' then 0 when 'gepland' then 1 else 2 end, o.abonnement_id limit ${DELIVERIES}`.execute(
    app.read,
  )
  return rows
}

/** How many deliveries of the messages that fit failed, in the way that the filter means. */
export async function countDeliveries(app: FastifyInstance, filter: NotificatieFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from delivery l join notificatie on notificatie.id = l.notificatie_id
    where ${isMeant(filter)} and ${matchesFilter(filter)}`.execute(app.read)
  return one(rows).count
}

/** How many messages fit, as far as `TOT`; one more means that there are more. */
export async function countUpTo(app: FastifyInstance, filter: NotificatieFilter): Promise<number> {
  const { status, oorzaak, ontvanger, ...others } = filter
  const isOfFailed = (status === 'mislukt' || (!status && (oorzaak || ontvanger))) && Object.keys(others).length === 0
  // What failed is counted along its index, where that alone is asked.
  const found = isOfFailed
    ? sql`select distinct l.notificatie_id from delivery l where ${isMeant(filter)} order by l.notificatie_id`
    : sql`select from notificatie where ${matchesFilter(filter)}`
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (${found} limit ${TOT + 1}) gevonden`.execute(app.read)
  return one(rows).count
}

/** How many messages fit, all of them: for what is about to be sent again. */
export async function countMessages(app: FastifyInstance, filter: NotificatieFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from notificatie where ${matchesFilter(filter)}`.execute(app.read)
  return one(rows).count
}
