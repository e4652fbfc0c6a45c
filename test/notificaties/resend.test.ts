import t from 'tap'
import { mutator } from '../../src/database/mutate.ts'
import { systemActor } from '../../src/http/access.ts'
import { herzend, planWachtende, removeOldNotificaties, type Selectie, stuurNu } from '../../src/notificaties/plan.ts'
import { type TestApp, testApp } from '../app.ts'
import {
  change,
  configure,
  elapse,
  type Given,
  givenNotificaties,
  givenReceiver,
  givenWijziging,
  pogingen,
  stateOf,
} from './given.ts'

t.test('a failed message that is resent gets all its attempts anew, under the same id', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 1, backoff: 1, backoffMax: 1 })
  const uuid = await givenMislukte(test)
  t.equal(await resend(test, { uuids: [uuid] }), 1)
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'gepland', herhalingen: 1 })
  test.receiver.answer = (response) => response.writeHead(201).end()
  await elapse(test, 1)
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'afgeleverd', pogingen: 4 })
  t.same([...new Set(test.receiver.received.map(({ id }) => id))], [uuid])
})

t.test('all that failed within a window of time are resent, and nothing else', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 0 })
  const [before, within, after] = [await givenMislukte(test), await givenMislukte(test), await givenMislukte(test)]
  const { sql } = test.database
  await sql`update notificatie set aanmaakdatum = '2026-01-01T10:00:00Z' where uuid = ${before}`
  await sql`update notificatie set aanmaakdatum = '2026-01-01T11:00:00Z' where uuid = ${within}`
  await sql`update notificatie set aanmaakdatum = '2026-01-01T12:00:00Z' where uuid = ${after}`
  test.receiver.answer = (response) => response.writeHead(201).end()
  t.equal(await resend(test, { van: '2026-01-01T11:00:00Z', tot: '2026-01-01T12:00:00Z' }), 1)
  await test.runJobs()
  t.match(await stateOf(test, within), { status: 'afgeleverd' })
  for (const uuid of [before, after]) t.match(await stateOf(test, uuid), { status: 'mislukt' })
  t.equal(await resend(test, { uuids: [within] }), 0, 'what was delivered is not sent again')
})

t.test('the next attempt of a waiting message can be made now', async (t) => {
  const test = await givenNotificaties(t, { backoff: 5000 })
  test.receiver.answer = (response) => response.writeHead(500).end()
  const uuid = await givenWijziging(test)
  await test.runJobs()
  test.receiver.answer = (response) => response.writeHead(201).end()
  t.equal(await mutator(test.database)(systemActor('test'), (m) => stuurNu(m, [uuid])), 1)
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'afgeleverd', pogingen: 2 })
  await elapse(test, 5000)
  await test.runJobs()
  t.equal(test.receiver.received.length, 2, 'the job that was planned for later finds nothing to do')
})

t.test('without a service changes are accepted and messages wait; with one they go, in order', async (t) => {
  const test = await testApp(t)
  await test.database.sql`truncate notificatie cascade`
  const hoofdobject = crypto.randomUUID()
  const uuids = [await givenWijziging(test, hoofdobject), await givenWijziging(test, hoofdobject, 'update')]
  await test.runJobs()
  for (const uuid of uuids) t.match(await stateOf(test, uuid), { status: 'gepland', overSeconden: null, pogingen: 0 })
  const receiver = await givenReceiver(t)
  await configure(test, receiver.root)
  t.same(
    receiver.received.map(({ id }) => id),
    uuids,
  )
  await change(test, { dienst: null })
  const later = await givenWijziging(test)
  await test.runJobs()
  t.match(await stateOf(test, later), { status: 'gepland', overSeconden: null })
})

t.test('NOTIFICATIONS_DISABLED records none', async (t) => {
  const test = await testApp(t, { NOTIFICATIONS_DISABLED: 'True' })
  await test.database.sql`truncate notificatie cascade`
  const { status } = await test.call('POST', '/catalogi/api/v1/catalogussen', {
    domein: 'ABCDE',
    rsin: '000000000',
    contactpersoonBeheerNaam: 'x',
  })
  t.equal(status, 201)
  const { body } = await test.call('GET', '/catalogi/api/v1/catalogussen')
  await test.call('POST', '/catalogi/api/v1/informatieobjecttypen', {
    catalogus: body.results[0].url,
    omschrijving: 'Brief',
    vertrouwelijkheidaanduiding: 'openbaar',
    beginGeldigheid: '2024-01-01',
    informatieobjectcategorie: 'x',
  })
  t.equal((await test.database.sql`select from audit where resource = 'informatieobjecttype'`).length, 1)
  t.equal((await test.database.sql`select from notificatie`).length, 0)
})

t.test('NOTIFICATIONS_SOURCE goes along', async (t) => {
  const test = await givenNotificaties(t, {}, { NOTIFICATIONS_SOURCE: 'gemeente-x' })
  await givenWijziging(test)
  await test.runJobs()
  t.equal(test.receiver.received[0]!.body.source, 'gemeente-x')
})

