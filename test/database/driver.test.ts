// It starts and stops databases.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { sql as statement } from 'kysely'
import t from 'tap'
import { isUnavailable, openDatabase } from '../../src/database/database.ts'
import { requirePatchedDriver } from '../../src/database/driver.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { ownServer } from './own-server.ts'

t.test('a driver without our patch is refused at the start, with what to do', async (t) => {
  requirePatchedDriver()
  const sources = new URL('.', import.meta.resolve('postgres'))
  for (const unpatched of ['connection.js', 'index.js']) {
    const directory = t.testdir({
      'connection.js': await readFile(new URL('connection.js', sources), 'utf8'),
      'index.js': await readFile(new URL('index.js', sources), 'utf8'),
      [unpatched]: 'as the package has it',
    })
    t.throws(() => requirePatchedDriver(pathToFileURL(`${directory}/`)), /npx patch-package/)
  }
  const older = t.testdir({
    'connection.js': (await readFile(new URL('connection.js', sources), 'utf8')).replace('    retries = 0\n', ''),
    'index.js': await readFile(new URL('index.js', sources), 'utf8'),
  })
  t.throws(() => requirePatchedDriver(pathToFileURL(`${older}/`)), /older/, 'one with half of the patch too')
})

t.test('what the server finds at the end of a COPY is told', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(close)
  await sql`create table proef (tekst text)`
  await sql.unsafe(`create function vol() returns trigger language plpgsql as 'begin raise disk_full; end';
    create trigger vol after insert on proef for each statement execute function vol()`)
  for (const rows of [1, 100_000]) {
    const copied = sql.begin(async (sql) => {
      const target = await sql`copy proef from stdin`.writable()
      await pipeline(Readable.from(Array(rows).fill('een regel\n')), target)
    })
    await t.rejects(copied, { code: '53100' }, `${rows} rows`)
  }
  t.same(await sql`select count(*)::int from proef`, [{ count: 0 }])
})

t.test('an answer that ends within its rows leaves none of them in the next one', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
  const other = openDatabase(url, { max: 1, name: 'other' })
  t.teardown(async () => void (await Promise.all([close(), other.close()])))
  const failing = sql`select 1 / (5000 - n) as part from generate_series(1, 5000) n`
  await t.rejects(failing, { code: '22012' })
  t.same([...(await sql`select 1 as one`)], [{ one: 1 }], 'after a fault')

  const slow = sql`select n, case when n = 5000 then pg_sleep(60) end from generate_series(1, 5000) n`
  const lost = t.rejects(slow, { code: 'CONNECTION_CLOSED' })
  await until('it sleeps', async () => {
    const ended = await other.sql`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
    return ended.length === 1
  })
  await lost
  t.same([...(await sql`select 1 as one`)], [{ one: 1 }], 'after the connection was lost')
})

t.test('a statement that cannot be written is an error of its own, and no other gets its answer', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(close)
  await sql`select 0 as n`
  const before = sql`select 1 as n, pg_sleep(0.2)`.execute()
  const wrong = sql`select ${undefined as unknown as number}::int as n`.execute()
  const after = sql`select 3 as n`.execute()
  await t.rejects(wrong, { code: 'UNDEFINED_VALUE' })
  t.equal((await before)[0]?.n, 1)
  t.equal((await after)[0]?.n, 3)
  t.equal((await sql`select 4 as n`)[0]?.n, 4)
})

t.test('a server whose socket is gone is away, as one that refuses', async (t) => {
  const { sql, close } = openDatabase(`postgres://wie@/waar?host=/nowhere`, { max: 1, name: 'test' })
  t.teardown(close)
  const error = await sql`select 1`.catch((error: unknown) => error)
  t.match(error, { code: 'ENOENT' })
  t.ok(isUnavailable(error))
  const missing = await readFile('/nowhere/file').catch((error: unknown) => error)
  t.match(missing, { code: 'ENOENT' })
  t.notOk(isUnavailable(missing), 'a file that is not there says nothing of the database')
})

t.test('a pool closes what it does not need, however often something is asked', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, close } = openDatabase(url, { max: 5, name: 'few', idleSeconds: 1 })
  t.teardown(close)
  const pids = async (times: number) => {
    const rows = await Promise.all(
      Array.from({ length: times }, () => sql<{ pid: number }[]>`select pg_backend_pid() as pid`),
    )
    return new Set(rows.map(([row]) => row?.pid))
  }
  t.equal((await pids(5)).size, 5)
  await until('one is left, and asked all the time', async () => {
    await pids(1)
    const [open] = await sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'zaakstroom few'`
    return open?.count === 1
  })
})

// patches/ mends the driver: without it this file ends with an uncaught TypeError.
t.test(
  'a connection that is lost within a transaction is an error of that transaction, and the pool goes on',
  async (t) => {
    const { sql, close } = openDatabase((await testDatabase(t)).url, { max: 2, name: 'test' })
    t.teardown(close)
    for (let turn = 0; turn < 20; turn++) {
      const lost = sql.begin(async (inner) => {
        const [own] = await inner`select pg_backend_pid() as pid`
        await sql`select pg_terminate_backend(${own!.pid})`
        for (;;) await inner`select 1`
      })
      await t.rejects(lost, { code: /CONNECTION_CLOSED|57P01/ })
      t.same(await sql`select 1 as one`, [{ one: 1 }])
    }
  },
)

t.test(
  'a server that takes a connection and closes it before it is ready is an error, and is tried again',
  async (t) => {
    const { url } = await testDatabase(t)
    let isAway = true
    const proxy = createServer((client) => {
      client.on('error', () => {})
      if (isAway) return void client.end()
      const server = connect(Number(new URL(url).port), new URL(url).hostname)
      server.on('error', () => {})
      client.pipe(server).pipe(client)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    t.teardown(() => proxy.close())
    const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const { sql, db, close } = openDatabase(Object.assign(new URL(url), { host }).href, { max: 2, name: 'test' })
    t.teardown(close)
    const asked = Array.from({ length: 5 }, () => sql`select 1 as one`)
    for (const one of asked) await t.rejects(one, { code: 'CONNECTION_CLOSED' })
    await t.rejects(
      statement`select 1`.execute(db),
      { code: 'CONNECTION_CLOSED' },
      'also one that reserves a connection',
    )
    isAway = false
    t.same(await sql`select 1 as one`, [{ one: 1 }])
    const several = `${host},${new URL(url).host}`
    isAway = true
    const both = openDatabase(url.replace(new URL(url).host, several), { max: 1, name: 'test' })
    t.teardown(both.close)
    t.same(await both.sql`select 1 as one`, [{ one: 1 }], 'of several hosts the next is tried')
  },
)

t.test('what a transaction does after its connection was lost is refused, and never runs outside of it', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, close } = openDatabase(url, { max: 3, name: 'test' })
  t.teardown(close)
  await sql`create table proef (nummer integer)`
  for (let turn = 0; turn < 10; turn++) {
    const done = Promise.withResolvers<void>()
    const lost = sql.begin(async (inner) => {
      await inner`insert into proef values (1)`
      const [own] = await inner`select pg_backend_pid() as pid`
      await sql`select pg_terminate_backend(${own!.pid})`
      try {
        for (;;) await inner`select 1`
      } catch {
        await Promise.all([1, 2, 3].map(() => sql`select 1`)) // by now the pool has connected anew
        await inner`insert into proef values (2)`.catch(() => {})
        await inner`insert into proef values (3)`.catch(() => {})
      } finally {
        done.resolve()
      }
    })
    await t.rejects(lost)
    await done.promise
  }
  t.same(await sql`select nummer from proef`, [])
})

t.test('nor does the query builder hide that the connection of its transaction was lost', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, db, close } = openDatabase(url, { max: 2, name: 'test' })
  t.teardown(close)
  const lost = db.transaction().execute(async (trx) => {
    const { rows } = await statement<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
    await sql`select pg_terminate_backend(${rows[0]!.pid})`
    for (;;) await statement`select 1`.execute(trx)
  })
  await t.rejects(lost, { code: /CONNECTION_CLOSED|57P01/ })
  for (const _ of [1, 2, 3]) t.equal((await statement`select 1`.execute(db)).rows.length, 1)
})

t.test('a pool whose connections are cut all the time serves again when that stops', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, close } = openDatabase(url, { max: 5, name: 'test' })
  const other = openDatabase(url, { max: 1, name: 'other' })
  t.teardown(async () => {
    await close()
    await other.close()
  })
  let cutting = true
  const work = Array.from({ length: 10 }, async () => {
    while (cutting) {
      await sql.begin(async (inner) => inner`select pg_sleep(0.01)`).catch(() => {})
      await new Promise(setImmediate) // a refusal may come at once: others must get their turn
    }
  })
  for (let turn = 0; turn < 50; turn++) {
    await other.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'zaakstroom test' and datname = current_database()`
  }
  cutting = false
  await Promise.all(work)
  const all = await Promise.all(Array.from({ length: 20 }, () => sql.begin((inner) => inner`select 1 as one`)))
  t.equal(all.flat().length, 20)
})

