// One cell after the other on one scene, each judged by itself.
import { setTimeout as sleep } from 'node:timers/promises'
import { collectViolations } from '../stage.ts'
import { until } from '../zaken/processes.ts'
import { type Answered, type Cell, recover, type Scene, verifyAnswers, verifyScene } from './scene.ts'

export type Outcome = { cell: string; seconds: number; requests: number; violations: string[] }

const SHOWN_MS = 15_000 // I7
const RECOVERED_MS = 60_000

/**
 * @param tell for what is worth knowing and no violation
 * @param options.account false: what is left is not looked at yet, and the clients go on
 */
export async function runCell(
  scene: Scene,
  cell: Cell,
  tell: (line: string) => void,
  { account = true } = {},
): Promise<Outcome> {
  const { load, random } = scene
  const judge = collectViolations(tell)
  const from = load.answers.length
  load.resume()
  const start = performance.now()
  await until('a good start', () => load.goodSince(start)).catch((error: Error) => {
    throw new Error(`${error.message}: ${load.missingSince(start).join(', ')} after ${lastOf(load.answers)}`)
  })
  await sleep(random() * 1_000) // in the middle of something
  const struck = performance.now()
  const undo = await cell.strike(scene, judge).catch((error) => {
    judge.violations.push(`the fault could not be made: ${error}`)
    return async () => {}
  })
  // Whatever fails here, and also when the run is interrupted: nothing stays frozen, full or locked.
  let mending: Promise<unknown> | undefined
  const mend = () => {
    mending ??= undo()
    return mending
  }
  scene.stage.teardown(() => mend().catch(() => {}))
  try {
    if (cell.shows) await shown(scene, cell, struck).catch(({ message }) => judge.violations.push(`I7: ${message}`))
    await sleep(cell.lasts * (0.6 + 0.4 * random()))
  } finally {
    await mend().catch((error) => judge.violations.push(`the fault could not be undone: ${error}`))
  }
  // A fault that is over at once is recovered from when what it hit is back.
  const mended = cell.lasts === 0 ? struck : performance.now()
  let seconds = Number.NaN
  try {
    const { ms, last } = await recover(scene, mended, RECOVERED_MS)
    seconds = ms / 1000
    tell(`last back: ${last}`)
  } catch (error) {
    judge.violations.push(`I5: ${(error as Error).message}`)
  }
  if (account) await load.pause()
  const answers = load.answers.slice(from)
  try {
    verifyAnswers(judge, answers, cell.allowed)
    if (account) await verifyScene(judge, scene)
  } catch (error) {
    judge.violations.push((error as Error).message)
  }
  for (const proces of [...scene.apis, ...scene.workers]) judge.violations.push(...proces.faults.splice(0))
  return { cell: cell.name, seconds, requests: answers.length, violations: judge.violations }
}

/** Until `/readyz` tells of the fault (I7). */
async function shown({ load }: Scene, { shows }: Cell, struck: number): Promise<void> {
  const tells = ({ kind, began, status, body }: Answered) =>
    kind === 'ready' &&
    began > struck &&
    (shows === 'degraded' ? status === 200 && body.status === shows : status === 503)
  await until('readyz says so', () => load.answers.some(tells), SHOWN_MS)
}

/** The last answers, to tell what was wrong. */
const lastOf = (answers: Answered[]): string =>
  answers
    .slice(-20)
    .map(({ kind, which, status, fault }) => `${kind} ${which}: ${status ?? fault}`)
    .join(', ')
