// Published types as new cases and documents need them, kept in memory: a client that makes them would ask for the same few
// each time. What is kept may be outdated, since every process can change a type. So nothing is refused by it, and the
// statement that writes says `isStill`.
import type postgres from 'postgres'
import type { Mutation } from '../core/mutate.ts'
import { Problem } from '../core/problem.ts'
import type { Vertrouwelijkheidaanduiding } from '../core/vertrouwelijkheidaanduiding.ts'

type KnownType = {
  id: number
  uuid: string
  concept: boolean
  vertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  catalogus_uuid: string
  /** Changes with every change of its row. */
  version: string
}
export type KnownZaaktype = KnownType & {
  producten_of_diensten: string[]
  servicenorm: string | null
  doorlooptijd: string
}
export type KnownInformatieobjecttype = KnownType

export type KnownTypes<T> = {
  /**
   * Judges by the type with this uuid: by what is kept of it, and when that refuses, or nothing is kept, by what the database
   * says. When the work runs again, it says so at once.
   */
  judge<R>(m: Mutation, uuid: string, judge: (type: T | undefined) => Promise<R>): Promise<R>
}

const MOST = 1000

function knownTypes<T extends KnownType>(
  read: (m: Mutation, uuid: string) => Promise<readonly T[]>,
): () => KnownTypes<T> {
  return () => {
    const types = new Map<string, T>()
    return {
      async judge(m, uuid, judge) {
        const kept = m.attempt === 1 ? types.get(uuid) : undefined
        if (kept) {
          try {
            return await judge(kept)
          } catch (error) {
            if (!(error instanceof Problem)) throw error
          }
        }
        const [type] = await read(m, uuid)
        types.delete(uuid)
        if (types.size >= MOST) types.clear()
        if (type && !type.concept) types.set(uuid, type)
        return judge(type)
      },
    }
  }
}

export const knownZaaktypen = knownTypes(
  (m, uuid) => m.sql<KnownZaaktype[]>`
    select t.id, t.uuid, t.concept, t.vertrouwelijkheidaanduiding, t.producten_of_diensten, t.servicenorm, t.doorlooptijd,
      c.uuid as catalogus_uuid, t.xmin::text as version
    from zaaktype t join catalogus c on c.id = t.catalogus_id where t.uuid = ${uuid}`,
)

export const knownInformatieobjecttypen = knownTypes(
  (m, uuid) => m.sql<KnownInformatieobjecttype[]>`
    select t.id, t.uuid, t.concept, t.vertrouwelijkheidaanduiding, c.uuid as catalogus_uuid, t.xmin::text as version
    from informatieobjecttype t join catalogus c on c.id = t.catalogus_id where t.uuid = ${uuid}`,
)

/** The FROM of an insert that only happens as long as the type is as it was judged. */
export const isStill = (
  sql: postgres.Sql | postgres.TransactionSql,
  table: 'zaaktype' | 'informatieobjecttype',
  { id, version }: KnownType,
) => sql`from ${sql(table)} t where t.id = ${id} and t.xmin = ${version}::xid`
