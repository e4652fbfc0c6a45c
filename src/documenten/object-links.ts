// The other side of documents that belong to a case or a decision of ours (drc-003): written by who keeps the relation, in
// the same transaction.
import type { Mutation } from '../core/mutate.ts'

type Link = { documentId: number; objectType: 'zaak' | 'besluit'; objectUuid: string }

/** Keeps that a document belongs to an object. Once is enough: doing it again changes nothing. */
export async function linkObject(m: Mutation, { documentId, objectType, objectUuid }: Link): Promise<void> {
  await m.sql`insert into objectinformatieobject (enkelvoudiginformatieobject_id, object_type, object_uuid)
    values (${documentId}, ${objectType}, ${objectUuid})
    on conflict on constraint objectinformatieobject_unique do nothing`
}

/** Takes that back. Without such a link nothing happens. */
export async function unlinkObject(m: Mutation, { documentId, objectType, objectUuid }: Link): Promise<void> {
  await m.sql`delete from objectinformatieobject where enkelvoudiginformatieobject_id = ${documentId}
    and object_type = ${objectType} and object_uuid = ${objectUuid}`
}

/** For objects that are deleted themselves. */
export async function unlinkAllOf(m: Mutation, objectUuids: string[]): Promise<void> {
  await m.sql`delete from objectinformatieobject where object_uuid = any(${objectUuids}::uuid[])`
}
