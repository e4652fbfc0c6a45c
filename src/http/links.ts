import type { FastifyRequest } from 'fastify'
import { type Config, otherAddresses } from '../config.ts'
import { inOneForm, type OwnAddresses, ownAddresses } from '../lib/own-addresses.ts'
import { UUID_PATTERN } from '../lib/uuid.ts'
import { currentRequest } from '../telemetry/current-request.ts'

/** Where each resource lives. The key is its name in notifications and audit records. */
export const PATHS = {
  applicatie: '/autorisaties/api/v1/applicaties',
  catalogus: '/catalogi/api/v1/catalogussen',
  informatieobjecttype: '/catalogi/api/v1/informatieobjecttypen',
  zaaktype: '/catalogi/api/v1/zaaktypen',
  besluittype: '/catalogi/api/v1/besluittypen',
  statustype: '/catalogi/api/v1/statustypen',
  resultaattype: '/catalogi/api/v1/resultaattypen',
  roltype: '/catalogi/api/v1/roltypen',
  eigenschap: '/catalogi/api/v1/eigenschappen',
  zaaktypeinformatieobjecttype: '/catalogi/api/v1/zaaktype-informatieobjecttypen',
  zaakobjecttype: '/catalogi/api/v1/zaakobjecttypen',
  enkelvoudiginformatieobject: '/documenten/api/v1/enkelvoudiginformatieobjecten',
  bestandsdeel: '/documenten/api/v1/bestandsdelen',
  gebruiksrechten: '/documenten/api/v1/gebruiksrechten',
  objectinformatieobject: '/documenten/api/v1/objectinformatieobjecten',
  verzending: '/documenten/api/v1/verzendingen',
  import: '/documenten/api/v1/import',
  zaak: '/zaken/api/v1/zaken',
  status: '/zaken/api/v1/statussen',
  substatus: '/zaken/api/v1/substatussen',
  resultaat: '/zaken/api/v1/resultaten',
  rol: '/zaken/api/v1/rollen',
  zaakinformatieobject: '/zaken/api/v1/zaakinformatieobjecten',
  zaakobject: '/zaken/api/v1/zaakobjecten',
  klantcontact: '/zaken/api/v1/klantcontacten',
  zaakcontactmoment: '/zaken/api/v1/zaakcontactmomenten',
  zaakverzoek: '/zaken/api/v1/zaakverzoeken',
  zaaknotitie: '/zaken/api/v1/zaaknotities',
  kanaal: '/notificaties/api/v1/kanaal',
  abonnement: '/notificaties/api/v1/abonnement',
  besluit: '/besluiten/api/v1/besluiten',
  besluitinformatieobject: '/besluiten/api/v1/besluitinformatieobjecten',
} as const
export type Resource = keyof typeof PATHS

/** The URL of a resource of ours. `base` is our address as the caller knows it, without slash at the end. */
export function link(base: string, resource: Resource, uuid: string): string {
  return `${base}${PATHS[resource]}/${uuid}`
}

/** The URL of a resource that is ours, by its uuid, or else stands elsewhere: one of the two is there. */
export function linkOr(base: string, resource: Resource, uuid: string | null, elsewhere: string | null): string {
  if (uuid) return link(base, resource, uuid)
  if (elsewhere === null) throw new Error(`a relation without ${resource}`)
  return elsewhere
}

/** The last part of the URL of a resource: its uuid. */
export const uuidOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1)

/**
 * What a URL refers to: `elsewhere` when the host is not ours (the scheme does not matter), `nothing` when no such
 * resource can be ours, and otherwise the uuid, which need not exist.
 */
export function resolveLink(
  url: string,
  base: string,
): { kind: 'elsewhere' } | { kind: 'nothing' } | { kind: 'ours'; resource: Resource; uuid: string } {
  const parsed = URL.parse(inOwnForm(url))
  if (!parsed) return { kind: 'nothing' }
  if (places?.base !== base) places = placesOf(base)
  if (parsed.host !== places.host) return { kind: 'elsewhere' }
  const { pathname } = parsed
  for (const { resource, start } of places.starts) {
    if (!pathname.startsWith(start)) continue
    const uuid = pathname.slice(start.length).toLowerCase()
    if (UUID.test(uuid) && parsed.search === '') return { kind: 'ours', resource, uuid }
  }
  return { kind: 'nothing' }
}

/**
 * A URL in one form: below any of our own addresses as it stands in answers, and another as all its spellings are compared. The
 * request that is answered says which addresses count: those of OWN_URLS and of takeovers, and its own host.
 */
export function inOwnForm(url: string): string {
  const current = currentRequest.getStore()
  return inOneForm(url, current?.own, OF_THE_APIS, (address) => current?.addresses.add(address))
}
const OF_THE_APIS = /^\/(autorisaties|besluiten|catalogi|documenten|notificaties|zaken)\/api\/v1(\/|$)/

/**
 * Our addresses for this request. Its own host counts where nobody stands before us, or a proxy that we trust; a client that makes
 * one up changes what its own request means, and nothing else: answers have `base`.
 */
export function addressesFor(request: FastifyRequest, base: string, config: Config): OwnAddresses {
  const { headers, ips = [] } = request
  const isForwarded = 'forwarded' in headers || Object.keys(headers).some((name) => name.startsWith('x-forwarded-'))
  const here = URL.parse(`http://${request.host}`)
  const counts = here && here.host !== new URL(base).host && (!isForwarded || ips.length > 1)
  return ownAddresses(base, [...otherAddresses(config), ...(counts ? [`http://${here.host}`] : [])])
}

// Of the address that was asked for last, which is nearly always the same: every request asks for several links.
let places: ReturnType<typeof placesOf> | undefined

function placesOf(base: string) {
  const { host, pathname } = new URL(base)
  const prefix = pathname === '/' ? '' : pathname
  const starts = (Object.entries(PATHS) as [Resource, string][]).map(([resource, path]) => ({
    resource,
    start: `${prefix}${path}/`,
  }))
  return { base, host, starts }
}

const UUID = new RegExp(`^${UUID_PATTERN}$`) // links of ours are in lower case
/** The uuid in a URL of ours of this kind, undefined for any other URL: what filters on a relation need. */
export function localUuid(url: string, base: string, resource: Resource): string | undefined {
  const target = resolveLink(url, base)
  return target.kind === 'ours' && target.resource === resource ? target.uuid : undefined
}

/** The same in a job, which has no request that says which addresses are ours. */
export function localUuidAt(url: string, base: string, config: Config, resource: Resource): string | undefined {
  const own = ownAddresses(base, otherAddresses(config))
  return localUuid(
    inOneForm(url, own, OF_THE_APIS, () => {}),
    base,
    resource,
  )
}

/**
 * Our address as the caller knows it. Without PUBLIC_URL the request's own host counts, but only a local one: a made-up
 * Host header must not end up in links.
 */
export function requestBase(request: FastifyRequest, config: Config): string {
  if (config.publicUrl) return config.publicUrl
  const host = request.headers.host ?? ''
  return LOCAL.test(host) ? `http://${host}` : ownAddress(config)
}

/** Our address where there is no request: in what commands and tasks write. */
export function ownAddress(config: Config): string {
  return config.publicUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
}

const LOCAL = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i
