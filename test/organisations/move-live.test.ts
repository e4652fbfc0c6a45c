// Slow: programs serve an organisation for a minute while it moves.
// An organisation moves while programs serve it and clients write. They run for a minute.
import t from 'tap'
import { uuidOf } from '../app.ts'
import { noPrograms } from '../database/servers.ts'
import { until } from '../until.ts'
import { gapsOf, givenMoving, isAt, leftAt, RSIN, rowsOf, startLoad } from './moving.ts'

t.setTimeout(300_000)

/** What rows go on changing of: of processes, of the queue, of a server, and when a client was seen. */
const CHANGES = [
  ...['key_holder', 'worker', 'active_sender', 'periodic_job', 'delivery', 'delivery_attempt', 'applicatie_secret'],
  ...['_private_jobs', '_private_job_queues', 'change', 'feed', 'history', 'migration', 'migrations', 'server_life'],
  ...['store_writer', 'process_setting', 'external_receiver'],
]
/** Of those, what differs though no worker runs: an api notes now and then when a secret was last used. */
const OWN = [
  'key_holder',
  'active_sender',
  'server_life',
  'store_writer',
  'process_setting',
  'change',
  'feed',
  'history',
  'migration',
  'migrations',
  'applicatie_secret',
]

t.test('every change that was acknowledged is at the other server', { skip: noPrograms }, async (t) => {
  const moving = await givenMoving(t)
  const { api, worker, member, sqls, to, from, run } = moving
  const { schema } = member
  const load = await startLoad(moving, 3)
  t.teardown(load.stop)
  await until('there is something to move', () => load.made.length > 30)
  const moved = await run('move', RSIN, '--to', to, '--json')
  t.equal(moved.code, 0, moved.stderr)
  if (moved.code !== 0) throw new Error((await moving.faults()).join('\n'))
  const { heldMs, left } = JSON.parse(moved.stdout)
  const before = load.made.length
  await until('it goes on there', () => load.made.length > before + 20)
  await load.stop()

  const gaps = gapsOf(load)
  t.comment(
    `${load.made.length} made, ${load.refused.length} refused, gaps of ${gaps.map(Math.round).join(', ')} ms; held ${heldMs} ms`,
  )
  t.ok(
    gaps.length > 0 && gaps.every((ms) => ms <= 5000),
    `nobody could write for ${gaps.map(Math.round).join(', ')} ms`,
  )
  t.same(
    load.refused.filter(({ status, retryAfter }) => status !== 503 || !(Number(retryAfter) > 0)),
    [],
    'nothing but 503 with Retry-After',
  )
  const tables = { zaak: 'zaak', status: 'status', document: 'enkelvoudiginformatieobject' } as const
  for (const [kind, table] of Object.entries(tables)) {
    const rows = await sqls.to.unsafe(`select uuid from ${schema}.${table}`)
    const there = new Set(rows.map(({ uuid }) => uuid))
    const wanted = load.made.filter((one) => one.kind === kind).map(({ url }) => uuidOf(url))
    t.same(
      wanted.filter((uuid) => !there.has(uuid)),
      [],
      `every ${kind} is there`,
    )
    t.equal(there.size, wanted.length, `and no other ${kind}`)
  }
  const [ids] = await sqls.to.unsafe(
    `select count(*)::int as all, count(distinct identificatie)::int as own from ${schema}.zaak`,
  )
  t.equal(ids!.own, ids!.all, 'no two have one identificatie')
  const source = await rowsOf(sqls.from, left)
  const target = await rowsOf(sqls.to, schema)
  t.same([...target.keys()], [...source.keys()])
  const missing = [...source].filter(([name, rows]) => {
    const there = new Set(target.get(name))
    return !CHANGES.includes(name) && rows.some((row) => !there.has(row))
  })
  t.same(
    missing.map(([name]) => name),
    [],
    'every row is there as it was',
  )
  const told = () => new Set(member.receiver.received.map(({ body }) => body.resourceUrl))
  await until('each was told of', () => load.made.every(({ url }) => told().has(url)))
  t.same(await leftAt(sqls.from), [])
  t.same(await leftAt(sqls.to), [])
  t.notOk(await isAt(sqls.from, schema))
  for (const { lines } of [api, worker]) {
    const faults = lines.filter(({ level, status }) => level === 'error' && status !== 503)
    t.same(faults.slice(0, 3), [], 'the log has no error')
  }

  await t.test('and when nothing changes meanwhile, all is equal', async (t) => {
    t.setTimeout(120_000)
    await worker.kill()
    await sqls.to.unsafe(`update ${schema}.key_holder set seen_at = now()`)
    const before = await rowsOf(sqls.to, schema)
    const back = await run('move', RSIN, '--to', from, '--json')
    t.equal(back.code, 0, back.stderr)
    const after = await rowsOf(sqls.from, schema)
    for (const [name, rows] of before) if (!OWN.includes(name)) t.same(after.get(name), rows, name)
    t.ok((await rowsOf(sqls.to, JSON.parse(back.stdout).left)).size > 0)
  })
})
