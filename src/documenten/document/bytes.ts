// The bytes of a document as rows: where they are, uploads in parts, and removing what nothing refers to.
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Config } from '../../config.ts'
import type { Mutation } from '../../core/mutate.ts'
import { invalid } from '../../core/problem.ts'
import { newKey, type StoredBytes } from '../storage/index.ts'
import { requireFits } from '../storage/room.ts'
import type { DocumentPatch } from './columns.ts'

const MAX_PARTS = 10_000
export type UploadParts = {
  config: Pick<Config, 'uploadChunkSize' | 'allowUnpublishedTypes' | 'storageMaxBytes'>
  store: { backend: string }
}

/** The content that came with a request. A size of 0 without content is an empty file: that is made here. */
export async function receivedBytes(
  { parts }: FastifyInstance,
  request: FastifyRequest,
  given: DocumentPatch,
): Promise<StoredBytes | null> {
  if (typeof given.inhoud !== 'string' && given.bestandsomvang === 0) {
    request.ontvangen.bytes = await parts.store.write(newKey(), nothing(), { fresh: true })
  }
  return request.ontvangen.bytes
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The row that says where bytes are. */
export async function insertFile(m: Mutation, backend: string, bytes: StoredBytes): Promise<number> {
  const { id } = await m.trx
    .insertInto('file')
    .values({
      backend,
      key: bytes.key,
      size: bytes.size,
      sha256: Buffer.from(bytes.sha256, 'hex'),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export type PlannedPart = { uuid: string; volgnummer: number; omvang: number; voltooid: false }

/** The parts in which a file of this size comes. @throws Problem 400 when there are too many, 413 when they can never come in */
export function planUpload(parts: UploadParts, total: number): PlannedPart[] {
  const { uploadChunkSize: size, storageMaxBytes } = parts.config
  requireFits(storageMaxBytes, total)
  const count = Math.ceil(total / size)
  if (count > MAX_PARTS) throw invalid('bestandsomvang', 'max_value', `Deze waarde is ten hoogste ${MAX_PARTS * size}.`)
  return Array.from({ length: count }, (_, before) => ({
    uuid: randomUUID(),
    volgnummer: before + 1,
    omvang: Math.min(size, total - before * size),
    voltooid: false,
  }))
}

/** The parts that a large upload is expected in, still without bytes. */
export async function insertParts(m: Mutation, documentId: number, planned: PlannedPart[]): Promise<void> {
  await sql`
    insert into bestandsdeel (enkelvoudiginformatieobject_id, uuid, volgnummer, omvang)
    select ${documentId}::bigint, * from unnest(${planned.map(({ uuid }) => uuid)}::uuid[],
      ${planned.map(({ volgnummer }) => volgnummer)}::integer[], ${planned.map(({ omvang }) => omvang)}::bigint[])`.execute(
    m.trx,
  )
}

/** Plans the parts of content of this size that comes later, and inserts them. */
export const openUpload = (m: Mutation, parts: UploadParts, documentId: number, size: number): Promise<void> =>
  insertParts(m, documentId, planUpload(parts, size))

/** Removes the parts of an upload; a job removes the bytes that had come. */
export async function closeUpload(m: Mutation, documentId: number): Promise<void> {
  const parts = await m.trx
    .deleteFrom('bestandsdeel')
    .where('enkelvoudiginformatieobjectId', '=', documentId)
    .returning('fileId')
    .execute()
  await deleteFiles(
    m,
    parts.flatMap(({ fileId }) => fileId ?? []),
  )
}

/** Leaves it to a job to remove bytes, as far as nothing refers to them by then. */
export async function deleteFiles(m: Mutation, ids: number[]): Promise<void> {
  if (ids.length > 0) await m.enqueue('remove-file', { bestanden: ids })
}
