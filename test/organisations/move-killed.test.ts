// Slow: it kills a move at any moment, for a minute.
// A move that is killed at any moment, while programs serve the organisation and a client writes. They run for a minute.
import t from 'tap'
import { uuidOf } from '../app.ts'
import { noPrograms } from '../database/servers.ts'
import { until } from '../until.ts'
import { randomFrom } from '../zaken/processes.ts'
import { givenMoving, isAt, leftAt, RSIN, startLoad } from './moving.ts'

t.setTimeout(300_000)

const KILLS = Number(process.env.MOVE_KILLS ?? 4)
const SEED = Number(process.env.MOVE_SEED ?? Date.now() % 1_000_000)

t.test('a move that is killed loses nothing, and is ended by what the docs say', { skip: noPrograms }, async (t) => {
  const moving = await givenMoving(t)
  const { member, sqls, from, to, run, kill } = moving
  const { schema } = member
  const random = randomFrom(SEED)
  t.comment(`MOVE_SEED=${SEED}`)
  const load = await startLoad(moving, 1)
  t.teardown(load.stop)
  let here: 'from' | 'to' = 'from'
  const there = () => (here === 'from' ? 'to' : 'from')
  const moves: number[] = []
  for (let nth = 0; nth < KILLS; nth++) {
    for (const sql of Object.values(sqls))
      for (const left of [`${schema}_moved`, `${schema}_moved_queue`])
        await sql.unsafe(`drop schema if exists ${left} cascade`)
    const target = here === 'from' ? to : from
    // Half of them at the switch, which is short.
    const after = nth % 2 === 0 ? undefined : /(\d+) of \1 tables are there/
    const ms = after ? random() * 1500 : random() * 6000
    const killed = await kill(['move', RSIN, '--to', target], { ms, ...(after && { after }) })
    if (nth % 3 !== 2) {
      const resumed = await run('resume', RSIN)
      t.equal(resumed.code, 0, `${nth}, ${Math.round(ms)} ms: ${resumed.stderr}`)
    } else {
      const again = await run('move', RSIN, '--to', target) // the same once more does it too
      t.equal(again.code, 0, `${nth}, ${Math.round(ms)} ms: ${again.stderr}`)
    }
    const places = [await isAt(sqls.from, schema), await isAt(sqls.to, schema)]
    t.equal(places.filter(Boolean).length, 1, 'it is at one server')
    if (await isAt(sqls[there()], schema)) {
      here = there()
      moves.push(nth)
    }
    for (const sql of Object.values(sqls)) t.same(await leftAt(sql), [], `${nth}: nothing of the move is left`)
    t.comment(
      `${nth}: killed after ${Math.round(ms)} ms${after ? ' of the switch' : ''}: ${killed.code === null ? 'killed' : killed.code}, it is at ${here}`,
    )
    const before = load.made.length
    await until('it is served', () => load.made.length > before + 3, 20_000)
  }
  await load.stop()
  t.same(
    load.refused.filter(({ status, retryAfter }) => status !== 503 || !(Number(retryAfter) > 0)),
    [],
    'nothing but 503 with Retry-After',
  )
  for (const [kind, table] of Object.entries({
    zaak: 'zaak',
    status: 'status',
    document: 'enkelvoudiginformatieobject',
  })) {
    const rows = await sqls[here].unsafe(`select uuid from ${schema}.${table}`)
    const found = new Set(rows.map(({ uuid }) => uuid))
    const wanted = load.made.filter((one) => one.kind === kind).map(({ url }) => uuidOf(url))
    t.same(
      wanted.filter((uuid) => !found.has(uuid)),
      [],
      `every ${kind} is there`,
    )
    t.equal(found.size, wanted.length, `and no other ${kind}`)
  }
  const told = () => new Set(member.receiver.received.map(({ body }) => body.resourceUrl))
  await until('each was told of', () => load.made.every(({ url }) => told().has(url)), 60_000)
})
