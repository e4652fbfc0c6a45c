// Published zaaktypen as new cases need them, kept in memory: a client that makes cases would ask for the same few again each
// time. What is kept may be outdated, since every process can change a type. So whoever uses it says `isStill` in the
// statement that writes, and refuses nothing by it: a refusal is judged by what the database says now.
import type postgres from 'postgres'
import type { Mutation } from '../../database/mutate.ts'
import type { Vertrouwelijkheidaanduiding } from '../../http/input.ts'

export type KnownZaaktype = {
  id: number
  uuid: string
  concept: boolean
  vertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  producten_of_diensten: string[]
  servicenorm: string | null
  doorlooptijd: string
  catalogus_uuid: string
  /** Changes with every change of its row. */
  version: string
}

export type KnownZaaktypen = {
  /** What is kept of it. */
  kept(uuid: string): KnownZaaktype | undefined
  /** What the database says of it; undefined: there is no such type. */
  read(m: Mutation, uuid: string): Promise<KnownZaaktype | undefined>
}

const MOST = 1000

export function knownZaaktypen(): KnownZaaktypen {
  const types = new Map<string, KnownZaaktype>()
  return {
    kept: (uuid) => types.get(uuid),
    async read(m, uuid) {
      const [type] = await m.sql<KnownZaaktype[]>`
        select t.id, t.uuid, t.concept, t.vertrouwelijkheidaanduiding, t.producten_of_diensten, t.servicenorm, t.doorlooptijd,
          c.uuid as catalogus_uuid, t.xmin::text as version
        from zaaktype t join catalogus c on c.id = t.catalogus_id where t.uuid = ${uuid}`
      types.delete(uuid)
      if (types.size >= MOST) types.clear()
      if (type && !type.concept) types.set(uuid, type)
      return type
    },
  }
}

/** The FROM of an insert that only happens as long as the type is as it was judged. */
export const isStill = (sql: postgres.Sql | postgres.TransactionSql, { id, version }: KnownZaaktype) =>
  sql`from zaaktype t where t.id = ${id} and t.xmin = ${version}::xid`
