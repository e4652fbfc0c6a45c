// npm run faults [-- --seed 1 --runs 3 --cells storage]: every cell, as often as asked, in an order that the seed chooses. Prints a
// table; ends with 1 when an invariant did not hold.
import { parseArgs } from 'node:util'
import { whileStanding } from '../stage.ts'
import { CELLS } from './cells.ts'
import { type Outcome, runCell } from './faults.ts'
import { openScene } from './scene.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    runs: { type: 'string', default: '1' },
    cells: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log('npm run faults -- --seed 1 --runs 3 --cells storage (a pattern of the names)')
else
  await whileStanding(async (stage) => {
    console.log(`seed ${values.seed}`)
    const scene = await openScene(stage, Number(values.seed))
    const { random } = scene
    const asked = new RegExp(values.cells)
    const cells = CELLS.filter(({ name, mounted }) => asked.test(name) && (!mounted || scene.mounted))
    for (const { name, mounted } of CELLS)
      if (mounted && !scene.mounted) console.log(`SKIPPED ${name}: mounting a file system is not allowed here`)
    const outcomes: Outcome[] = []
    for (let run = 0; run < Number(values.runs); run++)
      for (const cell of cells.toSorted(() => random() - 0.5)) {
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
