// Two organisations with the same rows: uuids, numbers, clients, secrets, keys and accounts are equal, and the texts of each say whose they
// are. Every route that reads is asked at the host of each, in turn and at once, and nothing of the other comes: no byte, no count, no
// session. The routes are those that are registered.
import { createHash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { glob } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import postgres from 'postgres'
import t from 'tap'
import { migrate } from '../../src/database/migrate.ts'
import { withSchema } from '../../src/database/schema.ts'
import { testApp, uuidOf } from '../app.ts'
import type { Line } from '../conformance/line.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { keysOf, many } from './api-many.ts'

const [A, B] = ['zaken.a.nl', 'zaken.b.nl']
const SCHEMAS = ['zaakstroom', 'gemeente_b'] as const
const MARKS = ['MERKVANA', 'MERKVANB'] as const
/** Columns of text whose value means nothing to the program. */
const PLAIN = /omschrijving|titel|toelichting|naam|onderwerp|label|beschrijving|weergave|tekst|auteur/

const { url } = await testDatabase(t)
const sql = postgres(url, { max: 1, onnotice: () => {} })
t.teardown(() => sql.end())

// The rows of the first: one of each resource, as the conformance test makes them.
const lines: Line[] = []
for (const file of (await Array.fromAsync(glob('conformance/*.ts', { cwd: `${import.meta.dirname}/..` }))).sort()) {
  const found: Record<string, unknown> = await import(`../${file}`)
  for (const exported of Object.values(found)) if (Array.isArray(exported)) lines.push(...exported)
}
const made: string[] = []
await t.test('the rows of the first', async (t) => {
  const test = await testApp(t, { DATABASE_URL: url, DATA_KEYS: keysOf(0) })
  for (const line of lines) {
    const body = await line.given(test)
    if (!line.list.includes('POST')) continue
    const answer = await test.call('POST', line.at?.(body) ?? line.path, body, { headers: line.headers ?? {} })
    if (answer.status !== 201) t.fail(`${line.path}: ${answer.text}`)
    else made.push(new URL(answer.body.url).pathname)
  }
  await sql`insert into zaakstroom.beheer_account (gebruikersnaam, naam, rol, may_repair, max_vertrouwelijkheidaanduiding)
    values ('anna', 'Anna', 'administrator', true, 'zeer_geheim')`
})

// The second has the same, and both get their mark.
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
const sessions = ['sessie van A', 'sessie van B'] as const
for (const [n, schema] of SCHEMAS.entries())
  await sql`
    insert into ${sql(schema)}.beheer_session (key, account_id, expires_at)
    select ${createHash('sha256').update(sessions[n]!).digest()}, id, now() + interval '1 hour' from ${sql(schema)}.beheer_account
    where may_repair`
/** A statement in the schema of one, as triggers need it. */
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
// Counts differ too.
await within(1, 'delete from klantcontact')

const routes = new Map<string, { access: unknown; isOfProcess: boolean }>()
const collect = (message: unknown) =>
  (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url, config }) => {
    for (const name of [method].flat())
      routes.set(`${name} ${url}`, { access: config?.access, isOfProcess: config?.isOfProcess === true })
  })
subscribe('fastify.initialization', collect)
const { call, change, parts } = await many(
  t,
  [
    { host: A, schema: SCHEMAS[0], dataKeys: keysOf(0) },
    { host: B, schema: SCHEMAS[1], dataKeys: keysOf(0) },
  ],
  { url, isPrepared: true },
)
unsubscribe('fastify.initialization', collect)

const gets = [...routes].flatMap(([route, { access, isOfProcess }]) => {
  const [method, path = ''] = route.split(' ')
  return method === 'GET' && !isOfProcess && !path.includes('*') ? [{ path, isPage: access === 'beheer' }] : []
})

