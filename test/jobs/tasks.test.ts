import { readdir } from 'node:fs/promises'
import t from 'tap'
import { taskList } from '../../tasks/index.ts'
import { testApp } from '../app.ts'

t.test('a kind of job is queued under the name of its file', async (t) => {
  const { parts } = await testApp(t)
  const files = (await readdir(new URL('../../tasks/', import.meta.url))).map((file) => file.replace(/\.ts$/, ''))
  t.same(
    [
      ...Object.keys(taskList({ ...parts, copyFiles: async () => [], runner: undefined as never })),
      'verstuur-notificaties',
      'index',
    ].sort(),
    files.sort(),
  )
})
