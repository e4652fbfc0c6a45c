// Each resource of the conformance test that a feed tells of: as its list has it, to whom may read it and to nobody else, and a
// tombstone when it goes.
import { execFile } from 'node:child_process'
import { glob } from 'node:fs/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { FEEDS } from '../../src/feed/kinds.ts'
import { givenClient, type Json, testApp, uuidOf } from '../app.ts'
import type { Line } from '../conformance/line.ts'
import { until } from '../until.ts'

const lines: Line[] = []
for (const file of (await Array.fromAsync(glob('../conformance/*.ts', { cwd: import.meta.dirname }))).sort()) {
  const found: Record<string, unknown> = await import(file)
  for (const exported of Object.values(found)) if (Array.isArray(exported)) lines.push(...exported)
}
const kinds = new Map(
  Object.entries(FEEDS).flatMap(([api, feed]) =>
    Object.keys(feed.kinds).map((resource) => [resource, `/${api}/api/v1${feed.path}/_deltas`] as const),
  ),
)
const test = await testApp(t)
const { call } = test
let clients = 0

type Operation = { type: string; resource_type: string; resource_id: string; resource?: Json }

/** What happened after a position, to a resource, as a client hears it once everything of before has settled. */
async function heard(path: string, after: string, uuid: string, as: string): Promise<Operation[]> {
  const { body, status, text } = await call('GET', `${path}?after=${after}&limit=1000`, undefined, { as })
  if (status !== 200) throw new Error(text)
  const operations: Operation[] = body.items.flatMap(({ operations }: { operations: Operation[] }) => operations)
  return operations.filter(({ resource_id }) => resource_id === uuid)
}

async function positionOf(path: string, as: string): Promise<string> {
  const { body, status, text } = await call('GET', `${path}?limit=1`, undefined, { as })
  if (status !== 200) throw new Error(text)
  let { position } = body
  for (;;) {
    const page = (await call('GET', `${path}?after=${position}&limit=1000`, undefined, { as })).body
    if (page.items.length === 0) return page.position
    position = page.position
  }
}

async function story(t: Test, line: Line, path: string) {
  const { headers = {} } = line
  const body = await line.given(test)
  const at = line.at?.(body) ?? line.path
  const client = await givenClient(test, `lezer-${++clients}`, line.rights(body))
  const stranger = await givenClient(test, `vreemde-${clients}`, [{ component: 'nrc', scopes: ['iets.anders'] }])
  const other = await givenClient(
    test,
    `ander-${clients}`,
    line
      .rights(body)
      .map((right) => ({ ...right, ...(right.typeUuid && { typeUuid: '00000000-0000-4000-8000-000000000000' }) })),
  )
  t.equal((await call('GET', path, undefined, { as: stranger })).status, 403, 'the feed asks the scope')
  t.equal((await call('GET', path.replace('_deltas', '_snapshots'), undefined, { as: stranger })).status, 403)
  const [start, startOfOther] = [await positionOf(path, client), await positionOf(path, other)]
  const made = await call('POST', at, body, { headers })
  t.equal(made.status, 201, made.status === 201 ? '' : made.text)
  const uuid = uuidOf(made.body.url)
  const told = await until('the create', async () => (await heard(path, start, uuid, client)).at(-1))
  const shown = (await call('GET', made.body.url, undefined, { headers })).body
  t.same(told.resource, shown, 'it is told as a GET has it')
  const isTyped = line.rights(body).some(({ typeUuid }) => typeUuid)
  if (isTyped) t.same(await heard(path, startOfOther, uuid, other), [], 'rights for another type hear nothing of it')
  if (!line.one.includes('DELETE')) return
  await line.beforeDelete?.(test, made.body)
  const gone = await call('DELETE', made.body.url, undefined, { headers })
  t.equal(gone.status, 204, gone.text)
  const last = await until('the tombstone', async () => {
    const found = (await heard(path, start, uuid, client)).at(-1)
    return found?.type === 'delete' && found
  })
  t.notOk('resource' in last)
  if (isTyped) t.same(await heard(path, startOfOther, uuid, other), [])
}

for (const line of lines) {
  const path = kinds.get(line.resource)
  // A zaakbesluit is there with its besluit, and a POST only confirms it.
  if (path && line.resource !== 'zaakbesluit') t.test(`${line.path} is told in its feed`, (t) => story(t, line, path))
}

t.test('a process without routes, as a worker is, reads every kind of every feed', async (t) => {
  const script = `
    const { FEEDS } = await import('./src/feed/kinds.ts')
    const { openDatabase, readerOf } = await import('./src/database/database.ts')
    const { systemActor } = await import('./src/core/access.ts')
    const database = openDatabase(process.env.DATABASE_URL, { max: 2, name: 'test' })
    const viewer = { reader: readerOf(database), actor: systemActor('test', 'http://test'), base: 'http://test' }
    const counts = {}
    for (const { kinds } of Object.values(FEEDS))
      for (const [resource, { table, load }] of Object.entries(kinds)) {
        const ids = (await database.sql.unsafe('select id from ' + table)).map(({ id }) => id)
        counts[resource] = [ids.length, ids.length > 0 ? (await load(viewer, ids)).length : 0]
      }
    console.log(JSON.stringify(counts))
    await database.close()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: { ...process.env, DATABASE_URL: test.databaseUrl },
  })
  const counts = Object.entries(JSON.parse(stdout) as Record<string, [number, number]>)
  t.equal(counts.length, kinds.size)
  for (const [resource, [there, read]] of counts) t.equal(read, there, resource)
  t.ok(Object.fromEntries(counts).roltype![0] > 0)
})
