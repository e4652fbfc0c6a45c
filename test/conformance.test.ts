// Every resource of every component goes through the same story, so that none of them forgets a step.
import { subscribe } from 'node:diagnostics_channel'
import { glob } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import type { TSchema } from 'typebox'
import { migrate } from '../src/database/migrate.ts'
import { withSchema } from '../src/database/schema.ts'
import { snakeCase } from '../src/http/input.ts'
import { findFaults } from '../src/http/input-faults.ts'
import { type Answer, givenClient, type TestApp, testApp, uuidOf } from './app.ts'
import { auditRecords } from './audit-records.ts'
import type { Line } from './conformance/line.ts'
import { testDatabase } from './setup.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const lines: Line[] = []
for (const file of (await Array.fromAsync(glob('conformance/*.ts', { cwd: import.meta.dirname }))).sort()) {
  const found: Record<string, unknown> = await import(`./${file}`)
  for (const exported of Object.values(found)) if (Array.isArray(exported)) lines.push(...exported)
}

// What each route says it answers, by method and path.
const declared = new Map<string, Record<number, TSchema>>()
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url, schema }) => {
    for (const name of [method].flat())
      declared.set(`${name} ${url}`, (schema?.response ?? {}) as Record<number, TSchema>)
  })
})

// The story is that of an organisation in a schema of its own. Beside it, in the same database, another has the usual schema.
const { url } = await testDatabase(t)
const ours = withSchema(url, 'gemeente_b')
await migrate(ours)
const test = await testApp(t, { DATABASE_URL: ours })
let clients = 0
const ALL = [
  '/zaken/api/v1/zaken/_deltas',
  '/documenten/api/v1/enkelvoudiginformatieobjecten/_deltas',
  '/besluiten/api/v1/besluiten/_deltas',
  '/catalogi/api/v1/catalogussen/_deltas',
  '/zaken/api/v1/zaken?expand=status,rollen,zaakobjecten,zaakinformatieobjecten.informatieobject',
]
const MADE_BY_MIGRATE = [
  'history',
  'migration',
  'migrations',
  'server_life',
  'notificatie_settings',
  'feed',
  'external_receiver',
]

for (const line of lines) {
  t.test(`${line.path} keeps to what every resource keeps to`, (t) => story(t, test, line))
}

t.test('all that tells of it writes its moments with six digits', async (t) => {
  for (const record of await auditRecords(test.database))
    wellWrittenMoments(t, JSON.stringify(record), 'an audit record')
  const messages = await test.database.sql<{ text: string }[]>`
    select message_of(n)::text as text from notificatie n
    union all select message_of(jsonb_populate_record(n, '{"aanmaakdatum_text": "2026-11-05T10:00:00.5Z"}'))::text from notificatie n`
  for (const { text } of messages) wellWrittenMoments(t, text, 'a message')
  for (const path of ALL) {
    const answer = await test.call('GET', path, undefined, { headers: { 'accept-crs': 'EPSG:4326' } })
    t.equal(answer.status, 200, path)
    wellWrittenMoments(t, answer.text, path)
  }
  t.ok(moments > 1000, `${moments} moments`)
})

