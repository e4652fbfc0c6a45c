// Backups of a service under load, and restores of them elsewhere: what the tests and a cell of `npm run faults` share.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readConfig } from '../../src/config.ts'
import { migrate } from '../../src/database/migrate.ts'
import { type CheckOptions, checkStorage } from '../../src/documenten/storage/check.ts'
import { givenInformatieobjecttype, type TestApp, testApp, uuidOf } from '../app.ts'
import { give, run, serverDirectory, startPrimary } from '../database/servers.ts'
import type { JudgeLike } from '../stage.ts'
import { DOCUMENTEN } from './importing.ts'

type Test = Parameters<typeof testApp>[0]
export type Backups = Awaited<ReturnType<typeof givenBackups>>

/** The environment in which bytes of deleted documents stay as long as they do by default. */
export const keptByDefault = (): Record<string, string> => ({
  DOCUMENTEN_KEEP_DELETED_HOURS: String(readConfig({}).documentenKeepDeletedHours),
})

/**
 * The database is dumped and the storage copied afterwards, under load and with the default settings, and both are restored
 * elsewhere: every document of the dump has to have its bytes.
 */
export async function playRestore(t: Test, judge: JudgeLike): Promise<void> {
  const backups = await givenBackups(t, keptByDefault())
  const { app } = await restore(t, backups, backups.second)
  const { outcome, found } = await check(app, { verify: true })
  judge.same(found, [], 'every document that was restored has its bytes')
  judge.equal(outcome.found, 0, 'and nothing is to be repaired')
  await sameContent(
    { strictSame: (found, wanted) => judge.same(found, wanted, 'and the right ones') },
    app,
    backups,
    new Set(),
  )
}

/** A service under load. Its storage is copied, its database dumped and its storage copied again, with known changes in between. */
export async function givenBackups(t: Test, env: Record<string, string> = {}) {
  const directory = await serverDirectory(t)
  const server = await startPrimary(t, join(directory, 'server'))
  await give(join(directory, 'dumps'))
  const dump = join(directory, 'dumps', 'dump')
  const urlOf = (name: string) => `postgres://postgres@127.0.0.1:${server.port}/${name}`
  const host = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres']
  await run('createdb', [...host, 'bron'])
  await migrate(urlOf('bron'))
  const app = await testApp(t, { DATABASE_URL: urlOf('bron'), ...env })
  const type = await givenInformatieobjecttype(app)
  const contents = new Map<string, string>()
  const deleted = new Set<string>()

  const create = async () => {
    const content = `inhoud ${randomUUID()}`
    const { status, body, text } = await app.call('POST', DOCUMENTEN, {
      bronorganisatie: '000000000',
      creatiedatum: '2024-02-29',
      titel: 'Onder belasting',
      auteur: 'Auteur',
      taal: 'nld',
      informatieobjecttype: type,
      inhoud: Buffer.from(content).toString('base64'),
      bestandsomvang: content.length,
    })
    if (status !== 201) throw new Error(text)
    contents.set(uuidOf(body.url), content)
    return uuidOf(body.url)
  }
  const remove = async (uuid: string) => {
    deleted.add(uuid)
    const { status, text } = await app.call('DELETE', `${DOCUMENTEN}/${uuid}`)
    if (status !== 204) throw new Error(text)
  }
  const keys = new Map<string, string>()
  const createKnown = async () => {
    const uuid = await create()
    keys.set(uuid, (await documents(app)).get(uuid)!)
    return uuid
  }
  const deletedBeforeDump = await createKnown()
  const deletedAfterDump = await createKnown()

  let busy = true
  const made: string[] = []
  const writer = async () => {
    while (busy) {
      made.push(await create())
      if (made.length % 2 === 0) await remove(made.splice(made.length / 2, 1)[0]!)
    }
  }
  const jobs = async () => {
    while (busy) await app.runJobs()
  }
  const load = Promise.all([writer(), writer(), jobs()])
  const stop = () => {
    busy = false
    return load
  }
  const copies = await mkdtemp(join(tmpdir(), 'zaakstroom-copies-'))
  t.teardown(() => rm(copies, { recursive: true, force: true }))
  const change = async (uuid: string) => {
    const enough = contents.size + 10
    while (busy && contents.size < enough) await Promise.race([load, new Promise(setImmediate)])
    await remove(uuid)
    await app.runJobs()
    return createKnown()
  }
  try {
    const first = await copyLive(app.config.documentenDir, join(copies, 'first'))
    const madeBeforeDump = await change(deletedBeforeDump)
    await run('pg_dump', ['--format=custom', '-f', dump, urlOf('bron')])
    const madeAfterDump = await change(deletedAfterDump)
    const second = await copyLive(app.config.documentenDir, join(copies, 'second'))
    await stop()
    const restoreDump = async (name: string) => {
      await run('createdb', [...host, name])
      await run('pg_restore', ['--exit-on-error', '-d', urlOf(name), dump])
      return urlOf(name)
    }
    return {
      ...{ contents, deleted, keys, first, second, restoreDump },
      ...{ deletedBeforeDump, deletedAfterDump, madeBeforeDump, madeAfterDump },
    }
  } finally {
    await stop()
  }
}

