// The log of processing, by the standard Logboek Dataverwerkingen (Logius): a line for each act that touches a case or a person.
// Changes write theirs in their own transaction, in the statement of their records. Reads gather theirs here after the answer, and they
// are written some milliseconds later, many at once. What the collector has to get is spooled beside the line
// (operations/export-verwerkingen.ts sends it). Off unless LOGBOEK_DATAVERWERKINGEN is on.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { type Numbers, SEARCHED, type Searched } from '../lib/numbers.ts'
import { isUuid, NIL } from '../lib/uuid.ts'
import { withoutNumbers } from '../telemetry/log.ts'
import { verwerkingenLost, verwerkingenMost } from '../telemetry/metrics.ts'
import { openRepeats } from '../telemetry/repeats.ts'
import { currentRequestId, currentTrace, type Trace } from '../telemetry/request-id.ts'
import type { Actor, Component } from './actor.ts'

type Sql = postgres.Sql | postgres.TransactionSql

/** How lines are written. */
export type LogOptions = {
  /** The activity of what has none of its own. */
  activiteit: string
  /** Whether a collector gets them. */
  spools: boolean
}

/** Undefined while the log is off. */
export const logOptionsOf = ({
  logboekDataverwerkingen,
  logboekActiviteit,
  logboekEndpoint,
}: Config): LogOptions | undefined =>
  logboekDataverwerkingen && logboekActiviteit
    ? { activiteit: logboekActiviteit, spools: logboekEndpoint !== undefined }
    : undefined

/** A change, as far as its line needs it. */
type Told = {
  component: Component
  resource: string
  uuid: string
  hoofdobject?: { uuid: string }
  oud: unknown
  nieuw: unknown
}

const LOGGED: ReadonlySet<string> = new Set(['zrc', 'drc', 'brc'])
/** Whether a change has a line: it touches a case, a document or a besluit. */
export const isLogged = ({ component }: Pick<Told, 'component'>): boolean => LOGGED.has(component)

/** In the place of cases: all of them, as in a snapshot. */
export const ALL_ZAKEN = NIL

/** Somebody whom an act was about, by one of his numbers. `zaak`: as one of this case. */
export type Concerned = { zaak?: string; lookup?: string; person: Partial<Record<Searched, unknown>> }

/** Whom what is said of a rol, or of an object of a case, is about. */
function concernedIn(numbers: Numbers, said: unknown): Concerned[] {
  const { betrokkeneIdentificatie, objectIdentificatie } = (said ?? {}) as Record<string, unknown>
  const who = (betrokkeneIdentificatie ?? objectIdentificatie ?? {}) as Record<Searched, unknown>
  const given = SEARCHED.filter((member) => typeof who[member] === 'string' && who[member] !== '')
  const [first] = given
  if (!first) return []
  const person = Object.fromEntries(given.map((member) => [member, who[member]]))
  return [{ lookup: numbers.lookup(first, String(who[first])).toString('hex'), person }]
}

const OF_PERSONS = new Set(['rol', 'zaakobject'])

/** Whom these changes are about, beside those who are involved in the case now. */
const concernedBy = (numbers: Numbers, changes: readonly Told[]) =>
  changes.flatMap(({ resource, oud, nieuw, uuid, hoofdobject }) =>
    OF_PERSONS.has(resource)
      ? [oud, nieuw].flatMap((said) =>
          concernedIn(numbers, said).map((found) => ({ zaak: hoofdobject?.uuid ?? uuid, ...found })),
        )
      : [],
  )

/** Those who are involved in these cases, for a change after which they are not any more. */
export async function involvedIn(sql: Sql, zaken: readonly string[]): Promise<Concerned[]> {
  const rows = await sql<{ zaak: string; betrokkenen: Concerned['person'][] | null; lookups: string[] | null }[]>`
    select z as zaak, p.betrokkenen, array(select encode(l, 'hex') from unnest(p.lookups) l) as lookups
    from unnest(${[...zaken]}::uuid[]) z, persons_of(array[z], '{}', '[]') p`
  return rows.flatMap(({ zaak, betrokkenen, lookups }) =>
    (betrokkenen ?? []).map((person, place) => {
      const lookup = lookups?.[place]
      return { zaak, person, ...(lookup !== undefined && { lookup }) }
    }),
  )
}

/** What a line says of a name: never a number of a person, which a token of a citizen may hold. */
const nameOf = (text: string) => withoutNumbers(text)
const bytesOf = (hex: string | undefined) => (hex === undefined ? null : `\\x${hex}`)

/**
 * Parts of a WITH that write the lines of the changes in its part `wijziging`, one for each case, document or besluit.
 * @param more who is concerned beside those whom the changes tell
 * @param isNew the one change makes its main object, so that nobody is involved yet
 */
