// Row types of raw SQL are promises of whoever wrote them. Here they are held against what PostgreSQL says that the statement
// gives.
import { readdir, readFile } from 'node:fs/promises'
import postgres from 'postgres'
import t from 'tap'
import { withSchema } from '../../src/database/schema.ts'
import { createNotificationTables, createTables } from '../overnemen/open-zaak-schema.ts'
import { emptyDatabase, testDatabase } from '../setup.ts'
import { type Kind, type RawStatement, rawStatements, type Stated } from './raw-statements.ts'

const CONTROL = new URL('../../sql/control/', import.meta.url)

type Described = { name: string; type: number; table: number; number: number }
type Catalogue = {
  /** Types of PostgreSQL by their number. */
  types: Map<number, { name: string; element: number; labels: string[] | null }>
  /** By `table number`, the names of columns of tables that can be null. */
  nullable: Map<string, string>
}

/** Statements of which the text is only known when the program runs. Whoever can tell one from its source takes it off. */
const ONLY_WHEN_IT_RUNS: Record<string, string> = {
  'src/cli/run-api.ts openParts': 'the statement is that of requireSession',
  'src/anonymise/copy.ts requireEmpty': 'the table is one of those that the other database has',
  'src/catalogi/type-relations.ts holds': 'the tables come from the rule',
  'src/catalogi/type-source.ts sendTypes': 'the query comes from the kind of type',
  'src/core/records.ts insertRow': 'the insert comes from the resource, whose answers the tests of it look at',
  'src/core/records.ts insertAndRecord': 'the insert comes from the resource, whose answers the tests of it look at',
  'src/database/list.ts planned': 'runs the statement of its caller, whose row type is checked there',
  'src/database/list.ts countRows': 'what is counted comes from the list',
  'src/database/list.ts countByRest': 'the tables come from the list',
  'src/database/list.ts sumCounts': 'the table of counts comes from the list',
  'src/database/list.ts rowsById': 'the rows come from the list',
  'src/database/list.ts rowByUuid': 'the row comes from the resource',
  'src/database/list.ts asJson': 'only its columns are looked at',
  'src/database/list.ts pageOfIds': 'columns and order come from the list',
  'src/database/list.ts readKeys': 'columns and order come from the list',
  'src/database/list.ts idsByUuid': 'the table and its columns come from the list',
  'src/database/list.ts firstOfEach': 'tables, columns and order come from the lists',
  'src/beheer/catalogi/part-items.ts itemsOf': 'the table is that of the part of a zaaktype',
  'src/beheer/catalogi/part-items.ts nextNumber': 'the table is that of the part of a zaaktype',
  'src/beheer/lookup/search.ts pageOfUuid': 'a part for every table of things in a case',
  'src/beheer/frame/lookup.ts keysetByNumber': 'the query comes from the page',
  'src/beheer/lookup/zaken.ts countParts': 'a part for every table of things in a case',
  'src/feed/kinds.ts ofType': 'the table is that of the type',
  'src/feed/deltas.ts readRows': 'the conditions are those of rights, and of where to read on',
  'src/feed/tell.ts partsOf': 'the table is that of each kind of part',
  'src/feed/snapshots.ts linesOf': 'the table is that of each kind',
  'src/services/our-side.ts setBack': 'the row is what it was before, of whichever table',
  'src/zaken/zaak/long-lists.ts etagWithLists': 'the tables are those of the lists that are long',
  'src/beheer/lookup/what-somebody-sees.ts look': 'the table and its level are those of each kind',
  'src/organisations/owner.ts ownerOf': 'the schema is that of the organisation',
  'src/cli/organisation-add.ts requireFree': 'the schema is that of the organisation',
  'src/overnemen/own-work.ts referencesTo': 'the table is that of each kind',
  'src/operations/reseal.ts countSealed': 'the tables are those with numbers of persons',
  'src/operations/reseal.ts resealRows': 'the table is one of those with numbers of persons',
  'src/operations/reseal.ts secretsOf': 'the table is one of those with secrets',
  'src/operations/reseal.ts resealSecrets': 'the table is one of those with secrets',
  'src/organisations/figures.ts figuresOf': 'the schemas are those of an organisation',
  'src/organisations/work.ts lookAtWork': 'the schemas are those of an organisation',
  'src/organisations/load.ts loadTable': 'the table is each one of the export',
  'src/organisations/remove.ts removeOrganisation': 'the table is each one of the schema',
  'src/overnemen/answers.ts pathsOf': 'the table is that of the kind that is taken over',
  'src/overnemen/census.ts rowsThatDiffer': 'tables and columns come from the kind that is counted',
  'src/overnemen/open-zaak/source.ts relations': 'tables and columns come from the kind that is counted',
  'src/overnemen/open-zaak/source.ts relationsIn': 'tables and columns come from the kind that is counted',
  'src/overnemen/api/source.ts seenOf': 'the tables are ours, or those of a dry run',
  'src/overnemen/own-work.ts clashes': 'the tables are those of a dry run',
  'src/overnemen/changes.ts goneMain': 'the table is that of the kind that is taken over',
  'src/overnemen/changes.ts goneBelow': 'the table is that of the kind that is taken over',
  'src/overnemen/check.ts checkTakeover': 'the table is that of the kind that is taken over',
  'src/overnemen/check.ts readBack': 'the columns are those of the kind that is taken over',
  'src/overnemen/data-faults.ts faultOfColumn': 'the type is that of the column',
  'src/overnemen/ending.ts removable': 'the table is that of the kind that is taken over',
  'src/overnemen/ending.ts deleteBelow': 'the table is that of the kind that is taken over',
  'src/overnemen/ending.ts deleteObjects': 'the table is that of the kind that is taken over',
  'src/overnemen/open-zaak/source.ts numbers': 'the table is that of what is numbered',
  'src/overnemen/open-zaak/source.ts plan': 'the table is that of the kind that is taken over',
  'src/overnemen/open-zaak/source.ts readKind': 'the columns are those that this version of Open Zaak has',
  'src/overnemen/trail.ts writeAudit': 'the columns are those of a list',
  'src/overnemen/write.ts findPlaces': 'the columns are those of the kind that is taken over',
  'src/overnemen/write.ts resolve': 'the table is that of the kind that is taken over',
  'tasks/remove-draft.ts removeDraft': 'the tables are those of a list',
}

