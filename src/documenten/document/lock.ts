// lock and unlock. A lock has no end: it is given back with its id, or taken away with the forced scope. Giving it back
// also ends an upload in parts: the parts become the content of the latest version.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import Type from 'typebox'
import type { Actor } from '../../core/actor.ts'
import { refuseBeforeSwitch } from '../../core/before-switch.ts'
import type { Mutation } from '../../core/mutate.ts'
import { notFound, Problem } from '../../core/problem.ts'
import { isUnavailable } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import { takeWhole } from '../../http/content.ts'
import { OptionalText } from '../../http/input.ts'
import { jsonParser } from '../../http/json.ts'
import { documentenKanaal, documentLabel } from '../kanaal.ts'
import { GEFORCEERD_UNLOCK, LOCK, lockAccess, mayDo, UNLOCK, unlockAccess } from '../rights.ts'
import type { Stores } from '../storage/choose.ts'
import { newKey, type Store, type StoredBytes, StoreUnavailable } from '../storage/index.ts'
import { closeUpload, insertFile } from './bytes.ts'
import { changeDocument, type DocumentChange } from './change.ts'
import { type DocumentPatch, toDocument } from './columns.ts'
import { discard } from './content.ts'
import { holdDocument } from './hold.ts'
import { newLock, requireCompleteUpload, requireLocked, requireUnlockedForLock, unlockKind } from './lock-rules.ts'
import { findDocument, Params } from './read.ts'

const Lock = Type.Object({ lock: Type.String() })
const Unlock = Type.Object({ lock: OptionalText(100) })

export const locks: FastifyPluginAsyncTypebox = async (app) => {
  const parse = jsonParser(app)
  app.removeContentTypeParser('application/json')
  // Many clients announce JSON and send nothing.
  takeWhole(app, 'application/json', async (request, body) => (body.byteLength === 0 ? {} : parse(request, body)))

  app.post(
    '/enkelvoudiginformatieobjecten/:uuid/lock',
    { config: lockAccess, schema: { params: Params, response: { 200: Lock } } },
    async (request) =>
      app.mutate(request.actor, async (m) => {
        m.unrecorded('the standard keeps no record of locks')
        await refuseBeforeSwitch(m)
        const row = await holdDocument(m, request.params.uuid)
        if (!mayDo(m.actor, LOCK, row)) throw notFound() // what one may not lock does not exist here
        requireUnlockedForLock(row.lock)
        const lock = newLock()
        await setLock(m, row.id, lock)
        return { lock }
      }),
  )

  app.post(
    '/enkelvoudiginformatieobjecten/:uuid/unlock',
    {
      config: unlockAccess,
      schema: { params: Params, body: Unlock, response: { 204: Type.Unsafe<void>({}) } },
      preValidation: async (request) => {
        request.body ??= {}
      },
    },
    async (request, reply) => {
      await unlock(app, request.actor, request.params.uuid, request.body.lock ?? '')
      return reply.code(204).send()
    },
  )
}

async function setLock(m: Mutation, documentId: number, lock: string | null): Promise<void> {
  await m.trx.updateTable('enkelvoudiginformatieobject').set({ lock }).where('id', '=', documentId).execute()
}

type UploadPart = {
  id: number
  omvang: number
  fileId: number | null
  backend: string | null
  key: string | null
}
/** The parts of an upload, joined. */
export type Joined = { bestanden: number[]; bytes: StoredBytes }

/** Parts have to be joined before the document can be unlocked: nothing was done. */
class PartsToJoin extends Error {}

/**
 * Joining parts can take minutes, so it happens outside a transaction: the first pass sees that there is something to
 * join and is taken back, the second finds the same parts and writes the result down. Parts that changed in between are joined anew.
 */
async function unlock(app: FastifyInstance, actor: Actor, uuid: string, given: string): Promise<void> {
  const { store } = app.parts
  let joined: Joined | undefined
  for (let attempt = 1; attempt <= 5; attempt++) {
    try {
      const ahead = joined
      const { used } = await app.mutate(actor, async (m) => {
        const end = await tryUnlock(m, store, uuid, given, ahead)
        if (!end.done) throw new PartsToJoin() // a key of the request is kept by the pass that unlocks
        return end
      })
      return used && !actor.key?.isReplayed ? undefined : await discard(store, ahead?.bytes ?? null)
    } catch (error) {
      if (!(error instanceof PartsToJoin)) {
        if (!isUnavailable(error)) await discard(store, joined?.bytes ?? null)
        throw error
      }
    }
    await discard(store, joined?.bytes ?? null)
    joined = await joinParts(app, uuid)
  }
  await discard(store, joined?.bytes ?? null)
  throw new Problem(409, { detail: 'De bestandsdelen veranderen nog: probeer het opnieuw.' })
}

