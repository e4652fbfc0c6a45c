// An abonnement for which very much waits: ending it is quick, and what is left goes in portions by the indexes.
import t from 'tap'
import { deleteAbonnement, deleteEndedAbonnementen } from '../../../src/nrc/abonnement/write.ts'
import { builtIn, change, subscribe, uuidOf } from '../given.ts'
import { subscriber } from '../subscriber.ts'

t.test('ending an abonnement with 200,000 deliveries', async (t) => {
  const test = await builtIn(t)
  const { sql } = test.database
  const to = await subscriber(t, { auth: 'x' })
  const uuid = uuidOf(await subscribe(test, to.url))
  await subscribe(test, to.url)
  await sql.begin(async (trx) => {
    await trx`set local statement_timeout = 0`
    await trx`
      insert into delivery (notificatie_id, abonnement_id, hoofd_object_uuid, status)
      select n, (n % 2) + 1, gen_random_uuid(), case when n % 10 < 2 then 'mislukt' else 'gepland' end
      from generate_series(1, 400000) n`
  })
  await sql`analyze delivery`
  await change(test, (m) => deleteAbonnement(m, uuid))
  t.match(await sql`select count(*)::int as n from delivery`, [{ n: 400_000 }], 'who ends it waits for none of them')
  for (const waiting of [
    "status = 'gepland' order by hoofd_object_uuid, notificatie_id",
    "status = 'mislukt' order by notificatie_id",
  ]) {
    const plan = await sql.unsafe(`explain select ctid from delivery where abonnement_id = 1 and ${waiting} limit 5000`)
    t.match(JSON.stringify(plan), 'Index Scan', waiting)
    t.notMatch(JSON.stringify(plan), 'Sort')
  }
  t.match(await deleteEndedAbonnementen(test.database), { gone: 1, left: 0 })
  t.strictSame(
    [...(await sql`select abonnement_id as id, count(*)::int as n from delivery group by 1`)],
    [{ id: 2, n: 200_000 }],
    'those of another stay',
  )
})
