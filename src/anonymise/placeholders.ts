// Files that stand for the bytes of documents. All of one size are one file with many names, of which most is a hole: a million documents
// take no more room than their names.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FILE_MODE, prepareFilesystemStore } from '../documenten/storage/filesystem.ts'
import { newKey } from '../documenten/storage/index.ts'
import { CopyRefused } from './refused.ts'
import { sizeClass } from './replacements.ts'

const TEXT = 'De inhoud van dit document is vervangen bij het anonimiseren.\n'

export type Placeholders = {
  /** Makes the file for a row of table `file`, and changes its cells. */
  place(cells: (string | null)[], columns: { name: string; replaced: number }[]): Promise<void>
  /** How many files were made. */
  made(): number
}

/** @throws CopyRefused when something is in the directory */
export async function openPlaceholders(directory: string): Promise<Placeholders> {
  const present = await readdir(directory).catch((error: { code?: string }) => {
    if (error.code !== 'ENOENT') throw error
    return []
  })
  if (present.length > 0) throw new CopyRefused('--files is not empty: name a new directory')
  await prepareFilesystemStore(directory)
  const known = new Map<number, { file: string; sha256: string }>()
  const directories = new Set<string>()
  let made = 0
  /** Gives the bytes of this size one more name. A file system bounds how many names one file has: then comes a new one. */
  const name = async (size: number, file: string): Promise<string> => {
    if (!directories.has(dirname(file))) await mkdir(dirname(file), { recursive: true })
    directories.add(dirname(file))
    const first = known.get(size)
    const linked =
      first &&
      (await link(first.file, file).then(
        () => true,
        () => false,
      ))
    if (first && linked) return first.sha256
    const handle = await open(file, 'wx', FILE_MODE)
    try {
      await handle.write(TEXT.slice(0, size))
      await handle.truncate(size)
    } finally {
      await handle.close()
    }
    const sha256 = first?.sha256 ?? (await checksum(file))
    known.set(size, { file, sha256 })
    return sha256
  }
  return {
    async place(cells, columns) {
      const at = (column: string) => columns.findIndex((one) => one.name === column)
      const set = (column: string, value: string) => {
        cells[at(column)] = value
        const changed = columns[at(column)]
        if (changed) changed.replaced++
      }
      const size = sizeClass(Number(cells[at('size')]))
      const key = newKey(new Date(cells[at('created_at')] ?? Number.NaN))
      set('sha256', `\\x${await name(size, join(directory, key))}`)
      set('backend', 'filesystem')
      set('key', key)
      set('size', String(size))
      made++
    },
    made: () => made,
  }
}

async function checksum(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
