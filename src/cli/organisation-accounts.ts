// organisation account: people of the centre, with a role in some of the organisations.
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { deleteTotp, hashNewPassword, writePassword } from '../beheer/accounts/accounts.ts'
import { bringAlong, removeMirror } from '../beheer/accounts/centre-mirror.ts'
import { ROLLEN } from '../beheer/frame/session.ts'
import { endWait } from '../core/sign-in-attempts.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../core/vertrouwelijkheidaanduiding.ts'
import { type Database, kyselyOn, openDatabase } from '../database/database.ts'
import { isMissing } from '../database/error-codes.ts'
import { withSchema } from '../database/schema.ts'
import { isConnectionFault } from '../jobs/pool.ts'
import {
  type CentreAccount,
  deleteAccount,
  endSessionsEverywhere,
  giveRole,
  insertAccount,
  type Membership,
  readAccounts,
  takeRole,
  updateAccount,
} from '../organisations/accounts.ts'
import { directUrlOf, type Organisation } from '../organisations/organisation.ts'
import { changeOrganisations, readOrganisations } from '../organisations/registry.ts'
import { passwordReport, readPassword, recordByCommand, requireUsername, roleOf } from './accounts.ts'
import { type Control, changeControl, organisationOf, withControl } from './control.ts'
import { OUT, print } from './terminal.ts'
import { UsageError } from './usage.ts'

const ACTOR = 'zaakstroom organisation account'

type Named = { username: string; json?: boolean }
type WithPassword = Named & { passwordStdin?: boolean }
type Described = Named & { name?: string; email?: string; active?: string; centre?: string }
type Role = Named & { role: string; repair?: boolean; max: string }

