// Which store a document is in. New ones go to the backend of the settings; those that exist stay where their row says,
// so that a change of backend moves nothing by itself.
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import { azureOpslag } from './azure.ts'
import { filesystemOpslag, prepareFilesystemOpslag } from './filesystem.ts'
import { BACKENDS, type Backend, type Opslag, OpslagOnbeschikbaar } from './index.ts'
import { s3Opslag } from './s3.ts'

export type Opslagen = {
  /** Where new documents go. */
  opslag: Opslag
  /** @throws OpslagOnbeschikbaar when documents are in a backend that has no settings (any more) */
  opslagVoor(backend: string): Opslag
}

/** Nothing is loaded or connected before a store is used. */
export function openOpslagen(config: Config, log?: Pick<Logger, 'error'>): Opslagen {
  const opened = new Map<string, Opslag>()
  const opslagVoor = (backend: string) => {
    const opslag = opened.get(backend) ?? open(config, backend, log)
    opened.set(backend, opslag)
    return opslag
  }
  return { opslag: opslagVoor(config.documentenBackend), opslagVoor }
}

function open(config: Config, backend: string, log?: Pick<Logger, 'error'>): Opslag {
  if (backend === 'filesystem') return filesystemOpslag(config.documentenDir)
  if (backend === 's3_storage' && config.s3) return s3Opslag(config.s3, log)
  if (backend === 'azure_blob_storage' && config.azure) return azureOpslag(config.azure, log)
  log?.error({ backend }, 'there are documents in a storage that has no settings')
  throw new OpslagOnbeschikbaar('not-configured')
}

/**
 * Sets up the directory of the filesystem backend, as long as no document is in it. Later on a directory without our
 * marker is the wrong one, or one that is not mounted.
 */
export async function prepareNewStore(config: Config, database: Database, backend: Backend): Promise<void> {
  if (backend !== 'filesystem') return
  const [row] = await database.sql`select from bestand where backend = 'filesystem' limit 1`
  if (!row) await prepareFilesystemOpslag(config.documentenDir)
}

export function isBackend(name: string): name is Backend {
  return (BACKENDS as readonly string[]).includes(name)
}
