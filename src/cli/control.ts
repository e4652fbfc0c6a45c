// The registry of organisations, for a subcommand that does one thing and ends; and the organisation that a subcommand is for.
import { type Config, ConfigError, readConfig } from '../config.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'
import { migrateControl, requireControlSchema } from '../database/migrate.ts'
import { configOf, type Organisation } from '../organisations/organisation.ts'
import { controlUrlOf, openControl, readOrganisations } from '../organisations/registry.ts'
import { describePlace, placeOf } from './place.ts'
import { findSecretBox } from './server.ts'
import { UsageError } from './usage.ts'

export type Control = {
  database: Database
  /** Opens what is sealed in the registry. */
  box: SecretBox
  /** Of the installation. */
  config: Config
  /** Address of the database in which the registry is, as it was given. */
  url: string
}

/**
 * Runs `work` on the registry.
 * @param make bring it to the schema of this version first: for what makes the first of something
 * @throws ConfigError without CONTROL_DATABASE_URL
 * @throws SchemaError when it has another schema and is not to be brought along
 */
export async function withControl<T>(
  work: (control: Control) => Promise<T>,
  { make = false }: { make?: boolean } = {},
): Promise<T> {
  const config = readConfig(process.env)
  const { controlDatabaseUrl: url } = config
  if (!url) throw new ConfigError(['CONTROL_DATABASE_URL is required'])
  const box = await findSecretBox(config, false)
  if (make) await migrateControl(controlUrlOf(url))
  const database = openControl(url)
  try {
    if (!make) await requireControlSchema(database.sql)
    return await work({ database, box, config, url })
  } finally {
    await database.close()
  }
}

/** The same for work that changes something: it is told where that is. @param rsin of the organisation that it is for */
export function changeControl<T>(
  rsin: string | undefined,
  work: (control: Control) => Promise<T>,
  options: { make?: boolean } = {},
): Promise<T> {
  return withControl((control) => {
    const { config, url } = control
    const place = placeOf({ ...config, databaseUrl: url, organisation: rsin }, controlUrlOf(url))
    console.error(`zaakstroom: changes the registry in ${describePlace(place)}`)
    return work(control)
  }, options)
}

/** @throws UsageError when there is none with this RSIN */
export async function organisationOf({ database, box }: Control, rsin: string): Promise<Organisation> {
  const [found] = await readOrganisations(database, box, rsin)
  if (!found) throw new UsageError(`there is no organisation ${rsin} (zaakstroom organisation list)`)
  return found
}

/** @throws UsageError for one of which the adding was broken off */
export function requireWhole({ rsin, name, state }: Organisation): void {
  if (state !== 'adding') return
  throw new UsageError(
    `${name} is not whole: run its \`organisation add\` again, or \`organisation remove ${rsin} --confirm ${rsin}\``,
  )
}

/**
 * The configuration that a subcommand works with: the one of this process or, in an installation with many organisations, that of
 * the organisation that ORGANISATION names.
 */
export async function readOwnConfig(): Promise<Config> {
  return (await readOwn()).config
}

/** The same with what the organisation has of its own: names of settings. */
export async function readOwn(): Promise<{ config: Config; ownSettings: ReadonlySet<string> }> {
  const config = readConfig(process.env)
  if (!config.controlDatabaseUrl) return { config, ownSettings: new Set() }
  const { organisation } = config
  if (!organisation)
    throw new UsageError(
      'ORGANISATION is required: the RSIN of the organisation that this is for (zaakstroom organisation list)',
    )
  return withControl(async (control) => {
    const found = await organisationOf(control, organisation)
    requireWhole(found)
    const ownSettings = new Set(['DATABASE_URL', 'DATA_KEYS', 'SECRET_KEY', ...Object.keys(found.settings)])
    return { config: configOf(process.env, found), ownSettings }
  })
}
