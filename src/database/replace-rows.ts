// The rows of a list that a change gives as a whole, such as the relations of a type.

type Statement = { execute(): Promise<unknown> }

/**
 * Removes the rows of before and writes those of now, in their order.
 * @param remove deletes all rows of the owner
 * @param insert writes the rows; it is not called without rows, of which SQL can make no statement
 */
export async function replaceRows<Row>(
  remove: Statement,
  rows: readonly Row[],
  insert: (rows: readonly Row[]) => Statement,
): Promise<void> {
  await remove.execute()
  if (rows.length > 0) await insert(rows).execute()
}