let restored = 0

/** The dump in a new database and a copy of the storage in a new directory, with the service on them. */
export async function restore(t: Test, { restoreDump }: Backups, storage: string) {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-restored-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await cp(storage, directory, { recursive: true, preserveTimestamps: true })
  const url = await restoreDump(`elders_${restored++}`)
  await migrate(url)
  return { app: await testApp(t, { DATABASE_URL: url, DOCUMENTEN_DIR: directory }), directory }
}

/** A copy while files come and go, as operators make it: what goes meanwhile is not in it. */
async function copyLive(from: string, to: string): Promise<string> {
  await promisify(execFile)('cp', ['-a', from, to]).catch(({ stderr }: { stderr: string }) => {
    const faults = stderr.split('\n').filter((line) => line !== '' && !line.includes('No such file'))
    if (faults.length > 0) throw new Error(faults.join('\n'))
  })
  return to
}

export const putBack = (copy: string, directory: string) =>
  cp(copy, directory, { recursive: true, force: false, preserveTimestamps: true })

/** As if the clean-up had met them a day ago. */
export async function makeOld({ database: { sql } }: TestApp, keys: string[]): Promise<void> {
  await sql`
    insert into stray_file (backend, name, unfinished, seen_at)
    select 'filesystem', name, false, now() - interval '26 hours' from unnest(${keys}::text[]) name
    on conflict (backend, name, unfinished) do update set seen_at = excluded.seen_at`
}

export async function check({ parts }: TestApp, options: CheckOptions = {}) {
  const found: string[] = []
  const outcome = await checkStorage(parts, {
    ...options,
    report: ({ kind, key, repaired }) => found.push(`${kind} ${key} ${repaired}`),
  })
  return { outcome, found: found.sort() }
}

export const stored = async ({ parts }: TestApp) =>
  (await Array.fromAsync(parts.store.list())).map(({ key }) => key).sort()

export const bestanden = ({ database }: TestApp) => database.sql<{ key: string }[]>`select key from file`

/** The documents, by uuid, with the key of their bytes. */
export async function documents({ database }: TestApp): Promise<Map<string, string>> {
  const rows = await database.sql<{ uuid: string; key: string }[]>`
    select e.uuid, b.key from enkelvoudiginformatieobject e
    join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id
    join file b on b.id = v.file_id`
  return new Map(rows.map(({ uuid, key }) => [uuid, key]))
}

/** The documents of which a check says that their bytes lack. */
export async function missingOf(app: TestApp): Promise<Set<string>> {
  const { found } = await check(app)
  const byKey = new Map([...(await documents(app))].map(([uuid, key]) => [key, uuid]))
  return new Set(
    found.flatMap((line) => {
      const [kind, key] = line.split(' ')
      return kind === 'missing' ? [byKey.get(key!)!] : []
    }),
  )
}

/** Every document answers with what was stored in it, and those in `missing` say that it is lost. */
export async function sameContent(
  t: { strictSame(found: unknown, wanted: unknown): unknown },
  app: TestApp,
  { contents }: Backups,
  missing: Set<string>,
): Promise<void> {
  const wrong: string[] = []
  for (const uuid of (await documents(app)).keys()) {
    const { status, text, body } = await app.call('GET', `${DOCUMENTEN}/${uuid}/download`)
    const right = missing.has(uuid) ? status === 503 && body.code === 'inhoud-vermist' : text === contents.get(uuid)
    if (!right) wrong.push(`${uuid} ${status}`)
  }
  t.strictSame(wrong, [])
}
