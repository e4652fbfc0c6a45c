// The tables of an organisation: making them anew takes a second or two, so that a new one needs no template beside `sql/`.
import { openDatabase } from '../database/database.ts'
import { migrate, switchFeed } from '../database/migrate.ts'
import { schemasOf } from '../database/schema.ts'
import { markOwner } from './owner.ts'

/**
 * Makes the tables and the queue of an organisation, or brings them to the schema of this program.
 * @param url of the database, with the schema
 * @param whose `rsin` of an organisation; without it the tables are of an installation by itself
 * @returns the files that were applied now, and whether the feed of changes was switched
 * @throws as `migrate` does, and ForeignTables when the tables are of another
 */
export async function makeOrganisation(
  url: string,
  { hasFeed, rsin }: { hasFeed: boolean; rsin?: string },
): Promise<{ applied: string[]; feed: 'on' | 'off' | 'as it was' }> {
  const applied = await migrate(url)
  const switched = await switchFeed(url, hasFeed)
  const made = { applied, feed: !switched ? 'as it was' : hasFeed ? 'on' : 'off' } as const
  if (rsin === undefined) return made
  const database = openDatabase(url, { max: 1, name: 'migrate' })
  try {
    await markOwner(database.sql, schemasOf(url).own, rsin)
  } finally {
    await database.close()
  }
  return made
}
