// It starts the program.
import { execFile } from 'node:child_process'
import t from 'tap'
import { givenChange } from '../notificaties/given.ts'
import { builtIn, idsOf, subscribe, uuidOf } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { programEnv } from '../program-env.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

t.test('abonnementen are listed, paused, resumed and sent to again without the pages', async (t) => {
  const test = await builtIn(t)
  const program = (...args: string[]) =>
    new Promise<{ code: number; out: string }>((resolve) => {
      const env = programEnv({ DATABASE_URL: test.databaseUrl })
      execFile(process.execPath, [MAIN, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, out: stdout + stderr }),
      )
    })
  const run = (...args: string[]) => program('abonnement', ...args)
  const to = await subscriber(t, { auth: 'x' })
  const uuid = uuidOf(await subscribe(test, `${to.url}?token=geheim`))
  await givenChange(test)
  await test.runJobs()
  t.match(await run('pause', uuid), { code: 0, out: 'Paused.' })
  await givenChange(test)
  const [listed] = JSON.parse((await run('list', '--json')).out)
  t.match(listed, { uuid, status: 'gepauzeerd', waiting: 1, failed: 0 })
  t.notMatch(listed.callback, 'geheim')
  t.match(await run('resume', uuid), { code: 0, out: 'Resumed.' })
  await test.runJobs()
  t.equal(idsOf(to.received).length, 2)
  t.match(await run('replay', uuid, '--from', '2020-01-01T00:00:00Z', '--count'), { code: 0, out: '2 messages' })
  t.match(await run('replay', uuid, '--from', '2020-01-01T00:00:00Z'), {
    code: 0,
    out: '2 messages made since 2020-01-01T00:00:00.000Z will be sent again',
  })
  await test.runJobs()
  t.equal(idsOf(to.received).length, 4)
  t.equal((await run('replay', uuid)).code, 64)
  t.match(await program('notifications', 'pause'), { code: 0, out: 'Paused: all receivers. 0 deliveries wait.' })
  await givenChange(test)
  await test.runJobs()
  t.equal(idsOf(to.received).length, 4, 'a pause of all holds for abonnementen')
  t.match(await program('notifications', 'pause', '--external'), {
    out: 'Paused: all receivers, the notifications service. 1 deliveries wait.',
  })
  t.match(await program('notifications', 'resume'), { out: 'Paused: the notifications service. 0 deliveries wait.' })
  await test.runJobs()
  t.equal(idsOf(to.received).length, 5, 'one of the external service does not')
  t.match(await program('notifications', 'resume', '--external'), { out: 'Nothing is paused.' })
  t.match(await run('pause', crypto.randomUUID()), { code: 64, out: 'there is no abonnement' })
})
