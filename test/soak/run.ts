// npm run soak [-- --minutes 120 --seed 1 --pace 250]: mixed load with faults in between, which the seed chooses, for as long as asked.
// Ends with a verdict: whether memory, files, connections and tables stay level, whether all that clients were told is so, and whether a
// copy that was kept and killed meanwhile is equal to the lists.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { CELLS } from '../faults/cells.ts'
import { runCell } from '../faults/faults.ts'
import { openScene, verifyScene, whyNot } from '../faults/scene.ts'
import { collectViolations, whileStanding } from '../stage.ts'
import { keepCopy } from './copy.ts'
import { takeSample } from './sample.ts'
import { judgesMemory, type Sample, verdicts } from './verdict.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    pace: { type: 'string', default: '250' },
    help: { type: 'boolean', default: false },
  },
})

// The processes are to live as long as the run: only then it shows what they gather.
const ENDS_PROCESSES = /^an? (api|worker) is (killed|stopped)|everything|elsewhere|old primary|^race: an import/
const SAMPLES = 60

if (values.help)
  console.log(
    'npm run soak -- --minutes 120 --seed 1 --pace 250 (milliseconds that a client waits between two requests)',
  )
else
  await whileStanding(async (stage) => {
    const minutes = Number(values.minutes)
    console.log(`seed ${values.seed}, ${minutes} minutes`)
    const scene = await openScene(stage, Number(values.seed), { pace: Number(values.pace), mounts: false })
    const { load, random } = scene
    const copy = await keepCopy(stage, scene.apis[0]!.address)
    const cells = CELLS.filter((cell) => !cell.mounted && !whyNot(cell, scene) && !ENDS_PROCESSES.test(cell.name))
    const violations: string[] = []
    const samples: Sample[] = []
    const end = performance.now() + minutes * 60_000
    const every = Math.min(60_000, (minutes * 60_000) / SAMPLES)
    const ended = new AbortController()
    stage.teardown(() => ended.abort()) // also when it failed: otherwise the samples keep the process alive
    const sampling = (async () => {
      while (performance.now() < end && !ended.signal.aborted) {
        await takeSample(scene).then(
          (sample) => samples.push(sample),
          () => {}, // the database is away
        )
        await sleep(every, undefined, { signal: ended.signal }).catch(() => {})
      }
    })()
    let requests = 0
    while (performance.now() < end) {
      const cell = cells[Math.floor(random() * cells.length)]!
      const outcome = await runCell(scene, cell, () => {}, { account: false })
      requests += outcome.requests
      violations.push(...outcome.violations.map((violation) => `${cell.name}: ${violation}`))
      console.log(`${cell.name}: back in ${outcome.seconds.toFixed(1)} s, ${outcome.violations.length} violations`)
      for (const violation of outcome.violations) console.log(`  ${violation}`)
      load.answers.length = 0
      copy.kill()
      await sleep(Math.min(20_000, Math.max(0, end - performance.now()))) // as it is most of the time
    }
    await sampling
    await load.pause()
    const { begun, differences } = await copy.compare()
    console.log(`a copy of cases and documents, begun ${begun} times: ${differences === '' ? 'equal' : 'differs'}`)
    if (differences !== '') violations.push(differences)
    const judge = collectViolations(console.log)
    await verifyScene(judge, scene)
    violations.push(...judge.violations)
    for (const violation of violations) console.log(`VIOLATION ${violation}`)

    console.log('\n| what | middle third | last third | |\n| --- | --- | --- | --- |')
    const found = verdicts(samples, minutes)
    for (const { what, middle, last, isLevel } of found)
      if (!isLevel || !what.startsWith('dead rows') || last > 1000)
        console.log(`| ${what} | ${middle.toFixed(0)} | ${last.toFixed(0)} | ${isLevel ? 'level' : 'RISES'} |`)
    const rising = found.filter(({ isLevel }) => !isLevel).length
    const cases = load.creates.filter(({ status }) => status === 201).length
    console.log(
      `\n${samples.length} samples, ${requests} requests during faults, ${cases} cases, ${load.documents.length} documents`,
    )
    if (!judgesMemory(minutes))
      console.log('memory was not judged: in less than 30 minutes it is still warming up, so let it run longer')
    console.log(`VERDICT: ${violations.length} violations, ${rising} of ${found.length} series rise`)
    if (violations.length + rising > 0) stage.fail()
  })
