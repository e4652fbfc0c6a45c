// Where the old installation keeps the bytes of documents: a directory, a bucket or a container.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../config.ts'
import { azureStore } from '../documenten/storage/azure.ts'
import type { Store } from '../documenten/storage/index.ts'
import { s3Store } from '../documenten/storage/s3.ts'
import type { Contents } from './source.ts'

/** What was given for `--bestanden` cannot be read with the present settings. */
export class NoContents extends Error {
  override name = 'NoContents'
}

/**
 * @param place a directory, `s3://bucket/prefix` or `azure://container/prefix`; keys and endpoint are those of our own settings
 * @throws NoContents
 */
export function openContents(place: string, config: Config): Contents {
  const remote = /^(s3|azure):\/\/([^/]+)\/?(.*)$/.exec(place)
  if (!remote) return fromDirectory(path.resolve(place))
  const [, kind, name, location] = remote as unknown as [string, 's3' | 'azure', string, string]
  if (kind === 's3') {
    if (!config.s3) throw new NoContents('the settings of S3 (S3_…) are required to read from a bucket')
    return fromStore(s3Store({ ...config.s3, bucket: name, location }))
  }
  if (!config.azure) throw new NoContents('the settings of Azure (AZURE_…) are required to read from a container')
  return fromStore(azureStore({ ...config.azure, container: name, location }))
}

function fromDirectory(root: string): Contents {
  return async (pad) => {
    const file = path.join(root, pad)
    if (!file.startsWith(root + path.sep)) return undefined // it points out of the store
    const stats = await stat(file).catch((error) => {
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
    })
    if (!stats?.isFile()) {
      await stat(root) // an absent file, or an absent store?
      return undefined
    }
    return { omvang: stats.size, stream: createReadStream(file) }
  }
}

function fromStore(store: Store): Contents {
  return (pad) => store.read(pad)
}
