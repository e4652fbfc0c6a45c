// How many attempts there were: counted once each, by the hour, and shown by hour and by day.
import t from 'tap'
import { attemptFigures, countAttempts } from '../../src/notificaties/figures.ts'
import { testApp } from '../app.ts'

t.test('attempts are counted once, however often and by however many the job runs', async (t) => {
  const { database } = await testApp(t)
  const { sql } = database
  const [a] = await sql`insert into abonnement (callback_url, auth) values ('https://a.example/', '\\x00') returning id`
  const attempts = (receiver: number, outcome: string, isLast: boolean, count: number, ago: string) => sql`
    insert into delivery_attempt (notificatie_id, abonnement_id, number, begun_at, outcome, is_last)
    select (random() * 1e15)::bigint, ${receiver}, 1, now() - ${ago}::interval, ${outcome}, ${isLast} from generate_series(1, ${count}::int)`
  await attempts(0, 'delivered', false, 5, '10 minutes')
  await attempts(a!.id, 'http', false, 3, '10 minutes')
  await attempts(a!.id, 'http', true, 2, '3 days')
  await attempts(0, 'delivered', false, 7, '5 seconds')
  await Promise.all([countAttempts(database), countAttempts(database)])
  await countAttempts(database)
  const total = async (per: 'hour' | 'day', receiver?: number) => {
    const rows = await attemptFigures(database, {
      per,
      zone: 'Europe/Amsterdam',
      ...(receiver !== undefined && { receiver }),
    })
    const sum = (name: 'delivered' | 'retried' | 'failed') => rows.reduce((all, row) => all + row[name], 0)
    return { bars: rows.length, delivered: sum('delivered'), retried: sum('retried'), failed: sum('failed') }
  }
  t.same(await total('hour'), { bars: 24, delivered: 5, retried: 3, failed: 0 }, 'what may still go on is not counted')
  t.same(await total('day'), { bars: 14, delivered: 5, retried: 3, failed: 2 })
  t.same(await total('day', a!.id), { bars: 14, delivered: 0, retried: 3, failed: 2 })
  await sql`update delivery_attempt set begun_at = begun_at - interval '3 minutes' where begun_at > now() - interval '1 minute'`
  await sql`update delivery_figure set counted_until = counted_until - interval '2 minutes'`
  await countAttempts(database)
  t.match(await total('hour'), { delivered: 12 }, 'and later it is')
  await sql`update delivery_figure set hour = hour - interval '20 days'`
  await countAttempts(database)
  t.equal((await sql`select from delivery_figure`).length, 0, 'those of long ago go')
})