/** The faults of a row type, in words. */
function faultsOf(statement: RawStatement, columns: Described[], { types, nullable }: Catalogue): string[] {
  const { row } = statement
  const named = columns.filter(({ name }) => name !== '?column?')
  if (!row)
    return statement.isRead && !statement.builder && named.length > 0
      ? ['its rows are read, and no row type is stated']
      : []
  const given = new Map(columns.map((column) => [statement.builder ? camelCase(column.name) : column.name, column]))
  const faults: string[] = []
  // Nothing reads it by a name that the type states, whatever it states: a count would be NaN.
  if (given.has('?column?')) faults.push('a column has no name')
  if (given.size < columns.length) faults.push('two columns have one name')
  const stated = row instanceof Map ? row : new Map([...given.keys()].map((name) => [name, row as Stated]))
  for (const [name, { kinds, texts, optional }] of stated) {
    const column = given.get(name)
    if (!column) {
      if (!optional) faults.push(`${name} is not among its columns`)
      continue
    }
    const type = types.get(column.type)!
    const kind = kindOf(type, types)
    const fits = kinds.has('any') || kind === 'any' || kinds.has(kind)
    if (!fits) faults.push(`${name} is ${kind} (${type.name}), stated as ${[...kinds].join(' or ')}`)
    else if (texts && type.labels?.some((label) => !texts.includes(label)))
      faults.push(`${name} can be ${type.labels.filter((label) => !texts.includes(label)).join(', ')} too`)
    const empty = nullable.get(`${column.table} ${column.number}`)
    // A condition on the column leaves those out that are null.
    const isAsked = empty && new RegExp(`\\b${empty}\\s*(=|is not null)`).test(statement.texts.join())
    if (empty && !isAsked && !kinds.has('null') && !kinds.has('any')) faults.push(`${name} can be null`)
  }
  const isWhole = /\b(select|returning)\s+(\w+\.)?\*/.test(statement.texts[0]!)
  if (!isWhole) for (const name of given.keys()) if (!stated.has(name)) faults.push(`${name} is found and not stated`)
  return faults
}

