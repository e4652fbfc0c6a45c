// Slow: it sends thousands of requests.
// A short run of `npm run fuzz`, with a seed that can be given: FUZZ_SEED=… FUZZ_REQUESTS=… npm test -- test/fuzz/fuzz.test.ts
import t from 'tap'
import { BASE, testApp } from '../app.ts'
import { fuzz } from './fuzz.ts'
import { sendRaw } from './raw.ts'
import { makeWorld } from './world.ts'

const seed = Number(process.env.FUZZ_SEED ?? 1)
const requests = Number(process.env.FUZZ_REQUESTS ?? 1200)

const test = await testApp(t, { PUBLIC_URL: BASE, HTTP_HEADERS_TIMEOUT: '2', HTTP_REQUEST_TIMEOUT: '2' })
const address = await test.app.listen({ port: 0, host: '127.0.0.1' })

t.test('no request is answered with a fault of ours, or by another schema than the documents have', async (t) => {
  const world = await makeWorld(test)
  const raw = await sendRaw(address)
  t.same(raw.faults, [])
  const report = await fuzz(world, { address, seed, requests, lanes: 4 })
  t.comment(
    `seed ${seed}: ${requests} requests, ${report.reached.length} of ${world.operations.length} operations reached`,
  )
  t.same([...report.faults.values()], [])
})
