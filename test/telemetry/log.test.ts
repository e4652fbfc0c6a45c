// In a process of its own: what it dropped is counted for the whole process.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { droppedLines, logDestination, openLog } from '../../src/telemetry/log.ts'

t.test('a log that nobody reads holds nobody up, and costs no more memory than is set aside for it', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-log-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
  // Whoever opens it for reading and writing waits for nobody; as a reader it reads when it wants to.
  const fd = openSync(pipe, constants.O_RDWR)
  const log = openLog('info', logDestination(fd))
  const LINES = 60_000
  let longest = 0
  for (let n = 0; n < LINES; n++) {
    const began = performance.now()
    log.info({ n, text: 'x'.repeat(1000) }, 'a line')
    longest = Math.max(longest, performance.now() - began)
    if (n % 1000 === 0) await turn()
  }
  t.ok(longest < 1000, `a line took ${Math.round(longest)} ms at most`)
  t.ok(droppedLines.count > LINES / 2, `${droppedLines.count} of ${LINES} lines were dropped`)

  // What was kept arrives, in its order.
  const reader = await open(pipe, constants.O_RDONLY)
  const numbers: number[] = []
  for (let text = ''; numbers.length < LINES - droppedLines.count; ) {
    const { buffer, bytesRead } = await reader.read(Buffer.alloc(64 * 1024))
    const lines = (text + buffer.toString('latin1', 0, bytesRead)).split('\n')
    text = lines.pop()!
    numbers.push(...lines.map((line) => JSON.parse(line).n))
  }
  t.strictSame(
    numbers,
    numbers.toSorted((one, other) => one - other),
  )
  await reader.close()
  closeSync(fd)
})
