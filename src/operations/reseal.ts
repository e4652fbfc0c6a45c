// Seals what was sealed with older keys with the newest one, table by table and in portions, each one transaction with its position
// in `reseal`: a crash loses nothing that was committed, and what comes twice finds nothing to do.
import type postgres from 'postgres'
import { signingKeyOwner } from '../autorisaties/token-endpoint/signing-keys.ts'
import { deflated, inflated, type Packed } from '../core/audit-contents.ts'
import type { Mutation } from '../core/mutate.ts'
import { providerOwner, type SecretBox, totpOwner } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'
import { lastOf, one } from '../database/rows.ts'
import { snapshotOwner } from '../feed/snapshots.ts'
import { keyIdOf, SECRET_KEY } from '../lib/key-ring.ts'
import { keysIn, UNSEALED } from '../lib/numbers.ts'
import { subscriberOwner } from '../notificaties/deliver.ts'
import { unnested } from '../overnemen/rows.ts'
import { takeoverOwner } from '../overnemen/takeover.ts'
import { serviceOwner } from '../services/services.ts'
import { LOOKUP_COLUMNS, lookupsOf, lookupsOfAll } from '../zaken/persons.ts'
import { settingOwner } from './alerts/settings.ts'

type Sql = postgres.Sql | postgres.TransactionSql

/** Where secrets stand. `by`: the column whose value the owner of a secret is made of; `list`: a column with several. */
type Secrets = {
  table: string
  key: string
  by: string
  columns: string[]
  list?: string
  owner(by: string): string
  /** The column that is sealed for servers too, and an array of those in SQL. */
  sent?: { column: string; servers: string }
}
const SECRETS: readonly Secrets[] = [
  { table: 'applicatie_secret', key: 'id', by: 'client_id', columns: ['sealed_secret'], owner: (clientId) => clientId },
  { table: 'oauth_signing_key', key: 'kid', by: 'kid', columns: ['private_key'], owner: signingKeyOwner },
  {
    table: 'service',
    key: 'id',
    by: 'uuid',
    columns: ['sealed_secret', 'certificate_key'],
    owner: serviceOwner,
    sent: { column: 'sealed_secret', servers: 'array[api_root, token_url]' },
  },
  {
    table: 'abonnement',
    key: 'id',
    by: 'uuid',
    columns: ['auth', 'certificate_key'],
    list: 'ondertekening',
    owner: subscriberOwner,
    sent: { column: 'auth', servers: 'array[callback_url, token_url]' },
  },
  { table: 'beheer_account', key: 'id', by: 'uuid', columns: ['totp_secret'], owner: totpOwner },
  {
    table: 'sealed_setting',
    key: 'name',
    by: 'name',
    columns: ['sealed'],
    owner: settingOwner,
    sent: { column: 'sealed', servers: 'servers' },
  },
  {
    table: 'oidc_provider',
    key: 'id',
    by: 'uuid',
    columns: ['sealed_secret'],
    owner: providerOwner,
    sent: { column: 'sealed_secret', servers: 'array[issuer]' },
  },
  { table: 'takeover', key: 'id', by: 'uuid', columns: ['secret'], owner: takeoverOwner },
  { table: 'feed_snapshot', key: 'id', by: 'id', columns: ['sealed_key'], owner: snapshotOwner },
]

/**
 * Where JSON with numbers of persons stands. `person`: the column that a row is found by, by numbers in it; `persons`: the same with a
 * list, and one column for all of them. `isTrail`: it is deflated in `packed`.
 */
type Rows = { table: string; columns: string[]; person?: string; persons?: string; isTrail?: boolean }
const ROWS: readonly Rows[] = [
  { table: 'rol', columns: ['betrokkene_identificatie', 'authenticatie_context'], person: 'betrokkene_identificatie' },
  { table: 'zaakobject', columns: ['object_identificatie'] },
  { table: 'takeover_postponed', columns: ['object'] },
  { table: 'audit', columns: [], isTrail: true },
  { table: 'verwerking', columns: ['betrokkenen'], persons: 'betrokkenen' },
]
/** Those that live for a day at most go by themselves. */
const SHORT_LIVED: readonly Rows[] = [
  { table: 'idempotency_key', columns: ['answer'] },
  { table: 'pending_mirror', columns: ['changes'] },
  { table: 'verwerking_unsettled', columns: ['content'] },
]

