// Slow: it plays outages.
// A few cells of `npm run faults`, which the seed chooses: FAULTS_SEED=… FAULTS_CELLS=… npm test -- test/faults/faults.test.ts. What
// kill.test.ts, database-away.test.ts, patroni.test.ts and others do at length is left out.
// It starts and kills the program.
import t from 'tap'
import { CELLS } from './cells.ts'
import { runCell } from './faults.ts'
import { openScene, whyNot } from './scene.ts'

const ELSEWHERE = /^an api is killed|everything|keys|stopped|frozen|is killed$|^patroni|^receivers /

const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31))
const count = Number(process.env.FAULTS_CELLS ?? 2)
t.setTimeout(580_000)
t.comment(`FAULTS_SEED=${seed}`)

t.test('nothing is lost, doubled or half there after a fault', { timeout: 580_000 }, async (t) => {
  const scene = await openScene(t, seed)
  const { random } = scene
  const short = CELLS.filter((cell) => !ELSEWHERE.test(cell.name) && cell.lasts <= 8_000 && !whyNot(cell, scene))
  for (const cell of short.toSorted(() => random() - 0.5).slice(0, count)) {
    const { violations, requests, seconds } = await runCell(scene, cell, () => {})
    t.comment(`${cell.name}: ${requests} requests, back in ${seconds.toFixed(1)} s`)
    t.same(violations, [], cell.name)
  }
})
