// Sending messages again to one abonnement.
import t from 'tap'
import { countReplay, replayMessage, startReplay, stopReplay } from '../../../src/nrc/abonnement/replay.ts'
import { deleteAbonnement } from '../../../src/nrc/abonnement/write.ts'
import type { TestApp } from '../../app.ts'
import { givenChange } from '../../notificaties/given.ts'
import { builtIn, change, idsOf, real, subscribe, uuidOf } from '../given.ts'
import { subscriber } from '../subscriber.ts'

/** Does the portion that is planned for later. */
async function tick(test: TestApp): Promise<void> {
  await test.database.sql`
    select reschedule_jobs(array(select id from jobs where task_identifier = 'replay-messages'), run_at => now())`
  await test.runJobs()
}

t.test('everything from a moment: what fits, in portions at the rate, with the same id and a header', async (t) => {
  const test = await builtIn(t)
  const { sql } = test.database
  const to = await subscriber(t, { auth: 'x' })
  const other = await subscriber(t, { auth: 'x' })
  const uuid = uuidOf(await subscribe(test, to.url, [{ naam: 'documenten', filters: { '#actie': 'create' } }]))
  await subscribe(test, other.url)
  const old = await givenChange(test)
  await sql`update notificatie set aanmaakdatum = now() - interval '2 days'`
  const ids = []
  for (let n = 0; n < 25; n++) ids.push(await givenChange(test))
  await givenChange(test, undefined, 'update')
  await test.runJobs()
  t.equal(idsOf(to.received).length, 26)
  to.received.length = other.received.length = 0

  const since = new Date(Date.now() - 86_400_000).toISOString()
  t.strictSame(await countReplay(test.app.read, uuid, { kind: 'since', since }), { count: 25, seen: 26, more: false })
  await change(test, (m) => startReplay(m, uuid, { kind: 'since', since, perMinute: 120 }))
  await t.rejects(
    change(test, (m) => startReplay(m, uuid, { kind: 'since', since })),
    /Ongeldige invoer/,
    'one at a time',
  )
  await test.runJobs()
  t.equal(idsOf(to.received).length, 10, 'as many as its rate allows in five seconds')
  await test.runJobs()
  t.equal(idsOf(to.received).length, 10, 'and no more until they are over')
  await tick(test)
  await tick(test)
  t.strictSame(idsOf(to.received), ids, 'each once, in their order')
  t.notOk(idsOf(to.received).includes(old))
  t.ok(real(to.received).every(({ headers }) => headers['x-replay'] === 'true' && headers['x-attempt'] === '2'))
  t.strictSame(real(other.received), [], 'nobody else')
  await tick(test)
  t.match(await sql`select planned, ended_at is not null as klaar, stopped from resend`, [
    { planned: 25, klaar: true, stopped: false },
  ])
})

t.test('those that failed, or one, also when it was accepted before', async (t) => {
  const test = await builtIn(t)
  const { sql } = test.database
  const to = await subscriber(t, { auth: 'x' })
  const dead = await subscriber(t, { auth: 'x' })
  const uuid = uuidOf(await subscribe(test, to.url))
  await subscribe(test, dead.url)
  dead.answer.status = 500
  to.answer.status = 500
  const ids = [await givenChange(test), await givenChange(test)]
  await test.runJobs()
  await sql`update delivery set status = 'mislukt', next_attempt_at = null`
  to.answer.status = 204
  to.received.length = dead.received.length = 0
  t.match(await countReplay(test.app.read, uuid, { kind: 'failed' }), { count: 2 })
  await change(test, (m) => startReplay(m, uuid, { kind: 'failed' }))
  await test.runJobs()
  t.strictSame(idsOf(to.received).sort(), [...ids].sort())
  t.strictSame(idsOf(dead.received), [], 'only to the one that was meant')
  await change(test, (m) => replayMessage(m, uuid, ids[0]!))
  await test.runJobs()
  t.equal(idsOf(to.received).length, 3)
  t.equal(idsOf(to.received).at(-1), ids[0])
  const [last] = await sql`select max(number) as number from delivery_attempt where abonnement_id = 1`
  t.equal(last!.number, 3, 'numbers of attempts go on')
  await t.rejects(
    change(test, (m) => replayMessage(m, uuid, crypto.randomUUID())),
    /bestaat niet/,
  )
})

t.test('it is stopped, and ends with its abonnement', async (t) => {
  const test = await builtIn(t)
  const { sql } = test.database
  const to = await subscriber(t, { auth: 'x' })
  const uuid = uuidOf(await subscribe(test, to.url))
  for (let n = 0; n < 5; n++) await givenChange(test)
  await test.runJobs()
  to.received.length = 0
  await change(test, (m) => startReplay(m, uuid, { kind: 'since', perMinute: 12 }))
  await test.runJobs()
  t.equal(idsOf(to.received).length, 1)
  t.equal(await change(test, (m) => stopReplay(m, uuid)), true)
  await tick(test)
  t.equal(idsOf(to.received).length, 1)
  await change(test, (m) => startReplay(m, uuid, { kind: 'since', perMinute: 12 }))
  await change(test, (m) => deleteAbonnement(m, uuid))
  await test.runJobs()
  await tick(test)
  t.equal(idsOf(to.received).length, 1)
  t.equal((await sql`select from abonnement`).length, 0, 'a job removes what is left')
})
