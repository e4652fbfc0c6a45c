// organisation: the organisations of one installation: which there are, and what each of them has of its own.
import type { Command } from 'commander'
import { expected } from '../../database/rows.ts'
import { resealCodes } from '../../organisations/accounts.ts'
import { exportOrganisation } from '../../organisations/export.ts'
import { type Figures, readFigures } from '../../organisations/figures.ts'
import { readManifest } from '../../organisations/load.ts'
import { configOf, LIMITS, type Organisation } from '../../organisations/organisation.ts'
import {
  alone,
  changeOrganisations,
  deleteOrganisation,
  readOrganisations,
  serverOf,
  updateOrganisation,
} from '../../organisations/registry.ts'
import { removeOrganisation } from '../../organisations/remove.ts'
import { type Control, changeControl, organisationOf, requireWhole, withControl } from '../control.ts'
import { addAccountsTo } from '../organisation-accounts.ts'
import { type AddOptions, add, requireApart, taken } from '../organisation-add.ts'
import { endKilledMove, move } from '../organisation-move.ts'
import {
  ACTOR,
  addressWithoutSchema,
  hostsOf,
  limitsOf,
  type Shown,
  settingsOf,
  tellUnless,
} from '../organisation-options.ts'
import { ANOTHER_DATABASE, readDatabaseUrl } from '../other-database.ts'
import { print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

type Given = Shown & { host?: string[]; setting?: string[]; limit?: string[]; name?: string; databaseUrl?: string }

export function addTo(program: Command): void {
  const organisation = program
    .command('organisation')
    .description('the organisations of one installation (needs CONTROL_DATABASE_URL and SECRET_KEY)')
    .addHelpText(
      'after',
      `
Each has a schema of its own, in the database of CONTROL_DATABASE_URL or another, with keys, settings and documents of its own. The
host that is asked says which one a request is for. Other subcommands are for the one that ORGANISATION names.

Example:
  zaakstroom organisation add --rsin 001234567 --name Voorbeeldstad --host zaken.voorbeeldstad.nl
  ORGANISATION=001234567 zaakstroom client create --id portaal --all-rights`,
    )

  organisation
    .command('add')
    .description('make one, or take in one that has tables already')
    .requiredOption('--rsin <rsin>', 'its RSIN')
    .requiredOption('--name <name>', 'what people call it')
    .requiredOption('--host <host...>', 'its host names; the first one is in links')
    .option('--database-url <url>', 'where its tables go; that of CONTROL_DATABASE_URL otherwise')
    .option('--schema <name>', 'schema of its tables; org_ and its RSIN otherwise')
    .option('--setting <NAME=value...>', 'settings of its own')
    .option('--limit <name=number...>', `its bounds: ${LIMITS.join(', ')}`)
    .option(
      '--existing',
      'it has tables there, and its keys come on standard input: SECRET_KEY, or the lines of DATA_KEYS',
    )
    .option('--from <directory>', 'with all that is in an export; its keys come on standard input')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\n${ANOTHER_DATABASE}\n\nExample:\n  zaakstroom organisation add --rsin 001234567 --name Voorbeeldstad --host zaken.voorbeeldstad.nl`,
    )
    .action((options: AddOptions) =>
      changeControl(options.rsin, (control) => inTurn(control, options.rsin, () => add(control, options)), {
        make: true,
      }),
    )
  organisation
    .command('list')
    .description('all of them')
    .option('--figures', 'with their sizes, cases, documents and jobs: asks every database')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom organisation list --figures')
    .action((options: Shown & { figures?: boolean }) => withControl((control) => list(control, options)))
  organisation
    .command('set')
    .description('change its name, hosts, settings or bounds; what is not given stays')
    .argument('<rsin>', 'its RSIN')
    .option('--name <name>', 'what people call it')
    .option('--host <host...>', 'its host names, all of them')
    .option('--setting <NAME=value...>', 'settings of its own; NAME= takes one away')
    .option('--limit <name=number...>', 'its bounds; name= takes one away')
    .option('--database-url <url>', 'the same database by another password, role or TLS')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom organisation set 001234567 --limit bytes=100000000000')
    .action((rsin: string, options: Given) => changeControl(rsin, (control) => set(control, rsin, options)))
  organisation
    .command('suspend')
    .description('refuse all its requests and run none of its jobs, until it is resumed')
    .argument('<rsin>', 'its RSIN')
    .requiredOption('--reason <text>', 'why, for the people of the centre')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  zaakstroom organisation suspend 001234567 --reason "het contract is geëindigd"',
    )
    .action((rsin: string, options: Shown & { reason: string }) =>
      changeControl(rsin, (control) => suspend(control, rsin, options)),
    )
  organisation
    .command('resume')
    .description('serve it again, and end a move that was killed')
    .argument('<rsin>', 'its RSIN')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom organisation resume 001234567')
    .action((rsin: string, options: Shown) =>
      changeControl(rsin, (control) => inTurn(control, rsin, () => resume(control, rsin, options))),
    )
  organisation
    .command('reseal')
    .description('seal what opens each of them with the first key of DATA_KEYS, before an older key goes')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom organisation reseal')
    .action((options: Shown) => changeControl(undefined, (control) => reseal(control, options)))
  organisation
    .command('move')
    .description('bring it to another database while it works; its requests wait some seconds at the switch')
    .argument('<rsin>', 'its RSIN')
    .requiredOption('--to <database url>', 'the other database; without tables in that schema')
    .option('--source-url <url>', 'where it is now, as the server of --to reaches it, when that is another address')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nIts server has to run with wal_level=logical, and its role may replicate. What it had there stays, in the schemas …_moved and …_moved_queue.

${ANOTHER_DATABASE}

Example:
  zaakstroom organisation move 001234567 --to file:/run/secrets/new-database`,
    )
    .action((rsin: string, options: Shown & { to: string; sourceUrl?: string }) =>
      changeControl(rsin, (control) => inTurn(control, rsin, () => move(control, rsin, options))),
    )
  organisation
    .command('export')
    .description('write all that it has into a directory, with a manifest of hashes, while all goes on')
    .argument('<rsin>', 'its RSIN')
    .requiredOption('--to <directory>', 'an empty one, or one that is made')
    .option('--keys', 'print the keys that its secrets and personal numbers are sealed with, for who takes it over')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom organisation export 001234567 --to /srv/export --keys')
    .action((rsin: string, options: Shown & { to: string; keys?: boolean }) =>
      changeControl(rsin, (control) => inTurn(control, rsin, () => exportOne(control, rsin, options))),
    )
  addAccountsTo(organisation)
  organisation
    .command('remove')
    .description('remove all that it has, and tell what was there and that it is gone; it has to be suspended')
    .argument('<rsin>', 'its RSIN')
    .requiredOption('--confirm <rsin>', 'the same once more')
    .option('--export <directory>', 'the export that it leaves with: refused when anything changed since')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  zaakstroom organisation remove 001234567 --confirm 001234567 --export /backup/001234567',
    )
    .action((rsin: string, options: Shown & { confirm: string; export?: string }) =>
      changeControl(rsin, (control) => inTurn(control, rsin, () => remove(control, rsin, options))),
    )
}

