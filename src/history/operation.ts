// What clients did, as Jepsen writes it down: each operation is invoked and completed by a process, and completed `ok` (it was done),
// `fail` (it was not done) or `info` (nobody knows: it may be done until the end of the history).
//
// Four kinds of objects are played with:
// - A register: one field, to which every write gives a value that no other write gives.
// - A set: a list, to which are added and from which are taken elements of which no two are the same.
// - A lock: has one holder at a time.
// - A secret: what this client has no right to see.

export type Kind = 'register' | 'set' | 'lock' | 'secret'
export type Operation = {
  /** Of the client: it does one thing after the other. */
  process: number
  kind: Kind
  /** The object, by its name in the history. */
  object: string
  /** `trail` reads what an audit trail says of a register: the values in the order in which they were written. */
  f: 'write' | 'read' | 'trail' | 'add' | 'remove' | 'list' | 'lock' | 'unlock'
  /** What is written, added, removed or locked with, or what was read; null: nothing. */
  value: string | null
  /** Of `list`: its elements, in their order; of `trail`: the values. */
  values?: string[]
  /** Of `trail`: the moments of the lines. */
  moments?: string[]
  /** Of a write that is only to be done when nothing was changed since: the ETag that it named. */
  expects?: string
  /** Milliseconds since the beginning. */
  invoked: number
  completed: number
  type: 'ok' | 'fail' | 'info'
  method: string
  path: string
  body?: unknown
  headers?: Record<string, string>
  status?: number
  code?: string
  /** What the same request with the same key was answered before; null: nothing. */
  earlier?: (number | null)[]
}

/** A history as lines of JSON, in the order in which its operations were completed. */
export const toLines = (history: readonly Operation[]): string =>
  history.map((operation) => `${JSON.stringify(operation)}\n`).join('')

/** @throws SyntaxError for a line that is no JSON */
export const fromLines = (lines: string): Operation[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Operation)
