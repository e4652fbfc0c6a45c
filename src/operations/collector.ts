// The collector of the log of processing, over OTLP/HTTP: spans for lines, and what its answer says of them. Only an
// ExportTraceServiceResponse without rejected spans confirms (the standard: each line must be confirmed). The exporter of OpenTelemetry
// throws the body of an answer away, so the request is our own.
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import { readHeaders } from '../lib/headers.ts'

const SEND_MS = 10_000
/** Bytes of one request, but for a single span that is larger. */
const MOST_BYTES = 1_000_000
const MOST_ANSWER = 64 * 1024
/** Lines that are set aside of one portion. When a collector refuses more, it is not the lines that it refuses. */
const MOST_ASIDE = 20
/** The statuses by which a collector refuses what it was sent. All others say something of the collector itself. */
const REFUSALS = new Set([400, 413, 422])
const LONGEST_RETRY_MS = 3_600_000

export type Line = {
  id: number
  at: string
  ms: number
  activiteit: string
  handeling: string
  client_id: string
  applicatie_weergave: string
  gebruikers_id: string
  gebruikers_weergave: string
  zaken: string[]
  objecten: string[]
  /** JSON as it is stored, with its numbers sealed. */
  betrokkenen: string | null
  lookups: string[] | null
  trace: string
  parent: string | null
  request_id: string
}

/** A line that the collector refused by itself. */
export type Aside = { id: number; reason: string }

/**
 * Gets lines to the collector.
 * @param beat called before each request: it throws when somebody else sends by now
 * @returns those that it refused by themselves; all others it confirmed
 * @throws CollectorAway when it did not take them
 */
export type Send = (lines: readonly Line[], beat: () => Promise<void>) => Promise<Aside[]>

/** The collector takes nothing now, or what answers is none. */
export class CollectorAway extends Error {
  /** How long it asked to be left alone. */
  readonly retryAfterMs: number
  constructor(reason: string, retryAfterMs = 0) {
    super(reason)
    this.retryAfterMs = retryAfterMs
  }
}

type Span = { line: number; json: string }

/** What takes lines: the settings say where it is. */
export function openCollector(config: Config): { send: Send; check(): Promise<void> } {
  const url = `${(config.logboekEndpoint ?? '').replace(/\/$/, '')}/v1/traces`
  const headers = { ...readHeaders(config.logboekHeaders ?? ''), 'content-type': 'application/json' }
  const attributes = attributesOf({
    'service.name': config.otelServiceName,
    'service.version': packageJson.version,
    'service.instance.id': `${hostname()}/${process.pid}`,
  })
  const resource = JSON.stringify({ attributes })
  /** @returns why it refused these; undefined: it confirmed them */
  const post = async (spans: readonly Span[]): Promise<string | undefined> => {
    const scope = `{"scope":{"name":"zaakstroom logboek"},"spans":[${spans.map(({ json }) => json).join()}]}`
    const body = `{"resourceSpans":[${spans.length > 0 ? `{"resource":${resource},"scopeSpans":[${scope}]}` : ''}]}`
    return judge(await exchange(url, headers, body))
  }
  const check = async () => {
    const refused = await post([])
    if (refused !== undefined) throw new CollectorAway(`it refuses an empty request: ${refused}`)
  }
  const send: Send = async (lines, beat) => {
    const aside = new Map<number, string>()
    const deliver = async (spans: readonly Span[]): Promise<void> => {
      await beat()
      const refused = await post(spans)
      const [first] = spans
      if (refused === undefined || !first) return
      if (spans.length > 1) {
        const half = Math.ceil(spans.length / 2)
        await deliver(spans.slice(0, half))
        return deliver(spans.slice(half))
      }
      if (aside.size === 0) await check()
      aside.set(first.line, refused)
      if (aside.size > MOST_ASIDE) throw new CollectorAway(`it refuses line after line: ${refused}`)
    }
    for (const spans of inRequests(lines.flatMap(spansOf))) await deliver(spans)
    return [...aside].map(([id, reason]) => ({ id, reason }))
  }
  return { send, check }
}

type Exchange = { status: number; retryAfter: string | undefined; text: string }

async function exchange(url: string, headers: Record<string, string>, body: string): Promise<Exchange> {
  const { request } = await import('undici') // a worker without this log starts without it
  try {
    const answer = await request(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(SEND_MS) })
    let text = ''
    for await (const chunk of answer.body.setEncoding('utf8')) {
      text += chunk
      if (text.length > MOST_ANSWER) break
    }
    return { status: answer.statusCode, retryAfter: [answer.headers['retry-after']].flat()[0], text }
  } catch (error) {
    throw new CollectorAway(error instanceof Error ? error.message : String(error))
  }
}

/** @returns why it refused what it was sent; undefined: it confirmed all of it @throws CollectorAway */
function judge({ status, retryAfter, text }: Exchange): string | undefined {
  if (REFUSALS.has(status)) return `status ${status}`
  if (status < 200 || status > 299) throw new CollectorAway(`status ${status}`, millisecondsIn(retryAfter))
  const { rejected, message } = partialSuccessIn(text)
  return rejected > 0 ? `${rejected} rejected: ${message.slice(0, 200)}` : undefined
}