export function loggedChanges(
  sql: Sql,
  actor: Actor,
  { activiteit, spools }: LogOptions,
  numbers: Numbers,
  changes: readonly Told[],
  more: readonly Concerned[] = [],
  isNew = false,
) {
  const concerned = [...more, ...concernedBy(numbers, changes)]
  const { traceId, parentSpanId } = currentTrace()
  const given = numbers.seal(JSON.stringify(concerned))
  return sql`, verwerkt as (
      insert into verwerking (activiteit, handeling, client_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, zaken, objecten,
        betrokkenen, lookups, trace_id, parent_span_id, request_id)
      select coalesce(case when exists (select from verwerkingsactiviteit) then activiteit_of(z.zaken[1],
          (${JSON.stringify(typesOf(changes))}::text::jsonb ->> g.uuid::text)::uuid) end, ${activiteit}::text),
        g.handeling, ${actor.clientId}::text, ${actor.applicatieLabel}::text, ${nameOf(actor.userId)}::text, ${nameOf(actor.userRepresentation)}::text,
        z.zaken, case g.bron when 'zrc' then coalesce(g.objecten, '{}') else array_append(array_remove(g.objecten, g.uuid), g.uuid) end, p.betrokkenen, p.lookups, ${bytesOf(traceId)}::text::bytea, ${bytesOf(parentSpanId)}::text::bytea,
        ${currentRequestId()}::text
      from ${isNew ? alone(sql) : together(sql)} g
      cross join lateral (select ${isNew ? sql`case g.bron when 'zrc' then array[g.uuid] else '{}' end` : sql`case g.bron when 'zrc' then array[g.uuid] else zaken_with(array[g.uuid]) end`} as zaken) z
      cross join lateral ${isNew && concerned.length === 0 ? sql`(select null::jsonb as betrokkenen, null::bytea[] as lookups)` : sql`persons_of(z.zaken, '{}', ${given}::text::jsonb)`} p
      returning id
    )${spools ? sql`, gespoold as (insert into verwerking_spool select id from verwerkt)` : sql``}`
}

/** The one change that makes its main object: what it is, without what adding several up costs. */
const alone = (sql: Sql) => sql`(
  select bron, hoofd_object_uuid as uuid, actie || ' ' || resource as handeling,
    case when bron <> 'zrc' then array[hoofd_object_uuid] end as objecten
  from wijziging where bron in ('zrc', 'drc', 'brc'))`

/** Changes by their main object. */
const together = (sql: Sql) => sql`(
  select bron, hoofd_object_uuid as uuid, string_agg(distinct actie || ' ' || resource, ', ') as handeling,
    array_agg(distinct resource_uuid) filter (where bron <> 'zrc' or resource <> 'zaak') as objecten
  from wijziging where bron in ('zrc', 'drc', 'brc') group by bron, hoofd_object_uuid)`

/** The zaaktypen of cases that these changes make or remove, by the uuid of the case: of these there may be no row. */
function typesOf(changes: readonly Told[]): Record<string, string> {
  const found = changes.flatMap(({ resource, uuid, oud, nieuw }) => {
    const { zaaktype } = (nieuw ?? oud ?? {}) as { zaaktype?: unknown }
    const type = String(zaaktype ?? '').slice(-36)
    return resource === 'zaak' && isUuid(type) ? [[uuid, type]] : []
  })
  return Object.fromEntries(found)
}

/** A read: what it showed, to whom. */
export type Act = {
  /** When it began and ended, by `performance.now()`. */
  began: number
  ended: number
  handeling: string
  actor: Pick<Actor, 'clientId' | 'applicatieLabel' | 'userId' | 'userRepresentation'>
  zaken: string[]
  objecten: string[]
  rollen: string[]
  persons: Concerned[]
  trace: Trace
  requestId: string
}

export type Acts = {
  add(act: Act): void
  /** Waits until there is room for more. */
  room(): Promise<void>
  /** As many lines wait for the collector as may: nothing is shown or changed until some are delivered. */
  readonly isFull: boolean
  /** Writes what is left. */
  close(): Promise<void>
}

/** So long lines of reads wait for others. */
const GATHER_MS = 20
/** Acts and uuids in them that are held; beyond it reads wait. */
const MOST_HELD = 50_000
const AT_ONCE = 10_000
const LOOK_MS = 5_000
const CLOSE_MS = 5_000
const weightOf = ({ zaken, objecten, rollen }: Act) => 1 + zaken.length + objecten.length + rollen.length

