// A server that answers, and lets nobody in: the password was changed, the role may not sign in, the database was renamed or takes
// no connections. To a program that is at work this is an outage as any: somebody is at the server, and mends it. It is told by
// where it is thrown and not by its code: 42501 is also what a statement of ours gets for a right that it lacks.

const marked = new WeakSet<object>()

/** Marks what came of connecting. @returns the error, for who throws it on */
export function ofConnecting<E>(error: E): E {
  if (typeof error === 'object' && error !== null) marked.add(error)
  return error
}

/**
 * Whether an error is of connecting, or of a session that the server ended. The driver of our queries tells both as any other
 * error, but a server calls them FATAL, and what is wrong with a statement ERROR. A pooler has one word, in the place of the
 * translated one.
 */
export function isRefusal(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, severity, severity_local } = error as Record<string, unknown>
  if (marked.has(error)) return true
  if (isOfPooler(error)) return true
  return severity === 'FATAL' || severity_local === 'FATAL' || (typeof code === 'string' && OF_CONNECTING.test(code))
}

/**
 * What PgBouncer says by itself, as when its own connection to the server broke. It has one code for all of that, which PostgreSQL
 * gives to a message that it cannot read, with the routine that read it.
 */
export const isOfPooler = (error: unknown): boolean => {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown }
  return code === '08P01' && routine === undefined
}

/** What is thrown on our side of a connection that begins: by TLS, and by the driver when it cannot sign in. */
const OF_CONNECTING =
  /^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|SASL_SIGNATURE_MISMATCH$|AUTH_TYPE_NOT_IMPLEMENTED$)/

const WORDS: Record<string, string> = {
  '28P01': 'refused: the password is not the one of the role',
  '28000': 'refused: the role may not sign in',
  '3D000': 'refused: there is no database of that name',
  '55000': 'refused: the database takes no connections',
  '42501': 'refused: the role may not connect to the database',
  '53300': 'refused: the server has no connection left',
  '57P03': 'the server is starting, stopping or recovering',
}

/** What a server said to who wanted to connect, in words that hold no name; undefined: it said nothing. */
export function refusalInWords(error: unknown): string | undefined {
  if (!isRefusal(error)) return undefined
  const code = String((error as { code?: unknown }).code)
  return WORDS[code] ?? (/^[0-9A-Z]{5}$/.test(code) ? `refused: ${code}` : undefined)
}
