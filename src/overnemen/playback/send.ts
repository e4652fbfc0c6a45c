// What the parts of a playback share: our side, the other side, and how something is sent and judged.
import type { Reader } from '../../database/database.ts'
import type { Stores } from '../../documenten/storage/choose.ts'
import type { Json } from '../api/client.ts'
import { isEmpty, rewritten, uuidsIn } from './body.ts'
import type { Journal, PlayRemark } from './journal.ts'
import type { BackKind } from './kinds.ts'
import type { Answer, Target } from './target.ts'

export type Playback = {
  reader: Reader
  stores: Pick<Stores, 'storeFor'>
  /** Our own address, as it stands in our answers. */
  base: string
  target: Target
  journal: Journal
  /** Nothing is sent that changes anything. */
  dry: boolean
}

/** What the other side does not take of this object, for who reads the report. */
export class NotTaken extends Error {
  override name = 'NotTaken'
  readonly remarks: PlayRemark[]
  constructor(remarks: PlayRemark[]) {
    super('the other side refused it')
    this.remarks = remarks
  }
}

const refusal = (code: string, text: string, field = '', value = ''): PlayRemark => ({
  outcome: 'geweigerd',
  code,
  field,
  value,
  text,
})
export const refuse = (code: string, text: string, field = '', value = ''): NotTaken =>
  new NotTaken([refusal(code, text, field, value)])
export const remark = (code: string, field: string, text: string, value = ''): PlayRemark => ({
  outcome: 'gemarkeerd',
  code,
  field,
  value,
  text,
})

/** An object of ours with the addresses of the other side. */
export async function inTheirWords({ base, target, journal }: Playback, object: Json): Promise<Json> {
  const names = await journal.names([...new Set(uuidsIn(object, base))])
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, rewritten(value, base, target.base, names)]),
  )
}

type Fault = { name: string; reason: string }
function faultsOf({ body }: Answer): Fault[] {
  const { invalidParams } = (body ?? {}) as { invalidParams?: unknown }
  if (!Array.isArray(invalidParams)) return []
  return invalidParams.map((one: { name?: unknown; reason?: unknown }) => ({
    name: String(one?.name ?? ''),
    reason: quoted(String(one?.reason ?? '')),
  }))
}
/** Of another service's words, never the number of a person: an A-number has ten digits. */
const quoted = (text: string) => text.replace(/\d{8,}/g, '…').slice(0, 300)

/** @throws NotTaken with what the answer says */
export function requireTaken(answer: Answer): Json {
  const { status, body } = answer
  if (status < 300) return (body ?? {}) as Json
  const faults = faultsOf(answer)
  if (faults.length > 0) throw new NotTaken(faults.map(({ name, reason }) => refusal('veld', reason, name)))
  const { detail } = (body ?? {}) as { detail?: unknown }
  throw refuse(
    status === 403 ? 'recht' : status >= 500 ? 'fout' : 'regel',
    typeof detail === 'string' ? quoted(detail) : `De andere kant antwoordt met status ${status}.`,
  )
}

const TRIES = 6

/**
 * Sends an object, and again without the fields that are refused where it can do without: for these there is a remark.
 * @throws NotTaken when it is refused as a whole
 */
export async function sendWithout(
  target: Target,
  method: 'POST' | 'PUT' | 'PATCH',
  path: string,
  given: Json,
  required: readonly string[],
): Promise<{ answer: Json; remarks: PlayRemark[] }> {
  const body = { ...given }
  const remarks: PlayRemark[] = []
  for (let attempt = 1; ; attempt++) {
    const answer = await target.ask(method, path, body)
    const faults = answer.status === 400 && attempt < TRIES ? faultsOf(answer) : []
    const fields = [...new Set(faults.map(({ name }) => name.split('.')[0] ?? ''))]
    if (fields.length === 0 || !fields.every((name) => name in body && !required.includes(name)))
      return { answer: requireTaken(answer), remarks }
    for (const name of fields) {
      delete body[name]
      const reason = faults.find((fault) => fault.name.split('.')[0] === name)?.reason ?? ''
      remarks.push(remark('veld', name, `De andere kant neemt dit veld niet aan: ${reason}`))
    }
    if (method === 'PATCH' && Object.keys(body).every((name) => name === 'lock')) return { answer: {}, remarks }
  }
}

/** The body that makes an object: what says nothing is left out, so that the other side fills it in as it does. */
export const bodyOf = ({ derived, late }: BackKind, theirs: Json): Json =>
  Object.fromEntries(
    Object.entries(theirs).filter(
      ([name, value]) =>
        !derived.includes(name) && !late.includes(name) && typeof value !== 'symbol' && !isEmpty(value),
    ),
  )

/** The last part of the address in an answer. */
export const uuidOfAnswer = ({ url }: Json): string => String(url ?? '').replace(/^.*\//, '')