t.test(
  'who waits for a connection while the server stops is answered, and the pool keeps all its connections',
  async (t) => {
    const server = await ownServer(t)
    const { sql, db, close } = openDatabase(server.url, { max: 3, name: 'test' })
    t.teardown(close)
    let done = false
    let answered = 0
    const readers = Array.from({ length: 12 }, async () => {
      while (!done) {
        // The query builder reserves a connection for each query.
        await statement`select 1`.execute(db).then(
          () => answered++,
          () => {},
        )
        await new Promise(setImmediate)
      }
    })
    for (let turn = 0; turn < 4; turn++) {
      const before = answered
      await until('50 answers', () => answered >= before + 50)
      await server.stop()
      await server.start()
    }
    done = true
    await Promise.all(readers)
    const all = await Promise.all([1, 2, 3].map(() => sql.reserve()))
    t.equal(all.length, 3)
    for (const connection of all) connection.release()
  },
)

t.test('arrays are read and written without asking the database for the types of all its schemas', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, db, close } = openDatabase(url, { max: 3, name: 'test' })
  t.teardown(close)
  const texts = ['a"\\{},', '', 'null', null]
  const uuids = ['6f9619ff-8b86-4011-b42d-00c04fc964ff']
  t.same(
    await sql`select ${texts}::text[] as texts, ${[1, 2]}::bigint[] as numbers, ${uuids}::uuid[] as uuids, ${[]}::integer[] as none,
      array[[1, null], [3, 4]] as nested, array[true, false] as flags, array['2026-03-02'::date] as days,
      array['\\x01'::bytea] as bytes, array['{"a": 1}'::jsonb] as objects`,
    [
      {
        texts,
        numbers: [1, 2],
        uuids,
        none: [],
        nested: [
          [1, null],
          [3, 4],
        ],
        flags: [true, false],
        days: ['2026-03-02'],
        bytes: [Buffer.from([1])],
        objects: [{ a: 1 }],
      },
    ],
  )
  t.ok(Object.keys(sql.options.parsers).length < 60, 'what a pool keeps does not grow with the tables of the database')
  // The builder asks for a connection by itself: also where none is open yet.
  const asked = await Promise.all([1, 2, 3].map((n) => statement<{ n: number }>`select ${n}::int as n`.execute(db)))
  t.same(
    asked.map(({ rows }) => rows),
    [[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]],
  )
})
