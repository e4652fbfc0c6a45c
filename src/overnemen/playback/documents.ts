// Documents: each version that was made here since the switch becomes a version there, with its bytes: small ones in the request, larger
// ones in the parts that the other side asks for.
import { expected } from '../../database/rows.ts'
import { toDocument } from '../../documenten/document/columns.ts'
import { type DocumentRow, findDocument } from '../../documenten/document/read.ts'
import { PATHS } from '../../http/links.ts'
import type { Json } from '../api/client.ts'
import { differing, NOT_YET } from './body.ts'
import type { Item, PlayRemark } from './journal.ts'
import { backKindOf } from './kinds.ts'
import { bodyOf, inTheirWords, type Playback, refuse, remark, requireTaken, sendWithout, uuidOfAnswer } from './send.ts'

const { enkelvoudiginformatieobject: PATH, bestandsdeel: PART_PATH } = PATHS
/** What is larger goes in parts, and is never in memory as a whole. */
const WHOLE_BYTES = 4 * 2 ** 20

type Version = { versie: number; file_id: number | null; size: number | null }

async function versionsOf({ reader }: Playback, uuid: string): Promise<Version[]> {
  return [
    ...(await reader.sql<Version[]>`
      select v.versie, v.file_id, f.size from enkelvoudiginformatieobject e
      join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id
      left join file f on f.id = v.file_id where e.uuid = ${uuid} order by v.versie`),
  ]
}

/** Makes the document there as its first version is. @returns its uuid there */
export async function makeDocument(playback: Playback, { uuid }: Item): Promise<string> {
  const [version] = await versionsOf(playback, uuid)
  const { row, body } = await describe(playback, uuid, expected(version))
  if (row.fileId === null && (row.bestandsdelen ?? []).length > 0)
    throw refuse('upload-onaf', 'De upload van dit document is hier niet af.')
  if (body.indicatieGebruiksrecht === true) delete body.indicatieGebruiksrecht // its gebruiksrechten say so, when they come
  Object.assign(body, await contentOf(playback, row))
  const kind = expected(backKindOf('enkelvoudiginformatieobject'))
  const { answer } = await sendWithout(playback.target, 'POST', PATH, body, [
    ...kind.required,
    'inhoud',
    'bestandsomvang',
  ])
  if (isOpen(answer)) await finishUpload(playback, answer, row)
  return uuidOfAnswer(answer)
}

/** Makes the versions that are not there. @returns how many there were, and remarks on the document as it is then */
export async function updateDocument(
  playback: Playback,
  item: Item,
): Promise<{ versions: number; remarks: PlayRemark[] }> {
  const { target, journal, dry } = playback
  const { uuid, there, made_here } = item
  const path = `${PATH}/${there ?? uuid}`
  let theirs = requireTaken(await target.ask('GET', path))
  const versions = await versionsOf(playback, uuid)
  // One that was made here has its versions in our order, which may have gaps; another has the same numbers on both sides.
  const place = made_here
    ? Number(theirs.versie)
    : versions.filter(({ versie }) => versie <= Number(theirs.versie)).length
  const next = versions.slice(place)
  const remarks: PlayRemark[] = []
  if (dry) return { versions: next.length, remarks }
  if (theirs.locked === true) {
    const { row } = await describe(playback, uuid, expected(versions[Math.max(0, place - 1)]))
    if (isOpen(theirs))
      await finishUpload(playback, theirs, row) // a command was killed in it
    else if (item.locked || next.length > 0) requireTaken(await target.ask('POST', `${path}/unlock`, {}))
  }
  for (const [at, version] of next.entries()) {
    const before = versions[place + at - 1]
    const { row, body } = await describe(playback, uuid, version)
    const same = before !== undefined && before.file_id === version.file_id
    await journal.save(item, { locked: true })
    const { lock } = requireTaken(await target.ask('POST', `${path}/lock`, {})) as { lock?: string }
    theirs = requireTaken(await target.ask('GET', path))
    const { differ } = differing(body, theirs, [])
    const changes = Object.fromEntries(differ.map((name) => [name, body[name]]))
    const content = same ? {} : await contentOf(playback, row, true)
    const sent = { titel: body.titel, ...changes, ...content, lock: lock ?? '' }
    const { answer, remarks: refused } = await sendWithout(target, 'PATCH', path, sent, [
      'titel',
      'lock',
      ...Object.keys(content),
    ])
    remarks.push(...refused)
    if (isOpen(answer)) await finishUpload(playback, { ...answer, url: theirs.url, lock }, row)
    else requireTaken(await target.ask('POST', `${path}/unlock`, { lock }))
  }
  if (item.locked || next.length > 0) await journal.save(item, { locked: false })
  return { versions: next.length, remarks: [...remarks, ...(await remarksOn(playback, uuid, path))] }
}

