// The old installation names itself in its own data: in relations, in texts that are URLs, in marks. What begins with one of
// its addresses is what it was there for us now; all other URLs stay as they are.
import { isUuid } from '../lib/uuid.ts'
import type { Kind, Ref, Taken } from './kinds.ts'

export type Addresses = {
  /** A URL of the old installation as ours; any other text as it is. */
  rewrite(text: string): string
  /** The uuid at the end of a URL of the old installation; any other text as it is. */
  toUuid(text: string): string
}

/**
 * @param old beginnings of URLs; http and https count as one
 * @param own our address, without slash at the end
 */
export function addresses(old: string[], own: string): Addresses {
  const starts = [...new Set(old.map((url) => bare(url).replace(/\/+$/, '').toLowerCase()))].filter(Boolean)
  const ours = bare(own).toLowerCase()
  const restOf = (text: string): string | undefined => {
    if (!text.startsWith('http')) return undefined
    const url = bare(text)
    const lower = url.toLowerCase()
    for (const start of [...starts, ours])
      if (lower.startsWith(start) && (url.length === start.length || /[/?#]/.test(url.charAt(start.length))))
        return url.slice(start.length)
    return undefined
  }
  return {
    rewrite(text) {
      const rest = restOf(text)
      return rest === undefined ? text : own + rest
    },
    toUuid(text) {
      const rest = restOf(text) ?? ''
      const last = rest.split(/[?#]/)[0]?.split('/').at(-1)
      return last && isUuid(last) ? last.toLowerCase() : text
    },
  }
}

const bare = (url: string) => url.replace(/^https?:\/\//i, '')

/** The object with its references to the old installation as uuids, and its other URLs there as ours. */
export function adopt(kind: Kind, object: Taken, { rewrite, toUuid }: Addresses): Taken {
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return rewrite(value)
    if (Array.isArray(value)) return value.map(deep)
    if (value !== null && typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner)]))
    return value
  }
  const one = (from: Record<string, unknown>, refs: Ref[], skip: string[]) => {
    const into: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(from)) {
      if (typeof value === 'string')
        into[name] = refs.some((ref) => ref.name === name)
          ? toUuid(value)
          : skip.includes(name)
            ? value
            : rewrite(value)
      else into[name] = value !== null && typeof value === 'object' && !skip.includes(name) ? deep(value) : value
    }
    return into
  }
  const lists = kind.lists.map(({ name }) => name)
  const adopted = one(object, kind.refs, lists) as Taken
  for (const list of kind.lists) {
    const items = object[list.name]
    if (Array.isArray(items))
      adopted[list.name] = items.map((item) => one(item as Record<string, unknown>, list.refs, ['pad']))
  }
  return adopted
}
