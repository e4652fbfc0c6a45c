import fc from 'fast-check'
import postgres from 'postgres'
import t from 'tap'
import { inDays, isDuration, isoDuration } from '../../src/http/duration.ts'
import { testDatabase } from '../setup.ts'

t.test('durations have one spelling', async (t) => {
  for (const [given, normal] of [
    ['P30D', 'P30D'],
    ['P1Y2M', 'P1Y2M'],
    ['P14M', 'P1Y2M'],
    ['P2W', 'P14D'],
    ['PT36H', 'P1DT12H'],
    ['PT90M', 'PT1H30M'],
    ['P0Y0M0D', 'P0D'],
    ['PT0.5S', 'PT0.5S'],
    ['P365D', 'P365D'],
    ['P00000001Y', 'P1Y'],
  ])
    t.equal(isoDuration(given!), normal)
})

t.test('a duration is not negative and at most a hundred years', async (t) => {
  for (const text of ['P100Y', 'P1200M', 'P36525D', 'P5217W', 'P99Y12M', 'PT876600H', 'P0D'])
    t.ok(isDuration(text), text)
  for (const text of [
    'P101Y',
    'P100Y1D',
    'P1201M',
    'P36526D',
    'P300000Y',
    `P${'9'.repeat(400)}D`,
    `PT0.${'9'.repeat(400)}S`,
    'P-1D',
    '-P1D',
    'P1M-1D',
    'P',
    'PT',
    'P1YT',
    '',
    'P1D\n',
    '1D',
    'P1.5D',
  ])
    t.notOk(isDuration(text), text.slice(0, 20))
  t.throws(() => isoDuration('P101Y'), RangeError)
  t.throws(() => inDays('P-1D'), RangeError)
})

t.test('the constraint of the tables reads durations as the service does', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1 })
  t.teardown(() => sql.end())
  const amount = (max: number) => fc.option(fc.integer({ min: 0, max }), { nil: undefined })
  const written = (letter: string, value?: number) => (value === undefined ? '' : `${value}${letter}`)
  const texts = fc.sample(
    fc
      .tuple(amount(101), amount(1300), amount(300), amount(36_600), amount(900_000))
      .map(([y, m, w, d, h]) => `P${written('Y', y)}${written('M', m)}${written('W', w)}${written('D', d)}T${h ?? 0}H`),
    1000,
  )
  const taken = [...texts, 'P100Y', 'P36525D', 'P1200M', 'PT876600H'].filter(isDuration).map(isoDuration)
  t.ok(taken.length > 10)
  const [{ refused }] =
    (await sql`select array_agg(x) as refused from unnest(${taken}::text[]) x where not is_term(x)`) as [
      { refused: string[] | null },
    ]
  t.equal(refused, null)
  const wrong = [
    'P101Y',
    'P36526D',
    'P1200M1D',
    'P-1D',
    'PInfinityD',
    `P${'9'.repeat(400)}D`,
    'P',
    'PT',
    '',
    'drie weken',
  ]
  const [{ accepted }] =
    (await sql`select array_agg(x) as accepted from unnest(${wrong}::text[]) x where is_term(x)`) as [
      { accepted: string[] | null },
    ]
  t.equal(accepted, null)
})
