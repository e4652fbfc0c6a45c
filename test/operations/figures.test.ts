// What the pictures of the pages are drawn of: what waited by the minute, and what there was by the day.
import t from 'tap'
import { type Alarm, reportSnapshot } from '../../src/beheer/operations/overview-parts.ts'
import { readSize } from '../../src/database/size.ts'
import {
  diskGrowth,
  growthByMonth,
  notedBytes,
  noteGrowth,
  noteQueue,
  queueFigures,
} from '../../src/operations/figures.ts'
import { oldestSnapshot } from '../../src/operations/snapshot.ts'
import { testApp } from '../app.ts'
import { emptyQueue } from '../jobs/queue.ts'

t.test('what waits is noted once a minute, with the age of the oldest, and kept for hours', async (t) => {
  const { database } = await testApp(t)
  const { sql } = database
  await emptyQueue(sql)
  await sql`delete from notificatie`
  await noteQueue(database)
  t.ok((await queueFigures(database, 'deliveries')).every(({ count, seconds }) => count === 0 && seconds === 0))
  await sql`delete from queue_figure`
  await sql`
    with made as (insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken, aanmaakdatum)
      select 'zaken', 'https://a.example/', gen_random_uuid(), 'zaak', 'https://a.example/', 'create', '{}', now() - n * interval '20 minutes'
      from generate_series(1, 3) n returning id, hoofd_object_uuid)
    insert into delivery (notificatie_id, hoofd_object_uuid, status)
    select id, hoofd_object_uuid, case when row_number() over (order by id) = 1 then 'mislukt' else 'gepland' end from made`
  await sql`select add_job('watch-feed', run_at => now() - interval '90 seconds')`
  await Promise.all([noteQueue(database), noteQueue(database)])
  t.ok((await sql`select from queue_figure`).length <= 2, 'once a minute')
  const [waiting, jobs] = await Promise.all([queueFigures(database, 'deliveries'), queueFigures(database, 'jobs')])
  t.equal(waiting.length, 36, 'three hours by five minutes')
  t.equal(waiting.at(-1)?.count, 2, 'what failed does not wait')
  const [oldest] = await sql`select extract(epoch from now() - n.aanmaakdatum)::int as age from notificatie n
    join delivery d on d.notificatie_id = n.id where d.status = 'gepland' order by n.id limit 1`
  t.ok(Math.abs(waiting.at(-1)!.seconds - oldest!.age) < 30)
  t.match(jobs.at(-1), { count: 1 })
  t.ok(jobs.at(-1)!.seconds >= 90)
  await sql`update queue_figure set minute = minute - interval '5 hours'`
  await noteQueue(database)
  t.equal((await sql`select from queue_figure`).length, 1, 'those of long ago go')
})

t.test('what there is is noted for the day, growth follows by the month, and the disk by a line', async (t) => {
  const { database } = await testApp(t)
  const { sql } = database
  const space = async () => ({ free: 400, total: 1000 })
  await noteGrowth(database, { space })
  await noteGrowth(database, { space: async () => Promise.reject(new Error('away')) })
  t.match(await sql`select * from growth_figure`, [{ cases: 0, documents: 0, disk_bytes: 600, disk_total: 1000 }])
  t.equal(await diskGrowth(database), null, 'nobody knows after a day')
  await sql`
    insert into growth_figure select current_date - n, 1000 - n * 2, 500 - n, 1, 600 - n * 3, 1000 from generate_series(1, 70) n
    on conflict do nothing`
  await sql`update growth_figure set cases = 1000, documents = 500 where day = (select max(day) from growth_figure)`
  const months = await growthByMonth(database)
  t.equal(months.length, 12)
  t.equal(months[0]!.cases, null, 'nothing was noted')
  const [now, before] = [months.at(-1)!, months.at(-2)!]
  t.equal(now.cases, 1000)
  t.equal(now.newCases, 1000 - before.cases!)
  t.equal(now.newDocuments, 500 - before.documents!)
  const growth = await diskGrowth(database)
  t.ok(Math.abs(growth!.bytesPerDay - 3) < 0.01)
  t.equal(growth!.free, 400)
  await noteGrowth(database, {})
  t.match((await growthByMonth(database)).at(-1), { diskBytes: 600 }, 'no disk of ours says nothing')
})

t.test(
  'the size that is noted and shown is that of the own tables: other schemas of the database tell nothing of theirs',
  async (t) => {
    const { database } = await testApp(t)
    const { sql } = database
    t.equal(await notedBytes(database), null, 'nobody noted it yet')
    const { bytes } = await readSize(sql)
    t.ok(bytes > 1_000_000)
    await sql`create schema beside`
    await sql`create table beside.much as select repeat('x', 100) from generate_series(1, 20000)`
    t.equal((await readSize(sql)).bytes, bytes)
    await noteGrowth(database, {})
    const noted = (await growthByMonth(database)).at(-1)!.databaseBytes!
    t.equal(await notedBytes(database), noted)
    t.ok(noted >= bytes && noted < bytes + 1_000_000, `${noted} of ${bytes}`)
  },
)

t.test('the oldest snapshot that a session holds is known, and asks for attention from hours on', async (t) => {
  const { database } = await testApp(t)
  const held = await database.sql.reserve()
  await held`begin isolation level repeatable read`
  await held`select from zaak limit 1`
  await held`select pg_sleep(0.2)`
  t.ok((await oldestSnapshot(database.sql)) >= 0.2)
  await held`rollback`
  held.release()
  const alarms: Alarm[] = []
  reportSnapshot(4 * 3600 - 1, alarms)
  t.same(alarms, [])
  reportSnapshot(4 * 3600, alarms)
  t.match(alarms, [{ tone: 'let-op', text: 'Een sessie in de database leest al 4 u van hetzelfde moment.' }])
})
