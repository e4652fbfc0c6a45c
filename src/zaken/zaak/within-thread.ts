// The thread in which cases are compared with the area of a search: how long that takes is in the hands of clients. The side
// that started it ends it when it takes too long.
import { parentPort, workerData } from 'node:worker_threads'
import { standBack } from '../../lib/background-thread.ts'
import type { Geometrie } from './geometry.ts'
import { TooManySegments, withinTest } from './within.ts'

standBack()

/** What it is started with, what it is asked with each message, and what it says to each: undefined when its budget is used up. */
export type Area = { area: string; segments: number }
export type Candidates = { id: number; geometrie: string }[]
export type Within = number[] | undefined

const { area, segments } = workerData as Area
const lies = withinTest(JSON.parse(area) as Geometrie, segments)

parentPort?.on('message', (candidates: Candidates) => {
  parentPort?.postMessage(judge(candidates))
})

function judge(candidates: Candidates): Within {
  try {
    return candidates.filter(({ geometrie }) => lies(JSON.parse(geometrie) as Geometrie)).map(({ id }) => id)
  } catch (error) {
    if (error instanceof TooManySegments) return undefined
    throw error
  }
}
