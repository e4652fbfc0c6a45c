// What is wrong with an abonnement before its callback is asked: the same for the API and for the pages.
import type { Config } from '../../config.ts'
import { LIMITS } from '../../core/limits.ts'
import { type InvalidParam, throwFaults } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { OF_THE_MESSAGE, unknownFilters } from '../kenmerken.ts'
import { callbackFaults } from './callback.ts'

export const MAX_KANALEN = 100
const MAX_FILTERS = 50
const MAX_CHOICES = 20 // of resources and acties: all of them are kept beside each kanaal
export const MAX_AUTH = 8192

/** A kanaal that was judged, with what is wanted of it. */
export type KnownGroup = { kanaalId: number; filters: Record<string, string> }

type Given = {
  callbackUrl?: string | undefined
  auth?: string | undefined
  kanalen?: { naam: string; filters?: Record<string, string> }[] | undefined
}

/**
 * What can be judged without asking the callback.
 * @returns the kanalen that were given, with their ids
 * @throws Problem 400 with all faults
 */
export async function judge(db: ReadDb, config: Config, given: Given): Promise<KnownGroup[]> {
  const namen = [...new Set((given.kanalen ?? []).map(({ naam }) => naam))]
  const known = namen.length
    ? await db.selectFrom('kanaal').select(['id', 'naam', 'filters']).where('naam', 'in', namen).execute()
    : []
  const byName = new Map(known.map((kanaal) => [kanaal.naam, kanaal]))
  const faults: InvalidParam[] = [
    ...(given.callbackUrl === undefined ? [] : callbackFaults(config, given.callbackUrl)),
    // A header takes what latin-1 has, and no line break: that would be a second header.
    ...(given.auth !== undefined && !/^[\t\x20-\x7e\xa0-\xff]*$/.test(given.auth)
      ? [{ name: 'auth', code: 'invalid', reason: 'Deze waarde kan niet in een header staan.' }]
      : []),
  ]
  if (given.kanalen && Buffer.byteLength(JSON.stringify(given.kanalen)) > LIMITS.filtersBytes)
    faults.push({
      name: 'kanalen',
      code: 'max_length',
      reason: 'Kanalen en filters van een abonnement zijn samen ten hoogste 64 kB aan JSON.',
    })
  const groepen: KnownGroup[] = []
  for (const [index, { naam, filters = {} }] of (given.kanalen ?? []).entries()) {
    const kanaal = byName.get(naam)
    // These two have the names that clients know from other services, without a place in the list; so the reason tells it.
    if (!kanaal) faults.push({ name: 'naam', code: 'kanaal_naam', reason: `Kanaal ${naam} bestaat niet.` })
    else {
      faults.push(...filterFaults(`kanalen.${index}.filters`, filters, kanaal))
      groepen.push({ kanaalId: kanaal.id, filters })
    }
  }
  throwFaults(faults)
  return groepen
}

function filterFaults(
  name: string,
  filters: Record<string, unknown>,
  kanaal: { naam: string; filters: readonly string[] },
): InvalidParam[] {
  const entries = Object.entries(filters)
  if (entries.length > MAX_FILTERS)
    return [{ name, code: 'max-items', reason: `Een groep heeft ten hoogste ${MAX_FILTERS} filters.` }]
  const wrong = entries.filter(([, value]) => typeof value !== 'string' || value.length === 0 || value.length > 1000)
  if (wrong.length > 0)
    return wrong.map(([naam]) => ({
      name: `${name}.${naam.slice(0, 100)}`,
      code: 'invalid',
      reason: 'Een filter is een tekst van 1 tot 1000 tekens; * laat alles door.',
    }))
  const long = OF_THE_MESSAGE.filter((naam) => String(filters[naam] ?? '').split(',').length > MAX_CHOICES)
  if (long.length > 0)
    return long.map((naam) => ({
      name: `${name}.${naam}`,
      code: 'max-items',
      reason: `Dit filter noemt ten hoogste ${MAX_CHOICES} waarden.`,
    }))
  const unknown = unknownFilters(filters as Record<string, string>, kanaal.filters)
  if (unknown.length === 0) return []
  const wanted = unknown.map((naam) => naam.slice(0, 100)).join(', ')
  const reason = `Kanaal ${kanaal.naam} kent niet: ${wanted}. Het kent: ${kanaal.filters.join(', ')}.`
  return [{ name: 'filters', code: 'inconsistent-abonnement-filters', reason }]
}
