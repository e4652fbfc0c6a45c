import { readdir } from 'node:fs/promises'
import t from 'tap'
import { taskList } from '../../tasks/index.ts'
import { takeoverStep } from '../../tasks/takeover-step.ts'
import { testApp } from '../app.ts'

t.test('a kind of job is queued under the name of its file', async (t) => {
  const { parts } = await testApp(t)
  const files = (await readdir(new URL('../../tasks/', import.meta.url))).map((file) => file.replace(/\.ts$/, ''))
  t.same(
    [
      ...Object.keys(taskList({ ...parts, copyFiles: async () => [], runner: undefined as never })),
      'send-notificaties',
      'index',
    ].sort(),
    files.sort(),
  )
})

t.test(
  'a step of a takeover that meets a conflict each time fails, so that its job waits longer each time',
  async (t) => {
    const { database } = await testApp(t)
    let tries = 0
    const runStep = async () => {
      tries++
      throw Object.assign(new Error('could not serialize access'), { code: '40001' })
    }
    const task = takeoverStep({ database, runner: { runStep, close: async () => {} } })
    const job = { attempts: 1, max_attempts: 25 }
    await t.rejects(async () => task({ stap: 1, rij: 'x' }, { job, abortSignal: undefined } as never), {
      name: 'StepFailed',
    })
    t.equal(tries, 5, 'not at once for ever')
    t.equal((await database.sql`select from jobs where task_identifier = 'takeover-step'`).length, 0)
  },
)
