// What the judge of histories says of the least histories that are wrong, and of those that are not.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { cutDown, toScript } from '../../src/history/cut-down.ts'
import { ANOMALIES, judge } from '../../src/history/judge.ts'
import type { Operation } from '../../src/history/operation.ts'

type Short = [f: Operation['f'], value: string | null, invoked: number, completed: number, more?: Partial<Operation>]
const history = (kind: Operation['kind'], ...operations: Short[]): Operation[] =>
  operations.map(([f, value, invoked, completed, more], process) => ({
    process,
    kind,
    object: '/zaken/api/v1/zaken/1',
    f,
    value,
    invoked,
    completed,
    type: 'ok',
    method: f === 'read' || f === 'list' || f === 'trail' ? 'GET' : 'POST',
    path: '/zaken/api/v1/zaken/1',
    ...more,
  }))
const anomaliesOf = (operations: Operation[]) => [...new Set(judge(operations).map(({ anomaly }) => anomaly))]
const list = (...values: string[]): Partial<Operation> => ({ values })

const WRONG: Record<string, Operation[]> = {
  'aborted read': history(
    'register',
    ['write', 'a', 0, 1],
    ['write', 'b', 2, 3, { type: 'fail' }],
    ['read', 'b', 4, 5],
  ),
  'garbage read': history('register', ['write', 'a', 0, 1], ['read', 'x', 2, 3]),
  'stale read': history('register', ['write', 'a', 0, 1], ['write', 'b', 2, 3], ['read', 'a', 4, 5]),
  'non-monotonic read': history(
    'register',
    ['write', 'a', 0, 1],
    ['write', 'b', 2, 9],
    ['read', 'b', 3, 4],
    ['read', 'a', 5, 6],
  ),
  'future read': history('register', ['write', 'a', 0, 1], ['read', 'b', 2, 3], ['write', 'b', 4, 5]),
  'lost update': history(
    'register',
    ['write', 'a', 0, 1],
    ['write', 'b', 2, 4, { expects: '"1"' }],
    ['write', 'c', 3, 5, { expects: '"1"' }],
  ),
  'duplicate write': history('register', ['write', 'a', 0, 1], ['trail', null, 2, 3, list('a', 'a')]),
  'broken order': history(
    'register',
    ['write', 'a', 0, 1],
    ['write', 'b', 2, 3],
    ['trail', null, 4, 5, list('b', 'a')],
  ),
  'moments go back': history(
    'register',
    ['write', 'a', 0, 1],
    ['trail', null, 2, 3, { values: ['a'], moments: ['2026-03-02T08:00:01Z', '2026-03-02T08:00:00Z'] }],
  ),
  'lock held twice': history('lock', ['lock', 'x', 0, 1], ['lock', 'y', 2, 3]),
  'read without right': history('secret', ['read', null, 0, 1]),
}
for (const [anomaly, operations] of Object.entries(WRONG))
  t.test(`it is called ${anomaly}`, async (t) => {
    t.strictSame(anomaliesOf(operations), [anomaly])
  })

t.test('a set loses nothing, and has nothing twice', async (t) => {
  const added: Short = ['add', 'a', 0, 1]
  const of = (...operations: Short[]) => anomaliesOf(history('set', ...operations))
  t.strictSame(of(added, ['list', null, 2, 3, list()]), ['lost update'])
  t.strictSame(of(added, ['list', null, 2, 3, list()], ['list', null, 4, 5, list('a')]), ['stale read'])
  t.strictSame(of(added, ['list', null, 2, 3, list('a', 'a')]), ['duplicate write'])
  t.strictSame(of(['add', 'a', 0, 1, { type: 'fail' }], ['list', null, 2, 3, list('a')]), ['aborted read'])
  t.strictSame(of(added, ['remove', 'a', 2, 3], ['list', null, 4, 5, list('a')]), ['stale read'])
  const unknown: Short = ['add', 'a', 0, 1, { type: 'info' }]
  t.strictSame(of(unknown, ['list', null, 2, 3, list('a')], ['list', null, 4, 5, list()]), ['non-monotonic read'])
})

t.test('what may be so is no anomaly', async (t) => {
  const beside = history(
    'register',
    ['write', 'a', 0, 1],
    ['write', 'b', 2, 6],
    ['read', 'a', 3, 4],
    ['read', 'b', 5, 7],
  )
  t.strictSame(judge(beside), [], 'a write counts somewhere between its beginning and its end')
  const late: Short = ['write', 'b', 2, 3, { type: 'info' }]
  t.strictSame(
    judge(history('register', ['write', 'a', 0, 1], late, ['read', 'a', 4, 5], ['read', 'b', 6, 7])),
    [],
    'or later',
  )
  const removed: Short[] = [
    ['add', 'a', 0, 1],
    ['remove', 'a', 2, 9],
    ['list', null, 3, 4, list('a')],
    ['list', null, 5, 6, list()],
  ]
  t.strictSame(judge(history('set', ...removed)), [])
  t.strictSame(judge(history('lock', ['lock', 'x', 0, 1], ['unlock', 'x', 2, 5], ['lock', 'y', 3, 4])), [])
  t.strictSame(judge(history('lock', ['lock', 'x', 0, 1], ['lock', 'x', 2, 3])), [], 'his own lock is given again')
})

t.test('a history is cut down to what it fails by, as a script', async (t) => {
  const many = Array.from({ length: 40 }, (_, n): Short[] => [
    ['write', `v${n}`, 10 * n, 10 * n + 1],
    ['read', `v${n}`, 10 * n + 2, 10 * n + 3],
  ]).flat()
  const whole = history('register', ...many, ['read', 'v7', 1000, 1001])
  const [anomaly] = judge(whole)
  const cut = cutDown(whole, anomaly!)
  t.ok(cut.length <= 4, `${cut.length} of ${whole.length}`)
  t.strictSame(anomaliesOf(cut), [anomaly!.anomaly])
  t.equal(toScript(whole, cut, anomaly!).match(/^step\(/gm)!.length, cut.length)
})

t.test('docs/histories.md has the words of the judge', async (t) => {
  const page = await readFile(new URL('../../docs/histories.md', import.meta.url), 'utf8')
  for (const [name, meaning] of Object.entries(ANOMALIES)) t.ok(page.includes(`| ${name} | ${meaning} |`), name)
  t.strictSame(Object.keys(WRONG).sort(), Object.keys(ANOMALIES).sort(), 'and each has its least history')
})
