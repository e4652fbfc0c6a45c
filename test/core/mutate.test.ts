import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { Last, type Mutation, mutator } from '../../src/core/mutate.ts'
import type { Change, NewRow } from '../../src/core/records.ts'
import { openDatabase } from '../../src/database/database.ts'
import { auditRecords } from '../audit-records.ts'
import { cuttingProxy } from '../database/cutting-proxy.ts'
import { frozenProxy } from '../database/frozen-proxy.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'

const actor = systemActor('test', 'http://localhost')
const change = (more: Partial<Change> = {}): Change => ({
  component: 'ztc',
  actie: 'create',
  resource: 'catalogus',
  url: 'http://localhost/x',
  uuid: '00000000-0000-4000-8000-000000000001',
  weergave: 'x'.repeat(300),
  kanaal: { naam: 'zaaktypen', kenmerken: { catalogus: 'http://localhost/c' } },
  oud: null,
  nieuw: { a: 'é"\\' },
  ...more,
})

/** A catalogue; the database says its name. */
const newRow = (domein: string, more: Partial<NewRow<object>> = {}): NewRow<object> => ({
  insert: (sql) => sql`gemaakt as (
    insert into catalogus (domein, rsin, contactpersoon_beheer_naam) values (${domein}, '000000000', 'x')
    returning id, domein as weergave, jsonb_build_object('naam', 'is ' || domein) as nieuw)`,
  change: { ...change(), nieuw: { a: 1 } },
  ...more,
})