/** What an ExportTraceServiceResponse says (OTLP/HTTP in JSON). @throws CollectorAway when it is none */
function partialSuccessIn(text: string): { rejected: number; message: string } {
  const none = () => new CollectorAway('its answer is no ExportTraceServiceResponse: is this a collector?')
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw none()
  }
  if (answer === null || typeof answer !== 'object' || Array.isArray(answer)) throw none()
  const { partialSuccess = {}, ...others } = answer as Record<string, unknown>
  if (Object.keys(others).length > 0 || partialSuccess === null || typeof partialSuccess !== 'object') throw none()
  const { rejectedSpans = 0, errorMessage = '' } = partialSuccess as Record<string, unknown>
  return { rejected: Number(rejectedSpans), message: String(errorMessage) } // a number of 64 bits is a text in JSON
}

/** RFC 9110, 10.2.3: seconds or a date. */
function millisecondsIn(retryAfter: string | undefined): number {
  if (!retryAfter) return 0
  const given = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now()
  return Number.isFinite(given) ? Math.min(Math.max(given, 0), LONGEST_RETRY_MS) : 0
}

function* inRequests(spans: readonly Span[]): Generator<Span[]> {
  let some: Span[] = []
  let bytes = 0
  for (const span of spans) {
    if (some.length > 0 && bytes + span.json.length > MOST_BYTES) {
      yield some
      some = []
      bytes = 0
    }
    some.push(span)
    bytes += span.json.length
  }
  if (some.length > 0) yield some
}

/** What the register of each number is called. */
const ID_TYPES: Record<string, string> = { inpBsn: 'BSN', anpIdentificatie: 'ANP', inpA_nummer: 'A-nummer' }
const IDENTIFIER_TYPES: Record<string, string> = { bsn: 'BSN', kvkNummer: 'KVK-nummer' }

/** Somebody whom a line is about: one of his numbers or more, and of a line of several cases his own. */
type Person = { zaken?: string[]; rollen?: string[]; identifierType?: string } & Record<string, unknown>

/**
 * The spans of a line. One that is about several persons has a span for itself, with all that it touched, and one below it for each person,
 * with his own cases: all cases in the span of each would be their square. The ids are the same each time that the line is sent.
 */
function spansOf(line: Line): Span[] {
  const persons: Person[] = line.betrokkenen ? JSON.parse(line.betrokkenen) : []
  const [first] = persons
  const only = first && persons.length === 1 ? subjectOf(first, line.lookups?.[0]) : {}
  const act = spanOf(line, 0, line.parent, only, line)
  if (persons.length < 2) return [act]
  const actId = spanId(line, 0)
  return [
    act,
    ...persons.map((person, at) => {
      const own = { zaken: person.zaken ?? line.zaken, objecten: person.rollen ?? line.objecten }
      return spanOf(line, at + 1, actId, subjectOf(person, line.lookups?.[at]), own)
    }),
  ]
}

function subjectOf({ identifierType, ...person }: Person, lookup: string | undefined) {
  const found = Object.entries(person).find(([member]) => member in ID_TYPES || member === 'identifier')
  const type = found && (ID_TYPES[found[0]] ?? IDENTIFIER_TYPES[identifierType ?? 'bsn'] ?? found[0])
  return {
    ...(found && { 'dpl.core.data_subject_id': String(found[1]), 'dpl.core.data_subject_id_type': type }),
    ...(lookup && { 'zaakstroom.data_subject_pseudonym': lookup }),
  }
}

function spanOf(
  line: Line,
  place: number,
  parent: string | null,
  subject: Record<string, string | undefined>,
  { zaken, objecten }: { zaken: string[]; objecten: string[] },
): Span {
  const begin = Date.parse(line.at)
  const json = JSON.stringify({
    traceId: line.trace,
    spanId: spanId(line, place),
    ...(parent && { parentSpanId: parent }),
    name: line.handeling,
    kind: 1,
    startTimeUnixNano: `${begin}000000`,
    endTimeUnixNano: `${begin + line.ms}000000`,
    attributes: attributesOf({
      'dpl.core.processing_activity_id': line.activiteit,
      'dpl.core.foreign_operation.span_id': line.parent ?? undefined,
      'zaakstroom.handeling': line.handeling,
      'zaakstroom.client_id': line.client_id,
      'zaakstroom.applicatie': line.applicatie_weergave,
      'zaakstroom.user_id': line.gebruikers_id,
      'zaakstroom.user_representation': line.gebruikers_weergave,
      'zaakstroom.zaken': zaken,
      'zaakstroom.objecten': objecten,
      'zaakstroom.request_id': line.request_id,
      ...subject,
    }),
    status: {},
  })
  return { line: line.id, json }
}

/** Of all that tells a line from every other, also of another organisation, or after a restore that gave its number again. */
const spanId = (line: Line, place: number): string =>
  createHash('sha256')
    .update(`verwerking ${line.id} ${place} ${line.trace} ${line.at} ${line.request_id} ${line.handeling}`)
    .digest('hex')
    .slice(0, 16)

const attributesOf = (values: Record<string, string | string[] | undefined>) =>
  Object.entries(values).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [
          {
            key,
            value: Array.isArray(value)
              ? { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } }
              : { stringValue: value },
          },
        ],
  )
