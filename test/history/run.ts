// npm run histories [-- --minutes 10 --seed 1 --out ./histories]: clients of two installations read and write at once while processes, database,
// pooler and keys change, and what they were told is judged from outside only. Ends with 1 when an anomaly was found; then the history
// and, for each anomaly, a script with the operations that show it are in the directory.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cutDown, toScript } from '../../src/history/cut-down.ts'
import { toLines } from '../../src/history/operation.ts'
import { whileStanding } from '../stage.ts'
import { playHistories } from './histories.ts'

const TOLD = 20
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    clients: { type: 'string', default: '12' },
    out: { type: 'string', default: 'histories' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) console.log('npm run histories -- --minutes 10 --seed 1 --clients 12 --out ./histories')
else
  await whileStanding(async (stage) => {
    console.log(`seed ${values.seed}, ${values.minutes} minutes`)
    const options = { seed: Number(values.seed), seconds: Number(values.minutes) * 60, clients: Number(values.clients) }
    const { history, anomalies, faults } = await playHistories(stage, options, console.log)
    const counted = (type: string) => `${history.filter((one) => one.type === type).length} ${type}`
    console.log(
      `${history.length} operations (${['ok', 'fail', 'info'].map(counted).join(', ')}), ${faults.length} faults`,
    )
    console.log(`${anomalies.length} anomalies`)
    if (anomalies.length === 0) return
    stage.fail()
    await mkdir(values.out, { recursive: true })
    await writeFile(join(values.out, 'history.jsonl'), toLines(history))
    for (const [index, anomaly] of anomalies.slice(0, TOLD).entries()) {
      console.log(`ANOMALY ${anomaly.anomaly} of ${anomaly.object}: ${anomaly.what}`)
      const script = toScript(history, cutDown(history, anomaly), anomaly)
      await writeFile(join(values.out, `anomaly-${index + 1}.mjs`), script)
    }
  })
