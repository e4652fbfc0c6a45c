// Brings the tables of all organisations to the schema of this program, one after the other. One that fails is read-only from then on,
// and says why; the others go on. A later run that succeeds makes it active again.
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Database, isUnavailable } from '../database/database.ts'
import { expected } from '../database/rows.ts'
import { makeOrganisation } from './make.ts'
import type { Organisation } from './organisation.ts'
import { OrganisationRefused } from './refused.ts'
import { alone, changeOrganisations, readOrganisations } from './registry.ts'

export type Migrated = Pick<Organisation, 'rsin' | 'name'> & {
  /** Files that were applied now. */
  applied: string[]
  /** Why it failed, or why nothing was done. */
  fault?: string
}

/** Begins the reason of one that is read-only for this, and for nothing else. */
const FAILED = 'migrate: '

type Parts = {
  control: Database
  box: SecretBox
  configOf(organisation: Organisation): Config
  /** What an error says to people. */
  explain(error: unknown): string
}

/** @returns what became of each, as it ends */
export async function* migrateAll(parts: Parts & { all: readonly Organisation[] }): AsyncGenerator<Migrated> {
  const { control, all, explain } = parts
  for (const { rsin, name } of all) {
    const migrated = await alone(control, rsin, () => migrateOne(parts, rsin)).catch((error): Migrated => {
      if (!(error instanceof OrganisationRefused)) throw error
      return { rsin, name, applied: [], fault: explain(error) }
    })
    if (migrated) yield migrated
  }
}

/** As it is now: it may have changed since all were read. @returns undefined when it has gone */
async function migrateOne({ control, box, configOf, explain }: Parts, rsin: string): Promise<Migrated | undefined> {
  const [organisation] = await readOrganisations(control, box, rsin)
  if (!organisation) return undefined
  const { name, state, reason, move } = organisation
  // The other side of a move has the tables as they were when it began.
  if (move || state === 'moving' || state === 'adding') {
    const what = state === 'adding' ? 'adding' : 'moving'
    return { rsin, name, applied: [], fault: `${what} it has not ended: migrate it after that` }
  }
  const isOurs = state === 'active' || (state === 'read-only' && reason.startsWith(FAILED))
  try {
    const { databaseUrl, feedDays } = configOf(organisation)
    const { applied } = await makeOrganisation(expected(databaseUrl), { hasFeed: feedDays > 0, rsin })
    await note(control, organisation, isOurs ? { state: 'active', reason: '' } : { state, reason }, packageJson.version)
    return { rsin, name, applied }
  } catch (error) {
    const fault = explain(error)
    // Away, or refusing, is no failed migration: it is as it was, and the next run brings it along.
    if (isOurs && !isUnavailable(error))
      await note(control, organisation, { state: 'read-only', reason: `${FAILED}${fault}` })
    return { rsin, name, applied: [], fault }
  }
}

/** Writes what changed; what somebody else made of its state meanwhile stays. */
async function note(
  control: Database,
  { id, rsin, ...before }: Organisation,
  { state, reason }: Pick<Organisation, 'state' | 'reason'>,
  version = before.version,
): Promise<void> {
  const after = { state, reason, version }
  const fields = (['state', 'reason', 'version'] as const).filter((name) => after[name] !== before[name])
  if (fields.length === 0) return
  await changeOrganisations(control, { rsin, actor: 'migrate', action: 'migrate', fields }, (trx) =>
    trx`
      update organisation set version = ${version}, state = ${state}, reason = ${reason}, changed_at = now()
      where id = ${id} and state = ${before.state}`.then(() => {}),
  )
}
