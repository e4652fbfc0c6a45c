// Two organisations with the same rows: uuids, numbers, clients, secrets, keys and accounts are equal, and the texts of each say whose they
// are. The first has one of each resource, as the conformance test makes them.
import { createHash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { glob, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import postgres from 'postgres'
import { migrate } from '../../src/database/migrate.ts'
import { withSchema } from '../../src/database/schema.ts'
import { prepareFilesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { testApp, uuidOf } from '../app.ts'
import type { Line } from '../conformance/line.ts'
import { testDatabase } from '../setup.ts'
import { keysOf, type Many, many } from './api-many.ts'

export const [A, B] = ['zaken.a.nl', 'zaken.b.nl']
export const HOSTS = [A, B] as const
export const SCHEMAS = ['zaakstroom', 'gemeente_b'] as const
export const MARKS = ['MERKVANA', 'MERKVANB'] as const
export const SESSIONS = ['sessie van A', 'sessie van B'] as const
type TestLike = { teardown(work: () => unknown): unknown }
export type Which = 0 | 1
export const other = (n: Which): Which => (n === 0 ? 1 : 0)

/** Columns of text whose value means nothing to the program. */
const PLAIN = /omschrijving|titel|toelichting|naam|onderwerp|label|beschrijving|weergave|tekst|auteur/

export type Twins = Many & {
  sql: postgres.Sql
  /** Addresses of what the first has, as it made them; the second has the same paths. */
  made: string[]
  /** The routes that are registered, as `GET /zaken/api/v1/zaken`. */
  routes: Map<string, { access: unknown; isOfProcess: boolean }>
  /** The path of a route with uuids of what was made there. */
  filled(path: string): string
  /** A statement in the schema of one, as triggers need it. */
  within(n: Which, text: string): Promise<unknown>
  /** What all tables, sequences and files of one hold, by their names. */
  printOf(n: Which): Promise<Record<string, string>>
}

/** Headers of a page for who is signed in at one of them, and of a route of an API. */
export const headersOf = (isPage: boolean, n: Which): Record<string, string> =>
  isPage ? { cookie: `__Host-zaakstroom=${encodeURIComponent(SESSIONS[n])}` } : { 'accept-crs': 'EPSG:4326' }

/** @param options.env of the installation */
export async function givenTwins(t: TestLike, options: { env?: Record<string, string> } = {}): Promise<Twins> {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const made = await makeRows(sql, url)
  await copyRows(sql, url)
  for (const [n, schema] of SCHEMAS.entries())
    await sql`
      insert into ${sql(schema)}.beheer_session (key, account_id, expires_at)
      select ${createHash('sha256').update(SESSIONS[n]!).digest()}, id, now() + interval '1 hour' from ${sql(schema)}.beheer_account
      where may_repair`
  const within = (n: number, text: string) =>
    sql.begin(async (trx) => {
      await trx.unsafe(`set local search_path = ${SCHEMAS[n]}, ${SCHEMAS[n]}_queue`)
      await trx.unsafe(text)
    })
  for (const { name } of await sql<{ name: string }[]>`
    select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'gemeente_b'::regnamespace and c.relkind = 'r' and a.attname = 'id' and a.attidentity <> ''`)
    await within(
      1,
      `select setval(pg_get_serial_sequence('${name}', 'id'), coalesce((select max(id) from ${name}), 0) + 1000)`,
    )
  // The tables of a copy are others, of which no feed would tell anything until it begins anew.
  for (const n of SCHEMAS.keys()) await within(n, 'update feed set cluster = current_cluster()')
  // Counts differ too.
  await within(1, 'delete from klantcontact')

  const routes: Twins['routes'] = new Map()
  const collect = (message: unknown) =>
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url, config }) => {
      for (const name of [method].flat())
        routes.set(`${name} ${url}`, { access: config?.access, isOfProcess: config?.isOfProcess === true })
    })
  subscribe('fastify.initialization', collect)
  const served = await many(
    t,
    [
      { host: A, schema: SCHEMAS[0], dataKeys: keysOf(0) },
      { host: B, schema: SCHEMAS[1], dataKeys: keysOf(0) },
    ],
    { url, isPrepared: true, ...options },
  )
  unsubscribe('fastify.initialization', collect)
  const documentsOf = (n: number) => join(served.env.DATA_DIR!, 'documenten', `00000000${n + 1}`)
  for (const n of [0, 1] as const) await writeDocuments(sql, n, documentsOf(n))
  return {
    ...served,
    sql,
    made,
    routes,
    within,
    filled: (path) => filledFrom(made, path),
    printOf: async (n) => ({
      ...(await tablesOf(sql, SCHEMAS[n])),
      ...(await filesOf(documentsOf(n))),
      ...(await filesOf(join(served.env.DATA_DIR!, `00000000${n + 1}`))),
    }),
  }
}

