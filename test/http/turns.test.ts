import t from 'tap'
import { inSlices } from '../../src/http/turns.ts'

t.test('owners of many small things take turns, and what is of one is done in its order', async (t) => {
  const done: string[] = []
  const all = Promise.withResolvers<void>()
  const add = inSlices<string>(
    (one) => {
      done.push(one)
      if (done.length === 1002) all.resolve()
    },
    { ownerOf: (one) => one.slice(0, 1), rest: setImmediate },
  )
  const many = Array.from({ length: 1000 }, (_, n) => `a${n}`)
  for (const one of [...many, 'b0', 'c0']) add(one)
  await all.promise
  t.same(done.slice(0, 4), ['a0', 'b0', 'c0', 'a1'])
  t.same(
    done.filter((one) => one.startsWith('a')),
    many,
  )
})

t.test('a slice ends when enough work follows from it', async (t) => {
  const rests: (() => void)[] = []
  const done: number[] = []
  const add = inSlices<number>((one) => done.push(one), { weightOf: () => 100, rest: (next) => rests.push(next) })
  for (const one of [1, 2, 3]) add(one)
  await new Promise(setImmediate)
  t.same(done, [1, 2])
  rests.shift()?.()
  t.same(done, [1, 2, 3])
  t.same(rests, [], 'nothing more is to come')
})
