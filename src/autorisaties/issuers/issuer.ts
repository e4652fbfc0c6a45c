// Issuers: identity providers whose tokens are taken, and which of their clients is which applicatie. For the pages and the
// command line; store.ts is what a request asks.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { json, type Mutation } from '../../core/mutate.ts'
import { type InvalidParam, invalid, invalidAll } from '../../core/problem.ts'
import type { Db, ReadDb } from '../../database/database.ts'
import { link } from '../../http/links.ts'
import { isSafeAddress, readKeySet } from './key-sets.ts'

/** RFC 7518, 3.1 and RFC 8037: never HS (whoever checks could sign) nor none. */
export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const
export type Algorithm = (typeof ALGORITHMS)[number]

const Names = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 20 })
const Address = Type.String({ maxLength: 1000 })

/** An issuer as an administrator writes it down. What is absent becomes what `withDefaults` says. */
export const IssuerInput = Type.Object({
  label: Type.String({ minLength: 1, maxLength: 100 }),
  issuer: Type.String({ minLength: 1, maxLength: 1000, pattern: '^https?://[^\\s#]+$' }),
  discoveryUrl: Type.Optional(Address),
  jwksUrl: Type.Optional(Address),
  /** The keys themselves (RFC 7517), instead of where they are. */
  jwks: Type.Optional(Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) })),
  audiences: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), { minItems: 1, maxItems: 20 }),
  algorithms: Type.Optional(Type.Array(Type.Enum(ALGORITHMS), { minItems: 1 })),
  clientClaims: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 20 })),
  userClaims: Type.Optional(Names),
  userNameClaims: Type.Optional(Names),
  organisationClaim: Type.Optional(Type.String({ maxLength: 255 })),
  maxLifetimeSeconds: Type.Optional(Type.Integer({ minimum: 60, maximum: 86_400 })),
  leewaySeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 300 })),
  requiredScopes: Type.Optional(Names),
  requiresCertificate: Type.Optional(Type.Boolean()),
})
export type IssuerInput = Static<typeof IssuerInput>

/** The claims of Keycloak and Entra ID, RFC 9068, and Entra ID v1 and ADFS, and those of tokens that clients make themselves. */
export const ISSUER_DEFAULTS = {
  discoveryUrl: '',
  jwksUrl: '',
  algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'] as Algorithm[],
  clientClaims: ['azp', 'client_id', 'appid'],
  userClaims: ['user_id'],
  userNameClaims: ['user_representation'],
  organisationClaim: '',
  maxLifetimeSeconds: 6 * 3600,
  leewaySeconds: 30,
  requiredScopes: [] as string[],
  requiresCertificate: false,
}

/** What an issuer is told by. */
export const ISSUER_COLUMNS = [
  'label',
  'issuer',
  'discoveryUrl',
  'jwksUrl',
  'fixedKeys',
  'audiences',
  'algorithms',
  'clientClaims',
  'userClaims',
  'userNameClaims',
  'organisationClaim',
  'maxLifetimeSeconds',
  'leewaySeconds',
  'requiredScopes',
  'requiresCertificate',
] as const

/**
 * Makes an issuer, or changes the one with this uuid, or else with this value of `iss`.
 * @returns its uuid, and whether anything changed
 * @throws Problem 400 with the fields that are wrong
 */
export async function saveIssuer(
  m: Mutation,
  input: IssuerInput,
  uuid?: string,
): Promise<{ uuid: string; isChanged: boolean }> {
  m.unrecorded('issuers are no resource of the standard')
  const { jwks, ...given } = input
  const values = { ...ISSUER_DEFAULTS, ...given, fixedKeys: jwks ? readKeySet(jwks) : null }
  requireUsable(values)
  const known = await m.trx
    .selectFrom('tokenIssuer')
    .where(uuid === undefined ? 'issuer' : 'uuid', '=', uuid ?? input.issuer)
    .select(['uuid', ...ISSUER_COLUMNS])
    .forUpdate()
    .executeTakeFirst()
  if (known && ISSUER_COLUMNS.every((name) => isDeepStrictEqual(known[name], values[name])))
    return { uuid: known.uuid, isChanged: false }
  const row = { ...values, fixedKeys: json(values.fixedKeys) }
  const saved = known
    ? await m.trx.updateTable('tokenIssuer').set(row).where('uuid', '=', known.uuid).returning(['id', 'uuid']).execute()
    : await m.trx.insertInto('tokenIssuer').values(row).returning(['id', 'uuid']).execute()
  m.signal('zaakstroom_token_issuers')
  // Keys that were fetched from elsewhere are no keys of this issuer.
  const isElsewhere =
    known &&
    (['issuer', 'discoveryUrl', 'jwksUrl', 'fixedKeys'] as const).some(
      (name) => !isDeepStrictEqual(known[name], values[name]),
    )
  if (isElsewhere) await m.trx.deleteFrom('tokenIssuerKeys').where('issuerId', '=', saved[0]!.id).execute()
  return { uuid: saved[0]!.uuid, isChanged: true }
}

type Values = typeof ISSUER_DEFAULTS & { issuer: string; audiences: string[]; fixedKeys: { keys: unknown[] } | null }

