// Plays what changed here since the switch to the APIs of the other installation. What is here now is what counts: an object is made, is
// given the fields that differ, or is removed. All of it can be done again at any point, and then does only what is left.
import { systemActor } from '../../core/access.ts'
import { expected } from '../../database/rows.ts'
import { FEEDS } from '../../feed/kinds.ts'
import { PATHS } from '../../http/links.ts'
import type { Json } from '../api/client.ts'
import { type Page, rowsPast } from '../api/pages.ts'
import { differing, isSame, NOT_YET, withoutNulls } from './body.ts'
import { makeDocument, updateDocument } from './documents.ts'
import type { Item, PlayRemark, State } from './journal.ts'
import { BACK, type BackKind, backKindOf, REMOVED } from './kinds.ts'
import { unreadable, withRepair } from './repair.ts'
import {
  bodyOf,
  inTheirWords,
  NotTaken,
  type Playback,
  refuse,
  remark,
  requireTaken,
  sendWithout,
  uuidOfAnswer,
} from './send.ts'

const DOCUMENT = 'enkelvoudiginformatieobject'

/**
 * Plays all that is written down, and ends when nothing more can be done.
 * @param told after each object
 * @throws SourceUnavailable when the other side does not answer: doing it again goes on
 */
export async function play(playback: Playback, signal: AbortSignal, told: () => void): Promise<void> {
  const tried = async (
    kind: BackKind,
    states: State[],
    work: (item: Item, ours: Json | undefined) => Promise<void>,
  ) => {
    const counts = { done: 0, refused: 0 }
    for await (const items of playback.journal.items(kind.name, states)) {
      const found = await load(playback, kind, items)
      for (const item of items) {
        signal.throwIfAborted()
        try {
          await work(item, found.get(item.row_id))
          counts.done++
        } catch (error) {
          if (!(error instanceof NotTaken)) throw error
          counts.refused++
          await playback.journal.save(item, { remarks: await withRepair(playback, kind, item, error.remarks) })
        }
        told()
      }
    }
    return counts
  }

  await refuseOthers(playback)
  for (const kind of BACK) await tried(kind, ['sent'], (item, ours) => settle(playback, kind, item, ours))
  for (const name of REMOVED) {
    const kind = expected(backKindOf(name))
    await tried(kind, ['waiting'], async (item, ours) => {
      if (!ours) await remove(playback, kind, item)
    })
  }
  // What is refused may need something that comes later. A pass in which nothing more succeeds is the last.
  for (let refused = Number.POSITIVE_INFINITY; ; ) {
    let left = 0
    for (const kind of BACK) {
      const made = await tried(kind, ['waiting'], async (item, ours) => {
        if (!ours || !item.made_here || item.there) return
        await create(playback, kind, item, ours)
      })
      left += made.refused
      for (const one of BACK)
        if (one.late.length === 0 && (one.after ?? one.name) === kind.name) left += (await compareAll(one)).refused
    }
    if (left === 0 || left >= refused) break
    refused = left
  }
  for (const kind of BACK) if (kind.late.length > 0) await compareAll(kind)
  for (const kind of BACK)
    await tried(kind, ['waiting', 'made'], async (item) => {
      await playback.journal.save(item, { state: 'refused' })
    })
  await playback.journal.done()

  function compareAll(kind: BackKind) {
    return tried(kind, ['waiting', 'made'], async (item, ours) => {
      if (!ours || (item.made_here && !item.there)) return
      await compare(playback, kind, item, ours)
    })
  }
}

/** Types, and what only the administration has, are not in the APIs that cases and documents are played to. */
async function refuseOthers({ journal }: Playback): Promise<void> {
  for (const name of Object.keys(FEEDS.catalogi.kinds))
    for await (const items of journal.items(name, ['refused']))
      for (const item of items)
        if (item.remarks.length === 0)
          await journal.save(item, {
            remarks: [
              {
                ...remark('type', '', 'Een type dat na de omschakeling is gemaakt, gewijzigd of verwijderd.'),
                outcome: 'geweigerd',
              },
            ],
          })
}