/** One command at a time is at work for an organisation. */
const inTurn = <T>({ database }: Control, rsin: string, work: () => Promise<T>): Promise<T> =>
  alone(database, rsin, work)

async function list({ database, box }: Control, options: Shown & { figures?: boolean }): Promise<void> {
  const organisations = await readOrganisations(database, box)
  const figures = options.figures ? await readFigures(organisations) : undefined
  const all = organisations.map(
    ({ uuid, rsin, name, hosts, server, schema, state, reason, version, limits, settings }) => ({
      uuid,
      rsin,
      name,
      hosts,
      server,
      schema,
      state,
      reason,
      version,
      limits,
      settings: Object.keys(settings),
      ...(figures && { figures: figures.get(rsin) ?? null }),
    }),
  )
  const lines = all.map(({ rsin, name, state, reason, hosts, server, schema, version, ...more }) =>
    [
      rsin,
      state,
      name,
      hosts.join(','),
      `${server} ${schema}`,
      version,
      ...figuresLine(more.figures, more.limits.bytes),
      reason,
    ]
      .filter(Boolean)
      .join('\t'),
  )
  print(options, all, lines.length === 0 ? 'There are no organisations.' : lines.join('\n'))
}

const megabytes = (bytes: number) => Math.round(bytes / 1e6)

function figuresLine(figures: Figures | null | undefined, most: number | undefined): string[] {
  if (figures === undefined) return []
  if (figures === null) return ['its database does not answer']
  const { bytes, zaken, documenten, contentBytes, jobs, late, workers } = figures
  const room = most === undefined ? '' : ` of ${megabytes(most)} MB`
  return [
    `${megabytes(bytes)} MB`,
    `${zaken} cases`,
    `${documenten} documents, contents ${megabytes(contentBytes)} MB${room}`,
    jobs === 0 ? 'no jobs wait' : `${jobs} jobs wait, the oldest ${late} s`,
    `${workers} workers`,
  ]
}

