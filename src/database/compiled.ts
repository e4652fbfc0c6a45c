// Statements that are asked over and over with other values. Building and compiling one takes the query builder longer than the
// driver needs to send it and to read a row.
import type { CompiledQuery, QueryExecutorProvider } from 'kysely'
import type { ReadDb } from './database.ts'

/**
 * Compiles a statement when it is first asked.
 * @param make builds it, with any values where its parameters come
 * @returns what asks it with these parameters, in the order in which they stand in the statement
 */
export function compiled<Row>(
  make: (db: ReadDb) => { compile(): CompiledQuery<Row> },
): (db: ReadDb, parameters: readonly unknown[]) => Promise<Row[]> {
  let query: CompiledQuery<Row> | undefined
  return async (db, parameters) => {
    query ??= make(db).compile()
    const provider: QueryExecutorProvider = db
    const { rows } = await provider.getExecutor().executeQuery<Row>({ ...query, parameters })
    return rows
  }
}
