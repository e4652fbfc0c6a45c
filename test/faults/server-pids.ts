import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The processes of the PostgreSQL that runs on this cluster: the first is the parent of the others. */
export async function pidsOf(cluster: string): Promise<number[]> {
  const parent = await postmasterOf(cluster)
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(parent)])
  return [parent, ...stdout.trim().split(/\s+/).map(Number)]
}

export const postmasterOf = async (cluster: string): Promise<number> =>
  Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[0])
