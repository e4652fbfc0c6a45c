// Slow: it backs up and restores while documents are made.
// Backup and restore: the database with pg_dump and the directory of documents by copying it, at different moments and while
// documents are made and deleted. Both are restored elsewhere, in either order, and checked.
import t from 'tap'
import { newKey } from '../../src/documenten/storage/index.ts'
import { countLost } from '../../src/documenten/storage/lost.ts'
import { testApp } from '../app.ts'
import { noPrograms } from '../database/servers.ts'
import {
  bestanden,
  check,
  documents,
  givenBackups,
  keptByDefault,
  makeOld,
  missingOf,
  putBack,
  restore,
  sameContent,
  stored,
} from './backups.ts'

t.setTimeout(580_000)

t.test(
  'bytes that are kept for a while after a delete: a later copy of the storage has those of every document in the dump',
  { skip: noPrograms },
  async (t) => {
    const backups = await givenBackups(t, keptByDefault())
    const { app } = await restore(t, backups, backups.second)
    const { outcome, found } = await check(app)
    t.match(outcome, { found: 0, removed: 0, noted: 0 })
    t.strictSame(found, [])
    t.ok(outcome.recent > 0, 'bytes of documents that came later are told of')
    await sameContent(t, app, backups, new Set())

    const known = new Set((await bestanden(app)).map(({ key }) => key))
    const later = (await stored(app)).filter((key) => !known.has(key))
    t.ok(later.includes(backups.keys.get(backups.madeAfterDump)!))
    t.match((await check(app, { repair: true })).outcome, { found: 0, removed: 0 }, 'their documents may still come')
    await makeOld(app, later)
    const repaired = await check(app, { repair: true })
    t.strictSame(repaired.found, later.map((key) => `orphan ${key} true`).sort(), 'a day later they go')
    t.strictSame(await stored(app), [...known].sort(), 'and nothing else')
    await sameContent(t, app, backups, new Set())
  },
)

t.test(
  'in either order a check finds what lacks and what is too much, and notices what was put back',
  { skip: noPrograms },
  async (t) => {
    const backups = await givenBackups(t)

    await t.test('the database first: what was deleted in between lacks its bytes', async (t) => {
      const { app, directory } = await restore(t, backups, backups.second)
      const missing = await missingOf(app)
      t.ok(missing.has(backups.deletedAfterDump))
      for (const uuid of missing) t.ok(backups.deleted.has(uuid), 'nothing else lacks its bytes')
      const count = (await documents(app)).size
      t.match((await check(app, { repair: true })).outcome, { removed: 0, noted: missing.size, refused: [] })
      t.equal((await documents(app)).size, count, 'no document is removed')
      t.equal(await countLost(app.parts), missing.size, 'the pages warn of them')
      await sameContent(t, app, backups, missing)

      await putBack(backups.first, directory)
      const { outcome } = await check(app, { repair: true })
      t.equal(outcome.back + outcome.found, missing.size)
      t.notOk((await missingOf(app)).has(backups.deletedAfterDump), 'what a copy had is back')
    })

    await t.test('the storage first: what was made in between lacks its bytes', async (t) => {
      const { app, directory } = await restore(t, backups, backups.first)
      const missing = await missingOf(app)
      t.ok(missing.has(backups.madeBeforeDump))
      t.match((await check(app)).outcome, { repaired: 0, removed: 0, noted: 0 })
      t.equal(await countLost(app.parts), 0, 'without --repair nothing is changed')

      const orphan = backups.keys.get(backups.deletedBeforeDump)!
      await makeOld(app, [orphan])
      const { outcome, found } = await check(app, { repair: true })
      t.match(outcome, { removed: 1, noted: missing.size })
      t.ok(found.includes(`orphan ${orphan} true`), 'bytes of what was deleted go')
      await sameContent(t, app, backups, missing)

      await putBack(backups.second, directory)
      t.ok((await check(app, { repair: true })).outcome.back > 0)
      const left = await missingOf(app)
      for (const uuid of left) t.ok(backups.deleted.has(uuid), 'all that was not deleted since is back')
      t.equal(await countLost(app.parts), left.size)
      await sameContent(t, app, backups, left)
    })
  },
)

t.test('a store of which most has no document is not emptied unless that is asked for', async (t) => {
  const app = await testApp(t)
  const keys = await Promise.all(
    Array.from({ length: 101 }, async () => {
      const key = newKey()
      await app.parts.store.write(key, [Buffer.from('van een ander')] as never)
      return key
    }),
  )
  await makeOld(app, keys)
  t.match((await check(app, { repair: true })).outcome, { found: 101, removed: 0, refused: ['filesystem'] })
  t.equal((await stored(app)).length, 101)
  await app.database.sql`select add_job('retention', '{}')`
  await app.runJobs()
  t.equal((await stored(app)).length, 101, 'nor does the daily clean-up')
  t.match((await check(app, { repair: true, removeMost: true })).outcome, { found: 101, removed: 101, refused: [] })
})
