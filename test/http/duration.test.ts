import fc from 'fast-check'
import postgres from 'postgres'
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { afterTerm, inDays, isDuration, isoDuration, isTerm, MAX_YEARS } from '../../src/http/duration.ts'
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

t.test('a duration is not negative, a term of archiving at most five hundred years, any other a hundred', async (t) => {
  for (const text of ['P110Y', 'P500Y', 'P6000M', 'P182622D', 'P26088W', 'P499Y12M', 'PT4382928H', 'P0D'])
    t.ok(isDuration(text), text)
  for (const text of [
    'P501Y',
    'P500Y1D',
    'P6001M',
    'P182623D',
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
  for (const text of ['P100Y', 'P1200M', 'P36525D', 'P5217W', 'P99Y12M', 'PT876600H', 'P0D']) t.ok(isTerm(text), text)
  for (const text of ['P101Y', 'P100Y1D', 'P1201M', 'P36526D', 'P110Y', 'P-1D', '']) t.notOk(isTerm(text), text)
  t.throws(() => isoDuration('P501Y'), RangeError)
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
      .tuple(amount(501), amount(6100), amount(1300), amount(182_700), amount(4_400_000))
      .map(([y, m, w, d, h]) => `P${written('Y', y)}${written('M', m)}${written('W', w)}${written('D', d)}T${h ?? 0}H`),
    1000,
  )
  const taken = [...texts, 'P500Y', 'P182622D', 'P6000M', 'PT4382928H'].filter(isDuration).map(isoDuration)
  t.ok(taken.length > 10)
  const [{ refused }] =
    (await sql`select array_agg(x) as refused from unnest(${taken}::text[]) x where not is_term(x)`) as [
      { refused: string[] | null },
    ]
  t.equal(refused, null)
  const terms = [...new Set([...taken, 'P100Y', 'P36525D', 'P100Y1D', 'P36526D', 'P1201M'].map(isoDuration))]
  const short = await sql<{ x: string }[]>`
    select x from unnest(${terms}::text[]) x where is_term(x, ${MAX_YEARS.term}) order by x collate "C"`
  t.same(
    short.map(({ x }) => x),
    terms.filter(isTerm).sort(),
  )
  const wrong = [
    'P501Y',
    'P182623D',
    'P6000M1D',
    'P-1D',
    'PInfinityD',
    `P${'9'.repeat(400)}D`,
    'P',
    'PT',
    '',
    'drie weken',
  ]
  const [{ accepted }] =
    (await sql`select array_agg(x) as accepted from unnest(${wrong}::text[]) x where is_term(x) or is_term(x, 500)`) as [
      { accepted: string[] | null },
    ]
  t.equal(accepted, null)
})

t.test('a day after a term is the day that PostgreSQL computes', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(close)
  const days = ['2024-01-31', '2024-02-29', '2023-12-31', '1999-10-30', '0001-01-01', '2026-03-02', '9998-12-31']
  const terms = ['P0D', 'P1M', 'P1Y', 'P13M', 'P30D', 'P1Y1M31D', 'P2W', 'PT36H', 'P1DT23H59M59.5S', 'P500Y', 'P11M3D']
  const rows = await sql<{ day: string; term: string; after: string }[]>`
    select day, term, (day::date + term::interval)::date as after
    from unnest(${days}::text[]) day, unnest(${terms}::text[]) term`
  t.equal(rows.length, days.length * terms.length)
  for (const { day, term, after } of rows) t.equal(afterTerm(day, term), after, `${day} ${term}`)
})
