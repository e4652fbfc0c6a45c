// Arrays of the types that PostgreSQL has by itself. The driver would ask each database for all types of arrays: two for each table of each
// schema there, kept by every pool. With 342 organisations in a database that was 700 MB in a worker, and a second of its time.
import pg from 'pg'
import type postgres from 'postgres'

/** Of an element, and of an array of them; the numbers are the same in every version (pg_type.dat). */
const ARRAYS = [
  [16, 1000], // boolean
  [17, 1001], // bytea
  [18, 1002], // "char"
  [19, 1003], // name
  [20, 1016], // bigint
  [21, 1005], // smallint
  [23, 1007], // integer
  [25, 1009], // text
  [26, 1028], // oid
  [114, 199], // json
  [700, 1021], // real
  [701, 1022], // double precision
  [1042, 1014], // character
  [1043, 1015], // character varying
  [1082, 1182], // date
  [1083, 1183], // time
  [1114, 1115], // timestamp
  [1184, 1185], // timestamp with time zone
  [1186, 1187], // interval
  [1700, 1231], // numeric
  [2205, 2210], // regclass
  [2950, 2951], // uuid
  [3802, 3807], // jsonb
] as const

type Texts = (string | null | Texts)[]
type Codec = (value: unknown) => unknown

const textsOf = pg.types.getTypeParser(1009 as never) as (text: string) => Texts
const asText: Codec = (value) => `${value}`

/** Lets a driver that fetches no types read and write arrays of these. */
export function teachArrays({ parsers, serializers }: Pick<postgres.ParsedOptions, 'parsers' | 'serializers'>): void {
  for (const [element, array] of ARRAYS) {
    const parse = parsers[element]
    const serialize = serializers[element] ?? asText
    parsers[array] = (text: string) => read(textsOf(text), parse)
    serializers[array] = (value: unknown) => (Array.isArray(value) ? written(value, serialize) : value)
  }
}

const read = (values: Texts, parse: Codec | undefined): unknown[] =>
  values.map((value) => (Array.isArray(value) ? read(value, parse) : value === null || !parse ? value : parse(value)))

function written(values: unknown[], serialize: Codec): string {
  const parts = values.map((value) => {
    if (value === undefined) throw new TypeError('undefined in an array for the database')
    if (value === null) return 'null'
    return Array.isArray(value) ? written(value, serialize) : `"${`${serialize(value)}`.replace(/[\\"]/g, '\\$&')}"`
  })
  return `{${parts.join(',')}}`
}
