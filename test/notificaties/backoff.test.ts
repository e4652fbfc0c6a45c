import fc from 'fast-check'
import t from 'tap'
import { delayAfter, type Retry, SETS, schedule } from '../../src/notificaties/backoff.ts'

const settings = fc.record<Retry>({
  maxRetries: fc.integer({ min: 0, max: 100 }),
  backoff: fc.oneof(
    fc.boolean(),
    fc.integer({ min: 0, max: 1_000_000 }),
    fc.double({ min: 0, max: 1_000_000, noNaN: true }),
  ),
  backoffMax: fc.integer({ min: 1, max: 31_536_000 }),
  baseFactor: fc.integer({ min: 1, max: 1000 }),
})
const RUNS = { numRuns: 10_000 }

t.test('whatever the settings, a delay is what the formula says', async () => {
  fc.assert(
    fc.property(settings, fc.nat(100), (given, retries) => {
      const delay = delayAfter(retries, given)
      if (given.backoff === false || given.backoff === 0) return delay === 180
      let expected = given.backoff === true ? 1 : given.backoff
      for (let i = 0; i < retries && expected < given.backoffMax; i++)
        expected *= given.backoff === true ? 2 : given.baseFactor
      expected = Math.min(expected, given.backoffMax)
      return Math.abs(delay - expected) <= expected * 1e-9
    }),
    RUNS,
  )
})

t.test('whatever the settings, delays are finite, not negative and never become shorter', async () => {
  fc.assert(
    fc.property(settings, (given) => {
      const delays = schedule(given).map(({ delay }) => delay)
      return delays.every((delay, i) => Number.isFinite(delay) && delay >= 0 && delay >= (delays[i - 1] ?? 0))
    }),
    RUNS,
  )
})

t.test('whatever the settings, the schedule has all retries', async () => {
  fc.assert(
    fc.property(settings, (given) => {
      return schedule(given).length === given.maxRetries
    }),
    RUNS,
  )
})

t.test('the schedules of both documented sets', async (t) => {
  const rows = (given: Retry) => schedule(given).map(({ delay, at }) => [delay, at])
  t.same(rows(SETS.standaard), [
    [25, 25],
    [100, 125],
    [400, 525],
    [1600, 2125],
    [6400, 8525],
    [25_600, 34_125],
    [52_000, 86_125],
  ])
  t.same(rows(SETS.kort), [
    [3, 3],
    [6, 9],
    [12, 21],
    [24, 45],
    [48, 93],
  ])
  t.same(rows({ ...SETS.kort, baseFactor: 4 }), [
    [3, 3],
    [12, 15],
    [48, 63],
    [48, 111],
    [48, 159],
  ])
})

t.test('seven retries with a maximum of 192 s reach 381 s', async (t) => {
  t.same(schedule({ ...SETS.kort, maxRetries: 7, backoffMax: 192 }).slice(-2), [
    { retry: 6, delay: 96, at: 189 },
    { retry: 7, delay: 192, at: 381 },
  ])
})

t.test('true is binary exponential, false and 0 always wait 180 s', async (t) => {
  const delays = (backoff: number | boolean) =>
    schedule({ ...SETS.standaard, maxRetries: 4, backoff, backoffMax: 6 }).map(({ delay }) => delay)
  t.same(delays(true), [1, 2, 4, 6])
  t.same(delays(false), [180, 180, 180, 180])
  t.same(delays(0), [180, 180, 180, 180])
})
