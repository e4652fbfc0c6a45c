// Whose tables a schema has: nothing of another organisation is dropped, made into, or shown, whatever the names say.
import t from 'tap'
import { readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { withSchema } from '../../src/database/schema.ts'
import { makeOrganisation } from '../../src/organisations/make.ts'
import { isOwn, markOwner, ownerOf, requireDroppable } from '../../src/organisations/owner.ts'
import { removeOrganisation } from '../../src/organisations/remove.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { emptyDatabase } from '../setup.ts'

const [A, B] = ['000000012', '000000024'] as const

t.test('a schema says whose it is, and is not dropped for another, nor as the queue of another', async (t) => {
  const { url } = await emptyDatabase(t)
  const at = (schema: string) => withSchema(url, schema)
  await makeOrganisation(at('stad_queue'), { hasFeed: false, rsin: A })
  const database = openDatabase(at('stad_queue'), { max: 1, name: 'test' })
  t.teardown(database.close)
  const { sql } = database
  t.equal(await ownerOf(sql, 'stad_queue'), A)
  t.equal(await ownerOf(sql, 'nergens'), undefined)
  await t.rejects(makeOrganisation(at('stad_queue'), { hasFeed: false, rsin: B }), { name: 'ForeignTables' })
  await t.rejects(markOwner(sql, 'stad_queue', B), /organisation 000000012/)
  await t.rejects(requireDroppable(sql, 'stad_queue', B), /nothing was removed/)
  await t.rejects(requireDroppable(sql, 'stad', B), /and not a queue/)
  const config = (schema: string) =>
    readConfig({ DATABASE_URL: at(schema), SECRET_KEY: 'key of the tests, long enough' })
  for (const schema of ['stad', 'stad_queue'])
    await t.rejects(
      removeOrganisation({ rsin: B, schema }, config(schema), () => {}),
      /nothing was removed/,
      schema,
    )
  t.equal((await sql`select rsin from of_organisation`)[0]?.rsin, A, 'all of it is there')
})

t.test('a session that a pooler sends to the tables of another is not answered from', async (t) => {
  const { url } = await emptyDatabase(t)
  await makeOrganisation(withSchema(url, 'een'), { hasFeed: false, rsin: A })
  await makeOrganisation(withSchema(url, 'twee'), { hasFeed: false, rsin: B })
  const database = openDatabase(withSchema(url, 'een'), { max: 1, name: 'test' })
  t.teardown(database.close)
  t.ok(await isOwn(database.sql, A, openLog('silent')))
  await database.sql`set search_path = twee, twee_queue`
  t.notOk(await isOwn(database.sql, A, openLog('silent')))
})