t.test('nothing of all this came to the organisation beside it', async (t) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const kept = async (schema: string) => {
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in (${schema}, ${`${schema}_queue`}) and c.relkind = 'r' and c.relname <> all (${MADE_BY_MIGRATE}) order by 1`
    const rows = await Promise.all(
      tables.map(async ({ name }) => [name, (await sql.unsafe(`select from ${name} limit 1`)).length] as const),
    )
    return rows.filter(([, count]) => count > 0).map(([name]) => name)
  }
  t.ok((await kept('gemeente_b')).length > 40)
  t.same(await kept('zaakstroom'), [])
})

async function story(t: Test, test: TestApp, line: Line) {
  const { headers = {} } = line
  const call = async (method: string, url: string, body?: unknown, as?: string, more: Record<string, string> = {}) => {
    const answer = await test.call(method, url, withShortMoments(body), {
      ...(as && { as }),
      headers: { ...headers, ...more },
    })
    wellWrittenMoments(t, answer.text, `${method} ${url}`)
    return answer
  }
  const stranger = await givenClient(test, `vreemde-${++clients}`, [{ component: 'nrc', scopes: ['iets.anders'] }])

  const body = await line.given(test)
  const path = line.at?.(body) ?? line.path
  const client = await givenClient(test, `client-${clients}`, line.rights(body))

  if (line.list.includes('POST')) {
    problem(t, await call('POST', path, body, undefined, { authorization: '' }), 403, 'a POST without a token')
    problem(t, await call('POST', path, body, stranger), 403, 'a POST without the scope')
    problem(t, await call('POST', path, {}, client), 400, 'a POST of nothing')
    problem(t, await call('POST', path, [body], client), 400, 'a POST of a list')
  }

  const before = await counts(test)
  const made = await call('POST', path, { ...body, onbekendeSleutel: { a: 1 }, url: 'https://x.example/' }, client)
  if (!t.equal(made.status, 201, `a POST makes one and ignores unknown keys ${made.status === 201 ? '' : made.text}`))
    return
  const after = await counts(test)
  const records = line.records ?? (line.unrecorded ? 0 : 1)
  t.equal(after.audit - before.audit, records, 'with its audit record')
  t.equal(after.notificatie - before.notificatie, line.messages ?? (line.kanaal ? 1 : 0), 'and its notification')
  if (line.kanaal) t.equal(after.kanaal, line.kanaal, 'on its channel')
  if (records > 0) t.equal(after.resource, line.resource, 'under its name')
  t.equal(made.headers.location, made.body.url, 'Location is its url')
  t.match(made.body.url, new RegExp(`^http://localhost${path}/[0-9a-f-]{36}$`), 'which lies below the list')
  matches(t, 'POST', line.path, 201, made.body)
  const url: string = made.body.url

  const other = await line.given(test)
  const snake = snakeKeys(other, line.camelOnly ?? [])
  const client2 = await givenClient(test, `client-snake-${clients}`, line.rights(snake as Record<string, unknown>))
  const taken = await call('POST', line.at?.(other) ?? line.path, snake, client2)
  t.equal(taken.status, 201, `keys in snake_case are taken ${taken.status === 201 ? '' : taken.text}`)

  const third = await line.given(test)
  const client3 = await givenClient(test, `client-blanks-${clients}`, line.rights(third))
  const trimmed = await call('POST', line.at?.(third) ?? line.path, inBlanks(third), client3)
  t.equal(trimmed.status, 201, `blanks around texts are dropped ${trimmed.status === 201 ? '' : trimmed.text}`)
  t.strictSame(
    Object.entries(trimmed.body ?? {}).filter(([, value]) => typeof value === 'string' && value !== value.trim()),
    [],
    'and none of them is kept',
  )

  if (line.list.includes('GET')) {
    const query = line.query?.(made.body) ?? ''
    const listed = await call('GET', `${path}${query}`, undefined, client)
    t.equal(listed.status, 200, 'the list is read')
    const results: { url: string }[] = line.bare ? listed.body : listed.body.results
    t.ok(
      results.some((item) => item.url === url),
      'and holds what was made',
    )
    matches(t, 'GET', line.path, 200, listed.body)
    problem(t, await call('GET', path, undefined, stranger), 403, 'the list without the scope')
    problem(t, await call('GET', path, undefined, undefined, { authorization: 'Basic YTpi' }), 403, 'without a token')
    const refused = await call('GET', `${path}?onbekend=1`, undefined, client)
    problem(t, refused, 400, 'the list with an unknown parameter')
    t.match(refused.body.invalidParams, [{ name: 'nonFieldErrors', code: 'unknown-parameters' }])
    if (!line.bare) {
      problem(t, await call('GET', `${path}?page=9999`, undefined, client), 404, 'a page past the end')
      await byCursor(t, `${path}${query}`, listed.body, (url) => call('GET', url, undefined, client))
    }
  }

  const got = await call('GET', url, undefined, client)
  t.equal(got.status, 200, 'it is read')
  matches(t, 'GET', `${line.path}/:uuid`, 200, got.body)
  problem(t, await call('GET', url, undefined, stranger), 403, 'reading without the scope')
  if (declared.has(`POST ${line.path}/_batch`)) {
    const requests = [{ key: UNKNOWN }, { key: uuidOf(url) }]
    const batch = await call('POST', `${path}/_batch`, { requests }, client)
    t.strictSame(batch.body, { results: [null, got.body] }, 'a _batch answers what a GET does')
    matches(t, 'POST', `${line.path}/_batch`, 200, batch.body)
    problem(t, await call('POST', `${path}/_batch`, { requests }, stranger), 403, 'a _batch without the scope')
    problem(t, await call('POST', `${path}/_batch`, {}, client), 400, 'a _batch of nothing')
  }
  problem(t, await call('GET', `${path}/${UNKNOWN}`, undefined, client), 404, 'an unknown uuid')
  for (const method of line.one) {
    const sent = method === 'PUT' || method === 'PATCH' ? {} : undefined
    problem(t, await call(method, `${path}/geen-uuid`, sent, client), 404, `a ${method} of what is no uuid`)
  }
  problem(t, await call('GET', `${path}/%00`, undefined, client), 404, 'NUL in the path')
  problem(t, await call('GET', `${url}/`, undefined, client), 404, 'a slash at the end')
  const refused = await call('GET', `${url}?onbekend=1`, undefined, client)
  problem(t, refused, 400, 'a detail with an unknown parameter')
  t.match(refused.body?.invalidParams, [{ name: 'nonFieldErrors', code: 'unknown-parameters' }])
  const etag = String(got.headers.etag)
  t.match(etag, /^"[0-9a-f]{32}"$/, 'with a strong ETag')
  if (line.list.includes('POST')) t.equal(made.headers.etag, etag, 'which the answer of the POST had')
  const same = await call('GET', url, undefined, client, { 'if-none-match': `"anders", ${etag}` })
  t.equal(same.status, 304, 'which is not sent again')
  t.equal(same.text, '')
  const head = await call('HEAD', url, undefined, client)
  t.equal(head.status, 200)
  t.equal(head.headers.etag, etag)

  /** What says that nothing but what is there now may change. */
  const ifMatch = async () => ({
    'if-match': `"anders", ${String((await call('GET', url, undefined, client)).headers.etag)}`,
  })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    if (method === 'POST' || !line.one.includes(method)) wrongMethod(t, await call(method, url, {}, client), line.one)
    if (method === 'POST' ? !line.list.includes('POST') : true)
      wrongMethod(t, await call(method, path, {}, client), line.list)
  }

  const put = line.put && line.one.includes('PUT') ? await line.put(test, made.body, body) : body
  await unchangedBy(t, line, { call: (method, body, more) => call(method, url, body, client, more), body: put })
  if (line.one.includes('PUT')) {
    problem(t, await call('PUT', `${path}/${UNKNOWN}`, body, client), 404, 'a PUT of an unknown uuid')
    problem(t, await call('PUT', url, body, stranger), 403, 'a PUT without the scope')
    const seen = await ifMatch()
    const answer = await changed(t, test, line, () => call('PUT', url, put, client, seen), 'update')
    t.equal(answer.headers.etag, (await call('GET', url, undefined, client)).headers.etag, 'with the ETag of a GET')
    matches(t, 'PUT', `${line.path}/:uuid`, 200, (await call('GET', url, undefined, client)).body)
  }
  if (line.one.includes('PATCH')) {
    problem(t, await call('PATCH', url, {}, stranger), 403, 'a PATCH without the scope')
    const patch = line.patch ? await line.patch(test, made.body) : {}
    const seen = await ifMatch()
    const answer = await changed(t, test, line, () => call('PATCH', url, patch, client, seen), 'partial_update')
    t.equal(answer.headers.etag, (await call('GET', url, undefined, client)).headers.etag, 'with the ETag of a GET')
  }
  if (line.one.includes('DELETE')) {
    problem(t, await call('DELETE', url, undefined, stranger), 403, 'a DELETE without the scope')
    problem(t, await call('DELETE', `${path}/${UNKNOWN}`, undefined, client), 404, 'a DELETE of an unknown uuid')
    await line.beforeDelete?.(test, made.body)
    const seen = await ifMatch()
    await changed(t, test, line, () => call('DELETE', url, undefined, client, seen), 'destroy')
    problem(t, await call('GET', url, undefined, client), 404, 'reading what was deleted')
  }
}

