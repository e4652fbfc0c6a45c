// Two of everything start at the same moment on a database and a store in which nothing is yet.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { freePort } from '../free-port.ts'
import { programEnv } from '../program-env.ts'
import type { JudgeLike } from '../stage.ts'
import { withPath } from '../with-path.ts'
import { isReady, MAIN, START_MS, supervise, until } from '../zaken/processes.ts'
import type { Scene } from './scene.ts'

let turn = 0

/** Starts api, worker and migrate twice, waits until all are ready, and ends them. */
export async function startTogether({ server, settings, stage }: Scene, judge: JudgeLike): Promise<void> {
  const name = `leeg_${turn++}`
  const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  const admin = postgres(server.url, { max: 1, onnotice: () => {} })
  await admin`create database ${admin(name)}`
  const store = await mkdtemp(join(tmpdir(), 'zaakstroom-together-'))
  const sql = postgres(withPath(url), { max: 1, onnotice: () => {} })
  try {
    const env = { ...settings, DATABASE_URL: url, DATA_DIR: store, DOCUMENTEN_DIR: join(store, 'documenten') }
    const ports = [await freePort(), await freePort()]
    const migrations = [1, 2].map(() =>
      promisify(execFile)(process.execPath, [MAIN, 'migrate'], { env: programEnv(env) }).then(
        () => 0,
        ({ code }) => code,
      ),
    )
    const processes = [
      ...ports.map((port) => supervise(stage, 'api', { ...env, PORT: String(port) })),
      ...[1, 2].map(() => supervise(stage, 'worker', env)),
    ]
    judge.same(await Promise.all(migrations), [0, 0], 'both migrations end well')
    for (const port of ports) await until('both apis', () => isReady(`http://127.0.0.1:${port}`), START_MS)
    await until('both workers', async () => (await sql`select from worker`).length === 4, START_MS)
    judge.same(await Promise.all(processes.map((one) => one.stop())), [0, 0, 0, 0], 'all end in order')
    judge.same(
      processes.flatMap(({ faults }) => faults),
      [],
      'none ended by itself',
    )
  } finally {
    await sql.end()
    await admin`drop database ${admin(name)} with (force)`
    await admin.end()
    await rm(store, { recursive: true, force: true })
  }
}
