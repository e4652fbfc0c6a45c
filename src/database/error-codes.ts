// Codes of PostgreSQL that callers tell apart.
const codeOf = (error: unknown) => (error as { code?: unknown } | null | undefined)?.code

export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === '23505'
export const isUndefinedColumn = (error: unknown): boolean => codeOf(error) === '42703'
/** A lock was not there in time (`lock_timeout`, `nowait`). */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'
/** A table, function, type or schema is not there (any more). */
export const isMissing = (error: unknown): boolean =>
  ['42P01', '42883', '42704', '3F000'].includes(String(codeOf(error)))
