// outbox: what has to be delivered, as rows of table `levering`: writing them, claiming them, and recording what became of
// each. Who sends is in sender.ts, how in deliver.ts.
//
// The states of a delivery. There is one row per message and receiver (an abonnement, or 0: the external notifications
// service), written in the transaction of the change.
// - Due: status `gepland` and `volgende_poging_op` is over. It may be claimed, when its receiver may get anything now.
// - Claimed: `genomen_door` is a worker, `poging` the number of the attempt that it makes. Only that worker records that
//   attempt. When the worker is gone from table `worker`, or holds the claim without knowing it (the answer to the claim was
//   lost), the row is due again: the attempt becomes `lost` in the log, and the next one gets a number of its own. Whoever
//   then still records the lost one is told that it is not his any more.
// - Planned: `gepland` with a moment in the future, after an attempt that failed.
// - Parked: `gepland` without a moment. An earlier message of the same main object to the same receiver is not done. The
//   claim that finds this parks the row, under a share lock on the earlier one: so the earlier one is still there when the
//   parking commits. When the earlier one ends, who recorded that gives the first row of that main object its moment back,
//   in a statement that begins after the recording was committed. A process that dies in between leaves the first row of a
//   main object parked, which `releaseStuck` looks for.
// - Failed: status `mislukt`, all attempts used. Sending it again makes it due.
// - Delivered: the row is gone; the attempt is in `notificatie_poging`.
//
// The statements here are planned each time they run, since the table may go from empty to a million rows within minutes,
// and a portion of messages shares the cost. `openSenderDatabase` sees to that.
import type postgres from 'postgres'
import { type Database, openDatabase } from '../database/database.ts'
import type { FailureKind, RemoteService } from '../services/services.ts'
import type { Herhaling } from './backoff.ts'

export type Outcome = 'delivered' | 'http' | FailureKind

/** The external notifications service, where an abonnement would be. */
export const EXTERNAL = 0

/** After so many failures in a row an abonnement gets one message at a time, until it accepts one. */
export const PROBE_AFTER = 5
const PROBE_FIRST_S = 5
const PROBE_LONGEST_S = 300

/** A claimed delivery, with all that sending takes. */
export type Claimed = Herhaling & {
  notificatieId: number
  abonnementId: number
  hoofdObjectUuid: string
  /** Number of this attempt, over all that were ever made for this message and receiver. */
  poging: number
  herhalingen: number
  replay: boolean
  message: Message
  /** Where to, when the receiver is the external service. */
  dienst: RemoteService | null
  /** Where to, when it is an abonnement. */
  abonnement: Subscriber | null
}

/** A message as it was recorded. */
export type Message = {
  uuid: string
  kanaal: string
  bron: string
  hoofdObject: string
  resource: string
  resourceUrl: string
  actie: string
  aanmaakdatum: string
  kenmerken: Record<string, unknown>
}

/** What sending to an abonnement takes. Secrets are still encrypted. */
export type Subscriber = {
  uuid: string
  callbackUrl: string
  authenticatie: 'header' | 'jwt' | 'oauth2'
  auth: Buffer
  uitgaandClientId: string
  tokenUrl: string
  tokenScope: string
  certificaat: string
  certificaatSleutel: Buffer | null
  ondertekening: Buffer[]
  cloudevents: boolean
  termijnMs: number
}

/** What an attempt came to. */
export type Attempt = {
  outcome: Outcome
  httpStatus: number | null
  /** Start of the body of the answer. */
  answer: string | null
  ms: number
  /** Seconds that the receiver asked to be left alone. */
  retryAfter?: number
}

/** `wait`: seconds until the next attempt; null: there is none. */
export type Ended = Attempt & {
  notificatieId: number
  abonnementId: number
  poging: number
  wait: number | null
}

/** The main object of a delivery that ended, to this receiver: the next message of it may go. */
export type Released = { abonnementId: number; hoofdObjectUuid: string }

export type ClaimOptions = {
  /** Id of the worker in table `worker`; 0: none, for whoever sends without being registered. */
  worker: number
  /** How many of the external service, and how many in all. */
  external: number
  total: number
  /** Everything that this process has in hand: per delivery its message and receiver. */
  busy: { notificatieId: number; abonnementId: number }[]
  /** What ended since the last call. */
  released: Released[]
}

