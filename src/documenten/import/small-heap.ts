// The rows of a batch live long enough to reach the old part of the heap, and then die together. V8 lets that part double before it
// cleans up, since it has the memory of the whole machine in mind: the process grew by 100 MB and more, for nothing. While an import
// runs it cleans up sooner, for some microseconds of CPU a row. Other work does not have such garbage.
import { setFlagsFromString } from 'node:v8'

const GROWTH_PERCENT = 20
let imports = 0

/** Does work during which the heap of this process grows little between collections. */
export async function withSmallHeap<T>(work: () => Promise<T>): Promise<T> {
  if (imports++ === 0) setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  try {
    return await work()
  } finally {
    if (--imports === 0) setFlagsFromString('--heap-growing-percent=0')
  }
}
