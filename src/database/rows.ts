// What has to be there, such as rows that the same transaction wrote or locked. Where it is not, that is a fault of ours.

/** The row of a statement that always answers one. @throws Error when there is none */
export function one<T>(rows: readonly T[]): T {
  const [row] = rows
  return expected(row)
}

/** The last of a list that is not empty, such as a full page of rows. @throws Error when it is empty */
export const lastOf = <T>(list: readonly T[]): T => expected(list.at(-1))

/** What was looked for and has to be there. @throws Error when it is not */
export function expected<T>(found: T | null | undefined): T {
  if (found === undefined || found === null) throw new Error('what has to be there is not')
  return found
}
