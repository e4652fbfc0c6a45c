// The organisations that this installation serves: kept in a small schema of their own, which every process reads whole and follows.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { TransactionSql } from 'postgres'
import type { SecretBox } from '../core/secret-box.ts'
import { addressOf } from '../database/address.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { listen } from '../database/listen.ts'
import { one } from '../database/rows.ts'
import { withSchema } from '../database/schema.ts'
import { KeyMissing, WrongKey } from '../lib/wrong-key.ts'
import { type CentreAccount, endSessionsEverywhere, readAccounts } from './accounts.ts'
import type { Limits, Organisation, Sealed, State } from './organisation.ts'
import { OrganisationRefused } from './refused.ts'

/** The schema of the registry, where the address of its database names none. */
const SCHEMA = 'zaakstroom_control'
const CHANNEL = 'zaakstroom_organisations'
/** A signal can be missed on a connection that died silently. */
const REREAD_MS = 30_000

/** The address of the registry with its schema. @throws AddressFault */
export const controlUrlOf = (url: string): string => withSchema(url, SCHEMA)

/** The database of the registry. @param url of CONTROL_DATABASE_URL */
export const openControl = (url: string): Database => openDatabase(controlUrlOf(url), { max: 2, name: 'control' })

/** Which organisations share a database: host, port and name of that database. @throws AddressFault */
export function serverOf(url: string): string {
  const { host, port, database, user } = addressOf(url)
  return `${host}:${port}/${database ?? user ?? ''}`
}

const ownerOf = (rsin: string) => `organisation:${rsin}`

type Row = Omit<Organisation, keyof Sealed | 'hosts' | 'limits' | 'state'> & {
  hosts: string[]
  limits: Limits
  state: State
  sealed: Buffer
}

/** All of them in the order of their names, or the one with this RSIN. @throws KeyMissing or WrongKey when the keys of the installation do not open one */
export async function readOrganisations(
  { sql }: { sql: Database['sql'] | TransactionSql },
  box: SecretBox,
  rsin: string | null = null,
): Promise<Organisation[]> {
  const rows = await readRows({ sql }, rsin)
  return rows.map((row) => opened(box, row))
}

const readRows = async (
  { sql }: { sql: Database['sql'] | TransactionSql },
  rsin: string | null = null,
): Promise<Row[]> =>
  await sql<Row[]>`
    select o.id, o.uuid, o.rsin, o.name, o.server, o.schema, o.sealed, o.limits, o.state, o.reason, o.version,
      array(select h.host from organisation_host h where h.organisation_id = o.id order by h.position) as hosts
    from organisation o where ${rsin}::text is null or o.rsin = ${rsin}::text order by o.name, o.id`

const opened = (box: SecretBox, { sealed, ...row }: Row): Organisation => ({
  ...row,
  ...openSealed(box, sealed, row.rsin),
})

function openSealed(box: SecretBox, sealed: Buffer, rsin: string): Sealed {
  try {
    return JSON.parse(box.open(sealed, ownerOf(rsin)))
  } catch (error) {
    throw error instanceof KeyMissing ? error : new WrongKey('SECRET_KEY, or a key of DATA_KEYS,')
  }
}

/** What changes of organisations goes through this: one transaction with its record, and a signal to all processes. */
export async function changeOrganisations<T>(
  { sql }: Pick<Database, 'sql'>,
  record: { rsin: string; actor: string; action: string; fields?: string[]; account?: string },
  work: (trx: TransactionSql) => Promise<T>,
): Promise<T> {
  const { rsin, actor, action, fields = [], account = '' } = record
  return (await sql.begin(async (trx) => {
    const result = await work(trx)
    await trx`
      insert into organisation_change (rsin, actor, action, fields, account)
      values (${rsin}, ${actor}, ${action}, ${fields}, ${account})`
    await trx`select pg_notify(${CHANNEL}, '')`
    return result
  })) as T
}

/** Ends all sessions of an account of the centre, which is no change of organisations, and tells all processes. */
export async function endMemberSessions({ sql }: Pick<Database, 'sql'>, accountId: number): Promise<void> {
  await sql.begin(async (trx) => {
    await endSessionsEverywhere(trx, accountId)
    await trx`select pg_notify(${CHANNEL}, '')`
  })
}

/** The first of two keys of an advisory lock: a command is at work for an organisation, by the hash of its RSIN. */
const COMMANDS = 31332
/** A command that was killed may hold its lock for a moment. */
const PATIENCE_MS = 3_000

/** Does what no other command may do for this organisation at the same moment. @throws OrganisationRefused when one is at work */
export async function alone<T>(database: Database, rsin: string, work: () => Promise<T>): Promise<T> {
  const held = await database.reserve()
  try {
    const late = performance.now() + PATIENCE_MS
    const take = async () =>
      one(await held<{ got: boolean }[]>`select pg_try_advisory_lock(${COMMANDS}::int, hashtext(${rsin})) as got`)
    while (!(await take()).got) {
      if (performance.now() > late)
        throw new OrganisationRefused(`another command is at work for ${rsin}: wait until that has ended`)
      await sleep(100)
    }
    try {
      return await work()
    } finally {
      await held`select pg_advisory_unlock(${COMMANDS}::int, hashtext(${rsin}))`.catch(() => {}) // it ends with the connection too
    }
  } finally {
    held.release()
  }
}

export type NewOrganisation = Pick<Organisation, 'rsin' | 'name' | 'hosts' | 'schema' | 'limits'> &
  Partial<Pick<Organisation, 'state' | 'reason'>> &
  Sealed

