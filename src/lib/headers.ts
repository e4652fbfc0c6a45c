import { list } from './list.ts'

/** name=value with commas, each percent-encoded, as OTLP has them. @returns undefined when one is none, or may not be in a header */
export function readHeaders(text: string): Record<string, string> | undefined {
  try {
    const pairs = list(text).map((one) => {
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(one) ?? []
      return [name.trim(), decodeURIComponent(value.trim())] as const
    })
    const isHeader = ([name, value]: readonly [string, string]) =>
      /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
    return pairs.every(isHeader) ? Object.fromEntries(pairs) : undefined
  } catch {
    return undefined // no percent-encoding
  }
}
