// The other installation, as a client of its APIs that writes. A request of which no answer came is never sent again by itself: whoever
// sent it looks first whether it arrived.
import type { Dispatcher } from 'undici'
import { signToken } from '../../autorisaties/clients.ts'
import type { ReadSql } from '../../database/database.ts'
import { parsed, textOf } from '../api/answer.ts'
import type { Json } from '../api/client.ts'
import { paced } from '../pace.ts'
import { SourceUnavailable } from '../source.ts'

const HEADERS_MS = 120_000
const ANSWER_MS = 10 * 60_000
const UPLOAD_MS = 6 * 3_600_000
const MAX_JSON = 16 * 2 ** 20

export type Answer = { status: number; body: unknown }
/** Bytes with their number, for a part of an upload. */
export type Part = { lock: string; name: string; size: number; bytes: AsyncIterable<Uint8Array> }
export type Target = {
  /** How it names itself before /zaken/api/v1, without slash at the end: behind a proxy that may be another address than it is asked at. */
  base: string
  /** @throws SourceUnavailable when no answer came, and then what was asked may have been done */
  ask(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: Json): Promise<Answer>
  upload(path: string, part: Part): Promise<Answer>
  close(): Promise<void>
}

/**
 * Opens nothing before the first request.
 * @param tempo requests a second at most
 */
export function openTarget(options: {
  url: string
  clientId: string
  secret: string
  tempo?: number | undefined
}): Target {
  const url = options.url.replace(/\/+$/, '')
  const open = async () => {
    const { Agent, request } = await import('undici')
    return { request, agent: new Agent({ connections: 2, headersTimeout: HEADERS_MS, bodyTimeout: HEADERS_MS }) }
  }
  let opened: ReturnType<typeof open> | undefined
  const wait = paced(options.tempo)

  async function send(
    method: Dispatcher.HttpMethod,
    path: string,
    ms: number,
    given: { headers: Record<string, string>; body?: string | AsyncIterable<Uint8Array> },
  ): Promise<Answer> {
    await wait(1)
    opened ??= open()
    const { request, agent } = await opened
    let answer: Dispatcher.ResponseData
    let text: string | undefined
    try {
      answer = await request(url + path, {
        method,
        dispatcher: agent,
        signal: AbortSignal.timeout(ms),
        headers: {
          authorization: `Bearer ${signToken(options.clientId, options.secret, { id: 'terugspelen', name: 'Zaakstroom terugspelen' })}`,
          accept: 'application/json',
          'accept-crs': 'EPSG:4326',
          'content-crs': 'EPSG:4326',
          'x-audit-toelichting': 'Teruggespeeld uit Zaakstroom',
          ...given.headers,
        },
        ...(given.body !== undefined && { body: given.body as string }),
      })
      text = await textOf(answer.body, MAX_JSON)
    } catch (error) {
      throw new SourceUnavailable((error as { code?: string }).code ?? 'no answer')
    }
    const { statusCode: status, headers } = answer
    if (status === 429 || status >= 502) throw new SourceUnavailable(String(status))
    if (status === 401) throw new SourceUnavailable('401: the client id or its secret is not accepted')
    return { status, body: String(headers['content-type'] ?? '').includes('json') ? parsed(text) : undefined }
  }

  return {
    base: url,
    ask: (method, path, body) =>
      send(method, path, ANSWER_MS, {
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    upload(path, { lock, name, size, bytes }) {
      const boundary = `zaakstroom-${crypto.randomUUID()}`
      const begin = Buffer.from(
        `--${boundary}\r\ncontent-disposition: form-data; name="lock"\r\n\r\n${lock}\r\n` +
          `--${boundary}\r\ncontent-disposition: form-data; name="inhoud"; filename="${name.replace(/[^\w.-]/g, '_') || 'deel'}"\r\n` +
          'content-type: application/octet-stream\r\n\r\n',
      )
      const end = Buffer.from(`\r\n--${boundary}--\r\n`)
      async function* whole() {
        yield begin
        yield* bytes
        yield end
      }
      return send('PUT', path, UPLOAD_MS, {
        headers: {
          'content-type': `multipart/form-data; boundary=${boundary}`,
          'content-length': String(begin.length + size + end.length),
        },
        body: whole(),
      })
    },
    close: async () => (await opened)?.agent.close(),
  }
}

/**
 * Asks for a case, by which it also tells how it names itself: for one that was taken over, and only when there is none for a page of
 * cases, which one damaged row keeps from being shown.
 * @param known uuids of cases that were taken over
 * @returns the status of the last answer
 */
export async function meet(target: Target, known: string[] = []): Promise<number> {
  let last = 404
  for (const path of [...known.map((uuid) => `/${uuid}`), '?page=1', '?page=1&pageSize=1', '?page=2&pageSize=1']) {
    const { status, body } = await target.ask('GET', `/zaken/api/v1/zaken${path}`)
    const { results, url = results?.[0]?.url } = (body ?? {}) as { url?: unknown; results?: { url?: unknown }[] }
    const [, named] = /^(https?:.*)\/zaken\/api\/v1\/zaken\//.exec(String(url ?? '')) ?? []
    if (named !== undefined) target.base = named
    last = status
    if (status === 200 || status === 403) break
  }
  return last
}

/** Some cases that the other side had when it was taken over from it. */
export async function knownCases(sql: ReadSql, takeover: number): Promise<string[]> {
  const rows = await sql<{ uuid: string }[]>`
    select uuid from takeover_object where takeover_id = ${takeover} and kind = 'zaak' order by uuid limit 5`
  return rows.map(({ uuid }) => uuid)
}
