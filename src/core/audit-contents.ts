// What a record of the audit trail holds of a change: the addresses of the main object and of the changed one, and that one before
// and after. As JSON with numbers of persons sealed, deflated against a dictionary of what such records say, it takes a tenth. Each
// record stands by itself: what was before is in it, and costs nothing where it is the same after. So a trail may lose any of its
// records, and two changes at the same time need not know of each other.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Numbers } from '../lib/numbers.ts'
import { DICTIONARIES, NEWEST } from './audit-dictionary.ts'

export type Contents = { hoofdObject: string; resourceUrl: string; oud: unknown; nieuw: unknown }
/** Columns of the record that its contents are deflated with: most of their uuids are these. */
export type Uuids = { hoofdObjectUuid: string; resourceUuid: string | null }
/** `made`: members of the object after the change that the database made. */
export type Packed = Uuids & { packed: Uint8Array; made: unknown }

/** Text beyond this is deflated in less time, and not as far. What is smaller needs few tables, whose making is most of the work. */
const LARGE = 64 * 1024

export const pack = (numbers: Numbers, uuids: Uuids, { hoofdObject, resourceUrl, oud, nieuw }: Contents): Buffer =>
  deflated(numbers.seal(JSON.stringify([hoofdObject, resourceUrl, oud ?? null, nieuw ?? null])), uuids)

/** The members of both objects are in the order of jsonb: shorter names first. @throws KeyMissing */
export function unpack(numbers: Numbers, { packed, made, ...uuids }: Packed): Contents {
  const [hoofdObject, resourceUrl, oud, nieuw] = JSON.parse(numbers.open(inflated(packed, uuids)))
  return { hoofdObject, resourceUrl, oud: inOrder(oud), nieuw: inOrder(made ? { ...nieuw, ...made } : nieuw) }
}

/** The first byte says which dictionary. @param text JSON of a list of what `Contents` has */
export function deflated(text: string, uuids: Uuids): Buffer {
  const size = text.length > LARGE ? { level: 1 } : { level: 6, memLevel: 5 }
  const dictionary = dictionaryOf(NEWEST, uuids)
  return Buffer.concat([Buffer.of(NEWEST), deflateRawSync(text, { ...size, dictionary })])
}

export function inflated(packed: Uint8Array, uuids: Uuids): string {
  return inflateRawSync(packed.subarray(1), { dictionary: dictionaryOf(packed[0], uuids) }).toString()
}

function dictionaryOf(version: number | undefined, { hoofdObjectUuid, resourceUuid }: Uuids): Buffer {
  const texts = DICTIONARIES[version ?? 0]
  if (!texts) throw new Error(`audit records have no dictionary ${version}`)
  return Buffer.concat([texts, Buffer.from(`${hoofdObjectUuid}${resourceUuid ?? ''}`.toLowerCase())])
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, inner]) => ({ name, bytes: Buffer.from(name), inner }))
  members.sort((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes))
  return Object.fromEntries(members.map(({ name, inner }) => [name, inOrder(inner)]))
}
