import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { mutator } from '../../src/core/mutate.ts'
import { claim, openSenderDatabase, record, releaseStuck, wakeOverdue } from '../../src/notificaties/claims.ts'
import { matchesFilter } from '../../src/notificaties/filter.ts'
import { deleteOldMessages, resendFailed, type Selection, sendNow } from '../../src/notificaties/resend.ts'
import { type TestApp, testApp } from '../app.ts'
import {
  attemptsOf,
  change,
  configure,
  elapse,
  forgetMessages,
  type Given,
  givenChange,
  givenNotificaties,
  givenReceiver,
  stateOf,
} from './given.ts'

t.test('a failed message that is resent gets all its attempts anew, under the same id', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 1, backoff: 1, backoffMax: 1 })
  const uuid = await givenFailed(test)
  t.equal(await resend(test, { uuids: [uuid] }), 1)
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'gepland', retries: 1 })
  test.receiver.answer = (response) => response.writeHead(201).end()
  await elapse(test, 1)
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'afgeleverd', pogingen: 4 })
  t.same([...new Set(test.receiver.received.map(({ id }) => id))], [uuid])
})

t.test('all that failed within a window of time are resent, and nothing else', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 0 })
  const [before, within, after] = [await givenFailed(test), await givenFailed(test), await givenFailed(test)]
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
  const uuid = await givenChange(test)
  await test.runJobs()
  test.receiver.answer = (response) => response.writeHead(201).end()
  t.match(await mutator(test.database)(systemActor('test'), (m) => sendNow(m, [uuid])), [{ outcome: 'now' }])
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'afgeleverd', pogingen: 2 })
  await elapse(test, 5000)
  await test.runJobs()
  t.equal(test.receiver.received.length, 2, 'and not again at the moment that was planned first')
})

t.test('without a service changes are accepted and messages wait; with one they go, in order', async (t) => {
  const test = await testApp(t)
  await forgetMessages(test)
  const hoofdobject = crypto.randomUUID()
  const uuids = [await givenChange(test, hoofdobject), await givenChange(test, hoofdobject, 'update')]
  await test.runJobs()
  for (const uuid of uuids) t.match(await stateOf(test, uuid), { status: 'gepland', pogingen: 0 })
  const receiver = await givenReceiver(t)
  await configure(test, receiver.root)
  t.same(
    receiver.received.map(({ id }) => id),
    uuids,
  )
  await change(test, { dienst: null })
  const later = await givenChange(test)
  await test.runJobs()
  t.match(await stateOf(test, later), { status: 'gepland', pogingen: 0 })
})

t.test('NOTIFICATIONS_DISABLED records none', async (t) => {
  const test = await testApp(t, { NOTIFICATIONS_DISABLED: 'True' })
  await forgetMessages(test)
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
  await givenChange(test)
  await test.runJobs()
  t.equal(test.receiver.received[0]!.body.source, 'gemeente-x')
})

t.test('a job that vanished is added again when something is overdue', async (t) => {
  const test = await givenNotificaties(t)
  await givenChange(test)
  const { sql } = test.database
  const jobs = () => sql`select id from jobs where key = 'send-notificaties'`
  const [added] = await jobs()
  await sql`select complete_jobs(array[${added!.id}::bigint])`
  await wakeOverdue(sql)
  t.equal((await jobs()).length, 0, 'not at once')
  await elapse(test, 10)
  await wakeOverdue(sql)
  t.equal((await jobs()).length, 1)
})

t.test('while a sender says that it looks by itself nobody is woken, unless its worker is gone', async (t) => {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  const jobs = async () => (await sql`select from jobs where key = 'send-notificaties'`).length
  await test.runJobs()
  const [worker] =
    await sql`insert into worker (name, version, host, pid, pool_id) values ('x', '1', 'h', 1, 'x') returning id`
  await sql`insert into active_sender (worker_id) values (${worker!.id})`
  await givenChange(test)
  t.equal(await jobs(), 0)
  await sql`delete from worker`
  await givenChange(test)
  t.equal(await jobs(), 1)
})

const nobody = { external: 10, total: 10, busy: [], open: [] }