/** Our objects as our APIs show them, by the key of their row; what is gone is not in it. */
async function load(
  { reader, base }: Playback,
  { component, name }: BackKind,
  items: Item[],
): Promise<Map<number, Json>> {
  const feed = expected(Object.values(FEEDS).find((one) => one.component === component))
  const { load: read } = expected(feed.kinds[name])
  const viewer = { reader, base, actor: systemActor('terugspelen', base) }
  const found = await read(
    viewer,
    items.map(({ row_id }) => row_id),
  )
  return new Map(found.map(({ id, json }) => [id, JSON.parse(json) as Json]))
}

/** The collection there: of some kinds below the case. */
async function collectionOf({ journal }: Playback, { path }: BackKind, { main }: Item): Promise<string> {
  if (typeof path === 'string') return path
  const zaak = expected(main)
  return `${PATHS.zaak}/${(await journal.names([zaak])).get(zaak) ?? zaak}/${path.below}`
}

/** Whether the other side makes it by itself, with the relation of ours that it mirrors. */
const isMirror = ({ base }: Playback, { name }: BackKind, ours: Json) =>
  (name === 'objectinformatieobject' && String(ours.object).startsWith(`${base}/`)) ||
  (name === 'zaakbesluit' && String(ours.besluit).startsWith(`${base}/`))

async function remove(playback: Playback, kind: BackKind, item: Item): Promise<void> {
  const { target, journal, dry } = playback
  const isMain = typeof kind.path === 'string' && !kind.owner
  // What went with its case, document or besluit goes there with it; the mirror of a relation goes with that.
  const nothing =
    (item.made_here && !item.there) ||
    (!isMain && item.main === null) ||
    ['objectinformatieobject', 'zaakbesluit'].includes(kind.name)
  if (nothing) return journal.save(item, { state: 'equal', remarks: [] })
  const path = `${await collectionOf(playback, kind, item)}/${item.there ?? item.uuid}`
  if (dry) {
    const { status } = await target.ask('GET', path)
    return journal.save(item, { state: status === 404 ? 'equal' : 'deleted' })
  }
  const answer = await target.ask('DELETE', path)
  if (answer.status !== 404) requireTaken(answer)
  await journal.save(item, { state: 'deleted', remarks: [] })
}

async function create(playback: Playback, kind: BackKind, item: Item, ours: Json): Promise<void> {
  const { target, journal, dry } = playback
  if (isMirror(playback, kind, ours)) return journal.save(item, { state: 'equal' })
  const label = await labelOf(playback, item, ours)
  const theirs = await inTheirWords(playback, ours)
  if (dry) {
    await requireTypes(playback, theirs)
    return journal.save(item, { state: 'created', label })
  }
  const missing = kind.required.filter((name) => theirs[name] === NOT_YET)
  if (missing.length > 0)
    throw new NotTaken(
      missing.map((name) => ({
        ...remark('verwijzing', name, 'Waar dit naar verwijst is daar niet.'),
        outcome: 'geweigerd',
      })),
    )
  await journal.save(item, { state: 'sent', label })
  const made = await answered(playback, item, async () => {
    if (kind.name === DOCUMENT) return makeDocument(playback, item)
    const body = bodyOf(kind, await withMoment(playback, kind, item, theirs))
    const path = await collectionOf(playback, kind, item)
    const { answer } = await sendWithout(target, 'POST', path, withoutNulls(body) as Json, kind.required)
    return uuidOfAnswer(answer)
  })
  await journal.save(item, { state: 'made', there: made, remarks: [] })
}

/** What the other side refused is not there: it waits again. Of what gave no answer nothing is known. */
async function answered<T>({ journal }: Playback, item: Item, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NotTaken) await journal.save(item, { state: 'waiting' })
    throw error
  }
}

