// Slow: starts wait for a database until their term passes.
// A start that does not get the connections it needs says so and ends. It starts the program.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { freePort } from '../free-port.ts'
import { programEnv } from '../program-env.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

async function start(t: Test, role: string, env: Record<string, string>) {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-start-'))
  const child: ChildProcess = spawn(process.execPath, [MAIN, role], {
    env: programEnv({
      DATA_DIR: directory,
      IMPORT_DOCUMENTEN_BASE_DIR: join(directory, 'import'),
      SECRET_KEY: 'the key of this database, long enough',
      PORT: String(await freePort()),
      ...env,
    }),
  })
  const exited = once(child, 'exit')
  let said = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (text) => (said += text))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
    await rm(directory, { recursive: true, force: true })
  })
  return { child, said: () => said, code: async () => (await exited)[0] as number }
}

t.test('a wrong password for the direct connection ends api and worker with 78 and the setting', async (t) => {
  const { url } = await testDatabase(t)
  const wrong = Object.assign(new URL(url), { password: 'not-this-one' }).href
  await Promise.all(
    ['api', 'worker'].map(async (role) => {
      const { code, said } = await start(t, role, { DATABASE_URL: url, DATABASE_DIRECT_URL: wrong })
      t.equal(await code(), 78, role)
      t.match(said(), /DATABASE_DIRECT_URL is refused by the server: .*password/, role)
      t.notMatch(said(), 'not-this-one')
    }),
  )
})

t.test('a database that cannot be reached is tried again, with a line, and ends the start with 69', async (t) => {
  const { code, said } = await start(t, 'worker', { DATABASE_URL: `postgres://u:p@127.0.0.1:${await freePort()}/db` })
  t.equal(await code(), 69)
  t.match(said(), /"setting":"DATABASE_URL".*trying again/)
  t.match(said(), /DATABASE_URL: the database cannot be reached \(.*ECONNREFUSED/)
})

t.test('SIGTERM stops a start that waits for a database that answers nothing', async (t) => {
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const { child, code } = await start(t, 'api', { DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/db` })
  await until('a connection', () => sockets.size > 0)
  child.kill('SIGTERM')
  t.equal(await code(), 0)
})