/** Opens the connections of a sender. What a crash of the database undoes of its writes is done again: nobody waits for the disk. */
export function openSenderDatabase(url: string): Database {
  return openDatabase(url, {
    max: 5,
    name: 'notificaties',
    prepare: false,
    settings: { synchronous_commit: 'off' },
  })
}

/**
 * Claims deliveries that are due, fairly between the receivers: of each the one that is due longest, then of each the next.
 * @returns what to send, and how many rows were looked at: more may follow when there were any
 */
export async function claim({ sql }: Database, options: ClaimOptions): Promise<{ found: number; claimed: Claimed[] }> {
  const { worker, external, total, busy, released } = options
  type Row = Herhaling & {
    notificatieId: number
    abonnementId: number
    hoofdObjectUuid: string
    poging: number | null
    herhalingen: number
    replay: boolean
    message: Message
    dienst: (Omit<RemoteService, 'geheim'> & { geheim: string | null }) | null
    abonnement: SealedAsText | null
  }
  const rows = await sql<Row[]>`
    with bezig as materialized (
      select * from unnest(${busy.map((one) => one.notificatieId)}::bigint[], ${busy.map((one) => one.abonnementId)}::bigint[])
        as b(notificatie_id, abonnement_id)
    ), vrij as (
      update levering l set volgende_poging_op = now()
      from unnest(${released.map((one) => one.abonnementId)}::bigint[], ${released.map((one) => one.hoofdObjectUuid)}::uuid[])
        as v(abonnement_id, hoofd_object_uuid)
      cross join lateral (
        select notificatie_id, volgende_poging_op from levering e
        where e.abonnement_id = v.abonnement_id and e.hoofd_object_uuid = v.hoofd_object_uuid and e.status = 'gepland'
        order by e.notificatie_id limit 1) eerste
      where eerste.volgende_poging_op is null and l.notificatie_id = eerste.notificatie_id
        and l.abonnement_id = v.abonnement_id and l.volgende_poging_op is null and l.status = 'gepland'
    ), ontvanger as materialized (
      select ${EXTERNAL}::bigint as id, ${external}::bigint as ruimte, i.op_volgorde
      from notificatie_instelling i where i.dienst_id is not null
      union all
      select a.id, case when a.fouten >= ${PROBE_AFTER} then 1 else a.gelijktijdig end
          - (select count(*) from bezig b where b.abonnement_id = a.id), a.op_volgorde
      from abonnement a
      where a.status = 'actief' and a.verwijderd_op is null and (a.niet_voor is null or a.niet_voor <= now())
    ), kandidaat as materialized (
      select l.*, o.op_volgorde, row_number() over (partition by o.id order by l.volgende_poging_op, l.notificatie_id) as beurt
      from ontvanger o
      cross join lateral (
        select * from levering l
        where l.abonnement_id = o.id and l.status = 'gepland' and l.volgende_poging_op <= now()
          and (l.genomen_door is null
            or l.genomen_door = ${worker} and not exists (
              select from bezig b where b.notificatie_id = l.notificatie_id and b.abonnement_id = l.abonnement_id)
            or not exists (select from worker w where w.id = l.genomen_door) and l.genomen_door <> ${worker})
        order by l.volgende_poging_op, l.notificatie_id
        limit greatest(o.ruimte, 0)
        for update skip locked
      ) l
      where ${worker} = 0 or exists (select from worker w where w.id = ${worker})
    ), beoordeeld as materialized (
      select k.*, eerder.notificatie_id as eerder, n.id is not null as bestaat
      from (select * from kandidaat order by beurt, volgende_poging_op limit ${total}) k
      left join lateral (
        select e.notificatie_id from levering e
        where k.op_volgorde and e.abonnement_id = k.abonnement_id and e.hoofd_object_uuid = k.hoofd_object_uuid
          and e.status = 'gepland' and e.notificatie_id < k.notificatie_id
        order by e.notificatie_id limit 1) eerder on true
      left join lateral (select id from notificatie n where n.id = k.notificatie_id limit 1) n on true
    ), vast as materialized (
      select e.abonnement_id, e.notificatie_id from levering e
      where (e.abonnement_id, e.notificatie_id) in (select abonnement_id, eerder from beoordeeld where eerder is not null)
        and e.status = 'gepland'
      for share skip locked
    ), geparkeerd as (
      update levering l set volgende_poging_op = null
      from beoordeeld b join vast v on v.abonnement_id = b.abonnement_id and v.notificatie_id = b.eerder
      where l.notificatie_id = b.notificatie_id and l.abonnement_id = b.abonnement_id
    ), wezen as (
      delete from levering l using beoordeeld b
      where not b.bestaat and l.notificatie_id = b.notificatie_id and l.abonnement_id = b.abonnement_id
    ), verloren as (
      insert into notificatie_poging (notificatie_id, abonnement_id, nummer, begonnen_op, uitkomst)
      select notificatie_id, abonnement_id, poging, coalesce(begonnen_op, now()), 'lost' from beoordeeld
      where genomen_door is not null and eerder is null and bestaat
      on conflict do nothing
    ), genomen as (
      update levering l set genomen_door = ${worker}, poging = l.poging + 1, begonnen_op = clock_timestamp()
      from beoordeeld b
      where b.eerder is null and b.bestaat and l.notificatie_id = b.notificatie_id and l.abonnement_id = b.abonnement_id
      returning l.notificatie_id, l.abonnement_id, l.poging
    )
    select b.notificatie_id as "notificatieId", b.abonnement_id as "abonnementId", b.hoofd_object_uuid as "hoofdObjectUuid",
      g.poging, b.herhalingen, b.replay,
      jsonb_build_object('uuid', n.uuid, 'kanaal', n.kanaal, 'hoofdObject', n.hoofd_object, 'resource', n.resource,
        'resourceUrl', n.resource_url, 'actie', n.actie, 'bron', n.bron, 'aanmaakdatum', ${momentText(sql)},
        'kenmerken', n.kenmerken) as message,
      i.max_retries as "maxRetries", i.backoff, i.backoff_max as "backoffMax", i.base_factor as "baseFactor",
      case when d.id is not null then jsonb_build_object('uuid', d.uuid, 'apiRoot', d.api_root,
        'authenticatie', d.authenticatie, 'clientId', d.client_id, 'header', d.header, 'geheim', encode(d.geheim, 'base64'),
        'gebruikersId', d.gebruikers_id, 'gebruikersWeergave', d.gebruikers_weergave, 'termijnMs', d.termijn_ms) end as dienst,
      case when a.id is not null then jsonb_build_object('uuid', a.uuid, 'callbackUrl', a.callback_url,
        'authenticatie', a.authenticatie, 'auth', encode(a.auth, 'base64'), 'uitgaandClientId', a.uitgaand_client_id,
        'tokenUrl', a.token_url, 'tokenScope', a.token_scope, 'certificaat', a.certificaat,
        'certificaatSleutel', encode(a.certificaat_sleutel, 'base64'),
        'ondertekening', array(select encode(s, 'base64') from unnest(a.ondertekening) s),
        'cloudevents', a.cloudevents, 'termijnMs', a.termijn_ms) end as abonnement
    from beoordeeld b
    cross join notificatie_instelling i
    left join genomen g on g.notificatie_id = b.notificatie_id and g.abonnement_id = b.abonnement_id
    left join lateral (select * from notificatie n where n.id = b.notificatie_id limit 1) n on true
    left join dienst d on b.abonnement_id = ${EXTERNAL} and d.id = i.dienst_id
    left join abonnement a on a.id = b.abonnement_id
    order by b.notificatie_id`
  return {
    found: rows.length,
    claimed: rows.flatMap(({ poging, dienst, abonnement, ...row }) =>
      poging === null
        ? []
        : [
            {
              ...row,
              poging,
              dienst: dienst && { ...dienst, geheim: bytes(dienst.geheim) },
              abonnement: abonnement && opened(abonnement),
            },
          ],
    ),
  }
}

