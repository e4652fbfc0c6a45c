// Which store a document is in. New ones go to the backend of the settings; those that exist stay where their row says,
// so that a change of backend moves nothing by itself.
import type { Logger } from 'pino'
import { BACKENDS, type Backend } from '../../config/storage.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import { tracedBelow } from '../../telemetry/tracing.ts'
import { azurePackage, azureStore } from './azure.ts'
import { filesystemStore, prepareFilesystemStore } from './filesystem.ts'
import { type Store, StoreUnavailable } from './index.ts'
import { s3Packages, s3Store } from './s3.ts'
import { openScanner, scannedStore } from './scan.ts'

export type Stores = {
  /** Where new documents go, past the malware scanner when there is one. */
  store: Store
  /** @throws StoreUnavailable when documents are in a backend that has no settings (any more) */
  storeFor(backend: string): Store
}

/** Nothing is loaded or connected before a store is used. */
export function openStores(config: Config, log?: Partial<Pick<Logger, 'warn'>> & Pick<Logger, 'error'>): Stores {
  const opened = new Map<string, Store>()
  const storeFor = (backend: string) => {
    const store = opened.get(backend) ?? traced(open(config, backend, log))
    opened.set(backend, store)
    return store
  }
  const { clamdUrl, clamdMaxBytes, clamdUnavailable } = config
  const store = storeFor(config.documentenBackend)
  return {
    store: clamdUrl ? scannedStore(store, openScanner({ clamdUrl, clamdMaxBytes, clamdUnavailable }, log)) : store,
    storeFor,
  }
}

/** The same store, with a span for each time that bytes go in, come out or are removed. */
function traced(store: Store): Store {
  const attributes = { 'zaakstroom.storage': store.backend }
  const within = <T>(what: string, work: () => Promise<T>) => tracedBelow(`storage ${what}`, 'CLIENT', attributes, work)
  return {
    ...store,
    write: (...args) => within('write', () => store.write(...args)),
    read: (...args) => within('read', () => store.read(...args)),
    remove: (...args) => within('remove', () => store.remove(...args)),
  }
}

function open(config: Config, backend: string, log?: Pick<Logger, 'error'>): Store {
  if (backend === 'filesystem') return filesystemStore(config.documentenDir)
  if (backend === 's3_storage' && config.s3) return s3Store(config.s3, log)
  if (backend === 'azure_blob_storage' && config.azure) return azureStore(config.azure, log)
  log?.error({ backend }, 'there are documents in a storage that has no settings')
  throw new StoreUnavailable('not-configured')
}

/**
 * Sets up the directory of the filesystem backend, as long as no document is in it. Later on a directory without our
 * marker is the wrong one, or one that is not mounted.
 */
export async function prepareNewStore(config: Config, database: Database, backend: Backend): Promise<void> {
  if (backend !== 'filesystem') return
  const [row] = await database.sql`select from file where backend = 'filesystem' limit 1`
  if (!row) await prepareFilesystemStore(config.documentenDir)
}

/** @throws PackageMissing when this installation lacks what the backend needs */
export async function requirePackages(backend: Backend): Promise<void> {
  if (backend === 's3_storage') await s3Packages()
  if (backend === 'azure_blob_storage') await azurePackage()
}

/** Whether a text of the settings or the database names a backend that this program has. */
export function isBackend(name: string): name is Backend {
  return (BACKENDS as readonly string[]).includes(name)
}
