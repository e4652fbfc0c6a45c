// An anonymised copy of a database: each table is streamed from one snapshot of the source through what `columns.ts` says of its
// columns, into another database. All rows come in one transaction: a copy is whole, or its database is empty.
import { randomBytes, randomInt } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type postgres from 'postgres'
import { deflated, inflated } from '../core/audit-contents.ts'
import { openDatabase } from '../database/database.ts'
import { migrate, requireKnownSchema } from '../database/migrate.ts'
import { one } from '../database/rows.ts'
import {
  type Cell,
  cellsOf,
  copyLine,
  sequencesOf,
  setSequences,
  WITHOUT_LIMITS,
  withoutReferences,
} from '../database/whole-tables.ts'
import type { Numbers } from '../lib/numbers.ts'
import { ROWS, TABLES } from './columns.ts'
import { openPlaceholders, type Placeholders } from './placeholders.ts'
import { CopyRefused } from './refused.ts'
import { isObject, mapped, openReplacements, type Replace, type Replacements, type Value } from './replacements.ts'

export type CopyReport = {
  /** Of each table: its rows, and how many values of a column were replaced. */
  tables: { name: string; rows: number; replaced: Record<string, number> }[]
  /** Why a table is not in the copy. */
  leftOut: Record<string, string>
  files: number
}

/** Has its row from the migrations, which the copy keeps. */
const MADE_BY_MIGRATIONS = new Set([
  'external_receiver',
  'feed',
  'history',
  'migration',
  'notificatie_settings',
  'server_life',
])
const TABLE_OF: Record<string, string> = {
  enkelvoudiginformatieobject: 'enkelvoudiginformatieobject_versie',
  gebruiksrechten: 'gebruiksrecht',
}

/**
 * Makes the copy.
 * @param from address of the source, and what opens the numbers of persons in it. In the copy they stand open, as those for testing may
 * @param to address of the other database: empty, or with this schema and without a row
 * @param directory where the files go that stand for the bytes of documents; undefined: the source has none
 * @param tell called after each table
 * @throws CopyRefused
 */
export async function copyAnonymised(
  from: { url: string; numbers: Numbers },
  to: string,
  directory: string | undefined,
  tell: (table: string, rows: number) => void,
): Promise<CopyReport> {
  const source = openDatabase(from.url, { max: 2, name: 'anonymise', settings: WITHOUT_LIMITS })
  const target = openDatabase(to, { max: 2, name: 'anonymise', settings: WITHOUT_LIMITS })
  try {
    await requireKnownSchema(source.sql)
    await source.sql.begin((held) => requireOther(held, target.sql))
    await requireEmpty(target.sql)
    const [documents] = await source.sql<{ present: boolean }[]>`
      select exists (select from enkelvoudiginformatieobject_versie where file_id is not null) as present`
    if (documents?.present && directory === undefined)
      throw new CopyRefused(
        'the source has documents: --files names a directory for the files that stand for their bytes',
      )
    const placeholders = directory === undefined ? undefined : await openPlaceholders(directory)
    await migrate(to)
    const report = await target.sql.begin((into) =>
      source.sql.begin('isolation level repeatable read read only', (snapshot) =>
        copyTables(snapshot, into, { numbers: from.numbers, placeholders }, tell),
      ),
    )
    await target.sql`analyze`
    return report
  } finally {
    await Promise.all([source.close(), target.close()])
  }
}

/** An address says little about a database: a lock is held in the one, and looked for in the other. */
async function requireOther(from: postgres.TransactionSql, target: postgres.Sql): Promise<void> {
  const [first, second] = [randomInt(2 ** 31), randomInt(2 ** 31)]
  await from`select pg_advisory_xact_lock(${first}::integer, ${second}::integer)`
  const found = await target<{ same: boolean }[]>`
    select exists (
      select from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and l.locktype = 'advisory' and l.classid = ${first}::bigint::oid and l.objid = ${second}::bigint::oid
    ) as same`
  if (one(found).same) throw new CopyRefused('--to is the source itself: name another database')
}

async function requireEmpty(target: postgres.Sql): Promise<void> {
  const tables = await target<{ name: string }[]>`
    select relname as name from pg_class c where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by 1`
  for (const { name } of tables) {
    if (MADE_BY_MIGRATIONS.has(name)) continue
    const isOurs = name in TABLES
    const [row] = isOurs ? await target.unsafe(`select 1 from "${name}" limit 1`) : [true]
    if (row) throw new CopyRefused(`--to has ${isOurs ? 'rows in ' : ''}table ${name}: name an empty database`)
  }
}

async function copyTables(
  from: postgres.TransactionSql,
  into: postgres.TransactionSql,
  means: Omit<Means, 'replacements'>,
  tell: (table: string, rows: number) => void,
): Promise<CopyReport> {
  const choices = await from<
    { choice: string }[]
  >`select distinct unnest(specificatie_waardenverzameling) as choice from eigenschap`
  const replacements = openReplacements(randomBytes(32), new Set(choices.map(({ choice }) => choice)))
  const report: CopyReport = { tables: [], leftOut: {}, files: 0 }
  await withoutReferences(into, async () => {
    for (const [name, table] of Object.entries(TABLES)) {
      if ('leftOut' in table && typeof table.leftOut === 'string') {
        report.leftOut[name] = table.leftOut
        continue
      }
      const copied = await copyTable(from, into, name, { ...means, replacements })
      report.tables.push(copied)
      tell(name, copied.rows)
    }
  })
  report.files = means.placeholders?.made() ?? 0
  await into`select count_anew()`
  await into`update feed set first = pg_current_xact_id()` // no change tells of these rows
  await setSequences(into, await sequencesOf(from))
  return report
}

