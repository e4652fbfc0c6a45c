// Which keys this database was written with, and which of them a process has. A new key seals as soon as every process that runs
// has it, so that nothing is sealed with what another one cannot open; processes tell of theirs in the table `key_holder`.
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Database } from '../database/database.ts'
import { decrypt, encrypt, type KeyRing, SECRET_KEY } from '../lib/key-ring.ts'
import { WrongKey } from '../lib/wrong-key.ts'
import type { SecretBox } from './secret-box.ts'

const [TEXT, OWNER] = ['zaakstroom', 'key check']
const LOOK_MS = 5_000
/** A process that was silent for so long is gone. */
export const GONE_SECONDS = 30

const nameOf = (id: string) => (id === SECRET_KEY ? 'SECRET_KEY' : `the key ${id} of DATA_KEYS`)

/**
 * Registers the keys of this process that are new, and notes those that it lacks.
 * @throws WrongKey when one is another key than the one of that name, or none was ever used here
 */
export async function requireKeys(sql: postgres.Sql, { ring }: SecretBox): Promise<void> {
  const rows = await sql<{ id: string; sealed: Buffer; in_use: boolean }[]>`
    select id, sealed, used_at is not null and retired_at is null as in_use from data_key`
  const known = new Map(rows.map(({ id, sealed }) => [id, sealed]))
  for (const id of ring.ids) {
    const sealed = known.get(id)
    if (sealed && !opens(ring, id, sealed)) throw new WrongKey(nameOf(id))
  }
  const used = rows.filter(({ in_use }) => in_use).map(({ id }) => id)
  const lacking = used.filter((id) => !ring.ids.includes(id))
  if (used.length > 0 && lacking.length === used.length) throw new WrongKey(ring.ids.map(nameOf).join(' and '))
  ring.lacks(lacking)
  const unknown = ring.ids.filter((id) => !known.has(id))
  for (const id of unknown)
    await sql`insert into data_key (id, sealed) values (${id}, ${encrypt(ring.derive(id, OWNER), TEXT, OWNER)})
      on conflict do nothing`
  if (unknown.length > 0) await requireKeys(sql, { ring } as SecretBox) // another process may have been first
}

/** What `requireKeys` asks, of a database into which nothing is written. @throws WrongKey */
export async function requireKnownKeys(sql: postgres.Sql, { ring }: SecretBox): Promise<void> {
  const rows = await sql<{ id: string; sealed: Buffer }[]>`
    select id, sealed from data_key where used_at is not null and retired_at is null`
  const wrong = rows.find(({ id, sealed }) => ring.ids.includes(id) && !opens(ring, id, sealed))
  if (wrong) throw new WrongKey(nameOf(wrong.id))
  if (rows.length > 0 && !rows.some(({ id }) => ring.ids.includes(id)))
    throw new WrongKey(ring.ids.map(nameOf).join(' and '))
}

/** Whether this database was written with this key, which it is not told of. */
export async function isKnownKey(sql: postgres.Sql, ring: KeyRing): Promise<boolean> {
  const [table] = await sql<{ present: boolean }[]>`select to_regclass('data_key') is not null as present`
  if (!table?.present) return false
  const rows = await sql<
    { id: string; sealed: Buffer }[]
  >`select id, sealed from data_key where id = any(${[...ring.ids]})`
  return rows.some(({ id, sealed }) => opens(ring, id, sealed))
}

function opens(ring: KeyRing, id: string, sealed: Buffer): boolean {
  const key = ring.derive(id, OWNER)
  try {
    return decrypt(key, sealed, OWNER) === TEXT
  } catch {
    return false
  }
}

/** Seals with the first key that every process has, and that was not retired. From now on who lacks it may lack something. */
export async function agreeOnKey(sql: postgres.Sql, { ring }: SecretBox): Promise<void> {
  const shared = await sql<{ id: string; used: boolean }[]>`
    select id, used_at is not null as used from data_key k where retired_at is null and not exists (
      select from key_holder h
      where h.seen_at > now() - make_interval(secs => ${GONE_SECONDS}::int) and not k.id = any(h.keys))`
  const found = ring.ids.find((id) => shared.some((one) => one.id === id))
  const id = found ?? ring.sealing
  if (!shared.some((one) => one.id === id && one.used))
    await sql`update data_key set used_at = coalesce(used_at, now()) where id = ${id}`
  ring.sealWith(id)
}

/** The keys of a process that runs: it tells of them, and follows which one seals, until it is closed. */
export async function holdKeys(
  { sql, useNumbers }: Pick<Database, 'sql' | 'useNumbers'>,
  box: SecretBox,
  log: Logger,
): Promise<{ close(): Promise<void> }> {
  const { ring } = box
  useNumbers(box.numbers)
  const id = randomUUID()
  const look = async () => {
    await sql`
      with gone as (delete from key_holder where seen_at < now() - make_interval(secs => ${GONE_SECONDS}::int) and id <> ${id})
      insert into key_holder (id, keys, seals) values (${id}, ${[...ring.ids]}, ${ring.sealing})
      on conflict (id) do update set keys = excluded.keys, seals = excluded.seals, seen_at = excluded.seen_at`
    const before = [ring.sealing, ...ring.lacking].join()
    await requireKeys(sql, box)
    await agreeOnKey(sql, box)
    if (ring.lacking.size > 0 && [ring.sealing, ...ring.lacking].join() !== before)
      log.error({ keys: [...ring.lacking] }, 'DATA_KEYS lacks keys: what is sealed with them is answered with 503')
  }
  await look()
  let looking: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    looking = look().catch((error) => log.debug({ err: error }, 'the keys were not looked at'))
  }, LOOK_MS).unref()
  return {
    close: async () => {
      clearInterval(timer)
      await looking
      await sql`delete from key_holder where id = ${id}`.catch(() => {}) // else it is gone after a while
    },
  }
}

/**
 * The keys of this process, as `holdKeys` keeps them. When one is wrong nothing is sealed or opened, so that nothing is stored
 * under a second key: the process goes on and `/readyz` fails.
 */
export async function useKeys(
  database: Pick<Database, 'sql' | 'useNumbers'>,
  box: SecretBox,
  log: Logger,
): Promise<{ isUsable: boolean; close(): Promise<void> }> {
  try {
    database.useNumbers(box.numbers)
    await requireKeys(database.sql, box)
    return { isUsable: true, ...(await holdKeys(database, box, log)) }
  } catch (error) {
    if (!(error instanceof WrongKey)) throw error
    log.error(`${error.message}: give this process the right one and start it again`)
    box.ring.refuse(error)
    return { isUsable: false, close: async () => {} }
  }
}
