// npm run faults [-- --seed 1 --runs 3 --cells storage]: every cell, as often as asked, in an order that the seed chooses. Prints a
// table; ends with 1 when an invariant did not hold. `--cells import-million` and `--cells keycloak` are played alone, and only when they
// are asked for by that name.
import { parseArgs } from 'node:util'
import { collectViolations, whileStanding } from '../stage.ts'
import { CELLS } from './cells.ts'
import { type Outcome, runCell } from './faults.ts'
import { IMPORT_MILLION, playImportMillion } from './import-million.ts'
import { KEYCLOAK, playKeycloak } from './keycloak.ts'
import { type Cell, openScene, whyNot } from './scene.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    runs: { type: 'string', default: '1' },
    cells: { type: 'string', default: '' },
    rows: { type: 'string', default: '1000000' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help)
  console.log('npm run faults -- --seed 1 --runs 3 --cells storage (a pattern of the names; --list prints them)')
else if (values.list)
  for (const name of [...CELLS.map((cell) => cell.name), IMPORT_MILLION, KEYCLOAK]) console.log(name)
else if (values.cells === KEYCLOAK)
  await whileStanding(async (stage) => {
    const judge = collectViolations(stage.comment)
    const skipped = await playKeycloak(stage, judge)
    console.log(skipped ? `SKIPPED ${KEYCLOAK}: ${skipped}` : `${KEYCLOAK}: ${judge.violations.length} violations`)
    for (const violation of judge.violations) console.log(`  ${violation}`)
    if (judge.violations.length > 0) stage.fail()
  })
else if (values.cells === IMPORT_MILLION)
  await whileStanding(async (stage) => {
    console.log(`seed ${values.seed}`)
    const judge = collectViolations(stage.comment)
    await playImportMillion(stage, judge, { rows: Number(values.rows), seed: Number(values.seed) })
    console.log(`${IMPORT_MILLION}: ${judge.violations.length} violations`)
    for (const violation of judge.violations) console.log(`  ${violation}`)
    if (judge.violations.length > 0) stage.fail()
  })
else
  await whileStanding(async (stage) => {
    console.log(`seed ${values.seed}`)
    const scene = await openScene(stage, Number(values.seed))
    const { random } = scene
    const asked = new RegExp(values.cells)
    const named = CELLS.filter(({ name }) => asked.test(name))
    const cells = named.filter((cell) => !whyNot(cell, scene))
    for (const cell of named) if (whyNot(cell, scene)) console.log(`SKIPPED ${cell.name}: ${whyNot(cell, scene)}`)
    const outcomes: Outcome[] = []
    const turns = Array.from({ length: Number(values.runs) }, () => cells.toSorted(() => random() - 0.5)).flat()
    const began = performance.now()
    for (const [turn, cell] of turns.entries()) {
      console.log(
        `cell ${turn + 1} of ${turns.length}, ${timeLeft(turns, turn, performance.now() - began)}: ${cell.name}`,
      )
      const outcome = await runCell(scene, cell, (line) => console.log(`# ${line}`))
      outcomes.push(outcome)
      console.log(
        `${cell.name}: ${outcome.requests} requests, back in ${outcome.seconds.toFixed(1)} s, ${outcome.violations.length} violations`,
      )
      for (const violation of outcome.violations) console.log(`  ${violation}`)
    }
    console.log(
      '\n| cell | runs | requests | violations | time to recover: median, longest |\n| --- | --- | --- | --- | --- |',
    )
    for (const { name } of cells) {
      const all = outcomes.filter(({ cell }) => cell === name)
      const seconds = all.map((one) => one.seconds).sort((a, b) => a - b)
      const sum = (of: (one: Outcome) => number) => all.reduce((total, one) => total + of(one), 0)
      const times = `${seconds[seconds.length >> 1]?.toFixed(1)} s, ${seconds.at(-1)?.toFixed(1)} s`
      console.log(
        `| ${name} | ${all.length} | ${sum((one) => one.requests)} | ${sum((one) => one.violations.length)} | ${times} |`,
      )
    }
    if (outcomes.some(({ violations }) => violations.length > 0)) stage.fail()
  })

/** What the faults themselves last, and for each cell as much besides as those before took: a guess for the first of them. */
function timeLeft(turns: Cell[], turn: number, elapsed: number): string {
  const faults = (cells: Cell[]) => cells.reduce((sum, { lasts }) => sum + lasts * 0.8, 0)
  const besides = turn === 0 ? 10_000 : Math.max(0, elapsed - faults(turns.slice(0, turn))) / turn
  const left = faults(turns.slice(turn)) + besides * (turns.length - turn)
  return `about ${Math.ceil(left / 60_000)} minutes left`
}