type Means = { numbers: Numbers; placeholders: Placeholders | undefined; replacements: Replacements }
type Column = { name: string; isJson: boolean; isList: boolean; replace: Replace | undefined; replaced: number }

async function copyTable(
  from: postgres.TransactionSql,
  into: postgres.TransactionSql,
  table: string,
  { replacements, placeholders, numbers }: Means,
): Promise<CopyReport['tables'][number]> {
  const columns = await columnsOf(from, table, replacements, numbers)
  const names = columns.map(({ name }) => `"${name}"`)
  const where = ROWS[table] ? ` where ${ROWS[table]}` : ''
  const read = columns.map(({ name, isList }) => (isList ? `array_to_json("${name}")::text` : `"${name}"::text`))
  const isFile = table === 'file' && placeholders !== undefined
  let rows = 0
  async function* changed(): AsyncGenerator<string> {
    const found = cellsOf(from, `select ${read.join(', ')} from "${table}"${where}`)
    for await (const portion of found) {
      let made = ''
      for (const cells of portion) {
        rows++
        if (isFile) await placeholders.place(cells, columns)
        made += copyLine(changeRow(cells, columns, numbers))
      }
      yield made
    }
  }
  await into.unsafe(`alter table "${table}" disable trigger user`)
  await pipeline(changed, await into.unsafe(`copy "${table}" (${names.join(', ')}) from stdin`).writable())
  await into.unsafe(`alter table "${table}" enable trigger user`)
  const replaced = columns.filter((column) => column.replaced > 0).map((column) => [column.name, column.replaced])
  return { name: table, rows, replaced: Object.fromEntries(replaced) }
}

async function columnsOf(
  from: postgres.TransactionSql,
  table: string,
  replacements: Replacements,
  numbers: Numbers,
): Promise<Column[]> {
  const found = await from<{ name: string; type: string }[]>`
    select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = ${`"${table}"`}::text::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`
  const answers = TABLES[table] ?? {}
  return found.map(({ name, type }) => {
    const answer = name in answers ? answers[name as keyof typeof answers] : undefined
    const replace =
      typeof answer !== 'string' || answer === 'bytes'
        ? undefined
        : answer === 'record'
          ? recordOf(replacements)
          : answer === 'packed'
            ? packedOf(replacements, numbers)
            : replacements[answer as Exclude<keyof Replacements, 'field'>]
    const isList = replace !== undefined && type.endsWith('[]')
    return { name, isJson: type.startsWith('json'), isList, replace, replaced: 0 }
  })
}

function changeRow(cells: Cell[], columns: Column[], numbers: Numbers): Cell[] {
  const read = (column: Column, place: number): Value => {
    const cell = cells[place] ?? null
    return cell !== null && (column.isJson || column.isList) ? JSON.parse(numbers.open(cell)) : cell
  }
  const sibling = (name: string): Value => {
    const place = columns.findIndex((column) => column.name === name)
    return place < 0 ? null : read(columns[place] as Column, place)
  }
  return columns.map((column, place) => {
    const cell = cells[place] ?? null
    if (!column.replace || cell === null) return cell
    const made = written(column.replace(read(column, place), sibling), column)
    if (made !== cell) column.replaced++
    return made
  })
}

/** The object of a change, as the API shows it: a field is what its column is, or what the name of the field says. */
function recordOf(replacements: Replacements): Replace {
  return (value, sibling) => {
    if (!isObject(value)) return replacements.detail(value, sibling)
    const resource = String(sibling('resource'))
    const answers = TABLES[TABLE_OF[resource] ?? resource] ?? {}
    const isType = sibling('bron') === 'ztc'
    return mapped(value, (name, inner) => {
      const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      const answer = Object.hasOwn(answers, column)
        ? answers[column as keyof typeof answers]
        : answers[`${column}_url` as keyof typeof answers]
      if (typeof answer === 'object' || (answer === undefined && isType)) return inner
      if (typeof answer === 'string')
        return replacements[answer as Exclude<keyof Replacements, 'field'>](inner, () => null)
      if (name === 'integriteit') return null
      return replacements.field(name)?.(inner, () => null) ?? replacements.detail(inner, () => null)
    })
  }
}

/** The same in what an audit record holds, of which the addresses are kept. */
function packedOf(replacements: Replacements, numbers: Numbers): Replace {
  const replace = recordOf(replacements)
  return (value, sibling) => {
    const [hoofdObjectUuid, resourceUuid] = [String(sibling('hoofd_object_uuid')), sibling('resource_uuid') as Cell]
    const uuids = { hoofdObjectUuid, resourceUuid }
    const [hoofdObject, resourceUrl, ...objects] = JSON.parse(
      numbers.open(inflated(Buffer.from(String(value).slice(2), 'hex'), uuids)),
    )
    const made = objects.map((object: Value) => (object === null ? null : replace(object, sibling)))
    return `\\x${deflated(JSON.stringify([hoofdObject, resourceUrl, ...made]), uuids).toString('hex')}`
  }
}

function written(value: Value, { isJson, isList }: Column): Cell {
  if (value === null) return null
  if (isJson) return JSON.stringify(value)
  if (isList && Array.isArray(value))
    return `{${value.map((one) => (one === null ? 'NULL' : `"${String(one).replace(/["\\]/g, '\\$&')}"`)).join(',')}}`
  return String(value)
}