// As the driver gives a moment elsewhere: with all its digits and Z.
const momentText = (sql: postgres.Sql) =>
  sql`coalesce(n.aanmaakdatum_tekst, replace(rtrim(to_char(n.aanmaakdatum at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0') || 'Z', '.Z', 'Z'))`

type SealedAsText = Omit<Subscriber, 'auth' | 'certificaatSleutel' | 'ondertekening'> & {
  auth: string
  certificaatSleutel: string | null
  ondertekening: string[]
}

const bytes = (text: string | null) => (text === null ? null : Buffer.from(text, 'base64'))

function opened({ auth, certificaatSleutel, ondertekening, ...others }: SealedAsText): Subscriber {
  return {
    ...others,
    auth: bytes(auth)!,
    certificaatSleutel: bytes(certificaatSleutel),
    ondertekening: ondertekening.map((one) => bytes(one)!),
  }
}

/**
 * Records attempts that ended: the delivery goes, is planned again or has failed, and the abonnement is known to be well or not.
 * @returns for each whether it was still the caller's; otherwise another worker found it lost and has made its own
 */
export async function record({ sql }: Database, ended: Ended[]): Promise<boolean[]> {
  const column = <K extends keyof Ended>(name: K) => ended.map((one) => one[name] ?? null)
  const rows = await sql<{ plaats: number }[]>`
    with uit as materialized (
      select * from unnest(${column('notificatieId')}::bigint[], ${column('abonnementId')}::bigint[],
        ${column('poging')}::integer[], ${column('outcome')}::text[], ${column('httpStatus')}::integer[],
        ${column('answer')}::text[], ${column('ms')}::integer[], ${column('wait')}::float8[], ${column('retryAfter')}::float8[])
        with ordinality as u(notificatie_id, abonnement_id, poging, uitkomst, http_status, antwoord, duur_ms, wacht,
          met_rust, plaats)
    ), bezorgd as (
      delete from levering l using uit u
      where u.uitkomst = 'delivered' and l.notificatie_id = u.notificatie_id and l.abonnement_id = u.abonnement_id
        and l.poging = u.poging and l.genomen_door is not null
      returning u.plaats, l.begonnen_op
    ), anders as (
      update levering l set
        status = case when u.wacht is null then 'mislukt' else 'gepland' end,
        volgende_poging_op = clock_timestamp() + u.wacht * interval '1 second',
        beeindigd_op = case when u.wacht is null then clock_timestamp() end,
        herhalingen = l.herhalingen + case when u.wacht is null then 0 else 1 end,
        genomen_door = null
      from uit u
      where u.uitkomst <> 'delivered' and l.notificatie_id = u.notificatie_id and l.abonnement_id = u.abonnement_id
        and l.poging = u.poging and l.genomen_door is not null
      returning u.plaats, l.begonnen_op
    ), onze as materialized (
      select u.*, o.begonnen_op from (select * from bezorgd union all select * from anders) o join uit u using (plaats)
    ), genoteerd as (
      insert into notificatie_poging (notificatie_id, abonnement_id, nummer, begonnen_op, duur_ms, uitkomst, http_status, antwoord)
      select notificatie_id, abonnement_id, poging, begonnen_op, duur_ms, uitkomst, http_status, antwoord from onze
      on conflict do nothing
    ), goed as (
      update abonnement a set fouten = 0, storing_sinds = null, niet_voor = null, laatste_uitkomst = null,
        laatste_http_status = null
      from (select distinct abonnement_id from onze where uitkomst = 'delivered') o
      where a.id = o.abonnement_id and (a.fouten > 0 or a.niet_voor is not null)
    ), fout as (
      update abonnement a set fouten = a.fouten + o.aantal, storing_sinds = coalesce(a.storing_sinds, now()),
        laatste_uitkomst = o.uitkomst, laatste_http_status = o.http_status,
        niet_voor = greatest(a.niet_voor, now() + o.met_rust * interval '1 second',
          case when a.fouten + o.aantal >= ${PROBE_AFTER} then now() + interval '1 second'
            * least(${PROBE_LONGEST_S}, ${PROBE_FIRST_S} * 2 ^ least(a.fouten + o.aantal - ${PROBE_AFTER}, 20)) end),
        status = case when o.opgezegd and a.status = 'actief' then 'opgezegd' else a.status end,
        reden = case when o.opgezegd and a.status = 'actief' then 'De ontvanger heeft opgezegd (antwoord 410).' else a.reden end,
        status_sinds = case when o.opgezegd and a.status = 'actief' then now() else a.status_sinds end
      from (
        select abonnement_id, count(*)::integer as aantal, max(met_rust) as met_rust, bool_or(http_status = 410) as opgezegd,
          (array_agg(uitkomst order by plaats desc))[1] as uitkomst,
          (array_agg(http_status order by plaats desc))[1] as http_status
        from onze group by abonnement_id having bool_and(uitkomst <> 'delivered')
      ) o
      where a.id = o.abonnement_id
    )
    select plaats::integer from onze`
  const ours = new Set(rows.map(({ plaats }) => plaats))
  return ended.map((_, index) => ours.has(index + 1))
}

