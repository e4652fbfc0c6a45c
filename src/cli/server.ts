// The database server and the key, as every subcommand finds them: apart from what only the serving processes need, so that a
// command that does one thing starts soon.
import { randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { type Config, ConfigError } from '../config.ts'
import { type SecretBox, secretBox } from '../core/secret-box.ts'
import { findEmbedded, startEmbedded } from '../database/embedded.ts'
import { type DataKey, keyRing, SECRET_KEY } from '../lib/key-ring.ts'

/** Something that runs until it is stopped. `failed` settles when it cannot go on. */
export type Running = { stop(): Promise<void>; failed: Promise<unknown> }

/** The `failed` of something that does not fail by itself. */
export const NEVER = new Promise<never>(() => {})

/**
 * The database of this configuration: the one that DATABASE_URL names, or the embedded one in DATA_DIR, which is started
 * unless another process of ours runs it already.
 * @param own refuse a running embedded one: `start` is to have it for itself
 */
export async function openServer(config: Config, log: Logger, own = false): Promise<Running & { url: string }> {
  if (config.databaseUrl) return { url: config.databaseUrl, stop: async () => {}, failed: NEVER }
  const running = own ? undefined : await findEmbedded(config.dataDir)
  if (running) return { url: running, stop: async () => {}, failed: NEVER }
  await mkdir(config.dataDir, { recursive: true })
  const embedded = await startEmbedded(config.dataDir, {
    log: (line) => log.debug({ source: 'postgres' }, line.trim()),
  })
  return { url: embedded.url, stop: embedded.stop, failed: embedded.exited }
}

/**
 * The keys of DATA_KEYS, and behind them SECRET_KEY, or else the key that `start` made in DATA_DIR.
 * @param make make one when there is none
 */
export async function findSecretBox(config: Config, make: boolean): Promise<SecretBox> {
  const secretKey = config.secretKey ?? (await keyInDirectory(config, make && config.dataKeys.length === 0))
  const last: DataKey[] = secretKey === undefined ? [] : [{ id: SECRET_KEY, key: secretKey }]
  const keys = [...config.dataKeys, ...last]
  if (keys.length === 0) throw new ConfigError(['SECRET_KEY is required'])
  return secretBox(keyRing(keys))
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
