// One service, several addresses: which URLs are ours, and how they stand in answers.

/** An address of ours, as the beginning of URLs: host with its port unless that is the usual one, and a path without slash at the end. */
type OwnAddress = { url: string; host: string; prefix: string }

export type OwnAddresses = {
  /** That of answers, without slash at the end. */
  base: string
  /** It and all others, the longest paths first. */
  all: readonly OwnAddress[]
}

/** @param others beginnings of URLs that count as `base`, without slash at the end */
export function ownAddresses(base: string, others: readonly string[]): OwnAddresses {
  const all = [base, ...others].flatMap((url) => {
    const parsed = URL.parse(url)
    return parsed ? { url, host: parsed.host, prefix: parsed.pathname.replace(/\/$/, '') } : []
  })
  return { base, all: all.sort((one, other) => other.prefix.length - one.prefix.length) }
}

/** The address of ours below which a URL is; the scheme does not matter, as clients on both sides of a proxy have different ones. */
export function addressOf(url: URL, { all }: OwnAddresses): OwnAddress | undefined {
  const named = url.host.replace(/\.(?=:|$)/, '')
  return all.find(
    ({ host, prefix }) => named === host && (url.pathname === prefix || url.pathname.startsWith(`${prefix}/`)),
  )
}

/**
 * A URL of ours below any of our addresses as it stands in answers; another has its host in lower case and no usual port, so that it
 * can be compared. What is no URL stays as it is.
 * @param paths which paths below an address are ours: beside them a host may have other programs
 * @param seen is told which address it was, unless that of answers
 */
export function inOneForm(
  text: string,
  own: OwnAddresses | undefined,
  paths: RegExp,
  seen: (url: string) => void,
): string {
  const [start] = /^https?:\/\/[^/?#\\\s]+/i.exec(text) ?? []
  const url = start === undefined ? null : URL.parse(text)
  if (!start || !url || url.username !== '') return text
  const rest = text.slice(start.length)
  const address = own && addressOf(url, own)
  const path = url.pathname.slice(address?.prefix.length)
  if (!address || address.url === own.base || !paths.test(path)) return url.origin + rest
  seen(address.url)
  return own.base + path + url.search + url.hash
}
