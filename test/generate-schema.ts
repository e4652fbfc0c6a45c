// Writes sql/schema.sql from a freshly migrated database: one picture of today's types, tables, views, functions and
// triggers, for whoever reads the migrations later. Nothing runs it. `npm run types` writes it together with the types.
import { readFile, writeFile } from 'node:fs/promises'
import postgres from 'postgres'

const FILE = new URL('../sql/schema.sql', import.meta.url)
const HEAD = `-- The schema as the migrations beside this file leave it. Generated (npm run types); nothing runs it, and a test compares it
-- with a migrated database. Comments say what the tables and columns are for; the migrations say why they are that way.
`

/** The picture of the schema that this database has, in an order that does not depend on how it came about. */
export async function pictureSchema(databaseUrl: string): Promise<string> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  try {
    const parts = [...(await types(sql)), ...(await sequences(sql)), ...(await tables(sql))]
    return `${[HEAD, ...parts, ...(await views(sql)), ...(await functions(sql))].join('\n')}`
  } finally {
    await sql.end()
  }
}

/** @throws when `sql/schema.sql` differs from this database */
export async function verifySchema(databaseUrl: string): Promise<void> {
  // Older servers write the alias of a table also where there is only one.
  const bare = (text: string) => text.replaceAll(/\b[a-z]\w*\.(?=[a-z])/g, '')
  if (bare(await readFile(FILE, 'utf8')) !== bare(await pictureSchema(databaseUrl)))
    throw new Error('sql/schema.sql is not the schema of the migrations: run npm run types')
}

export async function writeSchema(databaseUrl: string): Promise<void> {
  await writeFile(FILE, await pictureSchema(databaseUrl))
}

async function types(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ name: string; labels: string[]; comment: string | null }[]>`
    select t.typname as name, array_agg(e.enumlabel::text order by e.enumsortorder) as labels, obj_description(t.oid, 'pg_type') as comment
    from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = current_schema()::regnamespace
    group by t.oid, t.typname order by t.typname`
  return rows.map(
    ({ name, labels, comment }) =>
      `${remark(comment)}create type ${name} as enum (${labels.map((label) => `'${label}'`).join(', ')});\n`,
  )
}

async function sequences(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ name: string; min: string; max: string; comment: string | null }[]>`
    select c.relname as name, s.seqmin::text as min, s.seqmax::text as max, obj_description(c.oid, 'pg_class') as comment
    from pg_class c join pg_sequence s on s.seqrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('i', 'a'))
    order by relname`
  return rows.map(
    ({ name, min, max, comment }) =>
      `${remark(comment)}create sequence ${name}${min === '1' ? '' : ` minvalue ${min}`}${max === '9223372036854775807' ? '' : ` maxvalue ${max}`};\n`,
  )
}

type Column = { table: string; name: string; type: string; comment: string | null }

async function tables(sql: postgres.Sql): Promise<string[]> {
  const names = await sql<{ name: string; unlogged: boolean; comment: string | null }[]>`
    select relname as name, relpersistence = 'u' as unlogged, obj_description(oid, 'pg_class') as comment
    from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') order by relname`
  const columns = await sql<Column[]>`
    select c.relname as table, a.attname as name, col_description(c.oid, a.attnum) as comment,
      format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end
      || case when a.attidentity <> '' then ' generated always as identity'
          when a.attgenerated <> '' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
          when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') order by a.attname`
  const constraints = await sql<{ table: string; text: string }[]>`
    select c.relname as table, 'constraint ' || k.conname || ' ' || pg_get_constraintdef(k.oid) as text
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where c.relnamespace = current_schema()::regnamespace and k.contype in ('p', 'u', 'f', 'c', 'x')
    order by position(k.contype::text in 'pufcx'), k.conname`
  const indexes = await sql<{ table: string; text: string }[]>`
    select c.relname as table, pg_get_indexdef(i.indexrelid) as text
    from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
    where c.relnamespace = current_schema()::regnamespace
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.conrelid = i.indrelid)
    order by x.relname`
  const triggers = await sql<{ table: string; text: string }[]>`
    select c.relname as table, pg_get_triggerdef(t.oid) as text
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal order by t.tgname`
  const of = (rows: { table: string; text: string }[], name: string) =>
    rows.filter(({ table }) => table === name).map(({ text }) => unqualified(text))
  return names.map(({ name, unlogged, comment }) => {
    const lines = [
      ...columns
        .filter(({ table }) => table === name)
        .map((column) => ({ text: `${column.name} ${unqualified(column.type)}`, comment: column.comment })),
      ...of(constraints, name).map((text) => ({ text, comment: null })),
    ]
    const body = lines.map(
      (line, place) =>
        `  ${line.text}${place < lines.length - 1 ? ',' : ''}${line.comment ? ` -- ${line.comment.replaceAll('\n', ' ')}` : ''}`,
    )
    const after = [...of(indexes, name), ...of(triggers, name)].map((text) => `${text};\n`)
    return `${remark(comment)}create ${unlogged ? 'unlogged ' : ''}table ${name} (\n${body.join('\n')}\n);\n${after.join('')}`
  })
}

async function views(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ name: string; text: string; comment: string | null }[]>`
    select relname as name, pg_get_viewdef(oid) as text, obj_description(oid, 'pg_class') as comment
    from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('v', 'm') order by relname`
  return rows.map(({ name, text, comment }) => `${remark(comment)}create view ${name} as\n${unqualified(text)}\n`)
}

async function functions(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ text: string; comment: string | null }[]>`
    select pg_get_functiondef(p.oid) as text, obj_description(p.oid, 'pg_proc') as comment
    from pg_proc p where p.pronamespace = current_schema()::regnamespace
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    order by p.proname, pg_get_function_identity_arguments(p.oid) collate "C"`
  return rows.map(({ text, comment }) => `${remark(comment)}${unqualified(text).trimEnd()};\n`)
}

function remark(comment: string | null): string {
  return comment === null ? '' : `-- ${comment.replaceAll('\n', ' ')}\n`
}

function unqualified(text: string): string {
  return text.replaceAll(/\bzaakstroom(_queue)?\.(?!reseal\b)/g, '')
}
