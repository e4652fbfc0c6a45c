// Brings the tables of all organisations to the schema of this program, one after the other. One that fails is read-only from then on,
// and says why; the others go on. A later run that succeeds makes it active again.
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { expected } from '../database/rows.ts'
import { makeOrganisation } from './make.ts'
import type { Organisation } from './organisation.ts'
import { changeOrganisations } from './registry.ts'

export type Migrated = Pick<Organisation, 'rsin' | 'name'> & {
  /** Files that were applied now. */
  applied: string[]
  /** Why it failed, or why nothing was done. */
  fault?: string
}

/** Begins the reason of one that is read-only for this, and for nothing else. */
const FAILED = 'migrate: '

/**
 * @param parts.explain what an error says to people
 * @returns what became of each, as it ends
 */
export async function* migrateAll(parts: {
  control: Database
  all: readonly Organisation[]
  configOf(organisation: Organisation): Config
  explain(error: unknown): string
}): AsyncGenerator<Migrated> {
  const { control, all, configOf, explain } = parts
  for (const organisation of all) {
    const { rsin, name, state, reason } = organisation
    if (state === 'moving' || state === 'adding') {
      const what = state === 'moving' ? 'moved' : 'added'
      yield { rsin, name, applied: [], fault: `it is being ${what}: migrate it after that` }
      continue
    }
    const isOurs = state === 'active' || (state === 'read-only' && reason.startsWith(FAILED))
    try {
      const { databaseUrl, feedDays } = configOf(organisation)
      const applied = await makeOrganisation(expected(databaseUrl), { hasFeed: feedDays > 0 })
      await note(
        control,
        organisation,
        isOurs ? { state: 'active', reason: '' } : { state, reason },
        packageJson.version,
      )
      yield { rsin, name, applied }
    } catch (error) {
      const fault = explain(error)
      if (isOurs) await note(control, organisation, { state: 'read-only', reason: `${FAILED}${fault}` })
      yield { rsin, name, applied: [], fault }
    }
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
