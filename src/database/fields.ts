// The fields of a resource that is a row of one table. One line per field says its schema, the columns that hold it, with
// what they hold when it is empty, and how it is written and read. The schemas of the API, the columns of statements and the
// answers are made of those lines, so that a field stands in one place.
import type { Insertable, Selectable } from 'kysely'
import type { Static, TSchema } from 'typebox'

type Row = Record<string, unknown>
export type Field = {
  /** In the body of a request; absent: clients cannot state it. */
  input?: TSchema
  answer: TSchema
  columns: readonly string[]
  /** What its columns hold when it is left out. */
  empty: Row
  /** Whether the columns of every new row come from here; else the code of the resource sees to them. */
  always: boolean
  /** Its columns are of JSON, which statements have to encode. */
  json?: true
  /** Puts a value into the columns of a row. */
  write?(row: Row, value: unknown): void
  read(row: never, base: string): unknown
  /** The column that `read` gives as it is. */
  kept?: string
}

type Value<Table, N> = Selectable<Table>[N & keyof Selectable<Table>]
/** The columns that can hold the values of a schema as they are. Those of JSON can hold anything: they have a kind of field of their own. */
type Holding<Table, S extends TSchema> = {
  [N in keyof Insertable<Table> & string]: unknown extends Insertable<Table>[N]
    ? never
    : Static<S> extends Insertable<Table>[N]
      ? N
      : never
}[keyof Insertable<Table> & string]
type JsonColumn<Table> = {
  [N in keyof Selectable<Table> & string]: unknown extends Selectable<Table>[N] ? N : never
}[keyof Selectable<Table> & string]

const put = (column: string) => (row: Row, value: unknown) => {
  row[column] = value
}

/**
 * The kinds of fields of a table. `From` is what answers are made of: columns of the table, and what its queries find beside
 * them.
 */
export function fieldsOf<Table, From>() {
  return {
    /** A column that holds the value as it is. `empty` is what it holds when an optional field is left out. */
    kept: <S extends TSchema, N extends Holding<Table, S> & keyof From>(
      schema: S,
      column: N,
      empty?: Value<Table, N>,
    ) => ({
      input: schema,
      answer: schema,
      columns: [column] as readonly N[],
      empty: empty === undefined ? {} : { [column]: empty },
      always: true as const,
      write: put(column),
      read: (row: From) => row[column],
      kept: column as string,
    }),
    /** The same, in the form that `form` gives what is not empty. */
    formed: <S extends TSchema, N extends Holding<Table, S> & keyof From>(
      schema: S,
      column: N,
      empty: Value<Table, N>,
      form: (value: NonNullable<Static<S>>) => Value<Table, N>,
    ) => ({
      input: schema,
      answer: schema,
      columns: [column] as readonly N[],
      empty: { [column]: empty },
      always: true as const,
      write: (row: Row, value: unknown) => {
        row[column] = value ? form(value as NonNullable<Static<S>>) : empty
      },
      read: (row: From) => row[column],
    }),
    /** A column that holds the value as it is, where a new row has something better than an empty value when it is left out. */
    stated: <S extends TSchema, N extends Holding<Table, S> & keyof From>(schema: S, column: N) => ({
      input: schema,
      answer: schema,
      columns: [column] as readonly N[],
      empty: {},
      always: false as const,
      write: put(column),
      read: (row: From) => row[column],
      kept: column as string,
    }),
    /** A column of JSON that holds the value as it is. */
    json: <S extends TSchema, N extends JsonColumn<Table> & keyof From>(schema: S, column: N, empty: Static<S>) => ({
      input: schema,
      answer: schema,
      columns: [column] as readonly N[],
      empty: { [column]: empty },
      always: true as const,
      json: true as const,
      write: put(column),
      read: (row: From) => row[column],
      kept: column as string,
    }),
    /** One or more columns, written and read in a way of its own. */
    spread: <In extends TSchema, N extends keyof Selectable<Table> & string, Out extends TSchema = In>(field: {
      input: In
      answer?: Out
      /** With what they hold when it is empty. */
      columns: { [K in N]: Value<Table, K> }
      write(value: Static<In>): { [K in N]?: Value<Table, K> }
      read(row: From, base: string): Static<Out>
    }) => ({
      input: field.input,
      answer: (field.answer ?? field.input) as Out,
      columns: Object.keys(field.columns) as unknown as readonly N[],
      empty: field.columns as Row,
      always: true as const,
      write: (row: Row, value: unknown) => {
        Object.assign(row, field.write(value as Static<In>))
      },
      read: field.read,
    }),
    /** What clients state, and the code of the resource writes. */
    apart: <S extends TSchema, Out extends TSchema = S>(
      schema: S,
      read: (row: From, base: string) => Static<Out>,
      answer?: Out,
    ) => ({
      input: schema,
      answer: (answer ?? schema) as Out,
      columns: [] as readonly never[],
      empty: {},
      always: false as const,
      read,
    }),
    /** What answers show and clients cannot state. */
    shown: <S extends TSchema>(schema: S, read: (row: From, base: string) => Static<S>) => ({
      answer: schema,
      columns: [] as readonly never[],
      empty: {},
      always: false as const,
      read,
    }),
  }
}

