// Slow: databases are down, slow and full, one after the other.
// One organisation of two has a database that is down, slow or full: what the other notices, and what its own requests get. It starts
// programs.
import t from 'tap'
import { until } from '../until.ts'
import { FAULTS, givenPlace, list, MEANING, post, sizeOf } from './down.ts'
import type { Asked } from './processes.ts'

t.setTimeout(300_000)

/** So many requests wait at once, more than an organisation has connections and places. */
const CROWD = 60
/** A driver gives a connection up that says nothing for ten seconds; the rest is for a machine that is busy. */
const BOUND_MS = 20_000

t.test('a database that is down, slow or full is a matter of its own organisation', async (t) => {
  const place = await givenPlace(t, 1)
  const { api, worker, bad } = place
  const [other] = place.others as [typeof bad]
  const pid = api.process.pid!
  const before = await sizeOf(pid)
  for (const fault of FAULTS.filter((one) => one !== 'silent'))
    await t.test(`while ${MEANING[fault]}`, { timeout: 60_000 }, async (t) => {
      const end = await place.strike(fault)
      const crowd = Promise.all(
        Array.from({ length: CROWD }, (_, nth) => (nth % 2 === 0 ? post(api, bad) : list(api, bad))),
      )
      let isOver = false
      void crowd.finally(() => {
        isOver = true
      })
      const good: Asked[] = []
      let connections = 0
      while (!isOver || good.length < 10) {
        good.push(await post(api, other), await list(api, other))
        connections = Math.max(connections, place.connections())
      }
      const answers = await crowd
      const longest = Math.max(...answers.map(({ ms }) => ms))
      t.comment(
        `its own: the longest ${Math.round(longest)} ms; the other's: ${Math.round(Math.max(...good.map(({ ms }) => ms)))} ms`,
      )
      t.same(
        good.filter(({ status }) => status > 201),
        [],
        'the other is answered',
      )
      t.ok(Math.max(...good.map(({ ms }) => ms)) < 2_000, 'and waits for nobody')
      const made = good.flatMap(({ body }) => (body.url ? [body.url] : []))
      await until(
        'its notifications are sent',
        () => made.every((url) => other.receiver.received.some(({ body }) => body.resourceUrl === url)),
        10_000,
      )
      const refused = answers.filter(({ status }) => status > 201)
      t.ok(refused.length > 0, 'its own are refused')
      t.same(
        refused.filter(({ status, headers }) => status !== 503 || !(Number(headers['retry-after']) > 0)),
        [],
        'with 503 and Retry-After',
      )
      t.ok(longest < BOUND_MS, `within ${Math.round(longest)} ms`)
      t.ok(connections < 30, `over ${connections} connections`)
      const ready = await fetch(`http://127.0.0.1:${api.port}/readyz`)
      t.equal(ready.status, 200, 'the process stays in service')
      const began = performance.now()
      const metrics = await fetch(`http://127.0.0.1:${api.metricsPort}/metrics`)
      t.equal(metrics.status, 200)
      t.equal((await fetch(`http://127.0.0.1:${worker.healthPort}/readyz`)).status, 200)
      t.ok(performance.now() - began < 3_000, 'and tells of itself')
      await end()
    })
  const after = await sizeOf(pid)
  t.ok(after.memory - before.memory < 150, `${after.memory - before.memory} MB more`)
  t.ok(after.files - before.files < 100, `${after.files - before.files} files more`)
})
