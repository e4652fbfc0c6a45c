// The row of a version, and what it takes from the type.
import { type Insertable, sql } from 'kysely'
import type { Mutation } from '../../core/mutate.ts'
import type { InvalidParam } from '../../core/problem.ts'
import type { EnkelvoudiginformatieobjectVersie } from '../../database/types.ts'
import type { Documenttype } from '../type.ts'

export type TypeElsewhere = Documenttype | InvalidParam | undefined

/** The type as rights name it: by its uuid, or by its URL when it is kept elsewhere. */
export const typeSubject = (type: Documenttype) => (type.uuid ? { uuid: type.uuid } : { url: type.url })
/** The type as the columns of a document hold it: the id of one of ours, or else the URL. */
export const typeColumns = (type: Documenttype) => ({
  informatieobjecttypeId: type.id,
  informatieobjecttypeUrl: type.id === null ? type.url : null,
})

/** Writes a version as it is. The caller holds the document, and has judged the values. */
export async function insertVersion(m: Mutation, values: Insertable<EnkelvoudiginformatieobjectVersie>): Promise<void> {
  const beginRegistratie = sql<string>`moment_from((select max(begin_registratie) from enkelvoudiginformatieobject_versie
    where enkelvoudiginformatieobject_id = ${values.enkelvoudiginformatieobjectId}))`
  await m.trx
    .insertInto('enkelvoudiginformatieobjectVersie')
    .values({ ...values, beginRegistratie })
    .execute()
}
