// A source whose APIs stand each at an address of their own, as https://zaken.example/api/v1, and not below one.

/** By the name of an API in our paths (zaken, catalogi, …): its address up to and with `/api/v1`, without a slash at the end. */
export type Roots = Partial<Record<string, string>>

export const API_NAMES = ['autorisaties', 'besluiten', 'catalogi', 'documenten', 'notificaties', 'zaken'] as const
const PATH = /^\/([a-z]+)\/api\/v1(?=[/?]|$)/

/** Where a path (`/zaken/api/v1/zaken`) stands there; undefined when that API has no address of its own. */
export function rootedUrl(roots: Roots | undefined, path: string): string | undefined {
  const [start, name] = PATH.exec(path) ?? []
  const root = name === undefined ? undefined : roots?.[name]
  return root === undefined || start === undefined ? undefined : root + path.slice(start.length)
}

/** The path of ours that a URL below one of these addresses has; undefined when it is below none. http and https count as one. */
export function rootedPath(roots: Roots | undefined, url: string): string | undefined {
  const bare = url.replace(/^https?:\/\//i, '')
  for (const [name, root = ''] of Object.entries(roots ?? {})) {
    const start = root.replace(/^https?:\/\//i, '')
    if (bare.toLowerCase().startsWith(start.toLowerCase()) && /^([/?#]|$)/.test(bare.slice(start.length)))
      return `/${name}/api/v1${bare.slice(start.length)}`
  }
  return undefined
}