export const PLACES: readonly string[] = [...SECRETS, ...ROWS].map(({ table }) => table)
const PORTION = 2_000
/** Of the audit trail, with as many rows. */
const BLOCKS = 128

type SecretRow = { key: string; by: string; sent_to: string[] | null } & Record<
  string,
  Buffer | Buffer[] | string | string[] | null
>

const secretsOf = (sql: Sql, { table, key, by, columns, list, sent }: Secrets) =>
  sql<SecretRow[]>`
    select ${sql(key)}::text as key, ${sql(by)}::text as by, ${sql.unsafe(sent?.servers ?? 'null')}::text[] as sent_to,
      ${sql([...columns, ...(list ? [list] : [])])} from ${sql(table)}`

/**
 * What is sealed with each key, by table. It reads all of these tables.
 * @returns by key, that of the numbers that are not sealed yet being `undefined`
 */
export async function countSealed({
  sql,
}: Pick<Database, 'sql'>): Promise<Map<string | undefined, Map<string, number>>> {
  const counts = new Map<string | undefined, Map<string, number>>()
  const count = (place: string, key: string | undefined, by = 1) => {
    const ofKey = counts.get(key) ?? new Map<string, number>()
    if (by > 0) counts.set(key, ofKey.set(place, (ofKey.get(place) ?? 0) + by))
  }
  for (const place of SECRETS)
    for (const row of await secretsOf(sql, place))
      for (const sealed of sealedIn(row, place)) count(place.table, keyIdOf(sealed) ?? SECRET_KEY)
  await sql.begin(async (trx) => {
    await trx`select set_config('statement_timeout', '0', true)`
    const keys = await trx<{ id: string }[]>`select id from data_key`
    for (const { table, columns, isTrail } of [...ROWS, ...SHORT_LIVED]) {
      if (isTrail) {
        const portions = trx<TrailRow[]>`
          select hoofd_object_uuid as "hoofdObjectUuid", resource_uuid as "resourceUuid", packed from audit`.cursor(
          PORTION,
        )
        for await (const rows of portions)
          for (const row of rows) for (const key of keysIn(inflated(row.packed, row))) count(table, key)
        continue
      }
      const text = columns.map((name) => `coalesce(${name}::text, '')`).join(' || ')
      const rows = await trx.unsafe<{ key: string | null; count: number }[]>(
        `select k.key, count(*)::int as count from (select ${text} as text from ${table}) x
         join unnest($1::text[], $2::text[]) as k(key, pattern) on case when k.key is null then x.text ~ k.pattern else strpos(x.text, k.pattern) > 0 end
         group by 1`,
        [
          [null, ...keys.map(({ id }) => id)],
          [UNSEALED, ...keys.map(({ id }) => `"~1.${id}.`)],
        ],
      )
      for (const row of rows) count(table, row.key ?? undefined, row.count)
    }
  })
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
    on conflict (place) do update set key = excluded.key, position = null, until = null, seen = 0, resealed = 0,
      begun_at = excluded.begun_at, done_at = null`
  await m.enqueue('reseal', {}, { jobKey: 'reseal' })
}

/** Does one portion. @returns whether there is more to do */
export async function resealPortion({ sql }: Pick<Database, 'sql'>, box: SecretBox): Promise<boolean> {
  return sql.begin(async (trx) => {
    const [step] = await trx<Step[]>`
      select place, key, position, until from reseal where done_at is null and place = any(${[...PLACES]})
      order by array_position(${[...PLACES]}, place) limit 1 for update`
    if (!step) return false
    const secrets = SECRETS.find(({ table }) => table === step.place)
    const rows = ROWS.find(({ table }) => table === step.place)
    if (secrets) await resealSecrets(trx, box, secrets, step.key)
    if (rows?.isTrail) await resealTrail(trx, box, step)
    else if (rows) await resealRows(trx, box, rows, step)
    return true
  }) as Promise<boolean>
}

type Step = { place: string; key: string; position: number | null; until: number | null }
type TrailRow = Omit<Packed, 'made'>
type Ends = { low: number | null; high: number | null }
type JsonRow = { id: number; version: string } & Record<string, string | null>

/** Rows that somebody changed meanwhile were sealed by that: they are left alone. */
async function resealRows(
  sql: postgres.TransactionSql,
  { numbers }: SecretBox,
  { table, columns, person, persons }: Rows,
  { key, position, until }: Step,
): Promise<void> {
  await sql`select set_config('zaakstroom.reseal', 'on', true)` // the feed tells nothing: the answers stay the same
  const [ends] =
    position === null ? await sql.unsafe<Ends[]>(`select min(id) as low, max(id) as high from ${table}`) : []
  const after = position ?? (ends?.low ?? 0) - 1
  const last = until ?? ends?.high ?? after
  const rows = await sql.unsafe<JsonRow[]>(
    `select id, xmin::text as version, ${columns.map((name) => `${name}::text as ${name}`).join(', ')}
     from ${table} where id > $1 and id <= $2 order by id limit ${PORTION}`,
    [after, last],
  )
  const changed = rows.flatMap((row) => {
    const sealed = Object.fromEntries(columns.map((name) => [name, row[name] ? numbers.reseal(row[name], key) : null]))
    if (columns.every((name) => sealed[name] === row[name])) return []
    const who = person && row[person] ? JSON.parse(numbers.open(row[person])) : undefined
    const all = persons && row[persons] ? JSON.parse(numbers.open(row[persons])) : undefined
    const found = all && { lookups: lookupsOfAll(numbers, all, key) }
    return [{ id: row.id, version: row.version, ...sealed, ...(person && lookupsOf(numbers, who, key)), ...found }]
  })
  let resealed = 0
  if (changed.length > 0) {
    const types = [
      ...columns.map((name) => ({ name, type: 'jsonb', encoded: true })),
      ...(person ? LOOKUP_COLUMNS.map((name) => ({ name, type: 'bytea' })) : []),
      ...(persons ? [{ name: 'lookups', type: 'bytea[]' }] : []),
    ]
    const { from, value, parameters } = unnested(
      'r',
      [{ name: 'id', type: 'bigint' }, { name: 'version', type: 'text' }, ...types],
      changed,
    )
    const written = await sql.unsafe(
      `update ${table} t set ${types.map((one) => `${one.name} = ${value(one)}`).join(', ')} from ${from}
       where t.id = r.id and t.xmin::text = r.version`,
      parameters,
    )
    resealed = written.count
    if (persons) await renewBlocks(sql, changed[0]?.id ?? 0, lastOf(changed).id)
  }
  const isDone = rows.length < PORTION
  await sql`
    update reseal set position = ${isDone ? last : lastOf(rows).id}, until = ${last}, seen = seen + ${rows.length},
      resealed = resealed + ${resealed}, done_at = ${isDone ? sql`clock_timestamp()` : null} where place = ${table}`
}

/** The blocks that lines of the log of processing are found by have what these lines now have. */
async function renewBlocks(sql: postgres.TransactionSql, first: number, last: number): Promise<void> {
  await sql`
    update verwerking_block b
    set lookups = array(select distinct unnest(v.lookups) from verwerking v where v.id between b.first_id and b.last_id)
    where b.last_id between ${first}::bigint
      and (select min(last_id) from verwerking_block where last_id >= ${last}::bigint)`
}

/** Its rows are not ordered by a key of one column, and never changed but here: it goes from block to block of the table. */
async function resealTrail(sql: postgres.TransactionSql, { numbers }: SecretBox, { key, position, until }: Step) {
  const [size] = await sql<{ blocks: number }[]>`
    select (pg_relation_size('audit') / current_setting('block_size')::int)::int as blocks`
  const from = position ?? 0
  const last = until ?? size?.blocks ?? 0
  const to = Math.min(from + BLOCKS, last)
  const rows = await sql<(TrailRow & { place: string; version: string })[]>`
    select ctid::text as place, xmin::text as version, packed, hoofd_object_uuid as "hoofdObjectUuid",
      resource_uuid as "resourceUuid"
    from audit where ctid >= ${`(${from},0)`}::text::tid and ctid < ${`(${to},0)`}::text::tid`
  const changed = rows.flatMap(({ place, version, packed, ...uuids }) => {
    const json = inflated(packed, uuids)
    const sealed = numbers.reseal(json, key)
    return sealed === json ? [] : [{ place, version, hex: deflated(sealed, uuids).toString('hex') }]
  })
  const written = await sql`
    update audit t set packed = decode(r.hex, 'hex')
    from unnest(${changed.map(({ place }) => place)}::text[], ${changed.map(({ version }) => version)}::text[],
      ${changed.map(({ hex }) => hex)}::text[]) as r(place, version, hex)
    where t.ctid = r.place::tid and t.xmin::text = r.version`
  await sql`
    update reseal set position = ${to}, until = ${last}, seen = seen + ${rows.length}, resealed = resealed + ${written.count},
      done_at = ${to === last ? sql`clock_timestamp()` : null} where place = 'audit'`
}

async function resealSecrets(sql: postgres.TransactionSql, box: SecretBox, place: Secrets, key: string): Promise<void> {
  const { table, columns, list, owner, sent } = place
  const rows = await sql<SecretRow[]>`${secretsOf(sql, place)} for update`
  let resealed = 0
  for (const row of rows) {
    const by = owner(row.by)
    // What 1.0.0 sealed for its owner alone is bound to its servers, also under the same key.
    const isUnbound = (name: string, sealed: Buffer) =>
      name === sent?.column && row.sent_to !== null && !box.isFor(sealed, by, row.sent_to)
    const isOld = (name: string) =>
      row[name] instanceof Uint8Array && (keyIdOf(row[name] as Buffer) !== key || isUnbound(name, row[name] as Buffer))
    const isOldList = list !== undefined && (row[list] as Buffer[]).some((sealed) => keyIdOf(sealed) !== key)
    if (!columns.some(isOld) && !isOldList) continue
    const anew = (sealed: Buffer, name = '') => {
      if (name !== sent?.column || row.sent_to === null)
        return keyIdOf(sealed) === key ? sealed : box.seal(box.open(sealed, by), by, key)
      return box.sealFor(box.openFor(sealed, by, row.sent_to), by, row.sent_to, key)
    }
    for (const name of columns)
      if (isOld(name))
        await sql`update ${sql(table)} set ${sql(name)} = ${anew(row[name] as Buffer, name)} where ${sql(place.key)}::text = ${row.key}`
    if (list && isOldList)
      await sql`update ${sql(table)} set ${sql(list)} = array(select decode(hex, 'hex') from unnest(${(row[list] as Buffer[]).map((one) => anew(one).toString('hex'))}::text[]) with ordinality x(hex, n) order by n) where ${sql(place.key)}::text = ${row.key}`
    resealed++
  }
  await sql`update reseal set seen = ${rows.length}, resealed = ${resealed}, done_at = clock_timestamp() where place = ${table}`
}

/**
 * Takes a key out of use.
 * @returns why it cannot be; undefined when it is retired
 */
export async function retireKey(
  m: Mutation,
  database: Pick<Database, 'sql'>,
  id: string,
  sealing: string,
): Promise<string | undefined> {
  const rows = await m.sql<{ retired: boolean; holders: number }[]>`
    select retired_at is not null as retired,
      (select count(*)::int from key_holder where seals = k.id and seen_at > now() - interval '30 seconds') as holders
    from data_key k where id = ${id} for update`
  const [found] = rows
  if (!found) return `there is no key ${id}`
  if (found.retired) return `the key ${id} is retired already`
  if (id === sealing) return `the key ${id} seals: put another one before it in DATA_KEYS`
  if (found.holders > 0) return `${found.holders} processes still seal with the key ${id}: give them the newer one`
  const under = (await countSealed(database)).get(id)
  if (under)
    return `still sealed with the key ${id}: ${[...under].map(([place, count]) => `${count} in ${place}`).join(', ')}; run zaakstroom keys reseal`
  one(await m.sql<{ id: string }[]>`update data_key set retired_at = now() where id = ${id} returning id`)
  m.unrecorded('keys are none of the APIs')
  return undefined
}
