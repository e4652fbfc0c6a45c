// Slow: it plays outages under load.
// A short run of `npm run histories`: HISTORIES_SEED=… npm test -- test/history/histories.test.ts
// It starts and kills the program.
import t from 'tap'
import { playHistories } from './histories.ts'

const seed = Number(process.env.HISTORIES_SEED ?? Math.floor(Math.random() * 2 ** 31))
const SECONDS = 25 // with what is started before, and read at the end, a minute
t.setTimeout(580_000)
t.comment(`HISTORIES_SEED=${seed}`)

t.test('what clients are told is so while processes, database, pooler and keys change', async (t) => {
  const { history, anomalies, faults } = await playHistories(t, { seed, seconds: SECONDS, clients: 6 }, (line) =>
    t.comment(line),
  )
  t.ok(faults.length > 0)
  for (const kind of ['register', 'set', 'lock', 'secret'])
    t.ok(
      history.some((one) => one.kind === kind && one.type === (kind === 'secret' ? 'fail' : 'ok')),
      kind,
    )
  t.ok(
    history.some(({ path, f, type }) => path.includes('/import/') && f === 'add' && type === 'ok'),
    'imports',
  )
  for (const { anomaly, what, operations } of anomalies) t.fail(`${anomaly}: ${what}`, { operations })
})
