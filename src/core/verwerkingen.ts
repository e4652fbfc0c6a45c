// The log of processing, by the standard Logboek Dataverwerkingen (Logius): a line for each act that touches a case or a person.
// Changes write theirs in their own transaction, in the statement of their records. Reads gather theirs here after the answer, and they
// are written some milliseconds later, many at once. What an act was about beside what it says itself is found out by a worker
// (settle-verwerkingen.ts), and another sends it to the collector (operations/export-verwerkingen.ts). Off unless
// LOGBOEK_DATAVERWERKINGEN is on.
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
import { settleAll } from './settle-verwerkingen.ts'

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
  actie: string
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
  const rows = await sql<{ zaak: string; lookup: string | null; person: Concerned['person'] }[]>`
    select zaak, encode(lookup, 'hex') as lookup, person from persons_of(${[...zaken]}::uuid[], '{}')`
  return rows.map(({ lookup, ...found }) => ({ ...found, ...(lookup !== null && { lookup }) }))
}

/** An act as it is written, until it is settled: what is not said is empty. Members in the spelling of columns are those of its line. */
type Unsettled = {
  handeling: string
  zaken?: string | undefined
  objecten?: string | undefined
  rollen?: string | undefined
  /** Documents and besluiten: the cases that they belong to are those of the act. */
  belongs?: string | undefined
  persons?: readonly Concerned[] | undefined
  /** It made the case, and nothing else: nobody was involved yet. */
  is_new?: true | undefined
  /** Of a case that may be gone. */
  zaaktype?: string | undefined
  ms: number
} & Who

/** uuids as an array of the database. */
const arrayOf = (uuids: readonly string[]) => (uuids.length > 0 ? `{${uuids.join()}}` : undefined)

const someOf = <T>(list: readonly T[]) => (list.length > 0 ? list : undefined)

type Who = ReturnType<typeof whoOf>
const whoOf = (
  { clientId, applicatieLabel, userId, userRepresentation }: Act['actor'],
  trace: Trace | undefined,
  requestId: string,
) => ({
  client_id: clientId,
  applicatie_weergave: applicatieLabel,
  gebruikers_id: nameOf(userId),
  gebruikers_weergave: nameOf(userRepresentation),
  request_id: requestId,
  trace_id: trace?.traceId,
  parent_span_id: trace?.parentSpanId,
})

/** What a line says of a name: never a number of a person, which a token of a citizen may hold, and only what JSON of the database can have. */
const nameOf = (text: string) => withoutNumbers(text).toWellFormed().replaceAll('\0', '')

/**
 * A part of a WITH that writes the lines of the changes in its part `wijziging`, one for each case, document or besluit.
 * @param more who is concerned beside those whom the changes tell
 */
export function loggedChanges(
  sql: Sql,
  actor: Actor,
  numbers: Numbers,
  changes: readonly Told[],
  more: readonly Concerned[] = [],
) {
  const lines = changesOf(actor, numbers, changes, more)
  if (lines.length === 0) return sql``
  return sql`, verwerkt as (
      insert into verwerking_unsettled (lines, content)
      select ${lines.length}::int, ${`[${lines.map((line) => jsonOf(numbers, line)).join()}]`}::text from wijziging limit 1)`
}

/** Only who it was about is sealed: nothing else of it may be a number of a person. */
function jsonOf(numbers: Numbers, line: Unsettled): string {
  const text = JSON.stringify(line)
  return line.persons ? numbers.seal(text) : text
}

const mainOf = ({ hoofdobject, uuid }: Told) => hoofdobject?.uuid ?? uuid

function changesOf(actor: Actor, numbers: Numbers, changes: readonly Told[], more: readonly Concerned[]): Unsettled[] {
  const concerned = [...more, ...concernedBy(numbers, changes)]
  const who = whoOf(actor, currentTrace(), currentRequestId())
  const groups = Map.groupBy(changes.filter(isLogged), (change) => `${change.component} ${mainOf(change)}`)
  return [...groups.values()].map((group) => {
    const first = group[0] as Told
    const main = mainOf(first)
    const isCase = first.component === 'zrc'
    const touched = new Set(group.filter(({ resource }) => !isCase || resource !== 'zaak').map(({ uuid }) => uuid))
    if (!isCase) touched.delete(main)
    return {
      handeling: [...new Set(group.map(({ actie, resource }) => `${actie} ${resource}`))].sort().join(', '),
      zaken: isCase ? arrayOf([main]) : undefined,
      objecten: arrayOf(isCase ? [...touched] : [...touched, main]),
      belongs: isCase ? undefined : arrayOf([main]),
      persons: someOf(isCase ? concerned.filter(({ zaak }) => zaak === main) : []),
      is_new: (group.length === 1 && first.resource === 'zaak' && first.actie === 'create') || undefined,
      zaaktype: zaaktypeIn(group),
      ms: 0,
      ...who,
    }
  })
}

/** The zaaktype of a case that these changes make or remove: of it there may be no row. */
function zaaktypeIn(changes: readonly Told[]): string | undefined {
  const types = changes.map(({ resource, oud, nieuw }) => {
    const { zaaktype } = (nieuw ?? oud ?? {}) as { zaaktype?: unknown }
    return resource === 'zaak' ? String(zaaktype ?? '').slice(-36) : ''
  })
  return types.find(isUuid)
}

/** What is written of some acts: when one began, by `performance.now()`, and its JSON, to which its age comes. */
type Written = { began: number; text: string; weight: number }

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
  trace: Trace | undefined
  requestId: string
}

