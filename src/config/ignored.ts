// What an environment says that nothing is done with: names that are almost ours, files for what is no secret, values in quotes, and
// settings that do nothing without another or in this process. It is no fault, since an environment is shared; but nobody should have to find it out.
import { SETTINGS } from './environment.ts'

const OFF = ['', 'false', 'no', '0', 'off']
/** Names of others that lie beside ours. */
const FOREIGN = /^(npm_|NODE_|PG|LC_|[A-Z]+_PROXY$)/i
const SHORTEST = 6

/**
 * @param role what the process serves as, if it does
 * @returns sentences for an operator, in the order of names; without values, which may be secret
 */
export function tellIgnored(env: NodeJS.ProcessEnv, role?: 'api' | 'worker' | 'start'): string[] {
  const known = new Set(SETTINGS.flatMap(({ env: name, alsoRead }) => [name, ...(alsoRead ? [alsoRead] : [])]))
  const secrets = new Set(SETTINGS.filter(({ secret }) => secret).map(({ env: name }) => `${name}_FILE`))
  const given = Object.keys(env).filter((name) => env[name]?.trim())
  const told = given.flatMap((name): string[] => {
    if (known.has(name)) return inQuotes(env[name]) ? [`${name} has its value in quotes: they are part of it`] : []
    if (secrets.has(name)) return []
    const base = name.replace(/_FILE$/, '')
    if (base !== name && known.has(base))
      return [`${name} is ignored: ${base} is no secret, and is not read from a file`]
    const meant = nearest(name, [...known, ...secrets])
    return meant ? [`${name} is ignored: ${meant} is meant, perhaps`] : []
  })
  const textOf = (name: string) => env[name]?.trim() || (secrets.has(`${name}_FILE`) && env[`${name}_FILE`]?.trim())
  const isOn = (name: string): boolean => {
    const standard = SETTINGS.find((one) => one.env === name)?.default
    return !OFF.includes((textOf(name) || standard?.toString() || '').toLowerCase())
  }
  const alone = SETTINGS.flatMap(({ env: name, needs = [] }) =>
    textOf(name) && needs.length > 0 && !needs.some(isOn) ? [`${name} does nothing without ${needs.join(' or ')}`] : [],
  )
  const elsewhere = SETTINGS.flatMap(({ env: name, roles }) =>
    role && roles && !roles.includes(role) && textOf(name) ? [`${name} does nothing with ${role}`] : [],
  )
  return [...told, ...alone, ...elsewhere].sort()
}

const inQuotes = (text = ''): boolean => /^(["']).*\1$/s.test(text.trim())

/** The one of ours that a name is, but for its case or one letter. */
function nearest(name: string, ours: readonly string[]): string | undefined {
  const upper = name.toUpperCase().replaceAll('-', '_')
  if (name.length < SHORTEST) return undefined
  const same = ours.find((one) => one === upper)
  // Proxies are written in lower case for other programs too.
  if (same) return FOREIGN.test(name) ? undefined : same
  return ours.find((one) => one.length >= SHORTEST && isOneLetterAway(upper, one))
}

/** One letter more, less or another, or two that changed places. */
function isOneLetterAway(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  const [a, b] = [one.slice(start), other.slice(start)]
  if (a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1)) return true
  return a.length > 1 && a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2)
}
