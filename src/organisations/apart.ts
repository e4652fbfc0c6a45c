// What organisations may not share: where their bytes are, and the address in their links. Whoever sweeps, removes or imports would
// otherwise reach what is another's.
import { join, resolve } from 'node:path'
import type { Config } from '../config.ts'

type Place = { setting: string; at: string }

/** Each ends with a slash, so that one is within another when it begins with it. */
function placesOf({ dataDir, documentenDir, importBaseDir, s3, azure }: Config): Place[] {
  const directory = (setting: string, path: string) => ({ setting, at: `file:${join(resolve(path), '/')}` })
  const below = (location: string) =>
    location
      .split('/')
      .filter(Boolean)
      .map((one) => `${one}/`)
      .join('')
  const account = azure && ('name' in azure.account ? azure.account.name : azure.account.connectionString)
  return [
    directory('DATA_DIR', dataDir),
    directory('DOCUMENTEN_DIR', documentenDir),
    directory('IMPORT_DOCUMENTEN_BASE_DIR', importBaseDir),
    ...(s3 ? [{ setting: 'S3_LOCATION', at: `s3:${s3.endpoint ?? ''}/${s3.bucket}/${below(s3.location)}` }] : []),
    ...(azure
      ? [{ setting: 'AZURE_LOCATION', at: `azure:${account}/${azure.container}/${below(azure.location)}` }]
      : []),
  ]
}

/** The setting by which one has what the other has too, or lies within it; undefined: they are apart. */
export function sharedSetting(one: Config, other: Config): string | undefined {
  const meets = (a: Place) => placesOf(other).some((b) => a.at.startsWith(b.at) || b.at.startsWith(a.at))
  return one.publicUrl === other.publicUrl ? 'PUBLIC_URL' : placesOf(one).find(meets)?.setting
}