/** What the driver makes of a value. */
function kindOf({ name, element }: { name: string; element: number }, types: Catalogue['types']): Kind {
  if (element > 0) return `list of ${kindOf(types.get(element)!, types)}`
  if (name === 'bool') return 'boolean'
  if (/^(int[248]|oid|float[48])$/.test(name)) return 'number'
  if (name === 'bytea') return 'bytes'
  return /^jsonb?$/.test(name) ? 'any' : 'string'
}

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())

t.test('The row types of raw statements are what PostgreSQL gives', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const centre = postgres(withSchema(url, 'centre'), { max: 1, onnotice: () => {} })
  const openZaak = postgres((await emptyDatabase(t)).url, { max: 1, onnotice: () => {} })
  t.teardown(() => Promise.all([sql.end(), centre.end(), openZaak.end()]))
  await openZaak.unsafe(
    `create schema nrc; set search_path = nrc, public; ${createNotificationTables()}; set search_path = public`,
  )
  await openZaak.unsafe(`${createTables()}; set search_path = public, nrc`) // the columns of Open Zaak that we read; which can be null is not told there
  await sql.unsafe(
    "create schema centre; select set_config('search_path', current_setting('search_path') || ', centre', false)",
  )
  for (const file of await readdir(CONTROL)) await centre.unsafe(await readFile(new URL(file, CONTROL), 'utf8'))
  const statements = rawStatements()
  for (const { texts } of statements) for (const text of texts) if (/^\s*create/.test(text)) await sql.unsafe(text)
  const catalogue = await readCatalogue(sql)
  const unseen = new Set(Object.keys(ONLY_WHEN_IT_RUNS))
  let checked = 0
  for (const statement of statements) {
    const where = `${statement.place}:${statement.line}`
    if (statement.dynamic) {
      if (!statement.row && !statement.isRead) continue
      if (ONLY_WHEN_IT_RUNS[statement.place]) unseen.delete(statement.place)
      else t.fail(`${where}: ${statement.dynamic}`)
      continue
    }
    const faults = new Set<string>()
    if (
      statement.isReader &&
      statement.texts.some((text) => /\b(insert into|update \w+ set|delete from)\b/i.test(text))
    )
      faults.add('it writes, on what is there to read with')
    const failures: string[] = []
    let isKnown = false
    for (const text of statement.texts) {
      try {
        const isTheirs = statement.place.startsWith('src/overnemen/open-zaak/')
        const isOfCentre = statement.place.startsWith('src/organisations/accounts')
        const { columns } = await (isTheirs ? openZaak : isOfCentre ? centre : sql)
          .unsafe(await filledIn(sql, text))
          .describe()
        isKnown = true
        const found = faultsOf(
          { ...statement, texts: [text] },
          columns as unknown as Described[],
          isTheirs ? { ...catalogue, nullable: new Map() } : catalogue,
        )
        for (const fault of found) faults.add(fault)
        // Their keys are integers in one version and bigints in another: what a value is must not depend on the column beside it.
        const untyped = isTheirs && /\$\d+(?!\d|::)/.exec(text)
        if (untyped)
          faults.add(
            `a value without a type beside their columns: ${text.slice(Math.max(0, untyped.index - 40), untyped.index + 4)}`,
          )
      } catch (error) {
        failures.push(`${(error as Error).message}: ${text}`)
      }
    }
    if (!isKnown && ONLY_WHEN_IT_RUNS[statement.place]) unseen.delete(statement.place)
    else if (!isKnown) t.fail(`${where}: ${failures.join('; ')}`)
    if (faults.size > 0) t.fail(`${where}: ${[...faults].join('; ')}`)
    if (statement.row) checked++
  }
  t.same([...unseen], [], 'these need no exception')
  t.comment(`${statements.length} raw statements, ${checked} row types checked`)
})

