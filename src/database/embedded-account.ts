// The account that the embedded database runs as. PostgreSQL refuses to run as root, so root has to run it as somebody else,
// who may be unable to reach our binaries and the data directory: both may lie in root's home. Then the server gets the
// capability to pass and read directories regardless of their mode, but not more. Within Docker only the wider
// CAP_DAC_OVERRIDE is to be had.
import { execFile } from 'node:child_process'
import { lchown, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { exists, type Paths } from './embedded-directory.ts'
import { type Account, type Binaries, finish, isRoot, start } from './embedded-programs.ts'

export const NAME = 'zaakstroom' // of the database, of the role that owns it, and of the system user when we are root

/**
 * As whom the server runs: as we do, unless that is root.
 * Then as the owner of the cluster or the data directory, or as a system user of our own. Whoever it is has to reach the program.
 * @throws Error when that user cannot
 */
export async function chooseAccount(paths: Paths, binaries: Binaries): Promise<Account> {
  if (!isRoot()) return {}
  const user = (await ownerOf(paths.cluster)) ?? (await ownerOf(paths.dataDir)) ?? (await ownUser())
  // Copied or restored by root, or by a system with other users.
  if ((await exists(paths.cluster)) && (await stat(paths.cluster)).uid !== user.uid) await giveAway(paths.cluster, user)
  const candidates: Account[] = [user, throughSetpriv(user, 'dac_read_search'), throughSetpriv(user, 'dac_override')]
  for (const account of candidates) {
    const probe = ['-c', 'cd -- "$1" && exec "$2" --version', 'sh', paths.dataDir, binaries.postgres]
    const outcome = await finish(start(account, '/bin/sh', probe)).catch(() => undefined) // setpriv may be missing
    if (outcome?.code === 0) return account
  }
  throw new Error(
    `PostgreSQL does not run as root, and user ${user.uid}, whom it would run as, cannot reach the program or the data ` +
      'directory. Move them out of directories that only root may enter, install setpriv (util-linux), start as an ' +
      'ordinary user, or set DATABASE_URL.',
  )
}

function throughSetpriv({ uid, gid }: Account, capability: string): Account {
  const only = `-all,+${capability}`
  return {
    uid,
    gid,
    wrapper: [
      'setpriv',
      ...[`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'],
      ...[`--inh-caps=${only}`, `--ambient-caps=${only}`],
      '--securebits=+no_setuid_fixup', // access(2), which PostgreSQL asks about its binaries, ignores capabilities otherwise
      '--',
    ],
  }
}

/** The owner of a path, unless that is root, or nobody that this system knows: initdb insists on a user with a name. */
async function ownerOf(path: string): Promise<{ uid: number; gid: number } | undefined> {
  if (!(await exists(path))) return undefined
  const { uid } = await stat(path)
  return uid === 0 ? undefined : findUser(String(uid))
}

/** A system user of our own, made when that is possible. */
async function ownUser(): Promise<{ uid: number; gid: number }> {
  const make = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME]
  const user =
    (await findUser(NAME)) ??
    (await promisify(execFile)('useradd', make).then(
      () => findUser(NAME),
      () => findUser(NAME), // another process may have been faster
    )) ??
    (await findUser('nobody'))
  if (!user) throw new Error('PostgreSQL does not run as root, and there is no other user: set DATABASE_URL')
  return user
}

async function findUser(name: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const ask = async (flag: string) => Number((await promisify(execFile)('id', [flag, name])).stdout)
    return { uid: await ask('-u'), gid: await ask('-g') }
  } catch {
    return undefined
  }
}

async function giveAway(directory: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true })) await lchown(join(directory, entry), uid, gid)
  await lchown(directory, uid, gid) // last, since this is what tells that it has been done
}