/** Writes a new one. Its tables are made by who calls this. @returns its uuid @throws a unique violation for an RSIN, host or schema that is taken */
export async function insertOrganisation(trx: TransactionSql, box: SecretBox, given: NewOrganisation): Promise<string> {
  const { rsin, name, hosts, schema, limits, databaseUrl, state = 'active', reason = '' } = given
  const { id, uuid } = one(
    await trx<{ id: number; uuid: string }[]>`
      insert into organisation (rsin, name, server, schema, sealed, limits, state, reason)
      values (${rsin}, ${name}, ${serverOf(databaseUrl)}, ${schema}, ${sealOf(box, rsin, given)}, ${trx.json(limits)}, ${state},
        ${reason})
      returning id, uuid`,
  )
  await setHosts(trx, id, hosts)
  return uuid
}

export type Changed = Partial<Omit<Organisation, 'id' | 'uuid' | 'rsin' | 'server'>>

/** Writes what changed of one; what is not given stays. @param change what changes, or what does of how it is then */
export async function updateOrganisation(
  trx: TransactionSql,
  box: SecretBox,
  { rsin }: Pick<Organisation, 'rsin'>,
  change: Changed | ((now: Organisation) => Changed),
): Promise<void> {
  await trx`select from organisation where rsin = ${rsin} for update`
  const [before] = await readOrganisations({ sql: trx }, box, rsin)
  if (!before) throw new Error(`there is no organisation ${rsin}`)
  const changed = typeof change === 'function' ? change(before) : change
  const { id, name, schema, limits, state, reason, version, databaseUrl, ...rest } = { ...before, ...changed }
  await trx`
    update organisation set name = ${name}, server = ${serverOf(databaseUrl)}, schema = ${schema},
      sealed = ${sealOf(box, rsin, { databaseUrl, ...rest })}, limits = ${trx.json(limits)}, state = ${state}, reason = ${reason},
      version = ${version}, changed_at = now()
    where id = ${id}`
  if (changed.hosts) await setHosts(trx, id, changed.hosts)
}

function sealOf(box: SecretBox, rsin: string, { databaseUrl, dataKeys, secretKey, settings, move }: Sealed): Buffer {
  const sealed: Sealed = { databaseUrl, dataKeys, ...(secretKey && { secretKey }), settings, ...(move && { move }) }
  return box.seal(JSON.stringify(sealed), ownerOf(rsin))
}

async function setHosts(trx: TransactionSql, id: number, hosts: readonly string[]): Promise<void> {
  await trx`delete from organisation_host where organisation_id = ${id}`
  await trx`
    insert into organisation_host (host, organisation_id, position)
    select host, ${id}::bigint, position::int from unnest(${[...hosts]}::text[]) with ordinality as given (host, position)`
}

/** Takes one out of the registry. What it has elsewhere is removed before. */
export async function deleteOrganisation(trx: TransactionSql, id: number): Promise<void> {
  await trx`delete from organisation where id = ${id}`
}

export type Registry = {
  /** All of this moment. */
  all(): readonly Organisation[]
  /** Whose host name it is; without port, in lower case. */
  byHost(host: string): Organisation | undefined
  byRsin(rsin: string): Organisation | undefined
  /** Those of the centre. */
  accounts(): readonly CentreAccount[]
  /** Called after each change of organisations, with all. @returns what ends it */
  onChange(work: (all: readonly Organisation[]) => void): () => void
  /** Reads again now. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/**
 * Follows the registry for as long as a process runs. A control database that is away leaves what was read last.
 * @throws KeyMissing or WrongKey when one does not open at the start; later it keeps what was known of what is sealed of it
 */
export async function openRegistry(database: Database, box: SecretBox, log: Logger): Promise<Registry> {
  let all: readonly Organisation[] = []
  let hosts: ReadonlyMap<string, Organisation> = new Map()
  let accounts: readonly CentreAccount[] = []
  let seen = ''
  const listeners = new Set<(all: readonly Organisation[]) => void>()
  let isOpen = false
  /** One that was never known is left out: this process gets its key by starting anew. */
  const openedOrKnown = (row: Row): Organisation[] => {
    try {
      return [opened(box, row)]
    } catch (error) {
      if (!isOpen) throw error
      const reason = (error as Error).message
      log.warn({ organisation: row.rsin, reason }, 'what is sealed of an organisation was not read again')
      const { sealed: _, ...plain } = row
      return all.filter(({ id }) => id === row.id).map((known) => ({ ...known, ...plain }))
    }
  }
  const readAll = async () => {
    const rows = await readRows(database)
    accounts = await readAccounts(database)
    const read = rows.flatMap(openedOrKnown)
    const text = JSON.stringify(read)
    if (text === seen) return
    seen = text
    all = read
    hosts = new Map(read.flatMap((one) => one.hosts.map((host) => [host, one] as const)))
    for (const work of listeners) work(all)
  }
  // One at a time, so that what was read first never comes last; who asks meanwhile waits for the next.
  let running = Promise.resolve()
  let next: Promise<void> | undefined
  const refresh = () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        running = readAll()
        return running
      })
    return next
  }
  const again = () =>
    void refresh().catch((error) =>
      log.warn({ reason: (error as Error).message }, 'the organisations were not read again'),
    )
  await refresh()
  isOpen = true
  const listener = await listen(database.url, CHANNEL, again, log)
  const timer = setInterval(again, REREAD_MS).unref()
  return {
    all: () => all,
    byHost: (host) => hosts.get(host),
    byRsin: (rsin) => all.find((one) => one.rsin === rsin),
    accounts: () => accounts,
    onChange: (work) => {
      listeners.add(work)
      return () => listeners.delete(work)
    },
    refresh,
    close: async () => {
      clearInterval(timer)
      await listener.close()
    },
  }
}
