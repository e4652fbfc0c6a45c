// The old installation names itself in its own data: in relations, in texts that are URLs, in marks. What begins with one of
// its addresses is what it was there for us now; all other URLs stay as they are.
import { isUuid } from '../lib/uuid.ts'
import { type Roots, rootedPath } from './api/roots.ts'
import type { Kind, Ref, Taken } from './kinds.ts'

export type Addresses = {
  /** A URL of the old installation as ours; any other text as it is. With a place it counts. */
  rewrite(text: string, kind?: string, field?: string): string
  /** The uuid at the end of a URL of the old installation; any other text as it is. With a place it counts. */
  toUuid(text: string, kind?: string, field?: string): string
  /** The same addresses, with counts of their own. */
  counted(): Addresses & { counts: AddressCounts }
}

/** How often each address occurs, by `kind field`. */
export type AddressCounts = Record<string, { confirmed: boolean; places: Record<string, number> }>

/** What stands before the path of an API of the standard. */
const INSTALLATION = /^([^?#]+?)\/(?:autorisaties|besluiten|catalogi|documenten|notificaties|zaken)\/api\/v1(?:\/|$)/

/**
 * @param old beginnings of URLs that somebody confirmed; http and https count as one
 * @param own our address, without slash at the end
 * @param suggested by which the source says it is known; these are counted and stay as they are
 * @param roots of a source whose APIs do not stand below one address
 */
export function addresses(old: string[], own: string, suggested: string[] = [], roots?: Roots): Addresses {
  const clean = (urls: string[]) =>
    [...new Set(urls.map((url) => bare(url).replace(/\/+$/, '').toLowerCase()))].filter(Boolean)
  const ours = bare(own).toLowerCase()
  const [starts, unconfirmed] = [clean(old), clean(suggested)]
  const startsWith = (url: string, start: string) =>
    url.toLowerCase().startsWith(start) && (url.length === start.length || /[/?#]/.test(url.charAt(start.length)))
  const make = (counts: AddressCounts) => {
    const count = (address: string, confirmed: boolean, kind?: string, field?: string) => {
      if (kind === undefined) return
      add(counts, address, confirmed, `${kind} ${field ?? ''}`.trim(), 1)
    }
    const restOf = (text: string, kind?: string, field?: string): string | undefined => {
      if (!text.startsWith('http')) return undefined
      const path = rootedPath(roots, text)
      if (path !== undefined) {
        const [, name = ''] = path.split('/')
        count(bare(roots?.[name] ?? ''), true, kind, field)
        return path
      }
      const url = bare(text)
      const start = starts.find((one) => startsWith(url, one))
      if (start !== undefined) {
        count(start, true, kind, field)
        return url.slice(start.length)
      }
      if (startsWith(url, ours)) return url.slice(ours.length)
      const named = INSTALLATION.exec(url)?.[1]?.toLowerCase() ?? unconfirmed.find((one) => startsWith(url, one))
      if (named !== undefined) count(named, false, kind, field)
      return undefined
    }
    const one: Addresses = {
      rewrite(text, kind, field) {
        const rest = restOf(text, kind, field)
        return rest === undefined ? text : own + rest
      },
      toUuid(text, kind, field) {
        const rest = restOf(text, kind, field) ?? ''
        const last = rest.split(/[?#]/)[0]?.split('/').at(-1)
        return last && isUuid(last) ? last.toLowerCase() : text
      },
      counted() {
        const fresh: AddressCounts = {}
        return { ...make(fresh), counts: fresh }
      },
    }
    return one
  }
  return make({})
}

/** Both together. */
export function addCounts(a: AddressCounts, b: AddressCounts): AddressCounts {
  const sum = structuredClone(a)
  for (const [address, { confirmed, places }] of Object.entries(b)) {
    for (const [place, count] of Object.entries(places)) add(sum, address, confirmed, place, count)
  }
  return sum
}

function add(counts: AddressCounts, address: string, confirmed: boolean, place: string, more: number): void {
  counts[address] ??= { confirmed, places: {} }
  const { places } = counts[address]
  places[place] = (places[place] ?? 0) + more
}

const bare = (url: string) => url.replace(/^https?:\/\//i, '')

/** The object with its references to the old installation as uuids, and its other URLs there as ours. */
export function adopt(kind: Kind, object: Taken, { rewrite, toUuid }: Addresses): Taken {
  const deep = (value: unknown, field: string): unknown => {
    if (typeof value === 'string') return rewrite(value, kind.name, field)
    if (Array.isArray(value)) return value.map((inner) => deep(inner, field))
    if (value !== null && typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner, field)]))
    return value
  }
  const one = (from: Record<string, unknown>, refs: Ref[], skip: string[]) => {
    const into: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(from)) {
      if (typeof value === 'string')
        into[name] = refs.some((ref) => ref.name === name)
          ? toUuid(value, kind.name, name)
          : skip.includes(name)
            ? value
            : rewrite(value, kind.name, name)
      else into[name] = value !== null && typeof value === 'object' && !skip.includes(name) ? deep(value, name) : value
    }
    return into
  }
  const lists = kind.lists.map(({ name }) => name)
  const adopted = one(object, kind.refs, lists) as Taken
  for (const list of kind.lists) {
    const items = object[list.name]
    if (Array.isArray(items))
      adopted[list.name] = items.map((item) => one(item as Record<string, unknown>, list.refs, ['path']))
  }
  return adopted
}