t.test('A row type with another name, kind or null than its column is found', async (t) => {
  const sql = postgres((await testDatabase(t)).url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const catalogue = await readCatalogue(sql)
  const text = 'select id, einddatum, vertrouwelijkheidaanduiding as niveau from zaak'
  const { columns } = await sql.unsafe(text).describe()
  const stated = (row: Record<string, Kind[]>, texts?: string[]) => {
    const entries = Object.entries(row).map(
      ([name, kinds]) => [name, { optional: false, kinds: new Set(kinds), texts }] as const,
    )
    const statement = {
      place: '',
      line: 1,
      builder: false,
      isRead: true,
      isReader: false,
      texts: [text],
      row: new Map<string, Stated>(entries),
    }
    return faultsOf(statement, columns as unknown as Described[], catalogue)
  }
  const right: Record<string, Kind[]> = { id: ['number'], einddatum: ['string', 'null'], niveau: ['string'] }
  t.same(stated(right), [])
  t.same(stated({ ...right, id: ['string'] }), ['id is number (int8), stated as string'])
  t.same(stated({ ...right, einddatum: ['string'] }), ['einddatum can be null'])
  t.same(stated({ id: ['number'], einde: ['string', 'null'], niveau: ['string'] }), [
    'einde is not among its columns',
    'einddatum is found and not stated',
  ])
  t.match(stated(right, ['openbaar', 'geheim']), ['niveau can be beperkt_openbaar, intern'])
  const read = async (text: string) => {
    const { columns } = await sql.unsafe(text).describe()
    const row: Stated = { optional: false, kinds: new Set(['number'] as const), texts: undefined }
    const rest = { place: '', line: 1, builder: false, isRead: true, isReader: false }
    return faultsOf({ ...rest, texts: [text], row }, columns as unknown as Described[], catalogue)
  }
  t.same(await read('select (select 1) + (select 2)'), ['a column has no name'])
  t.same(await read('select count(*), count(einddatum) from zaak'), ['two columns have one name'])
  t.same(await read('select (select 1) + (select 2) as aantal'), [])
})

/** A row of values for an update is only known when it runs: one column stands for it. */
async function filledIn(sql: postgres.Sql, text: string): Promise<string> {
  const [mark, table] = /:any column of (\w+):/.exec(text) ?? []
  if (!mark) return text
  const [column] = await sql<{ name: string }[]>`
    select attname as name from pg_attribute where attrelid = ${table!}::regclass and attnum > 0 and attidentity = '' limit 1`
  return text.replace(mark, `${column!.name} = default`)
}

async function readCatalogue(sql: postgres.Sql): Promise<Catalogue> {
  const types = await sql<{ id: number; name: string; element: number; labels: string[] | null }[]>`
    select oid::int as id, typname as name, case when typcategory = 'A' then typelem::int else 0 end as element,
      (select array_agg(enumlabel::text) from pg_enum where enumtypid = t.oid) as labels
    from pg_type t`
  const nullable = await sql<{ key: string; name: string }[]>`
    select a.attrelid || ' ' || a.attnum as key, a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relkind = 'r' and not a.attnotnull`
  return {
    types: new Map(types.map(({ id, ...type }) => [id, type])),
    nullable: new Map(nullable.map(({ key, name }) => [key, name])),
  }
}
