// Loaded by s3rver before its own program: it answers a write when all bytes are handed to the file, not when they stand in it, so
// that who reads at once now and then finds less, or nothing.
import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setImmediate } from 'node:timers/promises'

type Stored = { bucket: string; key: string }
type Files = {
  putObject(object: Stored): Promise<{ size: number }>
  getResourcePath(bucket: string, key: string, kind: string): string
}

const { prototype }: { prototype: Files } = createRequire(new URL('../s3rver/package.json', import.meta.url))(
  's3rver/lib/stores/filesystem.js',
)
const { putObject } = prototype
prototype.putObject = async function (object) {
  const result = await putObject.call(this, object)
  const path = this.getResourcePath(object.bucket, object.key, 'object')
  while ((await stat(path).catch(() => undefined))?.size !== result.size) await setImmediate()
  return result
}
