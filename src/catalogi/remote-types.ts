// Types in catalogues at other servers: what is there is asked before a transaction begins, and judged by the members that
// we use of it.
import Type, { type Static, type TObject } from 'typebox'
import { type InvalidParam, Problem } from '../core/problem.ts'
import { isDuration, isoDuration } from '../http/duration.ts'
import { Nullable, OptionalText, readInput, Text, Vertrouwelijkheid } from '../http/input.ts'
import { resolveLink } from '../http/links.ts'
import { askEach, type Services } from '../services/services.ts'
import { ROLLEN } from './zaaktype/roltypen.ts'

const Duur = Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], default: null }))
const Name = Text(1000) // longer than any of the standard, and short enough to keep
const Texts = Type.Optional(Type.Array(Text(), { default: [] }))
const Brondatum = Type.Object({
  afleidingswijze: OptionalText(),
  datumkenmerk: OptionalText(),
  objecttype: OptionalText(),
  procestermijn: Duur,
})

const Specificatie = Type.Object({ formaat: OptionalText(), lengte: OptionalText(), waardenverzameling: Texts })
export type RemoteSpecificatie = Static<typeof Specificatie>

/** What has to be there: the least that tells each kind from the others, and all that rules look at. */
const SHAPES = {
  zaaktype: Type.Object({
    catalogus: Text(1000),
    identificatie: Name,
    omschrijving: Name,
    concept: Type.Boolean(),
    vertrouwelijkheidaanduiding: Vertrouwelijkheid,
    servicenorm: Duur,
    doorlooptijd: Duur,
    productenOfDiensten: Texts,
    informatieobjecttypen: Texts,
    deelzaaktypen: Texts,
  }),
  statustype: Type.Object({ zaaktype: Text(), omschrijving: Name, isEindstatus: Type.Boolean() }),
  resultaattype: Type.Object({
    zaaktype: Text(),
    omschrijving: Name,
    archiefnominatie: Nullable(Type.Enum(['blijvend_bewaren', 'vernietigen', ''])),
    archiefactietermijn: Duur,
    brondatumArchiefprocedure: Type.Optional(
      Type.Unsafe<Static<typeof Brondatum> | null>({ ...Nullable(Brondatum), default: null }),
    ),
  }),
  roltype: Type.Object({ zaaktype: Text(), omschrijving: Name, omschrijvingGeneriek: Type.Enum(ROLLEN) }),
  eigenschap: Type.Object({ zaaktype: Text(), naam: Name, specificatie: Type.Optional(Specificatie) }),
  zaakobjecttype: Type.Object({ zaaktype: Text(), objecttype: Text() }),
} satisfies Record<string, TObject>
export type RemoteKind = keyof typeof SHAPES

/** A type at another server. `url` is as the caller wrote it: rights and types are compared with that. */
export type RemoteType<S extends RemoteKind = RemoteKind> = { url: string } & Static<(typeof SHAPES)[S]>

/** What was asked of other servers: a type, or what is wrong with its URL. */
export type RemoteTypes = {
  get<S extends RemoteKind>(kind: S, url: string): RemoteType<S> | InvalidParam | undefined
}
export const NO_REMOTE_TYPES: RemoteTypes = { get: () => undefined }

/**
 * Asks for types that rules will look at: to be done before a transaction begins. URLs of our own, and what is no text, are
 * passed over.
 */
export async function fetchTypes(
  services: Services,
  base: string,
  wanted: readonly (readonly [kind: RemoteKind, url: unknown])[],
): Promise<RemoteTypes> {
  const found = new Map<string, unknown>()
  const elsewhere = wanted.filter(([, url]) => typeof url === 'string' && resolveLink(url, base).kind === 'elsewhere')
  if (elsewhere.length === 0) return NO_REMOTE_TYPES
  const ask = async ([kind, url]: readonly [RemoteKind, unknown]) => {
    const key = `${kind} ${url}`
    if (found.has(key)) return
    found.set(key, undefined)
    found.set(key, await fetchType(services, kind, url as string))
  }
  await askEach(elsewhere, ask)
  return { get: (kind, url) => found.get(`${kind} ${url}`) as never }
}

async function fetchType<S extends RemoteKind>(
  services: Services,
  kind: S,
  url: string,
): Promise<RemoteType<S> | InvalidParam> {
  const fetched = await services.fetchJson(url)
  if (fetched.kind !== 'ok') return { name: kind, code: 'bad-url', reason: `Dit ${kind} is niet op te vragen.` }
  const { body } = fetched
  const type = body !== null && typeof body === 'object' && !Array.isArray(body) ? readType(kind, body) : undefined
  if (type) return { ...type, url }
  return { name: kind, code: 'invalid-resource', reason: `Deze URL is niet van een ${kind}.` }
}

function readType<S extends RemoteKind>(kind: S, body: object): Static<(typeof SHAPES)[S]> | undefined {
  try {
    const type = readInput(SHAPES[kind] as TObject, body) as Record<string, unknown>
    for (const part of [type, type.brondatumArchiefprocedure as Record<string, unknown> | null | undefined])
      for (const name of DURATIONS) if (part?.[name] !== undefined) part[name] = readDuur(part[name] as string | null)
    return type as Static<(typeof SHAPES)[S]>
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

const DURATIONS = ['servicenorm', 'doorlooptijd', 'archiefactietermijn', 'procestermijn']

/** @throws Problem when it is no duration that a date can be moved by */
function readDuur(text: string | null): string | null {
  if (!text) return null
  if (!isDuration(text)) throw new Problem(400)
  return isoDuration(text)
}
