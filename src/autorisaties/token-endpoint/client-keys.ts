// Public keys of client ids, with which they show who they are at our token endpoint (private_key_jwt, RFC 7523): entered here, or
// fetched from an address of the client.
import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { json, type Mutation } from '../../core/mutate.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../../database/database.ts'
import { link } from '../../http/links.ts'
import { type Agent, clientReason, failureKind } from '../../services/transport.ts'
import { UnknownClient } from '../client-secrets.ts'
import { fetchKeySet, isSafeAddress, type KeySet, KeysNotFound, readKeySet } from '../issuers/key-sets.ts'

/** Keys as they are entered: one (a JWK), a set of them (a JWKS), or the address of a set. */
export type ClientKeysInput = { jwks: unknown } | { jwksUrl: string }

/**
 * Gives a client id these keys and no others.
 * @param input undefined: none
 * @returns whether anything changed
 * @throws UnknownClient
 * @throws Problem 400
 */
export async function saveClientKeys(
  m: Mutation,
  clientId: string,
  input: ClientKeysInput | undefined,
): Promise<boolean> {
  const values = input && valuesOf(input)
  const applicatie = await m.trx
    .selectFrom('applicatieClient as c')
    .innerJoin('applicatie as a', 'a.id', 'c.applicatieId')
    .where('c.clientId', '=', clientId)
    .select(['a.uuid', 'a.label'])
    .forUpdate('c')
    .executeTakeFirst()
  if (!applicatie) throw new UnknownClient(`there is no client ${clientId}`)
  const before = await m.trx
    .selectFrom('applicatieClientKey')
    .where('clientId', '=', clientId)
    .select(['keys', 'jwksUrl'])
    .executeTakeFirst()
  if (isDeepStrictEqual(before && { ...before }, values)) {
    m.unrecorded('it has these keys')
    return false
  }
  await m.trx.deleteFrom('applicatieClientKey').where('clientId', '=', clientId).execute()
  if (values)
    await m.trx
      .insertInto('applicatieClientKey')
      .values({ clientId, keys: json(values.keys), jwksUrl: values.jwksUrl })
      .execute()
  m.record({
    component: 'ac',
    actie: 'update',
    resource: 'applicatiesleutel',
    url: link(m.actor.base, 'applicatie', applicatie.uuid),
    uuid: applicatie.uuid,
    weergave: `${applicatie.label} - ${clientId}`,
    kanaal: null,
    oud: { clientId, sleutels: before ?? null },
    nieuw: { clientId, sleutels: values ?? null },
  })
  return true
}

type Values = { keys: KeySet | null; jwksUrl: string }

function valuesOf(input: ClientKeysInput): Values {
  if ('jwksUrl' in input) {
    if (!isSafeAddress(input.jwksUrl) || input.jwksUrl.length > 1000)
      throw invalid('jwksUrl', 'invalid', 'Geef een adres dat met https:// begint.')
    return { keys: null, jwksUrl: input.jwksUrl }
  }
  const given = input.jwks as { keys?: unknown } | null
  const keys = readKeySet(Array.isArray(given?.keys) ? given : { keys: [given] })
  if (keys.keys.length === 0) throw invalid('jwks', 'invalid', 'Hierin staat geen openbare sleutel (JWK).')
  return { keys, jwksUrl: '' }
}

/** The keys cannot be had now. */
export class ClientKeysAway extends Error {}

const BETWEEN_MS = 30_000
const MOST_KEPT = 8 * 1024 * 1024 // characters of JSON

type Fetched = { keySet: KeySet | undefined; fetchedAt: number; until: number; askedAt: number }

/** Finds keys of clients. Those behind an address are kept in memory, and asked for at most once in 30 seconds. */
export function openClientKeys({ sql }: Database, agent: Agent, keptHours: number, log: Logger) {
  const fetched = new LRUCache<string, Fetched>({
    max: 1_000,
    maxSize: MOST_KEPT,
    sizeCalculation: ({ keySet }) => 1 + JSON.stringify(keySet ?? null).length,
  })
  const asking = new Map<string, Promise<void>>()

  async function ask(clientId: string, jwksUrl: string): Promise<void> {
    const before = fetched.get(jwksUrl)
    const now = performance.now()
    try {
      const { keySet, seconds } = await fetchKeySet(agent, { issuer: '', discoveryUrl: '', jwksUrl })
      fetched.set(jwksUrl, { keySet, fetchedAt: now, until: now + seconds * 1000, askedAt: now })
    } catch (error) {
      const reason = error instanceof KeysNotFound ? error.message : clientReason(failureKind(error))
      log.warn({ client_id: clientId, reason }, 'the keys of a client could not be fetched')
      fetched.set(jwksUrl, { keySet: before?.keySet, fetchedAt: before?.fetchedAt ?? now, until: now, askedAt: now })
    }
  }

  async function askOnce(clientId: string, jwksUrl: string): Promise<void> {
    const before = fetched.get(jwksUrl)
    if (before && performance.now() - before.askedAt < BETWEEN_MS) return
    const work = asking.get(jwksUrl) ?? ask(clientId, jwksUrl).finally(() => asking.delete(jwksUrl))
    asking.set(jwksUrl, work)
    await work
  }

  return {
    /**
     * The keys of a client id; undefined: it has none.
     * @param options.anew after an assertion named a key that is not among them
     * @throws ClientKeysAway
     */
    async find(clientId: string, { anew = false } = {}): Promise<KeySet | undefined> {
      const [row] = await sql<{ keys: KeySet | null; jwksUrl: string }[]>`
        select keys, jwks_url as "jwksUrl" from applicatie_client_key where client_id = ${clientId}`
      if (!row) return undefined
      if (row.keys) return row.keys
      if (anew || (fetched.get(row.jwksUrl)?.until ?? 0) <= performance.now()) await askOnce(clientId, row.jwksUrl)
      const known = fetched.get(row.jwksUrl)
      if (!known?.keySet || performance.now() - known.fetchedAt > keptHours * 3_600_000) throw new ClientKeysAway()
      return known.keySet
    },
  }
}
