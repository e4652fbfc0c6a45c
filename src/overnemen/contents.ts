// Where the old installation keeps the bytes of documents: a directory, a bucket or a container.

import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../config.ts'
import { azureStore } from '../documenten/storage/azure.ts'
import type { Store } from '../documenten/storage/index.ts'
import { s3Store } from '../documenten/storage/s3.ts'
import { type Contents, SourceUnavailable, UnreadableContents } from './source.ts'

/** What was given for `--files` cannot be read with the present settings. */
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

const ABSENT = new Set(['ENOENT', 'ENOTDIR'])

function fromDirectory(root: string): Contents {
  return async (name) => {
    const file = path.join(root, name)
    if (!file.startsWith(root + path.sep)) return undefined // it points out of the store
    // Without waiting: what is no file, such as a pipe, would be waited for.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(async (error) => {
      // Is it the file, or the store?
      await stat(root).catch((away) => {
        throw new SourceUnavailable(away.code)
      })
      if (ABSENT.has(error.code)) return undefined
      throw new UnreadableContents(error.code)
    })
    const stats = await handle?.stat()
    if (!handle || !stats?.isFile()) {
      await handle?.close()
      return undefined
    }
    return { size: stats.size, stream: handle.createReadStream() }
  }
}

function fromStore(store: Store): Contents {
  return (path) => store.read(path)
}
