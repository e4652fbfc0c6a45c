// Requests to another installation through the APIs of the standard, as a client of it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { signToken } from '../../autorisaties/clients.ts'
import { paced } from '../pace.ts'
import { SourceUnavailable, UnreadableContents } from '../source.ts'
import { parsed, textOf } from './answer.ts'
import { type Roots, rootedUrl } from './roots.ts'

const TRIES = 5
const HEADERS_MS = 120_000
/** Between two pieces of a body, and for a whole answer: a source that drips must not hold a step. */
const BODY_MS = 60_000
const ANSWER_MS = 10 * 60_000
const DOWNLOAD_MS = 6 * 3_600_000
/** A page of 500 rows is a few MB. What is larger is asked row by row, as what the source cannot show. */
const MAX_JSON = 64 * 2 ** 20
/** Before it ends a token is no longer used: an answer may take that long to begin. */
const TOKEN_SPARE_S = 30

export type Json = Record<string, unknown>
export type ApiClient = {
  /** The address of a path there, as the source names it itself. */
  urlOf(path: string): string
  /**
   * The answer as JSON; `status` 200, or another that is an answer: 204, 400, 403, 404, 406, 410, 412, 500. What is no JSON, or
   * too much of it, is a 500.
   */
  get(path: string): Promise<{ status: number; body: unknown }>
  /**
   * Bytes, undefined when the source has none.
   * @throws UnreadableContents when it shows all but these
   */
  download(path: string): Promise<{ size?: number; stream: AsyncIterable<Uint8Array> } | undefined>
  close(): Promise<void>
}

/** `Retry-After` is a number of seconds, or a date (RFC 9110, 10.2.3). */
function secondsIn(header: string | string[] | undefined): number | undefined {
  const text = String(header ?? '').trim()
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000)
}

/**
 * Asks again while the source is busy (429) or away (502 and up, no answer), five times at most; opens nothing before the
 * first request.
 * @param options `url` ends before `/zaken/api/v1`; `tempo` is requests a second, as fast as it goes when left out
 * @returns functions that throw SourceUnavailable when the source stays away, or does not accept the client
 */
export function apiClient(options: {
  url: string
  /** Where it is asked, when its own name cannot be reached from here. */
  via?: string | undefined
  /** Of a source whose APIs do not stand below one address. */
  roots?: Roots | undefined
  /** Where tokens come from, by client credentials (RFC 6749, 4.4); without it the client signs its own. */
  tokenUrl?: string | undefined
  clientId: string
  secret: string
  connections: number
  tempo?: number | undefined
}): ApiClient {
  const base = (options.via ?? options.url).replace(/\/+$/, '')
  const host = options.via && { host: new URL(options.url).host, 'x-forwarded-host': new URL(options.url).host }
  // At the first request: a worker seldom takes over.
  const open = async () => {
    const { Agent, request } = await import('undici')
    const { connections } = options
    return { request, agent: new Agent({ connections, headersTimeout: HEADERS_MS, bodyTimeout: BODY_MS }) }
  }
  let opened: ReturnType<typeof open> | undefined
  const wait = paced(options.tempo)
  const urlOf = (path: string) => rootedUrl(options.roots, path) ?? options.url.replace(/\/+$/, '') + path
  let issued: { token: string; until: number } | undefined

  /** @throws SourceUnavailable when the issuer gives none */
  async function tokenOf(): Promise<string> {
    const { clientId, secret, tokenUrl } = options
    // A token that we sign ages by its `iat`: each request has its own.
    if (!tokenUrl) return signToken(clientId, secret, { id: 'overnemen', name: 'Zaakstroom overnemen' })
    if (issued && performance.now() < issued.until) return issued.token
    opened ??= open()
    const { request, agent } = await opened
    const { statusCode, body } = await request(tokenUrl, {
      method: 'POST',
      dispatcher: agent,
      signal: AbortSignal.timeout(BODY_MS),
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: secret,
      }).toString(),
    })
    const answer = (parsed(await textOf(body, MAX_JSON)) ?? {}) as { access_token?: unknown; expires_in?: unknown }
    if (statusCode !== 200 || typeof answer.access_token !== 'string')
      throw new SourceUnavailable(`${statusCode}: no token for the client id`)
    const seconds = Math.max(1, Number(answer.expires_in ?? 60) - TOKEN_SPARE_S)
    issued = { token: answer.access_token, until: performance.now() + seconds * 1000 }
    return issued.token
  }

  /** One request, again while the source asks for that or breaks off; `read` takes the answer. */
  async function ask<T>(path: string, ms: number, read: (answer: Dispatcher.ResponseData) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      await wait(1)
      const last = attempt === TRIES
      try {
        const token = await tokenOf()
        opened ??= open()
        const { request, agent } = await opened
        const answer = await request(rootedUrl(options.roots, path) ?? base + path, {
          dispatcher: agent,
          signal: AbortSignal.timeout(ms),
          headers: { authorization: `Bearer ${token}`, accept: '*/*', 'accept-crs': 'EPSG:4326', ...host },
        })
        if (answer.statusCode !== 429 && answer.statusCode < 502) return await read(answer)
        await answer.body.dump()
        if (last) throw new SourceUnavailable(String(answer.statusCode))
        await sleep(Math.min(60, secondsIn(answer.headers['retry-after']) ?? 2 ** attempt) * 1000)
      } catch (error) {
        if (error instanceof SourceUnavailable || error instanceof UnreadableContents) throw error
        if (last) throw new SourceUnavailable((error as { code?: string }).code ?? 'no answer')
        await sleep(2 ** attempt * 250)
      }
    }
  }

  return {
    urlOf,
    get: (path) =>
      ask(path, ANSWER_MS, async ({ statusCode: status, headers, body }) => {
        if (status === 401) {
          await body.dump()
          throw new SourceUnavailable('401: the client id or its secret is not accepted')
        }
        const isJson = String(headers['content-type'] ?? '').includes('json')
        const text = isJson ? await textOf(body, MAX_JSON) : undefined
        if (!isJson) await body.dump()
        const value = parsed(text)
        if (value !== undefined) return { status, body: value }
        return { status: status === 200 ? 500 : status, body: undefined }
      }),
    download: (path) =>
      ask(path, DOWNLOAD_MS, async ({ statusCode: status, headers, body }) => {
        if (status === 200) {
          const length = headers['content-length']
          return { ...(length !== undefined && { size: Number(length) }), stream: body }
        }
        await body.dump()
        if (status === 204 || status === 404 || status === 410) return undefined
        if (status === 401) throw new SourceUnavailable('401')
        throw new UnreadableContents(String(status))
      }),
    close: async () => (await opened)?.agent.close(),
  }
}
