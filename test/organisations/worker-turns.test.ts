// Which organisations a worker works for at a moment: those that have work, in turn, and as many as it may at once.
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { workerPart } from '../../src/beheer/operations/overview-parts.ts'
import { type Periodic, spread } from '../../src/jobs/periodic.ts'
import { configOf } from '../../src/organisations/organisation.ts'
import {
  changeOrganisations,
  openRegistry,
  readOrganisations,
  updateOrganisation,
} from '../../src/organisations/registry.ts'
import { openRunners } from '../../src/organisations/runners.ts'
import { openTurns } from '../../src/organisations/turns.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { PERIODIC } from '../../tasks/index.ts'
import { until } from '../until.ts'
import { givenMany, type Many, type Member } from './many.ts'

const LOG = openLog('silent')

/** Runners that only say that they are open. Nothing comes by the clock but what is given. */
async function givenRunners(
  t: Test,
  many: Many,
  { most = 10, quietMs = 200, turnMs = 300, periodic = [] as readonly Periodic[] } = {},
) {
  const open = new Set<string>()
  const planned = new Map<string, Periodic[]>()
  const opened: string[] = []
  let atOnce = 0
  const registry = await openRegistry(many.control, many.box, LOG)
  const runners = openRunners(
    {
      registry,
      configOf: (one) => configOf({ DATA_DIR: many.directory }, one),
      periodic,
      most,
      log: LOG,
      open: async ({ rsin, periodic }) => {
        open.add(rsin)
        planned.set(rsin, periodic)
        opened.push(rsin)
        atOnce = Math.max(atOnce, open.size)
        return { stop: async () => void open.delete(rsin) }
      },
    },
    { quietMs, turnMs },
  )
  t.teardown(async () => {
    await runners.stop()
    await registry.close()
  })
  return { runners, registry, open, opened, planned, atOnce: () => atOnce }
}

const addJob = ({ database }: Member, seconds = 0) =>
  database.sql`select add_job('send-notificaties', run_at => now() + make_interval(secs => ${seconds}))`
const endJobs = ({ database }: Member) => database.sql`select complete_jobs(array(select id from jobs))`
const setState = async ({ control, box }: Many, rsin: string, state: 'active' | 'suspended' | 'read-only') => {
  const found = (await readOrganisations(control, box)).find((one) => one.rsin === rsin)!
  await changeOrganisations(control, { rsin, actor: 'test', action: 'set' }, (trx) =>
    updateOrganisation(trx, box, found, { state }),
  )
}

t.test('a runner is opened for who has a job, and closed when there was nothing to do for a while', async (t) => {
  const many = await givenMany(t)
  const [busy, quiet] = [await many.add('000000012'), await many.add('000000024')]
  await Promise.all([endJobs(busy), endJobs(quiet)])
  const { open, opened } = await givenRunners(t, many)
  await addJob(busy)
  await until('it is open', () => open.has(busy.rsin))
  await endJobs(busy)
  await until('it is closed', () => open.size === 0)
  t.same(opened, [busy.rsin], 'and none for who has nothing to do')
  await addJob(quiet, 3600)
  await addJob(busy)
  await until('it is open again', () => open.has(busy.rsin))
  t.same(opened, [busy.rsin, busy.rsin], 'nor for what comes later')
})

t.test('more organisations than runners take turns, and none waits for one that is never done', async (t) => {
  const many = await givenMany(t)
  const members: Member[] = []
  for (const rsin of ['000000012', '000000024', '000000036']) members.push(await many.add(rsin))
  await Promise.all(members.map((one) => addJob(one)))
  const { opened, atOnce } = await givenRunners(t, many, { most: 1 })
  await until('all had a turn, twice', () =>
    members.every(({ rsin }) => opened.filter((one) => one === rsin).length >= 2),
  )
  t.equal(atOnce(), 1)
  const firsts = opened.slice(0, 6)
  t.same(
    firsts.slice(0, 3).toSorted(),
    members.map(({ rsin }) => rsin),
  )
  t.same(firsts.slice(3), firsts.slice(0, 3), 'in the same order')
})

