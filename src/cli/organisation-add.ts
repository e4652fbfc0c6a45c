// organisation add: makes one, takes in one that has tables already, or brings in what is in an export.
import { type Config, ConfigError } from '../config.ts'
import { requireKeys } from '../core/key-register.ts'
import { openDatabase } from '../database/database.ts'
import { queueOf, SCHEMA_NAME, withoutSchema, withSchema } from '../database/schema.ts'
import { sharedSetting } from '../organisations/apart.ts'
import { loadOrganisation, readManifest } from '../organisations/load.ts'
import { makeOrganisation } from '../organisations/make.ts'
import { configOf, directUrlOf, type Organisation } from '../organisations/organisation.ts'
import { hasTables } from '../organisations/owner.ts'
import {
  changeOrganisations,
  insertOrganisation,
  type NewOrganisation,
  readOrganisations,
  serverOf,
  updateOrganisation,
} from '../organisations/registry.ts'
import { type Control, organisationOf } from './control.ts'
import {
  ACTOR,
  givenAddress,
  hostsOf,
  keysOf,
  limitsOf,
  newKey,
  type Shown,
  settingsOf,
  tellUnless,
} from './organisation-options.ts'
import { findSecretBox } from './server.ts'
import { print, readHidden } from './terminal.ts'
import { UsageError } from './usage.ts'

const HOST_TAKEN = 'that host is another organisation’s'

export type AddOptions = Shown & {
  rsin: string
  name: string
  host: string[]
  databaseUrl?: string
  schema?: string
  setting?: string[]
  limit?: string[]
  existing?: boolean
  from?: string
}

/**
 * It is in the registry before anything of it is made, so that one that was broken off is seen there, and can be added again or
 * removed. One that has tables is in there afterwards: what was broken off then may not be taken for what can be removed.
 */
export async function add(control: Control, options: AddOptions): Promise<void> {
  const { rsin, name, existing, from } = options
  if (!/^\d{9}$/.test(rsin)) throw new UsageError('--rsin has nine digits')
  const schema = options.schema ?? `org_${rsin}`
  if (!new RegExp(SCHEMA_NAME).test(schema)) throw new UsageError('--schema has lower-case letters, digits and _')
  const databaseUrl = await givenAddress('--database-url', options.databaseUrl, withoutSchema(control.url))
  const [begun] = await readOrganisations(control.database, control.box, rsin)
  if (begun && begun.state !== 'adding') throw new UsageError('there is an organisation with that RSIN')
  if (begun && (begun.server !== serverOf(databaseUrl) || begun.schema !== schema))
    throw new UsageError(
      `adding it was begun in schema ${begun.schema} at ${begun.server}: name the same, or remove it first`,
    )
  const given: NewOrganisation = {
    rsin,
    name,
    hosts: hostsOf(options.host),
    schema,
    databaseUrl,
    limits: limitsOf({}, options.limit),
    settings: settingsOf({}, options.setting),
    ...(existing || from
      ? keysOf(await readHidden('Its keys, and an empty line: ', { lines: true }))
      : { dataKeys: begun?.dataKeys ?? newKey() }),
  }
  const config = configOf(process.env, asOrganisation(given)) // its settings are right, before anything is made
  await requireApart(control, given, config)
  const manifest = from === undefined ? undefined : await readManifest(from)
  const url = withSchema(directUrlOf(given), schema)
  if (!existing && !begun) await requireFree(url, schema)
  const note = (state: Pick<Organisation, 'state' | 'reason'>, isKnown: boolean) =>
    changeOrganisations(control.database, { rsin, actor: ACTOR, action: 'add' }, async (trx) => {
      if (isKnown) await updateOrganisation(trx, control.box, given, { ...given, ...state })
      else await insertOrganisation(trx, control.box, { ...given, ...state })
    }).catch(taken)
  if (!existing) await note({ state: 'adding', reason: 'adding it has not ended: run it again, or remove it' }, !!begun)
  try {
    await makeOrganisation(url, { hasFeed: config.feedDays > 0, rsin })
    if (manifest && from !== undefined) {
      await loadOrganisation(manifest, config, from, { tell: tellUnless(options), isAgain: begun !== undefined })
      await makeOrganisation(url, { hasFeed: config.feedDays > 0, rsin }) // loading has switched the triggers of the feed
    }
  } catch (error) {
    if (!existing)
      console.error(`It is not whole: run this again, or zaakstroom organisation remove ${rsin} --confirm ${rsin}`)
    throw error
  }
  if (existing || from) await requireItsKeys(url, config)
  await note({ state: 'active', reason: '' }, !existing || !!begun)
  const { uuid } = await organisationOf(control, rsin)
  print(
    options,
    { uuid, rsin, schema, hosts: given.hosts },
    `Organisation ${rsin} is served at ${given.hosts.join(', ')}.`,
  )
}