export type Acts = {
  add(act: Act): void
  /** Waits until there is room for more; undefined: there is. */
  room(): Promise<void> | undefined
  /** As many lines wait for the collector as may: nothing is shown or changed until some are delivered. */
  readonly isFull: boolean
  /** Has what this process wrote, and what waits in the database, stand in the log. */
  settle(): Promise<void>
  /** Writes what is left. */
  close(): Promise<void>
}

/** So long lines of reads wait for others. */
const GATHER_MS = 50
/** Who reads the log waits so long for lines of this process, at most. */
const SETTLE_MS = 1000
/** Acts and uuids in them that are held; beyond it reads wait. */
const MOST_HELD = 50_000
const AT_ONCE = 10_000
const LOOK_MS = 5_000
const CLOSE_MS = 5_000
const weightOf = ({ zaken, objecten, rollen }: Act) => 1 + zaken.length + objecten.length + rollen.length

/** Gathers reads and writes them. Nothing is dropped while the database is away: reads wait. */
export function openActs(database: Database, config: Config, log: Logger): Acts {
  const repeats = openRepeats(log)
  const spoolOf = openSpool()
  let waiting: Written[] = []
  let held = 0
  let writing: Promise<void> | undefined
  let isClosing = false
  let isFull = false
  const write = async () => {
    for (let failures = 0; waiting.length > 0; ) {
      let weight = 0
      const end = waiting.findIndex((act) => {
        weight += act.weight
        return weight > AT_ONCE
      })
      const some = waiting.slice(0, end <= 0 ? (end < 0 ? waiting.length : 1) : end)
      try {
        await insertActs(database.sql, some)
        waiting = waiting.slice(some.length)
        held -= some.reduce((sum, act) => sum + act.weight, 0)
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
  const roomAgain = async () => {
    while (held >= MOST_HELD && writing) await writing
  }
  const looks = () => void look().catch((error) => log.debug({ err: error }, 'the spool was not looked at'))
  const timer = setInterval(looks, LOOK_MS).unref()
  looks()
  verwerkingenMost.set(config.logboekSpoolMost)
  return {
    add: (act) => {
      const text = writtenOf(database.numbers, act)
      waiting.push(text)
      held += text.weight
      writing ??= begin()
    },
    room: () => (held >= MOST_HELD && writing ? roomAgain() : undefined),
    settle: async () => {
      await Promise.race([writing, sleep(SETTLE_MS, undefined, { ref: false })])
      const options = logOptionsOf(config)
      if (options) await settleAll(database, options)
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

/**
 * Counts lines that wait to be settled, or for the collector, about, and since when. It remembers where the oldest was: an old snapshot
 * keeps what was settled and delivered as dead entries before it.
 */
export function openSpool(): (sql: Sql) => Promise<{ waiting: number; seconds: number }> {
  let [line, act] = [0, 0]
  return async (sql) => {
    // Settled and delivered in their order: so many at most lie between the first and the last.
    const spool = one(
      await sql<{ waiting: number; seconds: number; line: number; act: number }[]>`
        select (coalesce(last - first + 1, 0) + coalesce((newest - oldest + 1) * per_row, 0))::float8 as waiting,
          coalesce(extract(epoch from now() - coalesce((select at from verwerking where id = first),
            (select at from verwerking_unsettled where id = oldest))), 0)::float8 as seconds,
          coalesce(first, written + 1) as line, coalesce(oldest, given) as act
        from (select (select first_id from verwerking_spool where last_id >= ${line}::bigint order by last_id limit 1) as first,
          (select max(last_id) from verwerking_spool where last_id >= ${line}::bigint) as last,
          (select coalesce(max(id), 0) from verwerking) as written, coalesce(pg_sequence_last_value('verwerking_unsettled_id_seq'), 0) as given,
          (select min(id) from verwerking_unsettled where id >= ${act}::bigint) as oldest,
          (select max(id) from verwerking_unsettled where id >= ${act}::bigint) as newest,
          (select avg(lines) from (select lines from verwerking_unsettled where id >= ${act}::bigint order by id desc limit 1000) recent) as per_row) ends`,
    )
    line = spool.line
    act = spool.act
    return { waiting: spool.waiting, seconds: spool.seconds }
  }
}

/** Of so many documents and besluiten at most, without a case, the cases are found: those of the longest page. */
const MOST_BELONGS = 500

/** Writes acts, to be settled. */
export const writeActs = ({ sql, numbers }: { sql: Sql; numbers: Numbers }, acts: readonly Act[]): Promise<void> =>
  insertActs(
    sql,
    acts.map((act) => writtenOf(numbers, act)),
  )

async function insertActs(sql: Sql, acts: readonly Written[]): Promise<void> {
  const now = performance.now()
  const content = `[${acts.map(({ began, text }) => `${text.slice(0, -1)},"age":${(now - began) / 1000}}`).join()}]`
  await sql`insert into verwerking_unsettled (lines, content) values (${acts.length}::int, ${content}::text)`
}

/** As text right away: what waits is then one value, and not a dozen that are collected later. */
function writtenOf(numbers: Numbers, act: Act): Written {
  const { began, ended, handeling, actor, zaken, objecten, rollen, persons, trace, requestId } = act
  const text = jsonOf(numbers, {
    handeling,
    zaken: arrayOf(zaken),
    objecten: arrayOf(objecten),
    rollen: arrayOf(rollen),
    belongs: zaken.length === 0 && objecten.length <= MOST_BELONGS ? arrayOf(objecten) : undefined,
    persons: someOf(persons),
    ms: Math.round(ended - began),
    ...whoOf(actor, trace, requestId),
  })
  return { began, text, weight: weightOf(act) }
}
