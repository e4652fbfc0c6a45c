// What subcommands on accounts share, those of an organisation and those of the centre.
import { text } from 'node:stream/consumers'
import { GEBRUIKERSNAAM, generatePassword } from '../beheer/accounts/accounts.ts'
import { MIN_PASSWORD } from '../beheer/accounts/password.ts'
import type { AuditEntry } from '../beheer/frame/change.ts'
import { ROLLEN, type Rol } from '../beheer/frame/session.ts'
import { json } from '../core/mutate.ts'
import type { Db } from '../database/database.ts'
import { print } from './terminal.ts'
import { UsageError } from './usage.ts'

type WithPassword = { passwordStdin?: boolean; json?: boolean }

/** One that was made here, or that comes on standard input. @throws UsageError for one that is too short */
export async function readPassword({ passwordStdin }: WithPassword): Promise<string> {
  if (!passwordStdin) return generatePassword()
  const given = (await text(process.stdin)).replace(/\r?\n$/, '')
  if (given.length < MIN_PASSWORD) throw new UsageError(`a password has at least ${MIN_PASSWORD} characters`)
  return given
}

/** Shows a password that was made here; one that was given is known already. */
export function reportPassword(options: WithPassword, username: string, password: string, line: string): void {
  const shown = options.passwordStdin ? {} : { password }
  const forPeople = options.passwordStdin ? line : `${line} Its password, shown only now:\n${password}`
  print(options, { username, ...shown }, forPeople)
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