/** @returns whether it is done, or parts have to be joined first; and whether what was joined is used */
async function tryUnlock(
  m: Mutation,
  store: Store,
  uuid: string,
  given: string,
  joined: Joined | undefined,
): Promise<{ done: boolean; used: boolean }> {
  m.unrecorded('the standard keeps no record of locks')
  await refuseBeforeSwitch(m)
  const row = await holdDocument(m, uuid)
  if (!mayDo(m.actor, UNLOCK, row)) throw notFound()
  const kind = unlockKind(row.lock, given, mayDo(m.actor, GEFORCEERD_UNLOCK, row))
  if (kind === 'niets') return { done: true, used: false }
  let used = false
  const parts = await findBestandsdelen(m, uuid)
  if (kind === 'gewoon') requireCompleteUpload(parts)
  const there = parts.flatMap(({ fileId }) => fileId ?? [])
  const inhoud = (values: object) =>
    m.trx
      .updateTable('enkelvoudiginformatieobjectVersie')
      .set({ ...values, beginRegistratie: sql`moment_from(begin_registratie)` })
      .where('enkelvoudiginformatieobjectId', '=', row.id)
      .where('versie', '=', row.versie)
      .execute()
  if (there.length > 0 && there.length < parts.length) {
    await closeUpload(m, row.id) // by force: what had come is given up
    await inhoud({ bestandsomvang: null })
  } else if (there.length === 1) {
    await inhoud({ fileId: there[0] }) // a single part is the whole already
    await closeUpload(m, row.id)
  } else if (there.length > 1) {
    if (joined?.bestanden.join() !== there.join()) return { done: false, used }
    used = true
    await inhoud({ fileId: await insertFile(m, store.backend, joined.bytes) })
    await closeUpload(m, row.id)
  }
  await setLock(m, row.id, null)
  return { done: true, used }
}

/**
 * Takes away the lock that somebody left on a document. Unlike an unlock by a client it leaves a record and is announced: whoever
 * had the lock did not do it. The actor has the forced scope.
 * @param joined what `joinParts` made just before
 * @param catalogus of its type, when that stands elsewhere
 * @returns as `tryUnlock`
 * @throws Problem 400 `unlocked`
 */
export async function forceUnlock(
  m: Mutation,
  store: Store,
  { uuid, joined, catalogus }: { uuid: string; joined: Joined | undefined; catalogus: string },
): Promise<{ done: boolean; used: boolean }> {
  const before = await holdDocument(m, uuid)
  requireLocked(before.lock)
  const end = await tryUnlock(m, store, uuid, '', joined)
  const after = expected(await findDocument(m.read, uuid))
  const { base } = m.actor
  m.record({
    component: 'drc',
    actie: 'partial_update',
    resource: 'enkelvoudiginformatieobject',
    url: toDocument(after, base).url,
    uuid,
    weergave: documentLabel(after),
    kanaal: documentenKanaal(after, base, catalogus),
    oud: toDocument(before, base),
    nieuw: toDocument(after, base),
  })
  return end
}

/**
 * Changes a document that nobody has locked: what a client does in three requests, in one transaction.
 * @throws Problem 400 `existing-lock`, and what `changeDocument` throws
 */
export async function changeUnlocked(
  m: Mutation,
  parts: Parameters<typeof changeDocument>[1],
  change: Pick<DocumentChange, 'uuid' | 'elsewhere' | 'catalogus'> & { given: DocumentPatch },
): Promise<void> {
  const { id, lock } = await holdDocument(m, change.uuid)
  requireUnlockedForLock(lock)
  const own = newLock()
  await setLock(m, id, own)
  const given = { ...change.given, lock: own }
  await changeDocument(m, parts, { ...change, actie: 'partial_update', bytes: null, given })
  await setLock(m, id, null)
}

/** What has come of an upload in parts. */
export function findBestandsdelen(m: Pick<Mutation, 'read'>, uuid: string): Promise<UploadPart[]> {
  return m.read
    .selectFrom('bestandsdeel as d')
    .innerJoin('enkelvoudiginformatieobject as e', 'e.id', 'd.enkelvoudiginformatieobjectId')
    .leftJoin('file as b', 'b.id', 'd.fileId')
    .where('e.uuid', '=', uuid)
    .orderBy('d.volgnummer')
    .select(['d.id', 'd.omvang', 'd.fileId', 'b.backend', 'b.key'])
    .execute()
}

/** Joins the parts of an upload when all of them are there. Outside a transaction: it can take minutes. */
export async function joinParts(
  { read, parts }: Pick<FastifyInstance, 'read' | 'parts'>,
  uuid: string,
): Promise<Joined | undefined> {
  const delen = await findBestandsdelen({ read }, uuid)
  if (delen.length === 0 || delen.some(({ key }) => key === null)) return undefined // the next pass says what of it
  return {
    bestanden: delen.map(({ fileId }) => expected(fileId)),
    bytes: await parts.store.write(newKey(), concatenated(parts, delen), { fresh: true, isKnown: true }),
  }
}

async function* concatenated({ storeFor }: Stores, parts: UploadPart[]): AsyncGenerator<Uint8Array> {
  for (const { backend, key, omvang } of parts) {
    const part = await storeFor(expected(backend)).read(expected(key))
    if (part?.size !== omvang) {
      part?.stream.destroy()
      throw new StoreUnavailable('part-damaged')
    }
    yield* part.stream
  }
}