function requireUsable({ issuer, discoveryUrl, jwksUrl, fixedKeys, audiences }: Values): void {
  const faults: InvalidParam[] = []
  const sources = [discoveryUrl !== '', jwksUrl !== '', fixedKeys !== null].filter(Boolean).length
  if (sources > 1)
    faults.push({
      name: 'jwksUrl',
      code: 'invalid',
      reason: 'Geef een discovery-adres, een JWKS-adres of de sleutels.',
    })
  if (fixedKeys?.keys.length === 0)
    faults.push({ name: 'jwks', code: 'invalid', reason: 'Hierin staat geen openbare sleutel om mee te controleren.' })
  for (const [name, address] of Object.entries({ discoveryUrl, jwksUrl }))
    if (address !== '' && !isSafeAddress(address))
      faults.push({ name, code: 'invalid', reason: 'Geef een adres dat met https:// begint.' })
  if (sources === 0 && !isSafeAddress(issuer))
    faults.push({
      name: 'discoveryUrl',
      code: 'required',
      reason: 'Deze issuer begint niet met https://. Geef het adres van het discovery-document.',
    })
  if (new Set(audiences).size !== audiences.length)
    faults.push({ name: 'audiences', code: 'unique', reason: 'Elke audience mag één keer voorkomen.' })
  if (faults.length > 0) throw invalidAll(faults)
}

/** Takes an issuer away, with what its clients may do by it. @returns whether it was there */
export async function deleteIssuer(m: Mutation, uuid: string): Promise<boolean> {
  m.unrecorded('issuers are no resource of the standard')
  m.signal('zaakstroom_token_issuers')
  m.signal('zaakstroom_autorisaties') // of its clients
  const { numDeletedRows } = await m.trx.deleteFrom('tokenIssuer').where('uuid', '=', uuid).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** A client as its issuer knows it. */
export type IssuerClient = { issuer: string; clientId: string }

/**
 * Lets clients of issuers act as an applicatie: these and no others.
 * @returns whether anything changed
 * @throws Problem 400: an issuer that is not known, or a client that another applicatie has
 */
export async function saveIssuerClients(
  m: Mutation,
  applicatieUuid: string,
  clients: IssuerClient[],
): Promise<boolean> {
  const applicatie = await m.trx
    .selectFrom('applicatie')
    .where('uuid', '=', applicatieUuid)
    .select(['id', 'uuid', 'label'])
    .forUpdate()
    .executeTakeFirstOrThrow()
  const before = await issuerClientsOf(m.trx, applicatie.id)
  const isSame = (a: IssuerClient) => (b: IssuerClient) => a.issuer === b.issuer && a.clientId === b.clientId
  const gone = before.filter((one) => !clients.some(isSame(one)))
  const added = clients.filter((one) => !before.some(isSame(one)))
  if (gone.length + added.length === 0) return false
  if (gone.length > 0)
    await m.trx
      .deleteFrom('applicatieIssuerClient')
      .where(
        'id',
        'in',
        gone.map(({ id }) => id),
      )
      .execute()
  for (const { issuer, clientId } of added) {
    const known = await m.trx.selectFrom('tokenIssuer').where('issuer', '=', issuer).select('id').executeTakeFirst()
    if (!known) throw invalid('issuerClients', 'does_not_exist', `De token-uitgever ${issuer} is niet bekend.`)
    const made = await m.trx
      .insertInto('applicatieIssuerClient')
      .values({ issuerId: known.id, clientId, applicatieId: applicatie.id })
      .onConflict((conflict) => conflict.columns(['issuerId', 'clientId']).doNothing())
      .executeTakeFirst()
    if (made.numInsertedOrUpdatedRows !== 1n)
      throw invalid(
        'issuerClients',
        'unique',
        `Client ${clientId} van deze token-uitgever hoort bij een andere applicatie.`,
      )
  }
  const shown = (all: IssuerClient[]) => all.map(({ issuer, clientId }) => ({ issuer, clientId }))
  m.record({
    component: 'ac',
    actie: 'update',
    resource: 'applicatieclient',
    url: link(m.actor.base, 'applicatie', applicatie.uuid),
    uuid: applicatie.uuid,
    weergave: applicatie.label,
    kanaal: null,
    oud: { clients: shown(before) },
    nieuw: { clients: shown(await issuerClientsOf(m.trx, applicatie.id)) },
  })
  return true
}

/** The clients of issuers that act as an applicatie. */
export async function issuerClientsOf(db: ReadDb | Db, applicatieId: number) {
  const { rows } = await sql<{
    id: number
    issuer: string
    issuerUuid: string
    issuerLabel: string
    clientId: string
    createdAt: string
    lastUsedAt: string | null
  }>`
    select c.id, i.issuer, i.uuid as issuer_uuid, i.label as issuer_label, c.client_id, c.created_at, c.last_used_at
    from applicatie_issuer_client c join token_issuer i on i.id = c.issuer_id
    where c.applicatie_id = ${applicatieId} order by lower(i.label), c.client_id`.execute(db)
  return rows
}
