// What `npm run faults` freezes it lets go, also when a process ends while others are being frozen.
// It starts a program.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { until } from '../until.ts'
import { freeze } from './cells.ts'

const stateOf = async (pid: number) => /\) (\w)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8'))?.[1]

t.test('a process that has ended does not keep the others frozen', async (t) => {
  const [gone, lives] = [spawn('sleep', ['60']), spawn('sleep', ['60'])]
  t.teardown(() => lives.kill('SIGKILL'))
  gone.kill('SIGKILL')
  await once(gone, 'exit')
  const pid = lives.pid!
  const thaw = await freeze([pid, gone.pid!])
  await until('frozen', async () => (await stateOf(pid)) === 'T')
  await thaw()
  await until('running', async () => (await stateOf(pid)) === 'S')
  await t.rejects(freeze([pid, Number.NaN]), 'what is no process is told')
  await until('running, since nothing stays frozen', async () => (await stateOf(pid)) === 'S')
})
