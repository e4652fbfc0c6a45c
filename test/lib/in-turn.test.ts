// Work in turn: who may begin, who waits, and who is refused.
import t from 'tap'
import { inTurn } from '../../src/lib/in-turn.ts'

t.test('one of whom much waits does not hold up another', async (t) => {
  const done: string[] = []
  const turn = inTurn(1, 100, () => new Error('too many'))
  const work = (owner: string, name: string) =>
    turn(async () => {
      await new Promise(setImmediate)
      done.push(name)
    }, owner)
  const many = Array.from({ length: 40 }, (_, n) => work('192.0.2.1', `many ${n}`))
  await Promise.all([...many, work('192.0.2.2', 'one')])
  t.ok(done.indexOf('one') <= 2, `it was number ${done.indexOf('one')}`)
})

t.test('what waits for longer than its term is refused, and what comes later is not', async (t) => {
  const turn = inTurn(1, 100, () => new Error('too long'), undefined, 20)
  const held = Promise.withResolvers<void>()
  const first = turn(() => held.promise)
  await t.rejects(
    turn(async () => {}),
    /too long/,
  )
  held.resolve()
  await first
  t.equal(await turn(async () => 'done'), 'done')
})