t.test('an attempt that was lost with its worker is written down so, uses no retry, and is made again', async (t) => {
  const test = await givenNotificaties(t)
  const uuid = await givenChange(test)
  const { sql } = test.database
  const [worker] =
    await sql`insert into worker (name, version, host, pid, pool_id) values ('x', '1', 'h', 1, 'x') returning id`
  const { claimed } = await claim(test.database, { ...nobody, worker: worker!.id })
  t.match(claimed, [{ attempt: 1, message: { uuid } }])
  t.equal(
    (await claim(test.database, { ...nobody, worker: 0 })).rows.length,
    0,
    'nobody else gets it while that worker is there',
  )
  await sql`delete from worker`
  await test.runJobs()
  t.match(await attemptsOf(test, uuid), [{ outcome: 'lost' }, { outcome: 'delivered' }])
  t.match(await stateOf(test, uuid), { status: 'afgeleverd', retries: 0 })
  const { notificatieId, abonnementId, attempt } = claimed[0]!
  const late = { outcome: 'http', httpStatus: 500, answer: '', ms: 1, wait: 10 } as const
  t.same(
    oursOf(await record(test.database, [{ ...late, notificatieId, abonnementId, attempt }])),
    [false],
    'what the lost one had to say comes too late',
  )
  t.match(await stateOf(test, uuid), { status: 'afgeleverd' })
})

t.test('a claim of which the answer was lost is claimed again by the same worker', async (t) => {
  const test = await givenNotificaties(t)
  await givenChange(test)
  const [worker] = await test.database
    .sql`insert into worker (name, version, host, pid, pool_id) values ('x', '1', 'h', 1, 'x') returning id`
  const mine = { ...nobody, worker: worker!.id }
  const first = await claim(test.database, mine)
  t.equal((await claim(test.database, { ...mine, busy: first.claimed })).rows.length, 0, 'not what it has in hand')
  const again = await claim(test.database, mine)
  t.match(again.claimed, [{ attempt: 2 }])
  const delivered = (claimed: typeof first.claimed) =>
    record(
      test.database,
      claimed.map((one) => ({ ...one, outcome: 'delivered', httpStatus: 201, answer: '', ms: 1, wait: null })),
    )
  t.same(oursOf(await delivered(first.claimed)), [false], 'the lost attempt does not end the one that is under way')
  t.equal((await test.database.sql`select from delivery`).length, 1)
  const failed = await record(
    test.database,
    first.claimed.map((one) => ({ ...one, outcome: 'http', httpStatus: 500, answer: '', ms: 1, wait: 10 })),
  )
  t.same(oursOf(failed), [false], 'nor does its failure')
  t.match(await test.database.sql`select attempt, retries, claimed_by as worker from delivery`, [
    { attempt: 2, retries: 0, worker: worker!.id },
  ])
  t.same(oursOf(await delivered(again.claimed)), [true])
})

t.test('workers that claim at once never get the same message, nor two of one main object', async (t) => {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  for (let object = 0; object < 20; object++) {
    const hoofdobject = crypto.randomUUID()
    for (let n = 0; n < 3; n++) await givenChange(test, hoofdobject, n === 0 ? 'create' : 'update')
  }
  const workers =
    await sql`insert into worker (name, version, host, pid, pool_id) values ('x', '1', 'h', 1, 'x'), ('y', '1', 'h', 2, 'y') returning id`
  const database = openSenderDatabase(test.databaseUrl)
  t.teardown(database.close)
  const order = new Map<string, number[]>()
  const under = new Set<string>()
  const work = async (worker: number) => {
    for (let idle = 0; idle < 20; ) {
      const { rows, claimed } = await claim(database, { worker, external: 5, total: 5, busy: [], open: [] })
      idle = rows.length === 0 ? idle + 1 : 0
      for (const { hoofdObjectUuid, notificatieId } of claimed) {
        t.notOk(under.has(hoofdObjectUuid), 'one at a time')
        under.add(hoofdObjectUuid)
        order.set(hoofdObjectUuid, [...(order.get(hoofdObjectUuid) ?? []), notificatieId])
      }
      for (const { hoofdObjectUuid } of claimed) under.delete(hoofdObjectUuid)
      await record(
        database,
        claimed.map((one) => ({ ...one, outcome: 'delivered', httpStatus: 201, answer: '', ms: 1, wait: null })),
      )
    }
  }
  await Promise.all(workers.map(({ id }) => work(id)))
  t.equal((await sql`select from delivery`).length, 0)
  for (const ids of order.values()) t.same(ids, [...ids].sort((a, b) => a - b).slice(0, 3))
})

