// Holds the list of columns against the schema: who adds a column says what becomes of it in a copy for testing.
import postgres from 'postgres'
import t from 'tap'
import { TABLES } from '../../src/anonymise/columns.ts'
import { testDatabase } from '../setup.ts'

/** What cannot hold more of a person than that he is one. */
const PLAIN =
  /^(bigint|integer|smallint|boolean|date|timestamp with time zone|uuid|vertrouwelijkheidaanduiding|double precision|numeric|xid8?|interval)(\[\])?$/

const isLeftOut = (table: object): boolean => typeof (table as { leftOut: unknown }).leftOut === 'string'

t.test('every column of text, JSON or bytes is replaced in a copy, or kept with a reason', async (t) => {
  const sql = postgres((await testDatabase(t)).url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const columns = await sql<{ table: string; column: string; type: string; generated: boolean }[]>`
    select relname as table, attname as column, format_type(atttypid, null) as type, attgenerated <> '' as generated
    from pg_class c join pg_attribute a on a.attrelid = c.oid and attnum > 0 and not attisdropped
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') order by 1, 2`
  const lacking = columns.filter(({ table, column, type, generated }) => {
    const answers = TABLES[table]
    return !answers || (!isLeftOut(answers) && !PLAIN.test(type) && !generated && !Object.hasOwn(answers, column))
  })
  t.strictSame(
    lacking.map(({ table, column }) => `${table}.${column}`),
    [],
    'each has its answer in src/anonymise/columns.ts',
  )
  const present = new Set(columns.flatMap(({ table, column }) => [table, `${table}.${column}`]))
  const named = Object.entries(TABLES).flatMap(([name, table]) => [
    name,
    ...(isLeftOut(table) ? [] : Object.keys(table).map((column) => `${name}.${column}`)),
  ])
  t.strictSame(
    named.filter((name) => !present.has(name)),
    [],
    'and no answer is about what is not there',
  )
  t.strictSame(Object.keys(TABLES), Object.keys(TABLES).sort(), 'sorted by table')
  t.notOk(
    Object.values(TABLES).some((table) => Object.values(table).some((answer) => answer === '' || answer?.kept === '')),
    'a reason says something',
  )
})