/**
 * The end of a statement that records messages: what has to be delivered of the rows of its part `bericht` (id, kanaal,
 * hoofd_object_uuid, resource, actie, kenmerken), and a word to the sender when that sleeps. Who subscribes at this moment
 * gets the message, whatever changes later.
 */
export const planDeliveries = (sql: postgres.Sql | postgres.TransactionSql) => sql`
  , geleverd as (
    insert into levering (notificatie_id, abonnement_id, hoofd_object_uuid)
    select b.id, ${EXTERNAL}::bigint, b.hoofd_object_uuid
    from bericht b cross join notificatie_instelling i where i.modus <> 'ingebouwd'
    union all
    select distinct b.id, a.id, b.hoofd_object_uuid
    from notificatie_instelling i cross join bericht b
    join kanaal k on k.naam = b.kanaal
    join abonnement_kanaal ak on ak.kanaal_id = k.id
    join abonnement a on a.id = ak.abonnement_id and a.status in ('actief', 'gepauzeerd') and a.verwijderd_op is null
    where i.modus <> 'extern' and filters_passen(ak.filters, b.kenmerken, b.resource, b.actie)
    returning notificatie_id
  )
  select wek_zender() from geleverd limit 1`

const PORTION = 1000

/**
 * Makes due what is parked although nothing holds it up: the first message of a main object, left by a process that died, and
 * everything for a receiver that no longer wants messages in order.
 * @returns how many; call it again when it was not 0
 */
