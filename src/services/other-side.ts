// The other side of a relation: asking another server for it, making it there and removing it.
import type { Services } from './services.ts'

export type Outcome =
  | { kind: 'ok'; url: string }
  | { kind: 'refused'; reason: string }
  | { kind: 'unknown'; reason: string }
/** What is wanted of the other server: this content in this list. */
type Wanted = { listUrl: string; content: Record<string, string> }

/** When no answer came, or one that says too little, the outcome is `unknown`. */
export function otherSide(services: Services) {
  /** The URL at the other side, if it has it: undefined when not. @throws when it does not say */
  async function look({ listUrl, content }: Wanted): Promise<string | undefined> {
    const list = new URL(listUrl)
    for (const [name, value] of Object.entries(content)) if (name !== 'objectType') list.searchParams.set(name, value)
    const filtered = await services.fetchJson(list.href, { fresh: true })
    // A list without filters, as that of the besluiten of a case, refuses them.
    const fetched = filtered.kind === 'ok' ? filtered : await services.fetchJson(listUrl, { fresh: true })
    const body = fetched.kind === 'ok' ? fetched.body : undefined
    const found = Array.isArray(body) ? body : (body as { results?: unknown } | undefined)?.results
    if (!Array.isArray(found)) throw new Error('the other side does not say what it has')
    const same = found.find((one) => Object.entries(content).every(([name, value]) => one?.[name] === value))
    return same && urlIn(listUrl, same)
  }

  async function post(relation: Wanted): Promise<Outcome> {
    const called = await services.call('POST', relation.listUrl, relation.content)
    if (called.kind === 'unregistered') return { kind: 'refused', reason: 'deze dienst is niet geregistreerd' }
    if (called.kind === 'failed') return { kind: called.unknown ? 'unknown' : 'refused', reason: called.reason }
    const { status, body } = called
    const url = status === 201 || status === 200 ? urlIn(relation.listUrl, body) : undefined
    if (url) return { kind: 'ok', url }
    // It may refuse because it has it already, from a call of which we did not hear the end.
    const there = status === 400 || status === 409 ? await look(relation).catch(() => undefined) : undefined
    if (there) return { kind: 'ok', url: there }
    const reason = `het antwoord was ${status}`
    return { kind: status >= 400 && status < 500 ? 'refused' : 'unknown', reason }
  }

  async function deleteThere({ url, ...relation }: Wanted & { url: string }): Promise<Outcome> {
    const there = url || (await look(relation).catch(() => null))
    if (there === null) return { kind: 'unknown', reason: 'het is niet op te vragen' }
    if (!there) return { kind: 'ok', url: '' }
    const called = await services.call('DELETE', there)
    if (called.kind === 'unregistered') return { kind: 'refused', reason: 'deze dienst is niet geregistreerd' }
    if (called.kind === 'failed') return { kind: called.unknown ? 'unknown' : 'refused', reason: called.reason }
    const { status } = called
    if ((status >= 200 && status < 300) || status === 404 || status === 410) return { kind: 'ok', url: there }
    const reason = `het antwoord was ${status}`
    return { kind: status >= 400 && status < 500 ? 'refused' : 'unknown', reason }
  }

  async function lookThenPost(row: Wanted): Promise<Outcome> {
    const there = await look(row).catch(() => null)
    if (there === null) return { kind: 'unknown', reason: 'het is niet op te vragen' }
    return there ? { kind: 'ok', url: there } : post(row)
  }

  return { post, lookThenPost, deleteThere }
}

/**
 * The URL of what the other side says it has, in the list that we posted to: we do not let it point us elsewhere, where we
 * would then remove something.
 */
function urlIn(list: string, body: unknown): string | undefined {
  const url = (body as { url?: unknown } | null | undefined)?.url
  const isUrl = typeof url === 'string' && url.length <= 1000 // a longer one would take its square to read
  const last = isUrl ? /\/([\w.~-]+)\/?(?:[?#].*)?$/.exec(url)?.[1] : undefined
  return last && last !== '.' && last !== '..' ? `${list}/${last}` : undefined
}