t.test('a message whose job vanished is found and planned again', async (t) => {
  const test = await givenNotificaties(t)
  const uuid = await givenWijziging(test)
  await test.database.sql`delete from graphile_worker._private_jobs`
  t.equal(await planWachtende(test.database.sql), 0, 'not at once: an attempt may be going on')
  await elapse(test, 601)
  t.equal(await planWachtende(test.database.sql), 1)
  t.equal(await planWachtende(test.database.sql), 0, 'and only once')
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'afgeleverd' })
})

t.test('an attempt that was lost is written down so, uses no retry, and is made again by the same job', async (t) => {
  const test = await givenNotificaties(t)
  const uuid = await givenWijziging(test)
  const { sql } = test.database
  const [job] = await sql`select id from graphile_worker.jobs where task_identifier = 'verstuur-notificatie'`
  const [row] = await sql`select id from notificatie where uuid = ${uuid}`
  await sql`select neem_notificaties('x', 1, false)`
  await sql`update graphile_worker._private_jobs set locked_at = null, locked_by = null` // as is done when a worker died
  await test.runJobs()
  t.match(await pogingen(test, uuid), [{ uitkomst: 'lost' }, { uitkomst: 'delivered' }])
  t.match(await stateOf(test, uuid), { status: 'afgeleverd', herhalingen: 0 })
  const [late] = await sql`
    select noteer_notificatie_pogingen(array[${job!.id}]::bigint[], array[${row!.id}]::bigint[], '{1}', '{http}', '{500}',
      '{""}', '{1}', '{10}') as ours`
  t.same(late!.ours, [], 'what the lost one had to say comes too late')
  t.match(await stateOf(test, uuid), { status: 'afgeleverd' })
})

t.test('two jobs for one message make one attempt', async (t) => {
  const test = await givenNotificaties(t)
  const uuid = await givenWijziging(test)
  const { sql } = test.database
  const [row] = await sql`select id from notificatie where uuid = ${uuid}`
  const plan = () => sql`select plan_notificatie(${row!.id})`
  await plan()
  t.same(
    await sql`select nummer from neem_notificaties('x', 10, false) order by 1`,
    [{ nummer: 1 }, { nummer: null }],
    'taken at once',
  )
  await plan()
  t.same(await sql`select nummer from neem_notificaties('y', 10, false)`, [{ nummer: null }], 'taken later')
  t.match(await sql`select locked_by from graphile_worker.jobs`, [{ locked_by: 'x' }], 'the others are gone')
})

t.test('a job that comes before the moment of its message waits for it', async (t) => {
  const test = await givenNotificaties(t, { backoff: 100 })
  test.receiver.answer = (response) => response.writeHead(500).end()
  const uuid = await givenWijziging(test)
  await test.runJobs()
  const { sql } = test.database
  await sql`update graphile_worker._private_jobs set run_at = now()`
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'gepland', pogingen: 1 })
  await elapse(test, 100)
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'gepland', pogingen: 2 })
})

t.test('a message keeps its one job until it is delivered', async (t) => {
  const test = await givenNotificaties(t, { backoff: 1, baseFactor: 1 })
  test.receiver.answer = (response) => response.writeHead(500).end()
  const uuid = await givenWijziging(test)
  const { sql } = test.database
  const jobs = () =>
    sql`select id, attempts, locked_at from graphile_worker.jobs where task_identifier = 'verstuur-notificatie'`
  const [job] = await jobs()
  for (let i = 0; i < 3; i++) {
    await test.runJobs()
    t.same(await jobs(), [{ id: job!.id, attempts: 0, locked_at: null }])
    await elapse(test, 1)
  }
  test.receiver.answer = (response) => response.writeHead(201).end()
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'afgeleverd' })
  t.same(await jobs(), [])
})

t.test('delivered and failed messages go after their days, waiting ones stay', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 0 })
  const failed = await givenMislukte(test)
  const waiting = await givenWijziging(test)
  const { sql } = test.database
  await sql`update notificatie set aanmaakdatum = now() - interval '59 days'`
  t.equal(await removeOldNotificaties(test.database.db, 60), 0)
  await sql`update notificatie set aanmaakdatum = now() - interval '61 days'`
  t.equal(await removeOldNotificaties(test.database.db, 60), 1)
  t.equal((await sql`select from notificatie where uuid = ${failed}`).length, 0)
  t.equal((await sql`select from notificatie where uuid = ${waiting}`).length, 1)
})

async function givenMislukte(test: Given): Promise<string> {
  test.receiver.answer = (response) => response.writeHead(500).end()
  const uuid = await givenWijziging(test)
  for (let i = 0; i < 3; i++) {
    await test.runJobs()
    await elapse(test, 1)
  }
  return uuid
}

function resend({ database }: TestApp, selectie: Selectie): Promise<number> {
  return mutator(database)(systemActor('test'), (m) => herzend(m, selectie))
}
