// Clients that read and write the same few cases and documents of a server at once, by a seed, and write down what they were told.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { today } from '../lib/day.ts'
import { type Answer, change, codeOf, request, type Target, typeOf } from './ask.ts'
import type { Operation } from './operation.ts'

export type PlayOptions = {
  seed: number
  /** For so long operations are begun. */
  seconds: number
  clients: number
  zaaktype: string
  /** Undefined: no documents are made, and no locks are asked for. */
  informatieobjecttype: string | undefined
  /** RSIN that cases and documents are of. */
  organisation: string
  /** Milliseconds between two operations of a client. */
  pace?: number
  /** Further operations, each with the share of them. */
  more?: { share: number; run(player: Player): Promise<void> }[]
}
export type Zaak = {
  path: string
  url: string
  identificatie: string
  writes: number
  elements: string[]
  etag: string | undefined
}
type Document = { path: string; lock: string | undefined }
type Asked = Omit<Operation, 'process' | 'invoked' | 'completed' | 'type' | 'status' | 'code'>

/** What one client does operations with. */
export type Player = {
  target: Target
  random(): number
  /** A value that is nobody else's. */
  fresh(): string
  pick<T>(items: readonly T[]): T | undefined
  /** The cases that are played with at this moment. */
  zaken: readonly Zaak[]
  /** Asks it and writes it down. @param read what an answer says, for operations that read */
  note(asked: Asked, read?: (answer: Answer) => Partial<Operation>, target?: Target): Promise<Answer>
}

const ZAKEN = '/zaken/api/v1/zaken'
const OBJECTEN = '/zaken/api/v1/zaakobjecten'
const DOCUMENTEN = '/documenten/api/v1/enkelvoudiginformatieobjecten'
const ZAKEN_AT_ONCE = 4
const DOCUMENTS_AT_ONCE = 2
const WRITES = 25 // then another case is played with
const ELEMENTS = 40 // less than a page
const END_MS = 60_000 // for the reads at the end, when the server was away
const TRIES_MS = 500

/** Where a resource is, below the address of the server; empty for what is no URL of one. */
const pathOf = (url: unknown): string => /\/(zaken|documenten)\/api\/v1\/[^?]+/.exec(String(url))?.[0] ?? ''
const fieldsOf = (body: unknown) => (body ?? {}) as Record<string, unknown>

export const zaakBody = (options: PlayOptions, identificatie: string, toelichting: string) => ({
  bronorganisatie: options.organisation,
  identificatie,
  zaaktype: options.zaaktype,
  verantwoordelijkeOrganisatie: options.organisation,
  startdatum: today(),
  toelichting,
})

/** A server at which no case can be made tells nothing. */
export class CannotPlay extends Error {}

/**
 * @param targets addresses of the same server, which clients take in turns
 * @returns the history, in the order in which operations were completed
 * @throws CannotPlay when the first case is refused
 */
