// Registering services elsewhere, for the pages and the command line. services.ts asks and calls them.
import { randomUUID } from 'node:crypto'
import Type, { type Static } from 'typebox'
import type { Mutation } from '../core/mutate.ts'
import { fault, type InvalidParam, throwFaults } from '../core/problem.ts'
import { originOf, type SecretBox } from '../core/secret-box.ts'
import { areCertificates, certificateFault } from './credentials.ts'
import { outgoingUrl, serviceOwner, serviceServers } from './services.ts'

export const KINDS = ['nrc', 'zrc', 'ztc', 'drc', 'brc', 'ac', 'orc'] as const

/**
 * A service as an administrator writes it down. Without `secret`, `clientCertificate` and `ca` those that are known stay; empty
 * ones are removed.
 */
export const RemoteServiceInput = Type.Object({
  label: Type.String({ minLength: 1, maxLength: 100 }),
  slug: Type.String({ pattern: '^[-a-zA-Z0-9_]{1,100}$' }),
  soort: Type.Enum(KINDS),
  /** A slash is added to the end when it misses. */
  apiRoot: Type.String({ pattern: '^https?://[^/?#@]+(/[^?#]*)?$', maxLength: 1000 }),
  authenticatie: Type.Enum(['geen', 'zgw', 'api_key', 'oauth2']),
  clientId: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  header: Type.Optional(Type.String({ pattern: "^[-!#$%&'*+.^_`|~0-9A-Za-z]{1,100}$" })),
  secret: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  tokenUrl: Type.Optional(Type.String({ pattern: '^https?://[^/?#@]+(/[^#]*)?$', maxLength: 1000 })),
  tokenScope: Type.Optional(Type.String({ maxLength: 1000, pattern: '^[\\x20-\\x7e]*$' })),
  /** PEM, with the certificates between it and its authority behind it; its key beside it. */
  clientCertificate: Type.Optional(Type.String({ maxLength: 65_536 })),
  clientKey: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536 })),
  /** PEM: the authorities that vouch for the service, instead of the usual ones. */
  ca: Type.Optional(Type.String({ maxLength: 1_000_000 })),
  gebruikersId: Type.Optional(Type.String({ maxLength: 255 })),
  gebruikersWeergave: Type.Optional(Type.String({ maxLength: 255 })),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 300_000 })),
})
export type RemoteServiceInput = Static<typeof RemoteServiceInput>

/**
 * Registers a service, or changes the one with this slug. What is absent becomes what it is by default.
 * @returns whether anything changed
 * @throws Problem 400 with the fields that are wrong
 */
