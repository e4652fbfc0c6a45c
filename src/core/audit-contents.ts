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

/** Nearly all texts are below it. Small tables and buffers are half the time, and what zlib allocates makes the garbage collector run. */
const SMALL = 8 * 1024
const FOR_SMALL = { memLevel: 5, windowBits: 14, chunkSize: 1024 }
/** Text beyond this is deflated in less time, and not as far. */
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
  const size = text.length <= SMALL ? FOR_SMALL : { level: text.length > LARGE ? 1 : 6 }
  return Buffer.concat([Buffer.of(NEWEST), deflateRawSync(text, { ...size, dictionary: dictionaryOf(NEWEST, uuids) })])
}

export function inflated(packed: Uint8Array, uuids: Uuids): string {
  const chunkSize = packed.length <= FOR_SMALL.chunkSize ? 4096 : 64 * 1024
  return inflateRawSync(packed.subarray(1), { chunkSize, dictionary: dictionaryOf(packed[0], uuids) }).toString()
}

const UUID_LENGTH = 36
/** With room for two uuids: zlib takes what is there at the moment. */
const dictionaries = new Map(
  Object.entries(DICTIONARIES).map(([version, texts]) => [
    Number(version),
    Buffer.concat([texts], texts.length + 2 * UUID_LENGTH),
  ]),
)

function dictionaryOf(version: number | undefined, { hoofdObjectUuid, resourceUuid }: Uuids): Buffer {
  const dictionary = dictionaries.get(version ?? 0)
  if (!dictionary) throw new Error(`audit records have no dictionary ${version}`)
  const end = dictionary.length - 2 * UUID_LENGTH
  const length = dictionary.write(`${hoofdObjectUuid}${resourceUuid ?? ''}`.toLowerCase(), end, 'latin1')
  return dictionary.subarray(0, end + length)
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, inner]) => ({ name, bytes: Buffer.from(name), inner }))
  members.sort((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes))
  return Object.fromEntries(members.map(({ name, inner }) => [name, inOrder(inner)]))
}