export async function play(targets: readonly [Target, ...Target[]], options: PlayOptions): Promise<Operation[]> {
  const began = performance.now()
  const until = began + options.seconds * 1000
  const history: Operation[] = []
  const zaken: Zaak[] = []
  const all: Zaak[] = []
  const documents: Document[] = []
  const identificaties: string[] = []
  let processes = 0
  let values = 0
  let refusal: unknown
  const run = `${options.seed}-${randomUUID().slice(0, 8)}`

  const newPlayer = (which: number): Player => {
    let process = processes++
    const random = randomFrom(options.seed * 1000 + which)
    const own = targets[which % targets.length]!
    return {
      target: own,
      random,
      zaken,
      fresh: () => `${run}-${values++}`,
      pick: (items) => items[Math.floor(random() * items.length)],
      async note(asked, read, other = own) {
        const invoked = performance.now() - began
        const isChange = ['write', 'add', 'remove', 'lock', 'unlock'].includes(asked.f)
        const answer = isChange
          ? await change(
              other,
              asked.method,
              asked.path,
              asked.body,
              asked.headers,
              `${run}-${process}-${history.length}-${invoked}`,
            )
          : await request(other, asked.method, asked.path, asked.body, asked.headers)
        const type = typeOf(answer)
        const { status } = answer
        const code = codeOf(answer.body)
        history.push({
          process,
          ...asked,
          ...(type === 'ok' && read?.(answer)),
          invoked,
          completed: performance.now() - began,
          type: isChange || type === 'ok' ? type : 'fail', // what was not read tells nothing
          ...(status !== undefined && { status }),
          ...(code !== undefined && { code }),
          ...(answer.earlier && { earlier: answer.earlier }),
        })
        if (type === 'info') process = processes++ // who does not know what he did goes on as another one
        return answer
      },
    }
  }

  const newZaak = async (player: Player) => {
    const [identificatie, value] = [player.fresh(), player.fresh()]
    identificaties.push(identificatie)
    const body = zaakBody(options, identificatie, value)
    const asked = {
      kind: 'set',
      object: identificatie,
      f: 'add',
      value: identificatie,
      method: 'POST',
      path: ZAKEN,
      body,
    } as const
    const { status, body: made, etag } = await player.note(asked)
    const { url } = fieldsOf(made)
    const path = pathOf(url)
    if (status !== 201 || path === '') {
      if (all.length === 0 && status !== undefined && status < 500) refusal = made
      return
    }
    const { invoked, completed } = history.findLast((one) => one.value === identificatie)!
    history.push({
      ...asked,
      process: processes++,
      kind: 'register',
      object: path,
      f: 'write',
      value,
      invoked,
      completed,
      type: 'ok',
    })
    const zaak = { path, url: String(url), identificatie, writes: 0, elements: [], etag: etag ?? undefined }
    all.push(zaak)
    zaken.push(zaak)
  }
  const read = async (player: Player, zaak: Zaak) => {
    const answer = await player.note(
      { kind: 'register', object: zaak.path, f: 'read', value: null, method: 'GET', path: zaak.path },
      ({ body }) => ({ value: String(fieldsOf(body).toelichting) }),
    )
    zaak.etag = answer.etag ?? zaak.etag
    return answer
  }
  const write = async (player: Player, zaak: Zaak, expects?: string) => {
    if (++zaak.writes === WRITES) zaken.splice(zaken.indexOf(zaak), 1)
    const value = player.fresh()
    await player.note({
      kind: 'register',
      object: zaak.path,
      f: 'write',
      value,
      method: 'PATCH',
      path: zaak.path,
      body: { toelichting: value },
      ...(expects !== undefined && { expects, headers: { 'if-match': expects } }),
    })
  }
  const trail = (player: Player, zaak: Zaak) =>
    player.note(
      { kind: 'register', object: zaak.path, f: 'trail', value: null, method: 'GET', path: `${zaak.path}/audittrail` },
      ({ body }) => toTrail(body, zaak.path),
    )
  const listObjects = (player: Player, zaak: Zaak) =>
    player.note(
      {
        kind: 'set',
        object: `zaakobjecten of ${zaak.path}`,
        f: 'list',
        value: null,
        method: 'GET',
        path: `${OBJECTEN}?zaak=${encodeURIComponent(zaak.url)}`,
      },
      ({ body }) => ({ values: resultsOf(body).map(({ relatieomschrijving }) => String(relatieomschrijving)) }),
    )
  const addObject = async (player: Player, zaak: Zaak) => {
    if (zaak.elements.length >= ELEMENTS) return
    const value = player.fresh()
    zaak.elements.push('')
    const body = {
      zaak: zaak.url,
      objectType: 'overige',
      objectTypeOverige: 'history',
      relatieomschrijving: value,
      objectIdentificatie: { overigeData: { value } },
    }
    const { body: made } = await player.note({
      kind: 'set',
      object: `zaakobjecten of ${zaak.path}`,
      f: 'add',
      value,
      method: 'POST',
      path: OBJECTEN,
      body,
    })
    const path = pathOf(fieldsOf(made).url)
    if (path !== '') zaak.elements.push(`${value} ${path}`)
  }
  const removeObject = async (player: Player, zaak: Zaak) => {
    const [value, path] = (player.pick(zaak.elements.filter((one) => one !== '')) ?? '').split(' ')
    if (!value || !path) return
    zaak.elements.splice(zaak.elements.indexOf(`${value} ${path}`), 1)
    await player.note({
      kind: 'set',
      object: `zaakobjecten of ${zaak.path}`,
      f: 'remove',
      value,
      method: 'DELETE',
      path,
    })
  }
  const countIdentificatie = (player: Player, identificatie: string) =>
    player.note(
      {
        kind: 'set',
        object: identificatie,
        f: 'list',
        value: null,
        method: 'GET',
        path: `${ZAKEN}?identificatie=${encodeURIComponent(identificatie)}`,
      },
      ({ body }) => ({ values: resultsOf(body).map((one) => String(one.identificatie)) }),
    )
  const newDocument = async (player: Player) => {
    const value = player.fresh()
    const body = {
      bronorganisatie: options.organisation,
      creatiedatum: today(),
      titel: value,
      auteur: 'history',
      taal: 'nld',
      informatieobjecttype: options.informatieobjecttype,
      inhoud: Buffer.from(value).toString('base64'),
      bestandsomvang: value.length,
      identificatie: value,
    }
    const asked = { kind: 'set', object: value, f: 'add', value, method: 'POST', path: DOCUMENTEN, body } as const
    const path = pathOf(fieldsOf((await player.note(asked)).body).url)
    if (path !== '') documents.push({ path, lock: undefined })
  }
  const lock = async (player: Player, document: Document) => {
    const { body } = await player.note(
      { kind: 'lock', object: document.path, f: 'lock', value: null, method: 'POST', path: `${document.path}/lock` },
      ({ body }) => ({ value: String(fieldsOf(body).lock) }),
    )
    const { lock } = fieldsOf(body)
    if (typeof lock === 'string') document.lock = lock
  }
  const unlock = async (player: Player, document: Document) => {
    if (!document.lock) return
    const value = document.lock
    document.lock = undefined
    await player.note({
      kind: 'lock',
      object: document.path,
      f: 'unlock',
      value,
      method: 'POST',
      path: `${document.path}/unlock`,
      body: { lock: value },
    })
  }

  const step = async (player: Player) => {
    if (zaken.length < ZAKEN_AT_ONCE) return newZaak(player)
    if (options.informatieobjecttype && documents.length < DOCUMENTS_AT_ONCE) return newDocument(player)
    const zaak = player.pick(zaken)!
    const document = player.pick(documents)
    let place = player.random()
    for (const { share, run } of options.more ?? []) {
      if (place < share) return run(player)
      place -= share
    }
    const dice = player.random()
    if (dice < 0.3) return void (await read(player, zaak))
    if (dice < 0.48) return write(player, zaak)
    if (dice < 0.56) return write(player, zaak, zaak.etag)
    if (dice < 0.66) return addObject(player, zaak)
    if (dice < 0.8) return void (await listObjects(player, zaak))
    if (dice < 0.84) return removeObject(player, zaak)
    if (dice < 0.87) return newZaak(player)
    if (dice < 0.9) return void (await trail(player, zaak))
    if (dice < 0.94) return void (await countIdentificatie(player, player.pick(identificaties)!))
    if (document) return player.random() < 0.5 ? lock(player, document) : unlock(player, document)
    await read(player, zaak)
  }
  await Promise.all(
    Array.from({ length: options.clients }, async (_, which) => {
      const player = newPlayer(which)
      while (performance.now() < until && !(refusal && all.length === 0)) {
        await step(player)
        await sleep((options.pace ?? 10) * (0.5 + player.random()))
      }
    }),
  )
  if (all.length === 0) throw new CannotPlay(`no case could be made: ${JSON.stringify(refusal ?? 'no answer')}`)
  // At the end everything is read once more, as often as it takes.
  const last = newPlayer(0)
  const late = performance.now() + END_MS
  const surely = async (look: () => Promise<Answer>) => {
    while (((await look()).status ?? 500) >= 500 && performance.now() < late) await sleep(TRIES_MS)
  }
  for (const zaak of all) {
    await surely(() => read(last, zaak))
    await surely(() => trail(last, zaak))
    await surely(() => listObjects(last, zaak))
  }
  for (const identificatie of identificaties) await surely(() => countIdentificatie(last, identificatie))
  return history
}