export async function saveService(m: Mutation, box: SecretBox, input: RemoteServiceInput): Promise<boolean> {
  m.unrecorded('services are no resource of the standard')
  const known = await m.trx
    .selectFrom('service')
    .where('slug', '=', input.slug)
    .selectAll()
    .forUpdate()
    .executeTakeFirst()
  const uuid = known?.uuid ?? randomUUID()
  const owner = serviceOwner(uuid)
  const { authenticatie } = input
  const values = {
    label: input.label,
    slug: input.slug,
    kind: input.soort,
    apiRoot: input.apiRoot.endsWith('/') ? input.apiRoot : `${input.apiRoot}/`,
    authenticatie,
    clientId: authenticatie === 'zgw' || authenticatie === 'oauth2' ? (input.clientId ?? '') : '',
    header: authenticatie === 'api_key' ? (input.header ?? '') : '',
    gebruikersId: input.gebruikersId ?? '',
    gebruikersWeergave: input.gebruikersWeergave ?? '',
    timeoutMs: input.timeoutMs ?? 10_000,
    tokenUrl: authenticatie === 'oauth2' ? (input.tokenUrl ?? '') : '',
    tokenScope: authenticatie === 'oauth2' ? (input.tokenScope ?? '') : '',
    certificaat: input.clientCertificate ?? known?.certificaat ?? '',
    ca: input.ca ?? known?.ca ?? '',
  }
  const knownKey = known?.certificateKey ? box.open(known.certificateKey, owner) : undefined
  const clientKey = values.certificaat === '' ? undefined : (input.clientKey ?? knownKey)
  const knownSecret = known?.sealedSecret ? box.tryOpenFor(known.sealedSecret, owner, serviceServers(known)) : undefined
  const secret = authenticatie === 'geen' ? undefined : (input.secret ?? knownSecret)
  const faults = faultsOf(input, secret, values.certificaat, clientKey, values.ca)
  // A secret goes nowhere else than where it was given for.
  const isElsewhere =
    known !== undefined && serviceServers(known).map(originOf).join() !== serviceServers(values).map(originOf).join()
  if (isElsewhere && knownSecret !== undefined && authenticatie !== 'geen' && input.secret === undefined)
    faults.push(
      fault('secret', 'required', 'Geef het geheim opnieuw: de dienst of haar tokendienst staat op een andere server.'),
    )
  throwFaults(faults)
  const isSame = known && Object.entries(values).every(([name, value]) => known[name as keyof typeof known] === value)
  if (isSame && secret === knownSecret && clientKey === knownKey) return false
  const servers = serviceServers(values)
  const isKept = known?.sealedSecret && secret === knownSecret && box.isFor(known.sealedSecret, owner, servers)
  const sealedSecret = secret === undefined ? null : isKept ? known.sealedSecret : box.sealFor(secret, owner, servers)
  const certificateKey =
    clientKey === undefined ? null : known && clientKey === knownKey ? known.certificateKey : box.seal(clientKey, owner)
  await m.trx
    .insertInto('service')
    .values({ uuid, ...values, sealedSecret, certificateKey })
    .onConflict((conflict) => conflict.column('slug').doUpdateSet({ ...values, sealedSecret, certificateKey }))
    .execute()
  return true
}

/** Removes a service. @returns false when it is the one that notifications go to, and stays */
export async function deleteService(m: Mutation, uuid: string): Promise<boolean> {
  m.unrecorded('services are no resource of the standard')
  const gone = await m.sql`
    delete from service d where uuid = ${uuid}
      and not exists (select from notificatie_settings i where i.configured_service_id = d.id)`
  return gone.count > 0
}

const CERTIFICATE_FAULTS = {
  certificate: ['clientCertificate', 'Dit is geen certificaat (PEM).'],
  key: ['clientKey', 'Dit is geen privésleutel (PEM, zonder wachtwoord).'],
  mismatch: ['clientKey', 'Deze sleutel hoort niet bij het certificaat.'],
} as const

function certificateFaults(certificaat: string, key: string | undefined, ca: string): InvalidParam[] {
  const wrong = certificaat === '' || key === undefined ? undefined : certificateFault(certificaat, key)
  return [
    ...(certificaat !== '' && key === undefined ? [required('clientKey')] : []),
    ...(wrong ? [fault(CERTIFICATE_FAULTS[wrong][0], 'invalid', CERTIFICATE_FAULTS[wrong][1])] : []),
    ...(ca !== '' && !areCertificates(ca) ? [fault('ca', 'invalid', 'Dit zijn geen certificaten (PEM).')] : []),
  ]
}

const required = (name: string): InvalidParam => fault(name, 'required', 'Dit veld is verplicht.')

/** @param secret the one that it will have, and so the certificate with its key and the authorities */
function faultsOf(
  { apiRoot, authenticatie, clientId, tokenUrl, header }: RemoteServiceInput,
  secret: string | undefined,
  certificaat: string,
  key: string | undefined,
  ca: string,
): InvalidParam[] {
  const faults = certificateFaults(certificaat, key, ca)
  if (!outgoingUrl(apiRoot))
    faults.unshift(fault('apiRoot', 'invalid', 'De API-root mag geen .. en geen gecodeerde scheidingstekens bevatten.'))
  if ((authenticatie === 'zgw' || authenticatie === 'oauth2') && !clientId) faults.push(required('clientId'))
  if (authenticatie === 'oauth2' && !(tokenUrl && outgoingUrl(tokenUrl)))
    faults.push(fault('tokenUrl', tokenUrl ? 'invalid' : 'required', 'Geef het adres waar een token wordt gevraagd.'))
  if (authenticatie === 'api_key' && !header) faults.push(required('header'))
  if (authenticatie !== 'geen' && !secret) faults.push(required('secret'))
  return faults
}
