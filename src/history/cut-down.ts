// A history that fails, cut down to the few operations that it fails by, and these as a script to try again.
import { type Anomaly, judge } from './judge.ts'
import type { Operation } from './operation.ts'

/** The fewest operations of an object, found by leaving out one after the other, that still show the same anomaly of it. */
export function cutDown(history: readonly Operation[], { anomaly, kind, object }: Anomaly): Operation[] {
  const shows = (some: readonly Operation[]) => judge(some).some((one) => one.anomaly === anomaly)
  let left = history.filter((one) => one.kind === kind && one.object === object)
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < left.length; ) {
      const fewer = left.toSpliced(from, size)
      if (shows(fewer)) left = fewer
      else from += size
    }
  return left
}

/**
 * A script that asks these operations again, those beside each other that were beside each other. What is of a case begins with making
 * one, as it was made in the history.
 */
export function toScript(
  history: readonly Operation[],
  operations: readonly Operation[],
  { anomaly, object, what }: Anomaly,
): string {
  const made = history.find((one) => one.f === 'write' && one.method === 'POST' && object.endsWith(one.object))
  const steps = operations.filter((one) => one !== made).sort((a, b) => a.invoked - b.invoked)
  const lines = steps.map(
    ({ process, method, path, body, headers, invoked, completed, f, value, values, type, status }, index) => {
      const before = steps.slice(0, index).findLastIndex((one) => one.completed < invoked)
      const seen = JSON.stringify(values ?? value)
      return `// ${Math.round(invoked)} to ${Math.round(completed)} ms, process ${process}: ${f} ${seen} was ${type} (${status ?? 'no answer'})
step(${before}, '${method}', ${JSON.stringify(path)}, ${JSON.stringify(body)}, ${JSON.stringify(headers)})`
    },
  )
  return `// ${anomaly} of ${object}: ${what}
// URL=https://zaken.example.nl TOKEN=… node this-file.mjs
const { URL: base, TOKEN } = process.env
const ask = async (method, path, body, headers) => {
  const answer = await fetch(base + path, {
    method,
    headers: { authorization: \`Bearer \${TOKEN}\`, 'content-type': 'application/json', 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326', ...headers },
    body: body && JSON.stringify(body),
  })
  return { status: answer.status, body: await answer.json().catch(() => undefined) }
}
const object = ${made ? `new globalThis.URL((await ask('POST', ${JSON.stringify(made.path)}, ${JSON.stringify(made.body)})).body.url).pathname` : 'undefined'}
const here = (text) => (object ? text?.replaceAll(${JSON.stringify(made?.object ?? '')}, object) : text)
const steps = []
// A step begins when the one that had ended before it has ended.
const step = (after, method, path, body, headers) => {
  const index = steps.length
  steps.push(Promise.resolve(steps[after]).then(() => ask(method, here(path), body && JSON.parse(here(JSON.stringify(body))), headers)))
  void steps[index].then(({ status, body }) => console.log(index, method, here(path), status, JSON.stringify(body)))
}
${lines.join('\n')}
await Promise.all(steps)
`
}
