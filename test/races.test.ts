// Requests for the same thing at the same time: one of them does it, the others find it done.
import t from 'tap'
import { testApp, uuidOf } from './app.ts'
import { makeOne, makeWorld } from './fuzz/world.ts'

const test = await testApp(t)
const { sql } = test.database
const world = await makeWorld(test)

for (const line of world.lines.filter(({ one }) => one.includes('DELETE'))) {
  t.test(`${line.path}: of deletes at the same time one is told that it did so`, async (t) => {
    const made = await makeOne(world, line)
    await line.beforeDelete?.(test, made)
    const { headers = {} } = line
    const [before] = await sql`select count(*)::int as count from notificatie where actie = 'destroy'`
    const answers = await Promise.all([1, 2, 3, 4].map(() => test.call('DELETE', made.url, undefined, { headers })))
    const [done, ...others] = answers.map(({ status }) => status).sort()
    // 409: the other side of the relation, at another server, is being removed.
    t.same([done, ...others.map((status) => (status === 409 ? 404 : status))], [204, 404, 404, 404])
    const [after] = await sql`select count(*)::int as count from notificatie where actie = 'destroy'`
    t.equal(after!.count - before!.count, line.kanaal && !line.onlyCreateAnnounced ? 1 : 0)
    const trail = await sql`select from audit where actie = 'destroy' and resource_uuid = ${uuidOf(made.url)}`
    t.ok(trail.length <= 1)
  })
}

t.test('a part of a case and the case itself are deleted at the same time', async (t) => {
  for (const line of world.lines.filter(({ path, one }) => path.startsWith('/zaken/') && one.includes('DELETE'))) {
    const made = await makeOne(world, line)
    const zaak = made.zaak ?? made.gerelateerdAan
    if (!zaak) continue
    // Both are in time: they wait for a case that somebody else holds, first whoever deletes it.
    const waiting = async (count: number) => {
      const waits = () =>
        sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      while ((await waits()).length < count) await new Promise(setImmediate)
    }
    const [theCase, part] = await sql
      .begin(async (held) => {
        await held`select from zaak where uuid = ${uuidOf(zaak)} for update`
        const first = test.call('DELETE', zaak)
        await waiting(1)
        const second = test.call('DELETE', made.url)
        await waiting(2)
        return { both: [first, second] }
      })
      .then(({ both }) => Promise.all(both as ReturnType<typeof test.call>[]))
    t.equal(theCase!.status, 204, line.path)
    // A note does not wait for its case: it may still be there.
    t.ok(
      part!.status === 404 || (part!.status === 204 && line.resource === 'zaaknotitie'),
      `${line.path}: ${part!.text}`,
    )
  }
})
