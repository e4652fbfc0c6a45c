// Which test files a change concerns: those that changed, those that import what changed, and those of the same folder. The application
// as a whole imports everything, so what is only reached through it does not count: `npm test` is for that.
import { execFile } from 'node:child_process'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { promisify } from 'node:util'

/** What puts the whole together: imports are not followed through these. */
const WHOLE = /^(src\/(app|main)\.ts|src\/(app|cli)\/.*|test\/app\.ts|tasks\/index\.ts|src\/[\w-]+\/index\.ts)$/
const IMPORT = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

/**
 * Changed since the branch left main, in files that are not committed too.
 * @throws when git does not answer
 */
export async function changedTests(): Promise<string[]> {
  const base = await git('merge-base', 'HEAD', 'main').catch(() => ['HEAD'])
  const changed = new Set([
    ...(await git('diff', '--name-only', '--diff-filter=d', ...base)),
    ...(await git('ls-files', '--others', '--exclude-standard')),
  ])
  const importers = await importersOf()
  const reached = new Set(changed)
  for (const name of reached) {
    if (WHOLE.test(name) && !changed.has(name)) continue
    for (const importer of importers.get(name) ?? []) reached.add(importer)
  }
  const folders = new Set([...changed].flatMap((name) => /^src\/(.+)\/[^/]+$/.exec(name)?.[1] ?? []))
  const all = await Array.fromAsync(glob('test/**/*.test.ts', { exclude: ['**/node_modules/**'] }))
  return all.filter((name) => reached.has(name) || folders.has(dirname(name).replace(/^test\//, '')))
}

/** Who imports a file, by its name. */
async function importersOf(): Promise<Map<string, string[]>> {
  const importers = new Map<string, string[]>()
  for await (const name of glob('{src,tasks,test,bench}/**/*.ts', { exclude: ['**/node_modules/**'] }))
    for (const [, target = ''] of (await readFile(name, 'utf8')).matchAll(IMPORT)) {
      const imported = normalize(join(dirname(name), target))
      importers.set(imported, [...(importers.get(imported) ?? []), name])
    }
  return importers
}

async function git(...args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)('git', args)
  return stdout.split('\n').filter(Boolean)
}
