// One operation: asked of the server, with what became of it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Operation } from './operation.ts'

export type Target = {
  /** Where the server is: `/zaken/api/v1` and the others lie below it. */
  url: string
  token(): string
  /** Whether changes carry an `Idempotency-Key`, and are asked again with it when no answer came. */
  usesKeys?: boolean
}
export type Answer = {
  status: number | undefined
  body: unknown
  etag: string | null
  /** What the same request was answered before; null: nothing. */
  earlier?: (number | null)[]
}

const ANSWER_MS = 15_000
const REPETITIONS = 8
const PAUSE_MS = 250
const FOR_THE_MOMENT = new Set<number | undefined>([409, 429, 503])

/** One request, with a body of JSON, or of CSV when it is a text; `status` is undefined when no answer came. */
export async function request(
  target: Target,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  try {
    const answer = await fetch(`${target.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${target.token()}`,
        'accept-crs': 'EPSG:4326',
        ...(body !== undefined && {
          'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
          'content-crs': 'EPSG:4326',
        }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const text = await answer.text()
    return { status: answer.status, body: parsed(text), etag: answer.headers.get('etag') }
  } catch {
    return { status: undefined, body: undefined, etag: null }
  }
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

export const codeOf = (body: unknown): string | undefined => (body as { code?: string } | undefined)?.code

/**
 * What became of it. A server that fails (5xx) may have done it, unless it says `service_unavailable`: with that ours promises
 * that nothing was done.
 */
export function typeOf({ status, body }: Pick<Answer, 'status' | 'body'>): Operation['type'] {
  if (status === undefined || status === 408) return 'info'
  if (status < 300) return 'ok'
  return status < 500 || codeOf(body) === 'service_unavailable' ? 'fail' : 'info'
}

/** The same, for a change: with a key it is asked until it is known what became of it. */
export async function change(
  target: Target,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> | undefined,
  key: string,
): Promise<Answer> {
  const takesKey = target.usesKeys === true && (method === 'POST' || method === 'PATCH')
  const ask = () =>
    request(target, method, path, body, { ...headers, ...(takesKey && { 'idempotency-key': `"${key}"` }) })
  let answer = await ask()
  const earlier: (number | null)[] = []
  for (let again = 0; takesKey && again < REPETITIONS && typeOf(answer) === 'info'; again++) {
    earlier.push(answer.status ?? null)
    await sleep(PAUSE_MS * (again + 1))
    const next = await ask()
    // What is refused for this moment says nothing of what was asked before.
    if (!FOR_THE_MOMENT.has(next.status)) answer = next
  }
  return { ...answer, ...(earlier.length > 0 && { earlier }) }
}