/** How the document there differs from ours after all. */
async function remarksOn(playback: Playback, uuid: string, path: string): Promise<PlayRemark[]> {
  const theirs = requireTaken(await playback.target.ask('GET', path))
  const row = expected(await findDocument(playback.reader.db, uuid))
  const ours = await inTheirWords(playback, toDocument(row, playback.base) as unknown as Json)
  const { derived } = expected(backKindOf('enkelvoudiginformatieobject'))
  const { differ, unknown } = differing(ours, theirs, derived)
  const remarks = differ.map((name) => remark('waarde-anders', name, 'Dit veld is daar anders gebleven.'))
  remarks.push(...unknown.map((name) => remark('veld-onbekend', name, 'De andere kant kent dit veld niet.')))
  if (Number(theirs.versie) !== row.versie)
    remarks.push(remark('versie-anders', 'versie', 'De versie heeft daar een ander nummer.', String(theirs.versie)))
  if (row.lock !== null) remarks.push(remark('slot', 'locked', 'Het document is hier op slot, en daar niet.'))
  if ((theirs.inhoud === null) !== (row.fileId === null))
    remarks.push(remark('inhoud', 'inhoud', 'De inhoud is daar niet zoals hier.'))
  return remarks
}

async function describe(
  playback: Playback,
  uuid: string,
  { versie }: Version,
): Promise<{ row: DocumentRow; body: Json }> {
  const row = expected(await findDocument(playback.reader.db, uuid, { versie }))
  const theirs = await inTheirWords(playback, toDocument(row, playback.base) as unknown as Json)
  const kind = expected(backKindOf('enkelvoudiginformatieobject'))
  if (theirs.informatieobjecttype === NOT_YET) throw refuse('type-nieuw', 'Het type is na de omschakeling gemaakt.')
  return { row, body: bodyOf(kind, theirs) }
}

const isOpen = ({ bestandsdelen }: Json) => Array.isArray(bestandsdelen) && bestandsdelen.length > 0

/** Its bytes as fields of a request: in it, or announced. */
async function contentOf({ stores }: Playback, row: DocumentRow, empties = false): Promise<Json> {
  if (row.fileId === null) return empties ? { inhoud: null, bestandsomvang: null } : {}
  const size = Number(row.size)
  if (size > WHOLE_BYTES) return { inhoud: null, bestandsomvang: size }
  const chunks: Buffer[] = []
  for await (const chunk of await readBytes(stores, row)) chunks.push(chunk)
  return { inhoud: Buffer.concat(chunks).toString('base64'), bestandsomvang: size }
}

/** @throws NotTaken when the bytes are gone here */
async function readBytes(stores: Playback['stores'], row: DocumentRow, range?: { start: number; end: number }) {
  const found = await stores.storeFor(expected(row.backend)).read(expected(row.key), range)
  if (!found) throw refuse('bestand-ontbreekt', 'Het bestand is hier niet in de opslag.')
  return found.stream as AsyncIterable<Buffer>
}

/** Sends the parts that are not there, and unlocks, which puts them together. */
async function finishUpload({ target, stores }: Playback, document: Json, row: DocumentRow): Promise<void> {
  const parts = document.bestandsdelen as {
    url: string
    volgnummer: number
    omvang: number
    voltooid: boolean
    lock?: string
  }[]
  const lock = String(document.lock || parts.find((part) => part.lock)?.lock || '')
  let start = 0
  for (const part of parts.toSorted((a, b) => a.volgnummer - b.volgnummer)) {
    const end = start + part.omvang - 1
    if (!part.voltooid) {
      const bytes = await readBytes(stores, row, { start, end })
      const path = `${PART_PATH}/${uuidOfAnswer(part)}`
      requireTaken(await target.upload(path, { lock, name: row.bestandsnaam, size: part.omvang, bytes }))
    }
    start = end + 1
  }
  requireTaken(await target.ask('POST', `${PATH}/${uuidOfAnswer(document)}/unlock`, { lock }))
}
