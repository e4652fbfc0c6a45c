// Which processing activity cases belong to: the log of processing (core/verwerkingen.ts) names it. It is no part of the standard, so that
// it stands beside the types: for a whole catalogue, and for all versions of a zaaktype.
import type { Mutation } from '../core/mutate.ts'
import type { Reader } from '../database/database.ts'

/** Of what: a catalogue, or with an `identificatie` a zaaktype in it. */
export type ActivityOf = { catalogusId: number; identificatie: string }

/** Its URL; empty when it has none of its own. */
export async function activiteitOf(
  { sql }: Pick<Reader, 'sql'>,
  { catalogusId, identificatie }: ActivityOf,
): Promise<string> {
  const [row] = await sql<{ url: string }[]>`
    select url from verwerkingsactiviteit where catalogus_id = ${catalogusId} and zaaktype_identificatie = ${identificatie}`
  return row?.url ?? ''
}

/** @param url empty: none of its own */
export async function saveActiviteit(
  m: Mutation,
  { catalogusId, identificatie }: ActivityOf,
  url: string,
): Promise<void> {
  m.unrecorded('an activity is no part of a type of the standard')
  await m.settleActs()
  if (url === '')
    await m.sql`
      delete from verwerkingsactiviteit where catalogus_id = ${catalogusId} and zaaktype_identificatie = ${identificatie}`
  else
    await m.sql`
      insert into verwerkingsactiviteit (catalogus_id, zaaktype_identificatie, url) values (${catalogusId}, ${identificatie}, ${url})
      on conflict (catalogus_id, zaaktype_identificatie) do update set url = excluded.url`
}
