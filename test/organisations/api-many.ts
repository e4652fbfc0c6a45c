// An application for organisations of one database, each in a schema of its own. Requests go through `inject`, by host.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { ManyParts } from '../../src/app/parts.ts'
import { buildApp } from '../../src/app.ts'
import { createClient, signToken } from '../../src/autorisaties/clients.ts'
import { openMany } from '../../src/cli/run-api.ts'
import { readConfig } from '../../src/config.ts'
import { agreeOnKey, requireKeys } from '../../src/core/key-register.ts'
import { type SecretBox, secretBox } from '../../src/core/secret-box.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { migrate, migrateControl } from '../../src/database/migrate.ts'
import { withSchema } from '../../src/database/schema.ts'
import { keyRing } from '../../src/lib/key-ring.ts'
import type { Organisation } from '../../src/organisations/organisation.ts'
import {
  changeOrganisations,
  controlUrlOf,
  insertOrganisation,
  openControl,
  readOrganisations,
  updateOrganisation,
} from '../../src/organisations/registry.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { type Json, SECRET } from '../app.ts'
import { LOOPBACK_ALLOWED } from '../program-env.ts'
import { testDatabase } from '../setup.ts'

type TestLike = { teardown(work: () => unknown): unknown }

const INSTALLATION_KEY = 'key of the installation, long enough'
/** The ring of the organisation with this number. */
export const keysOf = (n: number): string => `2026-11:${Buffer.alloc(32, 40 + n).toString('base64')}`

export type Wanted = { host: string; schema: string } & Partial<
  Pick<Organisation, 'limits' | 'settings' | 'databaseUrl' | 'dataKeys' | 'state'>
>
export type Many = {
  app: FastifyInstance
  parts: ManyParts
  control: Database
  env: Record<string, string>
  url: string
  lines: string[]
  /** A request at a host, as a client with all rights that each of them has. */
  call(
    host: string,
    method: string,
    url: string,
    options?: {
      body?: unknown
      form?: Record<string, string>
      /** As it is sent. */
      raw?: string
      as?: string
      headers?: Record<string, string>
      remoteAddress?: string
    },
  ): Promise<{ status: number; text: string; headers: Record<string, unknown>; body: Json }>
  change(host: string, changed: Parameters<typeof updateOrganisation>[3]): Promise<void>
  add(wanted: Wanted & { rsin: string }): Promise<void>
}

/** Makes the schema of one, with its client. */
export async function prepareOrganisation(url: string, box: SecretBox): Promise<void> {
  await migrate(url)
  const database = openDatabase(url, { max: 2, name: 'test' })
  try {
    database.useNumbers(box.numbers)
    await requireKeys(database.sql, box)
    await agreeOnKey(database.sql, box)
    await createClient(database, box, { id: 'beheer', label: 'Beheer', alleAutorisaties: true, secret: SECRET })
  } finally {
    await database.close()
  }
}

export const ringOf = (dataKeys: string): SecretBox => {
  const [id = '', key = ''] = dataKeys.split(':')
  return secretBox(keyRing([{ id, key: Buffer.from(key, 'base64') }]))
}

/** @param options.isPrepared the schemas are there already */
export async function many(
  t: TestLike,
  wanted: Wanted[],
  options: { env?: Record<string, string>; quietMs?: number; url?: string; isPrepared?: boolean } = {},
): Promise<Many> {
  const url = options.url ?? (await testDatabase(t)).url
  const controlUrl = withSchema(url, `control_${randomBytes(4).toString('hex')}`) // each has a registry of its own
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-many-'))
  const env = {
    CONTROL_DATABASE_URL: controlUrl,
    SECRET_KEY: INSTALLATION_KEY,
    DATA_DIR: directory,
    LOG_LEVEL: 'info',
    ...LOOPBACK_ALLOWED,
    ...options.env,
  }
  await migrateControl(controlUrlOf(controlUrl))
  const control = openControl(controlUrl)
  const box = secretBox(INSTALLATION_KEY)
  const add = async ({ rsin, host, schema, state, ...given }: Wanted & { rsin: string }) => {
    const one = { databaseUrl: url, dataKeys: keysOf(0), limits: {}, settings: {}, ...given }
    await changeOrganisations(control, { rsin, actor: 'test', action: 'add' }, (trx) =>
      insertOrganisation(trx, box, { rsin, name: host, hosts: [host], schema, ...one }),
    )
    if (state) await change(host, { state })
  }
  const change: Many['change'] = async (host, changed) => {
    const before = (await readOrganisations(control, box)).find(({ hosts }) => hosts.includes(host))!
    await changeOrganisations(control, { rsin: before.rsin, actor: 'test', action: 'set' }, (trx) =>
      updateOrganisation(trx, box, before, changed),
    )
  }
  for (const [n, one] of wanted.entries()) {
    const dataKeys = one.dataKeys ?? keysOf(n)
    if (!options.isPrepared) await prepareOrganisation(withSchema(one.databaseUrl ?? url, one.schema), ringOf(dataKeys))
    await add({ ...one, dataKeys, rsin: String(n + 1).padStart(9, '0') })
  }
  const lines: string[] = []
  const log = openLog(env.LOG_LEVEL, { write: (line) => void lines.push(line) })
  const { parts, close } = await openMany(readConfig(env), env, controlUrl, box, log, options)
  const app = await buildApp(parts)
  t.teardown(async () => {
    await app.close()
    await close()
    await control.close()
    await rm(directory, { recursive: true, force: true })
  })
  return {
    app,
    parts,
    control,
    env,
    url,
    lines,
    change,
    add,
    call: async (host, method, path, { body, form, raw, as = 'beheer', headers = {}, remoteAddress } = {}) => {
      const answer = await app.inject({
        method: method as InjectOptions['method'],
        url: path.replace(/^https?:\/\/[^/]+/, ''),
        headers: {
          host,
          ...(as !== '' && { authorization: `Bearer ${signToken(as, SECRET, { id: 'ik', name: 'Ik' })}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
        ...(remoteAddress && { remoteAddress }),
        ...(body !== undefined && { payload: JSON.stringify(body) }),
        ...(raw !== undefined && { payload: raw }),
        ...(form && { payload: new URLSearchParams(form).toString() }),
      } as InjectOptions)
      const isJson = String(answer.headers['content-type'] ?? '').includes('json')
      return {
        status: answer.statusCode,
        text: answer.body,
        headers: answer.headers,
        body: isJson && answer.body ? JSON.parse(answer.body) : undefined,
      }
    },
  }
}
