// What subcommands on accounts share, those of an organisation and those of the centre.
import { GEBRUIKERSNAAM, generatePassword } from '../beheer/accounts/accounts.ts'
import { MIN_PASSWORD } from '../beheer/accounts/password.ts'
import type { AuditEntry } from '../beheer/frame/change.ts'
import { ROLLEN, type Rol } from '../beheer/frame/session.ts'
import { json } from '../core/mutate.ts'
import type { Db } from '../database/database.ts'
import { type Delivered, deliverOnce, print, readHidden, tellFile } from './terminal.ts'
import { UsageError } from './usage.ts'

type WithPassword = Delivered & { passwordStdin?: boolean }

/** One that was made here, or that comes on standard input. @throws UsageError for one that is too short */
export async function readPassword({ passwordStdin }: WithPassword): Promise<string> {
  if (!passwordStdin) return generatePassword()
  const given = (await readHidden('The password: ')).replace(/\r?\n$/, '')
  if (given.length < MIN_PASSWORD) throw new UsageError(`a password has at least ${MIN_PASSWORD} characters`)
  return given
}

/**
 * Shows a password that was made here, before the change is committed; one that was given is known already, and is told of behind it.
 * @returns `before` is the last of the change; `behind` comes after it
 */
export function passwordReport(options: WithPassword, username: string, password: string, line: string) {
  if (options.passwordStdin) return { before: async () => {}, behind: () => print(options, { username }, line) }
  const text = `${line} Its password, shown only now:\n${password}`
  const before = deliverOnce(options, { username, password }, text)
  return { before, behind: () => tellFile(options, line) }
}

/** @throws UsageError for what is no name to sign in with */
export function requireUsername(username: string): void {
  if (!new RegExp(GEBRUIKERSNAAM).test(username))
    throw new UsageError('--username has 1 to 150 visible ASCII characters and no spaces')
}

/** @throws UsageError for what is no role */
export function roleOf(role: string): Rol {
  const found = ROLLEN.find((one) => one === role)
  if (!found) throw new UsageError(`--role is one of ${ROLLEN.join(', ')}`)
  return found
}

/** In the record of changes of the pages, as done from the command line. */
export async function recordByCommand(
  db: Db,
  { handeling, soort, id = '', weergave = '', oud, nieuw }: AuditEntry,
): Promise<void> {
  const object = { objectKind: soort, objectId: id, objectWeergave: weergave }
  await db
    .insertInto('beheerAudit')
    .values({ gebruiker: 'commando', handeling, ...object, oud: json(oud), nieuw: json(nieuw) })
    .execute()
}