export async function releaseStuck({ sql }: Database): Promise<number> {
  const rows = await sql`
    update levering l set volgende_poging_op = now()
    from (
      select notificatie_id, abonnement_id from (
        select distinct on (abonnement_id, hoofd_object_uuid) notificatie_id, abonnement_id, volgende_poging_op
        from levering where status = 'gepland' order by abonnement_id, hoofd_object_uuid, notificatie_id
      ) eerste where volgende_poging_op is null
      union
      (select l.notificatie_id, l.abonnement_id from levering l
        where l.status = 'gepland' and l.volgende_poging_op is null and not case l.abonnement_id
          when ${EXTERNAL} then (select op_volgorde from notificatie_instelling)
          else coalesce((select op_volgorde from abonnement a where a.id = l.abonnement_id), true) end
        limit ${PORTION})
      limit ${PORTION}
    ) los
    where l.notificatie_id = los.notificatie_id and l.abonnement_id = los.abonnement_id
      and l.status = 'gepland' and l.volgende_poging_op is null
    returning l.notificatie_id`
  return rows.length
}

/** The condition on `levering l` that its receiver may get something, and from when: in the future after a failure. */
const receiverMoment = (sql: postgres.Sql) => sql`
  case when l.abonnement_id = ${EXTERNAL} then (select case when i.dienst_id is not null then '-infinity'::timestamptz end
      from notificatie_instelling i)
    else (select coalesce(a.niet_voor, '-infinity') from abonnement a
      where a.id = l.abonnement_id and a.status = 'actief' and a.verwijderd_op is null) end`

/** Plans the next look, at the moment that the next delivery is due: a job that wakes a sender. */
export async function planNextLook({ sql }: Database): Promise<void> {
  await sql`
    select graphile_worker.add_job('verstuur-notificaties', job_key => 'verstuur-notificaties:later', run_at => straks)
    from (
      select min(greatest(l.volgende_poging_op, ${receiverMoment(sql)})) as straks
      from (select distinct abonnement_id from levering where status = 'gepland') o
      cross join lateral (
        select * from levering l
        where l.abonnement_id = o.abonnement_id and l.status = 'gepland' and l.genomen_door is null
          and l.volgende_poging_op is not null
        order by l.volgende_poging_op, l.notificatie_id limit 1) l
      where ${receiverMoment(sql)} is not null
    ) x where straks is not null`
}

const OVERDUE_S = 3

/**
 * Wakes a sender when something is due for a while and nobody has it: the sender that should look is frozen, or its job
 * vanished. Every worker does this every few seconds.
 */
export async function wakeOverdue(sql: postgres.Sql): Promise<void> {
  await sql`
    select graphile_worker.add_job('verstuur-notificaties', job_key => 'verstuur-notificaties')
    where exists (
      select from (select id from abonnement where status = 'actief' union all select ${EXTERNAL}) o(id)
      cross join lateral (
        select * from levering l
        where l.abonnement_id = o.id and l.status = 'gepland' and l.volgende_poging_op < now() - ${OVERDUE_S} * interval '1 second'
          and (l.genomen_door is null or not exists (select from worker w where w.id = l.genomen_door))
        order by l.volgende_poging_op limit 1) l
      where ${receiverMoment(sql)} < now() - ${OVERDUE_S} * interval '1 second')`
}
