// A takeover as rows: what is taken from where, the rounds and their steps, and the switch at the end.
import type postgres from 'postgres'
import type { Config } from '../config.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Database, type Db, kyselyOn, type ReadSql } from '../database/database.ts'
import { jsonOf } from '../database/driver-values.ts'
import { signal } from '../database/listen.ts'
import { one } from '../database/rows.ts'
import { ownAddress } from '../http/links.ts'
import { enqueue } from '../jobs/queue.ts'
import type { Roots } from './api/roots.ts'
import { apiSource } from './api/source.ts'
import { ownersThatDiffer } from './census.ts'
import { sinceOf } from './changes.ts'
import { openContents } from './contents.ts'
import { moveNumbers, numberPerYear } from './numbers.ts'
import { holdSnapshot } from './open-zaak/snapshot.ts'
import { openZaakSource } from './open-zaak/source.ts'
import { askSource } from './patience.ts'
import type { Source, StepPlan } from './source.ts'

export type Settings = {
  /** Client of the source, for the APIs. */
  clientId?: string | undefined
  /** Beginnings of URLs by which the source names itself, as the operator confirmed them. */
  oudeUrls: string[]
  /** Our own address: what those become. */
  eigenUrl: string
  /** Where the bytes of documents are, for a database: a directory, s3://bucket/prefix or azure://container/prefix. */
  bestanden?: string | undefined
  /** Whether bytes are copied into our store, or taken as they lie in it. */
  bytes: 'kopieren' | 'laten'
  /** A later round of a database reads only what changed since the one before. */
  wijzigingen?: boolean | undefined
  /**
   * Two organisations become one: this one has work of its own, and goes on with it until the switch. `samen`: a client that both have
   * gets the rights of both.
   */
  samenvoegen?: true | undefined
  clients?: 'apart' | 'samen' | undefined
  /** Where the source answers, when that is not at its own address. */
  via?: string | undefined
  /** Its APIs, when they do not stand below one address, and where its tokens come from. */
  roots?: Roots | undefined
  tokenUrl?: string | undefined
  /** Coordinates in metres of the Dutch grid (RD, EPSG:28992) become degrees; without it such a geometry is left out. */
  rd?: 'omrekenen' | undefined
  /** How much is done side by side. */
  naast: number
  /** Requests or rows a second that the source is asked at most, in every process. */
  tempo?: number | undefined
}
export type Takeover = {
  id: number
  uuid: string
  kind: 'api' | 'open-zaak'
  source: string
  settings: Settings
  secret: Buffer
  trial: boolean
  status: 'loopt' | 'klaar' | 'gestopt' | 'omgeschakeld'
  round: number
  phase: number
  read_only: boolean
  snapshot: string | null
  /** This round reads only what changed since the one before. */
  changes_only: boolean
}
export type TakeoverParts = { config: Config; database: Database; box: SecretBox }

/** Schema of the shadow tables of a dry run. */
export const shadowSchema = ({ id }: Pick<Takeover, 'id'>): string => `takeover_proef_${id}`

/** What the secret of its source is sealed for. */
export const takeoverOwner = (uuid: string): string => `overneming ${uuid}`

/** The addresses that become ours: what the operator named, as the address of the APIs too. */
export const oldAddresses = ({ kind, source, settings }: Pick<Takeover, 'kind' | 'source' | 'settings'>): string[] =>
  kind === 'api' ? [source, ...settings.oudeUrls] : settings.oudeUrls

/** Where it comes from as people may read it: no user, no password. */
export function nameOf(url: string): string {
  const parsed = new URL(url)
  parsed.username = ''
  parsed.password = ''
  parsed.search = ''
  return parsed.href.replace(/\/$/, '')
}

/** This side is in charge of what came from that source: another round would undo what was done here since. */
export class SwitchedAlready extends Error {
  override name = 'SwitchedAlready'
  constructor() {
    super('the switch was made: nothing is taken over from this source any more')
  }
}

/**
 * Begins a takeover, or the next round of one from the same source. A round that was cut short goes on where it was.
 * @param secret secret of the client, or the whole address of the database
 */