t.test('mutate', async (t) => {
  const { url } = await testDatabase(t)
  const database = openDatabase(url, { max: 5, name: 'test' })
  t.teardown(database.close)
  const { sql } = database
  const mutate = mutator(database)
  const insert = (m: Parameters<Parameters<typeof mutate>[1]>[0], domein: string) =>
    m.trx.insertInto('catalogus').values({ domein, rsin: '000000000', contactpersoonBeheerNaam: 'x' }).execute()

  t.test('audit row and notification commit with the change', async (t) => {
    await mutate(actor, async (m) => {
      await insert(m, 'A')
      m.record(change())
    })
    const [record] = await auditRecords(database)
    t.match(record, { actie: 'create', resultaat: 201, nieuw: { a: 'é"\\' }, oud: null })
    t.equal(String(record!.resource_weergave).length, 200)
    t.match(
      await sql`select kanaal, actie, kenmerken, status from notificatie n join delivery on notificatie_id = n.id`,
      [{ kanaal: 'zaaktypen', actie: 'create', kenmerken: { catalogus: 'http://localhost/c' }, status: 'gepland' }],
    )
  })

  t.test('work that records nothing is rolled back', async (t) => {
    await t.rejects(
      mutate(actor, async (m) => void (await insert(m, 'B'))),
      /recorded nothing/,
    )
    t.same(await sql`select domein from catalogus where domein = 'B'`, [])
  })

  t.test('work that fails leaves nothing: no row, no audit record, no notification, no job', async (t) => {
    const before =
      await sql`select (select count(*) from audit) as a, (select count(*) from notificatie) as n, (select count(*) from jobs) as j`
    await t.rejects(
      mutate(actor, async (m) => {
        await insert(m, 'C')
        m.record(change())
        await m.enqueue('retention', {})
        throw new Error('too bad')
      }),
      /too bad/,
    )
    t.same(await sql`select domein from catalogus where domein = 'C'`, [])
    t.same(
      await sql`select (select count(*) from audit) as a, (select count(*) from notificatie) as n, (select count(*) from jobs) as j`,
      before,
    )
  })

  t.test('a change that cannot be recorded fails as a whole', async (t) => {
    await t.rejects(
      mutate(actor, async (m) => {
        await insert(m, 'E')
        m.record(change({ kanaal: { naam: 'zaaktypen', kenmerken: { a: '\u0000' } } })) // no JSON that PostgreSQL takes
      }),
      { code: '22P05' },
    )
    t.same(await sql`select domein from catalogus where domein = 'E'`, [])
  })

  t.test('a deadlock is not seen from outside: the work is done again', async (t) => {
    await mutate(actor, async (m) => {
      await insert(m, 'D1')
      await insert(m, 'D2')
      m.record(change({ kanaal: null }))
    })
    const both = Promise.withResolvers<void>()
    let waiting = 0
    const lock = (first: string, second: string) =>
      mutate(actor, async (m) => {
        await m.sql`update catalogus set naam = naam || 'x' where domein = ${first}`
        if (++waiting === 2) both.resolve()
        await both.promise
        await m.sql`update catalogus set naam = naam || 'x' where domein = ${second}`
        m.record(change({ kanaal: null }))
      })
    await Promise.all([lock('D1', 'D2'), lock('D2', 'D1')])
    t.same(await sql`select naam from catalogus where domein in ('D1', 'D2')`, [{ naam: 'xx' }, { naam: 'xx' }])
  })

  t.test('a change that makes one row is one statement, with its record and notification', async (t) => {
    const { proxy, through, direct } = await givenProxy(t)
    const mutate = mutator(through)
    await mutate(actor, async () => new Last(newRow('EERST')))
    const before = proxy.statements()
    t.same(await mutate(actor, async () => new Last(newRow('RIJ'))), { a: 1, naam: 'is RIJ' })
    t.equal(proxy.statements() - before, 1)
    t.match(await auditRecords(direct, direct.sql`resource_weergave = 'RIJ'`), [{ nieuw: { a: 1, naam: 'is RIJ' } }])
    t.same(
      await direct.sql`select count(*) from notificatie n join audit a using (uuid) join delivery on notificatie_id = n.id`,
      [{ count: 2 }],
    )
  })

  t.test('what is made after other work is in its transaction, or not there at all', async (t) => {
    const after = newRow('NA', { after: async () => Promise.reject(new Error('too bad')) })
    await t.rejects(
      mutate(actor, async () => new Last(after)),
      /too bad/,
    )
    t.same(await sql`select domein from catalogus where domein = 'NA'`, [])
    await mutate(actor, async (m) => {
      await insert(m, 'VOOR')
      return new Last(newRow('NA'))
    })
    t.match(await auditRecords(database, sql`resource_weergave = 'NA'`), [{ nieuw: { a: 1, naam: 'is NA' } }])
    t.equal((await sql`select from catalogus where domein in ('VOOR', 'NA')`).length, 2)
  })

  t.test('a row that is not made, or whose number was taken, is judged again', async (t) => {
    const attempts: number[] = []
    const outdated = (m: { attempt: number }) =>
      newRow('OUD', {
        insert: (sql) => sql`gemaakt as (
          insert into catalogus (domein, rsin, contactpersoon_beheer_naam)
          select 'OUD', '000000000', 'x' where ${m.attempt > 1}
          returning id, domein as weergave, '{}'::jsonb as nieuw)`,
      })
    await mutate(actor, async (m) => {
      attempts.push(m.attempt)
      return new Last(outdated(m))
    })
    await mutate(actor, async (m) => {
      attempts.push(m.attempt)
      return new Last(newRow(m.attempt === 1 ? 'OUD' : 'VRIJ', { taken: 'catalogus_domein_rsin_unique' }))
    })
    t.same(attempts, [1, 2, 1, 2])
    t.same(await sql`select resource_weergave as w from audit where resource_weergave in ('OUD', 'VRIJ') order by id`, [
      { w: 'OUD' },
      { w: 'VRIJ' },
    ])
    await t.rejects(
      mutate(actor, async () => new Last(newRow('OUD'))),
      { code: '23505' },
      'a number of the client is refused',
    )
  })

  t.test('work that fails as a lost connection does is rolled back all the same', async (t) => {
    const one = openDatabase(url, { max: 1, name: 'test' })
    t.teardown(one.close)
    const broken = Object.assign(new Error('the client broke off'), { code: 'ECONNRESET' })
    await t.rejects(
      mutator(one)(actor, async (m) => {
        await insert(m, 'AF')
        throw broken
      }),
      broken,
    )
    t.same(await one.sql`select from catalogus where domein = 'AF'`, [], 'the connection is in no transaction')
    await mutator(one)(actor, async (m) => {
      await m.sql
        .savepoint(async (part) => {
          await part`insert into catalogus (domein, rsin, contactpersoon_beheer_naam) values ('AF', '000000000', 'x')`
          throw broken
        })
        .catch(() => {})
      m.record(change({ kanaal: null }))
    })
    t.same(await one.sql`select from catalogus where domein = 'AF'`, [], 'nor is a part kept')
  })

  t.test('a row whose answer is lost is found to have been made, or not', async (t) => {
    const { proxy, through, direct } = await givenProxy(t)
    const create = (domein: string, cut: () => void) =>
      mutator(through)(actor, async () => {
        cut()
        return new Last(newRow(domein))
      })
    const saved = async (domein: string) =>
      (await direct.sql`select from catalogus where domein = ${domein}`).length === 1
    await create('EERS', () => {})
    t.same(await create('GEEN', () => proxy.loseAnswers(false, 'SELECT 1')), { a: 1, naam: 'is GEEN' })
    t.ok(await saved('GEEN'))
    await t.rejects(
      create('WEG', () => proxy.loseRequests()),
      { code: 'CONNECTION_CLOSED' },
    )
    t.notOk(await saved('WEG'))
    await create('NOG', () => {})
    await t.rejects(
      create('STUK', () => proxy.loseAnswers(true, 'SELECT 1')),
      { code: '08007' },
    )
  })

  t.test('BEGIN leaves with the first statement, the commit with the records', async (t) => {
    const { proxy, through } = await givenProxy(t)
    const create = (domein: string) =>
      mutator(through)(actor, async (m) => {
        await insert(m, domein)
        m.record(change())
      })
    await create('EEN')
    const before = proxy.turns()
    await create('TWEE')
    t.equal(proxy.turns() - before, 2)
  })

  t.test('nor is a migration: what was prepared before is prepared again', async (t) => {
    await sql`create table prepared (id integer)`
    const make = () =>
      mutate(actor, async (m) => {
        await m.sql`insert into prepared values (1) returning *`
        await m.sql`select * from prepared limit 1`
        m.record(change({ kanaal: null }))
      })
    const many = () => Promise.all(Array.from({ length: 20 }, make))
    await many()
    await sql`alter table prepared add column more text`
    await many()
    t.same(await sql`select count(*)::int as count from prepared`, [{ count: 40 }])
    await sql`drop table prepared`
  })

  t.test('a commit whose answer is lost is found to have been made, or not', async (t) => {
    const { proxy, through, direct } = await givenProxy(t)
    const create = (domein: string, cut: () => void) =>
      mutator(through)(actor, async (m) => {
        await insert(m, domein)
        m.record(change())
        cut()
        return domein
      })
    const saved = async (domein: string) =>
      (await direct.sql`select from catalogus where domein = ${domein}`).length === 1

    // Requests come through, answers do not: the server commits, and the program never hears of it. The first on a connection
    // prepares the statements, for which it needs answers.
    await create('EERS', () => {})
    t.equal(await create('GEEN', () => proxy.loseAnswers()), 'GEEN', 'what was committed is told')
    t.ok(await saved('GEEN'))
    await t.rejects(
      create('WEG', () => proxy.loseRequests()),
      { code: 'CONNECTION_CLOSED' },
      'and what was not',
    )
    t.notOk(await saved('WEG'))
    await create('NOG', () => {})
    await t.rejects(
      create('STUK', () => proxy.loseAnswers(true)),
      { code: '08007' },
      'or that it cannot be known',
    )
  })

  t.test('a commit that goes on after its connection broke is ended', async (t) => {
    const { proxy, through, direct } = await givenProxy(t)
    await direct.sql`
      create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.5); return null; end'`
    await direct.sql`
      create constraint trigger slow after insert on catalogus deferrable initially deferred for each row
      execute function slow()`
    const made = mutator(through)(actor, async (m) => {
      await insert(m, 'TRAAG')
      m.record(change())
      return 'made'
    })
    const asleep = () => direct.sql`
      select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`
    await until('the commit', async () => (await asleep()).length > 0)
    proxy.endClients()
    await t.rejects(made, { code: 'CONNECTION_CLOSED' })
    t.same(await asleep(), [], 'before anybody says so')
    t.same(await direct.sql`select from catalogus where domein = 'TRAAG'`, [])
  })

  t.test('a row that waits for a lock when its connection breaks is not made later', async (t) => {
    const { proxy, through, direct } = await givenProxy(t)
    const create = (domein: string) => mutator(through)(actor, async () => new Last(newRow(domein)))
    await create('EERS')
    await direct.sql.begin(async (lock) => {
      await lock`lock table catalogus`
      const made = create('WACHT')
      const waiting = () => lock`select from pg_locks where not granted and relation = 'catalogus'::regclass`
      await until('the insert', async () => (await waiting()).length > 0)
      proxy.endClients()
      await t.rejects(made, { code: 'CONNECTION_CLOSED' })
    })
    t.same(await direct.sql`select from catalogus where domein = 'WACHT'`, [])
  })

  t.test('what was sent on a connection that fell silent is not done later', async (t) => {
    const { url } = await testDatabase(t)
    const proxy = await frozenProxy(t, url)
    const through = openDatabase(proxy.url, { max: 4, name: 'test' })
    t.teardown(through.close)
    const domains = ['EEN', 'TWEE', 'DRIE', 'VIER']
    await Promise.all(domains.map(() => through.sql`select pg_sleep(0.1)`)) // each has a connection
    proxy.freeze('some')
    const ends = await Promise.allSettled(
      domains.map((domein) => mutator(through)(actor, async () => new Last(newRow(domein)))),
    )
    const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    t.ok(failed.length > 0 && failed.length < 4, 'the database can be asked, and has not got all of them')
    for (const { code } of failed) t.equal(code, 'CONNECTION_SILENT', 'its process of the server is gone')
    proxy.thaw()
    t.equal((await through.sql`select from catalogus`).length, 4 - failed.length)
  })

  t.test('of a commit whose answer is lost is told what became of it, also when it leaves no record', async (t) => {
    const { proxy, through, direct } = await givenProxy(t)
    const reserve = (domein: string, cut: () => void) =>
      mutator(through)(actor, async (m) => {
        await insert(m, domein)
        m.unrecorded('a test')
        cut()
        return domein
      })
    const saved = async (domein: string) =>
      (await direct.sql`select from catalogus where domein = ${domein}`).length === 1
    await reserve('EERS', () => {})
    t.equal(await reserve('WEL', () => proxy.loseAnswers()), 'WEL')
    await t.rejects(
      reserve('NIET', () => proxy.loseRequests()),
      { code: 'CONNECTION_CLOSED' },
    )
    t.notOk(await saved('NIET'))
    await t.rejects(
      reserve('STUK', () => proxy.loseAnswers(true)),
      { code: '08007' },
      'nobody can be asked',
    )
  })

  t.test('no commit is sent before the number of its transaction is known', async (t) => {
    const { proxy, through, direct } = await givenProxy(t)
    const record = (cut: () => void) =>
      mutator(through)(actor, async (m) => {
        cut()
        m.record(change({ component: 'zrc' }))
      })
    await record(() => {})
    await t.rejects(
      record(() => proxy.loseAnswers(false, 'SELECT 1')),
      { code: 'CONNECTION_CLOSED' },
    )
    t.same(await direct.sql`select count(*)::int as n from audit`, [{ n: 1 }])
  })

  t.test('after a crash the number of a transaction may be that of another one: only its record tells', async (t) => {
    const { proxy, through, direct } = await givenProxy(t)
    const make = (domein: string, record: (m: Mutation) => void, cut = async () => {}) =>
      mutator(through)(actor, async (m) => {
        await insert(m, domein)
        record(m)
        await cut()
        return domein
      })
    const crash = async () => {
      await direct.sql`update server_life set id = gen_random_uuid()`
      proxy.loseAnswers()
    }
    await make('EERS', (m) => m.record(change()))
    t.equal(await make('WEL', (m) => m.record(change()), crash), 'WEL')
    await make('NOG', (m) => m.unrecorded('a test'))
    await t.rejects(
      make('GEEN', (m) => m.unrecorded('a test'), crash),
      { code: '08007' },
    )
    // What a crash and a failover do to a table that is not logged.
    await direct.sql`delete from server_life`
    await mutator(through)(actor, async (m) => m.unrecorded(String(await m.sql`select 1`)))
    await until('another life', async () => (await direct.sql`select from server_life`).length === 1)
  })

  for (const alone of [true, false])
    t.test(
      `${alone ? 'a statement' : 'a commit'} that stands still in its socket is not done when it goes on`,
      async (t) => {
        const { proxy, through, direct } = await givenProxy(t)
        const [{ pid }] = await through.sql<[{ pid: number }]>`select pg_backend_pid() as pid`
        const stop = async () => {
          process.kill(pid, 'SIGSTOP')
          setTimeout(() => proxy.endClients(), 50)
        }
        const made = mutator(through)(actor, async (m) => {
          if (!alone) await insert(m, 'STIL')
          await stop()
          if (alone) return new Last(newRow('STIL'))
          m.record(change())
          return {}
        })
        await t.rejects(made, { code: '08007' }, 'it cannot be known as long as its process is there')
        process.kill(pid, 'SIGCONT')
        await until(
          'the end of its process',
          async () => (await direct.sql`select from pg_stat_activity where pid = ${pid}`).length === 0,
        )
        t.same(await direct.sql`select from catalogus where domein = 'STIL'`, [])
      },
    )
})

/** A database that is reached through a proxy, and directly. */
async function givenProxy(t: { teardown(work: () => unknown): unknown }) {
  const { url } = await testDatabase(t)
  const proxy = await cuttingProxy(url)
  t.teardown(proxy.close)
  const through = openDatabase(proxy.url, { max: 1, name: 'test' })
  t.teardown(through.close)
  const direct = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(direct.close)
  return { proxy, through, direct }
}