/** Gathers reads and writes them. Nothing is dropped while the database is away: reads wait. */
export function openActs(database: Database, config: Config, log: Logger): Acts {
  const repeats = openRepeats(log)
  let waiting: Act[] = []
  let held = 0
  let writing: Promise<void> | undefined
  let isClosing = false
  let isFull = false
  const write = async () => {
    for (let failures = 0; waiting.length > 0; ) {
      let weight = 0
      const end = waiting.findIndex((act) => {
        weight += weightOf(act)
        return weight > AT_ONCE
      })
      const some = waiting.slice(0, end <= 0 ? (end < 0 ? waiting.length : 1) : end)
      try {
        const options = logOptionsOf(config)
        if (options) await writeActs(database, options, some)
        waiting = waiting.slice(some.length)
        held -= some.reduce((sum, act) => sum + weightOf(act), 0)
        failures = 0
      } catch (error) {
        repeats.say('error', { err: error, waiting: waiting.length }, 'the log of processing could not be written')
        failures++
        await sleep(Math.min(2000, 50 * 2 ** failures), undefined, { ref: isClosing })
      }
    }
  }
  const begin = async () => {
    if (!isClosing) await sleep(GATHER_MS)
    await write()
    writing = undefined
  }
  const look = async () => {
    const { waiting: lines } = await spoolOf(database.sql)
    isFull = lines >= config.logboekSpoolMost
    if (isFull)
      repeats.say(
        'error',
        { lines },
        'as many lines of the log of processing wait for the collector as may: requests are refused',
      )
  }
  const looks = () => void look().catch((error) => log.debug({ err: error }, 'the spool was not looked at'))
  const timer = setInterval(looks, LOOK_MS).unref()
  looks()
  verwerkingenMost.set(config.logboekSpoolMost)
  return {
    add: (act) => {
      waiting.push(act)
      held += weightOf(act)
      writing ??= begin()
    },
    room: async () => {
      while (held >= MOST_HELD && writing) await writing
    },
    get isFull() {
      return isFull
    },
    close: async () => {
      isClosing = true
      clearInterval(timer)
      const late = new AbortController()
      await Promise.race([writing, sleep(CLOSE_MS, undefined, { signal: late.signal }).catch(() => {})])
      late.abort()
      if (waiting.length === 0) return
      verwerkingenLost.inc(waiting.length)
      log.error({ lines: waiting.length }, 'lines of the log of processing are lost: the database was away at the end')
      waiting = []
    },
  }
}

/** Lines that wait for the collector, about, and since when. */
export async function spoolOf(sql: Sql): Promise<{ waiting: number; seconds: number }> {
  // Delivered in their order: so many at most lie between the first and the last.
  return one(
    await sql<{ waiting: number; seconds: number }[]>`
      select coalesce(last - first + 1, 0)::float8 as waiting,
        coalesce(extract(epoch from now() - (select at from verwerking where id = first)), 0)::float8 as seconds
      from (select (select min(id) from verwerking_spool) as first, (select max(id) from verwerking_spool) as last) ends`,
  )
}

/** Writes a line for each act and each activity in it. */
export async function writeActs(
  { sql, numbers }: { sql: Sql; numbers: Numbers },
  { activiteit, spools }: LogOptions,
  acts: readonly Act[],
): Promise<void> {
  const now = performance.now()
  const rows = acts.map(({ began, ended, actor, trace, persons, requestId, ...act }) => ({
    ...act,
    age: (now - began) / 1000,
    ms: Math.round(ended - began),
    client_id: actor.clientId,
    applicatie_weergave: actor.applicatieLabel,
    gebruikers_id: nameOf(actor.userId),
    gebruikers_weergave: nameOf(actor.userRepresentation),
    persons,
    trace_id: bytesOf(trace.traceId),
    parent_span_id: bytesOf(trace.parentSpanId),
    request_id: requestId,
  }))
  await sql`
    with act as materialized (
      select * from jsonb_to_recordset(${numbers.seal(JSON.stringify(rows))}::text::jsonb) as (
        handeling text, zaken uuid[], objecten uuid[], rollen uuid[], age float8, ms integer, client_id text, applicatie_weergave text,
        gebruikers_id text, gebruikers_weergave text, persons jsonb, trace_id text, parent_span_id text, request_id text)
    ), found as materialized (
      select a.*, g.activiteit, g.zaken as cases,
        cardinality(g.zaken) = 1 or cardinality(a.rollen) > 0 or a.persons <> '[]' as has_persons
      from act a cross join lateral (
        select case when exists (select from verwerkingsactiviteit) then activiteit_of(zaak, null) end as activiteit,
          coalesce(array_agg(zaak) filter (where zaak is not null), '{}') as zaken
        from unnest(coalesce(nullif(case when cardinality(a.zaken) = 0 and cardinality(a.objecten) between 1 and 5
          then zaken_with(a.objecten) else a.zaken end, '{}'), array[null]::uuid[])) zaak group by 1
      ) g
    ), verwerkt as (
      insert into verwerking (at, ms, activiteit, handeling, client_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, zaken,
        objecten, betrokkenen, lookups, trace_id, parent_span_id, request_id)
      select clock_timestamp() - make_interval(secs => age), ms, coalesce(activiteit, ${activiteit}::text), handeling, client_id,
        applicatie_weergave, gebruikers_id, gebruikers_weergave, cases, objecten || rollen, betrokkenen, lookups, trace_id::bytea,
        parent_span_id::bytea, request_id
      from (
        select f.*, p.betrokkenen, p.lookups from found f cross join lateral persons_of(f.cases, f.rollen, f.persons) p where f.has_persons
        union all select f.*, null, null from found f where not f.has_persons
      ) lines
      returning id
    )${spools ? sql`, gespoold as (insert into verwerking_spool select id from verwerkt)` : sql``} select`
}