/** The end of a case is the day of its last status as the client saw it: the moment is told with the offset that gives our day. */
async function withMoment({ reader }: Playback, { name }: BackKind, { main }: Item, theirs: Json): Promise<Json> {
  if (name !== 'status' || main === null) return theirs
  const rows = await reader.sql<{ einddatum: string | null }[]>`select einddatum from zaak where uuid = ${main}`
  const day = rows[0]?.einddatum
  const at = new Date(String(theirs.datumStatusGezet))
  for (const hours of [0, 1, 2]) {
    const shifted = new Date(at.getTime() + hours * 3_600_000).toISOString()
    if (hours > 0 && shifted.slice(0, 10) === day && at.toISOString().slice(0, 10) !== day)
      return { ...theirs, datumStatusGezet: `${shifted.slice(0, 19)}+0${hours}:00` }
  }
  return theirs
}

/** Whether a create whose answer was lost arrived: what is there and says the same, and is known as nothing else. */
async function settle(playback: Playback, kind: BackKind, item: Item, ours: Json | undefined): Promise<void> {
  const { journal } = playback
  const found = ours && (await findThere(playback, kind, item, ours))
  if (found) return journal.save(item, { state: 'made', there: found })
  await journal.save(item, { state: 'waiting' })
}

async function findThere(playback: Playback, kind: BackKind, item: Item, ours: Json): Promise<string | undefined> {
  const { target, journal } = playback
  const theirs = await inTheirWords(playback, ours)
  const body = bodyOf(kind, theirs)
  const query = new URLSearchParams()
  if (kind.number) for (const name of kind.number) query.set(name, String(theirs[name]))
  else if (kind.owner) query.set(kind.owner, String(theirs[kind.owner]))
  const collection = await collectionOf(playback, kind, item)
  const fields = kind.number ?? Object.keys(body)
  const seen: string[] = []
  const among = async (rows: Json[]) => {
    seen.push(...rows.map(uuidOfAnswer))
    const known = await journal.known(rows.map(uuidOfAnswer))
    return rows.find(
      (row) =>
        !known.has(uuidOfAnswer(row)) && fields.every((name) => !(name in row) || isPartOf(body[name], row[name])),
    )
  }
  for (let path: string | undefined = `${collection}?${query}`; path; ) {
    const { status, body: page } = await target.ask('GET', path)
    const { results = page, next } = (page ?? {}) as { results?: unknown; next?: string | null }
    if (status === 404) return undefined
    if (status !== 200) {
      // One row that cannot be shown may be the one that is looked for: nothing is made a second time.
      const past = await rowsPast(
        (at, size) => pageOf(target, `${collection}?${query}&page=${at}&pageSize=${size}`),
        1,
        100,
      )
      const same = past && (await among(past.rows))
      if (same) return uuidOfAnswer(same)
      throw unreadable(kind, item, seen)
    }
    const same = await among((Array.isArray(results) ? results : []) as Json[])
    if (same) return uuidOfAnswer(same)
    path = next?.startsWith(target.base) ? next.slice(target.base.length) : undefined
  }
  return undefined
}

async function pageOf(target: Playback['target'], path: string): Promise<Page> {
  const { status, body } = await target.ask('GET', path)
  const { results = body } = (body ?? {}) as { results?: unknown }
  return { status, results: (Array.isArray(results) ? results : []) as Json[] }
}

/** Whether all that the first says stands in the second. */
function isPartOf(ours: unknown, theirs: unknown): boolean {
  if (ours === null || typeof ours !== 'object' || Array.isArray(ours)) return isSame(ours, theirs)
  return Object.entries(ours).every(([name, inner]) => isPartOf(inner, (theirs as Json | null)?.[name]))
}

