// A copy that is kept beside the load, as a data warehouse would: it is killed, ends when the service is away, and is begun again.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECRET } from '../app.ts'
import { programEnv } from '../program-env.ts'
import type { StageLike } from '../stage.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')
const AGAIN_MS = 1_000
const COLLECTIONS = 'zaken,documenten'

/** @param address of an api */
export async function keepCopy(stage: StageLike, address: string) {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-copy-'))
  const ended = new AbortController()
  let copying: ChildProcess | undefined
  let begun = 0
  const run = (option: string) =>
    spawn(
      process.execPath,
      [MAIN, 'copy', address, '--to', directory, '--client-id', 'beheer', '--collections', COLLECTIONS, option],
      { env: programEnv({ COPY_SECRET: SECRET }), stdio: ['ignore', 'pipe', 'pipe'] },
    )
  const told = (child: ChildProcess) => {
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text))
    return () => said
  }
  const following = (async () => {
    while (!ended.signal.aborted) {
      copying = run('--follow')
      begun++
      told(copying)
      await once(copying, 'exit')
      await sleep(AGAIN_MS, undefined, { signal: ended.signal }).catch(() => {})
    }
  })()
  const stop = async () => {
    ended.abort()
    copying?.kill('SIGKILL')
    await following
  }
  stage.teardown(async () => {
    await stop()
    await rm(directory, { recursive: true, force: true })
  })
  return {
    kill: () => copying?.kill('SIGKILL'),
    /** Ends it, and holds it against the lists. @returns how often it was begun, and what differs; empty: nothing */
    async compare(): Promise<{ begun: number; differences: string }> {
      await stop()
      const comparing = run('--compare')
      const said = told(comparing)
      const [code] = await once(comparing, 'close')
      console.log(said().trim())
      return { begun, differences: code === 0 ? '' : `the copy: ${said()}` }
    },
  }
}
