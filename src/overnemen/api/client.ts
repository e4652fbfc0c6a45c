// Requests to another installation through the APIs of the standard, as a client of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { signToken } from '../../autorisaties/clients.ts'
import { paced } from '../pace.ts'

const TRIES = 5
const HEADERS_MS = 120_000
const BODY_MS = 300_000

export type Json = Record<string, unknown>
export type ApiClient = {
  /** The answer as JSON; `status` 200, or another that is an answer: 204, 400, 403, 404, 406, 410, 412, 500. */
  get(path: string): Promise<{ status: number; body: unknown }>
  /** Bytes, undefined when the source has none. */
  download(path: string): Promise<{ omvang?: number; stream: AsyncIterable<Uint8Array> } | undefined>
  close(): Promise<void>
}

/** The source does not answer, or not as an API does: the job that asked runs again later. */
export class SourceUnavailable extends Error {
  override name = 'SourceUnavailable'
  readonly code: string
  constructor(code: string) {
    super(`the source is unavailable: ${code}`)
    this.code = code
  }
}

/** `Retry-After` is a number of seconds, or a date (RFC 9110, 10.2.3). */
function secondsIn(header: string | string[] | undefined): number | undefined {
  const text = String(header ?? '').trim()
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000)
}

export function apiClient(options: {
  url: string
  clientId: string
  secret: string
  connections: number
  tempo?: number | undefined
}): ApiClient {
  const base = options.url.replace(/\/+$/, '')
  const agent = new Agent({ connections: options.connections, headersTimeout: HEADERS_MS, bodyTimeout: BODY_MS })
  const wait = paced(options.tempo)

  async function ask(path: string) {
    for (let attempt = 1; ; attempt++) {
      await wait(1)
      const last = attempt === TRIES
      try {
        // A token ages by its `iat`: each request has its own.
        const token = signToken(options.clientId, options.secret, { id: 'overnemen', name: 'Zaakstroom overnemen' })
        const answer = await request(base + path, {
          dispatcher: agent,
          headers: { authorization: `Bearer ${token}`, accept: '*/*', 'accept-crs': 'EPSG:4326' },
        })
        if (answer.statusCode !== 429 && answer.statusCode < 502) return answer
        await answer.body.dump()
        if (last) throw new SourceUnavailable(String(answer.statusCode))
        await sleep(Math.min(60, secondsIn(answer.headers['retry-after']) ?? 2 ** attempt) * 1000)
      } catch (error) {
        if (last || error instanceof SourceUnavailable)
          throw error instanceof SourceUnavailable
            ? error
            : new SourceUnavailable((error as { code?: string }).code ?? 'no answer')
        await sleep(2 ** attempt * 250)
      }
    }
  }

  return {
    async get(path) {
      const { statusCode: status, headers, body } = await ask(path)
      if (status === 401) {
        await body.dump()
        throw new SourceUnavailable('401: the client id or its secret is not accepted')
      }
      if (!String(headers['content-type'] ?? '').includes('json')) {
        await body.dump()
        return { status: status === 200 ? 500 : status, body: undefined }
      }
      return { status, body: await body.json() }
    },
    async download(path) {
      const { statusCode: status, headers, body } = await ask(path)
      if (status === 200) {
        const length = headers['content-length']
        return { ...(length !== undefined && { omvang: Number(length) }), stream: body }
      }
      await body.dump()
      if (status === 204 || status === 404 || status === 410) return undefined
      throw new SourceUnavailable(String(status))
    },
    close: () => agent.close(),
  }
}
