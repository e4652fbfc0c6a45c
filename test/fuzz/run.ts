// npm run fuzz [-- --seed 1 --requests 20000 --lanes 8]: bad and half-good input for an api process of its own, on PostgreSQL of its
// own (or TEST_DATABASE_URL). Ends with 1 when anything was answered wrong; a fault is repeated by its seed with --requests 1.
import { parseArgs } from 'node:util'
import { BASE, testApp } from '../app.ts'
import { freePort } from '../free-port.ts'
import { whileStanding } from '../stage.ts'
import { until } from '../until.ts'
import { isReady, START_MS, supervise } from '../zaken/processes.ts'
import { fuzz } from './fuzz.ts'
import { sendRaw } from './raw.ts'
import { makeWorld } from './world.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    requests: { type: 'string', default: '20000' },
    lanes: { type: 'string', default: '8' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help)
  console.log(
    'npm run fuzz -- --seed 1 --requests 200000 --lanes 8 (requests at the same time; 1 repeats a run exactly)',
  )
else
  await whileStanding(async (stage) => {
    const seed = Number(values.seed)
    const settings = { PUBLIC_URL: BASE, HTTP_HEADERS_TIMEOUT: '2', HTTP_REQUEST_TIMEOUT: '2' }
    const test = await testApp(stage, settings)
    const port = await freePort()
    const address = `http://127.0.0.1:${port}`
    const api = supervise(stage, 'api', {
      ...settings,
      DATABASE_URL: test.databaseUrl,
      DATA_DIR: test.config.dataDir,
      IMPORT_DOCUMENTEN_BASE_DIR: test.importDir,
      SECRET_KEY: test.config.secretKey!,
      PORT: String(port),
      LOG_LEVEL: 'error',
    })
    const ended = new AbortController()
    stage.teardown(() => ended.abort()) // what is answered while all is taken down is no fault
    await until('the api', () => isReady(address), START_MS)
    const began = performance.now()
    const world = await makeWorld(test)
    console.log(`seed ${seed}; ${world.operations.length} operations`)
    const raw = await sendRaw(address)
    for (const line of raw.faults) console.log(`FAULT ${line}`)
    const report = await fuzz(world, {
      address,
      seed,
      requests: Number(values.requests),
      lanes: Number(values.lanes),
      tell: console.log,
      ended: ended.signal,
    })
    if (ended.signal.aborted) return console.log('interrupted')
    const seconds = (performance.now() - began) / 1000
    console.log(`\nnever answered 2xx:\n  ${report.missed.join('\n  ')}`)
    console.log(`\nfaults:`)
    for (const { what, seed: at, count } of report.faults.values()) console.log(`  ${count} x ${what} (seed ${at})`)
    for (const fault of api.faults) console.log(`  ${fault}`)
    const statuses = [...report.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
    console.log(`
${raw.count} raw connections and ${report.requests} requests in ${seconds.toFixed(0)} s; ${statuses.join(', ')}
${report.reached.length} of ${world.operations.length} operations reached
the good request in between: ${report.good.count} times, p99 ${report.good.p99.toFixed(0)} ms, slowest ${report.good.slowest.toFixed(0)} ms
${report.faults.size + raw.faults.length + api.faults.length} faults`)
    if (report.faults.size + raw.faults.length + api.faults.length > 0 || api.restarts > 0) stage.fail()
  })
