// Slow: hundreds of runners come and go.
// Runners that come and go, as a worker of many organisations has them.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { startWorker } from '../../src/jobs/worker.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

t.test('a worker that was stopped leaves nothing in memory', async (t) => {
  const { url } = await testDatabase(t)
  const runOne = async () => {
    const taskList = { nothing: async () => {} }
    const worker = await startWorker({ databaseUrl: url, taskList, concurrency: 1, log: openLog('silent') })
    await worker.stop()
    return new WeakRef(taskList)
  }
  const tasks = [await runOne(), await runOne()]
  await until(
    'its tasks are forgotten',
    () => {
      collect()
      return tasks.every((one) => one.deref() === undefined)
    },
    60_000,
  )
})