async function set(control: Control, rsin: string, options: Given): Promise<void> {
  const before = await organisationOf(control, rsin)
  requireWhole(before)
  const databaseUrl =
    options.databaseUrl &&
    addressWithoutSchema('--database-url', await readDatabaseUrl('--database-url', options.databaseUrl))
  if (databaseUrl && serverOf(databaseUrl) !== before.server)
    throw new UsageError(
      `--database-url names another database than ${before.server}: organisation move brings it there`,
    )
  const changed = (now: Organisation) => ({
    ...(databaseUrl && { databaseUrl }),
    ...(options.name !== undefined && { name: options.name }),
    ...(options.host && { hosts: hostsOf(options.host) }),
    ...(options.setting && { settings: settingsOf(now.settings, options.setting) }),
    ...(options.limit && { limits: limitsOf(now.limits, options.limit) }),
  })
  const fields = Object.keys(changed(before))
  if (fields.length === 0) throw new UsageError('give --name, --host, --setting, --limit or --database-url')
  await changeOrganisations(control.database, { rsin, actor: ACTOR, action: 'set', fields }, async (trx) => {
    await updateOrganisation(trx, control.box, before, changed)
    // Judged as it is now, with what another command changed a moment ago.
    const inside = { database: { sql: trx }, box: control.box }
    const next = expected((await readOrganisations(inside.database, inside.box, rsin))[0])
    await requireApart(inside, next, configOf(process.env, next))
  }).catch(taken)
  print(options, { rsin, changed: fields }, `Changed: ${fields.join(', ')}.`)
}

async function suspend(control: Control, rsin: string, options: Shown & { reason: string }): Promise<void> {
  const { reason } = options
  const before = await organisationOf(control, rsin)
  requireWhole(before)
  await changeOrganisations(control.database, { rsin, actor: ACTOR, action: 'suspend' }, (trx) =>
    updateOrganisation(trx, control.box, before, { state: 'suspended', reason }),
  )
  print(options, { rsin, state: 'suspended', reason }, `${before.name} is suspended.`)
}

async function resume(control: Control, rsin: string, options: Shown): Promise<void> {
  const before = await organisationOf(control, rsin)
  requireWhole(before)
  const hasMoved = await endKilledMove(control, before, (line) => console.error(line))
  await changeOrganisations(control.database, { rsin, actor: ACTOR, action: 'resume' }, (trx) =>
    updateOrganisation(trx, control.box, before, { state: 'active', reason: '' }),
  )
  print(options, { rsin, state: 'active', hasMoved }, `${before.name} is active.${hasMoved ? ' It has moved.' : ''}`)
}

async function reseal({ database, box }: Control, options: Shown): Promise<void> {
  const all = await readOrganisations(database, box)
  for (const one of all)
    await changeOrganisations(database, { rsin: one.rsin, actor: ACTOR, action: 'reseal' }, (trx) =>
      updateOrganisation(trx, box, one, {}),
    )
  await changeOrganisations(database, { rsin: '', actor: ACTOR, action: 'reseal' }, (trx) => resealCodes(trx, box))
  print(
    options,
    { resealed: all.length, key: box.ring.sealing },
    `Sealed ${all.length} with the key ${box.ring.sealing}.`,
  )
}

async function exportOne(
  control: Control,
  rsin: string,
  options: Shown & { to: string; keys?: boolean },
): Promise<void> {
  const found = await organisationOf(control, rsin)
  requireWhole(found)
  if (!['suspended', 'read-only'].includes(found.state))
    console.error(
      `${found.name} is ${found.state}: what is written from now on is not in the export. One that leaves is suspended first.`,
    )
  const manifest = await exportOrganisation(found, configOf(process.env, found), options.to, tellUnless(options))
  await changeOrganisations(control.database, { rsin, actor: ACTOR, action: 'export' }, async () => {})
  const { tables, documents, missing } = manifest
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const keys = [found.dataKeys, found.secretKey].filter(Boolean).join('\n')
  print(
    options,
    { rows, documents: documents.count, bytes: documents.bytes, missing, ...(options.keys && { keys }) },
    [
      `Exported ${rows} rows and ${documents.count} documents (${documents.bytes} bytes)${missing > 0 ? `; ${missing} are not in the store` : ''}.`,
      ...(options.keys ? ['Its keys:', keys] : []),
    ].join('\n'),
  )
}

async function remove(
  control: Control,
  rsin: string,
  options: Shown & { confirm: string; export?: string },
): Promise<void> {
  if (options.confirm !== rsin) throw new UsageError('--confirm is the RSIN once more')
  const found = await organisationOf(control, rsin)
  if (found.move) throw new UsageError(`a move of ${found.name} was killed: resume it first, which ends that move`)
  if (found.state !== 'suspended' && found.state !== 'adding')
    throw new UsageError(`${found.name} is ${found.state}: suspend it first, and export it when it may be needed again`)
  const exported = options.export === undefined ? undefined : await readManifest(options.export)
  if (exported && exported.rsin !== rsin) throw new UsageError(`--export is that of ${exported.rsin}`)
  const removal = await removeOrganisation(found, configOf(process.env, found), tellUnless(options), exported)
  await changeOrganisations(control.database, { rsin, actor: ACTOR, action: 'remove' }, (trx) =>
    deleteOrganisation(trx, found.id),
  )
  const rows = removal.tables.reduce((sum, table) => sum + table.rows, 0)
  print(
    options,
    removal,
    `Removed ${rows} rows of ${removal.tables.length} tables and ${removal.documents.count} documents (${removal.documents.bytes} bytes). Looked for once more: 0 schemas, 0 documents and 0 directories are left. Backups keep it for as long as they are kept.`,
  )
}