/** The path of a route with uuids of what was made there. */
function filled(path: string): string {
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
const headersOf = (isPage: boolean, n: 0 | 1): Record<string, string> =>
  isPage ? { cookie: `__Host-zaakstroom=${encodeURIComponent(sessions[n])}` } : { 'accept-crs': 'EPSG:4326' }
const ask = (host: string, { path, isPage }: (typeof gets)[number], n: 0 | 1) =>
  call(host, 'GET', filled(path), { as: isPage ? '' : 'beheer', headers: headersOf(isPage, n) })

t.ok(made.length >= 30 && gets.length > 150, `${made.length} resources, ${gets.length} routes`)

t.test('every route that reads gives what is of its host', async (t) => {
  const wrong: string[] = []
  let marked = 0
  let found = 0
  const judge = (what: string, n: 0 | 1, { status, text, headers }: Awaited<ReturnType<typeof call>>) => {
    const all = text + JSON.stringify(headers)
    const [own, other] = [MARKS[n], MARKS[1 - n]!]
    // The bytes of the documents are in the store of neither.
    if (status >= 500 && !what.endsWith('/download')) wrong.push(`${what} at ${n}: ${status} ${text.slice(0, 200)}`)
    if (all.includes(other))
      wrong.push(`${what} at ${n} shows the other: ${all.slice(all.indexOf(other) - 60, all.indexOf(other) + 20)}`)
    if (all.includes([A, B][1 - n]!)) wrong.push(`${what} at ${n} names the host of the other`)
    if (status === 200) found++
    if (text.includes(own)) marked++
  }
  for (const route of gets) {
    // The first fills whatever is kept in memory; then both at once.
    judge(route.path, 0, await ask(A, route, 0))
    const [b, a] = await Promise.all([ask(B, route, 1), ask(A, route, 0)])
    judge(route.path, 1, b)
    judge(route.path, 0, a)
    if (a.status !== b.status && !route.path.includes('klantcontacten'))
      wrong.push(`${route.path}: ${a.status} and ${b.status}`)
  }
  t.same(wrong, [])
  t.ok(found > 250 && marked > 120, `${found} answers of 200, ${marked} with a mark`)
})

t.test('counts are its own', async (t) => {
  const count = async (host: string) => (await call(host, 'GET', '/zaken/api/v1/klantcontacten')).body.count
  t.ok((await count(A)) > 0)
  t.equal(await count(B), 0)
})

t.test('what is kept of a type is that of its own organisation', async (t) => {
  // The same uuid, id and version: a case gets the confidentiality of its own type.
  const [type] = await sql<
    { uuid: string; id: number }[]
  >`select uuid, id from zaakstroom.zaaktype where not concept order by id limit 1`
  for (const [n, level] of ['zaakvertrouwelijk', 'geheim'].entries())
    await within(n, `update zaaktype set vertrouwelijkheidaanduiding = '${level}' where id = ${type!.id}`)
  for (const times of [1, 2])
    for (const [host, level] of [
      [A, 'zaakvertrouwelijk'],
      [B, 'geheim'],
    ] as const) {
      const { body, text } = await call(host, 'POST', '/zaken/api/v1/zaken', {
        headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' },
        body: {
          bronorganisatie: '517439943',
          verantwoordelijkeOrganisatie: '517439943',
          zaaktype: `https://${host}/catalogi/api/v1/zaaktypen/${type!.uuid}`,
          startdatum: '2026-03-02',
        },
      })
      t.equal(body.vertrouwelijkheidaanduiding, level, `${times}: ${text}`)
    }
})

t.test('a session, a key of a request and failures count at their own host', async (t) => {
  const at = (host: string, n: 0 | 1) => call(host, 'GET', '/beheer/', { as: '', headers: headersOf(true, n) })
  t.equal((await at(A, 0)).status, 200)
  t.equal((await at(B, 1)).status, 200)
  t.match(await at(B, 0), { status: 303, headers: { location: /^\/beheer\/inloggen/ } }, 'signed out')
  t.match(await at(A, 1), { status: 303 })
  const body = { domein: 'XYZ', rsin: '000000000', contactpersoonBeheerNaam: 'iemand' }
  const both = await Promise.all(
    [A, B].map((host) =>
      call(host, 'POST', '/catalogi/api/v1/catalogussen', { body, headers: { 'idempotency-key': 'dezelfde' } }),
    ),
  )
  t.same(
    both.map(({ status, headers }) => [status, headers['idempotency-replayed']]),
    [
      [201, undefined],
      [201, undefined],
    ],
  )
  const bad = { authorization: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJjbGllbnRfaWQiOiJiZWhlZXIifQ.x' }
  await until('A refuses to go on', async () => {
    const { status } = await call(A, 'GET', '/zaken/api/v1/zaken', { headers: bad })
    return status === 429 || status === 403
  })
  t.equal((await call(B, 'GET', '/zaken/api/v1/zaken', { headers: { 'accept-crs': 'EPSG:4326' } })).status, 200)
})

t.test('at a host of nobody every route is 404, and at a suspended one 503', async (t) => {
  await change(B, { state: 'suspended' })
  await until('suspended', () => parts.organisations.find(B)?.state === 'suspended')
  const wrong: string[] = []
  const bodies = new Set<string>()
  for (const route of routes.keys()) {
    const [method = '', path = ''] = route.split(' ')
    if (routes.get(route)!.isOfProcess || method === 'HEAD') continue
    const options = { headers: headersOf(false, 0), ...(method !== 'GET' && { body: {} }) }
    const nobody = await call('elders.nl', method, filled(path), options)
    bodies.add(nobody.text.replace(/urn:uuid:[\da-f-]{36}/, ''))
    if (nobody.status !== 404) wrong.push(`${route}: ${nobody.status}`)
    const suspended = await call(B, method, filled(path), options)
    if (suspended.status !== 503 || !suspended.text.includes('organisation-suspended'))
      wrong.push(`${route} suspended: ${suspended.status}`)
  }
  t.same(wrong, [])
  t.equal(bodies.size, 1, 'and nothing tells one route from another')
})
