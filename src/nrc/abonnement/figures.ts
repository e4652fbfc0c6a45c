// How abonnementen are doing: for the pages and for the metrics. Whatever may be large is counted up to a bound.
import { type RawBuilder, sql } from 'kysely'
import type { ReadDb } from '../../database/database.ts'
import { one } from '../../database/rows.ts'

/** Counts end here; more than this is `COUNTED + 1`. */
export const COUNTED = 10_000

export type Figures = {
  id: number
  uuid: string
  status: string
  reason: string
  statusSince: string
  callbackUrl: string
  authenticatie: string
  applicatie: string | null
  applicatieUuid: string | null
  failures: number
  failingSince: string | null
  notBefore: string | null
  lastOutcome: string | null
  lastHttpStatus: number | null
  lastFaultAt: string | null
  laatstGeluktOp: string | null
  wachtend: number
  oudsteWachtendeOp: string | null
  mislukt: number
}

/** Of abonnementen `a` that are not deleted; @param conditions on `a`, and what follows them */
export async function readFigures(db: ReadDb, conditions: RawBuilder<unknown>): Promise<Figures[]> {
  const { rows } = await sql<Figures>`
    with gekozen as materialized (
      select a.* from abonnement a where a.deleted_at is null and ${conditions}
    )
    select a.id, a.uuid, a.status, a.reason, a.status_since, a.callback_url, a.authenticatie, p.label as applicatie,
      p.uuid as applicatie_uuid, a.failures, a.failing_since, a.not_before, a.last_outcome, a.last_http_status,
      a.last_fault_at, gelukt.begun_at as laatst_gelukt_op, wacht.aantal as wachtend,
      n.aanmaakdatum as oudste_wachtende_op, mislukt.aantal as mislukt
    from gekozen a
    left join applicatie p on p.id = a.applicatie_id
    cross join lateral (
      select count(*)::int as aantal, min(w.notificatie_id) as oudste from (
        select notificatie_id from delivery where abonnement_id = a.id and status = 'gepland'
        order by next_attempt_at, notificatie_id limit ${COUNTED + 1}) w) wacht
    left join notificatie n on n.id = wacht.oudste
    cross join lateral (
      select count(*)::int as aantal from (
        select from delivery where abonnement_id = a.id and status = 'mislukt' limit ${COUNTED + 1}) m) mislukt
    -- Since attempts fail there was no success: it is looked for before that.
    left join lateral (
      select begun_at from delivery_attempt g
      where g.abonnement_id = a.id and g.outcome = 'delivered' and g.begun_at <= coalesce(a.failing_since, now())
      order by g.begun_at desc limit 1) gelukt on true
    order by a.id`.execute(db)
  return rows.map((row) => ({ ...row, reason: reasonOf(row) }))
}

/** Why it has its status. One that lost its applicatie was paused by the database, which has no words. */
export function reasonOf({
  status,
  reason,
  applicatieUuid,
}: Pick<Figures, 'status' | 'reason' | 'applicatieUuid'>): string {
  const isWithout = status === 'gepauzeerd' && reason === '' && applicatieUuid === null
  return isWithout ? 'De applicatie van dit abonnement is verwijderd.' : reason
}

/** An abonnement that asks for attention, worst first; at most so many. */
export async function readAlarms(db: ReadDb, limit: number): Promise<Figures[]> {
  const rows = await readFigures(
    db,
    sql`(a.status in ('geblokkeerd', 'opgezegd') or a.failures > 0
      or exists (select from delivery l where l.abonnement_id = a.id and l.status = 'gepland'
        and l.next_attempt_at < now() - interval '15 minutes'))
      order by a.status in ('actief', 'gepauzeerd'), a.status = 'gepauzeerd', a.failing_since nulls last, a.id limit ${limit}`,
  )
  return rows
}

export type Throughput = { uur: number; uurGelukt: number; dag: number; dagGelukt: number; p50: number; p95: number }

/** Of the last thousand attempts of a day: how many there were, how many were accepted, and how long they took (ms). */
export async function readThroughput(db: ReadDb, abonnementId: number): Promise<Throughput> {
  const { rows } = await sql<Throughput>`
    select count(*) filter (where begun_at > now() - interval '1 hour')::int as uur,
      count(*) filter (where begun_at > now() - interval '1 hour' and outcome = 'delivered')::int as uur_gelukt,
      count(*)::int as dag, count(*) filter (where outcome = 'delivered')::int as dag_gelukt,
      coalesce(percentile_disc(0.5) within group (order by duration_ms) filter (where outcome = 'delivered'), 0) as p50,
      coalesce(percentile_disc(0.95) within group (order by duration_ms) filter (where outcome = 'delivered'), 0) as p95
    from (select * from delivery_attempt
      where abonnement_id = ${abonnementId} and begun_at > now() - interval '1 day'
      order by begun_at desc limit 1000) p`.execute(db)
  return one(rows)
}