// Many times in a hundred digits of a moment end in a nought, and these do always.
const withShortMoments = (body: unknown): unknown =>
  body === undefined ? undefined : JSON.parse(JSON.stringify(body).replace(/(T\d\d:\d\d:\d\d)(?=Z")/g, '$1.52'))

let moments = 0
/** Clients read a moment by a pattern of six digits behind the seconds; Open Zaak writes none where there is no fraction. */
function wellWrittenMoments(t: Test, text: string, what: string): void {
  for (const [moment, fraction, zone] of text.matchAll(/(?<=")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?([^"]*)/g)) {
    moments++
    if ((fraction !== undefined && fraction.length !== 7) || zone !== 'Z') t.fail(`${what} has ${moment}`)
  }
}

/** The list one by one, from key to key, as far as two: there and back. */
async function byCursor(
  t: Test,
  url: string,
  { count, results }: { count: number; results: object[] },
  get: (url: string) => Promise<Answer>,
) {
  const first = await get(`${url}${url.includes('?') ? '&' : '?'}limit=1`)
  t.strictSame([first.body?.count, first.body?.results], [count, results.slice(0, 1)], 'the first of a list by keys')
  t.equal(first.body?.next === null, count === 1, 'after which others come')
  if (!first.body?.next) return
  const second = await get(first.body.next)
  t.strictSame(second.body?.results, results.slice(1, 2), 'the second')
  t.strictSame((await get(second.body?.previous)).body?.results, results.slice(0, 1), 'and back')
}

type Asked = {
  call(method: string, body: unknown, more: Record<string, string>): Promise<Answer>
  body: object
}

/** RFC 9110, 13.1: by If-Match with an ETag that it has not, and by If-None-Match with one that it has, nothing changes. */
async function unchangedBy(t: Test, { one }: Line, { call, body }: Asked) {
  const etag = String((await call('GET', undefined, {})).headers.etag)
  const conditions: Record<string, string>[] = [
    { 'if-match': '"van-gisteren"' },
    { 'if-match': `W/${etag}` },
    { 'if-none-match': '*' },
  ]
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
    if (!one.includes(method)) continue
    const sent = method === 'PUT' ? body : method === 'PATCH' ? {} : undefined
    for (const condition of conditions) {
      const refused = await call(method, sent, condition)
      problem(t, refused, 412, `a ${method} with ${JSON.stringify(condition)}`)
      t.equal(refused.body?.code, 'precondition_failed')
    }
    t.equal((await call('GET', undefined, {})).headers.etag, etag, 'which changes nothing')
  }
}

/** A change succeeds, and leaves one audit record and, on a channel, one notification behind. */
async function changed(
  t: Test,
  test: TestApp,
  line: Line,
  change: () => Promise<Answer>,
  actie: string,
): Promise<Answer> {
  const before = await counts(test)
  const answer = await change()
  const status = actie === 'destroy' ? 204 : 200
  if (!t.equal(answer.status, status, `${actie} succeeds ${answer.status === status ? '' : answer.text}`)) return answer
  if (actie === 'destroy') t.equal(answer.text, '', 'without content')
  const after = await counts(test)
  // Deleting a main object with a trail deletes the trail, with no record of it.
  if (actie !== 'destroy' || after.audit > before.audit) {
    t.equal(
      after.audit - before.audit,
      line.unrecorded ? 0 : 1,
      `${actie} leaves one audit record, where they are kept`,
    )
    if (!line.unrecorded) t.equal(after.actie, actie)
  }
  const announced = line.kanaal !== null && !line.onlyCreateAnnounced
  t.equal(after.notificatie - before.notificatie, announced ? 1 : 0, `and ${announced ? 'a' : 'no'} notification`)
  return answer
}

async function counts({ database }: TestApp) {
  const [row] = await database.sql`
    select (select count(*)::int from audit) as audit, (select count(*)::int from notificatie) as notificatie,
      (select kanaal from notificatie order by id desc limit 1) as kanaal,
      (select resource from audit order by id desc limit 1) as resource,
      (select actie from audit order by id desc limit 1) as actie`
  return row as { audit: number; notificatie: number; kanaal: string; resource: string; actie: string }
}

/** An answer that says what went wrong, as the standard has it. */
function problem(t: Test, answer: Answer, status: number, what: string): void {
  t.equal(answer.status, status, `${what} is ${status}`)
  t.match(String(answer.headers['content-type']), /^application\/problem\+json/, `${what}: problem+json`)
  const body = answer.body ?? {}
  t.match(body, {
    type: /^http:\/\/localhost\/ref\/fouten\/\w+\/$/,
    code: /./,
    title: /./,
    status,
    detail: /./,
    instance: /^urn:uuid:[0-9a-f-]{36}$/,
  })
  for (const param of body.invalidParams ?? []) t.match(param, { name: /^\S+$/, code: /^\S+$/, reason: /./ })
}

function wrongMethod(t: Test, answer: Answer, allowed: string[]): void {
  problem(t, answer, 405, 'a method that is not there')
  const allow = String(answer.headers.allow).split(', ')
  t.same(allow.filter((method) => method !== 'HEAD' && method !== 'OPTIONS').sort(), [...allowed].sort(), 'Allow')
}

type Properties = { properties?: Record<string, Properties>; items?: Properties }

/** The answer is what the route says it answers: nothing wrong, nothing missing, nothing that is not declared. */
function matches(t: Test, method: string, path: string, status: number, body: unknown): void {
  const schema = declared.get(`${method} ${path}`)?.[status]
  if (!t.ok(schema, `${method} ${path} declares what it answers`)) return
  t.same(findFaults(schema!, body), [], `${method} ${path} answers by its schema`)
  t.same(undeclared(schema as Properties, body), [], 'and nothing besides')
}

function undeclared(schema: Properties, value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => undeclared(schema.items ?? {}, item, `${at}[]`))
  if (value === null || typeof value !== 'object' || !schema.properties) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const declared = schema.properties![name]
    if (!declared) return name === '_expand' ? [] : [`${at}.${name}`]
    return undeclared(declared, member, `${at}.${name}`)
  })
}

/** Each text of a body with blanks around it, but for bytes in base64. */
const inBlanks = (body: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' && name !== 'inhoud' ? `\u00a0 ${value}\t\u2003` : value,
    ]),
  )

function snakeKeys(value: unknown, except: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => snakeKeys(item, except))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) =>
      except.includes(key) ? [key, member] : [snakeCase(key), snakeKeys(member, except)],
    ),
  )
}
