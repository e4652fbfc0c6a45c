// What an organisation leaves behind is taken away, and it is shown that it is gone.
import { access, rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Config } from '../config.ts'
import { openDatabase } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { schemasOf } from '../database/schema.ts'
import { WITHOUT_LIMITS, wholeTables } from '../database/whole-tables.ts'
import { openStores } from '../documenten/storage/choose.ts'
import type { Store } from '../documenten/storage/index.ts'
import { changedSince, type Manifest } from './export.ts'
import type { Organisation } from './organisation.ts'
import { requireDroppable } from './owner.ts'
import { OrganisationRefused } from './refused.ts'

/** What was there, and what is there afterwards: nothing, or the removal failed. */
export type Removal = {
  rsin: string
  removedAt: string
  tables: { name: string; rows: number }[]
  documents: { count: number; bytes: number }
  left: { schemas: number; documents: number; directories: number }
}

/**
 * Removes the schemas, the bytes and the directories of an organisation. Whoever is stopped halfway does it again: what is gone
 * stays gone.
 * @param config its own
 * @param exported the export that it leaves with: nothing may have been written since
 * @throws OrganisationRefused when its address leads to another schema, which may be that of somebody else, or the export lacks something
 * @throws Error when something is left
 */
export async function removeOrganisation(
  { rsin, schema }: Pick<Organisation, 'rsin' | 'schema'>,
  config: Config,
  tell: (line: string) => void,
  exported?: Manifest,
): Promise<Removal> {
  const url = config.databaseUrl ?? ''
  const { own, queue } = schemasOf(url)
  if (own !== schema)
    throw new OrganisationRefused(`its address leads to schema ${own}, and its own is ${schema}: nothing was removed`)
  const database = openDatabase(url, { max: 1, name: 'remove', settings: WITHOUT_LIMITS })
  try {
    await requireDroppable(database.sql, own, rsin)
    const changed = exported ? await changedSince(database.sql, exported) : []
    if (changed.length > 0)
      throw new OrganisationRefused(
        `${changed.join(', ')} changed since the export: nothing was removed; suspend it, and export it once more`,
      )
    const tables: Removal['tables'] = []
    for (const { name } of await wholeTables(database.sql)) {
      const [counted] = await database.sql.unsafe<{ rows: number }[]>(`select count(*)::int as rows from "${name}"`)
      tables.push({ name, rows: counted?.rows ?? 0 })
    }
    const { documentenBackend, documentenDir, dataDir, importBaseDir } = config
    const store = await storeOf(config, tables.find(({ name }) => name === 'file')?.rows ?? 0)
    const documents = { count: 0, bytes: 0 }
    for await (const { key, size } of store?.list() ?? []) {
      await store?.remove(key)
      documents.count++
      documents.bytes += size
      if (documents.count % 1000 === 0) tell(`documents: ${documents.count}`)
    }
    const left = { schemas: 0, documents: 0, directories: 0 }
    for await (const _ of store?.list() ?? []) left.documents++
    await database.sql.begin(async (trx) => {
      for (const schema of [own, queue]) await trx`drop schema if exists ${trx(schema)} cascade`
    })
    // A directory that it was given by a setting of its own may be others' too.
    const directories = [dataDir, importBaseDir, ...(documentenBackend === 'filesystem' ? [documentenDir] : [])]
    for (const directory of directories.filter((one) => basename(one) === rsin)) {
      // In one step: half a store of documents could not be asked any more what is in it.
      const gone = `${directory}.removed`
      await rm(gone, { recursive: true, force: true })
      if (await isThere(directory)) await rename(directory, gone)
      await rm(gone, { recursive: true, force: true })
      if ((await isThere(directory)) || (await isThere(gone))) left.directories++
    }
    left.schemas = one(
      await database.sql<{ count: number }[]>`
        select count(*)::int as count from pg_namespace where nspname = any(${[own, queue]}::text[])`,
    ).count
    if (Object.values(left).some((count) => count > 0))
      throw new Error(`not all of ${rsin} is gone: ${JSON.stringify(left)}`)
    return { rsin, removedAt: new Date().toISOString(), tables: tables.filter(({ rows }) => rows > 0), documents, left }
  } finally {
    await database.close()
  }
}

/** Its store; undefined where nothing was ever written, or all is gone. @throws StoreUnavailable when rows name what is not mounted */
async function storeOf(config: Config, files: number): Promise<Store | undefined> {
  const store = openStores(config).storeFor(config.documentenBackend)
  return store.backend === 'filesystem' && files === 0 && !(await isThere(config.documentenDir)) ? undefined : store
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
