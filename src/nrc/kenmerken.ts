// Names of kenmerken. Publishers write them in camelCase or in snake_case, with dots for what belongs to a related object;
// for comparing these are one name. The same rule stands in the function kenmerk_name of the database.

/** A name as names are compared: `zaaktype.catalogus_url` and `zaaktype.catalogusUrl` are one. */
export const sameName = (naam: string): string => naam.replaceAll('_', '').toLowerCase()

/** Names beside those of a kanaal on which every abonnement may filter. */
export const OF_THE_MESSAGE = ['#resource', '#actie']

/** Filters with `actie` and `resource` as `#actie` and `#resource`, where the kanaal has no kenmerk of that name. */
export function withNamesOfTheMessage<V>(filters: Record<string, V>, known: readonly string[]): Record<string, V> {
  const names = new Set(known.map(sameName))
  const nameOf = (naam: string) => {
    const isMeant = OF_THE_MESSAGE.includes(`#${naam}`) && !names.has(naam) && !Object.hasOwn(filters, `#${naam}`)
    return isMeant ? `#${naam}` : naam
  }
  return Object.fromEntries(Object.entries(filters).map(([naam, value]) => [nameOf(naam), value]))
}

/** The names of filters that the kanaal does not know. */
export function unknownFilters(filters: Record<string, string>, known: readonly string[]): string[] {
  const names = new Set(known.map(sameName))
  return Object.keys(filters).filter((naam) => !OF_THE_MESSAGE.includes(naam) && !names.has(sameName(naam)))
}

/** Whether the kenmerken of a message hold all that the kanaal filters on, or only such (the rule of existing publishers). */
export function isConsistent(kenmerken: Record<string, string>, known: readonly string[]): boolean {
  const given = new Set(Object.keys(kenmerken).map(sameName))
  const filters = new Set(known.map(sameName))
  return given.isSubsetOf(filters) || given.isSupersetOf(filters)
}
