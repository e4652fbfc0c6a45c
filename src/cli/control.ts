// The registry of organisations, for a subcommand that does one thing and ends; and the organisation that a subcommand is for.
import { type Config, ConfigError, readConfig } from '../config.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'
import { migrateControl } from '../database/migrate.ts'
import { configOf, type Organisation } from '../organisations/organisation.ts'
import { controlUrlOf, openControl, readOrganisations } from '../organisations/registry.ts'
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

/** Runs `work` on the registry, which is brought to the schema of this version first. @throws ConfigError without CONTROL_DATABASE_URL */
export async function withControl<T>(work: (control: Control) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  const { controlDatabaseUrl: url } = config
  if (!url) throw new ConfigError(['CONTROL_DATABASE_URL is required'])
  await migrateControl(controlUrlOf(url))
  const database = openControl(url)
  try {
    return await work({ database, box: await findSecretBox(config, false), config, url })
  } finally {
    await database.close()
  }
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
  const config = readConfig(process.env)
  if (!config.controlDatabaseUrl) return config
  const { organisation } = config
  if (!organisation)
    throw new UsageError(
      'ORGANISATION is required: the RSIN of the organisation that this is for (zaakstroom organisation list)',
    )
  return withControl(async (control) => {
    const found = await organisationOf(control, organisation)
    requireWhole(found)
    return configOf(process.env, found)
  })
}
