// Rows on their way to the database: an array per column, which it takes apart with `unnest`. As JSON they would be three times
// as many bytes, of which most are names, and twice the work for the database.

export type RowColumn = {
  name: string
  type: string
  /** For jsonb: the values are JSON already. */
  encoded?: boolean
}

/** Types whose arrays are sent as such; all others go as text and are cast row by row. */
const OWN_ARRAY = new Set(['text', 'uuid', 'bigint', 'integer', 'boolean', 'date', 'timestamptz'])

/**
 * `unnest(…) as alias(columns)`, with the columns as parameters from `$first` on.
 * @param seal done with each value of jsonb
 * @returns SQL for a from clause, the expression of each column in its type, and the parameters
 */
export function unnested(
  alias: string,
  columns: RowColumn[],
  rows: Record<string, unknown>[],
  first = 1,
  seal: (json: string) => string = (json) => json,
): { from: string; value(column: RowColumn): string; parameters: string[] } {
  const arrays = columns.map(({ type }, place) => `$${first + place}::text::${OWN_ARRAY.has(type) ? type : 'text'}[]`)
  return {
    from: `unnest(${arrays.join(', ')}) as ${alias}(${columns.map(({ name }) => name).join(', ')})`,
    value: ({ name, type }) => (OWN_ARRAY.has(type) ? `${alias}.${name}` : `${alias}.${name}::${type}`),
    parameters: columns.map(({ name, type, encoded }) =>
      type === 'jsonb'
        ? arrayLiteral(
            rows.map((row) =>
              isNothing(row[name]) ? null : seal(encoded ? (row[name] as string) : JSON.stringify(row[name])),
            ),
          )
        : arrayLiteral(rows.map((row) => row[name])),
    ),
  }
}

const isNothing = (value: unknown) => value === null || value === undefined

/** An array as PostgreSQL writes it. An array within becomes text in that form, an object JSON. */
function arrayLiteral(values: unknown[]): string {
  return `{${values.map(element).join(',')}}`
}

function element(value: unknown): string {
  if (isNothing(value)) return 'NULL'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : Array.isArray(value) ? arrayLiteral(value) : JSON.stringify(value)
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}
