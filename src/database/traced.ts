// A span for each statement that a request, a job or a delivery asks, when traces are made. It says the kind of the statement and its
// first table, never its text or its values.
import type postgres from 'postgres'
import { beginBelow } from '../telemetry/tracing.ts'

/** What the driver makes of a statement: it is given to a connection by `handler`, and ends in one of the others. */
type Statement = {
  strings: readonly string[]
  handler(statement: Statement): unknown
  resolve(rows: unknown): unknown
  reject(error: unknown): unknown
}

/** The same driver, also of the connections that it reserves and the transactions that it begins. */
export function traceStatements<Sql extends postgres.Sql>(sql: Sql): Sql {
  return new Proxy(sql, {
    apply: (target, self, args) => noted(Reflect.apply(target, self, args)),
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (name === 'unsafe') return (...args: unknown[]) => noted((value as Call)(...args))
      if (name === 'reserve') return async () => traceStatements((await (value as Call)()) as Sql)
      if (name === 'begin' || name === 'savepoint')
        return (...args: unknown[]) => {
          const work = args.pop() as (trx: Sql) => unknown
          return (value as Call)(...args, (trx: Sql) => work(traceStatements(trx)))
        }
      return value
    },
  })
}

type Call = (...args: unknown[]) => unknown

function noted(made: unknown): unknown {
  const statement = made as Statement
  if (typeof statement?.handler !== 'function') return made // a name or a part of a statement
  const { handler, resolve, reject } = statement
  statement.handler = (asked) => {
    const end = beginBelow(...aboutOf(statement.strings[0] ?? ''))
    if (end) {
      statement.resolve = (rows) => {
        end()
        return resolve(rows)
      }
      statement.reject = (error) => {
        end(true)
        return reject(error)
      }
    }
    return handler(asked)
  }
  return made
}

function aboutOf(text: string): [name: string, kind: 'CLIENT', attributes: Record<string, string>] {
  const [, verb = 'statement'] = /^\s*(\w+)/.exec(text) ?? []
  const [, table] = /\b(?:from|into|update)\s+"?([a-z_]+)/i.exec(text) ?? []
  const name = verb.toLowerCase()
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': name }
  return [`postgresql ${name}`, 'CLIENT', { ...attributes, ...(table && { 'db.collection.name': table }) }]
}
