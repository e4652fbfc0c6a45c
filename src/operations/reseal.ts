// Seals what was sealed with older keys with the newest one, table by table and in portions, each one transaction with its position
// in `reseal`: a crash loses nothing that was committed, and what comes twice finds nothing to do.
import type postgres from 'postgres'
import { signingKeyOwner } from '../autorisaties/token-endpoint/signing-keys.ts'
import type { Mutation } from '../core/mutate.ts'
import { type SecretBox, totpOwner } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { keyIdOf, SECRET_KEY } from '../lib/key-ring.ts'
import { subscriberOwner } from '../notificaties/deliver.ts'
import { takeoverOwner } from '../overnemen/takeover.ts'
import { serviceOwner } from '../services/services.ts'

type Sql = postgres.Sql | postgres.TransactionSql

/** Where secrets stand. `by`: the column whose value the owner of a secret is made of; `list`: a column with several. */
type Secrets = { table: string; key: string; by: string; columns: string[]; list?: string; owner(by: string): string }
const SECRETS: readonly Secrets[] = [
  { table: 'applicatie_secret', key: 'id', by: 'client_id', columns: ['sealed_secret'], owner: (clientId) => clientId },
  { table: 'oauth_signing_key', key: 'kid', by: 'kid', columns: ['private_key'], owner: signingKeyOwner },
  { table: 'service', key: 'id', by: 'uuid', columns: ['sealed_secret', 'certificate_key'], owner: serviceOwner },
  {
    table: 'abonnement',
    key: 'id',
    by: 'uuid',
    columns: ['auth', 'certificate_key'],
    list: 'ondertekening',
    owner: subscriberOwner,
  },
  { table: 'beheer_account', key: 'id', by: 'uuid', columns: ['totp_secret'], owner: totpOwner },
  { table: 'takeover', key: 'id', by: 'uuid', columns: ['secret'], owner: takeoverOwner },
]

export const PLACES: readonly string[] = SECRETS.map(({ table }) => table)

type SecretRow = { key: string; by: string } & Record<string, Buffer | Buffer[] | string | null>

const secretsOf = (sql: Sql, { table, key, by, columns, list }: Secrets) =>
  sql<SecretRow[]>`
    select ${sql(key)}::text as key, ${sql(by)}::text as by, ${sql([...columns, ...(list ? [list] : [])])} from ${sql(table)}`

/** What is sealed with each key, by table. */
export async function countSealed({ sql }: Pick<Database, 'sql'>): Promise<Map<string, Map<string, number>>> {
  const counts = new Map<string, Map<string, number>>()
  const count = (place: string, key: string) => {
    const ofKey = counts.get(key) ?? new Map<string, number>()
    counts.set(key, ofKey.set(place, (ofKey.get(place) ?? 0) + 1))
  }
  for (const place of SECRETS)
    for (const row of await secretsOf(sql, place))
      for (const sealed of sealedIn(row, place)) count(place.table, keyIdOf(sealed) ?? SECRET_KEY)
  return counts
}

const sealedIn = (row: SecretRow, { columns, list }: Secrets): Buffer[] =>
  [...columns.map((name) => row[name]), ...(list ? (row[list] as Buffer[]) : [])].filter(
    (value): value is Buffer => value instanceof Uint8Array,
  )

/** Begins to seal all with this key. */
export async function startReseal(m: Mutation, key: string): Promise<void> {
  await m.sql`
    insert into reseal (place, key) select place, ${key} from unnest(${[...PLACES]}::text[]) place
    on conflict (place) do update set key = excluded.key, position = 0, until = 0, seen = 0, resealed = 0, begun_at = now(), done_at = null`
  await m.enqueue('reseal', {}, { jobKey: 'reseal' })
}

/** Does one portion. @returns whether there is more to do */
export async function resealPortion({ sql }: Pick<Database, 'sql'>, box: SecretBox): Promise<boolean> {
  return sql.begin(async (trx) => {
    const [step] = await trx<{ place: string; key: string }[]>`
      select place, key from reseal where done_at is null and place = any(${[...PLACES]})
      order by array_position(${[...PLACES]}, place) limit 1 for update`
    if (!step) return false
    const place = SECRETS.find(({ table }) => table === step.place)
    if (place) await resealSecrets(trx, box, place, step.key)
    return true
  }) as Promise<boolean>
}

async function resealSecrets(sql: postgres.TransactionSql, box: SecretBox, place: Secrets, key: string): Promise<void> {
  const { table, columns, list, owner } = place
  const rows = await sql<SecretRow[]>`${secretsOf(sql, place)} for update`
  let resealed = 0
  for (const row of rows) {
    if (sealedIn(row, place).every((sealed) => keyIdOf(sealed) === key)) continue
    const anew = (sealed: Buffer) =>
      keyIdOf(sealed) === key ? sealed : box.seal(box.open(sealed, owner(row.by)), owner(row.by), key)
    for (const name of columns)
      if (row[name])
        await sql`update ${sql(table)} set ${sql(name)} = ${anew(row[name] as Buffer)} where ${sql(place.key)}::text = ${row.key}`
    if (list)
      await sql`update ${sql(table)} set ${sql(list)} = array(select decode(hex, 'hex') from unnest(${(row[list] as Buffer[]).map((one) => anew(one).toString('hex'))}::text[]) with ordinality x(hex, n) order by n) where ${sql(place.key)}::text = ${row.key}`
    resealed++
  }
  await sql`update reseal set seen = ${rows.length}, resealed = ${resealed}, done_at = clock_timestamp() where place = ${table}`
}

/**
 * Takes a key out of use.
 * @returns why it cannot be; undefined when it is retired
 */
export async function retireKey(m: Mutation, id: string, sealing: string): Promise<string | undefined> {
  const rows = await m.sql<{ retired: boolean; holders: number }[]>`
    select retired_at is not null as retired,
      (select count(*)::int from key_holder where seals = k.id and seen_at > now() - interval '30 seconds') as holders
    from data_key k where id = ${id} for update`
  const [found] = rows
  if (!found) return `there is no key ${id}`
  if (found.retired) return `the key ${id} is retired already`
  if (id === sealing) return `the key ${id} seals: put another one before it in DATA_KEYS`
  if (found.holders > 0) return `${found.holders} processes still seal with the key ${id}: give them the newer one`
  const under = (await countSealed({ sql: m.sql as unknown as postgres.Sql })).get(id)
  if (under)
    return `still sealed with the key ${id}: ${[...under].map(([place, count]) => `${count} in ${place}`).join(', ')}; run zaakstroom keys reseal`
  one(await m.sql<{ id: string }[]>`update data_key set retired_at = now() where id = ${id} returning id`)
  m.unrecorded('keys are none of the APIs')
  return undefined
}
