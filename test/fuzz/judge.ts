// Whether an answer is right: a status that the document of the operation names, JSON by its schema, a refusal in the shape of
// the standard that gives nothing away.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { SECRET } from '../app.ts'
import type { Ask } from './ask.ts'
import type { World } from './world.ts'

export type Answer = { status: number; type: string; text: string; ms: number }

/** No answer may take longer, also on a machine that is busy. */
export const ANSWER_MS = 20_000

/** What any request may be answered, whatever the operation: what is wrong is its form. */
const OF_FORM = [400, 403, 404, 405, 406, 408, 413, 414, 415, 417, 429, 431]
const INNARDS =
  /node_modules|\.ts:\d|\bat [\w.]+ \(|PostgresError|violates|duplicate key|relation "|syntax error at|\/tmp\/|\/home\//

/** @returns the judge of one world: it says what is wrong with an answer, if anything */
export function makeJudge(world: World): (ask: Ask, answer: Answer) => string | undefined {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
  for (const [component, document] of world.documents) ajv.addSchema(document, component)
  return (ask, { status, type, text, ms }) => {
    const { operation, method } = ask
    const asked = method === operation.method
    if (status >= 500) return `${status}`
    if (status < 200) return `no answer (${text})`
    if (ms > ANSWER_MS) return `${Math.round(ms)} ms`
    if (ask.refused && status < 400) return `${status} though it has to be refused`
    if (asked && !operation.answers.has(status) && !OF_FORM.includes(status)) return `${status} is not in the document`
    if (status >= 400) return judgeProblem(method, status, type, text)
    if (!asked || method === 'HEAD') return undefined
    const pointer = operation.answers.get(status)
    if (!pointer) return undefined
    const validate = ajv.getSchema(`${operation.component}#/${pointer}`)
    if (!validate) return `no schema at ${pointer}`
    if (validate(JSON.parse(text))) return undefined
    const [{ instancePath, message } = { instancePath: '', message: '' }] = validate.errors ?? []
    return `${status} is not by its schema: ${instancePath.replace(/\d+/g, 'n')} ${message}`
  }
}

function judgeProblem(method: string, status: number, type: string, text: string): string | undefined {
  if (method === 'HEAD') return undefined
  if (!type.startsWith('application/problem+json')) return `${status} is ${type || 'nothing'}, not problem+json`
  if (INNARDS.test(text)) return `${status} tells of the inside`
  if (text.includes(SECRET)) return `${status} tells a secret`
  const body = JSON.parse(text)
  if (body.status !== status) return `${status} says ${body.status}`
  for (const field of ['type', 'code', 'title', 'detail', 'instance'])
    if (typeof body[field] !== 'string' || body[field] === '') return `${status} lacks ${field}`
  for (const param of body.invalidParams ?? [])
    for (const field of ['name', 'code', 'reason'])
      if (typeof param[field] !== 'string') return `${status}: a fault lacks ${field}`
  return undefined
}
