// Lines of the log of processing out of what was written of acts: which cases documents belong to, who is involved, and which activity it
// was. For many acts at once that is a twentieth of what it takes in the answer of each, and their cases are indexed together. Lines
// get their numbers here, one process at a time, so that they are delivered in order and blocks do not overlap.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Database } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { openRepeats } from '../telemetry/repeats.ts'

type Options = {
  /** The activity of what has none of its own. */
  activiteit: string
  /** Whether a collector gets the lines. */
  spools: boolean
}

/** The advisory lock of the one process that settles. */
const SETTLER = 7_340_035
/** So many acts, and bytes of them, are settled at once, about. */
const ACTS = 1000
const BYTES = 1_000_000
/** Rows that may hold them: a change has one of its own. */
const ROWS = 1000
/** Who reads the log has so many portions settled before, at most. */
const PORTIONS = 20
const IDLE_MS = 1000
/** So long after it was numbered an act may be committed, and is settled right away; what takes longer, when all is looked at. */
const SLACK_MS = 10_000
const WHOLE_MS = 60_000
const MOST_WAIT_MS = 60_000

/** What a look at the acts that wait came to: whether there are more, and the number up to which none is left that was to be seen. */
type Look = { more: boolean; last: number | null }

/**
 * Settles the oldest acts, in a transaction: other processes that settle wait for its end.
 * @param after only what has a higher number
 */
