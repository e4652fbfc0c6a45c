// Abonnementen as they are read: by the routes of the API, and by the pages.
import { sql } from 'kysely'
import type { ReadDb } from '../../database/database.ts'
import { link } from '../../http/links.ts'
import { notFound } from '../../http/problem.ts'

export const MAX_ABONNEMENTEN = 1000 // of one applicatie; a list that the standard does not page

export type Groep = { naam: string; filters: Record<string, string> }

export type AbonnementRow = {
  id: number
  uuid: string
  applicatieUuid: string | null
  callbackUrl: string
  authenticatie: string
  auth: Buffer
  cloudevents: boolean
  status: string
  kanalen: Groep[]
}

/** The groups of filters of abonnement `a`, in the order in which they were given. */
export const KANALEN_OF_A = sql<Groep[]>`coalesce((
  select jsonb_agg(jsonb_build_object('naam', k.naam, 'filters', ak.filters) order by ak.id)
  from abonnement_kanaal ak join kanaal k on k.id = ak.kanaal_id where ak.abonnement_id = a.id), '[]')`

/** @param kept a condition on abonnement `a` and its applicatie `p` */
export async function selectAbonnementen(db: ReadDb, kept: ReturnType<typeof sql<boolean>>): Promise<AbonnementRow[]> {
  const { rows } = await sql<AbonnementRow>`
    select a.id, a.uuid, p.uuid as applicatie_uuid, a.callback_url, a.authenticatie, a.auth, a.cloudevents, a.status,
      ${KANALEN_OF_A} as kanalen
    from abonnement a left join applicatie p on p.id = a.applicatie_id
    where a.verwijderd_op is null and ${kept} order by a.id limit ${MAX_ABONNEMENTEN}`.execute(db)
  return rows
}

/** @throws Problem 404 */
export async function requireAbonnement(db: ReadDb, uuid: string): Promise<AbonnementRow> {
  const [row] = await selectAbonnementen(db, sql<boolean>`a.uuid = ${uuid}::uuid`)
  if (!row) throw notFound()
  return row
}

/** `auth` is never shown: some receivers take what they are shown for their own key. */
export const toAbonnement = ({ uuid, callbackUrl, kanalen, cloudevents }: AbonnementRow, base: string) => ({
  url: link(base, 'abonnement', uuid),
  callbackUrl,
  kanalen,
  sendCloudevents: cloudevents,
})