t.test('what was left waiting for an earlier message that is gone is found', async (t) => {
  const test = await givenNotificaties(t, { backoff: 100 })
  const hoofdobject = crypto.randomUUID()
  test.receiver.answer = (response) => response.writeHead(500).end()
  const first = await givenChange(test, hoofdobject)
  const second = await givenChange(test, hoofdobject, 'update')
  await test.runJobs()
  t.match(await stateOf(test, second), { status: 'gepland', overSeconden: null })
  t.equal(await releaseStuck(test.database), 0, 'it waits for good reason')
  await test.database
    .sql`delete from delivery l using notificatie n where n.id = l.notificatie_id and n.uuid = ${first}`
  t.equal(await releaseStuck(test.database), 1)
  test.receiver.answer = (response) => response.writeHead(201).end()
  await test.runJobs()
  t.match(await stateOf(test, second), { status: 'afgeleverd' })
})

t.test('with the order switched off what waited for an earlier message goes', async (t) => {
  const test = await givenNotificaties(t, { backoff: 100 })
  const hoofdobject = crypto.randomUUID()
  test.receiver.answer = (response) => response.writeHead(500).end()
  await givenChange(test, hoofdobject)
  const second = await givenChange(test, hoofdobject, 'update')
  await test.runJobs()
  await change(test, { inOrder: false })
  test.receiver.answer = (response) => response.writeHead(201).end()
  await test.runJobs()
  t.match(await stateOf(test, second), { status: 'afgeleverd' })
})

t.test('delivered and failed messages go after their days, waiting ones stay', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 0 })
  const failed = await givenFailed(test)
  const waiting = await givenChange(test)
  const { sql } = test.database
  await sql`update notificatie set aanmaakdatum = now() - interval '59 days'`
  t.equal(await deleteOldMessages(test.database.db, 60), 0)
  await sql`update notificatie set aanmaakdatum = now() - interval '61 days'`
  t.equal(await deleteOldMessages(test.database.db, 60), 1)
  t.equal((await sql`select from notificatie where uuid = ${failed}`).length, 0)
  t.equal((await sql`select from notificatie where uuid = ${waiting}`).length, 1)
  // More than a portion of one moment.
  await sql`
    insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken, aanmaakdatum)
    select 'zaken', 'https://a.example/', gen_random_uuid(), 'zaak', 'https://a.example/', 'create', '{}', now() - interval '62 days'
    from generate_series(1, 10001)`
  t.equal(await deleteOldMessages(test.database.db, 60), 10_001)
  t.equal((await sql`select from notificatie where uuid = ${waiting}`).length, 1)
})

t.test(
  'what waits for a service that nobody has named goes after its days too, and not while sending is paused',
  async (t) => {
    const test = await givenNotificaties(t)
    const { sql } = test.database
    await givenChange(test)
    await sql`update notificatie set aanmaakdatum = now() - interval '61 days'`
    await sql`update notificatie_settings set paused_at = now()`
    t.equal(await deleteOldMessages(test.database.db, 60), 0)
    await sql`update notificatie_settings set paused_at = null, configured_service_id = null`
    t.equal(await deleteOldMessages(test.database.db, 60), 1)
    t.equal((await sql`select from notificatie`).length, 0)
    t.equal((await sql`select from delivery`).length, 0)
  },
)

async function givenFailed(test: Given): Promise<string> {
  test.receiver.answer = (response) => response.writeHead(500).end()
  const uuid = await givenChange(test)
  for (let i = 0; i < 3; i++) {
    await test.runJobs()
    await elapse(test, 1)
  }
  return uuid
}

async function resend({ database }: TestApp, selection: Selection): Promise<number> {
  const { messages } = await mutator(database)(systemActor('test'), (m) => resendFailed(m, selection))
  return messages
}

t.test('what nobody received is not told as delivered', async (t) => {
  const test = await givenNotificaties(t)
  const uuid = await givenChange(test)
  await test.database.sql`delete from delivery`
  const count = async (status: 'geen' | 'afgeleverd') =>
    (await test.app.read.selectFrom('notificatie').select('uuid').where(matchesFilter({ status })).execute()).length
  t.same([await count('geen'), await count('afgeleverd')], [1, 0], uuid)
})

const oursOf = ({ recorded }: Awaited<ReturnType<typeof record>>) => recorded.map(({ isOurs }) => isOurs)
