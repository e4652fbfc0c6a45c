// Slow: it kills a copy again and again.
// It starts programs: `zaakstroom copy`, which is killed again and again while cases are made, changed and deleted.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { givenZaaktype, SECRET, testApp } from '../app.ts'
import { programEnv } from '../program-env.ts'
import { until } from '../until.ts'
import { CRS, givenZaak } from '../zaken/given.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')

t.test('a copy that is killed goes on where it was, and is equal to the lists in the end', async (t) => {
  const test = await testApp(t)
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const address = `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`
  const directory = await mkdtemp(join(tmpdir(), 'copy-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const run = (...options: string[]): ChildProcess =>
    spawn(
      process.execPath,
      [MAIN, 'copy', address, '--to', directory, '--client-id', 'beheer', '--collections', 'zaken', ...options],
      {
        env: programEnv({ COPY_SECRET: SECRET }),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
  const zaaktype = await givenZaaktype(test)
  let made = 0
  const changing = { on: true }
  const work = (async () => {
    const open: string[] = []
    while (changing.on) {
      open.push((await givenZaak(test, { zaaktype })).url)
      made++
      const url = open[made % open.length]!
      if (made % 3 === 0) await test.call('PATCH', url, { toelichting: `wijziging ${made}` }, CRS)
      if (made % 5 === 0) await test.call('DELETE', open.shift()!, undefined, CRS)
    }
  })()
  const jobs = setInterval(() => void test.runJobs().catch(() => {}), 300)
  t.teardown(() => clearInterval(jobs))
  const rows = () => {
    try {
      const db = new DatabaseSync(join(directory, 'copy.sqlite'), { readOnly: true })
      const { n } = db.prepare('select count(*) as n from zaak').get() as { n: number }
      db.close()
      return n
    } catch {
      return 0
    }
  }
  for (let killed = 0; killed < 4; killed++) {
    const copying = run('--follow')
    const before = rows()
    await until('it goes on', () => rows() > before || copying.exitCode !== null)
    t.equal(copying.exitCode, null)
    copying.kill('SIGKILL')
    await once(copying, 'exit')
  }
  changing.on = false
  await work
  clearInterval(jobs)
  const comparing = run('--compare')
  let said = ''
  for (const stream of [comparing.stdout, comparing.stderr]) stream?.on('data', (text) => (said += text))
  const [code] = await once(comparing, 'close')
  t.equal(code, 0, said)
  t.match(said, /^zaken: \d+ rows, equal$/m)
})
