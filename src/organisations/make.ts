// The tables of an organisation: making them anew takes a second or two, so that a new one needs no template beside `sql/`.
import { migrate, switchFeed } from '../database/migrate.ts'

/**
 * Makes the tables and the queue of an organisation, or brings them to the schema of this program.
 * @param url of the database, with the schema
 * @returns the files that were applied now
 * @throws as `migrate` does
 */
export async function makeOrganisation(url: string, { hasFeed }: { hasFeed: boolean }): Promise<string[]> {
  const applied = await migrate(url)
  await switchFeed(url, hasFeed)
  return applied
}
