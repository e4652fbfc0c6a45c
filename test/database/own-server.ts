// A PostgreSQL that a test has for itself, to be taken down and started again at the same address.
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../../src/database/embedded.ts'

type TestLike = { teardown(work: () => unknown): unknown }

export type OwnServer = {
  url: string
  /** Where its files are. */
  directory: string
  /** In order: connections are cut, nothing is lost. */
  stop(): Promise<void>
  /** Without warning, as pg_ctl's immediate stop: it has to recover. */
  crash(): Promise<void>
  start(): Promise<void>
}

/** A new server with an empty database. It stops when `t` ends. */
export async function ownServer(t: TestLike): Promise<OwnServer> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-server-'))
  await chmod(directory, 0o711) // root's servers run as another user
  t.teardown(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const data = join(directory, 'data')
  const settings = ['fsync=off']
  let server = await startEmbedded(data, { settings })
  t.teardown(() => server.stop())
  const { url } = server
  return {
    url,
    directory: join(data, 'postgres'),
    stop: () => server.stop(),
    async crash() {
      const [pid] = (await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')
      process.kill(Number(pid), 'SIGQUIT')
      await server.exited
      await server.stop()
    },
    async start() {
      server = await startEmbedded(data, { settings, port: Number(new URL(url).port) })
    },
  }
}
