// objectTypeOverigeDefinitie: what a client says himself of the kind of an object: where its JSON schema is found, and which
// part of the object has to keep to it.
import { Worker } from 'node:worker_threads'
import Type, { type Static } from 'typebox'
import { fault, type InvalidParam, Problem } from '../core/problem.ts'
import { Text } from '../http/input.ts'
import { resolveLink } from '../http/links.ts'
import type { Services } from '../services/services.ts'
import { inTurnOfAll } from '../telemetry/current-organisation.ts'

export const Definition = Type.Object({
  url: Type.String({ format: 'uri', minLength: 1, maxLength: 1000 }),
  schema: Text(100, { minLength: 1 }),
  objectData: Text(100, { minLength: 1 }),
})
export type Definition = Static<typeof Definition>

/** What the thread is given: two answers of other servers, as text, and the jq for each. */
export type Assignment = { objecttype: string; schema: string; object: string; objectData: string }
export type Step = 'schema' | 'objectData' | 'object'
/** What it says: which step it begins, and at the end where it went wrong. */
export type SchemaVerdict = { stap: Step } | { fout: Step | null }

const FAULTS: Record<Step, InvalidParam> = {
  schema: fault('objectTypeOverigeDefinitie.schema', 'invalid', 'Hiermee wordt geen JSON-schema gevonden.'),
  objectData: fault('objectTypeOverigeDefinitie.objectData', 'invalid', 'Hiermee worden geen gegevens gevonden.'),
  object: fault('object', 'invalid-schema', 'De gegevens van het object voldoen niet aan het schema.'),
}

/** What is wrong with a definitie and the object that it is about: asked before a transaction begins. */
export async function definitionFaults(
  services: Services,
  { url, schema, objectData }: Definition,
  object: string,
  base: string,
): Promise<InvalidParam[]> {
  const [type, found] = await Promise.all([fetchJson(services, url, base), fetchJson(services, object, base)])
  if (type === undefined) return [fault('objectTypeOverigeDefinitie.url', 'invalid', 'Hier is geen JSON op te vragen.')]
  if (found === undefined) return [fault('object', 'invalid', 'Van dit object is geen JSON op te vragen.')]
  const fout = await threads(() => runThread({ objecttype: type, schema, object: found, objectData }))
  return fout ? [FAULTS[fout]] : []
}

async function fetchJson(services: Services, url: string, base: string): Promise<string | undefined> {
  if (resolveLink(url, base).kind !== 'elsewhere') return undefined
  const fetched = await services.fetchJson(url)
  return fetched.kind === 'ok' && fetched.body !== undefined ? JSON.stringify(fetched.body) : undefined
}

const DEADLINE_MS = 3000
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }

/** @returns the step at which it failed, or took too long; null when all is well */
function runThread(workerData: Assignment): Promise<Step | null> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./object-schema-thread.ts', import.meta.url), {
      workerData,
      env: {},
      resourceLimits: LIMITS,
      stdout: true, // what jq or its runtime prints is nobody's business
      stderr: true,
    })
    let step: Step | undefined
    let result: Step | null | undefined
    let timer: NodeJS.Timeout | undefined
    let failure: unknown
    worker.on('message', (said: SchemaVerdict) => {
      if ('fout' in said) result = said.fout
      else step = said.stap
      timer ??= setTimeout(() => worker.terminate(), DEADLINE_MS) // counts from the first step: starting is our affair
    })
    worker.on('error', (error) => {
      failure = error
    })
    worker.on('exit', () => {
      clearTimeout(timer)
      const outcome = result === undefined ? step : result
      if (outcome === undefined) reject(failure ?? new Error('the thread for jq did not start'))
      else resolve(outcome)
    })
  })
}

// Two threads at once, whoever asks for more.
const threads = inTurnOfAll(2, 100, () => new Problem(503, { headers: { 'retry-after': '5' } }), 30_000)