async function conformanceLines(): Promise<Line[]> {
  const lines: Line[] = []
  for (const file of (await Array.fromAsync(glob('conformance/*.ts', { cwd: `${import.meta.dirname}/..` }))).sort()) {
    const found: Record<string, unknown> = await import(`../${file}`)
    for (const exported of Object.values(found)) if (Array.isArray(exported)) lines.push(...exported)
  }
  return lines
}

/** The rows of the first, by an application of its own. @returns their paths */
async function makeRows(sql: postgres.Sql, url: string): Promise<string[]> {
  const made: string[] = []
  await using ends = new AsyncDisposableStack()
  const teardown = (work: () => unknown) => ends.defer(async () => void (await work()))
  const test = await testApp({ teardown }, { DATABASE_URL: url, DATA_KEYS: keysOf(0) })
  for (const line of await conformanceLines()) {
    const body = await line.given(test)
    if (!line.list.includes('POST')) continue
    const answer = await test.call('POST', line.at?.(body) ?? line.path, body, { headers: line.headers ?? {} })
    if (answer.status !== 201) throw new Error(`${line.path}: ${answer.text}`)
    made.push(new URL(answer.body.url).pathname)
  }
  await sql`insert into zaakstroom.beheer_account (gebruikersnaam, naam, rol, may_repair, max_vertrouwelijkheidaanduiding)
    values ('anna', 'Anna', 'administrator', true, 'zeer_geheim')`
  return made
}

/** Gives the second the rows of the first, and both their mark. */
async function copyRows(sql: postgres.Sql, url: string): Promise<void> {
  await migrate(withSchema(url, SCHEMAS[1]))
  const tables = await sql<{ name: string; columns: string[]; values: string[]; plain: string[] }[]>`
    select c.relname as name,
      array_agg(quote_ident(a.attname) order by a.attnum) filter (where a.attgenerated = '') as columns,
      array_agg(quote_ident(a.attname) || case when y.typnamespace = c.relnamespace then '::text::gemeente_b.' || quote_ident(y.typname) else '' end
        order by a.attnum) filter (where a.attgenerated = '') as values,
      coalesce(array_agg(quote_ident(a.attname)) filter (where a.attname ~ ${PLAIN.source} and a.atttypid = 'text'::regtype and a.attgenerated = ''), '{}') as plain
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped join pg_type y on y.oid = a.atttypid
    where c.relnamespace = 'zaakstroom'::regnamespace and c.relkind = 'r' and c.relname <> 'migration'
    group by 1 order by 1`
  const foreign = await sql<{ text: string }[]>`
    select format('alter table gemeente_b.%I drop constraint %I', c.relname, k.conname) as text
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where c.relnamespace = 'gemeente_b'::regnamespace and k.contype = 'f' and k.conparentid = 0`
  await sql.begin(async (trx) => {
    // The rows come in any order, and nothing is told of them.
    for (const { text } of foreign) await trx.unsafe(text)
    const triggers = async (how: 'disable' | 'enable') => {
      for (const schema of SCHEMAS)
        for (const { name } of tables) await trx.unsafe(`alter table ${schema}.${name} ${how} trigger user`)
    }
    await triggers('disable')
    for (const { name } of tables) await trx.unsafe(`delete from gemeente_b.${name}`)
    for (const { name, columns, values } of tables) {
      const list = columns.join(', ')
      await trx.unsafe(
        `insert into gemeente_b.${name} (${list}) overriding system value select ${values.join(', ')} from zaakstroom.${name}`,
      )
    }
    for (const [n, schema] of SCHEMAS.entries())
      for (const { name, plain } of tables)
        for (const column of plain) {
          const marked = `update ${schema}.${name} set ${column} = left(${column}, 20) || '${MARKS[n]}' where ${column} <> ''`
          await trx.savepoint((point) => point.unsafe(marked)).catch(() => {}) // too long there, or one of a few values
        }
    await triggers('enable')
  })
}

