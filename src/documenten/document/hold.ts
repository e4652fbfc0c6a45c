// A document of a change: its row is held until the transaction ends.
import type { Mutation } from '../../core/mutate.ts'
import { notFound, Problem } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import { unknownDocument } from '../rules.ts'
import { type DocumentRow, findDocument } from './read.ts'

/**
 * The latest version of a document, locked until the transaction ends: versions get their numbers one after the other, and
 * a lock is given once.
 * @throws Problem 404
 */
export async function holdDocument(m: Mutation, uuid: string): Promise<DocumentRow> {
  const found = await m.trx
    .selectFrom('enkelvoudiginformatieobject')
    .where('uuid', '=', uuid)
    .select('id')
    .forUpdate()
    .executeTakeFirst()
  if (!found) throw notFound()
  return expected(await findDocument(m.read, uuid))
}

/** The document that a sub-resource names in its field informatieobject, locked. @throws Problem 400 on that field */
export async function holdNamedDocument(m: Mutation, uuid: string): Promise<DocumentRow> {
  return holdDocument(m, uuid).catch((error) => {
    throw error instanceof Problem && error.status === 404 ? unknownDocument() : error
  })
}