/** @throws UsageError when its bytes would lie where those of another are, or its links would lead there */
export async function requireApart(
  { database, box }: { database: Parameters<typeof readOrganisations>[0]; box: Control['box'] },
  { rsin, hosts }: Pick<Organisation, 'rsin' | 'hosts'>,
  config: Config,
): Promise<void> {
  const others = (await readOrganisations(database, box)).filter((one) => one.rsin !== rsin)
  for (const other of others) {
    if (other.hosts.some((host) => hosts.includes(host))) throw new UsageError(HOST_TAKEN)
    const theirs = workingConfigOf(other)
    const setting = theirs && sharedSetting(config, theirs)
    if (setting)
      throw new UsageError(`${setting} is where organisation ${other.rsin} has its own: each has one by itself`)
  }
}

/** Undefined where its settings are wrong: that is told when it is opened, and holds up no other. */
function workingConfigOf(organisation: Organisation): Config | undefined {
  try {
    return configOf(process.env, organisation)
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

/** Its data may be sealed with other keys than those that were given. @throws WrongKey */
async function requireItsKeys(url: string, config: Config): Promise<void> {
  const database = openDatabase(url, { max: 1, name: 'organisation' })
  try {
    await requireKeys(database.sql, await findSecretBox(config, false))
  } finally {
    await database.close()
  }
}

/** What it will be, for its configuration. */
const asOrganisation = (given: NewOrganisation): Organisation => ({
  ...given,
  id: 0,
  uuid: '',
  server: '',
  state: 'active',
  reason: '',
  version: '',
})

/** A schema that somebody uses is not filled or taken over by mistake: what is removed later is all that is in it. */
async function requireFree(url: string, schema: string): Promise<void> {
  const database = openDatabase(url, { max: 1, name: 'organisation' })
  try {
    const { sql } = database
    const queue = queueOf(schema)
    if (await hasTables(sql, queue))
      throw new UsageError(`schema ${queue}, where its queue would be, has the tables of another: name another schema`)
    const ours = await hasTables(sql, schema)
    const [found] = await sql<{ others: boolean }[]>`
      select exists (select from pg_class where relnamespace = to_regnamespace(${schema})) as others`
    const [row] = ours ? await sql.unsafe(`select from "${schema}".data_key limit 1`) : []
    if (row || (found?.others && !ours))
      throw new UsageError(`schema ${schema} is in use: name another one, or take it in with --existing`)
  } finally {
    await database.close()
  }
}

/** @throws UsageError that says what another organisation has, in the place of a unique violation */
export function taken(error: unknown): never {
  const { code, constraint_name: name } = error as { code?: string; constraint_name?: string }
  if (code !== '23505') throw error
  throw new UsageError(
    name === 'organisation_host_pkey'
      ? HOST_TAKEN
      : name === 'organisation_rsin_key'
        ? 'there is an organisation with that RSIN'
        : 'that schema of that database is another organisation’s',
  )
}