async function compare(playback: Playback, kind: BackKind, item: Item, ours: Json): Promise<void> {
  const { target, journal, dry } = playback
  if (isMirror(playback, kind, ours)) return journal.save(item, { state: 'equal' })
  const label = await labelOf(playback, item, ours)
  if (kind.name === DOCUMENT) {
    const { versions, remarks } = await updateDocument(playback, item)
    const state = item.state === 'made' ? 'created' : versions > 0 ? 'changed' : 'equal'
    return journal.save(item, { state, label, remarks: [...renamed(playback, kind, item), ...remarks] })
  }
  const path = `${await collectionOf(playback, kind, item)}/${item.there ?? item.uuid}`
  const answer = await target.ask('GET', path)
  if (answer.status === 404)
    throw refuse(
      'ontbreekt',
      'Het object is er daar niet: het is daar verwijderd, of voor de omschakeling hier gemaakt.',
    )
  let theirs = requireTaken(answer)
  const wanted = await inTheirWords(playback, ours)
  const before = differing(wanted, theirs, kind.derived)
  const changes = Object.fromEntries(
    before.differ.flatMap((name) => (wanted[name] === NOT_YET ? [] : [[name, wanted[name]]])),
  )
  const remarks: PlayRemark[] = []
  let isChanged = false
  if (kind.change && Object.keys(changes).length > 0) {
    if (dry) return journal.save(item, { state: 'changed', label })
    const body = kind.change === 'PATCH' ? changes : bodyOf({ ...kind, late: [] }, wanted)
    const sent = await sendWithout(target, kind.change, path, body, kind.change === 'PATCH' ? [] : kind.required)
    remarks.push(...sent.remarks)
    isChanged = true
    theirs = requireTaken(await target.ask('GET', path))
  }
  const after = differing(wanted, theirs, kind.derived)
  const told = new Set(remarks.map(({ field }) => field))
  for (const name of after.differ)
    if (!told.has(name)) remarks.push(remark('waarde-anders', name, 'Dit veld is daar anders gebleven.'))
  remarks.push(...after.unknown.map((name) => remark('veld-onbekend', name, 'De andere kant kent dit veld niet.')))
  const state = item.state === 'made' ? 'created' : isChanged ? 'changed' : 'equal'
  await journal.save(item, { state, label, remarks: [...renamed(playback, kind, item), ...remarks] })
}

/** Where an object that was made here stands there. */
const renamed = ({ target }: Playback, { path }: BackKind, { there }: Item): PlayRemark[] =>
  there && typeof path === 'string'
    ? [remark('adres-anders', 'url', 'Het object heeft daar een ander adres.', `${target.base}${path}/${there}`)]
    : []

/** What people know an object by: its own number, or that of what it belongs to. */
async function labelOf({ reader }: Playback, { main }: Item, { identificatie }: Json): Promise<string> {
  if (typeof identificatie === 'string' && identificatie !== '') return identificatie
  if (main === null) return ''
  const rows = await reader.sql<{ identificatie: string }[]>`
    select identificatie from zaak where uuid = ${main} union all select identificatie from besluit where uuid = ${main}
    union all select identificatie from enkelvoudiginformatieobject where uuid = ${main}`
  return rows[0]?.identificatie ?? ''
}

const typesThere = new WeakMap<object, Map<string, boolean>>()
/** In a dry run: types that are not there are what refuses most. @throws NotTaken */
async function requireTypes({ target }: Playback, theirs: Json): Promise<void> {
  const known = typesThere.get(target) ?? new Map<string, boolean>()
  typesThere.set(target, known)
  for (const [name, value] of Object.entries(theirs)) {
    if (typeof value !== 'string' || !value.startsWith(`${target.base}/catalogi/`)) continue
    if (!known.has(value)) known.set(value, (await target.ask('GET', value.slice(target.base.length))).status === 200)
    if (!known.get(value)) throw refuse('type-ontbreekt', 'Dit type is er daar niet.', name)
  }
}