/** The bytes of documents: by the same keys, as long, and full of the letter of each. */
async function writeDocuments(sql: postgres.Sql, n: Which, directory: string): Promise<void> {
  await prepareFilesystemStore(directory)
  const schema = sql(SCHEMAS[n])
  for (const { id, key, size } of await sql<{ id: number; key: string; size: number }[]>`
    select id::int, key, size::int from ${schema}.file`) {
    const bytes = Buffer.alloc(size, MARKS[n].at(-1))
    await mkdir(dirname(join(directory, key)), { recursive: true })
    await writeFile(join(directory, key), bytes)
    await sql`update ${schema}.file set sha256 = ${createHash('sha256').update(bytes).digest()} where id = ${id}`
  }
}

function filledFrom(made: readonly string[], path: string): string {
  const start = path
    .split('/:', 1)[0]!
    .replace(/^\/beheer\/(zaken|documenten|besluiten)/, (_, name) =>
      name === 'documenten' ? '/documenten/api/v1/enkelvoudiginformatieobjecten' : `/${name}/api/v1/${name}`,
    )
  const one = made.find((url) => url.startsWith(`${start.replace(/^\/api\/v1/, '/zaken/api/v1')}/`))
  const uuid = one
    ? (one.slice(start.replace(/^\/api\/v1/, '/zaken/api/v1').length + 1).split('/')[0] ?? '')
    : uuidOf(made[0]!)
  return path.replaceAll(/:[A-Za-z_]+/g, uuid)
}

/** When a credential was used is noted a moment later. */
const NOTED = ['last_used_at', 'last_signed_at']

/** A hash of all rows of each table of the organisation and its queue, and where each sequence stands; but what processes say of themselves. */
async function tablesOf(sql: postgres.Sql, schema: string): Promise<Record<string, string>> {
  const names = await sql<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${schema}, ${`${schema}_queue`}) and c.relkind = 'r' and c.relname not in ('migration', 'migrations', 'key_holder')`
  const found = await sql.unsafe<{ name: string; print: string }[]>(
    names
      .map(
        ({ name }) =>
          `select '${name}' as name, md5(coalesce(string_agg(row, '' order by row), '')) as print
           from (select md5((to_jsonb(t) - '{${NOTED.join(',')}}'::text[])::text) as row from ${name} t) x`,
      )
      .join(' union all '),
  )
  const sequences = await sql<{ name: string; print: string }[]>`
    select sequencename as name, coalesce(last_value::text, '') as print from pg_sequences
    where schemaname in (${schema}, ${`${schema}_queue`})`
  return Object.fromEntries([...found, ...sequences].map(({ name, print }) => [name, print]))
}

async function filesOf(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const entry of glob('**/*', { cwd: directory, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile())
      found[path.slice(directory.length)] = createHash('sha256')
        .update(await readFile(path))
        .digest('hex')
  }
  return found
}
