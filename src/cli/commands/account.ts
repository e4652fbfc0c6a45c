// The subcommands on accounts of the administration pages: also when nobody can sign in any more.
import type { Command } from 'commander'
import {
  type Account,
  createAccount,
  deleteTotp,
  INVITED_DAYS,
  invitationUrl,
  invite,
  listAccounts,
  moveIssuer,
  setPassword,
} from '../../beheer/accounts/accounts.ts'
import { ROLLEN } from '../../beheer/frame/session.ts'
import { systemActor } from '../../core/access.ts'
import { type Mutation, mutator } from '../../core/mutate.ts'
import { Problem } from '../../core/problem.ts'
import { endWait } from '../../core/sign-in-attempts.ts'
import type { ReadDb } from '../../database/database.ts'
import { ownAddress } from '../../http/links.ts'
import { passwordReport, readPassword, recordByCommand, requireUsername, roleOf } from '../accounts.ts'
import { changeDatabase, withDatabase } from '../database.ts'
import { deliver, OUT, print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

export function addTo(program: Command): void {
  const account = program.command('account').description('people who may use the administration pages')

  account
    .command('create')
    .description('make an account; prints its password once, which the first sign-in replaces')
    .requiredOption('--username <name>', 'name to sign in with, without spaces')
    .option('--role <role>', ROLLEN.join(', '), 'administrator')
    .option('--name <name>', 'name for people', '')
    .option('--password-stdin', 'read the password from standard input instead of making one')
    .option(...OUT)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom account create --username j.jansen --role operator')
    .action(
      async (options: {
        username: string
        role: string
        name: string
        passwordStdin?: boolean
        json?: boolean
        out?: string
      }) => {
        const { username, role, name } = options
        requireUsername(username)
        const rol = roleOf(role)
        const password = await readPassword(options)
        const report = passwordReport(options, username, password, `Account ${username} made.`)
        await change(async (m) => {
          const { uuid } = await createAccount(m.trx, {
            gebruikersnaam: username,
            naam: name,
            rol,
            wachtwoord: password,
            passwordGiven: true,
          })
          await record(m, 'account-maken', { uuid, gebruikersnaam: username }, { naam: name, rol })
          await report.before()
        }).catch((error) => {
          throw error instanceof Problem && error.status === 400
            ? new UsageError(`there is an account ${username} already`)
            : error
        })
        report.behind()
      },
    )

  account
    .command('reset-password')
    .description('give an account a new password, printed once; ends its sessions and the wait after wrong passwords')
    .requiredOption('--username <name>', 'name to sign in with')
    .option('--password-stdin', 'read the password from standard input instead of making one')
    .option('--remove-totp', 'remove its one-time codes as well', false)
    .option(...OUT)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom account reset-password --username j.jansen')
    .action(
      async (options: {
        username: string
        passwordStdin?: boolean
        removeTotp: boolean
        json?: boolean
        out?: string
      }) => {
        const password = await readPassword(options)
        const line = `Account ${options.username} has a new password.`
        const report = passwordReport(options, options.username, password, line)
        await change(async (m) => {
          const found = await requireAccount(m.read, options.username)
          requireOwn(found)
          await setPassword(m.trx, found.id, password, { given: true })
          if (options.removeTotp) await deleteTotp(m.trx, found.id)
          await record(m, 'wachtwoord-wijzigen', found, options.removeTotp ? { eenmaligeCodes: false } : undefined)
          await report.before()
        })
        report.behind()
      },
    )

  account
    .command('unlock')
    .description('end the wait of an account after wrong passwords or codes, wherever they were entered')
    .requiredOption('--username <name>', 'name to sign in with')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom account unlock --username j.jansen')
    .action(async (options: { username: string; json?: boolean }) => {
      await change(async (m) => {
        const found = await requireAccount(m.read, options.username)
        requireOwn(found)
        await endWait(m.trx, found.id)
        await record(m, 'wachttijd-opheffen', found)
      })
      print(
        options,
        { username: options.username, waits: false },
        `Nobody has to wait for account ${options.username}.`,
      )
    })

  account
    .command('invite')
    .description('print a link, once, by which somebody who signs in with OpenID Connect gets this account')
    .requiredOption('--username <name>', 'name of an account without a password; it is made when there is none')
    .option('--role <role>', `of one that is made: ${ROLLEN.join(', ')}; the provider decides on it later`, 'viewer')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom account invite --username j.jansen')
    .action(async (options: { username: string; role: string; json?: boolean }) => {
      requireUsername(options.username)
      const rol = roleOf(options.role)
      await changeDatabase((database, config) =>
        mutator(database)(systemActor('account'), async (m) => {
          m.unrecorded('it is in beheer_audit')
          const found = await findByUsername(m.read, options.username)
          if (found) requireOwn(found)
          if (found?.wachtwoord) throw new UsageError(`account ${options.username} signs in with a password`)
          const { id, uuid } = found ?? (await createAccount(m.trx, { gebruikersnaam: options.username, rol }))
          await record(m, 'uitnodiging-maken', { uuid, gebruikersnaam: options.username }, found ? undefined : { rol })
          const link = invitationUrl(ownAddress(config), await invite(m.trx, id))
          const text = `Whoever opens this link within ${INVITED_DAYS} days and signs in has the account ${options.username}; it is shown only now:`
          await deliver(options, { username: options.username, link }, `${text}\n${link}`)
        }),
      )
    })

  account
    .command('provider-moved')
    .description('bring the accounts of a provider along to its new issuer, where the same people have the same sub')
    .requiredOption('--from <issuer>', 'the issuer that it had')
    .requiredOption('--to <issuer>', 'the issuer that it has now')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  zaakstroom account provider-moved --from https://old.example.nl/realm --to https://idp.example.nl/realm',
    )
    .action(async (options: { from: string; to: string; json?: boolean }) => {
      let moved = 0
      await change(async (m) => {
        moved = await moveIssuer(m.trx, options.from, options.to)
        const object = { handeling: 'inlogaanbieder-wijzigen', soort: 'inlogaanbieder', weergave: options.to }
        await recordByCommand(m.trx, {
          ...object,
          oud: { issuer: options.from },
          nieuw: { issuer: options.to, accounts: moved },
        })
      })
      print(options, { moved }, `${moved} accounts belong to ${options.to} now.`)
    })

  account
    .command('list')
    .description('the accounts, with role and state')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom account list')
    .action(async (options: { json?: boolean }) => {
      const accounts = await withDatabase(({ db }) => listAccounts(db as unknown as ReadDb))
      const rows = accounts.map((one) => ({
        username: one.gebruikersnaam,
        name: one.naam,
        role: one.rol,
        active: one.actief,
        failedAttempts: one.failedAttempts,
        waits: one.wachtTot !== null,
        password: one.wachtwoord,
        centre: one.centre,
        totp: one.totp,
        oidc: one.oidc,
        lastSignIn: one.lastSignInAt,
      }))
      const line = ({ username, role, active, failedAttempts, centre, totp }: (typeof rows)[number]) =>
        [
          username,
          role,
          active ? 'active' : 'inactive',
          ...(centre ? ['centre'] : [totp ? 'totp' : 'no totp', `${failedAttempts} failed`]),
        ].join('\t')
      print(options, rows, rows.map(line).join('\n') || 'There are no accounts.')
    })

  async function findByUsername(db: ReadDb, username: string): Promise<Account | undefined> {
    const accounts = await listAccounts(db, { zoek: username })
    return accounts.find(({ gebruikersnaam }) => gebruikersnaam.toLowerCase() === username.toLowerCase())
  }

  async function requireAccount(db: ReadDb, username: string): Promise<Account> {
    const found = await findByUsername(db, username)
    if (!found) throw new UsageError(`there is no account ${username}`)
    return found
  }
}

/** @throws UsageError for an account of the centre: the registry has its password, codes and attempts */
function requireOwn({ centre, gebruikersnaam }: Account): void {
  if (centre) throw new UsageError(`${gebruikersnaam} is an account of the centre (zaakstroom organisation account)`)
}

function change(work: (m: Mutation) => Promise<void>): Promise<void> {
  return changeDatabase((database) =>
    mutator(database)(systemActor('account'), async (m) => {
      m.unrecorded('it is in beheer_audit')
      await work(m)
    }),
  )
}

/** In the record of changes of the pages. */
const record = (
  m: Mutation,
  handeling: string,
  { uuid, gebruikersnaam }: Pick<Account, 'uuid' | 'gebruikersnaam'>,
  nieuw?: object,
) => recordByCommand(m.trx, { handeling, soort: 'account', id: uuid, weergave: gebruikersnaam, nieuw })
