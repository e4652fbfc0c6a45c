// Abonnementen as they are read: by the routes of the API, and by the pages.
import { type RawBuilder, sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { link } from '../../http/links.ts'
import { Written } from '../../http/stream.ts'

// Of one applicatie. Every change at a kanaal is held against the filters of all groups of that kanaal.
export const MAX_ABONNEMENTEN = 1000
export const MAX_GROUPS = 2000

export type FilterGroup = { naam: string; filters: Record<string, string> }

export type AbonnementRow = {
  id: number
  uuid: string
  applicatieUuid: string | null
  callbackUrl: string
  tokenUrl: string
  authenticatie: string
  auth: Buffer
  cloudevents: boolean
  status: string
  /** Attempts fail, or it is left alone. */
  isFailing: boolean
  kanalen: FilterGroup[]
}

/** The groups of filters of abonnement `a`, in the order in which they were given. */
export const KANALEN_OF_A = sql<FilterGroup[]>`coalesce((
  select jsonb_agg(jsonb_build_object('naam', k.naam, 'filters', ak.filters) order by ak.id)
  from abonnement_kanaal ak join kanaal k on k.id = ak.kanaal_id where ak.abonnement_id = a.id), '[]')`

type Listed = Pick<AbonnementRow, 'id' | 'uuid' | 'callbackUrl' | 'cloudevents'> & { kanalen: string }

/**
 * Those after a number, in the order in which they were made. Their kanalen stay JSON: one may have 64 kB of filters, which
 * need not be read to be written.
 * @param kept a condition on abonnement `a` and its applicatie `p`
 */
export async function listAbonnementen(
  db: ReadDb,
  kept: RawBuilder<boolean>,
  limit: number,
  after = 0,
): Promise<Listed[]> {
  const { rows } = await sql<Listed>`
    select a.id, a.uuid, a.callback_url, a.cloudevents, ${KANALEN_OF_A}::text as kanalen
    from abonnement a left join applicatie p on p.id = a.applicatie_id
    where a.deleted_at is null and ${kept} and a.id > ${after}::bigint order by a.id limit ${limit}`.execute(db)
  return rows
}

/** The answer for one of a list. */
export const writtenAbonnement = (row: Listed, base: string): Written =>
  Written.object(toAbonnement({ ...row, kanalen: [] }, base), { kanalen: [row.kanalen] })

/** @throws Problem 404 */
export async function requireAbonnement(db: ReadDb, uuid: string): Promise<AbonnementRow> {
  const { rows } = await sql<AbonnementRow>`
    select a.id, a.uuid, p.uuid as applicatie_uuid, a.callback_url, a.token_url, a.authenticatie, a.auth, a.cloudevents, a.status,
      a.failures > 0 or a.not_before > now() as is_failing,
      ${KANALEN_OF_A} as kanalen
    from abonnement a left join applicatie p on p.id = a.applicatie_id
    where a.deleted_at is null and a.uuid = ${uuid}::uuid`.execute(db)
  if (!rows[0]) throw notFound()
  return rows[0]
}

/** `auth` is never shown: some receivers take what they are shown for their own key. */
export const toAbonnement = (
  { uuid, callbackUrl, kanalen, cloudevents }: Pick<AbonnementRow, 'uuid' | 'callbackUrl' | 'kanalen' | 'cloudevents'>,
  base: string,
) => ({
  url: link(base, 'abonnement', uuid),
  callbackUrl,
  kanalen,
  sendCloudevents: cloudevents,
})
