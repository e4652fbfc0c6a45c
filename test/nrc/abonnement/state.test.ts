// Pausing, blocking and resuming an abonnement: nothing is lost, whatever the state.
import t from 'tap'
import { reasonOf } from '../../../src/nrc/abonnement/figures.ts'
import { blockOverflowing, pauseAbonnement, resumeAbonnement } from '../../../src/nrc/abonnement/state.ts'
import { givenClient, type TestApp } from '../../app.ts'
import { givenChange } from '../../notificaties/given.ts'
import { builtIn, change, idsOf, subscribe, uuidOf } from '../given.ts'
import { subscriber } from '../subscriber.ts'

const stateOf = async ({ database }: TestApp, uuid: string) => {
  const [row] =
    await database.sql`select status, reason, missed_after is not null as mist from abonnement where uuid = ${uuid}`
  return row
}
/** Until no portion of a replay is left to do. */
async function settle(test: TestApp): Promise<void> {
  for (let round = 0; round < 50; round++) {
    await test.database.sql`
      select reschedule_jobs(array(select id from jobs where task_identifier = 'replay-messages'), run_at => now())`
    await test.runJobs()
    const [left] = await test.database.sql`select count(*)::int as n from resend where ended_at is null`
    if (left!.n === 0) return
  }
  throw new Error('the replay does not end')
}

t.test('paused: messages wait, and go when it is resumed', async (t) => {
  const test = await builtIn(t)
  const to = await subscriber(t, { auth: 'x' })
  const uuid = uuidOf(await subscribe(test, to.url))
  await change(test, (m) => pauseAbonnement(m, uuid, 'Onderhoud.'))
  t.match(await stateOf(test, uuid), { status: 'gepauzeerd', reason: 'Onderhoud.', mist: false })
  const message = await givenChange(test)
  await test.runJobs()
  t.strictSame(idsOf(to.received), [])
  t.equal(await change(test, (m) => resumeAbonnement(m, uuid)), false, 'it missed nothing')
  await test.runJobs()
  t.strictSame(idsOf(to.received), [message])
})

t.test('blocked by number or by age: new messages are not planned, and all arrive after resuming', async (t) => {
  for (const limit of ['block_from_count = 3', 'block_after_hours = 1']) {
    const test = await builtIn(t)
    const { sql } = test.database
    const to = await subscriber(t, { auth: 'x' })
    const uuid = uuidOf(await subscribe(test, to.url))
    to.answer.status = 500
    const ids = [await givenChange(test), await givenChange(test)]
    await test.runJobs()
    await sql.unsafe(`update notificatie_settings set ${limit}`)
    t.equal((await blockOverflowing(test.database)).length, 0, 'below the limits')
    ids.push(await givenChange(test))
    await sql`update notificatie set aanmaakdatum = aanmaakdatum - interval '61 minutes'`
    t.match(await blockOverflowing(test.database), [{ uuid }], limit)
    t.match(await stateOf(test, uuid), { status: 'geblokkeerd', mist: true })
    ids.push(await givenChange(test))
    await givenChange(test, undefined, 'destroy')
    const [planned] = await sql`select count(*)::int as n from delivery`
    t.equal(planned!.n, 3, 'what waited still waits, what is new is not planned')
    to.answer.status = 204
    to.received.length = 0
    await sql`update delivery set next_attempt_at = now()`
    await sql`update notificatie_settings set block_from_count = default, block_after_hours = default`
    t.equal(await change(test, (m) => resumeAbonnement(m, uuid)), true)
    await settle(test)
    await test.runJobs()
    const arrived = idsOf(to.received)
    t.equal(arrived.length, 5, 'each once')
    t.ok(ids.every((id) => arrived.includes(id)))
    t.match(await stateOf(test, uuid), { status: 'actief', reason: '', mist: false })
    t.equal((await sql`select from delivery`).length, 0)
  }
})

t.test('its owner brings it back by PUT or PATCH, when the callback behaves', async (t) => {
  const test = await builtIn(t)
  const owner = await givenClient(test, 'owner', [{ component: 'nrc', scopes: ['notificaties.consumeren'] }])
  const to = await subscriber(t, { auth: 'x' })
  const { body: made } = await test.call(
    'POST',
    '/notificaties/api/v1/abonnement',
    { callbackUrl: to.url, auth: 'x', kanalen: [{ naam: 'documenten' }] },
    { as: owner },
  )
  const uuid = uuidOf(made.url)
  to.answer.status = 410
  await givenChange(test)
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'opgezegd', mist: true })
  const missed = await givenChange(test)
  t.equal((await test.call('PATCH', made.url, { callbackUrl: to.url }, { as: owner })).status, 400)
  t.match(await stateOf(test, uuid), { status: 'opgezegd' }, 'the callback still says 410')
  to.answer.status = 204
  t.equal((await test.call('PATCH', made.url, { callbackUrl: to.url }, { as: owner })).status, 200)
  t.match(await stateOf(test, uuid), { status: 'actief' })
  await settle(test)
  t.ok(idsOf(to.received).includes(missed))
})

t.test('without its applicatie it is paused, and nothing of it is dropped', async (t) => {
  const test = await builtIn(t)
  await givenClient(test, 'owner', [{ component: 'nrc', scopes: ['notificaties.consumeren'] }])
  const to = await subscriber(t, { auth: 'x' })
  const url = await subscribe(test, to.url)
  await test.database.sql`
    update abonnement set applicatie_id = (select applicatie_id from applicatie_client where client_id = 'owner')`
  await test.database.sql`delete from applicatie where label = 'owner'`
  const state = await stateOf(test, uuidOf(url))
  t.match(state, { status: 'gepauzeerd', reason: '' })
  t.match(reasonOf({ ...(state as { status: string; reason: string }), applicatieUuid: null }), /verwijderd/)
  await givenChange(test)
  t.equal((await test.database.sql`select from delivery`).length, 1)
})
