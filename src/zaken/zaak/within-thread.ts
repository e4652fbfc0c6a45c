// The thread in which cases are compared with the area of a search: how long that takes is in the hands of clients. The side
// that started it ends it when it takes too long.
import { parentPort, workerData } from 'node:worker_threads'
import { standBack } from '../../lib/background-thread.ts'
import type { Geometrie } from './geometry.ts'
import { pointsWithin, TooManySegments, withinTest } from './within.ts'

standBack()

/** What it is started with, what it is asked with each message, and what it says to each: undefined when its budget is used up. */
export type Area = { area: string; segments: number }
export type Candidates = { id: number; geometrie: string }[]
/** Points by id, x and y, or other geometries. */
export type Portion = Float64Array | Candidates
export type Within = number[] | undefined

const { area, segments } = workerData as Area
const lies = withinTest(JSON.parse(area) as Geometrie, segments)

parentPort?.on('message', (portion: Portion) => {
  parentPort?.postMessage(judge(portion))
})

function judge(portion: Portion): Within {
  try {
    if (portion instanceof Float64Array) return pointsWithin(lies, portion)
    return portion.filter(({ geometrie }) => lies(JSON.parse(geometrie) as Geometrie)).map(({ id }) => id)
  } catch (error) {
    if (error instanceof TooManySegments) return undefined
    throw error
  }
}