const resultsOf = (body: unknown): Record<string, unknown>[] =>
  (fieldsOf(body).results as Record<string, unknown>[] | undefined) ?? []

/** The values that a register had by its trail, and the moments of all lines. Trails come with the oldest line or the newest first. */
function toTrail(body: unknown, path: string): Partial<Operation> {
  type Line = {
    actie: string
    aanmaakdatum: string
    resourceUrl: string
    wijzigingen: { oud?: Fields | null; nieuw?: Fields | null }
  }
  type Fields = Record<string, unknown>
  const lines = (Array.isArray(body) ? body : resultsOf(body)) as Line[]
  const isNewestFirst =
    lines.length > 1 && lines.at(-1)!.actie === 'create' && pathOf(lines.at(-1)!.resourceUrl) === path
  const ordered = isNewestFirst ? lines.toReversed() : lines
  const own = ordered.filter(({ resourceUrl }) => pathOf(resourceUrl) === path)
  const written = own.filter(({ wijzigingen: { oud, nieuw } }) => nieuw && nieuw.toelichting !== oud?.toelichting)
  return {
    values: written.map(({ wijzigingen }) => String(wijzigingen.nieuw!.toelichting)),
    moments: ordered.map(({ aanmaakdatum }) => aanmaakdatum),
  }
}

/** Numbers from 0 to 1, always the same for a seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
