// In a process of its own: the metrics of a process count everything that it did.

import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { filesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { sideServer, startMetrics } from '../../src/operations/metrics-server.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { testApp } from '../app.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'

t.test('the port of the API has no metrics and nothing for debugging', async (t) => {
  const { app } = await testApp(t)
  for (const url of ['/metrics', '/debug', '/debug/pprof', '/json/list', '/_debug', '/status'])
    t.equal((await app.inject(url)).statusCode, 404, url)
})

t.test('metrics of what this process waits for and what fails it', async (t) => {
  const { url } = await testDatabase(t)
  const metrics = await startMetrics({
    ...{
      port: 0,
      host: '127.0.0.1',
      role: 'api' as const,
      databaseUrl: url,
      store: filesystemStore(tmpdir()),
      log: openLog('silent'),
    },
  })
  t.teardown(metrics.close)
  const has = async (t: { match(text: string, line: string, name: string): unknown }, line: string) => {
    const text = await (await fetch(metrics.address)).text()
    t.match(text, `${line}\n`, line)
  }

  t.test('who waits for a connection of a pool is counted until it has one', async (t) => {
    const database = openDatabase(url, { max: 1, name: 'proef' })
    t.teardown(database.close)
    await has(t, 'zaakstroom_database_pool_waiting{pool="proef"} 0')
    const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const first = database.sql.begin(async () => {
      begun.resolve()
      await held.promise
    })
    await begun.promise
    const waiting = [
      database.sql.begin('read only', (sql) => sql`select 1`),
      database.db.selectFrom('zaak').select('id').execute(),
    ]
    await has(t, 'zaakstroom_database_pool_waiting{pool="proef"} 2')
    held.resolve()
    await Promise.all([first, ...waiting])
    await has(t, 'zaakstroom_database_pool_waiting{pool="proef"} 0')
  })

  t.test('nor does it count who was refused a connection', async (t) => {
    const database = openDatabase('postgres://127.0.0.1:1/nowhere', { max: 1, name: 'weg' })
    t.teardown(database.close)
    await t.rejects(database.sql.begin((sql) => sql`select 1`))
    await t.rejects(database.sql.reserve())
    await has(t, 'zaakstroom_database_pool_waiting{pool="weg"} 0')
  })

  t.test('the disk of the documents is told', async (t) => {
    const text = await (await fetch(metrics.address)).text()
    const [free, total] = ['free', 'total'].map((state) =>
      Number(new RegExp(`zaakstroom_storage_space_bytes{state="${state}"} (\\S+)`).exec(text)?.[1]),
    )
    t.ok(free! > 0 && total! >= free!, `${free} of ${total}`)
  })

  t.test('faults of the storage are counted by their code', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-metrics-'))
    t.teardown(() => rm(directory, { recursive: true }))
    const store = filesystemStore(directory)
    for (let times = 0; times < 2; times++) await t.rejects(store.check())
    await has(t, 'zaakstroom_storage_errors_total{what="document storage",code="marker-missing"} 2')
  })

  t.test('nobody works here', async (t) => has(t, 'zaakstroom_workers 0'))
})

t.test('whoever opens connections without end gets as many as the port has, and no file of the process', async (t) => {
  const server = sideServer((_request, response) => response.end('ok'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  let closed = 0
  const sockets = Array.from({ length: 300 }, () =>
    connect(port, '127.0.0.1')
      .on('error', () => {})
      .on('close', () => closed++),
  )
  await until('those beyond the bound closed', () => closed === 300 - server.maxConnections)
  for (const socket of sockets) socket.destroy()
  await until('an answer', async () => (await fetch(`http://127.0.0.1:${port}`).catch(() => undefined))?.status === 200)
})
