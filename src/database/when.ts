// Parts of a query that a value asks for.

/** For `$call`: adds to a query what a value asks, or nothing when there is none. */
export const when =
  <Value, Query>(value: Value | null | undefined, add: (query: Query, value: Value) => Query) =>
  (query: Query): Query =>
    value === undefined || value === null ? query : add(query, value)
