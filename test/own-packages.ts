// Packages that only one test needs, in a folder of their own with a lock file. They are installed when that test runs.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from './until.ts'

const run = promisify(execFile)

/**
 * Installs the packages of a folder below test/, once for a lock file, however many tests ask at the same time.
 * @returns what resolves them
 * @throws what npm says when they cannot be installed
 */
export async function ownPackages(folder: string): Promise<NodeJS.Require> {
  const directory = join(import.meta.dirname, folder)
  const modules = join(directory, 'node_modules')
  const lock = await readFile(join(directory, 'package-lock.json'), 'utf8')
  const marker = join(modules, '.installed')
  const isInstalled = async () => existsSync(marker) && (await readFile(marker, 'utf8')) === lock
  if (!(await isInstalled())) {
    const claim = join(directory, '.installing')
    const isOurs = await mkdir(claim).then(
      () => true,
      () => false,
    )
    if (isOurs) {
      try {
        await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: directory })
        await writeFile(marker, lock)
      } finally {
        await rm(claim, { recursive: true })
      }
    } else await until('another test installed them', async () => (await isInstalled()) || !existsSync(claim), 300_000)
    if (!(await isInstalled())) throw new Error(`the packages of test/${folder} were not installed`)
  }
  return createRequire(join(directory, 'package.json'))
}
