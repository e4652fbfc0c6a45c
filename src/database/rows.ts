// Rows that have to be there, such as those that the same transaction wrote or locked.

/** The row of a statement that always answers one. @throws Error when there is none */
export function one<T>(rows: readonly T[]): T {
  const [row] = rows
  return expected(row)
}

/** What was looked for and has to be there. @throws Error when it is not */
export function expected<T>(row: T | null | undefined): T {
  if (row === undefined || row === null) throw new Error('a row that has to be there is not')
  return row
}
