// bestandsdelen: the parts in which the content of a document is uploaded, each of exactly the size that was announced.

import multipart, { type Multipart } from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { refuseBeforeSwitch } from '../../core/before-switch.ts'
import type { Mutation } from '../../core/mutate.ts'
import { invalid, notFound, type Problem } from '../../core/problem.ts'
import { isUnavailable } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import { takeWhole } from '../../http/content.ts'
import { formParts } from '../../http/forms.ts'
import { link } from '../../http/links.ts'
import { BIJWERKEN, requireMay, updateAccess } from '../rights.ts'
import { newKey, type StoredBytes } from '../storage/index.ts'
import { deleteFiles, insertFile } from './bytes.ts'
import { Bestandsdeel } from './columns.ts'
import { discard } from './content.ts'
import { holdDocument } from './hold.ts'
import { requireSameLock } from './lock-rules.ts'
import { Params, requireDocument } from './read.ts'

type BestandsdeelRow = {
  id: number
  uuid: string
  volgnummer: number
  omvang: number
  fileId: number | null
  document: string
}
const FIELD_BYTES = 10_000
type Received = { lock: string | undefined; bytes: StoredBytes | null }

export const bestandsdelen: FastifyPluginAsyncTypebox = async (app) => {
  const { store } = app.parts
  app.removeAllContentTypeParsers() // JSON cannot hold a part
  await app.register(multipart)
  // A form without a file says a lock at most. Reading a megabyte of names would take seconds.
  const read = async (_request: unknown, body: Buffer) => Object.fromEntries(new URLSearchParams(body.toString()))
  takeWhole(app, 'application/x-www-form-urlencoded', read, FIELD_BYTES)

  app.put(
    '/bestandsdelen/:uuid',
    { config: { ...updateAccess, stream: true }, schema: { params: Params, response: { 200: Bestandsdeel } } },
    async (request) => {
      const deel = await findBestandsdeel(app.read, request.params.uuid)
      if (!deel) throw notFound()
      await requireDocument(app.read, request.actor, BIJWERKEN, deel.document)
      const { lock, bytes } = await receive(request, deel.omvang)
      try {
        if (lock === undefined) throw invalid('lock', 'required', 'Dit veld is verplicht.')
        const part = await app.mutate(request.actor, (m) => storePart(m, store.backend, deel, lock, bytes))
        if (request.actor.key?.isReplayed) await discard(store, bytes)
        return part
      } catch (error) {
        if (!isUnavailable(error)) await discard(store, bytes)
        throw error
      }
    },
  )

  async function receive(request: FastifyRequest, size: number): Promise<Received> {
    if (!request.isMultipart()) {
      const { lock, inhoud } = (request.body ?? {}) as { lock?: string; inhoud?: string }
      if (inhoud) throw noFile()
      return { lock, bytes: null }
    }
    let lock: string | undefined
    let bytes: StoredBytes | null = null
    try {
      for await (const part of formParts(request, { fields: 20, fieldBytes: FIELD_BYTES })) {
        if (part.type === 'file' && part.fieldname === 'inhoud') {
          await discard(store, bytes)
          bytes = null
          bytes = await store.write(newKey(), exactly(part.file, size), { fresh: true })
        } else if (part.type === 'file') part.file.resume()
        else if (part.fieldname === 'lock') lock = fieldText(part)
        else if (part.fieldname === 'inhoud' && fieldText(part) !== '') throw noFile()
      }
      return { lock, bytes }
    } catch (error) {
      await discard(store, bytes)
      throw error
    }
  }
}

const fieldText = (part: Multipart): string => ('value' in part ? String(part.value) : '')

function noFile(): Problem {
  return invalid('inhoud', 'invalid', 'Stuur de inhoud als bestand (met een filename).')
}

/** The bytes of a part. @throws Problem 400 `file-size` as soon as there are too many, or at the end when too few */
async function* exactly(bytes: AsyncIterable<Buffer>, omvang: number): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.byteLength
    if (size > omvang) throw wrongSize(omvang)
    yield chunk
  }
  if (size < omvang) throw wrongSize(omvang)
}

function wrongSize(size: number): Problem {
  return invalid('nonFieldErrors', 'file-size', `Dit bestandsdeel is ${size} bytes groot.`)
}

function findBestandsdeel(db: Mutation['read'], uuid: string): Promise<BestandsdeelRow | undefined> {
  return db
    .selectFrom('bestandsdeel as d')
    .innerJoin('enkelvoudiginformatieobject as e', 'e.id', 'd.enkelvoudiginformatieobjectId')
    .where('d.uuid', '=', uuid)
    .select(['d.id', 'd.uuid', 'd.volgnummer', 'd.omvang', 'd.fileId', 'e.uuid as document'])
    .executeTakeFirst()
}

/** Makes the bytes this part; a part that came before is replaced. Without bytes only the lock is checked. */
async function storePart(
  m: Mutation,
  backend: string,
  { uuid, document }: BestandsdeelRow,
  lock: string,
  bytes: StoredBytes | null,
): Promise<Bestandsdeel> {
  m.unrecorded('the standard keeps no record of parts')
  await refuseBeforeSwitch(m)
  const row = await holdDocument(m, document)
  requireMay(m.actor, BIJWERKEN, row)
  const deel = await findBestandsdeel(m.read, uuid) // another change may have thrown it away
  if (!deel) throw notFound()
  requireSameLock(row.lock, lock)
  if (bytes) {
    const fileId = await insertFile(m, backend, bytes)
    await m.trx.updateTable('bestandsdeel').set({ fileId }).where('id', '=', deel.id).execute()
    if (deel.fileId !== null) await deleteFiles(m, [deel.fileId])
  }
  const url = link(m.actor.base, 'bestandsdeel', uuid)
  const hoofdobject = { url: link(m.actor.base, 'enkelvoudiginformatieobject', document), uuid: document }
  m.touches({ component: 'drc', actie: 'update', resource: 'bestandsdeel', url, uuid, hoofdobject })
  return {
    url,
    volgnummer: deel.volgnummer,
    omvang: deel.omvang,
    voltooid: bytes !== null || deel.fileId !== null,
    lock: expected(row.lock),
  }
}
