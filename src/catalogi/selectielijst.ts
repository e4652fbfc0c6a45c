// The selectielijst: what the archiving of cases is measured by. Asked over HTTP, or read from a copy of its answers.
import { readFile } from 'node:fs/promises'
import type { Config } from '../config.ts'
import type { Services } from '../services/services.ts'
import { isUrl } from './rules.ts'

/** Kinds of resources there, with the members that each must have and their types. */
const KINDS = {
  ProcesType: {
    nummer: 'number',
    jaar: 'number',
    naam: 'string',
    omschrijving: 'string',
    toelichting: 'string',
    procesobject: 'string',
  },
  Resultaat: { nummer: 'number', naam: 'string', herkomst: 'string', waardering: 'string' },
  ResultaattypeOmschrijvingGeneriek: { omschrijving: 'string', definitie: 'string' },
} as const
type Kind = keyof typeof KINDS

export type Found =
  | { kind: 'ok'; body: Record<string, unknown> }
  /** No selectielijst is configured: the URL is taken as it is. */
  | { kind: 'unverified' }
  | { kind: 'fault'; code: 'bad-url' | 'invalid-resource'; reason: string }

export type Selectielijst = { find(url: string, kind: Kind): Promise<Found> }

/** Opens the selectielijst: the copy in SELECTIELIJST_BESTAND first, then SELECTIELIJST_API_ROOT. */
export async function openSelectielijst(config: Config, services: Services): Promise<Selectielijst> {
  const copy = config.selectielijstBestand ? await readCopy(config.selectielijstBestand) : new Map<string, object>()
  const configured = config.selectielijstApiRoot !== undefined || config.selectielijstBestand !== undefined
  return {
    async find(url, kind) {
      const kept = copy.get(withoutSlash(url))
      if (kept) return judge(kept, kind)
      const answer = await services.fetchJson(url)
      if (answer.kind === 'ok') return judge(answer.body, kind)
      if (answer.kind === 'unregistered' && !configured) return { kind: 'unverified' }
      const why = answer.kind === 'failed' ? answer.reason : 'dit adres hoort niet bij de selectielijst'
      return { kind: 'fault', code: 'bad-url', reason: `De URL kon niet worden opgevraagd: ${why}.` }
    },
  }
}

function judge(body: unknown, kind: Kind): Found {
  const members = Object.entries(KINDS[kind])
  const resource = (body ?? {}) as Record<string, unknown>
  if (typeof body === 'object' && members.every(([name, type]) => looksLike(resource[name], type)))
    return { kind: 'ok', body: resource }
  return { kind: 'fault', code: 'invalid-resource', reason: `Wat op deze URL staat is geen ${kind}.` }
}

// A sub-number of a Resultaat (1.1) is served as text by some versions of the API.
function looksLike(value: unknown, type: string): boolean {
  return typeof value === type || (type === 'number' && typeof value === 'string' && /^\d+(\.\d+)*$/.test(value))
}

/** Everything with a `url` in the file counts, so saved pages of the API can be put together as they came. */
async function readCopy(path: string): Promise<Map<string, object>> {
  const found = new Map<string, object>()
  const collect = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return
    const { url } = value as { url?: unknown }
    if (typeof url === 'string' && isUrl(url)) found.set(withoutSlash(url), value)
    for (const member of Object.values(value)) collect(member)
  }
  try {
    collect(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    throw new Error(`SELECTIELIJST_BESTAND cannot be read: ${(error as Error).message}`)
  }
  return found
}

const withoutSlash = (url: string) => url.replace(/\/$/, '')
