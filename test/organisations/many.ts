// A registry with organisations in one database, whose notifications go to a receiver, and workers for all of them.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { type Receiver, startReceiver } from '../../bench/receiver.ts'
import { findSecretBox } from '../../src/cli/server.ts'
import { readConfig } from '../../src/config.ts'
import { systemActor } from '../../src/core/access.ts'
import { mutator } from '../../src/core/mutate.ts'
import { type SecretBox, secretBox } from '../../src/core/secret-box.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { migrateControl } from '../../src/database/migrate.ts'
import { withSchema } from '../../src/database/schema.ts'
import { saveSettings } from '../../src/notificaties/settings.ts'
import { makeOrganisation } from '../../src/organisations/make.ts'
import { changeOrganisations, controlUrlOf, insertOrganisation, openControl } from '../../src/organisations/registry.ts'
import { saveService } from '../../src/services/register.ts'
import { programEnv } from '../program-env.ts'
import { emptyDatabase } from '../setup.ts'
import { until } from '../until.ts'

type TestLike = { teardown(work: () => unknown): unknown }
export type Member = { rsin: string; schema: string; url: string; database: Database; receiver: Receiver }
export type Many = {
  url: string
  control: Database
  box: SecretBox
  directory: string
  /** Adds one, with tables unless `isBare`. */
  add(rsin: string, options?: { isBare?: boolean; databaseUrl?: string }): Promise<Member>
  /** Starts `zaakstroom worker` for all of them. */
  work(env?: Record<string, string>): Promise<Worker>
}
export type Worker = {
  process: ChildProcess
  lines: Record<string, unknown>[]
  kill(): Promise<void>
}

export const KEY = 'key of the installation, long enough'

/** An installation without organisations. */
export async function givenMany(t: TestLike): Promise<Many> {
  const { url } = await emptyDatabase(t)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-many-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await migrateControl(controlUrlOf(url))
  const control = openControl(url)
  t.teardown(control.close)
  const box = secretBox(KEY)
  return {
    url,
    control,
    box,
    directory,
    async add(rsin, { isBare = false, databaseUrl = url } = {}) {
      const schema = `org_${rsin}`
      const dataKeys = `k1:${Buffer.alloc(32, Number(rsin) % 251).toString('base64')}`
      const own = withSchema(databaseUrl, schema)
      if (!isBare) await makeOrganisation(own, { hasFeed: true })
      const receiver = await startReceiver()
      t.teardown(receiver.stop)
      const database = openDatabase(own, { max: 2, name: 'test' })
      t.teardown(database.close)
      if (!isBare) await sendTo(database, dataKeys, receiver.root)
      await changeOrganisations(control, { rsin, actor: 'test', action: 'add' }, (trx) =>
        insertOrganisation(trx, box, {
          ...{ rsin, name: rsin, hosts: [`o${rsin}.example`], schema, limits: {}, databaseUrl, dataKeys, settings: {} },
        }),
      )
      return { rsin, schema, url: own, database, receiver }
    },
    async work(env = {}) {
      const process_ = spawn(process.execPath, [join(import.meta.dirname, '../../src/main.ts'), 'worker'], {
        env: programEnv({
          CONTROL_DATABASE_URL: url,
          SECRET_KEY: KEY,
          DATA_DIR: directory,
          LOG_LEVEL: 'debug',
          ...env,
        }),
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const lines: Record<string, unknown>[] = []
      let rest = ''
      process_.stdout.on('data', (chunk) => {
        const parts = (rest + chunk).split('\n')
        rest = parts.pop() ?? ''
        for (const line of parts) lines.push(JSON.parse(line))
      })
      const kill = async () => {
        if (process_.exitCode !== null || process_.signalCode !== null) return
        process_.kill('SIGKILL')
        await once(process_, 'exit')
      }
      t.teardown(kill)
      await until('the worker has started', () => lines.some(({ event }) => event === 'started'))
      return { process: process_, lines, kill }
    },
  }
}

async function sendTo(database: Database, dataKeys: string, apiRoot: string): Promise<void> {
  const box = await findSecretBox(readConfig({ DATA_KEYS: dataKeys }), false)
  await mutator(database)(systemActor('test'), async (m) => {
    const auth = {
      authenticatie: 'zgw',
      clientId: 'zaakstroom',
      secret: 'geheim bij de notificatiedienst, 32+',
    } as const
    await saveService(m, box, { label: 'Notificaties', slug: 'nrc', soort: 'nrc', apiRoot, ...auth, timeoutMs: 10_000 })
    await saveSettings(m, { dienst: 'nrc' })
  })
}

/** Connections to the database of these tests, by what they are called. */
export async function connectionsOf(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; count: number }[]>`
    select application_name as name, count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name like 'zaakstroom %' group by 1 order by 1`
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}