export async function settlePortion(
  sql: postgres.TransactionSql,
  { activiteit, spools }: Options,
  after = 0,
): Promise<Look> {
  await sql`select pg_advisory_xact_lock(${SETTLER}, hashtext(current_schema()))`
  // Tables of cases are only asked with lists, so that they are looked up in their indexes however many acts the planner expects.
  return one(
    await sql<Look[]>`
    with portion as (
      select max(id) as last_id from (
        select id, sum(lines) over before as lines, sum(octet_length(content)) over before as bytes
        from (select id, lines, content from verwerking_unsettled where id > ${after}::bigint order by id limit ${ROWS}::int) oldest
        window before as (order by id rows between unbounded preceding and 1 preceding)
      ) sums where coalesce(lines, 0) < ${ACTS}::int and coalesce(bytes, 0) < ${BYTES}::int
    ), gone as (
      delete from verwerking_unsettled where id > ${after}::bigint and id <= (select last_id from portion) returning id, at, content
    ), act as materialized (
      select row_number() over () as nr, g.at - make_interval(secs => coalesce(a.age, 0)) as began, a.ms, a.handeling, a.client_id, a.applicatie_weergave,
        a.gebruikers_id, a.gebruikers_weergave, a.request_id, a.trace_id, a.parent_span_id, coalesce(a.zaken, '{}')::uuid[] as zaken,
        coalesce(a.objecten, '{}')::uuid[] as objecten, a.rollen::uuid[] as rollen, a.belongs::uuid[] as belongs, a.persons, a.zaaktype,
        a.is_new
      from (select at, content from gone order by id) g cross join lateral json_to_recordset(g.content::json) as a (
        handeling text, zaken text, objecten text, rollen text, belongs text, persons jsonb, is_new boolean, zaaktype uuid,
        age float8, ms integer, client_id text, applicatie_weergave text, gebruikers_id text, gebruikers_weergave text, trace_id text,
        parent_span_id text, request_id text)
    ), belonging as materialized (
      select e.uuid as object, z.uuid as zaak, zi.registratiedatum as since
      from enkelvoudiginformatieobject e join zaakinformatieobject zi on zi.enkelvoudiginformatieobject_id = e.id join zaak z on z.id = zi.zaak_id
      where e.uuid = any(array(select unnest(belongs) from act where belongs is not null))
      union all select b.uuid, z.uuid, null from besluit b join zaak z on z.id = b.zaak_id
      where b.uuid = any(array(select unnest(belongs) from act where belongs is not null))
    ), touched as materialized (
      select a.nr, coalesce(b.zaken, a.zaken) as zaken, a.is_new, a.began + make_interval(secs => coalesce(a.ms, 0) / 1000.0) as began
      from act a left join (
        select x.nr, array_agg(distinct y.zaak) as zaken
        from act x cross join lateral unnest(x.belongs) o(uuid) join belonging y on y.object = o.uuid
        where x.belongs is not null and (y.since is null or y.since <= x.began + make_interval(secs => coalesce(x.ms, 0) / 1000.0)) group by x.nr
      ) b on b.nr = a.nr
    ), known as materialized (
      select uuid, zaaktype_id from zaak
      where uuid = any(array(select distinct unnest(zaken) from touched where exists (select from verwerkingsactiviteit)))
    ), typed as materialized (
      select uuid, zaaktype_id from known
      union select a.zaken[1], t.id from act a join zaaktype t on t.uuid = a.zaaktype
      where exists (select from verwerkingsactiviteit) and not exists (select from known k where k.uuid = a.zaken[1])
    ), activity as materialized (
      select y.uuid, k.url from typed y join (
        select d.zaaktype_id, (select v.url from zaaktype t
          join verwerkingsactiviteit v on v.catalogus_id = t.catalogus_id and v.zaaktype_identificatie in (t.identificatie, '')
          where t.id = d.zaaktype_id order by v.zaaktype_identificatie desc limit 1) as url
        from (select distinct zaaktype_id from typed) d
      ) k on k.zaaktype_id = y.zaaktype_id
    ), line as materialized (
      select nr as line, nr, null::text as activiteit, zaken, is_new, began from touched where not exists (select from verwerkingsactiviteit)
      union all select row_number() over (order by nr), nr, url, zaken, is_new, began from (
        select t.nr, v.url, coalesce(array_agg(u.uuid) filter (where u.uuid is not null), '{}') as zaken, t.is_new, t.began
        from touched t left join lateral unnest(t.zaken) u(uuid) on true left join activity v on v.uuid = u.uuid
        where exists (select from verwerkingsactiviteit) group by t.nr, v.url, t.is_new, t.began
      ) each_activity
    ), person as materialized (
      select zaak, rol, since, lookup, person from persons_of(
        array(select distinct zaken[1] from line where cardinality(zaken) = 1 and is_new is null),
        array(select distinct unnest(rollen) from act where rollen is not null))
    ), whom as (
      select l.line, p.zaak, p.rol, p.lookup, p.person from line l join person p on p.zaak = l.zaken[1]
      where cardinality(l.zaken) = 1 and l.is_new is null and (p.since is null or p.since <= l.began)
      union all select l.line, p.zaak, p.rol, p.lookup, p.person
      from act a cross join lateral unnest(a.rollen) r(uuid) join person p on p.rol = r.uuid join line l on l.nr = a.nr
      where a.rollen is not null and cardinality(l.zaken) <> 1 and (l.zaken = '{}' or p.zaak = any(l.zaken))
      union all select l.line, null, null, decode(g ->> 'lookup', 'hex'), g -> 'person'
      from act a cross join lateral jsonb_array_elements(a.persons) g join line l on l.nr = a.nr
      where a.persons is not null and (g ->> 'zaak' is null or (g ->> 'zaak')::uuid = any(l.zaken))
    ), concerned as materialized (
      select line, jsonb_agg(jsonb_strip_nulls(person || own) order by lookup) as betrokkenen,
        array_agg(lookup order by lookup) filter (where lookup is not null) as lookups
      from (
        select w.line, lookup, (array_agg(person))[1] as person, case when cardinality(l.zaken) > 1 and count(w.zaak) > 0 then
          jsonb_build_object('zaken', to_jsonb(array_agg(distinct w.zaak)), 'rollen', to_jsonb(array_agg(distinct w.rol))) else '{}' end as own
        from whom w join line l on l.line = w.line
        group by w.line, l.zaken, lookup, case when lookup is null then person end
      ) each_once group by line
    ), verwerkt as (
      insert into verwerking (at, ms, activiteit, handeling, client_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, zaken,
        objecten, betrokkenen, lookups, trace_id, parent_span_id, request_id)
      select a.began, a.ms, coalesce(l.activiteit, ${activiteit}::text), a.handeling, a.client_id, a.applicatie_weergave,
        a.gebruikers_id, a.gebruikers_weergave, l.zaken, a.objecten || a.rollen, c.betrokkenen, c.lookups,
        coalesce(decode(a.trace_id, 'hex'), substring(sha256(convert_to(a.request_id, 'UTF8')) for 16)), decode(a.parent_span_id, 'hex'), a.request_id
      from act a join line l on l.nr = a.nr left join concerned c on c.line = l.line order by l.line
      returning id
    ), block as (
      insert into verwerking_block (first_id, last_id, zaken, objecten, lookups)
      select min(id), max(id), array(select distinct unnest(zaken) from line),
        array(select unnest(objecten) from act where objecten <> '{}' union select unnest(rollen) from act where rollen is not null),
        array(select distinct unnest(lookups) from concerned)
      from verwerkt having count(*) > 0 returning first_id, last_id
    )${spools ? sql`, gespoold as (insert into verwerking_spool select first_id, last_id from block)` : sql``}
    select last_id as last, exists (select from verwerking_unsettled where id > last_id) as more from portion`,
  )
}