export async function beginTakeover(
  { database, box, config }: TakeoverParts,
  given: {
    kind: Takeover['kind']
    url: string
    secret: string
    trial: boolean
    readOnly: boolean
    settings: Omit<Settings, 'eigenUrl'>
  },
): Promise<{ takeover: Takeover; resumed: boolean }> {
  const settings = { ...given.settings, eigenUrl: ownAddress(config) }
  const source = nameOf(given.url)
  return database.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(hashtext(current_schema() || ' overneming'))`
    const [found] = await sql<Takeover[]>`
      select * from takeover where source = ${source} and trial = ${given.trial} and status <> 'omgeschakeld' for update`
    const [switched] = await sql`
      select from takeover where source = ${source} and not trial and status = 'omgeschakeld' limit 1`
    if (switched && !given.trial) throw new SwitchedAlready()
    const [isDone] =
      found?.status === 'gestopt'
        ? await sql`
      select from takeover_step where takeover_id = ${found.id} and round = ${found.round} having bool_and(done_at is not null)`
        : []
    const resumed = (found?.status === 'loopt' || found?.status === 'gestopt') && !isDone && !given.trial
    if (found?.trial) await dropShadow(sql, found)
    const uuid = found?.uuid ?? crypto.randomUUID()
    const secret = box.seal(given.secret, takeoverOwner(uuid))
    const rows = found
      ? await sql<Takeover[]>`
          update takeover set settings = ${jsonOf(sql, settings)}, secret = ${secret},
            read_only = ${given.readOnly}, status = 'loopt', round = round + ${resumed ? 0 : 1},
            phase = ${resumed ? sql`phase` : 0}, round_begun_at = ${resumed ? sql`round_begun_at` : sql`now()`},
            round_done_at = null, snapshot = null
          where id = ${found.id} returning *`
      : await sql<Takeover[]>`
          insert into takeover (uuid, kind, source, settings, secret, trial, read_only)
          values (${uuid}, ${given.kind}, ${source}, ${jsonOf(sql, settings)}, ${secret}, ${given.trial}, ${given.readOnly})
          returning *`
    const takeover = one(rows)
    if (found?.trial) await sql`delete from takeover_remark where takeover_id = ${takeover.id}`
    if (given.trial) await makeShadow(sql, takeover)
    return { takeover, resumed }
  }) as Promise<{ takeover: Takeover; resumed: boolean }>
}

/** Plans the steps of a round that has none yet, and queues those of its phase. Numbers of the source are kept from here on. */
export async function startRound(parts: TakeoverParts, takeover: Takeover, source: Source): Promise<void> {
  const { database, config } = parts
  const isLater = takeover.kind === 'open-zaak' && takeover.round > 1 && !takeover.trial
  const since = isLater && takeover.settings.wijzigingen ? await sinceOf(database.sql, takeover) : undefined
  // What nothing tells of is found by counting.
  const untold = since && (await ownersThatDiffer(database.sql, source, takeover))
  if (untold) for (const kind of ['zaak', 'document', 'besluit'] as const) since.again[kind].push(...untold[kind])
  const plans = await source.plan(takeover.round, since)
  const numbers = takeover.trial ? undefined : await source.numbers()
  await database.sql.begin(async (sql) => {
    const locked = one(await sql<Takeover[]>`select * from takeover where id = ${takeover.id} for update`)
    const [planned] =
      await sql`select from takeover_step where takeover_id = ${takeover.id} and round = ${locked.round} limit 1`
    if (!planned) {
      await sql`update takeover set changes_only = ${since !== undefined} where id = ${takeover.id}`
      const last = Math.max(...plans.map(({ phase }) => phase), 0)
      const all = [...plans, ...ownSteps(locked).map((step) => ({ ...step, phase: step.phase + last + 1 }))]
      for (const [order, { phase, name, above, until, expected, seconds = 0 }] of all.entries())
        await sql`
          insert into takeover_step (takeover_id, round, phase, place, name, above, until, expected, forecast)
          values (${takeover.id}, ${locked.round}, ${phase}, ${order}, ${name}, ${above ?? null}, ${until ?? null}, ${expected}, ${seconds})`
    }
    if (numbers) {
      await moveNumbers(sql, numbers)
      if (source.numbersPerYear && !takeover.settings.samenvoegen && Object.keys(numbers.zaak).length > 0)
        await numberPerYear(sql, config.zaakIdentificatieGenerator)
    }
    await queueSteps(sql, locked)
  })
}

/** The steps at the end of every round, after everything was read. */
function ownSteps({ settings: { naast, bestanden, bytes }, trial, kind }: Takeover): StepPlan[] {
  const steps: StepPlan[] = [
    { phase: 0, name: 'uitstel', expected: 0 },
    { phase: 1, name: 'verdwenen', expected: 0 },
  ]
  // A dry run looks whether the files are there and how large they are, but does not download them from an API for it.
  if (!trial || (kind === 'open-zaak' && (bestanden !== undefined || bytes === 'laten')))
    for (let part = 0; part < naast; part++)
      steps.push({ phase: 2, name: 'bestanden', above: String(part), until: String(naast), expected: 0 })
  if (!trial && kind === 'open-zaak') steps.push({ phase: 2, name: 'telling', expected: 0 })
  return [...steps, { phase: 3, name: 'afronden', expected: 0 }]
}

/** Queues the open steps of the phase, so many side by side as was asked; goes to the next phase when there are none. */
export async function queueSteps(sql: postgres.TransactionSql, takeover: Takeover): Promise<void> {
  const { id, uuid, round, settings } = takeover
  const [next] = await sql<{ phase: number }[]>`
    select min(phase) as phase from takeover_step where takeover_id = ${id} and round = ${round} and done_at is null`
  if (next?.phase === null || next?.phase === undefined) {
    // A list that showed less than it counts: nothing says what it lacks.
    await sql`
      update takeover set round_done_at = now(), snapshot = null, status = case when exists (
        select from takeover_remark where takeover_id = ${id} and code = 'lijst-onvolledig' and round = ${round}) then 'gestopt' else 'klaar' end
      where id = ${id}`
    return
  }
  await sql`update takeover set phase = ${next.phase} where id = ${id}`
  await sql`
    update takeover_step set expected = ceil(w.aantal / until::numeric)
    from (select count(*) as aantal from takeover_file where takeover_id = ${id} and state <> 'klaar') w
    where takeover_id = ${id} and round = ${round} and phase = ${next.phase} and name = 'bestanden' and begun_at is null`
  const steps = await sql<{ id: number; place: number }[]>`
    select id, place from takeover_step
    where takeover_id = ${id} and round = ${round} and phase = ${next.phase} and done_at is null order by place`
  for (const [place, step] of steps.entries())
    await queueStep(kyselyOn(sql), step.id, `overnemen ${uuid} ${place % settings.naast}`)
}

/** A step that fails for another reason than a source that is away: the last time after some ten minutes. */
const MAX_ATTEMPTS = 7

/** @param queue jobs of one queue run one after another, so that as many run side by side as there are queues */
export function queueStep(trx: Db, stap: number, queue: string, delaySeconds = 0): Promise<void> {
  const options = {
    jobKey: `takeover-step ${stap}`,
    queueName: queue,
    maxAttempts: MAX_ATTEMPTS,
    delaySeconds,
  }
  return enqueue(trx, 'takeover-step', { stap, rij: queue }, options)
}

/** The step failed again and again: the round waits until it is asked to go on, and then goes on where it was. */
export async function stopRound({ sql }: Pick<Database, 'sql'>, step: number): Promise<void> {
  await sql`
    update takeover o set status = 'gestopt' from takeover_step s
    where s.id = ${step} and o.id = s.takeover_id and o.round = s.round and o.status = 'loopt'`
}

/** Stops its round: workers end the portion that they are at, and find no more. It goes on when it is begun again. */
export async function stopTakeover({ sql }: Pick<Database, 'sql'>, { id, round }: Takeover): Promise<void> {
  await sql`update takeover set status = 'gestopt' where id = ${id} and round = ${round} and status = 'loopt'`
}

/** Ends a dry run before its end: nothing of it is kept. */
export async function endDryRun({ sql }: Pick<Database, 'sql'>, takeover: Takeover): Promise<void> {
  await sql.begin(async (trx) => {
    // Whoever is at a portion ends it first.
    await trx`select from takeover where id = ${takeover.id} and trial for update`
    await dropShadow(trx, takeover)
    await trx`delete from takeover where id = ${takeover.id} and trial`
  })
}

/** Reads a takeover as it is now, without a lock. */
export async function findTakeover(database: Database, id: number): Promise<Takeover | undefined> {
  const [row] = await database.sql<Takeover[]>`select * from takeover where id = ${id}`
  return row
}

/** Opens the source of a takeover for reading. */
export async function openSource(parts: TakeoverParts, takeover: Takeover): Promise<Source> {
  const secret = parts.box.open(takeover.secret, takeoverOwner(takeover.uuid))
  const { naast, tempo, bestanden, bytes, clientId = '', via, roots, tokenUrl } = takeover.settings
  if (takeover.kind === 'api')
    return apiSource({
      url: takeover.source,
      via,
      roots,
      tokenUrl,
      clientId,
      secret,
      naast,
      tempo,
      alles: takeover.settings.wijzigingen === false,
      sql: parts.database.sql,
      takeover: { id: takeover.id, proefSchema: takeover.trial ? shadowSchema(takeover) : undefined },
    })
  return openZaakSource(secret, {
    naast,
    tempo,
    snapshot: takeover.snapshot ?? undefined,
    contents: bytes === 'kopieren' && bestanden ? openContents(bestanden, parts.config) : undefined,
  })
}

/**
 * Exports a snapshot that all portions of this round read, and holds it until `release`. Without one, as after a crash of
 * the process that held it, portions read what is there at their moment, and the next round brings what changed between.
 */
export async function takeSnapshot(parts: TakeoverParts, takeover: Takeover): Promise<{ release(): Promise<void> }> {
  if (takeover.kind === 'api') return { release: async () => {} }
  const url = parts.box.open(takeover.secret, takeoverOwner(takeover.uuid))
  const { name, release } = await askSource(() => holdSnapshot(url))
  await parts.database.sql`update takeover set snapshot = ${name} where id = ${takeover.id}`
  takeover.snapshot = name
  return {
    async release() {
      await parts.database.sql`update takeover set snapshot = null where id = ${takeover.id} and snapshot = ${name}`
      await release()
    },
  }
}

/** Whether the switch may be made: everything was read, and it was not made yet. */
export const isSwitchable = ({ status, trial }: Pick<Takeover, 'status' | 'trial'>): boolean =>
  status === 'klaar' && !trial

/** What keeps messages from their receivers once this side is in charge; Dutch sentences, none when all is set. */
export async function switchWarnings(sql: ReadSql): Promise<string[]> {
  const rows = await sql<{ mode: string; configured: boolean; abonnementen: boolean }[]>`
    select mode, configured_service_id is not null as configured,
      exists (select from abonnement where deleted_at is null) as abonnementen from notificatie_settings`
  const { mode, configured, abonnementen } = one([...rows])
  return [
    ...(mode !== 'ingebouwd' && !configured
      ? ['Er is geen notificatiedienst ingesteld: meldingen blijven wachten tot u er een instelt.']
      : []),
    ...(mode !== 'extern' && !abonnementen
      ? ['Er zijn geen abonnementen: niemand krijgt meldingen. Neem ze over met overnemen open-notificaties.']
      : []),
  ]
}

/**
 * This side takes charge: what was taken over may be changed, changes are announced, nothing waits in the outbox, and the old
 * addresses count as ours.
 * @returns how many messages were thrown away; undefined when the switch may not be made
 */
export async function switchOver(sql: postgres.TransactionSql, { id }: Takeover): Promise<number | undefined> {
  const [current] = await sql<Takeover[]>`select * from takeover where id = ${id} for update`
  if (!current || !isSwitchable(current)) return undefined
  await sql`update takeover set status = 'omgeschakeld', switched_at = now(), switch_snapshot = pg_current_snapshot()::text where id = ${id}`
  await signal(sql, 'zaakstroom_settings') // its addresses are ours from now on
  // Of what was taken over nothing was announced: what waits in a merge is of our own work.
  if (current.settings.samenvoegen) return 0
  const gone = await sql`delete from delivery where status = 'gepland' returning 1`
  return gone.length
}

// ---- dry run ----

/** Tables that a takeover writes. A dry run has its own under the same names, found first by the search path. */
const SHADOWED = [
  'catalogus',
  'informatieobjecttype',
  'besluittype',
  'besluittype_informatieobjecttype',
  'zaaktype',
  'zaaktype_besluittype',
  'zaaktype_deelzaaktype',
  'zaaktype_gerelateerd_zaaktype',
  'statustype',
  'resultaattype',
  'resultaattype_besluittype',
  'resultaattype_informatieobjecttype',
  'roltype',
  'eigenschap',
  'zaaktype_informatieobjecttype',
  'zaakobjecttype',
  'enkelvoudiginformatieobject',
  'enkelvoudiginformatieobject_versie',
  'bestandsdeel',
  'gebruiksrecht',
  'verzending',
  'zaak',
  'zaak_andere_zaak',
  'zaak_gerelateerde_zaak',
  'rol',
  'status',
  'substatus',
  'resultaat',
  'zaakeigenschap',
  'zaakobject',
  'klantcontact',
  'zaakcontactmoment',
  'zaakverzoek',
  'zaaknotitie',
  'besluit',
  'zaakinformatieobject',
  'besluitinformatieobject',
  'objectinformatieobject',
  'zaakbesluit',
  'applicatie',
  'applicatie_client',
  'applicatie_client_more',
  'applicatie_secret',
  'autorisatie',
  'catalogus_autorisatie',
  'audit',
  'reserved_zaaknummer',
  'reserved_documentnummer',
  'mirror',
  'takeover_object',
  'takeover_postponed',
  'takeover_file',
  'takeover_content',
]

async function makeShadow(sql: postgres.TransactionSql, takeover: Takeover): Promise<void> {
  const schema = shadowSchema(takeover)
  await sql`create schema ${sql(schema)}`
  for (const table of SHADOWED)
    await sql`create unlogged table ${sql(schema)}.${sql(table)} (like ${sql(table)} including all)`
}

/** Removes what a dry run wrote. Harmless when there is nothing. */
export async function dropShadow(sql: postgres.TransactionSql | postgres.Sql, takeover: Takeover): Promise<void> {
  await sql`drop schema if exists ${sql(shadowSchema(takeover))} cascade`
}