type Fields = Record<string, Field>
type Inputs<F> = {
  [K in keyof F as F[K] extends { input: TSchema } ? K : never]: F[K] extends { input: infer S } ? S : never
}
type Answers<F> = { [K in keyof F]: F[K] extends { answer: infer S } ? S : never }
/** The columns that fields hold; with `{ always: true }` those of every new row. */
export type ColumnsOf<F, Kind = unknown> = {
  [K in keyof F]: F[K] extends Kind & { columns: readonly (infer N extends string)[] } ? N : never
}[keyof F]

/** The fields of the body of a request, in the order in which faults are told. */
export function inputsOf<F extends Fields>(fields: F): Inputs<F> {
  const inputs = Object.entries(fields).flatMap(([name, { input }]) => (input ? [[name, input]] : []))
  return Object.fromEntries(inputs) as Inputs<F>
}

/** The fields of an answer, in its order. */
export function answersOf<F extends Fields>(fields: F): Answers<F> {
  return Object.fromEntries(Object.entries(fields).map(([name, { answer }]) => [name, answer])) as Answers<F>
}

/** The columns that the fields hold together, in the order of the fields. */
export const columnsOf = <F extends Fields>(fields: F): ColumnsOf<F>[] =>
  Object.values(fields).flatMap(({ columns }) => columns) as ColumnsOf<F>[]

/** What the columns hold when nothing is given. */
export const emptyOf = (fields: Fields): Readonly<Row> =>
  Object.assign({}, ...Object.values(fields).map(({ empty }) => empty)) as Row

/** Writes what is given into columns; what is absent leaves them as they are. */
export function columnWriter<Table, F extends Fields>(fields: F) {
  const writers = Object.entries(fields).flatMap(([name, { write }]) => (write ? [[name, write] as const] : []))
  return (given: { [K in keyof Inputs<F>]?: unknown }): { [N in ColumnsOf<F>]?: Value<Table, N> } => {
    const row: Row = {}
    for (const [name, write] of writers) {
      const value = (given as Row)[name]
      if (value !== undefined) write(row, value)
    }
    return row as { [N in ColumnsOf<F>]?: Value<Table, N> }
  }
}

/** Makes all columns of a new row; what is absent is empty there. */
export function rowWriter<Table, F extends Fields>(fields: F) {
  const empty = emptyOf(fields)
  const write = columnWriter<Table, F>(fields)
  return (given: { [K in keyof Inputs<F>]?: unknown }) =>
    ({ ...empty, ...write(given) }) as unknown as { [N in ColumnsOf<F, { always: true }>]: Value<Table, N> }
}

/** Encodes the columns of JSON in a row, as the statement that it is for takes them. */
export function rowEncoder(fields: Fields) {
  const names = Object.values(fields).flatMap(({ columns, json }) => (json ? columns : []))
  return <R extends object>(row: R, encode: (value: unknown) => unknown): R => {
    const encoded = { ...row } as Row
    for (const name of names) if (encoded[name] !== undefined) encoded[name] = encode(encoded[name])
    return encoded as R
  }
}

/** Makes an answer of a row, by a function that is compiled for these fields (as `rowMaker` in list.ts). */
export function answerReader<From, F extends Fields>(fields: F): (row: From, base: string) => Answer<F> {
  const members = Object.entries(fields).map(([name, { kept }], index) => {
    const value = kept === undefined ? `reads[${index}](row,base)` : `row[${JSON.stringify(kept)}]`
    return `${JSON.stringify(name)}:${value}`
  })
  const reads = Object.values(fields).map(({ read }) => read)
  const make = new Function('reads', `return (row,base)=>({${members.join()}})`)
  return make(reads) as (row: From, base: string) => Answer<F>
}
type Answer<F> = { [K in keyof F]: F[K] extends { answer: infer S extends TSchema } ? Static<S> : never }
