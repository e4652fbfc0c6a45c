import t from 'tap'
import { type Sample, verdicts } from './verdict.ts'

const series = (what: string, values: number[]): Sample[] => values.map((value) => new Map([[what, value]]))
const isLevel = (what: string, values: number[]) => verdicts(series(what, values), 120)[0]!.isLevel

t.test('what rises after warming up is not level', async (t) => {
  t.ok(isLevel('memory of api 1', [90, 150, 200, 203, 201, 204, 206, 203, 205]), 'warming up')
  t.notOk(isLevel('memory of api 1', [200, 203, 210, 230, 250, 270, 290, 310, 325]), 'a leak')
  t.ok(isLevel('connections', [5, 20, 30, 31, 29, 30, 30, 31, 32]))
  t.notOk(isLevel('connections', [5, 20, 30, 35, 40, 45, 50, 55, 60]))
  t.ok(isLevel('memory of api 1', [200, 200, 200, 200, 900, 200, 200, 200, 900]), 'a peak is no rise')
})

t.test('nothing is said of too few samples, or of what nobody can judge', async (t) => {
  t.throws(() => verdicts(series('connections', [1, 2, 3]), 120), /too few/)
  t.throws(() => verdicts(series('weather', [1, 2, 3, 4, 5, 6]), 120), /weather/)
  t.same(verdicts([...series('files of api 1', [1, 1, 1, 1]), ...series('files of api 2', [1, 1])], 120), [])
})

t.test('a short run judges all but memory', async (t) => {
  const rising = (what: string) => series(what, [5, 20, 30, 35, 40, 45, 50, 55, 60])
  t.same(verdicts(rising('memory of api 1'), 10), [])
  t.notOk(verdicts(rising('connections'), 10)[0]!.isLevel)
})