export function addAccountsTo(organisation: Command): void {
  const account = organisation
    .command('account')
    .description('people of the centre: one account, with a role in each organisation that it is given one in')
  const named = (name: string, description: string, example = `${name} --username j.jansen`) =>
    account
      .command(name)
      .description(description)
      .requiredOption('--username <name>', 'name to sign in with')
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  zaakstroom organisation account ${example}`)

  named('create', 'make one; prints its password once, which the first sign-in replaces')
    .option('--name <name>', 'name for people')
    .option('--email <address>', 'where alerts go')
    .option('--centre <yes|no>', 'whether it may see the page about all organisations', 'no')
    .option('--password-stdin', 'read the password from standard input instead of making one')
    .option(...OUT)
    .action((options: WithPassword & Described) => changeControl(undefined, (control) => create(control, options)))
  account
    .command('list')
    .description('all of them, with their roles')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom organisation account list')
    .action((options: { json?: boolean }) => withControl((control) => list(control, options)))
  named('set', 'change one; what is not given stays', 'set --username j.jansen --active no')
    .option('--name <name>', 'name for people')
    .option('--email <address>', 'where alerts go')
    .option('--active <yes|no>', 'no: it cannot sign in anywhere, and its sessions end')
    .option('--centre <yes|no>', 'whether it may see the page about all organisations')
    .action((options: Described) => changeControl(undefined, (control) => set(control, options)))
  named(
    'give',
    'give it a role in an organisation, in place of the one that it had there',
    'give 001234567 --username j.jansen --role operator',
  )
    .argument('<rsin>', 'RSIN of the organisation')
    .requiredOption('--role <role>', ROLLEN.join(', '))
    .option('--repair', 'the role hersteller as well')
    .option('--max <vertrouwelijkheidaanduiding>', 'cases and documents above it are not shown', 'vertrouwelijk')
    .action((rsin: string, options: Role) => changeControl(rsin, (control) => give(control, rsin, options)))
  named('take', 'take its role in an organisation away; its sessions there end', 'take 001234567 --username j.jansen')
    .argument('<rsin>', 'RSIN of the organisation')
    .action((rsin: string, options: Named) => changeControl(rsin, (control) => take(control, rsin, options)))
  named('reset-password', 'give it a new password, printed once; ends its sessions, and the wait after wrong passwords')
    .option('--password-stdin', 'read the password from standard input instead of making one')
    .option(...OUT)
    .option('--remove-totp', 'remove its one-time codes as well')
    .action((options: WithPassword & { removeTotp?: boolean }) =>
      changeControl(undefined, (control) => resetPassword(control, options)),
    )
  named('unlock', 'end the wait after wrong passwords or codes, at whichever organisation').action((options: Named) =>
    changeControl(undefined, (control) => unlock(control, options)),
  )
  named('remove', 'remove it, with its roles; its sessions end').action((options: Named) =>
    changeControl(undefined, (control) => remove(control, options)),
  )
}

async function create(control: Control, options: WithPassword & Described): Promise<void> {
  const { username, name = '', email = '', centre } = options
  requireUsername(username)
  const seesCentre = yesOrNo('--centre', centre) ?? false
  const password = await readPassword(options)
  const passwordHash = await hashNewPassword(password)
  const report = passwordReport(options, username, password, `Account ${username} made.`)
  await change(control, username, 'account-add', async (trx) => {
    await insertAccount(trx, { gebruikersnaam: username, naam: name, email, seesCentre, passwordHash })
    await report.before()
  }).catch((error) => {
    throw (error as { code?: string }).code === '23505'
      ? new UsageError(`there is an account ${username} already`)
      : error
  })
  report.behind()
}

async function list({ database }: Control, options: { json?: boolean }): Promise<void> {
  const rows = (await readAccounts(database)).map((one) => ({
    username: one.gebruikersnaam,
    name: one.naam,
    email: one.email,
    active: one.actief,
    centre: one.seesCentre,
    totp: one.totp,
    roles: one.memberships.map(({ rsin, rol, mayRepair, maxVertrouwelijkheidaanduiding }) => ({
      ...{ rsin, role: rol, repair: mayRepair, max: maxVertrouwelijkheidaanduiding },
    })),
  }))
  const line = ({ username, active, centre, totp, roles }: (typeof rows)[number]) =>
    [
      username,
      active ? 'active' : 'inactive',
      ...(centre ? ['centre'] : []),
      totp ? 'totp' : 'no totp',
      ...roles.map(({ rsin, role, repair }) => `${rsin} ${role}${repair ? '+hersteller' : ''}`),
    ].join('\t')
  print(options, rows, rows.map(line).join('\n') || 'There are no accounts of the centre.')
}

async function set(control: Control, options: Described): Promise<void> {
  const found = await accountOf(control, options.username)
  const actief = yesOrNo('--active', options.active)
  const seesCentre = yesOrNo('--centre', options.centre)
  const changed = {
    ...(options.name !== undefined && { naam: options.name }),
    ...(options.email !== undefined && { email: options.email }),
    ...(actief !== undefined && { actief }),
    ...(seesCentre !== undefined && { seesCentre }),
  }
  const fields = Object.keys(changed)
  if (fields.length === 0) throw new UsageError('give --name, --email, --active or --centre')
  await change(control, found.gebruikersnaam, 'account-set', (trx) => updateAccount(trx, found.id, changed), { fields })
  // A name that is not brought along now comes with the next sign-in.
  const { id } = found
  const now = (await readAccounts(control.database)).find((one) => one.id === id) ?? found
  const { left, faults } = await inEach(await placesOf(control, now), (database, { membership }) =>
    bringAlong(database, { ...now, membership }, recordByCommand),
  )
  print(
    options,
    { username: found.gebruikersnaam, changed: fields, left: left.map(({ rsin }) => rsin) },
    [`Changed: ${fields.join(', ')}.`, ...left.map(unchanged)].join('\n'),
  )
  throwFaults(faults)
}

async function give(control: Control, rsin: string, options: Role): Promise<void> {
  const found = await accountOf(control, options.username)
  const organisation = await organisationOf(control, rsin)
  const max = VERTROUWELIJKHEIDAANDUIDINGEN.find((one) => one === options.max)
  if (!max) throw new UsageError(`--max is one of ${VERTROUWELIJKHEIDAANDUIDINGEN.join(', ')}`)
  const before = found.memberships.find((one) => one.rsin === rsin)
  const membership: Membership = {
    rsin,
    rol: roleOf(options.role),
    mayRepair: options.repair ?? false,
    maxVertrouwelijkheidaanduiding: max,
    stamp: before?.stamp ?? randomUUID(),
  }
  // Its row there first: an account of their own with that name refuses it.
  const made = await inDatabaseOf(organisation, (database) =>
    bringAlong(database, { ...found, membership }, recordByCommand),
  )
  if (!made) throw new UsageError(`${organisation.name} has an account ${found.gebruikersnaam} of its own`)
  const fields = ['rol', 'mayRepair', 'maxVertrouwelijkheidaanduiding']
  await change(control, found.gebruikersnaam, 'account-give', (trx) => giveRole(trx, found, membership), {
    rsin,
    fields,
  })
  print(
    options,
    { username: found.gebruikersnaam, rsin, role: membership.rol, active: made.actief },
    `Account ${found.gebruikersnaam} is ${membership.rol} at ${organisation.name}.${made.actief ? '' : ' It was made inactive there, and cannot sign in.'}`,
  )
}

async function take(control: Control, rsin: string, options: Named): Promise<void> {
  const found = await accountOf(control, options.username)
  const organisation = await organisationOf(control, rsin)
  const had = await change(control, found.gebruikersnaam, 'account-take', (trx) => takeRole(trx, found.id, rsin), {
    rsin,
  })
  const { left, faults } = await leave(found, [{ organisation }])
  const said = had
    ? `Account ${found.gebruikersnaam} has no role at ${organisation.name} any more.`
    : 'It had no role there.'
  print(
    options,
    { username: found.gebruikersnaam, rsin, had, left: left.length > 0 },
    [said, ...left.map(leftover)].join(' '),
  )
  throwFaults(faults)
}

async function remove(control: Control, options: Named): Promise<void> {
  const found = await accountOf(control, options.username)
  const places = await placesOf(control, found)
  await change(control, found.gebruikersnaam, 'account-remove', (trx) => deleteAccount(trx, found.id))
  const { left, faults } = await leave(found, places)
  print(
    options,
    { username: found.gebruikersnaam, removed: true, left: left.map(({ rsin }) => rsin) },
    [`Account ${found.gebruikersnaam} is removed.`, ...left.map(leftover)].join('\n'),
  )
  throwFaults(faults)
}

async function resetPassword(control: Control, options: WithPassword & { removeTotp?: boolean }): Promise<void> {
  const found = await accountOf(control, options.username)
  const password = await readPassword(options)
  const line = `Account ${found.gebruikersnaam} has a new password.`
  const report = passwordReport(options, found.gebruikersnaam, password, line)
  const fields = ['password', ...(options.removeTotp ? ['totp'] : [])]
  await change(
    control,
    found.gebruikersnaam,
    'account-password',
    async (trx) => {
      await writePassword(kyselyOn(trx), found.id, password, { given: true })
      if (options.removeTotp) await deleteTotp(kyselyOn(trx), found.id)
      await endSessionsEverywhere(trx, found.id)
      await report.before()
    },
    { fields },
  )
  report.behind()
}

async function unlock(control: Control, options: Named): Promise<void> {
  const { id, gebruikersnaam } = await accountOf(control, options.username)
  await change(control, gebruikersnaam, 'account-unlock', (trx) => endWait(kyselyOn(trx), id))
  print(options, { username: gebruikersnaam, waits: false }, `Nobody has to wait for account ${gebruikersnaam}.`)
}

function change<T>(
  { database }: Control,
  account: string,
  action: string,
  work: Parameters<typeof changeOrganisations<T>>[2],
  more: { rsin?: string; fields?: string[] } = {},
): Promise<T> {
  return changeOrganisations(database, { rsin: '', actor: ACTOR, action, account, ...more }, work)
}

async function accountOf({ database }: Control, username: string): Promise<CentreAccount> {
  const name = username.toLowerCase()
  const found = (await readAccounts(database)).find((one) => one.gebruikersnaam.toLowerCase() === name)
  if (!found) throw new UsageError(`there is no account ${username} (zaakstroom organisation account list)`)
  return found
}

/** Where it has which role. */
async function placesOf(
  { database, box }: Control,
  { memberships }: CentreAccount,
): Promise<{ membership: Membership; organisation: Organisation }[]> {
  const all = new Map((await readOrganisations(database, box)).map((one) => [one.rsin, one]))
  return memberships.flatMap((membership) => {
    const organisation = all.get(membership.rsin)
    return organisation ? [{ membership, organisation }] : []
  })
}

async function inDatabaseOf<T>(organisation: Organisation, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(withSchema(directUrlOf(organisation), organisation.schema), { max: 1, name: 'account' })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

type Place = { organisation: Organisation }

/**
 * Does this in the database of each. The registry was changed before: none keeps the others from it.
 * @returns `left`: where it could not be done, and `faults`: why not, where that is more than a database that is away. Where the tables are
 * gone, the row is as well
 */
async function inEach<P extends Place>(
  places: P[],
  work: (database: Database, place: P) => Promise<unknown>,
): Promise<{ left: Organisation[]; faults: string[] }> {
  const { explain } = await import('./explain.ts') // it brings much along
  const left: Organisation[] = []
  const faults: string[] = []
  for (const place of places) {
    const { organisation } = place
    try {
      await inDatabaseOf(organisation, (database) => work(database, place))
    } catch (error) {
      if (isMissing(error)) continue
      left.push(organisation)
      if (!isConnectionFault(error)) faults.push(`${organisation.name}: ${explain(error).message}`)
    }
  }
  return { left, faults }
}

/** Takes its row out of organisations. Where it is left, it opens nothing any more. */
const leave = (account: CentreAccount, places: Place[]) =>
  inEach(places, (database) => removeMirror(database, account, recordByCommand))

/** @throws Error that names each organisation with its fault; without faults nothing */
function throwFaults(faults: string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

const unchanged = ({ name }: Organisation) =>
  `The database of ${name} could not be changed: run this again when it answers.`

const leftover = ({ name }: Organisation) =>
  `The database of ${name} could not be changed: the account is still listed there, and opens nothing. An administrator can remove it there.`

/** @throws UsageError for anything else */
function yesOrNo(option: string, value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined
  if (value !== 'yes' && value !== 'no') throw new UsageError(`${option} is yes or no`)
  return value === 'yes'
}
