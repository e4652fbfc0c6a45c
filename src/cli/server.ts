// The database server and the key, as every subcommand finds them: apart from what only the serving processes need, so that a
// command that does one thing starts soon.
import { randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { type Config, ConfigError } from '../config.ts'
import { isKnownKey } from '../core/key-register.ts'
import { type SecretBox, secretBox } from '../core/secret-box.ts'
import { openDatabase } from '../database/database.ts'
import { findEmbedded, hasEmbedded, startEmbedded } from '../database/embedded.ts'
import { type DataKey, keyRing, SECRET_KEY } from '../lib/key-ring.ts'

/** Something that runs until it is stopped. `failed` settles when it cannot go on. */
export type Running = { stop(): Promise<void>; failed: Promise<unknown> }

/** The `failed` of something that does not fail by itself. */
export const NEVER = new Promise<never>(() => {})

/**
 * The database of this configuration: the one that DATABASE_URL names, or the embedded one in DATA_DIR, which is started
 * unless another process of ours runs it already.
 * @param own the embedded one is to be of this process alone, and is made when there is none: for `start`
 * @throws ConfigError when there is no database, and this is not to make one
 */
export async function openServer(config: Config, log: Logger, own = false): Promise<Running & { url: string }> {
  if (config.databaseUrl) return { url: config.databaseUrl, stop: async () => {}, failed: NEVER }
  const running = own ? undefined : await findEmbedded(config.dataDir)
  if (running) return { url: running, stop: async () => {}, failed: NEVER }
  if (!own && !(await hasEmbedded(config.dataDir)))
    throw new ConfigError([
      `DATABASE_URL is required: there is no embedded database in ${config.dataDir}, which \`zaakstroom start\` would make`,
    ])
  await mkdir(config.dataDir, { recursive: true })
  if (!own) endWithSignals() // also for a signal that comes while it starts
  const embedded = await startEmbedded(config.dataDir, {
    log: (line) => log.debug({ source: 'postgres' }, line.trim()),
  })
  return { url: embedded.url, stop: embedded.stop, failed: embedded.exited }
}

/**
 * A command that is ended by a signal ends the database with it, which is told so when this process exits. One that has its own
 * way to end goes it.
 */
function endWithSignals(): void {
  for (const [name, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    process.once(name, () => {
      if (process.listenerCount(name) === 0) process.exit(code)
    })
}

/**
 * The keys of DATA_KEYS, and behind them SECRET_KEY, or else the key that `start` made in DATA_DIR.
 * @param make make one when there is none and the database is the embedded one. For any other somebody has to choose it
 * @throws ConfigError when there is none
 */
export async function findSecretBox(config: Config, make: boolean): Promise<SecretBox> {
  const secretKey = config.secretKey ?? (await keyOfDirectory(config, make))
  const last: DataKey[] = secretKey === undefined ? [] : [{ id: SECRET_KEY, key: secretKey }]
  const keys = [...config.dataKeys, ...last]
  if (keys.length === 0) throw new ConfigError(['SECRET_KEY is required'])
  return secretBox(keyRing(keys))
}

/** That of the embedded database. One that a `start` of version 1.0.0 made for another counts as long as that one knows it. */
async function keyOfDirectory(config: Config, make: boolean): Promise<string | undefined> {
  const { databaseUrl, controlDatabaseUrl, dataKeys } = config
  if (!databaseUrl && !controlDatabaseUrl) return keyInDirectory(config, make && dataKeys.length === 0)
  const key = await keyInDirectory(config, false)
  if (key === undefined || !databaseUrl) return undefined
  const database = openDatabase(databaseUrl, { max: 1, name: 'command' })
  try {
    return (await isKnownKey(database.sql, keyRing([{ id: SECRET_KEY, key }]))) ? key : undefined
  } finally {
    await database.close()
  }
}

async function keyInDirectory({ dataDir }: Config, make: boolean): Promise<string | undefined> {
  const file = join(dataDir, 'secret-key')
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
    if (!make) return undefined
  }
  await mkdir(dataDir, { recursive: true })
  // Whole or not at all, and by one of two processes that start at the same moment.
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
  try {
    await link(draft, file)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    await rm(draft)
  }
  return (await readFile(file, 'utf8')).trim()
}
