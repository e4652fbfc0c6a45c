// What a test of memory judges by: the resident memory of a process depends on when it happened to collect.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** MB that are in use, without what only waits to be collected. Collecting stops the process for some milliseconds. */
export function memoryInUse(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1024 ** 2
}
