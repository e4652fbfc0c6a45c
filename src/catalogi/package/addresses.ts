// The addresses in a package: those of who wrote it become ours.
import { randomUUID } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { PATHS } from '../../http/links.ts'
import { FILES, type Package } from './files.ts'
import type { PackageItem as Item } from './read-thread.ts'

/** Where our own addresses of types begin. */
export const ownRoot = (base: string) => `${base}${PATHS.catalogus.slice(0, PATHS.catalogus.lastIndexOf('/') + 1)}`

/** The addresses below which the URLs of the file begin. */
export function rootsOf(pack: Package): Set<string> {
  const roots = new Set<string>()
  for (const [name, items] of pack) {
    const path = PATHS[FILES[name]]
    const collection = path.slice(path.lastIndexOf('/') + 1)
    for (const { url } of items) {
      const { root, rest } = partsOf(url)
      if (root !== '' && rest.startsWith(`${collection}/`)) roots.add(root)
    }
  }
  return roots
}

/** Where the last two parts of an address begin: a collection and a uuid. */
function partsOf(url: string): { root: string; rest: string } {
  const end = url.lastIndexOf('/', url.lastIndexOf('/') - 1) + 1
  return { root: url.slice(0, end), rest: url.slice(end) }
}

/** The same resources with our address in their URLs, and new uuids unless they are kept. */
export async function moveTo(
  base: string,
  pack: Package,
  roots: ReadonlySet<string>,
  options: { keepUuids?: boolean },
): Promise<Package> {
  const uuids = new Map<string, string>()
  const own = ownRoot(base)
  const moved = (value: unknown): unknown => {
    if (typeof value === 'string') return movedUrl(value)
    if (Array.isArray(value)) return value.map(moved)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, moved(member)]))
  }
  const movedUrl = (text: string): string => {
    const { root, rest } = partsOf(text)
    if (!roots.has(root)) return text
    const uuid = uuids.get(text)
    return own + (uuid === undefined ? rest : rest.slice(0, rest.lastIndexOf('/') + 1) + uuid)
  }
  if (!options.keepUuids) for (const items of pack.values()) for (const { url } of items) uuids.set(url, randomUUID())
  const result: Package = new Map()
  for (const [name, items] of pack) {
    const there: Item[] = []
    for (const item of items) {
      there.push(moved(item) as Item)
      if (there.length % AT_ONCE === 0) await breathe()
    }
    result.set(name, there)
  }
  return result
}
const AT_ONCE = 50