t.test('of two processes one works for an organisation; the other helps when work waits', async (t) => {
  const many = await givenMany(t)
  const one = await many.add('000000012')
  await endJobs(one)
  const [first, second] = [await givenRunners(t, many), await givenRunners(t, many)]
  const both = () => first.open.size + second.open.size
  await addJob(one)
  await until('one of them', () => both() === 1)
  // So long that each has looked, while nothing waits for long enough to be helped.
  for (let nth = 0; nth < 6; nth++) {
    await one.database.sql`select reschedule_jobs(array(select id from jobs), run_at => now())`
    await sleep(400)
  }
  t.equal(both(), 1)
  await endJobs(one)
  await until('none of them', () => both() === 0)
  t.equal(first.opened.length + second.opened.length, 1)
  await addJob(one, -60)
  await until('both of them', () => both() === 2)
})

t.test('nothing is done for an organisation that is not active, and its jobs wait', async (t) => {
  const many = await givenMany(t)
  const one = await many.add('000000012')
  const { open, registry, opened } = await givenRunners(t, many)
  await addJob(one)
  await until('it is open', () => open.has(one.rsin))
  await setState(many, one.rsin, 'suspended')
  await until('it is closed', () => open.size === 0)
  for (const state of ['suspended', 'read-only'] as const) {
    await setState(many, one.rsin, state)
    await until('it is known', () => registry.byRsin(one.rsin)?.state === state)
  }
  await sleep(3000) // more than a look
  t.equal(opened.length, 1)
  await setState(many, one.rsin, 'active')
  await until('it is open again', () => open.has(one.rsin))
})

t.test('a database that is away, and tables that are not there, hold up none of the others', async (t) => {
  const many = await givenMany(t)
  await many.add('000000012', { isBare: true, databaseUrl: 'postgres://nobody@127.0.0.1:1/away' })
  await many.add('000000024', { isBare: true })
  const one = await many.add('000000036')
  const { open, runners } = await givenRunners(t, many)
  await addJob(one)
  await until('it is open', () => open.has(one.rsin))
  await until('it is said', () => runners.state().away === 1)
  t.match(runners.state(), { up: 1, open: 1 })
  t.ok(runners.healthy())
})

t.test('places go to who has the fewest, and then to who used the least time', async (t) => {
  const turns = openTurns(2)
  const order: string[] = []
  const ends: (() => void)[] = []
  const take = (of: string) =>
    turns.take(of, async () => {
      order.push(of)
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.push(resolve)
      await promise
    })
  const all = [take('a'), take('a'), take('a'), take('a'), take('b'), take('c')]
  const end = async () => {
    ends.shift()!()
    await sleep(5)
  }
  await sleep(5)
  t.same(order, ['a', 'a'])
  await end()
  t.same(order.slice(2), ['b'], 'who comes later with little is not behind all that the first one has')
  await end()
  t.same(order.slice(3), ['c'])
  while (ends.length > 0) await end()
  await Promise.all(all)
  t.same(order.slice(4), ['a', 'a'])
})

t.test('no worker is missed in an organisation of many that has nothing to do', async (t) => {
  const alarms: Parameters<typeof workerPart>[1] = []
  t.equal(workerPart([], alarms, true).tone, 'goed')
  t.same(alarms, [])
  t.equal(workerPart([], alarms).tone, 'fout')
  t.equal(alarms.length, 2)
})

t.test('what comes by the clock comes at other moments for each organisation, and always at the same', async (t) => {
  const rsins = ['000000012', '000000024', '000000036', '000000048']
  const moments = new Set(rsins.map((rsin) => JSON.stringify(spread(PERIODIC, rsin))))
  t.equal(moments.size, rsins.length)
  t.same(spread(PERIODIC, rsins[0]!), spread(PERIODIC, rsins[0]!))
  for (const [index, { from, every }] of spread(PERIODIC, rsins[1]!).entries()) {
    const later = Date.parse(from) - Date.parse(PERIODIC[index]!.from)
    t.ok(later >= 0 && later < (every === '1 minute' ? 60_000 : 3_600_000), `${later} ms`)
  }
})

t.test('a runner is opened for what comes by the clock, at the moments of its organisation', async (t) => {
  const many = await givenMany(t)
  const members = [await many.add('000000012'), await many.add('000000024')]
  await Promise.all(members.map(endJobs))
  const { planned } = await givenRunners(t, many, { periodic: PERIODIC })
  await until('both were open', () => planned.size === 2)
  for (const { rsin } of members) t.same(planned.get(rsin), spread(PERIODIC, rsin))
})
