// What a restore does to positions of the feed: by a dump into another database of the same cluster, and by the files of the cluster as
// they were. Both know everything that the database of the backup knew, so that it tells itself.
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { Rewound } from '../../src/core/history.ts'
import { openDatabase, readerOf } from '../../src/database/database.ts'
import { migrate, switchFeed } from '../../src/database/migrate.ts'
import { filesystemStore, prepareFilesystemStore } from '../../src/documenten/storage/filesystem.ts'
import type { Store } from '../../src/documenten/storage/index.ts'
import { keepMark } from '../../src/documenten/storage/mark.ts'
import { readPage, readStart } from '../../src/feed/deltas.ts'
import { FEEDS } from '../../src/feed/kinds.ts'
import { watchFeed } from '../../tasks/watch-feed.ts'
import { give, noPrograms, run, serverDirectory, startPrimary } from '../database/servers.ts'

const FEED = FEEDS.catalogi
let store: Store
const copied = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to])

/** A database as a reader of its feed sees it. */
async function opened(t: Test, url: string) {
  const database = openDatabase(url, { max: 2, name: 'test' })
  t.teardown(database.close)
  const viewer = { reader: readerOf(database), actor: systemActor('test'), base: 'http://localhost' }
  return {
    database,
    async change() {
      await database.sql`insert into catalogus (domein, rsin, contactpersoon_beheer_naam)
        values ('ABCDE', gen_random_uuid()::text, 'x')`
    },
    /** The end of the feed. */
    async end() {
      const first = await readPage(viewer, FEED, undefined, 1000)
      return first.position
    },
    fault: (position: string) =>
      readStart(viewer, FEED, position).then(
        () => undefined,
        (error: unknown) => error as { status?: number },
      ),
    watch: () => watchFeed({ database, store })({}, {} as never),
    mark: (look = false) => keepMark(database.sql, store, look),
  }
}

t.test('after a restore a position of before it counts no more', { skip: noPrograms }, async (t) => {
  const directory = await serverDirectory(t)
  const data = join(directory, 'server')
  const server = await startPrimary(t, data)
  const host = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres']
  const urlOf = (name: string) => `postgres://postgres@127.0.0.1:${server.port}/${name}`
  await prepareFilesystemStore(join(directory, 'documents'))
  store = filesystemStore(join(directory, 'documents'))
  await run('createdb', [...host, 'bron'])
  await migrate(urlOf('bron'))
  await switchFeed(urlOf('bron'), true)

  const source = await opened(t, urlOf('bron'))
  await source.change()
  const before = await source.end()
  await give(join(directory, 'dumps'))
  const dump = join(directory, 'dumps', 'dump')
  await run('pg_dump', [...host, '-Fc', '-f', dump, 'bron'])
  await source.change()
  const lost = await source.end()
  t.equal(await source.fault(lost), undefined)

  await t.test('by a dump within the same cluster', async (t) => {
    await run('createdb', [...host, 'anders'])
    await run('pg_restore', [...host, '-d', 'anders', dump])
    const restored = await opened(t, urlOf('anders'))
    t.match(await restored.fault(lost), { status: 503 }, 'until somebody looked')
    await restored.watch()
    await restored.change()
    for (const position of [before, lost]) t.match(await restored.fault(position), { status: 410 })
  })

  await t.test('by the files of the cluster', async (t) => {
    await source.database.close()
    await server.kill()
    const copy = join(directory, 'copy')
    await copied(data, copy)
    await server.start()
    const went = await opened(t, urlOf('bron'))
    for (let n = 0; n < 5; n++) await went.change()
    const ahead = await went.end()
    t.equal(await went.mark(), false)
    await went.database.close()
    await server.kill()
    await rm(data, { recursive: true })
    await copied(copy, data)
    await server.start()
    const back = await opened(t, urlOf('bron'))
    t.equal(await back.fault(lost), undefined, 'of before the copy was made')
    t.ok((await back.fault(ahead)) instanceof Rewound)
    for (let n = 0; n < 10; n++) await back.change()
    t.equal(await back.fault(ahead), undefined, 'who asks late is not found out by the position')
    t.equal(await back.mark(true), true, 'but the mark beside the documents is ahead')
    await back.change()
    for (const position of [lost, ahead]) t.match(await back.fault(position), { status: 410 })
  })
})