/** Settles what waits, for who is about to read the log. */
export async function settleAll({ sql }: Pick<Database, 'sql'>, options: Options): Promise<void> {
  for (let portion = 0; portion < PORTIONS; portion++) if (!(await settleNext(sql, options)).more) return
}

/** In a transaction of its own. To plan the statement anew would take a fifth of it. */
const settleNext = (sql: postgres.Sql, options: Options, after = 0): Promise<Look> =>
  sql.begin(async (trx) => {
    await trx`set local plan_cache_mode = force_generic_plan`
    return settlePortion(trx, options, after)
  })

/**
 * Where a settler begins. An act that was settled leaves a dead entry behind, and while somebody holds an old snapshot (a dump, a copy)
 * whoever begins at the oldest walks over all of them. What a slow transaction wrote is behind, and found when all is looked at.
 */
export function openSettled() {
  let wholeAt = Number.NEGATIVE_INFINITY
  /** How far the look at all is that is under way. */
  let reached = 0
  let seen: { last: number; at: number }[] = []
  return {
    /** Acts with a higher number are looked at. */
    after(now: number): number {
      if (now - wholeAt >= WHOLE_MS) return reached
      const old = seen.filter(({ at }) => at <= now - SLACK_MS)
      seen = seen.slice(Math.max(0, old.length - 1))
      return old.at(-1)?.last ?? 0
    },
    /** @param began when a look began */
    looked(began: number, { more, last }: Look): void {
      reached = more && began - wholeAt >= WHOLE_MS ? (last ?? reached) : 0
      if (!more && began - wholeAt >= WHOLE_MS) wholeAt = began
      if (last !== null) seen.push({ last, at: began })
    },
  }
}

/** Whether acts wait. All numbers that were given are before `last` when none does. */
export async function lookForActs(sql: postgres.Sql, after: number): Promise<Look> {
  const { more, given } = one(
    await sql<{ more: boolean; given: number }[]>`
      select exists (select from verwerking_unsettled where id > ${after}::bigint order by id) as more,
        coalesce(pg_sequence_last_value('verwerking_unsettled_id_seq'), 0) as given`,
  )
  return { more, last: more ? null : given }
}

/** Settles what is written, as long as it runs. @param options undefined while the log is off */
export function startSettling(
  { sql }: Pick<Database, 'sql'>,
  options: Options | undefined,
  log: Logger,
): { stop(): Promise<void> } {
  if (!options) return { stop: async () => {} }
  const repeats = openRepeats(log)
  const stopped = new AbortController()
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => {})
  const settled = openSettled()
  const run = async () => {
    for (let failures = 0; !stopped.signal.aborted; ) {
      try {
        const began = performance.now()
        const after = settled.after(began)
        const waiting = await lookForActs(sql, after)
        const { more, last } = waiting.more ? await settleNext(sql, options, after) : waiting
        settled.looked(began, { more, last })
        failures = 0
        if (!more) await pause(IDLE_MS)
      } catch (error) {
        failures++
        repeats.say('error', { err: error }, 'acts of the log of processing could not be settled: they wait')
        await pause(Math.min(MOST_WAIT_MS, IDLE_MS * 2 ** Math.min(failures, 10)))
      }
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopped.abort()
      await running
    },
  }
}
